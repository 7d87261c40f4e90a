/* interblock.h - the times of inter-block communication, if blocks run in time order.
 *
 * The time for which a block waits for another one depends on the times of both. In a kernel with a
 * loop that only polls for another block's write, an access that may communicate between blocks is
 * executed only after all earlier ones. These accesses are ordered accesses, atomics, and a store
 * after a fence. The time is that of the warp's critical path, since the launch began. */
#ifndef CONVLAB_SIMT_TIME_MEET_H
#define CONVLAB_SIMT_TIME_MEET_H

#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/replay.h"
#include "common/simulator/traffic/dram_fetch.h"

/* Allocates the data that blocks in time order share; the launch's traffic is open. -1: out of
 * memory. */
int interblock_open(Launch *launch);
void interblock_close(Launch *launch);

static inline int is_far(const Ins *ins)
{
    return ins->space != PTX_SHARED &&
           (ins->class == CLASS_LOAD || ins->class == CLASS_STORE || ins->class == CLASS_ATOMIC);
}

/* May other blocks wait for this instruction's effect, or does it wait for others? */
static inline int meets(const Warp *warp, const Ins *ins)
{
    if (!is_far(ins)) return 0;
    if (ins->class == CLASS_ATOMIC || ins->order & (ORDER_READS | ORDER_WRITES)) return 1;
    return ins->class == CLASS_STORE && warp->interblock.is_fenced;
}

/* Has it polled without success for so long that only other warps can change the outcome? */
static inline int polls_long(const Warp *warp)
{
    enum { PATIENCE = 16 };
    return warp->interblock.failed_polls >= PATIENCE;
}

/* Time at which this instruction's operands are available, and at which others see its effect. */
static inline uint64_t interblock_time(const Warp *warp, const Ins *ins)
{
    const CriticalPath *chain = &warp->chain;
    uint64_t issued = chain->begin + chain->slots * warp->worker->gpu->machine.issue_cycles,
             ready = critical_ready(chain, ins),
             at = warp->worker->progress.begun + (issued > ready ? issued : ready);
    int before = chain->before; /* still, for the chain's own step */
    if (ins->order & ORDER_FENCES) at = critical_now(warp) + fence_cycles(&before, costs_of(warp));
    return at + (ins->class == CLASS_STORE ? costs_of(warp)->visible_cycles : 0);
}

/* Must the warp wait with this instruction until it is let on?  It was, if it went back in a loop
 * and has not paused since. */
static inline int interblock_stops(Warp *warp, const Ins *ins)
{
    enum { PAUSE = 64 };
    if (!meets(warp, ins)) return 0;
    uint64_t at = interblock_time(warp, ins),
             met = ins->class == CLASS_LOAD && warp->interblock.atomic_done_at > at
                       ? warp->interblock.atomic_done_at
                       : at;
    if (!warp->interblock.cleared_at || met > warp->interblock.cleared_at + PAUSE) {
        warp->interblock.gate = met, warp->interblock.cleared_at = 0;
        return 1;
    }
    warp->interblock.cleared_at = 0, warp->interblock.queued = 0;
    warp->interblock.late = met - at;
    warp->interblock.access_at = met;
    warp->interblock.cleared_ins = ins;
    return 0;
}

/* Is the sector in the L2 partition that is not next to the SM? An H200 assigns its first blocks to
 * SMs next to one partition (changed.tsv, both: 8 of 8, 21 of 33). */
static inline int is_across(const Warp *warp, uint64_t sector)
{
    enum { LINE_OF = 4 };
    const Launch *launch = warp->worker->launch;
    if (costs_of(warp)->l2_halves < 2) return 0;
    uint32_t side = sm_of(launch, warp->block->number) / costs_of(warp)->near_sms;
    return (side ^ mixed(sector / LINE_OF) >> 40) & 1;
}

/* Time at which the requested data are in the L2: the first request in the launch has the latency
 * of DRAM, and requests meanwhile wait for the same reply. */
static inline uint64_t interblock_fetch(const Warp *warp, uint64_t sector)
{
    Launch *launch = warp->worker->launch;
    const SimtMachine *machine = &launch->gpu->machine;
    uint64_t fetch = fetch_of(sector);
    if (fetch >= launch->touched.fetches) return 0;
    uint32_t *answered = &launch->interblock.fetch_done_at[fetch];
    if (!*answered) { /* a machine's DRAM may be hardly further away than its L2 */
        uint64_t there = dram_wait(machine, fetch), near = machine->l2_latency;
        *answered = (uint32_t)(warp->interblock.access_at + (there > near ? there - near : 0));
    }
    return *answered;
}

/* Time at which an access that now arrives at a sector of the L2 is served; later accesses wait for
 * `percent` hundredths of a cycle. */
static inline uint64_t interblock_serve(const Warp *warp, L2Contention *place, uint64_t sector,
                                        uint32_t percent)
{
    uint64_t met = warp->interblock.access_at * 100, there = 100 * interblock_fetch(warp, sector),
             served = place->busy;
    if (served < met) served = met;
    if (served < there) served = there;
    place->busy = served + percent;
    return served;
}

/* The access waits until then, and for the way to the L2. */
static inline void interblock_wait(Warp *warp, uint64_t sector, uint64_t served)
{
    const MachineCosts *costs = costs_of(warp);
    enum { LINE_OF = 4 };
    uint64_t away = (mixed(mixed(sector / LINE_OF) ^ warp->block->number) >> 32) %
                    costs->l2_away_cycles,
             queued = served / 100 - warp->interblock.access_at + away;
    if (queued > warp->interblock.queued) warp->interblock.queued = queued;
}

/* Queue of accesses to this sector; NULL: blocks do not run in time order. */
static inline L2Contention *interblock_place(const Warp *warp, uint64_t sector)
{
    L2Contention *queue = warp->worker->launch->interblock.queue;
    return queue ? &queue[mixed(sector) >> 52] : NULL;
}

/* Do other warps currently poll the word that is changed? */
static inline int is_polled(const Warp *warp, const L2Contention *place)
{
    const MachineCosts *costs = costs_of(warp);
    return place->last_poll &&
           100 * warp->interblock.access_at < place->last_poll + 100 * costs->polled_cycles;
}

/* An atomic's pass over a sector. */
static inline void interblock_atomic(Warp *warp, uint64_t sector, uint32_t percent)
{
    L2Contention *place = interblock_place(warp, sector);
    if (!place) return;
    if (is_polled(warp, place)) percent += costs_of(warp)->polled_atomic_percent;
    place->added = interblock_serve(warp, place, sector, percent);
    place->copied = 0;
    uint64_t across = is_across(warp, sector) ? 100 * costs_of(warp)->l2_across_cycles : 0;
    interblock_wait(warp, sector, place->added + across);
}

/* A store delays no warp, but it occupies its sector. */
static inline void interblock_store(const Warp *warp, uint64_t sector)
{
    L2Contention *place = interblock_place(warp, sector);
    if (place && is_polled(warp, place))
        interblock_serve(warp, place, sector, costs_of(warp)->polled_store_percent);
}

/* Models a poll of a sector. The result of an atomic is in one L2 partition. The other partition
 * requests it once, for the first poll there, and concurrent polls wait for the same reply. */
static inline void interblock_poll(Warp *warp, uint64_t sector, int alone)
{
    const MachineCosts *costs = costs_of(warp);
    L2Contention *place = interblock_place(warp, sector);
    if (!place) return;
    uint64_t served = interblock_serve(warp, place, sector, alone ? costs->poll_percent : 0);
    place->last_poll = 100 * warp->interblock.access_at;
    if (place->added && is_across(warp, sector)) {
        if (!place->copied) place->copied = served + 100 * costs->l2_across_cycles;
        if (served < place->copied) served = place->copied;
    }
    interblock_wait(warp, sector, served);
}

/* Adds the time that the last access waited for others, and the time of earlier failed polls, to
 * the warp's critical path and its trace. */
static inline void interblock_end(Warp *warp, const Ins *ins)
{
    const MachineCosts *costs = costs_of(warp);
    if (ins->op == OP_FENCE && ins->aux) warp->interblock.is_fenced = 1;
    if (!meets(warp, ins)) return;
    if (ins->class == CLASS_STORE) {
        warp->interblock.is_fenced = 0;
        return;
    }
    uint64_t queued = warp->interblock.late + warp->interblock.queued;
    if (ins->class == CLASS_LOAD && ins->order & ORDER_INVALIDATES_L1)
        queued += costs->acquire_cycles;
    if (warp->step.latency)
        warp->step.latency += queued - interblock_nearer(&warp->worker->gpu->machine, ins);
    uint64_t held = warp->interblock.poll_cycles + queued;
    /* Its lanes exchange the result by shuffles, so later instructions wait for them. */
    int answers = ins->class == CLASS_ATOMIC && ins->order & ORDER_READS && ins->joins;
    if (answers && warp->step.latency)
        warp->interblock.atomic_done_at = warp->interblock.access_at + warp->step.latency;
    if (warp->step.kind != STEP_REMOTE) {
        warp->step.kind = STEP_ORDERED;
        warp->step.wait_cycles = held < UINT32_MAX ? (uint32_t)held : UINT32_MAX;
    }
    warp->interblock.poll_cycles = 0;
}

#endif
