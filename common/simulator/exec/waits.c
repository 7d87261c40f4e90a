/* waits.c - warps that wait for the phase of an mbarrier or for the barrier of a cluster. Warps
 * that would wait forever are detected here, and the report names the wait. */
#include "common/simulator/checks/report.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/exec/exec_parts.h"

int phase_look(Warp *warp)
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
