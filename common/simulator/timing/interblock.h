/* interblock.h - the times of inter-block communication, where blocks run in the order of time.
 *
 * How long a block waits for another one depends on when both are there.  So of a kernel with a
 * loop that only looks whether another block has written, no access by which blocks may meet is
 * executed before all earlier ones were: ordered ones, atomics, and a store behind a fence.  The
 * time is that of the warp's chain, since the launch began. */
#ifndef CONVLAB_SIMT_TIME_MEET_H
#define CONVLAB_SIMT_TIME_MEET_H

#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/replay.h"
#include "common/simulator/traffic/dram_fetch.h"

/* Room for what blocks of a launch share that run in the order of time; its traffic is open.  -1:
 * out of memory. */
int interblock_open(Launch *launch);
void interblock_close(Launch *launch);

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
    return ins->class == CLASS_STORE && warp->interblock.is_fenced;
}

/* Has it looked in vain for so long that it changes nothing until others do something? */
static inline int polls_long(const Warp *warp)
{
    enum { PATIENCE = 16 };
    return warp->interblock.failed_polls >= PATIENCE;
}

/* When this instruction's operands are there, and others see what it does. */
static inline uint64_t interblock_time(const Warp *warp, const Ins *ins)
{
    const CriticalPath *chain = &warp->chain;
    uint64_t issued = chain->begin + chain->slots * warp->worker->gpu->machine.issue_cycles,
             ready = critical_ready(chain, ins),
             at = warp->worker->turn.begun + (issued > ready ? issued : ready);
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

/* Does the sector lie in the half of the L2 beside which its SM does not lie?  An H200 gives its
 * first blocks to SMs beside one (changed.tsv, both: 8 of 8, 21 of 33). */
static inline int is_across(const Warp *warp, uint64_t sector)
{
    enum { LINE_OF = 4 };
    const Launch *launch = warp->worker->launch;
    if (costs_of(warp)->l2_halves < 2) return 0;
    uint32_t side = sm_of(launch, warp->block->number) / costs_of(warp)->near_sms;
    return (side ^ mixed(sector / LINE_OF) >> 40) & 1;
}

/* When what is asked for now is in the L2: DRAM takes its time for what nobody has asked for before
 * in the launch, and who asks meanwhile waits for the same. */
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

/* When an access is served that comes to a sector of the L2 now, and those that come behind it
 * wait, for so many hundredths of a cycle. */
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

/* Where those wait that want this sector; NULL: blocks do not run in the order of time. */
static inline L2Contention *interblock_place(const Warp *warp, uint64_t sector)
{
    L2Contention *queue = warp->worker->launch->interblock.queue;
    return queue ? &queue[mixed(sector) >> 52] : NULL;
}

/* Does somebody look at what is changed there now? */
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

/* Nobody waits for a store, but for its sector. */
static inline void interblock_store(const Warp *warp, uint64_t sector)
{
    L2Contention *place = interblock_place(warp, sector);
    if (place && is_polled(warp, place))
        interblock_serve(warp, place, sector, costs_of(warp)->polled_store_percent);
}

/* A look at a sector.  One half of the L2 has what an atomic has left there; the other one asks for
 * it, once, when somebody looks, and who looks meanwhile waits for the same. */
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

/* What the access just made waited for others, and before it the warp in vain, goes into its chain
 * and its trace. */
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
    /* Its lanes share the result by shuffles: what comes behind waits for them. */
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
