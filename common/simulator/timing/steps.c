/* steps.c - puts what a block's warps executed into the order in which ptxas issues it. */
#include "common/simulator/timing/replay.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/ptxas/unroll.h"

/* The end of the basic block that starts at step `from`: the start of another one, or of its next
 * execution. */
static uint32_t steps_end(const InsCost *price, const WarpTrace *trace, uint32_t from)
{
    const TraceStep *step = trace->step;
    uint32_t to = from + 1;
    while (to < trace->count && step[to].ins > step[to - 1].ins &&
           price[step[to].ins].part == price[step[from].ins].part)
        to++;
    return to;
}

/* The end of a full group of unrolled iterations, from the loop's first step on; `from`: fewer are
 * left. */
static uint32_t iterations_end(const InsCost *price, const WarpTrace *trace, uint32_t from,
                               const Unrolled *loop)
{
    uint32_t to = from;
    for (uint32_t iteration = 0; iteration < UNROLLED; iteration++) {
        if (to == trace->count || trace->step[to].ins != loop->first) return from;
        to = steps_end(price, trace, to);
        if (trace->step[to - 1].ins != loop->first + loop->count - 1) return from;
    }
    return to;
}

/* Maps the steps of the iterations to the loop's copies, and orders them. */
static void turns_order(const InsCost *price, TraceStep *step, uint32_t from, uint32_t to,
                        const Unrolled *loop)
{
    TraceStep place[PIECE];
    uint32_t count = UNROLLED * loop->count, iteration = 0;
    for (uint32_t i = 0; i < count; i++)
        place[i].ins = NO_STEP;
    for (uint32_t i = from; i < to; i++) {
        uint32_t copy = loop->copy + iteration * loop->count + step[i].ins - loop->first;
        iteration += step[i].ins == loop->first + loop->count - 1;
        place[price[copy].rank] = step[i];
        place[price[copy].rank].ins = copy;
    }
    for (uint32_t i = 0; i < count; i++)
        if (place[i].ins != NO_STEP) step[from++] = place[i];
}

/* Places each step of a basic block at its rank, which is unique. */
static void piece_place(const InsCost *price, TraceStep *step, uint32_t count)
{
    TraceStep moved[PIECE];
    uint16_t at[PIECE] = {0}; /* step of each rank, from 1; 0: not executed */
    uint32_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = price[step[i].ins].rank;
        moved[i] = step[i];
        at[rank] = (uint16_t)(i + 1);
        if (rank >= end) end = rank + 1;
    }
    for (uint32_t rank = 0; rank < end; rank++)
        if (at[rank]) *step++ = moved[at[rank] - 1];
}

/* The same where several may have one rank, and keep their order. */
static void piece_sort(const InsCost *price, TraceStep *step, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        TraceStep moved = step[i];
        uint32_t k = i;
        for (; k && price[step[k - 1].ins].rank > price[moved.ins].rank; k--)
            step[k] = step[k - 1];
        step[k] = moved;
    }
}

/* Orders a warp's steps, one basic block at a time. */
static void steps_order(const SimtKernel *kernel, WarpTrace *trace)
{
    const InsCost *price = kernel->costs.price;
    for (uint32_t from = 0, to; from < trace->count; from = to) {
        uint32_t number = price[trace->step[from].ins].loop;
        const Unrolled *loop = number ? &kernel->costs.unrolled[number - 1] : NULL;
        if (loop && (to = iterations_end(price, trace, from, loop)) > from) {
            turns_order(price, trace->step, from, to, loop);
            continue;
        }
        to = steps_end(price, trace, from);
        if (kernel->info.spills)
            piece_sort(price, trace->step + from, to - from);
        else
            piece_place(price, trace->step + from, to - from);
    }
}

static void steps_put(const Launch *launch, BlockTrace *block)
{
    block->slots = block->steps = 0;
    for (uint32_t w = 0; w < launch->warps_per_block; w++) {
        WarpTrace *trace = &block->warp[w];
        steps_order(launch->kernel, trace);
        for (uint32_t i = 0; i < trace->count; i++)
            block->slots += launch->kernel->costs.price[trace->step[i].ins].slots;
        block->steps += trace->count;
    }
}

void trace_order(const Launch *launch, BlockTrace *block)
{
    if (!launch->kernel->costs.sass) steps_put(launch, block);
}

size_t steps_count(const Launch *launch, const BlockTrace *trace, uint32_t count)
{
    size_t steps = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < launch->warps_per_block; w++)
            steps += trace[i].warp[w].count;
    return steps;
}

BlockTrace *steps_copy(const Launch *launch, const BlockTrace *trace, uint32_t count)
{
    uint32_t warps = launch->warps_per_block;
    size_t steps = steps_count(launch, trace, count);
    BlockTrace *copy = malloc(count * sizeof *copy + (size_t)count * warps * sizeof *copy->warp +
                              steps * sizeof *copy->warp->step);
    if (!copy) return NULL;
    WarpTrace *warp = (WarpTrace *)(void *)(copy + count);
    TraceStep *step = (TraceStep *)(void *)(warp + (size_t)count * warps);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = trace[i];
        copy[i].warp = warp;
        for (uint32_t w = 0; w < warps; w++, warp++) {
            *warp = trace[i].warp[w];
            warp->step = memcpy(step, warp->step, warp->count * sizeof *step);
            step += warp->count;
        }
        steps_put(launch, &copy[i]);
    }
    return copy;
}
