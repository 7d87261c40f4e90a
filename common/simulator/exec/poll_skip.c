/* poll_skip.c - fast-forwards polling loops.
 *
 * A warp that polls the clock or a memory location repeats identical iterations until another warp
 * writes.  While no other warp can make progress, the simulator skips these iterations and adds
 * their counters and cycles in one step. */
#include <string.h>

#include "common/simulator/exec/exec_parts.h"
#include "common/simulator/timing/interblock.h"

void poll_snapshot(const Warp *warp, const Ins *from, PollSnapshot *look)
{
    const Worker *worker = warp->worker;
    look->counters = worker->counters;
    memcpy(look->profile, &worker->profile[from - warp->code],
           sizeof *look->profile * (warp->yield.loop + 1));
}

/* Adds `times` times what has been counted since then to all counts. */
static void sums_repeat(uint64_t *now, const uint64_t *before, size_t bytes, uint64_t times)
{
    for (size_t i = 0; i < bytes / sizeof *now; i++)
        now[i] += (now[i] - before[i]) * times;
}

uint64_t polls_to_skip(const Warp *warp, const PollSnapshot *look, uint64_t cycles)
{
    const Worker *worker = warp->worker;
    uint64_t now = critical_now(warp), quiet = worker->launch->interblock.next_event;
    if (quiet == UINT64_MAX || quiet <= now || !cycles ||
        worker->counters.atomics != look->counters.atomics)
        return 0;
    return (quiet - now) / cycles;
}

void polls_skip(Warp *warp, const Ins *from, const PollSnapshot *look, uint64_t cycles,
                uint64_t times)
{
    Worker *worker = warp->worker;
    sums_repeat((uint64_t *)&worker->counters, (const uint64_t *)&look->counters,
                sizeof look->counters, times);
    sums_repeat((uint64_t *)&worker->profile[from - warp->code], (const uint64_t *)look->profile,
                sizeof *look->profile * (warp->yield.loop + 1), times);
    critical_wait_until(&warp->chain, warp->chain.begin + times * cycles);
    warp->interblock.poll_cycles += times * cycles;
}
