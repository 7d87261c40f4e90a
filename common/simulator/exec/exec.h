/* exec.h - execution: decoded instructions, warp by warp and block by block.
 *
 * Module: the instructions' handlers, and warps and blocks that run them.
 * Callers: a launch, which has one worker a host thread.
 * May use: checks, time, core. */
#ifndef CONVLAB_SIMT_EXEC_H
#define CONVLAB_SIMT_EXEC_H

#include "common/simulator/core/core.h"

/* One handler for each Op: of the widest instruction set that this processor and this build have.
 * NULL: the build is for other processors. */
const Handler *exec_handlers(void);
extern int exec_level; /* at most: 0 base, 1 AVX2, 2 AVX-512; for tests */

/* A host thread's registers, shared memory and counts.  -1: out of memory; close it all the
 * same. */
int worker_open(Worker *worker, Launch *launch, LaunchArena *shelf);
/* Once the worker, the only one so far, has executed much, it calls begin(context) for others. */
void worker_calls(Worker *worker, void (*begin)(void *), void *context);
/* Adds the worker's own counts to the launch, after its last block. */
void worker_tell(Worker *worker);
void worker_close(Worker *worker);
/* Result of running the warps of a block, each until it waited, ended or yielded. */
typedef enum BlockStep {
    BLOCK_RUNS,
    BLOCK_WAITS,  /* each of them for what another thread writes */
    BLOCK_PAUSES, /* perhaps they wait, perhaps they work */
    BLOCK_SLEEPS, /* until another block of its cluster has done something */
    BLOCK_DONE,
    BLOCK_FAILED /* a fault, the limit, or a fault of an earlier block */
} BlockStep;

/* If all blocks have had this number of consecutive failed polls, they wait forever. A slice of a
 * long loop counts as several. */
enum { TURNS_IN_VAIN = 1 << 18 };

/* Instructions that are charged for clearing this number of bytes for a kernel. */
uint64_t cleared_charge(uint64_t bytes);
int block_begin(Worker *worker, uint64_t number); /* -1: over the limit */
BlockStep block_step(Worker *worker);
void blocks_stuck(Worker *worker, uint32_t count); /* reports that these blocks wait for ever */
/* Called before that: in each warp whose lanes poll, those of another path run instead.  They may
 * hold what the others wait for.  *rotations counts the attempts since a block made progress.  0:
 * there is no such warp, or there were too many attempts. */
int blocks_rotate(Worker *worker, uint32_t count, uint32_t *rotations);
/* Failed polls after which the blocks are rotated again. */
enum { ROTATION_TURNS = TURNS_IN_VAIN >> 10 };
/* Releases the warps at the cluster's barrier, if all have arrived. 0: none were released. */
int cluster_release(Worker *const *worker, uint32_t count);
/* All blocks of a cluster sleep: wakes, from the first to the last, those that can continue. 0:
 * none; -1: a fault. */
int blocks_wake(Worker *const *worker, uint32_t count);

#endif
