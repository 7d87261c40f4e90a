/* batcher.h - who is let into the queue, and when a batch begins.
 *
 * Module: what the server decides, without a socket, a device or a clock: frames, queue, costs.
 * Callers: the server and the load generator.
 * May use: operation, base.
 *
 * A request is let in if, by the measured times, it will be ready `margin` before its deadline.  It
 * is ready when the running batch, the whole batches before it and its own have run; its own counts
 * as the largest, because others may join it, unless it can begin alone at once.  Later requests go
 * behind it, so what was promised stays true.
 *
 * While a batch runs the others wait, and the next batch is made of them.  The window matters to an
 * idle device alone: so long the first request waits for company, unless its deadline comes sooner.
 *
 * Nothing here knows a clock: all functions are told the time. */
#ifndef CONVLAB_SERVE_BATCHES_BATCHER_H
#define CONVLAB_SERVE_BATCHES_BATCHER_H

#include "common/apps/serve/batches/cost.h"
#include "common/apps/serve/batches/frame.h"
#include "common/apps/serve/batches/queue.h"

typedef struct Batcher {
    Queue queue;
    Cost cost;
    int largest;             /* requests of a batch */
    uint64_t window, margin; /* nanoseconds */
    uint64_t began;          /* the running batch */
    int stopping;            /* nobody is let in, and no batch waits for company */
} Batcher;

/* When a request that came at `now` would be ready. */
uint64_t batcher_ready(const Batcher *batcher, uint64_t now);

/* FRAME_ANSWERED: it will be; its place is *place.  Else why not. */
FrameStatus batcher_offer(Batcher *batcher, const Ticket *ticket, uint64_t now, int *place);

/* How many requests are to begin to run now.  0: none; ask again at *wake, or when a batch ends or
 * a request comes. */
int batcher_size(const Batcher *batcher, uint64_t now, uint64_t *wake);

void batcher_begin(Batcher *batcher, int size, uint64_t now);
void batcher_end(Batcher *batcher, uint64_t now);

/* The largest batch, up to `most`, that lets every request be answered within `limit`: one that
 * comes when such a batch has just begun waits for that and for its own.  0: not even 1. */
int batcher_largest(const Cost *cost, int most, uint64_t limit, uint64_t window, uint64_t margin);
/* How many may wait, so that the last is ready in time: those of the whole batches that fit behind
 * a running one. */
int batcher_most(const Cost *cost, int largest, uint64_t limit, uint64_t margin);

#endif
