/* dram_fetch.h - when a launch first asked for what DRAM gives at once.
 *
 * Here blocks run in any order, one after another.  On a card those that are there at once go
 * through their work side by side, and whoever asks for something at about the moment at which it
 * is first asked for waits for DRAM, whether or not it was the first.  So the moment of an access
 * is the wave that its block belongs to, and how many instructions its warp has executed; of each
 * fetch the earliest is kept, which is the same however the host's threads came to it. */
#ifndef CONVLAB_SIMT_FIRST_H
#define CONVLAB_SIMT_FIRST_H

#include "common/simulator/core/core.h"
#include "common/simulator/core/kinds.h"

enum { MOMENT_STEPS = 24, LATEST_WAVE = 254, LATEST_STEP = (1 << MOMENT_STEPS) - 1 };

static inline uint64_t block_wave(const Launch *launch, uint64_t block)
{
    return block / ((uint64_t)launch->gpu->machine.sms * launch->resident);
}

/* The same, as far as a moment tells waves apart. */
static inline uint32_t wave_of(const Launch *launch, uint64_t block)
{
    uint64_t wave = block_wave(launch, block);
    return (uint32_t)(wave < LATEST_WAVE ? wave : LATEST_WAVE);
}

/* Of two moments the larger is the earlier one; none is 0. */
static inline uint32_t moment_of(const Warp *warp)
{
    uint32_t step = warp->trace->count < LATEST_STEP ? warp->trace->count : LATEST_STEP;
    return ~(warp->worker->traffic.wave << MOMENT_STEPS | step);
}

static inline uint32_t moment_wave(uint32_t moment)
{
    return ~moment >> MOMENT_STEPS;
}

static inline uint32_t moment_step(uint32_t moment)
{
    return ~moment & LATEST_STEP;
}

static inline uint64_t fetch_of(uint64_t sector)
{
    return (sector - DEVICE_BASE / (FETCH_BYTES / FETCH_SECTORS)) / FETCH_SECTORS;
}

/* How long DRAM takes to answer: a place lies nearer to this SM or farther.  In thousandths of
 * dram_latency, each as often as the others: of 4,096 single loads on an H200, in their order, the
 * middle of each twentieth but the last (docs/data/h200/l2.tsv).  What lies together in 1,024 bytes
 * lies in one place, as slices of the L2 do. */
static inline uint64_t dram_wait(const SimtMachine *machine, uint64_t fetch)
{
    enum { PLACES = 19, TOGETHER = 1024 / FETCH_BYTES };
    static const uint16_t WAIT[PLACES] = {765,  786,  796,  808,  823,  833,  840,  849,  910, 993,
                                          1036, 1060, 1074, 1085, 1098, 1112, 1127, 1160, 1343};
    uint64_t place = (mixed(fetch / TOGETHER) >> 32) * PLACES >> 32;
    return (uint64_t)machine->dram_latency * WAIT[place] / 1000;
}

#endif
