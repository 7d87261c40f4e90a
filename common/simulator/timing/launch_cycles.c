/* launch_cycles.c - what a launch costs on the described machine, and how many blocks an SM holds.
 *
 * trace.c records the execution of the first blocks of SM 0, and replay.c replays it on one SM of
 * the machine in the order that schedule.c expects of ptxas. The launch's time follows from that
 * SM's time by exact totals: the SASS instructions of the SM with the most of them, over those that
 * were replayed.
 *
 * That is right when the replayed blocks are like the others. lower_bounds.c computes the least
 * time that each SM needs of each resource. If the busiest SM needs a resource in another
 * proportion than the sample, the blocks with the most work are replayed instead. No launch is
 * faster than its lower bounds, so work that is not replayed costs time too. Cycles are always
 * those of clock_mhz, so they are a time. An SM may have a lower clock during MMAs: its cycles are
 * then longer, and it needs more cycles of clock_mhz for the same work.
 * docs/simulator/cycle-model.md is the long form. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/ops.h"
#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/cost.h"
#include "common/simulator/traffic/extremes.h"
#include "common/simulator/timing/replay.h"
#include "common/simulator/traffic/traffic.h"

/* The sample represents the busiest SM if no resource that takes a third of the time differs by
 * more than UNLIKE_PERCENT. The labs' solutions differ by up to 27 %, where SM 0 has a corner's
 * block or the last waves consist of tiles that exceed the output. */
enum { UNLIKE_PERCENT = 30, UNSEEN_PART = 3, TICKS = 256 };

static uint64_t rounded_up(uint64_t a, uint64_t b)
{
    return b ? (a + b - 1) / b : 0;
}

/* a * b / c without losing bits. */
static uint64_t scaled(uint64_t a, uint64_t b, uint64_t c)
{
    return c ? (uint64_t)((__uint128_t)a * b / c) : a;
}

/* DRAM sectors per 65536 sectors beyond the L1. */
static uint32_t part_of(uint64_t dram, uint64_t misses)
{
    return dram >= misses ? 65536 : (uint32_t)scaled(dram, 65536, misses);
}

/* ---- a launch ----------------------------------------------------------------------------- */

typedef struct Totals {
    uint64_t loads, stores;           /* sectors beyond the L1s */
    uint64_t dram_loads, dram_stores; /* ... and beyond the L2 */
    StoreCost price;
    StoreTraffic sent;                /* store traffic to the L2 */
    uint64_t bulk;                    /* those that the tensor memory accelerator loads */
    uint64_t misses;                  /* the most of any SM */
    BlockCost all;                    /* total of all SMs */
    uint64_t floor[LOWER_BOUND_AXES]; /* the most of any SM */
    uint64_t slots, steps;            /* the most of any SM */
    uint64_t longest;                 /* chain of any block, in cycles */
} Totals;

/* The fraction of spilled data outside of the L1 that does not fit in the L2 either. All resident
 * blocks access their spills repeatedly. An H200 sends almost nothing to DRAM with 29 MB of spills,
 * and two thirds with 100 to 175 MB (spill-..., mixed-..., kept-...). */
static double spills_beyond(const Launch *launch)
{
    const SimtMachine *m = &launch->gpu->machine;
    const SimtKernel *kernel = launch->kernel;
    uint64_t blocks = (uint64_t)m->sms * launch->resident,
             bytes = larger(kernel->local_bytes, kernel->cubin.local_bytes);
    if (launch->blocks < blocks) blocks = launch->blocks;
    double used = (double)blocks * (double)launch->threads_per_block * (double)bytes,
           kept = (double)m->l2_bytes * m->costs.spill_kept_percent / 100;
    return kernel->info.spills && used > kept ? 1 - kept / used : 0;
}

/* The most that any SM needs at least. */
static void needs_find(const Launch *launch, const Worker *worker, Totals *t)
{
    memset(t->floor, 0, sizeof t->floor);
    for (uint32_t i = 0; i < launch->gpu->machine.sms; i++) {
        uint64_t floor[LOWER_BOUND_AXES];
        lower_bounds_find(launch, &worker[0].sm[i], floor);
        for (int axis = 0; axis < LOWER_BOUND_AXES; axis++)
            t->floor[axis] = larger(t->floor[axis], floor[axis]);
    }
}

/* The fraction of stored sectors that the launch has also loaded. */
static double changed_part(const Launch *launch, const BlockCost *all)
{
    enum { FEW = 1 << 14 };
    if (all->store_parts < FEW || !launch->dram.stores) return 0;
    return (double)traffic_changed(launch) / (double)launch->dram.stores;
}

/* Costs of stores in the L2 and in DRAM. */
static void stored_find(const Launch *launch, Totals *t)
{
    const BlockCost *all = &t->all;
    const MachineCosts *costs = &launch->gpu->machine.costs;
    StoreCost *price = &t->price;
    t->sent = (StoreTraffic){(int64_t)all->store_lines, (int64_t)all->store_misses,
                             (int64_t)all->store_parts};
    *price = (StoreCost){.line = costs->stored_line_percent / 100.0};
    if (!all->store_misses) return;
    double own = 1 - changed_part(launch, all),
           apart = all->store_lines ? (double)all->store_rows / (double)all->store_lines : 0,
           opened = (double)launch->dram.rows * apart;
    price->part = costs->stored_part_percent / 100.0 * own;
    price->row = opened / (double)all->store_misses * (costs->stored_row_percent / 100.0);
    if (!launch->dram.stores) return;
    double written = (double)launch->dram.stores,
           gone = (double)(launch->dram.written + launch->dram.fills) / written;
    price->gone = (gone - 1) * own,
    price->opened = opened / written * (costs->opened_row_percent / 100.0);
}

static int64_t in_proportion(int64_t count, int64_t part, int64_t of)
{
    return of ? (int64_t)((double)count * (double)part / (double)of) : count;
}

/* The buffering of the replayed stores is extrapolated to the stores of all SMs. */
static void sent_find(Launch *launch, Totals *t, const ReplayResult *replay)
{
    const StoreTraffic *all = &replay->unbuffered, *sent = &replay->sent;
    t->sent.lines = in_proportion(t->sent.lines, sent->lines, all->lines);
    t->sent.sectors = in_proportion(t->sent.sectors, sent->sectors, all->sectors);
    t->sent.parts = in_proportion(t->sent.parts, sent->parts, all->parts);
    if (all->sectors)
        launch->trace.store_sector_ratio = (double)sent->sectors / (double)all->sectors;
}

static void totals_find(const Launch *launch, const Worker *worker, uint32_t workers, Totals *t)
{
    *t = (Totals){0};
    for (uint32_t i = 0; i < launch->gpu->machine.sms; i++) {
        const BlockCost *sm = &worker[0].sm[i];
        cost_add(&t->all, sm);
        t->misses = larger(t->misses, sm->load_misses + sm->local_misses + sm->store_misses +
                                          sm->spill_stores);
        t->slots = larger(t->slots, sm->slots), t->steps = larger(t->steps, sm->steps);
    }
    t->loads = t->all.load_misses + t->all.local_misses;
    t->stores = t->all.store_misses + t->all.spill_stores;
    double beyond = spills_beyond(launch);
    t->dram_loads = launch->dram.loads + (uint64_t)(beyond * (double)t->all.local_misses);
    t->dram_stores = launch->dram.stores + (uint64_t)(beyond * (double)t->all.spill_stores);
    stored_find(launch, t);
    t->bulk = t->all.bulk_sectors;
    for (uint32_t i = 0; i < workers; i++)
        t->longest = larger(t->longest, worker[i].longest);
}

/* DRAM time of loaded sectors relative to streamed ones. */
static double scattered(const SimtMachine *m, const Totals *t)
{
    const MachineCosts *costs = &m->costs;
    return 1 + (t->loads ? (double)t->all.load_rows / (double)t->loads *
                               costs->scattered_row_percent / 100
                         : 0);
}

/* Time of the resources that all SMs share: the L2, the DRAM, the most frequent atomic, and the
 * block scheduler. */
static uint64_t chip_cycles(const Launch *launch, const Totals *t)
{
    const SimtMachine *m = &launch->gpu->machine;
    uint64_t dram_per_kcycle = (uint64_t)(m->dram_gb_s * 1e6 / m->clock_mhz);
    double bytes = (double)t->dram_loads * 32 * scattered(&launch->gpu->machine, t) +
                   (double)t->dram_stores * 32 * written_sectors(&t->price, &t->sent);
    uint64_t cycles = rounded_up((uint64_t)(bytes * 1000), larger(dram_per_kcycle, 1));
    double l2 = (double)t->all.load_misses * launch->trace.load_sector_ratio +
                (double)t->all.local_misses + stored_sectors(&t->price, &t->sent) +
                (double)t->all.spill_stores * m->costs.spill_store_percent / 100;
    cycles = larger(cycles, (uint64_t)(l2 * 32 / m->l2_bytes_per_cycle));
    cycles = larger(cycles, (uint64_t)((double)(launch->blocks - 1) * m->block_launch_cycles));
    return larger(cycles,
                  larger(launch->contention.most_atomics, launch->contention.most_polls) / 100);
}

/* No launch is faster than the floors of the SM that has the most to do, its longest block, and
 * what all SMs share.  The first are cycles of the SM's own clock. */
static uint64_t least_cycles(const Launch *launch, const Totals *t, const ReplayResult *replay)
{
    uint64_t cycles = larger(t->longest, chip_cycles(launch, t));
    for (int axis = 0; axis < LOWER_BOUND_AXES; axis++)
        cycles = larger(cycles, scaled(t->floor[axis] / TICKS, replay->cycles, replay->sm_cycles));
    return cycles;
}

/* Time for which the launch keeps the machine's busiest resource occupied if its work is spread
 * evenly; waiting occupies nothing. */
static uint64_t busy_cycles(const Launch *launch, const Totals *t)
{
    uint64_t floor[LOWER_BOUND_AXES], cycles = chip_cycles(launch, t);
    lower_bounds_find(launch, &t->all, floor);
    for (int axis = 0; axis < LOWER_BOUND_CRITICAL_PATHS; axis++)
        cycles = larger(cycles, rounded_up(floor[axis] / TICKS, launch->gpu->machine.sms));
    return cycles;
}

static int is_much_more(uint64_t a, uint64_t b)
{
    return (double)a * 100 > (double)b * (100 + UNLIKE_PERCENT);
}

/* Are the blocks of `replay` similar to those of the busiest SM? Scaled to the same number of
 * instructions, the number of blocks must be about the same, and so must each resource that takes
 * more than a certain part of the cycles. */
static int represents_all(const Launch *launch, const Totals *t, const ReplayResult *replay,
                          uint64_t cycles)
{
    uint64_t floor[LOWER_BOUND_AXES], blocks = rounded_up(launch->blocks, dealt_sms(launch));
    lower_bounds_find(launch, &replay->cost, floor);
    if (is_much_more(scaled(replay->cost.blocks, t->slots, replay->cost.slots), blocks)) return 0;
    for (int axis = 0; axis < LOWER_BOUND_AXES; axis++) {
        uint64_t here = scaled(floor[axis], t->slots, replay->cost.slots), there = t->floor[axis];
        if (larger(here, there) / TICKS * UNSEEN_PART < cycles) continue;
        if (is_much_more(here, there) || is_much_more(there, here)) return 0;
    }
    return 1;
}

/* Every SM that has blocks gets the same. */
static ReplayMemory memory_of(const Launch *launch, const Totals *t)
{
    uint32_t sms = launch->gpu->machine.sms;
    return (ReplayMemory){.dram_loads = part_of(t->dram_loads, t->loads + t->bulk),
                          .dram_stores = part_of(t->dram_stores, t->stores),
                          .share = 1.0 / (double)(launch->blocks < sms ? launch->blocks : sms),
                          .scattered = scattered(&launch->gpu->machine, t),
                          .stores = t->price};
}

/* The most of an SM's floors and its longest block, in ticks. */
static uint64_t need_of(const uint64_t floor[LOWER_BOUND_AXES], uint64_t longest)
{
    uint64_t most = longest * TICKS;
    for (int axis = 0; axis < LOWER_BOUND_AXES; axis++)
        most = larger(most, floor[axis]);
    return most;
}

/* The heaviest blocks on one SM, in proportion to what they and the busiest SM need at least.
 * Nothing if there are no such blocks; -1: out of memory. */
static int heaviest_cycles(Launch *launch, const Worker *worker, uint32_t workers, const Totals *t,
                           uint64_t *cycles)
{
    BlockTrace *heaviest;
    ReplayResult replay;
    uint64_t floor[LOWER_BOUND_AXES], longest = 0;
    uint32_t count = heaviest_merge(launch, worker, workers, &heaviest);
    /* Blocks with more misses use more of the bandwidth. */
    ReplayMemory memory = memory_of(launch, t);
    double part = t->loads + t->stores ? (double)t->misses / (double)(t->loads + t->stores) : 0;
    if (part > memory.share) memory.share = part;
    if (!heaviest) return -1;
    for (uint32_t i = 0; i < count; i++) {
        longest = larger(longest, heaviest[i].cost.chain);
        trace_order(launch, &heaviest[i]);
    }
    int failed = count && replay_run(launch, heaviest, count, &memory, &replay) != 0;
    free(heaviest);
    if (failed || !count) return failed ? -1 : 0;
    lower_bounds_find(launch, &replay.cost, floor);
    *cycles = scaled(replay.cycles, replay.cost.slots, replay.slots);
    *cycles = scaled(*cycles, need_of(t->floor, t->longest), need_of(floor, longest));
    return 0;
}

/* Extrapolates the work that is not replayed with the time of the later waves, because only the
 * first wave starts on an idle machine with data that no warp has requested. `part` of the replayed
 * blocks' work `played` has been replayed; the SM has `all` to do. */
static uint64_t continued(const ReplayResult *replay, uint64_t part, uint64_t played, uint64_t all)
{
    uint64_t cycles = scaled(replay->cycles, played, part),
             later = scaled(replay->later_cycles, played, part);
    if (all <= played) return scaled(cycles, all, played);
    return cycles +
           scaled(later, scaled(all - played, replay->cost.blocks, replay->later_blocks), played);
}

/* The time if SM 0's later blocks are like those that were replayed, and the busiest SM is like SM
 * 0. */
static uint64_t waves_cycles(const BlockCost *sm, const Totals *t, const ReplayResult *replay)
{
    uint64_t all = scaled(replay->cost.steps, sm->blocks, replay->cost.blocks);
    uint64_t cycles = continued(replay, replay->steps, replay->cost.steps, all);
    return scaled(cycles, t->steps, sm->steps);
}

/* If each SM has at most one block, the launch takes as long as its longest block. That block is
 * replayed, and not extrapolated from SM 0's, if it has more work. */
static int is_alone(const Launch *launch, const Totals *t, const BlockCost *sm)
{
    enum { MORE_PERCENT = 102 };
    return launch->blocks <= dealt_sms(launch) && t->steps * 100 > sm->steps * MORE_PERCENT;
}

/* Time of a launch before and after its work: its parameters and first instructions come from DRAM,
 * and it ends when its last store has arrived in the L2. An empty kernel, with which launch_cycles
 * was measured, waits for neither. */
static uint64_t edge_cycles(const Launch *launch, const Totals *t)
{
    const SimtMachine *m = &launch->gpu->machine;
    uint64_t cycles = launch->kernel->function->params ? (uint64_t)m->dram_latency : 0;
    return cycles + (t->stores || launch->contention.most_atomics ? (uint64_t)m->l2_latency : 0);
}

/* Times at which the next launch could start, and at which this one would have to wait:
 * extrapolated from the replay's end and start with the launch's time per block. */
static void overlap_estimate(const Launch *launch, const ReplayResult *replay, uint64_t cycles,
                             SimtResult *result)
{
    const SimtMachine *m = &launch->gpu->machine;
    uint64_t before = (uint64_t)m->launch_cycles,
             blocks = rounded_up(launch->blocks, dealt_sms(launch)),
             played = replay->cycles * blocks / larger(replay->cost.blocks, 1);
    if (launch->kernel->function->params) before += (uint64_t)m->dram_latency;
    result->pdl_trigger_cycles =
        before + cycles - scaled(replay->cycles - replay->pdl_trigger, cycles, played);
    result->pdl_wait_cycles = result->cycles;
    if (launch->kernel->traits.awaits_launch)
        result->pdl_wait_cycles = before + scaled(replay->pdl_wait, cycles, played);
}

/* If blocks run in time order, their critical paths give the end of the last one, and the replay
 * adds the delays by other blocks and by DRAM. */
static uint64_t sync_cycles(const Launch *launch, const Worker *worker, uint32_t workers,
                            const Totals *t, const ReplayResult *replay)
{
    uint64_t last = 0, played = 0;
    for (uint32_t i = 0; i < workers; i++)
        last = larger(last, worker[i].ended);
    for (uint32_t i = 0; i < traces_count(launch); i++)
        played = larger(played, launch->trace.block[i].ended);
    uint64_t later = replay->cycles > played ? replay->cycles - played : 0;
    return last + scaled(later, t->slots, replay->cost.slots);
}

int cycles_estimate(Launch *launch, const Worker *worker, uint32_t workers, SimtResult *result)
{
    Totals t;
    ReplayResult replay;
    totals_find(launch, worker, workers, &t);
    ReplayMemory memory = memory_of(launch, &t);
    if (replay_run(launch, launch->trace.block, traces_count(launch), &memory, &replay) != 0)
        return -1;
    if (replay.estimated_sectors)
        launch->trace.load_sector_ratio =
            (double)replay.replayed_sectors / (double)replay.estimated_sectors;
    sent_find(launch, &t, &replay);
    needs_find(launch, worker, &t);
    uint64_t cycles = larger(continued(&replay, replay.slots, replay.cost.slots, t.slots),
                             waves_cycles(&worker[0].sm[0], &t, &replay));
    if (launch->interblock.queue)
        cycles = sync_cycles(launch, worker, workers, &t, &replay);
    else if ((is_alone(launch, &t, &worker[0].sm[0]) ||
              !represents_all(launch, &t, &replay, cycles)) &&
             heaviest_cycles(launch, worker, workers, &t, &cycles) != 0)
        return -1;
    cycles = larger(cycles, least_cycles(launch, &t, &replay));
    result->cycles =
        cycles + edge_cycles(launch, &t) + (uint64_t)launch->gpu->machine.launch_cycles;
    result->busy_cycles = busy_cycles(launch, &t);
    overlap_estimate(launch, &replay, cycles, result);
    result->occupancy_percent = launch->occupancy_percent;
    return 0;
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
