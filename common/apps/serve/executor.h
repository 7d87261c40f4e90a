/* executor.h - device used by the server: weights, the inputs of all places, batches. */
#ifndef CONVLAB_SERVE_EXECUTOR_H
#define CONVLAB_SERVE_EXECUTOR_H

#include "common/apps/serve/batches/cost.h"
#include "common/apps/serve/model.h"

typedef struct Executor Executor;

/* Copies the weights to the device, and allocates memory for batches of up to `largest`.  NULL with
 * error. */
Executor *executor_open(const Model *model, int largest, Error *error);
void executor_close(Executor *executor);

/* Allocates memory for the inputs of that many requests, from which the device copies.  -1 with
 * error. */
int executor_places(Executor *executor, int places, Error *error);
float *executor_input(const Executor *executor, int place);

/* Runs a batch with the inputs at `count` places, in that order, and returns its outputs,
 * contiguous. They are valid until the batch after the next one.  NULL with error: CUDA's message;
 * then no other batch will run. */
const float *executor_run(Executor *executor, const int *place, int count, Error *error);

#endif
