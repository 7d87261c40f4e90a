/* batch_thread.h - thread that runs batches, so that the server can handle its clients at the same
 * time. */
#ifndef CONVLAB_SERVE_BATCH_THREAD_H
#define CONVLAB_SERVE_BATCH_THREAD_H

#include "common/apps/serve/executor.h"

typedef struct BatchThread BatchThread;

/* NULL with error. */
BatchThread *batch_thread_open(Executor *executor, Error *error);
/* Waits for a running batch. */
void batch_thread_close(BatchThread *thread);

/* Descriptor that is readable when a batch is finished. */
int batch_thread_descriptor(const BatchThread *thread);
/* Starts a batch with the inputs in these places, which must not change until it is finished; no
 * other batch may be running. */
void batch_thread_begin(BatchThread *thread, const int *place, int count);
/* Result of a finished batch: 0 with its outputs (executor_run), or -1 with error.  1: not
 * finished. */
int batch_thread_end(BatchThread *thread, const float **output, Error *error);

#endif
