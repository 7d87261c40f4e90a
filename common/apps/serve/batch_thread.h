/* batch_thread.h - the thread that runs batches, so that the server hears its clients meanwhile. */
#ifndef CONVLAB_SERVE_BATCH_THREAD_H
#define CONVLAB_SERVE_BATCH_THREAD_H

#include "common/apps/serve/card.h"

typedef struct BatchThread BatchThread;

/* NULL with error. */
BatchThread *batch_thread_open(Card *card, Error *error);
/* Waits for a batch that runs. */
void batch_thread_close(BatchThread *thread);

/* Readable when a batch is done. */
int batch_thread_descriptor(const BatchThread *thread);
/* Runs the places of a batch, which stay as they are until it is done; none runs. */
void batch_thread_begin(BatchThread *thread, const int *place, int count);
/* The batch is done: 0 with its outputs (card_run), or -1 with what went wrong.  1: it is not. */
int batch_thread_end(BatchThread *thread, const float **output, Error *error);

#endif
