/* screen.h - terminal output during training. */
#ifndef CONVLAB_TRAIN_SCREEN_H
#define CONVLAB_TRAIN_SCREEN_H

#include "common/apps/train/training_state.h"

typedef struct Screen {
    int live;        /* Boolean: the line is overwritten repeatedly, on a terminal */
    double started;  /* start time by the clock */
    long begun;      /* number of steps done before the start */
    double loss[32]; /* for the sparkline: one per epoch, or the last steps' */
    int losses;
} Screen;

double screen_clock(void);
void screen_open(Screen *screen, const TrainingState *state);
/* After some steps of an epoch: the bar, the loss, the remaining time. */
void screen_steps(Screen *screen, const TrainingState *state, int step, double loss);
/* After an epoch: a permanent line. */
void screen_epoch(Screen *screen, const TrainingState *state);
/* At the end: the confusion matrix, and the number of misclassified images. */
void screen_end(const TrainingState *state);

#endif
