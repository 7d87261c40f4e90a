/* launch_arena.h - host memory that one launch after another uses.
 *
 * A worker requests the same blocks in the same order in each launch of a kernel. If they were
 * returned to the system in between, every page would cost a page fault again, and unmapping
 * interrupts all other cores. */
#ifndef CONVLAB_SIMT_CORE_SHELF_H
#define CONVLAB_SIMT_CORE_SHELF_H

#include <stddef.h>
#include <stdint.h>

typedef struct ArenaBlock {
    void *at;
    size_t bytes;
} ArenaBlock;

typedef struct LaunchArena {
    ArenaBlock *block; /* in the order of the requests */
    uint32_t blocks, used;
} LaunchArena;

/* Allocates a block of `bytes` bytes with undefined contents. NULL: out of memory. */
void *arena_take(LaunchArena *shelf, size_t bytes);
/* The same of zeros, which are written, as zeros_alloc's. */
void *arena_zeros(LaunchArena *shelf, size_t count, size_t bytes);
/* The launch no longer needs its blocks; blocks that the last launch did not request are returned
 * to the system. */
void arena_reset(LaunchArena *shelf);

/* The arenas of a GPU: one per worker, of which some are kept for the next launch. -1: out of
 * memory. */
typedef struct SimtGpu SimtGpu;
int arenas_open(SimtGpu *gpu, uint32_t wanted);
void arenas_keep(SimtGpu *gpu, uint32_t kept);

#endif
