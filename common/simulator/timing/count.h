/* count.h - what counting accesses to memory shares: different ones of a list, and loads by way of
 * the L1. */
#ifndef CONVLAB_SIMT_TIME_COUNT_H
#define CONVLAB_SIMT_TIME_COUNT_H

#include "common/simulator/core/core.h"
#include "common/simulator/timing/cost.h"

/* OPEN_ROWS: of DRAM, that one access may touch as cheaply as one, as a tile of a matrix does. */
enum { ROW_SECTORS = 64, OPEN_ROWS = 8, MOST_SECTORS = LANES * TEXELS };

/* Adds `value` to the n different ones unless it is there; returns how many there are now. */
static inline uint32_t distinct_add(uint64_t *distinct, uint32_t n, uint64_t value)
{
    uint32_t k = n;
    while (k && distinct[k - 1] != value)
        k--;
    if (!k) distinct[n++] = value;
    return n;
}

/* The different pieces of `each` sectors that these lie in. */
static inline uint32_t pieces_count(const uint64_t *sector, uint32_t n, uint32_t each)
{
    uint64_t piece[MOST_SECTORS];
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < n; i++)
        pieces = distinct_add(piece, pieces, sector[i] / each);
    return pieces;
}

/* Loads these different sectors by way of the L1.  Those that it has not got go into `missed`,
 * which may be the same list; returns how many. */
uint32_t sectors_load(Warp *warp, const uint64_t *sector, uint32_t n, uint64_t *missed);
/* Lists in the warp's trace the lines of these sectors, and of a store what it writes of each, a
 * bit a byte; a load in two parts has one list. */
void lines_list(Warp *warp, const uint64_t *sector, uint32_t n, const uint32_t *written);
/* What of n sectors goes beyond the L1: `misses`. */
void misses_add(Warp *warp, const uint64_t *sector, uint32_t n, uint32_t misses, int store);

#endif
