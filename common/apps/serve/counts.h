/* counts.h - the server's counters, and their output for Prometheus.
 *
 * Every request that was read has exactly one outcome, so at any moment
 *
 *   requests = the sum of outcomes + waiting + running */
#ifndef CONVLAB_SERVE_COUNTS_H
#define CONVLAB_SERVE_COUNTS_H

#include <stdio.h>

#include "common/apps/serve/batches/batcher.h"

/* In addition to the answers' statuses: the client left before the answer. */
enum { OUTCOME_DROPPED = FRAME_STATUSES, OUTCOMES };

enum { COUNT_SIZES = COST_CLASSES, COUNT_TIMES = 16 };

typedef struct Counts {
    uint64_t requests, outcome[OUTCOMES];
    uint64_t connections;
    uint64_t rejected_connections; /* closed immediately, because there were too many */
    uint64_t batches, size[COUNT_SIZES], sizes; /* batches of up to 2^i requests; sum of the
                                                 * sizes */
    uint64_t seconds[COUNT_TIMES];              /* number answered within 2^i * 100 us */
    uint64_t nanoseconds;                       /* sum over all answered requests */
    int connected;
} Counts;

void counts_batch(Counts *counts, int size);
void counts_answer(Counts *counts, uint64_t nanoseconds);

/* Number of waiting and running requests with a client. */
int counts_pending(const Queue *queue);

/* Prometheus' text format 0.0.4. */
void counts_write(FILE *stream, const Counts *counts, const Batcher *batcher, uint64_t now);

#endif
