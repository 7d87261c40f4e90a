/* train_problem.h - problem, tensors and expected outputs of train_step, shared by its files.
 *
 * Module: a training step: in fp64 with the error of each value, and in words when it is wrong.
 * Callers: operations, make train.
 * May use: operation, base. */
#ifndef CONVLAB_TRAINING_TRAIN_PROBLEM_H
#define CONVLAB_TRAINING_TRAIN_PROBLEM_H

#include "common/operations/operation/verdict.h"
#include "common/operations/training_step/train_oracle.h"

/* In the order of train_step's pointers. */
enum { TRAIN_X, TRAIN_LABEL, TRAIN_PARAMETER, TRAIN_VELOCITY, TRAIN_SETTING, TRAIN_Y };

/* Conversions between a TrainProblem and a Problem, which contains any operation's struct. */
void train_pack(const TrainProblem *train, Problem *problem);
TrainProblem train_unpack(const Problem *problem);

/* Expected y of train_step for these inputs, 2 * parameters + 1 values; NAN if memory is
 * exhausted. */
void train_expect(const TrainProblem *train, const float *const *tensor, TrainSlip slip,
                  Near *result);

#endif
