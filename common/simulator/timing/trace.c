/* trace.c - assigns blocks to SMs, and records the execution of the blocks of the first waves of SM
 * 0, and of the heaviest others. The number of steps per warp is limited.
 *
 * Which blocks have the most to do is known when they have run: so each is traced, and a host
 * thread keeps the heaviest that it ran.  The heaviest of all are among those, and of equals the
 * first: host threads do not show.
 *
 * If warps end long before their block, more blocks are resident than fit initially: then more
 * blocks of SM 0 are kept, each in memory of its own. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/traffic/extremes.h"
#include "common/simulator/timing/replay.h"

enum {
    TRACE_STEPS = 3 << 19,
    TRACE_BLOCKS = 128,
    LEAST_WAVES = 2, /* waves of large grids */
    MOST_WAVES = 4,  /* waves of small grids: completely traced work is not extrapolated */
    LEAST_BLOCKS = 4,
    MORE_TIMES = 4 /* factor for the number of kept blocks if warps end early */
};

/* Blocks of a cluster run on one group of SMs, which clusters do not fill. An H200 runs 30 clusters
 * of four blocks at once, 15 of eight and 7 of sixteen, with one block per SM. Later blocks share
 * their SMs with others. */
uint32_t dealt_sms(const Launch *launch)
{
    enum { PAIR = 2 };
    uint32_t sms = launch->gpu->machine.sms, size = launch->cluster_blocks;
    if (size <= PAIR) return sms;
    uint32_t dealt = (sms - sms / launch->gpu->machine.costs.cluster_sms_divisor) / size * size;
    return dealt ? dealt : sms;
}

/* Blocks are dealt in rounds, one per SM. If each round were dealt alike, SM 0 would run blocks 0,
 * sms, 2*sms ...: in a grid whose rows divide that stride, all of them at the left edge. Therefore
 * each round starts at another SM, except for the first and an unfinished last one. */
static uint32_t round_start(const Launch *launch, uint64_t round)
{
    uint32_t sms = dealt_sms(launch);
    if (!round || (round + 1) * sms > launch->blocks) return 0;
    return (uint32_t)((mixed(round) >> 32) % sms);
}

uint32_t sm_of(const Launch *launch, uint64_t number)
{
    uint32_t sms = dealt_sms(launch);
    return (uint32_t)((number + round_start(launch, number / sms)) % sms);
}

/* The one block of the round that SM 0 runs. */
static uint64_t own_block(const Launch *launch, uint64_t round)
{
    uint32_t sms = dealt_sms(launch);
    return round * sms + (sms - round_start(launch, round)) % sms;
}

int trace_open(Launch *launch)
{
    uint32_t sms = dealt_sms(launch), warps = launch->warps_per_block;
    uint64_t own = (launch->blocks + sms - 1) / sms;
    uint32_t waves = own <= (uint64_t)launch->resident * MOST_WAVES ? MOST_WAVES : LEAST_WAVES;
    uint32_t wanted = launch->resident * waves;
    wanted = wanted < LEAST_BLOCKS ? LEAST_BLOCKS : wanted;
    launch->trace.blocks = (uint32_t)smaller(smaller(own, wanted), TRACE_BLOCKS);
    uint32_t room = launch->trace.room = TRACE_STEPS / (launch->trace.blocks * warps);
    launch->trace.more =
        (uint32_t)smaller(smaller(own, (uint64_t)wanted * MORE_TIMES), TRACE_BLOCKS);
    launch->trace.load_sector_ratio = launch->trace.store_sector_ratio = 1;
    launch->trace.block = calloc(launch->trace.more, sizeof *launch->trace.block);
    launch->trace.steps =
        malloc((size_t)launch->trace.blocks * warps * room * sizeof *launch->trace.steps);
    launch->trace.lines =
        malloc((size_t)launch->trace.blocks * warps * room * sizeof *launch->trace.lines);
    launch->trace.warps = calloc((size_t)launch->trace.blocks * warps, sizeof *launch->trace.warps);
    if (!launch->trace.block || !launch->trace.steps || !launch->trace.lines ||
        !launch->trace.warps)
        return -1;
    for (uint32_t i = 0; i < launch->trace.more; i++)
        launch->trace.block[i].number = own_block(launch, i);
    for (uint32_t i = 0; i < launch->trace.blocks; i++)
        launch->trace.block[i].warp = launch->trace.warps + (size_t)i * warps;
    for (uint32_t i = 0; i < launch->trace.blocks * warps; i++)
        launch->trace.warps[i] = (WarpTrace){.step = launch->trace.steps + (size_t)i * room,
                                             .line = launch->trace.lines + (size_t)i * room,
                                             .room = room};
    return 0;
}

void trace_close(Launch *launch)
{
    for (uint32_t i = launch->trace.blocks; launch->trace.block && i < launch->trace.more; i++)
        free(launch->trace.block[i].warp);
    free(launch->trace.block), free(launch->trace.steps), free(launch->trace.lines),
        free(launch->trace.warps);
}

static int is_sampled(const Launch *launch, uint64_t number)
{
    uint64_t round = number / dealt_sms(launch);
    return round < launch->trace.blocks && launch->trace.block[round].number == number;
}

/* ---- blocks whose warps end early ---------------------------------------------------------- */

/* Do its warps on average leave their places in the first half of its time? */
static int ends_early(const Launch *launch, const BlockTrace *block)
{
    uint64_t all = 0, most = 0;
    for (uint32_t w = 0; w < launch->warps_per_block; w++) {
        uint32_t steps = block->warp[w].count;
        all += steps, most = steps > most ? steps : most;
    }
    return all * 2 < most * launch->warps_per_block;
}

/* A copy of the warps' steps that is as long as they are.  NULL: out of memory. */
static WarpTrace *warps_copy(const Launch *launch, const BlockTrace *block)
{
    uint32_t warps = launch->warps_per_block;
    size_t steps = steps_count(launch, block, 1), lines = 0;
    for (uint32_t w = 0; w < warps; w++)
        lines += block->warp[w].lines;
    WarpTrace *copy =
        malloc(warps * sizeof *copy + steps * sizeof *copy->step + lines * sizeof *copy->line);
    if (!copy) return NULL;
    TraceStep *step = (TraceStep *)(void *)(copy + warps);
    TraceLine *line = (TraceLine *)(void *)(step + steps);
    for (uint32_t w = 0; w < warps; w++) {
        const WarpTrace *from = &block->warp[w];
        copy[w] = *from;
        copy[w].step = memcpy(step, from->step, from->count * sizeof *step);
        copy[w].line = memcpy(line, from->line, from->lines * sizeof *line);
        step += from->count, line += from->lines;
    }
    return copy;
}

/* Keeps the block if SM 0 runs it after those that are kept in any case. */
static void early_keep(Launch *launch, const BlockTrace *block, const BlockCost *cost)
{
    uint64_t round = block->number / dealt_sms(launch);
    if (round >= launch->trace.more || launch->trace.block[round].number != block->number) return;
    BlockTrace *own = &launch->trace.block[round];
    if (!ends_early(launch, block)) return;
    own->warp = warps_copy(launch, block);
    own->cost = *cost;
    if (own->warp) trace_order(launch, own);
}

uint32_t traces_count(const Launch *launch)
{
    uint32_t count = launch->trace.blocks;
    while (count < launch->trace.more && launch->trace.block[count].warp)
        count++;
    return count;
}

BlockTrace *trace_of(Launch *launch, Heaviest *heaviest, uint64_t number)
{
    if (is_sampled(launch, number)) return &launch->trace.block[number / dealt_sms(launch)];
    BlockTrace *spare = &heaviest->block[heaviest->count];
    spare->number = number;
    for (uint32_t w = 0; w < launch->warps_per_block; w++)
        spare->warp[w].count = spare->warp[w].lines = 0;
    return spare;
}

/* ---- the heaviest -------------------------------------------------------------------------
 *
 * At most one block of each round, because an SM runs no more of a round.  Neighbours in the grid
 * would find each other's data in the L1, and be cheaper together than on any SM. */

int heaviest_open(Heaviest *heaviest, const Launch *launch, LaunchArena *shelf)
{
    uint32_t most = launch->trace.blocks, warps = launch->warps_per_block,
             room = launch->trace.room;
    size_t blocks = (size_t)most + 1;
    *heaviest = (Heaviest){.most = most};
    heaviest->block = arena_zeros(shelf, blocks, sizeof *heaviest->block);
    heaviest->warps = arena_zeros(shelf, blocks * warps, sizeof *heaviest->warps);
    heaviest->steps = arena_take(shelf, blocks * warps * room * sizeof *heaviest->steps);
    heaviest->line = arena_take(shelf, blocks * warps * room * sizeof *heaviest->line);
    if (!heaviest->block || !heaviest->warps || !heaviest->steps || !heaviest->line) return -1;
    for (size_t i = 0; i < blocks; i++)
        heaviest->block[i].warp = heaviest->warps + i * warps;
    for (size_t i = 0; i < blocks * warps; i++)
        heaviest->warps[i] = (WarpTrace){
            .step = heaviest->steps + i * room, .line = heaviest->line + i * room, .room = room};
    return 0;
}

/* By weight, and of equals the first in the grid. */
static int is_heavier(const BlockTrace *a, const BlockTrace *b)
{
    return a->weight != b->weight ? a->weight > b->weight : a->number < b->number;
}

/* The kept block of the same round; NULL: none. */
static BlockTrace *of_round(const Launch *launch, Heaviest *heaviest, uint64_t number)
{
    uint64_t round = number / dealt_sms(launch);
    for (uint32_t i = 0; i < heaviest->count; i++)
        if (heaviest->block[i].number / dealt_sms(launch) == round) return &heaviest->block[i];
    return NULL;
}

static void lightest_find(Heaviest *heaviest)
{
    heaviest->lightest = 0;
    for (uint32_t i = 1; i < heaviest->count; i++)
        if (is_heavier(&heaviest->block[heaviest->lightest], &heaviest->block[i]))
            heaviest->lightest = i;
}

void trace_keep(Launch *launch, Heaviest *heaviest, uint64_t number, const BlockCost *cost,
                uint64_t begun)
{
    if (is_sampled(launch, number)) {
        BlockTrace *own = &launch->trace.block[number / dealt_sms(launch)];
        own->cost = *cost, own->ended = begun + cost->chain;
        trace_order(launch, own);
        return;
    }
    BlockTrace *spare = &heaviest->block[heaviest->count];
    early_keep(launch, spare, cost);
    spare->cost = *cost;
    spare->weight = lower_bound_weight(launch, cost);
    BlockTrace *least = of_round(launch, heaviest, number);
    if (!least && heaviest->count < heaviest->most) {
        if (++heaviest->count == heaviest->most) lightest_find(heaviest);
        return;
    }
    if (!least) least = &heaviest->block[heaviest->lightest];
    BlockTrace lighter = *least;
    if (!is_heavier(spare, least)) return;
    *least = *spare, *spare = lighter;
    lightest_find(heaviest);
}

static int by_weight(const void *left, const void *right)
{
    return is_heavier(left, right) ? -1 : 1;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = ((const BlockTrace *)left)->number, b = ((const BlockTrace *)right)->number;
    return a < b ? -1 : a > b;
}

/* Keeps the first of each round, in order; returns their number. */
static uint32_t rounds_differ(const Launch *launch, BlockTrace *all, uint32_t count)
{
    uint32_t kept = 0, sms = dealt_sms(launch);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 0;
        while (same < kept && all[same].number / sms != all[i].number / sms)
            same++;
        if (same == kept) all[kept++] = all[i];
    }
    return kept;
}

uint32_t heaviest_merge(const Launch *launch, const Worker *worker, uint32_t workers,
                        BlockTrace **all)
{
    uint32_t count = 0, most = worker->heaviest.most;
    *all = calloc((size_t)workers * most + 1, sizeof **all);
    if (!*all) return 0;
    for (uint32_t i = 0; i < workers; i++) {
        const Heaviest *heaviest = &worker[i].heaviest;
        if (!heaviest->count) continue;
        memcpy(*all + count, heaviest->block, heaviest->count * sizeof **all);
        count += heaviest->count;
    }
    qsort(*all, count, sizeof **all, by_weight);
    count = rounds_differ(launch, *all, count);
    count = count < most ? count : most;
    qsort(*all, count, sizeof **all, by_number);
    return count;
}
