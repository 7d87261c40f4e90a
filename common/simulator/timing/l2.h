/* l2.h - what goes on from the L2 to DRAM, of a launch that touches more than the L2 keeps.
 *
 * Some lines, chosen by their addresses, stand for all.  Each access to one of them that the L1
 * does not answer is noted, with its moment: the wave of its block, and how many accesses its warp
 * has made.  When all blocks have run, the notes are put in the order of their moments and played
 * on an L2 as much smaller as there are fewer lines.  Neither which lines nor which order depends
 * on how many host threads there were. */
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
/* Of a bulk copy, of `n` sectors that follow each other. */
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
