/* first.h - when a launch first asked for what DRAM gives at once.
 *
 * Here blocks run in any order, one after another.  On a card those that are there at once go
 * through their work side by side, and whoever asks for something at about the moment at which it
 * is first asked for waits for DRAM, whether or not it was the first.  So the moment of an access
 * is the wave that its block belongs to, and how many instructions its warp has executed; of each
 * fetch the earliest is kept, which is the same however the host's threads came to it. */
#ifndef CONVLAB_SIMT_TIME_FIRST_H
#define CONVLAB_SIMT_TIME_FIRST_H

#include "common/simt/core/core.h"
#include "common/simt/core/kinds.h"

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
    return ~(warp->worker->wave << MOMENT_STEPS | step);
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

#endif
