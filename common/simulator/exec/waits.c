/* waits.c - warps that wait for others: at a barrier of the block, for a phase of an mbarrier, or
 * at the barrier of a cluster.  A warp that would wait for ever is found here and reported. */
#include <string.h>

#include "common/simulator/checks/report.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/exec/exec_parts.h"
#include "common/simulator/timing/critical_path.h"

/* ---- barriers ----------------------------------------------------------------------------- */
/* bar.red: writes the reduction of the waiting warps' predicates into each warp's register. */
static void barrier_reduce(Block *block, uint32_t id)
{
    uint32_t count = 0, threads = 0;
    for (uint32_t w = 0; w < block->warps; w++) {
        Warp *warp = &block->warp[w];
        if (warp->state != WARP_BARRIER || warp->barrier.id != id ||
            warp->barrier.ins->c == NO_SLOT)
            continue;
        uint32_t p = *(uint32_t *)(void *)(warp->file + warp->barrier.ins->c);
        if (warp->barrier.ins->aux < BAR_POPC) continue;
        count += (uint32_t)__builtin_popcount(p & warp->mask);
        threads += (uint32_t)__builtin_popcount(warp->mask);
    }
    for (uint32_t w = 0; w < block->warps; w++) {
        Warp *warp = &block->warp[w];
        if (warp->state != WARP_BARRIER || warp->barrier.id != id ||
            warp->barrier.ins->aux < BAR_POPC)
            continue;
        uint32_t *d = (uint32_t *)(void *)(warp->file + warp->barrier.ins->d);
        if (warp->barrier.ins->aux == BAR_POPC) {
            for (uint32_t i = 0; i < LANES; i++)
                if (warp->mask >> i & 1) d[i] = count;
        } else {
            int yes = warp->barrier.ins->aux == BAR_AND ? count == threads : count != 0;
            *d = (*d & ~warp->mask) | (yes ? warp->mask : 0);
        }
    }
}

/* All warps that give a thread count at a barrier must give the same one. */
static void barrier_agree(Block *block, Warp *warp)
{
    uint32_t *expected = &block->expected[warp->barrier.id], wanted = warp->barrier.threads;
    if (!wanted) return;
    if (*expected && *expected != wanted)
        finding_add(warp, warp->barrier.ins, SIMT_SYNCCHECK, (uint32_t)__builtin_ctz(warp->mask), 0,
                    0,
                    "Barrier error: this warp counts %u threads at barrier %u, but another warp "
                    "counts %u: all warps must give the same count",
                    wanted, warp->barrier.id, *expected);
    *expected = wanted;
}

static void barrier_release(Block *block, uint32_t id)
{
    uint64_t latest = 0, chain = 0;
    barrier_reduce(block, id);
    for (uint32_t w = 0; w < block->warps; w++) {
        Warp *warp = &block->warp[w];
        if (warp->state != WARP_BARRIER || warp->barrier.id != id) continue;
        barrier_agree(block, warp);
        if (warp->clock > latest) latest = warp->clock;
        if (warp->chain.begin > chain) chain = warp->chain.begin;
    }
    for (uint32_t w = 0; w < block->warps; w++) {
        Warp *warp = &block->warp[w];
        if (warp->state != WARP_BARRIER || warp->barrier.id != id) continue;
        warp->state = WARP_READY;
        if (!warp->count) continue;
        warp->clock = latest;
        critical_wait_until(&warp->chain, chain + warp->worker->gpu->machine.costs.barrier_cycles);
    }
    block->arrived[id] = block->expected[id] = 0;
    block->warp->worker->epoch++;
}

int barriers_resolve(Block *block)
{
    uint32_t waiting[MAX_BARRIERS] = {0}, wanted[MAX_BARRIERS] = {0}, live = 0;
    int ready = 0;
    for (uint32_t w = 0; w < block->warps; w++) {
        Warp *warp = &block->warp[w];
        if (warp->state == WARP_BARRIER && warp->barrier.ins->aux == BAR_ARRIVE) {
            barrier_agree(block, warp);
            block->arrived[warp->barrier.id] += LANES;
            wanted[warp->barrier.id] = warp->barrier.threads;
            warp->state = WARP_READY;
        }
        if (warp->state == WARP_DONE) continue;
        live += LANES;
        ready |= warp->state == WARP_READY;
        if (warp->state != WARP_BARRIER) continue;
        waiting[warp->barrier.id] += LANES;
        wanted[warp->barrier.id] = warp->barrier.threads;
    }
    for (uint32_t id = 0; id < MAX_BARRIERS; id++) {
        if (!waiting[id] || waiting[id] + block->arrived[id] < (wanted[id] ? wanted[id] : live))
            continue;
        barrier_release(block, id);
        ready = 1;
    }
    return ready;
}

/* ---- lanes of a warp ------------------------------------------------------------------------ */
/* The lowest path on the stack with lanes that run in no other and wait for no others; -1: none. */
static int path_resting(const Warp *warp, uint32_t *lanes)
{
    for (uint32_t k = 0; k < warp->depth; k++) {
        const Path *path = &warp->stack[k];
        uint32_t own = path->mask & warp->alive, covered = warp->mask;
        int is_unique = 1;
        for (uint32_t i = k + 1; i < warp->depth; i++)
            covered |= warp->stack[i].mask, is_unique &= warp->stack[i].pc != path->pc;
        *lanes = own & ~covered;
        if (*lanes && !path->waits && (*lanes == own || is_unique)) return (int)k;
    }
    return -1;
}

/* The warp's current lanes poll; those of another path run instead of them. */
static int lanes_rotate(Warp *warp)
{
    uint32_t lanes;
    int at = warp->state == WARP_READY && warp->depth ? path_resting(warp, &lanes) : -1;
    if (at < 0) return 0;
    Path chosen = warp->stack[at];
    Path mine = {(uint32_t)(warp->pc - warp->code), warp->mask, warp->rpc, 0};
    int is_join = lanes != (chosen.mask & warp->alive);
    memmove(&warp->stack[at], &warp->stack[at + 1],
            (warp->depth - 1 - (uint32_t)at) * sizeof *warp->stack);
    warp->stack[warp->depth - 1] = mine;
    /* Lanes that would have reconverged with these do so at the next point. */
    for (uint32_t k = (uint32_t)at; is_join && k < warp->depth; k++)
        if (warp->stack[k].rpc == chosen.pc) warp->stack[k].rpc = chosen.rpc;
    warp->mask = lanes, warp->rpc = chosen.rpc, warp->yield.awaited = 0;
    warp->yield.has_switched = 1;
    warp->pc = warp->code + chosen.pc;
    return 1;
}

int blocks_rotate(Worker *worker, uint32_t count, uint32_t *rotations)
{
    enum { MOST = 1 << 12 };
    int rotated = 0;
    if (++*rotations > MOST) return 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t w = 0; worker[i].block.warp && w < worker[i].block.warps; w++)
            rotated |= lanes_rotate(&worker[i].warp[w]);
    return rotated;
}

/* ---- phases and clusters --------------------------------------------------------------------- */
int phase_poll(Warp *warp)
{
    warp->worker->handlers[OP_PHASE_LOOK](warp, warp->phase.ins);
    return warp->state == WARP_FAULT ? -1 : 0;
}

/* Number of cluster barriers that all live warps of these blocks have passed. */
static uint32_t cluster_phase(Worker *const *worker, uint32_t count)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < worker[i]->block.warps; w++) {
            const Warp *warp = &worker[i]->warp[w];
            if (warp->state != WARP_DONE && warp->barrier.cluster_arrivals < least)
                least = warp->barrier.cluster_arrivals;
        }
    return least;
}

int cluster_release(Worker *const *worker, uint32_t count)
{
    uint32_t phase = cluster_phase(worker, count);
    int woken = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < worker[i]->block.warps; w++) {
            Warp *warp = &worker[i]->warp[w];
            if (warp->state != WARP_CLUSTER || phase < warp->barrier.cluster_arrivals) continue;
            warp->state = WARP_READY, warp->barrier.cluster_waits = warp->barrier.cluster_arrivals;
            woken = 1;
        }
    for (uint32_t i = 0; woken && i < count; i++)
        worker[i]->epoch++;
    return woken;
}

/* A wait that may end early does so where other lanes of its warp could do what it waits for. */
static int phases_give_up(Worker *worker)
{
    enum { PATIENCE = 1 << 12 };
    int woken = 0;
    for (uint32_t w = 0; w < worker->block.warps; w++) {
        Warp *warp = &worker->warp[w];
        if (warp->state != WARP_PHASE || warp->phase.mask == warp->alive) continue;
        if (warp->phase.failed_polls++ > PATIENCE) continue;
        warp->state = WARP_READY;
        woken = 1;
    }
    return woken;
}

static Warp *warp_asleep(Worker *const *worker, uint32_t count, WarpState state)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < worker[i]->block.warps; w++)
            if (worker[i]->warp[w].state == state) return &worker[i]->warp[w];
    return NULL;
}

int blocks_wake(Worker *const *worker, uint32_t count)
{
    int woken = cluster_release(worker, count);
    for (uint32_t i = 0; i < count && !woken; i++)
        woken |= phases_give_up(worker[i]);
    if (woken) return 1;
    Warp *warp = warp_asleep(worker, count, WARP_PHASE);
    if (warp) {
        warp->worker->handlers[OP_PHASE_STUCK](warp, warp->phase.ins);
        return -1;
    }
    warp = warp_asleep(worker, count, WARP_CLUSTER);
    if (!warp) return 0;
    fault_at(warp, warp->phase.ins, SIMT_SYNCCHECK, (uint32_t)__builtin_ctz(warp->mask), 0, 0,
             "Barrier error: the cluster's barrier is never completed: other warps of the cluster "
             "wait elsewhere");
    return -1;
}

int warpgroups_agree(Worker *worker)
{
    for (uint32_t w = 0; w + 1 < worker->block.warps; w++) {
        Warp *one = &worker->warp[w], *other = &worker->warp[w + 1];
        if (w % 4 == 3 || one->wgmma.count == other->wgmma.count) continue;
        if (one->wgmma.count < other->wgmma.count) one = other, other = &worker->warp[w];
        fault_at(one, one->wgmma.ins, SIMT_SYNCCHECK, 0, 0, 0,
                 "Barrier error: in one warpgroup, warp %u executed %u wgmma instructions and warp "
                 "%u executed %u: all four warps must execute each",
                 one->index, one->wgmma.count, other->index, other->wgmma.count);
        return 0;
    }
    return 1;
}
