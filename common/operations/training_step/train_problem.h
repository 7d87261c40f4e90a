/* train_problem.h - what the files of train_step share: the problem, its tensors, what is expected.
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

/* A Problem carries any operation's struct; these two put a TrainProblem in and take it out. */
void train_pack(const TrainProblem *train, Problem *problem);
TrainProblem train_unpack(const Problem *problem);

/* train_step's y of these inputs, 2 * parameters + 1 of them; NAN when memory is short. */
void train_expect(const TrainProblem *train, const float *const *tensor, TrainSlip slip,
                  Near *result);

#endif
