/* cycles.c - what a launch costs on the described machine, and how many blocks an SM holds.
 *
 * trace.c keeps what the first blocks of SM 0 executed, replay.c plays it on one SM of the machine
 * in the order that schedule.c expects of ptxas.  From that SM's time the launch's follows, by
 * totals that are exact: steps that found no room in the trace (replayed / executed), blocks that
 * were not traced (traced / all of SM 0), and the SM with the most to do (steps of the slowest / of
 * SM 0). So a launch of which everything was traced is not extrapolated at all; of larger ones two
 * waves are, and the error is that of taking later waves for equal ones.  No launch is faster than
 * the DRAM's bandwidth or a most wanted atomic's turns allow.  docs/cycle-model.md is the long
 * form.
 *
 * cost_issue and cost_result are for kernels that read the clock while they run, when the replay is
 * still to come: a warp's own clock over its own scoreboard. */
#include "common/simt/core/ops.h"
#include "common/simt/time/cost.h"
#include "common/simt/time/replay.h"

static uint64_t latency_of(const SimtMachine *machine, const Ins *ins)
{
    switch (ins->class) {
    case CLASS_FREE:
        return 0;
    case CLASS_SFU:
        return (uint64_t)machine->alu_latency * 4;
    case CLASS_DIV:
        return (uint64_t)machine->alu_latency * 25;
    case CLASS_FP64:
        return (uint64_t)machine->alu_latency * 4;
    default:
        return (uint64_t)machine->alu_latency;
    }
}

void cost_issue(Warp *warp, const Ins *ins)
{
    uint64_t at = warp->clock;
    if (ins->class != CLASS_FREE) at++;
    for (int i = 0; i < 6; i++) {
        uint64_t ready = warp->ready[ins->t_s[i]];
        if (ready > at && ins->class != CLASS_FREE) at = ready;
    }
    warp->issued = at;
    warp->pending = 0;
}

void cost_result(Warp *warp, const Ins *ins)
{
    uint64_t at = warp->issued, source = 0;
    if (ins->class == CLASS_FREE) {
        /* A folded move hands on its operand's time. */
        for (int i = 0; i < 4; i++)
            if (warp->ready[ins->t_s[i]] > source) source = warp->ready[ins->t_s[i]];
        at = source;
    } else {
        warp->clock = at > warp->clock ? at : warp->clock;
    }
    uint64_t ready =
        at + (warp->pending ? warp->pending : latency_of(&warp->worker->gpu->machine, ins));
    for (int i = 0; i < 4 && ins->t_d[i]; i++)
        warp->ready[ins->t_d[i]] = ready;
    warp->ready[0] = 0;
}

/* From one atomic operation on an address to the next, in hundredths of a cycle: measured on an
 * H200. */
enum { ATOMIC_PERCENT = 145 };

static uint64_t rounded_up(uint64_t a, uint64_t b)
{
    return b ? (a + b - 1) / b : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a * b / c without losing bits. */
static uint64_t scaled(uint64_t a, uint64_t b, uint64_t c)
{
    return c ? (uint64_t)((__uint128_t)a * b / c) : a;
}

/* Of 65536 sectors beyond the L1, how many go to DRAM. */
static uint32_t part_of(uint64_t dram, uint64_t misses)
{
    return dram >= misses ? 65536 : (uint32_t)scaled(dram, 65536, misses);
}

uint64_t cycles_estimate(Launch *launch, const BlockCost *sm, const Counters *counters)
{
    const SimtMachine *m = &launch->gpu->machine;
    uint64_t loads = 0, stores = 0, slowest = 0;
    for (uint32_t i = 0; i < m->sms; i++) {
        loads += sm[i].load_misses + sm[i].local_misses, stores += sm[i].store_misses;
        slowest = larger(slowest, sm[i].steps);
    }
    ReplayResult replay;
    if (replay_run(launch, part_of(launch->dram_loads, loads), part_of(launch->dram_stores, stores),
                   &replay) != 0)
        return 0;
    uint64_t cycles = scaled(replay.cycles, replay.executed, replay.steps);
    cycles = scaled(cycles, sm[0].blocks, replay.blocks);
    cycles = scaled(cycles, slowest, sm[0].steps);
    cycles = larger(cycles, (uint64_t)launch->hottest * ATOMIC_PERCENT / 100);
    uint64_t dram_per_kcycle = (uint64_t)(m->dram_gb_s * 1e6 / m->clock_mhz);
    cycles = larger(cycles, rounded_up(counters->dram_bytes * 1000, larger(dram_per_kcycle, 1)));
    return cycles + (uint64_t)m->launch_cycles;
}

/* ---- occupancy ---------------------------------------------------------------------------- */
uint32_t resident_blocks(const SimtMachine *m, const SimtKernelInfo *info, uint32_t threads,
                         uint32_t shared, const char **limit)
{
    uint32_t warps = (threads + LANES - 1) / LANES, blocks = m->max_blocks_per_sm;
    const char *why = "blocks";
    if (!warps || threads > m->max_threads_per_block) {
        if (limit) *limit = "threads";
        return 0;
    }
    if (m->max_warps_per_sm / warps < blocks) blocks = m->max_warps_per_sm / warps, why = "threads";
    uint32_t fit = machine_blocks_by_registers(m, info->registers, threads);
    if (fit < blocks) blocks = fit, why = "registers";
    uint64_t total = (uint64_t)info->shared_bytes + shared;
    if (total > m->shared_per_block_optin) {
        if (limit) *limit = "shared memory";
        return 0;
    }
    fit = machine_blocks_by_shared(m, total);
    if (fit < blocks) blocks = fit, why = "shared memory";
    if (limit) *limit = why;
    return blocks;
}
