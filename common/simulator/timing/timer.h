/* timer.h - the chip's timer, which counts nanoseconds, and warps that sleep by it. */
#ifndef CONVLAB_SIMT_TIME_TIMER_H
#define CONVLAB_SIMT_TIME_TIMER_H

#include "common/simulator/core/core.h"

/* What it shows when a launch begins.  Of any power of two it is a third or two, so who sleeps for
 * the first time sleeps for about as much of a period as on a card, where it is any. */
enum { TIMER_BEGIN = 0x15555540 };

/* Nanoseconds since the launch began, so many cycles later. */
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

/* Who sleeps wakes at a multiple of so many nanoseconds of the timer: the first power of two beyond
 * what was asked for. */
static inline uint32_t sleep_period(const SimtMachine *machine, uint32_t asked)
{
    uint32_t period = machine->costs.sleep_least_ns;
    while (period <= asked && period < machine->costs.sleep_most_ns)
        period *= 2;
    return period;
}

/* When a warp wakes that goes to sleep at a cycle; with no period it does not sleep. */
static inline uint64_t sleep_end(const SimtMachine *machine, uint64_t cycle, uint32_t period)
{
    if (!period) return cycle;
    uint64_t now = TIMER_BEGIN + timer_passed(machine, cycle),
             wake = (now / period + 1) * period - TIMER_BEGIN;
    return (uint64_t)((double)wake * machine->clock_mhz / 1e3) + 1;
}

#endif
