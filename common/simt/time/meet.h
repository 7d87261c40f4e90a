/* meet.h - when warps of different blocks meet in memory, where blocks run in the order of time.
 *
 * How long a block waits for another one depends on when both are there.  So of a kernel with a
 * loop that only looks whether another block has written, no access by which blocks may meet is
 * executed before all earlier ones were: ordered ones, atomics, and a store behind a fence.  The
 * time is that of the warp's chain, since the launch began. */
#ifndef CONVLAB_SIMT_TIME_MEET_H
#define CONVLAB_SIMT_TIME_MEET_H

#include "common/simt/time/chain.h"

enum {
    /* From a store to the first load that finds what it wrote: as long as a fence waits for it. */
    VISIBLE_CYCLES = WRITTEN_CYCLES - FENCE_CYCLES,
    /* A load of what the L2 has takes up to so much longer than the fastest, as its line lies near
     * to this SM or farther away: 279 to 346 on an H200, each about as often. */
    AWAY_CYCLES = 67
};

static inline int is_far(const Ins *ins)
{
    return ins->space != PTX_SHARED &&
           (ins->class == CLASS_LOAD || ins->class == CLASS_STORE || ins->class == CLASS_ATOMIC);
}

/* May others wait for what this instruction does, or has it waited for others? */
static inline int meets(const Warp *warp, const Ins *ins)
{
    if (!is_far(ins)) return 0;
    if (ins->class == CLASS_ATOMIC || ins->order & (ORDER_READS | ORDER_WRITES)) return 1;
    return ins->class == CLASS_STORE && warp->fenced;
}

/* Has it looked in vain for so long that it changes nothing until others do something? */
static inline int looks_long(const Warp *warp)
{
    enum { PATIENCE = 16 };
    return warp->vain >= PATIENCE;
}

/* When the next instruction of the warp goes, as far as its chain says. */
static inline uint64_t chain_now(const Warp *warp)
{
    return warp->worker->begun + chain_end(&warp->chain, warp->worker->gpu->machine.issue_cycles);
}

/* When this instruction's operands are there, and others see what it does. */
static inline uint64_t meeting_time(const Warp *warp, const Ins *ins)
{
    const Chain *chain = &warp->chain;
    uint64_t issued = chain->begin + chain->slots * warp->worker->gpu->machine.issue_cycles,
             ready = chain_ready(chain, ins),
             at = warp->worker->begun + (issued > ready ? issued : ready);
    int written = chain->written; /* still, for the chain's own step */
    if (ins->order & ORDER_FENCES) at = chain_now(warp) + fence_cycles(&written);
    return at + (ins->class == CLASS_STORE ? VISIBLE_CYCLES : 0);
}

/* Must the warp wait with this instruction until it is let on? */
static inline int meeting_stops(Warp *warp, const Ins *ins)
{
    if (!meets(warp, ins)) return 0;
    uint64_t at = meeting_time(warp, ins);
    if (!warp->let_on) {
        warp->gate = ins->class == CLASS_LOAD && warp->answered > at ? warp->answered : at;
        return 1;
    }
    warp->let_on = 0, warp->queued = 0;
    warp->late = ins->class == CLASS_LOAD && warp->answered > at ? warp->answered - at : 0;
    warp->met = at + warp->late;
    warp->passed = ins;
    return 0;
}

/* One pass over a sector of the L2, which makes those wait that come behind it. */
static inline void meeting_queue(Warp *warp, uint64_t sector, uint32_t percent)
{
    enum { LINE_OF = 4 };
    uint64_t *busy = warp->worker->launch->queue, met = warp->met * 100;
    if (!busy) return;
    busy += mixed(sector) >> 52;
    if (*busy < met) *busy = met;
    *busy += percent;
    uint64_t away = (mixed(mixed(sector / LINE_OF) ^ warp->block->number) >> 32) % AWAY_CYCLES,
             queued = (*busy - met) / 100 + away;
    if (queued > warp->queued) warp->queued = queued;
}

/* What the access just made waited for others, and before it the warp in vain, goes into its chain
 * and its trace. */
static inline void meeting_end(Warp *warp, const Ins *ins)
{
    if (ins->op == OP_FENCE && ins->aux) warp->fenced = 1;
    if (!meets(warp, ins)) return;
    if (ins->class == CLASS_STORE) {
        warp->fenced = 0;
        return;
    }
    uint64_t queued = warp->late + warp->queued, held = warp->held + queued;
    if (warp->pending) warp->pending += queued;
    if (ins->class == CLASS_ATOMIC && warp->pending) warp->answered = warp->met + warp->pending;
    warp->wanted = held < UINT32_MAX ? (uint32_t)held : UINT32_MAX;
}

#endif
