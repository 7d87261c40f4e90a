/* training_state.h - progress of training: contents of a checkpoint, and data for plots. */
#ifndef CONVLAB_TRAIN_TRAINING_STATE_H
#define CONVLAB_TRAIN_TRAINING_STATE_H

#include "common/apps/train/plan.h"

typedef struct EpochResult {
    double loss;           /* mean over the epoch's steps */
    double right, seconds; /* test accuracy, 0 to 1; seconds since training started */
} EpochResult;

typedef struct TrainingState {
    const Plan *plan;
    int done;           /* number of finished epochs */
    EpochResult *epoch; /* plan->epochs of them */
    float *values;      /* parameters, velocities */
    uint8_t *read;      /* latest predicted class of each test image */
} TrainingState;

int training_state_open(TrainingState *state, const Plan *plan, Error *error);
void training_state_close(TrainingState *state);

/* A checkpoint is one file, written atomically.  It belongs to one plan: set, network, epochs, seed
 * and settings; that of another plan is rejected.  Continued training gives the same bits. */
int training_state_save(const TrainingState *state, const char *path, Error *error);
int training_state_load(TrainingState *state, const char *path, Error *error);

/* Writes curves.tsv, confusion.tsv, misread.tsv and misread.idx (the first MISREAD misclassified
 * images) and weights.npy to `folder`. */
enum { MISREAD = 60 };
int training_state_write(const TrainingState *state, const char *folder, Error *error);

double training_state_accuracy(const TrainingState *state); /* accuracy from `read` */

#endif
