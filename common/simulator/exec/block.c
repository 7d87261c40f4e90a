/* block.c - executes one thread block: its warps run in a fixed order between barriers, so that
 * every run is identical. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/checks/definedness.h"
#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/core/async.h"
#include "common/simulator/core/debug_hook.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/exec/exec_parts.h"
#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/cost.h"
#include "common/simulator/traffic/dram_fetch.h"
#include "common/simulator/traffic/l1.h"
#include "common/simulator/traffic/retries.h"
#include "common/simulator/timing/digest.h"
#include "common/simulator/timing/l2.h"
#include "common/simulator/timing/interblock.h"
#include "common/simulator/timing/replay.h"
#include "common/simulator/traffic/traffic.h"
#include "common/simulator/timing/access_log.h"

/* CHUNK: instructions between two checks of the limit and of findings of other host threads. ALONE:
 * instructions before a worker starts others, which is about the time that starting a thread
 * takes. */
enum { CHUNK = 1 << 15, ALONE = 1 << 10 };

/* Instructions that a worker keeps to itself: all workers together a small part of the limit. */
static uint64_t patience_of(const Launch *launch)
{
    enum { PARTS = 1 << 16 };
    return launch->limit / PARTS < CHUNK ? launch->limit / PARTS : CHUNK;
}

static int is_interrupted(const Launch *launch)
{
    const volatile int *interrupted = launch->gpu->options.interrupted;
    return interrupted && *interrupted;
}

/* Adds the executed instructions to the launch's total. */
static void executed_tell(Worker *worker)
{
    Launch *launch = worker->launch;
    uint64_t all = __atomic_add_fetch(&launch->executed, worker->budget.charged, __ATOMIC_RELAXED);
    if (all > launch->limit || is_interrupted(launch))
        __atomic_store_n(&launch->timeout, 1, __ATOMIC_RELAXED);
    worker->budget.charged = 0;
    if (!worker->budget.begin || all < ALONE) return;
    worker->budget.begin(worker->budget.others);
    worker->budget.begin = NULL;
    worker->budget.patience = patience_of(launch);
}

/* True when this block has to end early. */
static int block_is_stopped(Worker *worker, uint64_t executed)
{
    Launch *launch = worker->launch;
    worker->budget.charged += executed, worker->budget.ran += executed;
    if (worker->budget.charged > worker->budget.patience) executed_tell(worker);
    return __atomic_load_n(&launch->timeout, __ATOMIC_RELAXED) ||
           __atomic_load_n(&launch->stop_at, __ATOMIC_RELAXED) < worker->block.number;
}

static int warp_is_stopped(const Warp *warp, uint64_t executed)
{
    return block_is_stopped(warp->worker, executed);
}

/* After each chunk and wherever the warp stops, barriers too: a loop of barriers is a loop, and
 * each stop costs the host as much as some instructions.  A warp that has ended or found a fault
 * needs no stop; one that waits stays where it is. */
static int chunk_ends(Warp *warp, const Ins *ins, uint32_t executed)
{
    enum { STOP_CHARGE = 16 };
    if (!warp_is_stopped(warp, executed + (ins ? 0 : STOP_CHARGE))) return 0;
    if (!ins && (warp->state == WARP_DONE || warp->state == WARP_FAULT)) return 0;
    warp->state = WARP_FAULT;
    warp->pc = ins ? ins : warp->pc;
    return 1;
}

/* Begins a chunk; the chunks of a warp with undefined registers have one instruction, which costs
 * the host as much as several. */
static void chunk_begin(Warp *warp, const Ins *ins)
{
    enum { FOLLOWED_CHARGE = 4 };
    warp->chunk = warp->worker->budget.begin ? ALONE : CHUNK;
    if (!warp->undefined.is_followed) return;
    undefined_step(warp, ins);
    warp_charge(warp, FOLLOWED_CHARGE);
    if (warp->undefined.is_followed) warp->chunk = 1;
}

/* Runs `warp` until it waits, ends or faults. */
static void warp_run(Warp *warp)
{
    const Ins *ins = warp->pc;
    warp->state = WARP_READY;
    while (ins) {
        uint32_t n = 0;
        chunk_begin(warp, ins);
        do
            ins = ins->fn(warp, ins);
        while (ins && ++n < warp->chunk);
        if (chunk_ends(warp, ins, n + !ins)) return;
    }
}

/* The same, with a digest of the warp's control flow and addresses. */
static void warp_run_digesting(Warp *warp)
{
    const Ins *ins = warp->pc, *code = warp->code;
    const uint8_t *rule = warp->worker->kernel->digest_rule;
    warp->state = WARP_READY;
    while (ins) {
        uint32_t n = 0;
        chunk_begin(warp, ins);
        do {
            const Ins *now = ins;
            const uint8_t how = rule[now - code];
            if (how) digest_before(warp, now, how);
            ins = ins->fn(warp, ins);
            if (how & DIGEST_AFTER) digest_after(warp, now, ins, how);
        } while (ins && ++n < warp->chunk);
        if (chunk_ends(warp, ins, n + !ins)) return;
    }
}

/* The same under a debugger, which is asked before marked instructions and at chosen moments. */
static void warp_run_debugged(Warp *warp)
{
    DebugHook *hook = warp->worker->gpu->debug;
    const Ins *ins = warp->pc, *code = warp->code;
    warp->state = WARP_READY;
    while (ins) {
        if (hook->moment >= hook->until || hook->mark[ins - code]) {
            warp->pc = ins;
            if (hook->stop(hook, warp, ins)) {
                warp->worker->launch->timeout = 1;
                warp->state = WARP_FAULT;
                return;
            }
        }
        const Ins *now = ins;
        hook->moment++;
        if (warp->undefined.is_followed) {
            hook->use = ins;
            undefined_step(warp, ins);
            hook->use = NULL;
        }
        ins = ins->fn(warp, ins);
        if (hook->calls_after && hook->mark[now - code]) hook->after(hook, warp, now);
    }
}

static inline void trace_add(WarpTrace *trace, uint32_t ins, const Warp *warp)
{
    if (trace->count == trace->room) return;
    const WarpStep *step = &warp->step;
    trace->step[trace->count++] =
        (TraceStep){.ins = ins,
                    .kind = step->kind,
                    .first_line = step->first_line,
                    .passes = (uint16_t)step->passes,
                    .sectors = (uint8_t)(step->sectors < 255 ? step->sectors : 255),
                    .lines = (uint8_t)step->lines};
}

static inline __attribute__((always_inline)) void warp_count(Warp *warp, const uint8_t *rule)
{
    Worker *worker = warp->worker;
    const Ins *ins = warp->pc, *code = warp->code;
    WarpTrace *trace = warp->trace;
    const InsCost *price = worker->kernel->costs.price;
    BlockCost *cost = &worker->cost;
    uint32_t issue_cycles = worker->gpu->machine.issue_cycles, mask = 0, lanes = 0;
    int timed = worker->launch->interblock.queue != NULL;
    warp->state = WARP_READY;
    while (ins) {
        uint32_t n = 0;
        chunk_begin(warp, ins);
        do {
            InsCount *profile = &worker->profile[ins - code];
            const Ins *now = ins;
            if (timed && interblock_stops(warp, ins)) {
                warp->pc = ins, ins = NULL;
                break;
            }
            profile->runs++;
            if (warp->mask != mask) mask = warp->mask, lanes = (uint32_t)__builtin_popcount(mask);
            profile->lanes += lanes;
            warp->step = (WarpStep){.kind = STEP_PLAIN};
            warp->interblock.is_across = 0;
            const uint8_t how = rule ? rule[now - code] : 0;
            if (how) digest_before(warp, now, how);
            ins = ins->fn(warp, ins);
            if (how & DIGEST_AFTER) digest_after(warp, now, ins, how);
            if (timed) interblock_end(warp, now);
            const InsCost *paid = &price[now - code];
            cost->slots += paid->slots, cost->folded += paid->folded;
            uint64_t compares = match_cycles(now, warp->step.values, paid);
            cost->pipe[paid->pipe] += compares ? compares : paid->busy;
            if (paid->saves)
                cost->slots -= iteration_saves(&warp->chain, paid, ins == code + now->target);
            critical_step(warp, now, paid, issue_cycles);
            trace_add(trace, (uint32_t)(now - code), warp);
        } while (ins && ++n < warp->chunk);
        worker->cost.steps += n;
        if (chunk_ends(warp, ins, n + !ins)) return;
    }
}

static void warp_run_counting(Warp *warp)
{
    warp_count(warp, NULL);
}

static void warp_run_counting_digesting(Warp *warp)
{
    warp_count(warp, warp->worker->kernel->digest_rule);
}

/* ---- waits for other threads -------------------------------------------------------------- */

/* After this number of polls of the clock, the host executes several iterations at a time, so that
 * the wait ends too late by at most the same fraction. */
enum { CLOCK_PARTS = 256 };

/* Runs a warp that waits for other threads or for the clock. A failed poll is not work of the
 * block. If the warp waits for the clock, or if blocks run in time order, a failed poll is waiting
 * time. Otherwise the number of failed polls depends on the host's schedule and not on a GPU, so
 * they take no time. */
static void warp_run_looking(Warp *warp)
{
    Worker *worker = warp->worker;
    WarpTrace *trace = warp->trace;
    const Ins *from = warp->pc;
    const BlockCost cost = worker->cost;
    const CriticalPath chain = warp->chain;
    const int timed = worker->launch->interblock.queue != NULL,
              repeats = warp->interblock.clock_polls >= CLOCK_PARTS ||
                        (timed && polls_long(warp) && warp->yield.loop < LOOKING_MOST);
    uint64_t begin = critical_now(warp), held = warp->interblock.poll_cycles;
    uint32_t turns = warp->yield.iterations, count = trace->count, lines = trace->lines;
    PollSnapshot look;
    if (repeats) poll_snapshot(warp, from, &look);
    warp->interblock.gate = 0;
    warp_run_counting(warp);
    if (timed && warp->state == WARP_READY && !warp->interblock.gate)
        warp->interblock.gate = critical_now(warp);
    int in_vain =
        warp->state == WARP_READY && warp->pc == from && warp->yield.iterations == turns + 1;
    int clocked = in_vain && from[warp->yield.loop].yields == YIELDS_CLOCKED,
        looked = in_vain && from[warp->yield.loop].yields == YIELDS_LOOKING;
    if (!(clocked || looked) || worker->cost.steps - cost.steps > warp->yield.loop + 1) {
        warp->interblock.failed_polls = warp->interblock.clock_polls = 0,
        warp->interblock.poll_cycles = 0;
        return;
    }
    uint64_t spun = worker->cost.slots - cost.slots;
    worker->cost = cost;
    trace->count = count, trace->lines = lines, warp->interblock.poll_cycles = held;
    if (looked && !timed) {
        warp->chain = chain;
        return;
    }
    uint64_t cycles = critical_now(warp) - begin, times = 0;
    warp->interblock.poll_cycles += cycles;
    if (looked) warp->interblock.failed_polls++;
    if (repeats && looked) times = polls_to_skip(warp, &look, cycles);
    if (repeats && clocked && !warp->interblock.cleared_ins)
        times = warp->interblock.clock_polls / CLOCK_PARTS;
    if (times) polls_skip(warp, from, &look, cycles, times);
    warp->interblock.clock_polls = clocked ? warp->interblock.clock_polls + 1 : 0;
    if (clocked) worker->cost.spun += spun * (times + 1);
    if (timed) warp->interblock.gate = critical_now(warp);
}

/* ---- a block ------------------------------------------------------------------------------ */
static void special_set(Warp *warp, Special which, uint32_t value)
{
    uint32_t *slot = (uint32_t *)(void *)(warp->file + which * LANES * 4);
    for (int i = 0; i < LANES; i++)
        slot[i] = value;
}

/* As the launch's first block found them: zeros and constants. */
static void registers_clear(Warp *warp)
{
    enum { BEGIN = SR_COUNT * LANES * 4 };
    const Worker *worker = warp->worker;
    const char *blank = worker->files + worker->block.warps * worker->file_stride;
    memcpy(warp->file + BEGIN, blank + BEGIN, worker->file_stride - BEGIN);
}

static void flights_drop(Block *block)
{
    for (uint32_t i = 0; i < block->flights; i++)
        free(block->flight[i].data);
    block->flights = block->flight_bytes = block->departures = 0;
    block->l1_since = 0;
    free(block->read), block->read = NULL;
    free(block->visit), block->visit = NULL;
}

static void hopper_clear(Warp *warp)
{
    size_t bytes = warp->worker->kernel->plans.wgmma_registers * sizeof *warp->wgmma.in_flight;
    warp->wgmma.group = warp->wgmma.landed = warp->phase.failed_polls = 0;
    warp->phase.ins = NULL;
    warp->phase.complete_at = 0;
    warp->wgmma.fences = warp->wgmma.count = warp->proxy.count = 0;
    warp->wgmma.ins = NULL;
    warp->proxy.epoch = 0, warp->barrier.cluster_arrivals = warp->barrier.cluster_waits = 0;
    warp->early_over = 0;
    warp->syncs = 0, warp->has_unsynced = 0, warp->same_store = NULL;
    if (!bytes) return;
    memset(warp->wgmma.in_flight, 0, bytes + sizeof *warp->wgmma.in_flight);
    memset(warp->wgmma.written, 0, bytes + sizeof *warp->wgmma.written);
    memset(warp->wgmma.added, 0, bytes + sizeof *warp->wgmma.added);
}

/* The block's position in its cluster; a block without a cluster forms a cluster of its own. */
static void cluster_fill(Warp *warp)
{
    const Worker *worker = warp->worker;
    const Launch *launch = worker->launch;
    static const uint32_t ALONE[3] = {1, 1, 1};
    const uint32_t *c = launch->cluster_blocks ? launch->cluster : ALONE, *id = warp->block->id;
    for (int k = 0; k < 3; k++) {
        special_set(warp, (Special)(SR_CLUSTERID_X + k), id[k] / c[k]);
        special_set(warp, (Special)(SR_NCLUSTERID_X + k), launch->launch->grid[k] / c[k]);
        special_set(warp, (Special)(SR_CLUSTER_CTAID_X + k), id[k] % c[k]);
        special_set(warp, (Special)(SR_CLUSTER_NCTAID_X + k), c[k]);
    }
    special_set(warp, SR_CLUSTER_CTARANK, worker->cluster.rank);
    special_set(warp, SR_CLUSTER_NCTARANK, c[0] * c[1] * c[2]);
}

/* The kernel's own variables; a call clears its frame. */
static void local_clear(Worker *worker)
{
    uint32_t own = worker->kernel->local_bytes, all = worker->launch->local_bytes,
             lanes = LANES * worker->block.warps;
    if (!own) return;
    if (worker->local_shadow) memset(worker->local_shadow, 0, (size_t)own * lanes / 8);
    if (own == all) {
        memset(worker->local, 0xff, (size_t)own * lanes);
        return;
    }
    for (uint32_t i = 0; i < lanes; i++)
        memset(worker->local + (size_t)i * all, 0xff, own);
}

/* CUDA's own part of shared memory is all zeros when a block begins. */
static void reserved_clear(Block *block, uint32_t from)
{
    memset(block->shared + from, 0, block->shared_bytes - from);
    memset(block->shared_shadow + from / 8, 0xff, (block->shared_bytes - from) / 8);
}

static void block_prepare(Worker *worker, uint64_t number)
{
    const SimtLaunch *launch = worker->launch->launch;
    Block *block = &worker->block;
    block->number = number, worker->budget.ran = 0;
    block->id[0] = (uint32_t)(number % launch->grid[0]);
    block->id[1] = (uint32_t)(number / launch->grid[0] % launch->grid[1]);
    block->id[2] = (uint32_t)(number / launch->grid[0] / launch->grid[1]);
    memset(block->arrived, 0, sizeof block->arrived);
    memset(block->expected, 0, sizeof block->expected);
    flights_drop(block);
    for (uint32_t i = 0; i < block->phases; i++)
        block->phase_at[block->phase[i].barrier / 8] = 0;
    block->phases = 0, block->phase_count = 0, block->progress = 0;
    worker->block_epoch = ++worker->epoch, block->early_over = 0;
    worker->race.is_fenced = 0;
    worker->watcher = access_log_of(worker->launch, number);
    if (worker->l1.local_line && (worker->kernel->local_bytes || worker->kernel->info.spills ||
                                  worker->kernel->calls.stack_slot))
        memset(worker->l1.local_line, 0,
               (size_t)(worker->l1.local_lines + 1) * block->warps * sizeof *worker->l1.local_line);
    /* Initial contents of shared memory are undefined: all ones reads as NaN. */
    if (block->shared_bytes) memset(block->shared, 0xff, block->shared_bytes);
    if (worker->initcheck) memset(block->shared_shadow, 0, block->shared_bytes / 8 + 1);
    if (worker->kernel->traits.reads_reserved) reserved_clear(block, worker->launch->reserved_at);
    local_clear(worker);
    BlockTrace *trace =
        worker->launch->count ? trace_of(worker->launch, &worker->heaviest, number) : NULL;
    if (worker->launch->count) memset(&worker->cost, 0, sizeof worker->cost);
    if (worker->launch->count) worker->traffic.wave = wave_of(worker->launch, number);
    if (worker->retries.most) memset(&worker->retries, 0, sizeof worker->retries);
    for (uint32_t w = 0; w < block->warps; w++) {
        Warp *warp = &worker->warp[w];
        uint32_t left = block->threads - w * LANES;
        if (worker->gpu->options.untrusted || worker->gpu->debug) registers_clear(warp);
        warp->alive = warp->mask = left >= LANES ? FULL_MASK : (1u << left) - 1;
        warp->rpc = NO_SLOT;
        warp->yield.iterations = 0, warp->yield.has_switched = 0, warp->yield.awaited = 0;
        warp->interblock.gate = warp->interblock.cleared_at = warp->interblock.poll_cycles =
            warp->interblock.failed_polls = warp->interblock.clock_polls = 0;
        warp->interblock.is_fenced = warp->interblock.was_poll = 0;
        warp->interblock.cleared_ins = NULL, warp->interblock.atomic_done_at = 0;
        warp->depth = 0, warp->calls.count = 0, warp->calls.saved_bytes = 0;
        warp->pc = warp->code;
        warp->state = WARP_READY;
        warp->clock = warp->digest = 0;
        warp->copies.count = 0, warp->copies.group = 0, warp->counts.l2_accesses = 0,
        warp->counts.l1_fills = 0;
        warp->counts.retries = 0;
        hopper_clear(warp);
        if (worker->initcheck) undefined_begin(warp);
        if (worker->kernel->calls.stack_slot) stack_clear(warp);
        warp->trace = trace ? &trace->warp[w] : NULL;
        if (warp->count) critical_open(&warp->chain, worker->kernel, &worker->gpu->machine.costs);
        for (int k = 0; k < 3; k++)
            special_set(warp, (Special)(SR_CTAID_X + k), block->id[k]);
        special_set(warp, SR_SMID, sm_of(worker->launch, number));
        if (worker->launch->cluster_blocks || worker->kernel->traits.reads_cluster_rank)
            cluster_fill(warp);
    }
}

static void block_deadlock(Worker *worker)
{
    Block *block = &worker->block;
    Warp *stuck = NULL;
    uint32_t ended = 0, waiting = 0;
    for (uint32_t w = 0; w < block->warps; w++) {
        if (block->warp[w].state == WARP_DONE) ended++;
        if (block->warp[w].state != WARP_BARRIER) continue;
        waiting++;
        if (!stuck) stuck = &block->warp[w];
    }
    if (!stuck) return;
    fault_at(stuck, stuck->barrier.ins, SIMT_SYNCCHECK, (uint32_t)__builtin_ctz(stuck->mask), 0, 0,
             "Barrier error: barrier %u is never completed: %u of %u warps wait at barriers that "
             "the others do not reach, "
             "%u have ended",
             stuck->barrier.id, waiting, block->warps, ended);
}

/* Adds what the block cost to the SM it ran on. */
static void block_account(Worker *worker, uint64_t number)
{
    const MachineCosts *costs = &worker->gpu->machine.costs;
    BlockCost *cost = &worker->cost;
    for (uint32_t w = 0; w < worker->block.warps; w++) {
        uint64_t end = critical_end(&worker->warp[w].chain, worker->gpu->machine.issue_cycles);
        if (end > cost->chain) cost->chain = end;
        cost->warp_chains += end;
    }
    uint64_t retries =
        costs->block_start_cycles + (uint64_t)worker->retries.most * costs->retry_cycles;
    if (worker->retries.most && retries > cost->chain) cost->chain = retries;
    if (worker->retries.most) count_failed_retries(worker);
    cost->blocks = 1;
    if (cost->chain > worker->longest) worker->longest = cost->chain;
    if (worker->progress.begun + cost->chain > worker->ended)
        worker->ended = worker->progress.begun + cost->chain;
    cost_add(&worker->sm[sm_of(worker->launch, number)], cost);
    trace_keep(worker->launch, &worker->heaviest, number, cost, worker->progress.begun);
}

uint64_t cleared_charge(uint64_t bytes)
{
    enum { BYTES_PER_INSTRUCTION = 512 };
    return bytes / BYTES_PER_INSTRUCTION;
}

/* A block without instructions costs the host time, too: its memory and its registers are cleared
 * and its warps are set up. The instructions charged for it make a grid of a billion empty blocks
 * reach the limit. */
static uint64_t block_charge(const Worker *worker)
{
    uint64_t local = (uint64_t)worker->kernel->local_bytes * LANES;
    return worker->block.warps * (4 + cleared_charge(local + worker->file_stride)) +
           cleared_charge(worker->block.shared_bytes);
}

int block_begin(Worker *worker, uint64_t number)
{
    block_prepare(worker, number);
    if (worker->gpu->debug) worker->gpu->debug->block(worker->gpu->debug, worker);
    return block_is_stopped(worker, block_charge(worker)) ? -1 : 0;
}

static BlockStep block_end(Worker *worker)
{
    const Block *block = &worker->block;
    for (uint32_t w = 0; w < block->warps; w++) {
        if (block->warp[w].state == WARP_DONE) continue;
        block_deadlock(worker);
        return BLOCK_FAILED;
    }
    if (worker->kernel->plans.wgmmas && !warpgroups_agree(worker)) return BLOCK_FAILED;
    if (worker->race.is_on) race_unfinished(worker);
    if (worker->block.visit && !worker->block.flights) race_visits_find(worker);
    if (worker->launch->digests) digest_block(worker);
    if (worker->launch->count) block_account(worker, block->number);
    return BLOCK_DONE;
}

BlockStep block_step(Worker *worker)
{
    enum { SHORT_LOOP = 64 };
    Block *block = &worker->block;
    uint32_t longest = 0;
    uint64_t progress = block->progress;
    int yielded = 0, moved = 0, paused = 0, asleep = 0;
    for (uint32_t w = 0; w < block->warps; w++) {
        Warp *warp = &block->warp[w];
        if (warp->state == WARP_PHASE && phase_poll(warp) != 0) return BLOCK_FAILED;
        asleep |= warp->state == WARP_PHASE || warp->state == WARP_CLUSTER;
        if (warp->state != WARP_READY) continue;
        if (warp->interblock.gate && !warp->interblock.cleared_at) {
            yielded = 1;
            continue;
        }
        warp->yield.is_paused = 0;
        if (worker->gpu->debug)
            warp_run_debugged(warp);
        else if (warp->count &&
                 (worker->kernel->traits.has_polling || worker->kernel->traits.polls_clock))
            warp_run_looking(warp);
        else if (worker->launch->digests)
            (warp->count ? warp_run_counting_digesting : warp_run_digesting)(warp);
        else if (warp->count)
            warp_run_counting(warp);
        else
            warp_run(warp);
        if (warp->state == WARP_FAULT) return BLOCK_FAILED;
        asleep |= warp->state == WARP_PHASE || warp->state == WARP_CLUSTER;
        yielded |= warp->state == WARP_READY;
        moved |= warp->state != WARP_READY;
        paused |= warp->yield.is_paused;
        if (warp->state == WARP_READY && warp->yield.loop > longest) longest = warp->yield.loop;
    }
    worker->progress.effort = 1 + longest / SHORT_LOOP;
    moved |= block->progress != progress;
    if (!barriers_resolve(block)) {
        if (!asleep) return block_end(worker);
        if (moved) return BLOCK_RUNS;
        if (worker->cluster.peers) return BLOCK_SLEEPS;
        int woken = blocks_wake(&worker, 1);
        return woken > 0 ? BLOCK_RUNS : woken < 0 ? BLOCK_FAILED : block_end(worker);
    }
    if (!yielded || moved) return BLOCK_RUNS;
    return paused ? BLOCK_PAUSES : BLOCK_WAITS;
}

/* The report prefers a wait at an mbarrier, of a warp or one of its lanes, because it explains more
 * than a polling loop. */
static int block_stuck(Worker *worker)
{
    Block *block = &worker->block;
    for (uint32_t w = 0; w < block->warps; w++)
        if (block->warp[w].state != WARP_DONE && block->warp[w].phase.ins &&
            block->warp[w].phase.ins->op == OP_MBARRIER) {
            worker->handlers[OP_PHASE_STUCK](&block->warp[w], block->warp[w].phase.ins);
            return 1;
        }
    for (uint32_t w = 0; w < block->warps; w++) {
        Warp *warp = &block->warp[w];
        if (warp->state != WARP_READY) continue;
        fault_at(warp, warp->pc, SIMT_SYNCCHECK, (uint32_t)__builtin_ctz(warp->mask), 0, 0,
                 "Barrier error: this thread polls memory that no thread will write: all other "
                 "threads wait as well, or have ended");
        return 1;
    }
    return 0;
}

void blocks_stuck(Worker *worker, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (worker[i].block.warp && block_stuck(&worker[i])) return;
}

/* ---- a worker: one host thread's registers, shared memory and counts ---------------------- */
static void constants_fill(Worker *worker, Warp *warp)
{
    const SimtKernel *kernel = worker->kernel;
    for (uint32_t i = 0; i < kernel->constants; i++) {
        const ConstSlot *c = &kernel->constant[i];
        char *slot = warp->file + c->slot;
        uint32_t narrow = c->bytes == 1 ? (c->bits ? FULL_MASK : 0) : (uint32_t)c->bits;
        if (c->bytes == 1)
            memcpy(slot, &narrow, 4);
        else
            for (uint32_t lane = 0; lane < LANES; lane++)
                memcpy(slot + lane * c->bytes, c->bytes == 8 ? (const void *)&c->bits : &narrow,
                       c->bytes);
    }
}

static void specials_fill(Worker *worker, Warp *warp, uint32_t index)
{
    enum { RESERVED_USED = 288 }; /* as an H200 says, driver 580.159 */
    const SimtLaunch *launch = worker->launch->launch;
    const uint32_t *block = launch->block, unit = worker->gpu->machine.shared_unit,
                   shared = worker->kernel->static_shared + launch->dynamic_shared;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t thread = index * LANES + i;
        uint32_t value[SR_COUNT] = {0};
        value[SR_TID_X] = thread % block[0];
        value[SR_TID_Y] = thread / block[0] % block[1];
        value[SR_TID_Z] = thread / block[0] / block[1];
        for (int k = 0; k < 3; k++)
            value[SR_NTID_X + k] = block[k], value[SR_NCTAID_X + k] = launch->grid[k];
        value[SR_LANEID] = i;
        value[SR_WARPID] = index;
        value[SR_NWARPID] = worker->gpu->machine.max_warps_per_sm;
        value[SR_NSMID] = worker->gpu->machine.sms;
        value[SR_MASK_EQ] = 1u << i;
        value[SR_MASK_LT] = (1u << i) - 1;
        value[SR_MASK_LE] = value[SR_MASK_LT] | 1u << i;
        value[SR_MASK_GE] = ~value[SR_MASK_LT];
        value[SR_MASK_GT] = ~value[SR_MASK_LE];
        value[SR_DYNAMIC_SMEM] = launch->dynamic_shared;
        value[SR_TOTAL_SMEM] = (shared + unit - 1) / unit * unit;
        value[SR_AGGR_SMEM] = shared + worker->gpu->machine.shared_reserved;
        /* A submission would know a replay of its work by it. */
        value[SR_GRIDID] = worker->gpu->options.untrusted ? 1 : worker->launch->number;
        value[SR_RESERVED_CAP] = worker->gpu->machine.shared_reserved;
        value[SR_RESERVED_SMEM] = worker->launch->reserved_at;
        value[SR_RESERVED_END] = worker->launch->reserved_at + RESERVED_USED;
        value[SR_EXPLICIT_CLUSTER] = worker->launch->cluster_blocks ? FULL_MASK : 0;
        value[SR_ENVREG1] = (uint32_t)(worker->launch->grid_barrier >> 32);
        value[SR_ENVREG2] = (uint32_t)worker->launch->grid_barrier;
        for (uint32_t s = 0; s < SR_COUNT; s++)
            memcpy(warp->file + (s * LANES + i) * 4, &value[s], 4);
    }
}

static int worker_count_open(Worker *worker)
{
    const SimtMachine *machine = &worker->gpu->machine;
    uint32_t resident = worker->launch->resident ? worker->launch->resident : 1;
    uint64_t own = (worker->launch->blocks + machine->sms - 1) / machine->sms;
    if (own < resident) resident = (uint32_t)own;
    uint64_t cache = l1_bytes(worker->launch);
    worker->l1.sets = l1_sets(cache / resident); /* which resident blocks share */
    /* Local memory: the scheduler prefers the oldest warp, so that warp hits in more than its share
     * of the L1 left by the carve-out. Subtracting only the shared memory in use approximates this
     * effect. (In lab 05, on a problem that fills an H200, ncu reports a hit rate of 71 % for these
     * loads.) */
    uint64_t shared = (uint64_t)worker->launch->shared_bytes * resident;
    uint64_t left = machine->l1_bytes > shared + cache ? machine->l1_bytes - shared : cache;
    uint64_t lines = left / L1_LINE_BYTES / resident / worker->block.warps;
    uint64_t most = worker->kernel->info.spills ? 2048 : 256;
    worker->l1.local_lines = lines < 1 ? 1 : lines > most ? (uint32_t)most : (uint32_t)lines;
    LaunchArena *shelf = worker->arena;
    worker->l1.local_line =
        arena_zeros(shelf, (size_t)(worker->l1.local_lines + 1) * worker->block.warps,
                    sizeof *worker->l1.local_line);
    worker->l1.line =
        arena_zeros(shelf, (size_t)worker->l1.sets * L1_WAYS, sizeof *worker->l1.line);
    worker->sm = arena_zeros(shelf, machine->sms, sizeof *worker->sm);
    worker->profile = arena_zeros(shelf, worker->kernel->count, sizeof *worker->profile);
    worker->wavefronts = arena_zeros(shelf, worker->kernel->mems + 1, sizeof *worker->wavefronts);
    size_t scores = (size_t)worker->kernel->scoreboard * worker->block.warps;
    worker->critical_ready = arena_zeros(shelf, scores, sizeof *worker->critical_ready);
    if (heaviest_open(&worker->heaviest, worker->launch, shelf) || touched_open(worker) ||
        l2_log_open(&worker->l2, worker->launch))
        return -1;
    return worker->l1.line && worker->l1.local_line && worker->sm && worker->profile &&
                   worker->wavefronts && worker->critical_ready
               ? 0
               : -1;
}

int worker_open(Worker *worker, Launch *launch, LaunchArena *shelf)
{
    SimtKernel *kernel = launch->kernel;
    uint32_t warps = launch->warps_per_block, shared = (launch->shared_bytes + 63) / 64 * 64;
    memset(worker, 0, sizeof *worker);
    worker->launch = launch, worker->gpu = launch->gpu, worker->kernel = kernel;
    worker->arena = shelf;
    worker->params = launch->launch->params, worker->params_bytes = kernel->info.params_bytes;
    worker->initcheck = launch->gpu->options.initcheck;
    worker->findings.fault_block = UINT64_MAX;
    worker->budget.patience = patience_of(launch);
    worker->handlers = exec_handlers();
    worker->file_stride = kernel->file_bytes;
    worker->block = (Block){
        .warps = warps, .threads = launch->threads_per_block, .shared_bytes = launch->shared_bytes};
    worker->files = arena_take(shelf, worker->file_stride * (warps + 1));
    worker->warp = arena_zeros(shelf, warps, sizeof *worker->warp);
    size_t registers = kernel->plans.wgmma_registers + 1;
    worker->wgmma_registers =
        arena_zeros(shelf, 3 * registers * warps, sizeof *worker->wgmma_registers);
    worker->hit = arena_take(shelf, (kernel->mems + 1) * sizeof *worker->hit);
    worker->shared = arena_take(shelf, shared + 64);
    worker->shared_shadow = arena_zeros(shelf, shared / 8 + 64, 1);
    worker->local = arena_take(shelf, (size_t)launch->local_bytes * LANES * warps + 64);
    int checks_local = worker->initcheck && kernel->local_bytes && !launch->gpu->debug &&
                       !launch->gpu->options.init_at_read;
    if (checks_local)
        worker->local_shadow =
            arena_take(shelf, (size_t)kernel->local_bytes * LANES * warps / 8 + 64);
    if (!worker->files || !worker->warp || !worker->hit || !worker->shared ||
        (checks_local && !worker->local_shadow) || !worker->shared_shadow || !worker->local ||
        !worker->wgmma_registers)
        return -1;
    if (launch->count && worker_count_open(worker) != 0) return -1;
    worker->race.is_on = launch->gpu->racecheck;
    if (worker->race.is_on && race_open(worker) != 0) return -1;
    /* Initial values of registers are undefined, too. */
    memset(worker->files, 0xff, worker->file_stride * warps);
    for (uint32_t i = 0; i <= kernel->mems; i++)
        worker->hit[i] = &launch->gpu->none;
    worker->block.warp = worker->warp;
    worker->block.shared = worker->shared, worker->block.shared_shadow = worker->shared_shadow;
    for (uint32_t w = 0; w < warps; w++) {
        Warp *warp = &worker->warp[w];
        *warp = (Warp){
            .file = worker->files + w * worker->file_stride, .code = kernel->code, .index = w};
        warp->block = &worker->block, warp->worker = worker, warp->count = launch->count;
        warp->observed = launch->count || worker->race.is_on || launch->notes;
        warp->wgmma.in_flight = worker->wgmma_registers + 3 * registers * w;
        warp->wgmma.written = warp->wgmma.in_flight + registers;
        warp->wgmma.added = warp->wgmma.written + registers;
        warp->local = worker->local + (size_t)launch->local_bytes * LANES * w;
        warp->stack = warp->own_stack, warp->stack_room = STACK_DEPTH;
        if (launch->count)
            warp->chain.ready = worker->critical_ready + (size_t)kernel->scoreboard * w;
        specials_fill(worker, warp, w);
        constants_fill(worker, warp);
    }
    if (launch->gpu->options.untrusted || launch->gpu->debug)
        memcpy(worker->files + warps * worker->file_stride, worker->files, worker->file_stride);
    return 0;
}

void worker_calls(Worker *worker, void (*begin)(void *), void *context)
{
    worker->budget.begin = begin, worker->budget.others = context;
    if (worker->budget.patience > ALONE) worker->budget.patience = ALONE;
}

void worker_tell(Worker *worker)
{
    worker->budget.begin = NULL; /* nothing is left for others */
    executed_tell(worker);
    if (worker->launch->count) touched_tell(worker);
}

void worker_close(Worker *worker)
{
    retries_close(&worker->retried);
    for (uint32_t w = 0; worker->warp && w < worker->block.warps; w++)
        free(worker->warp[w].copies.copy), calls_close(&worker->warp[w]),
            undefined_close(&worker->warp[w]);
    flights_drop(&worker->block);
    findings_close(&worker->findings);
    free(worker->block.flight), free(worker->block.departure), free(worker->block.phase);
    free(worker->block.read), free(worker->block.visit);
    free(worker->block.phase_at);
    l2_log_close(&worker->l2);
    if (worker->arena) arena_reset(worker->arena);
}
