/* block_dispatch.h - dispatch of a launch's blocks to host threads, each of which runs one at a
 * time.
 *
 * If blocks ran without interruption, the last of a few blocks would end long after the other
 * threads become idle, in particular on the slowest core. Therefore the last blocks in flight
 * outnumber the threads. Between two slices of its block, a thread may suspend it in favour of a
 * block that has made less progress, and all blocks end at about the same time. A block keeps its
 * worker, whichever thread runs it. */
#ifndef CONVLAB_SIMT_EXEC_DEAL_H
#define CONVLAB_SIMT_EXEC_DEAL_H

#include <pthread.h>

#include "common/base/parallel.h"
#include "common/simulator/core/core.h"

typedef struct DispatchSlot {
    uint32_t failed_polls; /* consecutive failed polls of its block */
    uint32_t rotations;    /* blocks_rotate */
    int waits;             /* whether its block is in flight, but not held by a thread */
} DispatchSlot;

typedef struct BlockDispatch {
    Launch *launch;
    Worker *worker;
    LaunchArena *shelf;
    void (*stopped)(Worker *worker);  /* called for a block that reached the limit */
    uint32_t threads, workers, seats; /* seats: number of workers in use */
    uint32_t waiting;
    pthread_mutex_t lock;                 /* protects the members from `seats` on */
    DispatchSlot seat[2 * PARALLEL_MOST]; /* one slot per worker */
} BlockDispatch;

/* Number of workers that the threads may need. */
uint32_t dispatch_workers(uint64_t blocks, uint32_t threads);
/* The first `threads` workers belong to the threads. */
void dispatch_open(BlockDispatch *deal, Launch *launch, Worker *worker, LaunchArena *shelf,
                   uint32_t threads, uint32_t workers);
void dispatch_close(BlockDispatch *deal);

/* Called on each thread with its own open worker: runs blocks until none is left. Adds the workers'
 * counts to the launch (worker_tell). -1: out of memory. */
int dispatch_run(BlockDispatch *deal, uint32_t thread);

#endif
