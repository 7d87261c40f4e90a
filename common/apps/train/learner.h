/* learner.h - device side of training: the set, the batches, lab 18's step, classification. */
#ifndef CONVLAB_TRAIN_LEARNER_H
#define CONVLAB_TRAIN_LEARNER_H

#include "common/cuda/engine/engine.h"
#include "common/apps/train/plan.h"

typedef struct Learner Learner;

/* Copies the set to the device, and makes one step a CUDA graph: gathers a batch, runs train_step
 * on it, keeps its result.  NULL with error. */
Learner *learner_open(const Plan *plan, Error *error);
void learner_close(Learner *learner);

/* Parameters, then velocities: 2 * parameters floats. */
int learner_set_state(Learner *learner, const float *state, Error *error);
int learner_get_state(Learner *learner, float *state, Error *error);

/* Starts an epoch with its images from plan_epoch and the learning rates of its steps; then runs
 * steps of it. */
int learner_begin(Learner *learner, const int *order, const float *augmentation, const float *rate,
                  Error *error);
int learner_steps(Learner *learner, int count, Error *error);

/* The losses of the steps since learner_begin, `count` of them from `first` on. */
int learner_losses(Learner *learner, int first, int count, float *loss, Error *error);

/* The mini-batch of the last step and its settings: train_step's arguments. */
int learner_batch(Learner *learner, float *x, float *label, float *setting, Error *error);

/* Classifies the test images: one digit each. */
int learner_read(Learner *learner, uint8_t *digit, Error *error);

#endif
