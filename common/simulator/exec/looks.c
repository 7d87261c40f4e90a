/* looks.c - turns of a loop that only looks, at the clock or whether others have written: the host
 * does not make them one by one, for nobody does anything meanwhile, so each counts the same. */
#include <string.h>

#include "common/simulator/exec/exec_parts.h"
#include "common/simulator/timing/interblock.h"

void look_begin(const Warp *warp, const Ins *from, Look *look)
{
    const Worker *worker = warp->worker;
    look->counters = worker->counters;
    memcpy(look->profile, &worker->profile[from - warp->code],
           sizeof *look->profile * (warp->loop + 1));
}

/* Adds `times` times what has been counted since then to all counts. */
static void sums_repeat(uint64_t *now, const uint64_t *before, size_t bytes, uint64_t times)
{
    for (size_t i = 0; i < bytes / sizeof *now; i++)
        now[i] += (now[i] - before[i]) * times;
}

uint64_t looks_alone(const Warp *warp, const Look *look, uint64_t cycles)
{
    const Worker *worker = warp->worker;
    uint64_t now = chain_now(warp), quiet = worker->launch->quiet;
    if (quiet == UINT64_MAX || quiet <= now || !cycles ||
        worker->counters.atomics != look->counters.atomics)
        return 0;
    return (quiet - now) / cycles;
}

void look_repeat(Warp *warp, const Ins *from, const Look *look, uint64_t cycles, uint64_t times)
{
    Worker *worker = warp->worker;
    sums_repeat((uint64_t *)&worker->counters, (const uint64_t *)&look->counters,
                sizeof look->counters, times);
    sums_repeat((uint64_t *)&worker->profile[from - warp->code], (const uint64_t *)look->profile,
                sizeof *look->profile * (warp->loop + 1), times);
    chain_turn(&warp->chain, warp->chain.begin + times * cycles);
    warp->held += times * cycles;
}
