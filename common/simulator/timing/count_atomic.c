/* count_atomic.c - counters and costs of atomics, on global and on shared memory. */
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/timing/access_log.h"
#include "common/simulator/timing/cost.h"
#include "common/simulator/timing/count.h"
#include "common/simulator/timing/interblock.h"
#include "common/simulator/timing/line_list.h"
#include "common/simulator/traffic/dram_fetch.h"
#include "common/simulator/traffic/retries.h"
#include "common/simulator/traffic/traffic.h"
#include "common/simulator/traffic/wavefronts.h"

/* Within four blocks of 256 bytes, every second one is in the same slice of the L2; the mapping of
 * the next four follows no known rule. On a GPU, an allocation starts with such a group. */
static uint32_t slice_of(const SimtGpu *gpu, uint64_t address)
{
    enum { PIECES = 4 };
    const MachineCosts *costs = &gpu->machine.costs;
    const Allocation *a = memory_find(&gpu->memory, address);
    uint64_t base = a ? a->address : 0, piece = (address - base) / costs->slice_piece_bytes,
             chance = mixed(piece / PIECES + base) >> 32;
    uint32_t pairs = (uint32_t)(gpu->machine.l2_bytes_per_cycle / costs->slice_bytes / 2);
    pairs = pairs < 1 ? 1 : pairs > HOT_SLICES / 2 ? HOT_SLICES / 2 : pairs;
    return (uint32_t)(chance % pairs * 2 + piece % 2);
}

/* A lane goes with the pass of its sector that is as late as others came to its word before. */
typedef struct Passes {
    uint32_t count, of[LANES]; /* per lane */
    uint32_t lanes[LANES];     /* lanes per pass */
    uint64_t key[LANES];
} Passes;

static void passes_find(const uint64_t *address, uint32_t mask, Passes *passes)
{
    passes->count = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), i = 0;
        uint64_t before = 0;
        for (uint32_t k = mask & ((m & -m) - 1); k; k &= k - 1)
            before += address[__builtin_ctz(k)] / WORD == address[lane] / WORD;
        uint64_t key = address[lane] / SECTOR * LANES + before;
        while (i < passes->count && passes->key[i] != key)
            i++;
        if (i == passes->count) passes->key[i] = key, passes->lanes[i] = 0, passes->count++;
        passes->of[lane] = i, passes->lanes[i]++;
    }
}

/* Global atomics are executed in the L2, serialised per word, and one pass after another per slice.
 * Blocks with such atomics run one after another here, so no other block counts concurrently. */
static void count_hot(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask)
{
    const MachineCosts *costs = &warp->worker->gpu->machine.costs;
    Worker *worker = warp->worker;
    Launch *launch = worker->launch;
    uint32_t format = ins->aux >> 8, is_float = format >= FORMAT_F16 && format <= FORMAT_F64;
    uint32_t percent[LANES];
    Passes passes;
    passes_find(address, mask, &passes);
    worker->counters.atomic_sectors += passes.count;
    for (uint32_t i = 0; i < passes.count; i++) {
        int whole = passes.lanes[i] * bytes_each(ins) == SECTOR;
        percent[i] = whole ? costs->atomic_full_percent : costs->atomic_pass_percent;
        uint64_t at = passes.key[i] / LANES * SECTOR;
        interblock_atomic(warp, at / SECTOR, is_float ? costs->atomic_float_percent : percent[i]);
        hotter(&launch->contention.slice[slice_of(launch->gpu, at)], percent[i],
               &launch->contention.most_atomics);
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t word = address[lane] / WORD;
        hotter(&launch->contention.atomics[mixed(word) >> 52],
               is_float ? costs->atomic_float_percent : percent[passes.of[lane]],
               &launch->contention.most_atomics);
    }
}

/* Cost of an atomic on shared memory in the load/store unit. */
static uint32_t shared_atomic_passes(Warp *warp, const Ins *ins, const uint64_t *address,
                                     uint32_t mask, uint32_t changed)
{
    Worker *worker = warp->worker;
    Counters *c = &worker->counters;
    InsCount *profile = &worker->profile[ins - warp->code];
    AtomicPasses passes;
    uint32_t offset[LANES], needed;
    for (uint32_t i = 0; i < LANES; i++)
        offset[i] = (uint32_t)address[i];
    uint32_t op = ins->aux & 15,
             changing = op == ATOM_MIN || op == ATOM_MAX ? mask & changed : mask;
    if (ins->shared_atomic != SHARED_RETRIES)
        atomic_pass(offset, mask, ins->bytes, op == ATOM_CAS, &passes);
    else if (ins->bytes < WORD)
        atomic_loop_16(offset, mask, &passes);
    else
        atomic_loop(offset, mask, changing, ins->bytes, &passes);
    if (ins->shared_atomic == SHARED_COUNTS)
        passes.own = wavefronts_work_out(offset, mask, WORD, 0, &needed);
    if (passes.loads) c->shared_load_requests += passes.rounds;
    c->shared_wavefronts += passes.loads, c->shared_atomic_wavefronts += passes.own;
    c->bank_conflicts += passes.loads + passes.own - passes.needed;
    profile->shared_requests++, profile->wavefronts += passes.loads + passes.own;
    if (ins->shared_atomic != SHARED_RETRIES) return passes.own;
    Retries *retries = &worker->retries;
    if (ins->bytes >= WORD)
        retry_note(&worker->retried, warp->index, offset, mask, changing, ins->bytes, &passes);
    for (uint32_t m = changing; m; m &= m - 1) {
        uint32_t word = offset[__builtin_ctz(m)] / WORD, i = word % RETRIED_WORDS;
        if (retries->place[i].word != word) retries->place[i].successes = 0;
        retries->place[i].word = word;
        if (++retries->place[i].successes > retries->most)
            retries->most = retries->place[i].successes;
    }
    warp->counts.retries += passes.rounds;
    retries->rounds += passes.rounds, retries->loads += passes.loads, retries->swaps += passes.own;
    return passes.rounds * warp->worker->gpu->machine.costs.retry_passes;
}

/* Adds failed iterations, for which other accesses wait, too. */
static void failed_retries_add(Worker *worker, uint64_t rounds, uint64_t loads, uint64_t swaps,
                               uint64_t needed)
{
    Counters *c = &worker->counters;
    c->shared_load_requests += rounds;
    c->shared_wavefronts += loads, c->shared_atomic_wavefronts += swaps;
    c->bank_conflicts += loads + swaps - needed;
    worker->cost.passes += loads + swaps;
}

/* The simulator runs a warp alone; on a GPU, each success of a warp on a word makes an iteration of
 * contending warps fail. If n warps contend continuously for one word, there are 1 + 0.4 n
 * iterations per success, and at most n. This equals ncu's counts for micro-kernels
 * (docs/data/h200/retries.tsv); only wavefronts are counted. With occasional contention,
 * retries_play computes the number of collisions. */
void count_failed_retries(Worker *worker)
{
    enum { FIRST_PERCENT = 100 };
    const Retries *retries = &worker->retries;
    Retried *retried = &worker->retried;
    uint64_t own = 1;
    for (uint32_t w = 0; w < worker->block.warps; w++)
        if (worker->warp[w].counts.retries > own) own = worker->warp[w].counts.retries;
    uint64_t warps = (uint64_t)retries->most * 100 / own, /* hundredths */
        percent = FIRST_PERCENT + warps * worker->gpu->machine.costs.retry_percent / 100;
    if (warps < percent) percent = warps;
    if (percent > 100) {
        uint64_t loads = retries->loads * (percent - 100) / 100,
                 swaps = retries->swaps * (percent - 100) / 100;
        failed_retries_add(worker, retries->rounds * (percent - 100) / 100, loads, swaps,
                           loads + swaps);
        retried->count = 0, retried->alone = (RetrySums){0};
    } else {
        retries_play(retried);
        failed_retries_add(worker, retried->failed.rounds, retried->failed.loads,
                           retried->failed.swaps, retried->failed.needed);
    }
    retried->failed = (RetrySums){0};
}

/* The lanes that go to memory where all want one address. */
static uint32_t lanes_aggregated(const SimtMachine *machine, const Ins *ins, uint32_t mask)
{
    int joins = ins->joins == WARP_AGGREGATE_COUNT ||
                (ins->joins != WARP_AGGREGATE_NEVER && mask == FULL_MASK) ||
                (ins->joins == WARP_AGGREGATE_REDUCE && machine->has.redux);
    return joins ? mask & -mask : mask;
}

/* Global atomics are done in the L2, which fetches what it has not got, and keeps what it changed
 * for longer than most launches take. */
static void global_atomic_add(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask)
{
    const MachineCosts *costs = &warp->worker->gpu->machine.costs;
    Worker *worker = warp->worker;
    uint64_t sector[LANES];
    uint32_t n = units_collect(address, mask, SECTOR, sector), moment = moment_of(warp);
    for (uint32_t i = 0; i < n; i++)
        traffic_load(worker, sector[i], moment);
    if (!worker->launch->interblock.queue) lines_list(warp, sector, n, NULL);
    across_note(warp, sector, n);
    passes_add(warp, (n + 1) / 2);
    warp->step.sectors += n, warp->step.lines += lines_count(sector, n);
    worker->cost.load_misses += n;
    uint32_t rows = segments_count(sector, n, costs->row_sectors);
    if (rows > costs->open_rows) worker->cost.load_rows += rows - costs->open_rows;
    count_hot(warp, ins, address, mask);
    warp->step.latency = (uint64_t)worker->gpu->machine.l2_latency + costs->atomic_cycles;
}

void count_atomic(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask,
                  uint32_t changed)
{
    uint32_t shared = 0;
    if (is_free(ins)) return;
    if (warp->worker->watcher) access_log_add(warp, ins, SIGHT_ATOMIC, address, mask, 1);
    mask = lanes_aggregated(&warp->worker->gpu->machine, ins, mask);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t at = address[__builtin_ctz(m)];
        if (ins->space == PTX_SHARED || at - SHARED_WINDOW < WINDOW_BYTES) shared |= m & -m;
    }
    warp->worker->counters.atomics++;
    warp->step.latency = (uint64_t)warp->worker->gpu->machine.l2_latency;
    if (shared) passes_add(warp, shared_atomic_passes(warp, ins, address, shared, changed));
    if (mask & ~shared) global_atomic_add(warp, ins, address, mask & ~shared);
}
