/* timer.h - the chip's timer, which counts nanoseconds, and warps that sleep by it. */
#ifndef CONVLAB_SIMT_TIME_TIMER_H
#define CONVLAB_SIMT_TIME_TIMER_H

#include "common/simulator/core/core.h"

/* Initial value at the start of a launch. It is a third or two thirds of any power of two, so the
 * first sleep takes about the same part of a period as on a GPU, where the value is arbitrary. */
enum { TIMER_BEGIN = 0x15555540 };

/* Nanoseconds since the launch began, `cycles` cycles later. */
static inline uint64_t timer_passed(const SimtMachine *machine, uint64_t cycles)
{
    return (uint64_t)((double)cycles * 1e3 / machine->clock_mhz);
}

static inline uint64_t timer_shows(const SimtMachine *machine, uint64_t cycles)
{
    const MachineCosts *costs = &machine->costs;
    return (TIMER_BEGIN + timer_passed(machine, cycles)) / costs->timer_step_ns *
           costs->timer_step_ns;
}

/* A sleeping warp wakes at a multiple of this number of nanoseconds of the timer: the first power
 * of two beyond the requested time. */
static inline uint32_t sleep_period(const SimtMachine *machine, uint32_t asked)
{
    uint32_t period = machine->costs.sleep_least_ns;
    while (period <= asked && period < machine->costs.sleep_most_ns)
        period *= 2;
    return period;
}

/* Wake-up time of a warp that goes to sleep at a cycle; with no period it does not sleep. */
static inline uint64_t sleep_end(const SimtMachine *machine, uint64_t cycle, uint32_t period)
{
    if (!period) return cycle;
    uint64_t now = TIMER_BEGIN + timer_passed(machine, cycle),
             wake = (now / period + 1) * period - TIMER_BEGIN;
    return (uint64_t)((double)wake * machine->clock_mhz / 1e3) + 1;
}

#endif
