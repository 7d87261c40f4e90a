/* replay_timeline.c - the warps of the replayed SM's first blocks over time.
 *
 * The length of a launch is not known in advance.  Bins first have a length of one cycle; whenever
 * the bins are full, neighbours are merged, which doubles the length. */
#include "common/simulator/timing/replay_sm.h"

#include <string.h>

static void bin_join(SimtBin *to, const SimtBin *from)
{
    for (int i = 0; i < SIMT_STALLS; i++)
        to->cycles[i] += from->cycles[i];
    if (from->longest <= to->longest) return;
    to->longest = from->longest, to->instruction = from->instruction;
}

static void bins_halve(SimtTimeline *timeline)
{
    for (uint32_t warp = 0; warp < TIMELINE_BLOCKS * timeline->warps; warp++) {
        SimtBin *bin = timeline->bin + (size_t)warp * TIMELINE_BINS;
        for (uint32_t i = 0; i < TIMELINE_BINS / 2; i++) {
            SimtBin joined = bin[2 * i];
            bin_join(&joined, &bin[2 * i + 1]);
            bin[i] = joined;
        }
        memset(bin + TIMELINE_BINS / 2, 0, TIMELINE_BINS / 2 * sizeof *bin);
    }
    timeline->bin_cycles *= 2;
}

void timeline_add(Sm *sm, const WarpReplay *warp, uint32_t origin, SimtStall stall, uint64_t from,
                  uint64_t to)
{
    SimtTimeline *timeline = sm->issue.timeline;
    if (!timeline || to <= from || warp->block >= timeline->blocks ||
        warp->index >= timeline->warps)
        return;
    while (to > timeline->bin_cycles * TIMELINE_BINS)
        bins_halve(timeline);
    SimtBin *bins = timeline_bins(timeline, warp->block, warp->index);
    timeline->end = max64(timeline->end, to);
    while (from < to) {
        SimtBin *bin = &bins[from / timeline->bin_cycles];
        uint64_t end = (from / timeline->bin_cycles + 1) * timeline->bin_cycles;
        if (end > to) end = to;
        const uint32_t cycles = (uint32_t)(end - from);
        bin->cycles[stall] += cycles;
        if (cycles > bin->longest) bin->longest = cycles, bin->instruction = origin;
        from = end;
    }
}
