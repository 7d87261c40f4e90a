#include "common/simulator/launch/coresident.h"

#include <stdlib.h>

#include "common/simulator/core/kinds.h"
#include "common/simulator/exec/exec.h"
#include "common/simulator/timing/interblock.h"

enum { MOST_AT_ONCE = 1 << 13 };
/* Limit on the host memory for registers and memories of co-resident blocks. */
static const uint64_t MOST_BYTES = 4ull << 30;

static uint64_t worker_bytes(const Launch *launch)
{
    const SimtKernel *kernel = launch->kernel;
    uint64_t warp = kernel->file_bytes + (uint64_t)launch->local_bytes * LANES + sizeof(Warp);
    return warp * launch->warps_per_block + 16ull * launch->shared_bytes + (1u << 20);
}

uint32_t coresident_blocks(const Launch *launch)
{
    uint64_t room = (uint64_t)launch->resident * launch->gpu->machine.sms;
    if (room > launch->blocks) room = launch->blocks;
    uint64_t fits = MOST_BYTES / worker_bytes(launch) + 1;
    /* All blocks of a cooperative grid must be co-resident: launch_check has verified that they
     * fit. */
    if (launch->launch->cooperative) room = launch->blocks;
    if (room > fits) room = fits;
    return room < MOST_AT_ONCE ? (uint32_t)room : MOST_AT_ONCE;
}

/* Gives the worker the next block, if one is left. BLOCK_DONE: none is left. */
static BlockStep next_begin(Launch *launch, Worker *worker)
{
    const MachineCosts *costs = &worker->gpu->machine.costs;
    double each = launch->gpu->machine.block_launch_cycles;
    worker->progress.begun =
        worker->progress.is_busy
            ? worker->progress.begun + worker->cost.chain + costs->block_turnover_cycles
            : (uint64_t)((double)launch->next * each);
    worker->progress.is_busy = launch->next < launch->blocks;
    if (!worker->progress.is_busy) return BLOCK_DONE;
    return block_begin(worker, launch->next++) == 0 ? BLOCK_RUNS : BLOCK_FAILED;
}

/* The worker's block until it waits, and then the blocks after it.  `moved`: something was done. */
static BlockStep worker_step(Launch *launch, Worker *worker, int *moved)
{
    for (;;) {
        BlockStep step = block_step(worker);
        if (step == BLOCK_WAITS || step == BLOCK_PAUSES || step == BLOCK_FAILED) return step;
        *moved = 1;
        if (step == BLOCK_DONE && (step = next_begin(launch, worker)) != BLOCK_RUNS) return step;
    }
}

/* Runs a slice of all blocks; BLOCK_WAITS if each has failed polls only, BLOCK_PAUSES if some may
 * have more. */
static BlockStep round_run(Launch *launch, Worker *worker, uint32_t count)
{
    int moved = 0, busy = 0, paused = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!worker[i].progress.is_busy) continue;
        BlockStep step = worker_step(launch, &worker[i], &moved);
        if (step == BLOCK_FAILED) return BLOCK_FAILED;
        busy |= worker[i].progress.is_busy;
        paused |= step == BLOCK_PAUSES;
    }
    if (moved) return BLOCK_RUNS;
    return paused ? BLOCK_PAUSES : busy ? BLOCK_WAITS : BLOCK_DONE;
}

/* Failed polls of the first busy block's last slice. */
static uint32_t first_effort(const Worker *worker, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i++)
        if (worker[i].progress.is_busy) return worker[i].progress.effort;
    return worker[count - 1].progress.effort;
}

static int worker_next(Launch *launch, Worker *worker, uint32_t *open)
{
    uint32_t i = (*open)++;
    return worker_open(&worker[i], launch, &launch->gpu->arenas[i]);
}

/* ---- blocks in time order ------------------------------------------------------------------ */

/* The earliest ready warp of some workers, and the next event: the time of the earliest one that is
 * not a long-polling warp. */
typedef struct Gate {
    uint64_t at, next_event;
    Warp *warp;
    uint32_t worker;
} Gate;

/* Workers' gates in pairs, pairs of pairs and so on: the earliest of all is at[1], and a worker's
 * own, from at[workers] on, changes those above it alone. */
typedef struct Gates {
    Gate *at;
    uint32_t workers; /* a power of two */
} Gates;

static const Gate NO_GATE = {UINT64_MAX, UINT64_MAX, NULL, 0};

/* -1: out of memory. */
static int gates_open(Gates *gates, uint32_t count)
{
    gates->workers = 1;
    while (gates->workers < count)
        gates->workers *= 2;
    gates->at = malloc(2 * gates->workers * sizeof *gates->at);
    for (uint32_t i = 0; gates->at && i < 2 * gates->workers; i++)
        gates->at[i] = NO_GATE;
    return gates->at ? 0 : -1;
}

static Gate gate_of(Worker *worker)
{
    Gate gate = NO_GATE;
    for (uint32_t w = 0; worker->progress.is_busy && w < worker->block.warps; w++) {
        Warp *warp = &worker->warp[w];
        if (warp->state != WARP_READY || !warp->interblock.gate) continue;
        if (warp->interblock.gate < gate.at) gate.at = warp->interblock.gate, gate.warp = warp;
        if (!polls_long(warp) && warp->interblock.gate < gate.next_event)
            gate.next_event = warp->interblock.gate;
    }
    return gate;
}

/* The earlier of two, the first of equals. */
static Gate gate_earlier(const Gate *first, const Gate *second)
{
    Gate gate = second->at < first->at ? *second : *first;
    gate.next_event =
        second->next_event < first->next_event ? second->next_event : first->next_event;
    return gate;
}

static void gate_set(Gates *gates, Worker *worker, uint32_t number)
{
    uint32_t i = gates->workers + number;
    gates->at[i] = gate_of(&worker[number]);
    gates->at[i].worker = number;
    while (i /= 2)
        gates->at[i] = gate_earlier(&gates->at[2 * i], &gates->at[2 * i + 1]);
}

/* Has a resumed warp done anything but poll? In a polling loop, other instructions do not count. */
static int has_moved(const Warp *warp)
{
    return warp->state != WARP_READY || warp->yield.is_paused ||
           (warp->interblock.cleared_ins && !(warp->interblock.cleared_ins->order & ORDER_SPINS));
}

/* Was a warp doing other work when it reached its gate? Other warps that poll meanwhile are not
 * stuck, however often they poll. */
static int one_works(const Worker *worker, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t w = 0; worker[i].progress.is_busy && w < worker[i].block.warps; w++) {
            const Warp *warp = &worker[i].warp[w];
            if (warp->state == WARP_READY && warp->interblock.gate && !warp->interblock.was_poll)
                return 1;
        }
    return 0;
}

static int gates_run(Launch *launch, Worker *worker, Gates *gates, uint32_t count)
{
    uint32_t vain = 0, rotations = 0;
    for (;;) {
        const uint32_t first = gates->at[1].worker;
        Worker *next = &worker[first];
        Warp *warp = gates->at[1].warp;
        int moved = 0;
        if (!warp) return 0;
        launch->interblock.next_event = gates->at[1].next_event;
        warp->interblock.cleared_at = gates->at[1].at, warp->interblock.cleared_ins = NULL;
        uint64_t block = next->block.number;
        if (worker_step(launch, next, &moved) == BLOCK_FAILED) return 0;
        warp->interblock.cleared_at = 0;
        gate_set(gates, worker, first);
        int was_poll = next->block.number == block && !has_moved(warp);
        if (next->block.number == block) warp->interblock.was_poll = (uint8_t)was_poll;
        vain = was_poll ? vain + next->progress.effort : 0;
        if (!was_poll) rotations = 0;
        if (vain <= TURNS_IN_VAIN) continue;
        vain = 0;
        if (one_works(worker, count)) continue;
        if (!blocks_rotate(worker, count, &rotations)) {
            blocks_stuck(worker, count);
            return 0;
        }
        vain = TURNS_IN_VAIN - ROTATION_TURNS;
    }
}

/* Co-resident blocks run together in time order: the warp with the earliest time runs next. */
static int timed_run(Launch *launch, Worker *worker, uint32_t *open)
{
    uint32_t room = coresident_blocks(launch);
    Gates gates;
    int failed = gates_open(&gates, room) != 0, moved;
    BlockStep step = BLOCK_RUNS;
    for (uint32_t i = 0; i < room && !failed && step != BLOCK_FAILED; i++) {
        failed = worker_next(launch, worker, open) != 0;
        if (failed) break;
        /* No block may be left: blocks that waited for none have ended, and their workers took the
         * next ones. */
        step = next_begin(launch, &worker[i]);
        if (step == BLOCK_RUNS) step = worker_step(launch, &worker[i], &moved);
        gate_set(&gates, worker, i);
    }
    if (!failed && step != BLOCK_FAILED) gates_run(launch, worker, &gates, room);
    free(gates.at);
    return failed ? -1 : 0;
}

int coresident_run(Launch *launch, Worker *worker, uint32_t *open)
{
    uint32_t room = coresident_blocks(launch), vain = 0, rotations = 0;
    if (launch->interblock.queue) return timed_run(launch, worker, open);
    if (worker_next(launch, worker, open) != 0) return -1;
    if (next_begin(launch, &worker[0]) == BLOCK_FAILED) return 0;
    for (;;) {
        BlockStep step = round_run(launch, worker, *open);
        if (step == BLOCK_DONE || step == BLOCK_FAILED) return 0;
        if (step == BLOCK_RUNS) {
            vain = rotations = 0;
        } else if (launch->next < launch->blocks && *open < room) {
            if (worker_next(launch, worker, open) != 0) return -1;
            if (next_begin(launch, &worker[*open - 1]) == BLOCK_FAILED) return 0;
        } else if (step == BLOCK_PAUSES) {
            vain = 0;
        } else if ((vain += first_effort(worker, *open)) > TURNS_IN_VAIN / *open) {
            vain -= ROTATION_TURNS / *open + 1;
            if (blocks_rotate(worker, *open, &rotations)) continue;
            blocks_stuck(worker, *open);
            return 0;
        }
    }
}
