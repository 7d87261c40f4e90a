/* screen.h - what the terminal shows while a network learns. */
#ifndef CONVLAB_TRAIN_SCREEN_H
#define CONVLAB_TRAIN_SCREEN_H

#include "common/apps/train/course.h"

typedef struct Screen {
    int live;        /* the line is drawn over and over: a terminal */
    double started;  /* by the clock */
    long begun;      /* steps that were done before it started */
    double loss[32]; /* for the sparkline: one an epoch, or the last ones' */
    int losses;
} Screen;

double screen_clock(void);
void screen_open(Screen *screen, const Course *course);
/* After some steps of an epoch: the bar, the loss, the time that is left. */
void screen_steps(Screen *screen, const Course *course, int step, double loss);
/* After an epoch: a line that stays. */
void screen_epoch(Screen *screen, const Course *course);
/* At the end: the confusion matrix, and how many were misread. */
void screen_end(const Course *course);

#endif
