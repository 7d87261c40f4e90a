/* launch_arena.h - host memory that one launch after another uses.
 *
 * A worker asks for the same blocks in the same order in each launch of a kernel.  Given back to
 * the system in between, every page of them would come again by a fault, and go again while all
 * other cores wait. */
#ifndef CONVLAB_SIMT_CORE_SHELF_H
#define CONVLAB_SIMT_CORE_SHELF_H

#include <stddef.h>
#include <stdint.h>

typedef struct ArenaBlock {
    void *at;
    size_t bytes;
} ArenaBlock;

typedef struct LaunchArena {
    ArenaBlock *block; /* in the order in which they were asked for */
    uint32_t blocks, used;
} LaunchArena;

/* The next block, of as many bytes; what is in it is nobody's promise.  NULL: out of memory. */
void *arena_take(LaunchArena *shelf, size_t bytes);
/* The same of zeros, which are written, as zeros_alloc's. */
void *arena_zeros(LaunchArena *shelf, size_t count, size_t bytes);
/* The launch needs its blocks no more; what the last one did not ask for is given back. */
void arena_reset(LaunchArena *shelf);

/* A GPU's: as many as a launch has workers, of which some are kept for the next one.  -1: out of
 * memory. */
typedef struct SimtGpu SimtGpu;
int arenas_open(SimtGpu *gpu, uint32_t wanted);
void arenas_keep(SimtGpu *gpu, uint32_t kept);

#endif
