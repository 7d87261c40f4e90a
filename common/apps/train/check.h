/* check.h - comparison of the device's steps with fp64 during training. */
#ifndef CONVLAB_TRAIN_CHECK_H
#define CONVLAB_TRAIN_CHECK_H

#include "common/operations/training_step/train_oracle.h"
#include "common/apps/train/learner.h"

/* Two runs in fp64, compared with the device's: `own` continues from its own parameters and
 * propagates its error bound; `step` starts each step from the device's state. */
typedef struct Check {
    const Plan *plan;
    Near *own, *step, *result; /* state; state; y */
    float *before, *after, *x, *label;
    int steps;         /* number of steps so far */
    double worst_step; /* largest error / bound over all outputs of all steps */
    double worst_loss; /* the same for the losses, compared with `own` */
} Check;

int check_open(Check *check, const Plan *plan, const float *state, Error *error);
void check_close(Check *check);

/* One step of the device and of both runs.  -1 with error if it fails or is wrong. */
int check_step(Check *check, Learner *learner, int step, Error *error);

#endif
