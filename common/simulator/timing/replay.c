/* replay.c - one SM, instruction by instruction.
 *
 * Warps are distributed over the schedulers.  A scheduler issues one instruction at a time, of the
 * warp that can issue first; of several, of the oldest block's warp that issued longest ago.  A
 * warp's next instruction can issue when its operands are available (scoreboard), when its pipe is
 * free, and some cycles after a branch.  The load/store unit takes a cycle for every pass.  L1
 * misses take this SM's share of the L2's bandwidth, and L2 misses its share of DRAM's; they
 * return after the latencies of these.  A barrier releases its warps when all of them have
 * arrived.  Blocks start when a place is free and the block scheduler serves this SM: at the
 * launch, and some time after each end of a block.  A warp that has ended has freed its place by
 * then, although others of its block continue.
 *
 * If the SASS is known, it is replayed instead of the PTX (sass_map.h): an instruction has a stall
 * count and names the counters that must be zero before it issues. SASS can be forged, so its time
 * is clamped to at least 3/5 of the PTX estimate.
 *
 * Cycles are the SM's own. If the clock falls during MMAs (tensor_mhz), latencies beyond the SM
 * take fewer of these. Results are in cycles of clock_mhz, which are the time of the launch.
 *
 * The modules are replay_frontend.c (next instruction), replay_issue.c (schedulers),
 * replay_memory.c, replay_clock.c and replay_blocks.c. */
#include "common/simulator/timing/replay.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"
#include "common/simulator/timing/cost.h"
#include "common/simulator/timing/replay_sm.h"

enum { SASS_CLAMP_NUM = 3, SASS_CLAMP_DEN = 5 }; /* least share of the PTX estimate */

static void sm_start(Sm *sm, const ReplayMemory *memory)
{
    const SimtMachine *m = sm->machine;
    const Launch *launch = sm->launch;
    uint64_t active = launch->blocks < m->sms ? launch->blocks : m->sms;
    sm->mem.share = memory, sm->mem.store_cost = memory->stores;
    sm->blocks.launch_interval = (uint64_t)(m->block_launch_cycles * (double)active + 0.5);
    sm->mem.dram_part[0] = memory->dram_loads, sm->mem.dram_part[1] = memory->dram_stores;
    clock_set(sm, m->clock_mhz);
}

/* Warps go around among the schedulers. */
static void ready_lists_divide(Sm *sm)
{
    for (uint32_t s = 0; s + 1 < sm->schedulers; s++)
        sm->issue.first[s + 1] =
            sm->issue.first[s] + (sm->places + sm->schedulers - 1 - s) / sm->schedulers;
}

static int sm_open(Sm *sm, Launch *launch, const BlockTrace *trace, uint32_t traces, int follows)
{
    const SimtMachine *m = &launch->gpu->machine;
    uint32_t slots = launch->block_places < traces ? launch->block_places : traces,
             places = slots * launch->warps_per_block;
    if (places > launch->warp_places) places = launch->warp_places;
    *sm = (Sm){.launch = launch,
               .trace = trace,
               .traces = traces,
               .machine = m,
               .plays_sass = follows,
               .code = launch->kernel->costs.code,
               .price = launch->kernel->costs.price,
               .blocks.slots = slots,
               .warps_per_block = launch->warps_per_block,
               .places = places,
               .blocks.free_places = places,
               .schedulers = m->schedulers > MOST_SCHEDULERS ? MOST_SCHEDULERS : m->schedulers};
    for (uint32_t i = 0; i < launch->kernel->count && !sm->blocks.has_phases; i++)
        sm->blocks.has_phases = counts_for_phase(&sm->code[i]) || mbarrier_waits(&sm->code[i]);
    sm->warp = calloc(sm->places, sizeof *sm->warp);
    sm->blocks.slot = calloc(slots, sizeof *sm->blocks.slot);
    sm->blocks.warp_index =
        calloc((size_t)slots * sm->warps_per_block, sizeof *sm->blocks.warp_index);
    sm->blocks.ends = calloc(traces, sizeof *sm->blocks.ends);
    sm->issue.ready = calloc(sm->places, sizeof *sm->issue.ready);
    sm->mem.fetch_arrival = calloc(FETCHES_KEPT, sizeof *sm->mem.fetch_arrival);
    sm->mem.fetched = calloc(launch->touched.fetches / 64 + 1, sizeof *sm->mem.fetched);
    sm->mem.constant = calloc(CONSTANTS_KEPT, sizeof *sm->mem.constant);
    sm->issue.first = calloc(sm->schedulers, sizeof *sm->issue.first);
    sm->issue.count = calloc(sm->schedulers, sizeof *sm->issue.count);
    sm->issue.gate = calloc((size_t)sm->schedulers * GATES, sizeof *sm->issue.gate);
    sm->issue.scheduler_free = calloc(sm->schedulers, sizeof *sm->issue.scheduler_free);
    sm->issue.bank = calloc(2 * (size_t)sm->schedulers, sizeof *sm->issue.bank);
    sm->issue.fp32_half = calloc(sm->schedulers, 1);
    sm->issue.sleep_unit = calloc(sm->schedulers, sizeof *sm->issue.sleep_unit);
    Score *result = calloc((size_t)sm->places * launch->kernel->costs.scoreboard, sizeof *result);
    uint32_t code = follows ? launch->kernel->cubin.sass->count : launch->kernel->costs.code_slots;
    int failed = l1_open(&sm->mem.l1, l1_bytes(launch)) != 0 ||
                 code_open(&sm->front.code_cache, code, m) != 0;
    if (code_misses(&sm->front.code_cache)) sm->front.code_piece = launch->kernel->costs.code_piece;
    if (failed || !sm->warp || !sm->blocks.slot || !sm->blocks.warp_index || !sm->blocks.ends ||
        !sm->issue.ready || !sm->mem.fetch_arrival || !sm->mem.fetched || !sm->mem.constant ||
        !sm->issue.first || !sm->issue.count || !sm->issue.gate || !sm->issue.scheduler_free ||
        !sm->issue.bank || !sm->issue.fp32_half || !sm->issue.sleep_unit || !result) {
        free(result);
        return -1;
    }
    for (uint32_t i = 0; i < sm->places; i++) {
        sm->warp[i].score = result + (size_t)i * launch->kernel->costs.scoreboard;
        sm->warp[i].slot = NO_WARP;
    }
    for (uint32_t i = 0; i < slots; i++)
        sm->blocks.slot[i].warp = sm->blocks.warp_index + (size_t)i * sm->warps_per_block;
    ready_lists_divide(sm);
    return 0;
}

static void sm_close(Sm *sm)
{
    if (sm->warp) free(sm->warp[0].score);
    for (uint32_t i = 0; sm->warp && i < sm->places; i++)
        free(sm->warp[i].sass.step);
    for (uint32_t i = 0; sm->blocks.slot && i < sm->blocks.slots; i++)
        free(sm->blocks.slot[i].phases.phase);
    code_close(&sm->front.code_cache);
    free(sm->warp), free(sm->blocks.slot), free(sm->blocks.warp_index), free(sm->blocks.ends),
        free(sm->issue.ready), free(sm->mem.fetch_arrival), free(sm->mem.fetched),
        free(sm->mem.constant), l1_close(&sm->mem.l1), free(sm->issue.first), free(sm->issue.count),
        free(sm->issue.gate), free(sm->issue.scheduler_free), free(sm->issue.bank),
        free(sm->issue.fp32_half), free(sm->issue.sleep_unit);
}

static void block_add(const BlockTrace *block, ReplayResult *result)
{
    result->slots += block->slots, result->steps += block->steps;
    cost_add(&result->cost, &block->cost);
}

/* Empties the timeline for the first blocks of the traces. */
static SimtTimeline *timeline_clear(SimtTimeline *timeline, const BlockTrace *trace,
                                    uint32_t traces)
{
    const size_t bins = (size_t)TIMELINE_BLOCKS * timeline->warps * TIMELINE_BINS;
    memset(timeline->bin, 0, bins * sizeof *timeline->bin);
    timeline->bin_cycles = 1, timeline->end = 0;
    timeline->blocks = traces < TIMELINE_BLOCKS ? traces : TIMELINE_BLOCKS;
    for (uint32_t i = 0; i < timeline->blocks; i++)
        timeline->block[i] = trace[i].number;
    return timeline;
}

/* Profile data of the launch come from the SM that is replayed now. */
static void profile_attach(Sm *sm)
{
    Launch *launch = sm->launch;
    size_t stalls = (size_t)launch->kernel->count * SIMT_STALLS;
    sm->issue.stall = launch->profile.stall, sm->blocks.span = launch->profile.span;
    launch->profile.spans = 0;
    if (!sm->issue.stall) return;
    memset(sm->issue.stall, 0, stalls * sizeof *sm->issue.stall);
    sm->issue.timeline = timeline_clear(&launch->profile.timeline, sm->trace, sm->traces);
}

static void occupancy_show(const Sm *sm)
{
    if (sm->end)
        sm->launch->occupancy_percent =
            (uint32_t)(100 * sm->warp_cycles / (sm->end * sm->machine->max_warps_per_sm));
}

static int sm_replay(Launch *launch, const BlockTrace *trace, uint32_t count,
                     const ReplayMemory *memory, int follows, ReplayResult *result)
{
    Sm sm;
    int shows = follows || !launch->kernel->costs.sass;
    if (sm_open(&sm, launch, trace, count, follows) != 0) {
        sm_close(&sm);
        return -1;
    }
    sm_start(&sm, memory);
    *result = (ReplayResult){0};
    if (shows) profile_attach(&sm);
    for (uint32_t i = 0; i < count; i++)
        block_add(&trace[i], result);
    blocks_begin(&sm);
    if (!sm.failed) sm_play(&sm);
    if (sm.failed) {
        sm_close(&sm);
        return -1;
    }
    if (shows) occupancy_show(&sm);
    /* Stores that are still in flight. */
    lines_send(&sm, NEVER);
    result->sm_cycles =
        max64(sm.end, max64(max64(sm.mem.l2_free, sm.mem.bulk_free), sm.mem.dram_free) / TICKS);
    result->sm_cycles = max64(result->sm_cycles, sm.mem.dsmem_free);
    result->cycles = launch_cycle(&sm, result->sm_cycles);
    result->pdl_trigger = sm.blocks.pdl_trigger, result->pdl_wait = sm.blocks.pdl_wait;
    result->estimated_sectors = sm.mem.estimated_sectors,
    result->replayed_sectors = sm.mem.replayed_sectors;
    result->unbuffered = sm.mem.unbuffered, result->sent = sm.mem.sent;
    result->later_cycles = launch_cycle(&sm, sm.end), result->later_blocks = count;
    uint32_t first = sm.blocks.most_resident < count / 2 ? sm.blocks.most_resident : count / 2;
    if (first >= launch->resident)
        result->later_cycles -= sm.blocks.ends[first - 1], result->later_blocks -= first;
    sm_close(&sm);
    return 0;
}

/* Both are replayed at the same time: the PTX's steps, which get another order, are a copy. */
typedef struct SassAndPtx {
    Launch *launch;
    const BlockTrace *trace;
    uint32_t count;
    const ReplayMemory *memory; /* the SM's share of it */
    ReplayResult machine, ptx;
    int failed[2];
} SassAndPtx;

static int ptx_play(const SassAndPtx *both, ReplayResult *result)
{
    BlockTrace *copy = steps_copy(both->launch, both->trace, both->count);
    int failed = !copy || sm_replay(both->launch, copy, both->count, both->memory, 0, result) != 0;
    free(copy);
    return failed;
}

static void replay_share(void *context, int share)
{
    SassAndPtx *both = context;
    both->failed[share] = share ? ptx_play(both, &both->ptx)
                                : sm_replay(both->launch, both->trace, both->count, both->memory, 1,
                                            &both->machine) != 0;
}

int replay_run(Launch *launch, const BlockTrace *trace, uint32_t count, const ReplayMemory *memory,
               ReplayResult *result)
{
    enum { FEW = 1 << 12 }; /* steps that are replayed sooner than a thread starts */
    if (!launch->kernel->costs.sass) return sm_replay(launch, trace, count, memory, 0, result);
    SassAndPtx both = {.launch = launch, .trace = trace, .count = count, .memory = memory};
    if (gpu_threads(launch->gpu) > 1 && steps_count(launch, trace, count) > FEW) {
        parallel_run(2, replay_share, &both);
    } else {
        replay_share(&both, 0);
        replay_share(&both, 1);
    }
    *result = both.ptx;
    if (both.machine.cycles * SASS_CLAMP_DEN >= both.ptx.cycles * SASS_CLAMP_NUM)
        result->cycles = both.machine.cycles, result->later_cycles = both.machine.later_cycles,
        result->sm_cycles = both.machine.sm_cycles;
    else
        result->cycles = result->cycles * SASS_CLAMP_NUM / SASS_CLAMP_DEN,
        result->later_cycles = result->later_cycles * SASS_CLAMP_NUM / SASS_CLAMP_DEN,
        result->sm_cycles = result->sm_cycles * SASS_CLAMP_NUM / SASS_CLAMP_DEN;
    result->estimated_sectors = both.machine.estimated_sectors,
    result->replayed_sectors = both.machine.replayed_sectors;
    result->unbuffered = both.machine.unbuffered, result->sent = both.machine.sent;
    result->pdl_trigger = both.machine.pdl_trigger, result->pdl_wait = both.machine.pdl_wait;
    return both.failed[0] || both.failed[1] ? -1 : 0;
}
