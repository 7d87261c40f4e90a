/* check.h - the device's steps held against fp64, while they run. */
#ifndef CONVLAB_TRAIN_CHECK_H
#define CONVLAB_TRAIN_CHECK_H

#include "common/operations/training_step/train_oracle.h"
#include "common/apps/train/learner.h"

/* Two runs in fp64 beside the device's: `own` goes its own way from the first parameters on, and
 * carries its error along; `step` begins each step where the device stood. */
typedef struct Check {
    const Plan *plan;
    Near *own, *step, *result; /* state; state; y */
    float *before, *after, *x, *label;
    int steps;         /* so far */
    double worst_step; /* the largest |error| / bound of all outputs of all steps */
    double worst_loss; /* the same of the losses, against the run that goes its own way */
} Check;

int check_open(Check *check, const Plan *plan, const float *state, Error *error);
void check_close(Check *check);

/* One step of the device and of both runs.  -1 with error when it cannot be made, or is wrong. */
int check_step(Check *check, Learner *learner, int step, Error *error);

#endif
