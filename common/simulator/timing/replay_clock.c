/* replay_clock.c - the replayed SM's clock, which falls while tensor cores multiply (tensor_mhz),
 * and the bandwidths of the L2 and of DRAM in its cycles. */
#include "common/simulator/timing/replay_sm.h"

/* Bandwidth beyond the L1 at the current clock. */
static void sm_rates(Sm *sm)
{
    const SimtMachine *m = sm->machine;
    const MachineCosts *costs = &m->costs;
    const ReplayMemory *memory = sm->mem.share;
    double slower = (double)sm->clock.uncore_ratio / CLOCK_ONE, share = memory->share / slower,
           l2 = m->l2_bytes_per_cycle * share, dram = m->dram_gb_s * 1e3 / m->clock_mhz * share;
    if (l2 > m->l2_bytes_per_sm) l2 = m->l2_bytes_per_sm;
    if (dram > m->l2_bytes_per_sm) dram = m->l2_bytes_per_sm;
    sm->mem.l2_sector = (uint64_t)(32 * TICKS / l2 + 0.5);
    for (int store = 0; store < 2; store++)
        sm->mem.dram_sector[store] =
            (uint64_t)(32 * TICKS / dram * (store ? 1 : memory->scattered) + 0.5);
    double bulk =
        costs->bulk_gpu_bytes * share * 65536 / (memory->dram_loads ? memory->dram_loads : 1);
    if (bulk > costs->bulk_sm_bytes) bulk = costs->bulk_sm_bytes;
    sm->mem.bulk_sector = (uint64_t)(32 * TICKS / bulk + 0.5);
}

void clock_set(Sm *sm, double mhz)
{
    sm->clock.uncore_ratio = (uint32_t)(CLOCK_ONE * mhz / sm->machine->clock_mhz + 0.5);
    sm_rates(sm);
}

/* An MMA issues on a tensor core: all SMs have a lower clock until some time after the last one. */
void clock_fall(Sm *sm, uint64_t now)
{
    double mhz = sm->machine->tensor_mhz;
    if (sm->clock.uncore_ratio == CLOCK_ONE) {
        sm->clock.slow_cycles += sm->clock.slow_until - sm->clock.slow_from;
        sm->clock.slow_from = now, sm->clock.falls++;
        clock_set(sm, mhz);
    }
    sm->clock.slow_until = now + (uint64_t)(sm->machine->costs.clock_slow_ns * mhz / 1e3);
}

void clock_rise(Sm *sm, uint64_t now)
{
    if (sm->clock.uncore_ratio != CLOCK_ONE && now > sm->clock.slow_until)
        clock_set(sm, sm->machine->clock_mhz);
}

/* Converts a time that the SM has reached to cycles of clock_mhz. */
uint64_t launch_cycle(const Sm *sm, uint64_t at)
{
    const SimtMachine *m = sm->machine;
    uint64_t until = at < sm->clock.slow_until ? at : sm->clock.slow_until,
             slow = sm->clock.slow_cycles;
    if (!sm->clock.falls) return at;
    if (until > sm->clock.slow_from) slow += until - sm->clock.slow_from;
    double more = (double)slow * (m->clock_mhz / m->tensor_mhz - 1),
           lost = sm->clock.falls * m->costs.clock_fall_ns * m->clock_mhz / 1e3;
    return at + (uint64_t)(more + lost + 0.5);
}
