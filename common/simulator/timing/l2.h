/* l2.h - DRAM traffic of a launch whose working set exceeds the L2.
 *
 * Some lines, chosen by their addresses, represent all. Each access to one of them that misses in
 * the L1 is noted, with its moment: the wave of its block, and the number of its warp's earlier
 * accesses. When all blocks have run, the notes are sorted by their moments and replayed on an L2
 * that is smaller in proportion to the sample. Neither the sample nor the order depends on the
 * number of host threads. */
#ifndef CONVLAB_SIMT_TIME_L2_H
#define CONVLAB_SIMT_TIME_L2_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/traffic.h"

int l2_log_open(L2Log *log, const Launch *launch);
void l2_log_close(L2Log *log);

/* The lines among these sectors that stand for others; a store is of `bytes` of each lane, or of
 * whole sectors where there are no lanes. */
void l2_note(Warp *warp, const uint64_t *sector, uint32_t n, const uint64_t *address, uint32_t mask,
             uint32_t bytes, int store);
/* Notes a bulk copy of `n` consecutive sectors. */
void l2_note_bulk(Warp *warp, uint64_t sector, uint64_t n, int store);

/* Makes launch->dram_loads and dram_stores, which are what was touched, what went to DRAM.  -1: out
 * of memory. */
int l2_play(Launch *launch, Worker *worker, uint32_t workers);

static inline uint32_t l2_line(uint64_t sector)
{
    return (uint32_t)((sector - DEVICE_BASE / SECTOR) / LINE_SECTORS);
}

/* Hashed, so that no stride of addresses finds only lines that are noted, or none. */
static inline uint32_t l2_rank(uint32_t line)
{
    return (uint32_t)(mixed(line) >> 32);
}

/* An access beyond the L1. */
static inline void l2_access(Warp *warp, const uint64_t *sector, uint32_t n,
                             const uint64_t *address, uint32_t mask, uint32_t bytes, int store)
{
    uint32_t most = warp->worker->l2.most;
    if (!most) return;
    warp->counts.l2_accesses++;
    for (uint32_t i = 0; i < n; i++)
        if (__builtin_expect(l2_rank(l2_line(sector[i])) <= most, 0)) {
            l2_note(warp, sector, n, address, mask, bytes, store);
            return;
        }
}

#endif
