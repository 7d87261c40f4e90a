/* code_cache.h - when the instructions are there that a warp wants next.
 *
 * A multiprocessor has a small cache of code and a larger one; behind them is the L2.  Code comes
 * by pieces: one is asked for when a warp comes to it, or when a warp comes into the one before it.
 * So who goes straight on waits for each piece nearly as long as its way is.
 *
 * A launch begins as on a card on which the kernel has run before, and the L2 was emptied since.
 * Code that fits the small cache takes nothing. */
#ifndef CONVLAB_SIMT_CODE_CACHE_H
#define CONVLAB_SIMT_CODE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "common/simulator/core/core.h"

enum {
    CODE_PIECE = 48,      /* machine instructions of 16 bytes */
    CODE_ANY = 0x7fffffff /* the piece that the warp is in, whichever it is */
};

/* Where a piece is, besides in the small cache. */
typedef enum CodePlace { CODE_IN_DRAM, CODE_IN_L2, CODE_NEAR_BY } CodePlace;

/* Pieces that a cache keeps: those that came last. */
typedef struct CodeRing {
    uint32_t *piece; /* from 1; 0: none yet */
    uint32_t count, next;
} CodeRing;

typedef struct CodeCache {
    const SimtMachine *machine;
    uint64_t *at;   /* per piece: when the small cache has it; CODE_ABSENT: it has not */
    uint8_t *place; /* CodePlace */
    uint32_t pieces;
    CodeRing small, large;
    uint64_t free;   /* when the large one gives the next piece */
    uint64_t latest; /* when the last one that was asked for is there */
} CodeCache;

/* Is it longer than the small cache? */
int code_is_long(uint32_t instructions);

/* So many machine instructions.  Nothing is allocated where they are not long.  -1: out of memory.
 */
int code_open(CodeCache *cache, uint32_t instructions, const SimtMachine *machine);
void code_close(CodeCache *cache);

/* Can code be missing at all? */
static inline int code_misses(const CodeCache *cache)
{
    return cache->at != NULL;
}

/* Has a piece come of late, or will one? */
static inline int code_is_coming(const CodeCache *cache, uint64_t now)
{
    enum { OF_LATE = 1000 }; /* cycles */
    return cache->latest && now < cache->latest + OF_LATE;
}

/* When the piece is there, into which a warp comes at `now`. */
uint64_t code_arrival(CodeCache *cache, uint32_t piece, uint64_t now);

#endif
