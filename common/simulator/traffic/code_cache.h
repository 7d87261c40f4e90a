/* code_cache.h - arrival times of instructions from the instruction caches.
 *
 * An SM has a small and a larger instruction cache; the next level is the L2. Instructions arrive
 * in blocks. A block is requested when a warp reaches it, or when a warp enters the previous block.
 * A warp that executes straight-line code therefore waits for each block for nearly the full
 * latency.
 *
 * Initial state of a launch: the kernel has run before on the GPU, and the L2 has been flushed
 * since. Code that fits the small cache never misses. */
#ifndef CONVLAB_SIMT_CODE_CACHE_H
#define CONVLAB_SIMT_CODE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "common/simulator/core/core.h"

enum {
    CODE_PIECE = 48,      /* SASS instructions of 16 bytes */
    CODE_ANY = 0x7fffffff /* the current block of the warp */
};

/* Place of a block outside of the small cache. */
typedef enum CodePlace { CODE_IN_DRAM, CODE_IN_L2, CODE_NEAR_BY } CodePlace;

/* Most recent blocks in a cache (FIFO). */
typedef struct CodeRing {
    uint32_t *piece; /* from 1; 0: none yet */
    uint32_t count, next;
} CodeRing;

typedef struct CodeCache {
    const SimtMachine *machine;
    uint64_t *at;   /* per block: cycle at which it is in the small cache; CODE_ABSENT: it is not */
    uint8_t *place; /* CodePlace */
    uint32_t pieces;
    CodeRing small, large;
    uint64_t free; /* cycle at which the large cache can deliver the next block */
} CodeCache;

/* Is it longer than the small cache? */
int code_is_long(uint32_t instructions, const SimtMachine *machine);

/* Opens the caches for a number of SASS instructions. Nothing is allocated for short code. -1: out
 * of memory.
 */
int code_open(CodeCache *cache, uint32_t instructions, const SimtMachine *machine);
void code_close(CodeCache *cache);

/* Can code be missing at all? */
static inline int code_misses(const CodeCache *cache)
{
    return cache->at != NULL;
}

/* Cycle at which the block that a warp enters at `now` is available. */
uint64_t code_arrival(CodeCache *cache, uint32_t piece, uint64_t now);

#endif
