/* batcher.h - admission of requests to the queue, and start of batches.
 *
 * Module: the server's decisions, independent of sockets, device and clock: frames, queue, costs.
 * Callers: the server and the load generator.
 * May use: operation, base.
 *
 * A request is accepted if, according to the measured times, it will be finished `margin` before
 * its deadline.  It is finished after the running batch, the full batches before it and its own
 * batch, which counts as full, because other requests may be added, unless it can start alone
 * immediately.  Later requests are queued after it, so that the estimate stays valid.
 *
 * While a batch runs, requests wait for the next batch.  The window only matters to an idle
 * device: it is the time for which the first request waits for others, unless its deadline is
 * earlier.
 *
 * All functions get the time as an argument. */
#ifndef CONVLAB_SERVE_BATCHES_BATCHER_H
#define CONVLAB_SERVE_BATCHES_BATCHER_H

#include "common/apps/serve/batches/cost.h"
#include "common/apps/serve/batches/frame.h"
#include "common/apps/serve/batches/queue.h"

typedef struct Batcher {
    Queue queue;
    Cost cost;
    int largest;             /* maximum number of requests in a batch */
    uint64_t window, margin; /* nanoseconds */
    uint64_t began;          /* start of the running batch */
    int stopping;            /* Boolean: no request is accepted, and no batch waits for more
                              * requests */
} Batcher;

/* Time at which a request that arrives at `now` would be finished. */
uint64_t batcher_ready(const Batcher *batcher, uint64_t now);

/* FRAME_ANSWERED: accepted, with its place in *place.  Else the reason. */
FrameStatus batcher_offer(Batcher *batcher, const Ticket *ticket, uint64_t now, int *place);

/* Number of requests to start now.  0: none; call again at *wake, at the end of a batch or with a
 * new request. */
int batcher_size(const Batcher *batcher, uint64_t now, uint64_t *wake);

void batcher_begin(Batcher *batcher, int size, uint64_t now);
void batcher_end(Batcher *batcher, uint64_t now);

/* The largest batch size, at most `most`, with which every request is answered within `limit`, even
 * one that arrives just after the start of such a batch and waits for that and its own.  0: not
 * even 1. */
int batcher_largest(const Cost *cost, int most, uint64_t limit, uint64_t window, uint64_t margin);
/* Maximum number of waiting requests such that the last is finished in time: the full batches that
 * fit after a running one. */
int batcher_most(const Cost *cost, int largest, uint64_t limit, uint64_t margin);

#endif
