/* lower_bounds.c - the least that work takes, by everything that an SM has only so much of.
 *
 * No order of instructions and no choice of blocks takes less time. Each scheduler has an issue
 * rate and each pipe a number of lanes. The load/store unit makes one pass per cycle, and the L1
 * gets a limited number of sectors per cycle from the L2. All blocks that are resident at once take
 * at least as long as their critical paths. */
#include "common/simulator/timing/cost.h"
#include "common/simulator/traffic/extremes.h"
#include "common/simulator/timing/replay.h"

enum { TICKS = 256, FOLDED_PER_SLOT = 4, BELIEVED = 3, OF = 5 };

void cost_add(BlockCost *sum, const BlockCost *cost)
{
    const uint64_t *from = (const uint64_t *)cost;
    uint64_t *to = (uint64_t *)sum;
    for (size_t i = 0; i < sizeof *cost / sizeof *from; i++)
        to[i] += from[i];
}

/* The places of `blocks` blocks and of their warps are occupied for the time of their critical
 * paths. */
static uint64_t chains_floor(const Launch *launch, const BlockCost *cost, uint64_t blocks)
{
    uint64_t at_once = smaller(launch->block_places, blocks),
             places = smaller(launch->warp_places, blocks * launch->warps_per_block);
    return larger(at_once ? cost->chain * TICKS / at_once : 0,
                  places ? cost->warp_chains * TICKS / places : 0);
}

void lower_bounds_find(const Launch *launch, const BlockCost *cost,
                       uint64_t floor[LOWER_BOUND_AXES])
{
    const SimtMachine *m = &launch->gpu->machine;
    /* Folded instructions are not completely free: at least one of five remains. */
    uint64_t issued = larger(cost->slots, (cost->slots + cost->folded) / (FOLDED_PER_SLOT + 1));
    floor[LOWER_BOUND_SLOTS] = (issued + cost->spun) * m->issue_cycles * TICKS / m->schedulers;
    for (int pipe = PIPE_FP32; pipe < PIPES; pipe++)
        floor[LOWER_BOUND_FP32 + pipe - PIPE_FP32] = cost->pipe[pipe] * TICKS / m->schedulers;
    for (int axis = LOWER_BOUND_SLOTS; launch->kernel->costs.sass && axis < LOWER_BOUND_LSU; axis++)
        floor[axis] = floor[axis] * BELIEVED / OF;
    floor[LOWER_BOUND_LSU] = cost->passes * TICKS;
    double misses = (double)cost->load_misses * launch->trace.load_sector_ratio +
                    (double)cost->store_misses * launch->trace.store_sector_ratio +
                    (double)(cost->local_misses + cost->spill_stores);
    floor[LOWER_BOUND_L2] = (uint64_t)(misses * 32 * TICKS / m->l2_bytes_per_sm);
    floor[LOWER_BOUND_DSMEM] = cost->remote * TICKS;
    floor[LOWER_BOUND_TEXTURE] = cost->texture * TICKS;
    floor[LOWER_BOUND_CRITICAL_PATHS] = chains_floor(launch, cost, cost->blocks);
}

uint64_t lower_bound_weight(const Launch *launch, const BlockCost *cost)
{
    uint64_t floor[LOWER_BOUND_AXES], most = 0;
    lower_bounds_find(launch, cost, floor);
    floor[LOWER_BOUND_CRITICAL_PATHS] = chains_floor(launch, cost, launch->resident);
    for (int axis = 0; axis < LOWER_BOUND_AXES; axis++)
        most = larger(most, floor[axis]);
    return most;
}
