/* block_dispatch.h - the blocks of a launch, dealt to host threads, each of which has one in hand.
 *
 * Dealt whole, the last of a few blocks would end long after the other threads have nothing left
 * to do, most of all on the slowest core.  So of the last blocks more are on the way than there are
 * threads: a thread lays its own aside, between two turns of it, for one that has come less far,
 * and all of them end at about the same time.  A block keeps its worker; it cannot tell on which
 * thread it runs. */
#ifndef CONVLAB_SIMT_EXEC_DEAL_H
#define CONVLAB_SIMT_EXEC_DEAL_H

#include <pthread.h>

#include "common/base/parallel.h"
#include "common/simulator/core/core.h"

typedef struct DispatchSlot {
    uint32_t failed_polls; /* of its block, in a row */
    int waits;             /* its block is on the way, and no thread has it in hand */
} DispatchSlot;

typedef struct BlockDispatch {
    Launch *launch;
    Worker *worker;
    LaunchArena *shelf;
    void (*stopped)(Worker *worker);  /* is told of a block that ran into the limit */
    uint32_t threads, workers, seats; /* of the workers so many have been given out */
    uint32_t waiting;
    pthread_mutex_t lock;                 /* of what stands from `seats` on */
    DispatchSlot seat[2 * PARALLEL_MOST]; /* of each worker */
} BlockDispatch;

/* How many workers so many threads may need. */
uint32_t dispatch_workers(uint64_t blocks, uint32_t threads);
/* Of the workers the first `threads` are the threads' own. */
void dispatch_open(BlockDispatch *deal, Launch *launch, Worker *worker, LaunchArena *shelf,
                   uint32_t threads, uint32_t workers);
void dispatch_close(BlockDispatch *deal);

/* On each thread, with its own worker, which is open: blocks until none is left.  It tells the
 * launch what the workers counted (worker_tell).  -1: out of memory. */
int dispatch_run(BlockDispatch *deal, uint32_t thread);

#endif
