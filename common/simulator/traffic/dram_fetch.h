/* dram_fetch.h - time of a launch's first access to each DRAM fetch (64 bytes).
 *
 * The simulator executes blocks one after another, in any order. On a GPU, resident blocks run
 * concurrently. Every access at about the time of the first access to the same data waits for DRAM,
 * whether or not it was the first. The moment of an access is therefore the wave of its block, and
 * the number of instructions that its warp has executed. The earliest moment of each fetch is kept,
 * which does not depend on the schedule of host threads. */
#ifndef CONVLAB_SIMT_FIRST_H
#define CONVLAB_SIMT_FIRST_H

#include "common/simulator/core/core.h"
#include "common/simulator/core/kinds.h"

enum { MOMENT_STEPS = 24, LATEST_WAVE = 254, LATEST_STEP = (1 << MOMENT_STEPS) - 1 };

static inline uint64_t block_wave(const Launch *launch, uint64_t block)
{
    return block / ((uint64_t)launch->gpu->machine.sms * launch->resident);
}

/* The same, limited to the waves that a moment can represent. */
static inline uint32_t wave_of(const Launch *launch, uint64_t block)
{
    uint64_t wave = block_wave(launch, block);
    return (uint32_t)(wave < LATEST_WAVE ? wave : LATEST_WAVE);
}

/* A larger moment is an earlier one; 0: none. */
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

/* Latency of DRAM, which depends on the distance between the memory slice and this SM. The values
 * are thousandths of dram_latency with equal frequency. They are the medians of the 19 lower
 * twentieths of 4,096 single loads on an H200 (docs/data/h200/l2.tsv). Each 1,024 bytes have one
 * place, like the slices of the L2. */
static inline uint64_t dram_wait(const SimtMachine *machine, uint64_t fetch)
{
    enum { TOGETHER = 1024 / FETCH_BYTES };
    const uint32_t *distance = machine->costs.dram_distances;
    const uint64_t places = sizeof machine->costs.dram_distances / sizeof *distance;
    uint64_t place = (mixed(fetch / TOGETHER) >> 32) * places >> 32;
    return (uint64_t)machine->dram_latency * distance[place] / 1000;
}

#endif
