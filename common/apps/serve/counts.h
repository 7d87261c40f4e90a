/* counts.h - what the server counts, and how Prometheus reads it.
 *
 * Every request that was read becomes exactly one of the outcomes, so at any moment
 *
 *   requests = the sum of outcomes + waiting + running */
#ifndef CONVLAB_SERVE_COUNTS_H
#define CONVLAB_SERVE_COUNTS_H

#include <stdio.h>

#include "common/apps/serve/batches/batcher.h"

/* Beside the answers' statuses: its client left before its answer. */
enum { OUTCOME_DROPPED = FRAME_STATUSES, OUTCOMES };

enum { COUNT_SIZES = COST_CLASSES, COUNT_TIMES = 16 };

typedef struct Counts {
    uint64_t requests, outcome[OUTCOMES];
    uint64_t connections, turned_away; /* ever; closed at once, because there were too many */
    uint64_t batches, size[COUNT_SIZES], sizes; /* up to 2^i requests; all of them */
    uint64_t seconds[COUNT_TIMES];              /* answered within 2^i * 100 us */
    uint64_t nanoseconds;                       /* of all that were answered */
    int connected;
} Counts;

void counts_batch(Counts *counts, int size);
void counts_answer(Counts *counts, uint64_t nanoseconds);

/* Requests that wait or run and that somebody waits for. */
int counts_pending(const Queue *queue);

/* Prometheus' text format 0.0.4. */
void counts_write(FILE *stream, const Counts *counts, const Batcher *batcher, uint64_t now);

#endif
