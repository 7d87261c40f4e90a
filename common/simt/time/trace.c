/* trace.c - says which SM a block runs on, and keeps what the blocks of SM 0 execute: the first
 * waves of them, and of each warp as many steps as there is room for.  Which blocks and how many
 * steps depends on the launch alone, so host threads do not show. */
#include <stdlib.h>

#include "common/simt/time/replay.h"

enum {
    TRACE_STEPS = 3 << 19,
    TRACE_BLOCKS = 128,
    LEAST_WAVES = 2, /* of large grids */
    MOST_WAVES = 4,  /* of grids that are no larger: what is traced whole is not extrapolated */
    LEAST_BLOCKS = 4
};

static uint32_t smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* Blocks are dealt in rounds, one to each SM.  Were each round dealt alike, SM 0 would run blocks
 * 0, sms, 2*sms ...: in a grid whose rows divide that stride all of them at the left edge.  So each
 * round begins at another SM, but for the first and an unfinished last one. */
static uint32_t round_start(const Launch *launch, uint64_t round)
{
    uint32_t sms = launch->gpu->machine.sms;
    if (!round || (round + 1) * sms > launch->blocks) return 0;
    return (uint32_t)((round * 0x9e3779b97f4a7c15u >> 32) % sms);
}

uint32_t sm_of(const Launch *launch, uint64_t number)
{
    uint32_t sms = launch->gpu->machine.sms;
    return (uint32_t)((number + round_start(launch, number / sms)) % sms);
}

/* The one block of the round that SM 0 runs. */
static uint64_t own_block(const Launch *launch, uint64_t round)
{
    uint32_t sms = launch->gpu->machine.sms;
    return round * sms + (sms - round_start(launch, round)) % sms;
}

int trace_open(Launch *launch)
{
    uint32_t sms = launch->gpu->machine.sms, warps = launch->warps_per_block;
    uint64_t own = (launch->blocks + sms - 1) / sms;
    uint32_t waves = own <= (uint64_t)launch->resident * MOST_WAVES ? MOST_WAVES : LEAST_WAVES;
    uint32_t wanted = launch->resident * waves;
    wanted = wanted < LEAST_BLOCKS ? LEAST_BLOCKS : wanted;
    launch->traces = smaller(smaller(own, wanted), TRACE_BLOCKS);
    uint32_t room = TRACE_STEPS / (launch->traces * warps);
    launch->trace = calloc(launch->traces, sizeof *launch->trace);
    launch->steps = malloc((size_t)launch->traces * warps * room * sizeof *launch->steps);
    launch->trace_warps = calloc((size_t)launch->traces * warps, sizeof *launch->trace_warps);
    if (!launch->trace || !launch->steps || !launch->trace_warps) return -1;
    for (uint32_t i = 0; i < launch->traces; i++)
        launch->trace[i] = (BlockTrace){.number = own_block(launch, i),
                                        .warp = launch->trace_warps + (size_t)i * warps};
    for (uint32_t i = 0; i < launch->traces * warps; i++)
        launch->trace_warps[i] =
            (WarpTrace){.step = launch->steps + (size_t)i * room, .room = room};
    return 0;
}

void trace_close(Launch *launch)
{
    free(launch->trace), free(launch->steps), free(launch->trace_warps);
}

BlockTrace *trace_of(Launch *launch, uint64_t number)
{
    uint64_t round = number / launch->gpu->machine.sms;
    if (round >= launch->traces || launch->trace[round].number != number) return NULL;
    return &launch->trace[round];
}
