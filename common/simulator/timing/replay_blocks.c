/* replay_blocks.c - blocks and warps of the replayed SM: when they begin and end, and where they
 * wait for each other (barriers, phases of mbarriers, dependent launches). */
#include "common/simulator/timing/replay_sm.h"

#include <string.h>

#include "common/simulator/sass_map/sass_map.h"

/* The first free place, of this scheduler if it has one. */
static uint32_t place_find(const Sm *sm, uint32_t scheduler)
{
    uint32_t first = NO_WARP;
    for (uint32_t i = 0; i < sm->places; i++) {
        if (sm->warp[i].slot != NO_WARP) continue;
        if (i % sm->schedulers == scheduler) return i;
        if (first == NO_WARP) first = i;
    }
    return first;
}

/* Blocks begin at one scheduler after the other, so that first warps of all do not share one; where
 * warps do not fill the schedulers evenly, they go around by themselves. */
static uint32_t place_take(Sm *sm, uint32_t slot, uint32_t index)
{
    int even = sm->warps_per_block % sm->schedulers == 0;
    uint32_t number =
        place_find(sm, even ? (sm->blocks.started + index) % sm->schedulers : NO_WARP);
    sm->warp[number].slot = slot;
    sm->blocks.slot[slot].warp[index] = number;
    sm->blocks.free_places--;
    return number;
}

static void warp_begin(Sm *sm, uint32_t slot, uint32_t index)
{
    const BlockSlot *own = &sm->blocks.slot[slot];
    Launch *launch = sm->launch;
    uint32_t number = place_take(sm, slot, index);
    WarpReplay *warp = &sm->warp[number];
    Score *score = warp->score;
    const WarpTrace *trace = &own->block->warp[index];
    WarpTrace sass = warp->sass;
    if (sm->plays_sass && sass_trace_warp(launch->kernel, trace, &sass) != 0) sm->failed = 1;
    memset(score, 0, launch->kernel->costs.scoreboard * sizeof *score);
    *warp = (WarpReplay){.sass = sass,
                         .slot = slot,
                         .index = index,
                         .block = sm->blocks.started - 1,
                         .piece = NO_WARP,
                         .begin = own->begin,
                         .trace = sm->plays_sass ? &warp->sass : trace,
                         .ptx_steps = trace->count,
                         .next_issue = own->begin + sm->machine->costs.block_start_cycles,
                         .live = 1,
                         .score = score};
    ready_add(sm, number, own->begin);
    step_next(sm, warp);
}

static void block_begin(Sm *sm, uint32_t index, uint64_t now)
{
    BlockSlot *slot = &sm->blocks.slot[index];
    slot->block = &sm->trace[sm->blocks.started++];
    slot->begin = max64(now, sm->blocks.next_launch);
    slot->begin_launch_cycle = launch_cycle(sm, slot->begin);
    sm->blocks.next_launch = slot->begin + sm->blocks.launch_interval;
    slot->live = slot->untriggered = sm->warps_per_block, slot->waiting = 0;
    sm->blocks.resident++;
    sm->issue.woken = 1;
    if (phases_begin(&slot->phases, sm->blocks.has_phases, sm->code, slot->block,
                     sm->warps_per_block) != 0)
        sm->failed = 1;
    for (uint32_t w = 0; w < sm->warps_per_block && !sm->failed; w++)
        warp_begin(sm, index, w);
}

/* Starts the blocks that fit when the end of a block has become known. A warp that ends frees its
 * place, but the block scheduler is informed only at the end of a block. */
void blocks_begin(Sm *sm)
{
    for (uint32_t i = 0; i < sm->blocks.slots && sm->blocks.free_places >= sm->warps_per_block; i++)
        if (!sm->blocks.slot[i].block && sm->blocks.started < sm->traces)
            block_begin(sm, i, sm->blocks.offered);
}

static void block_end(Sm *sm, uint32_t index, uint64_t now)
{
    BlockSlot *slot = &sm->blocks.slot[index];
    uint64_t told = launch_cycle(sm, now);
    if (sm->blocks.span)
        sm->blocks.span[sm->launch->profile.spans++] = (SimtSpan){
            .sm = 0, .block = slot->block->number, .begin = slot->begin_launch_cycle, .end = told};
    sm->end = max64(sm->end, now);
    sm->blocks.ends[sm->blocks.ended++] = told;
    if (sm->blocks.resident > sm->blocks.most_resident)
        sm->blocks.most_resident = sm->blocks.resident;
    sm->blocks.resident--;
    slot->block = NULL;
    sm->blocks.offered = now + sm->machine->costs.block_turnover_cycles;
}

static void barrier_check(Sm *sm, uint32_t index, uint64_t now)
{
    BlockSlot *slot = &sm->blocks.slot[index];
    if (!slot->waiting || slot->waiting < slot->live) return;
    slot->waiting = 0;
    for (uint32_t w = 0; w < sm->warps_per_block; w++) {
        if (slot->warp[w] == NO_WARP) continue;
        WarpReplay *warp = &sm->warp[slot->warp[w]];
        if (warp->barrier != BARRIER_OF_ALL) continue;
        warp->barrier = 0;
        warp->next_issue = max64(now, sm->blocks.barrier_free) + sm->machine->costs.barrier_cycles;
        ready_update(warp);
    }
    sm->issue.woken = 1;
}

/* A warp reaches a barrier of some warps, at which it may only arrive. */
static void barrier_of_some(Sm *sm, uint32_t number, const TraceStep *step, int waits, uint64_t now)
{
    uint32_t index = sm->warp[number].slot, id = (step_barrier(step) & 0xff) - 1,
             wanted = step_barrier(step) >> BARRIER_WARPS_SHIFT;
    BlockSlot *slot = &sm->blocks.slot[index];
    if (waits) sm->warp[number].barrier = (uint8_t)(BARRIER_OF_SOME + id);
    if (++slot->phases.arrived[id] < wanted) return;
    slot->phases.arrived[id] = 0;
    for (uint32_t w = 0; w < sm->warps_per_block; w++) {
        if (slot->warp[w] == NO_WARP) continue;
        WarpReplay *warp = &sm->warp[slot->warp[w]];
        if (warp->barrier != BARRIER_OF_SOME + id) continue;
        warp->barrier = 0;
        warp->next_issue = max64(now, sm->blocks.barrier_free) + sm->machine->costs.barrier_cycles;
        ready_update(warp);
    }
    sm->issue.woken = 1;
}

void barrier_issue(Sm *sm, uint32_t number, const Ins *ins, const TraceStep *step, uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    int waits = ins->op == OP_BAR ? ins->aux != BAR_ARRIVE : ins->aux != 0;
    if (waits)
        sm->blocks.barrier_free =
            max64(sm->blocks.barrier_free, now) + costs->barrier_arrival_cycles;
    if (ins->op == OP_BAR && step_barrier(step)) {
        barrier_of_some(sm, number, step, waits, now);
    } else if (waits) {
        sm->warp[number].barrier = BARRIER_OF_ALL;
        sm->blocks.slot[sm->warp[number].slot].waiting++;
        if (ins->op == OP_CLUSTER_BARRIER)
            now = max64(now, sm->mem.dsmem_free) + costs->cluster_barrier_cycles;
        barrier_check(sm, sm->warp[number].slot, now);
    }
}

/* This warp is done with what the next launch must not overlap. */
static void warp_trigger(Sm *sm, uint32_t number, uint64_t now)
{
    if (sm->warp[number].has_triggered) return;
    sm->warp[number].has_triggered = 1;
    if (--sm->blocks.slot[sm->warp[number].slot].untriggered == 0)
        sm->blocks.pdl_trigger = max64(sm->blocks.pdl_trigger, launch_cycle(sm, now));
}

/* griddepcontrol: blocks that begin later find the launch before done. */
void dependents_issue(Sm *sm, uint32_t number, const Ins *ins, uint64_t now)
{
    if (!ins->aux)
        warp_trigger(sm, number, now);
    else if (sm->blocks.started <= sm->launch->resident)
        sm->blocks.pdl_wait = max64(sm->blocks.pdl_wait, launch_cycle(sm, now));
}

void warp_finish(Sm *sm, uint32_t number, uint64_t now)
{
    WarpReplay *warp = &sm->warp[number];
    uint32_t index = warp->slot;
    warp_trigger(sm, number, now);
    warp->live = 0;
    ready_remove(sm, warp->entry);
    sm->blocks.slot[index].warp[warp->index] = warp->slot = NO_WARP;
    sm->blocks.free_places++;
    sm->warp_cycles += now - warp->begin;
    if (--sm->blocks.slot[index].live == 0)
        block_end(sm, index, now);
    else
        barrier_check(sm, index, now);
    if (now < sm->blocks.offered) blocks_begin(sm);
}

/* An operation that counts for a phase has arrived at `at`; the last one wakes the warps that wait
 * for the phase. */
void phase_count(Sm *sm, uint32_t index, uint32_t number, uint64_t at)
{
    const BlockSlot *slot = &sm->blocks.slot[index];
    Phase *phase = &slot->phases.phase[number];
    phase->at = max64(phase->at, at);
    if (!phase->left || --phase->left) return;
    for (uint32_t w = 0; w < sm->warps_per_block; w++) {
        if (slot->warp[w] == NO_WARP) continue;
        WarpReplay *warp = &sm->warp[slot->warp[w]];
        if (!warp->live || warp->phase != number || !number) continue;
        warp->phase = 0, warp->operands = phase->at;
        ready_update(warp);
        sm->issue.woken = 1;
    }
}
