/* count.h - what counting accesses to memory shares: different ones of a list, and loads by way of
 * the L1. */
#ifndef CONVLAB_SIMT_TIME_COUNT_H
#define CONVLAB_SIMT_TIME_COUNT_H

#include "common/simulator/core/core.h"
#include "common/simulator/timing/cost.h"

enum { MOST_SECTORS = LANES * TEXELS, WORD = 4 };

/* Adds `value` to the n different ones unless it is among them; returns the new number. */
static inline uint32_t distinct_add(uint64_t *distinct, uint32_t n, uint64_t value)
{
    uint32_t k = n;
    while (k && distinct[k - 1] != value)
        k--;
    if (!k) distinct[n++] = value;
    return n;
}

/* Number of different units of `each` sectors that contain these sectors. */
static inline uint32_t segments_count(const uint64_t *sector, uint32_t n, uint32_t each)
{
    uint64_t piece[MOST_SECTORS];
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < n; i++)
        pieces = distinct_add(piece, pieces, sector[i] / each);
    return pieces;
}

/* The active lanes that may access another unit of `unit` bytes than earlier lanes: those that
 * differ from the previous lane, and those after an idle one. Written for vectorisation. */
static inline uint32_t changes_find(const uint64_t *address, uint32_t mask, uint32_t unit)
{
    uint32_t changes = ~(mask << 1);
    for (uint32_t i = 1; i < LANES; i++)
        changes |= address[i] / unit != address[i - 1] / unit ? 1u << i : 0;
    return mask & changes;
}

/* The distinct pieces of `unit` bytes of the active lanes, in the order of the lanes.  No access
 * straddles one: all are aligned.  Mostly neighbours want the same. */
static inline uint32_t units_collect(const uint64_t *address, uint32_t mask, uint32_t unit,
                                     uint64_t *piece)
{
    uint32_t n = 0;
    for (uint32_t m = changes_find(address, mask, unit); m; m &= m - 1)
        n = distinct_add(piece, n, address[__builtin_ctz(m)] / unit);
    return n;
}

/* Bytes that each lane accesses, in one part of a vector. */
static inline uint32_t bytes_each(const Ins *ins)
{
    static const uint32_t JOINED[] = {[MERGE_4] = 4, [MERGE_8] = 8, [MERGE_16] = 16};
    if (ins->merge && ins->merge != MERGE_FOLLOWER) return JOINED[ins->merge];
    if (ins->part_bytes) return ins->part_bytes;
    return ins->bytes * (ins->vector > 1 ? ins->vector : 1u);
}

/* Folded away by the machine's own compiler, or done within an accelerator. */
static inline int is_free(const Ins *ins)
{
    return ins->class == CLASS_FREE;
}

/* Number of lines that contain the n sectors. */
uint32_t lines_count(const uint64_t *sector, uint32_t n);
/* Adds passes through the load/store unit. */
void passes_add(Warp *warp, uint32_t passes);
/* Notes whether an access goes to the other half of the L2: a fence after it takes longer. */
void across_note(Warp *warp, const uint64_t *sector, uint32_t n);
/* Adds hundredths of a cycle to the load of a hashed word or slice; *hottest: the maximum. */
void hotter(uint32_t *hot, uint32_t percent, uint32_t *hottest);

/* Loads these different sectors by way of the L1.  Those that it has not got go into `missed`,
 * which may be the same list; returns how many. */
uint32_t sectors_load(Warp *warp, const uint64_t *sector, uint32_t n, uint64_t *missed);
/* Adds the sectors beyond the L1: `misses` of the n sectors. */
void misses_add(Warp *warp, const uint64_t *sector, uint32_t n, uint32_t misses, int store);

#endif
