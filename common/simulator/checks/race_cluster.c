/* race_cluster.c - racecheck between the end of a block and accesses to its shared memory by other
 * blocks of the cluster.
 *
 * Shared memory exists until its block ends.  Therefore a block must wait for the accesses of the
 * others before it ends: at the cluster's barrier, or for a phase of an mbarrier at which they have
 * arrived.  An access after the end is a fault (exec_generic.h).  This file finds accesses that are
 * in time only because of the order in which the simulator executes blocks.
 *
 * The last access and the last arrival of each warp are recorded in the block that it visits.  If
 * the block waits for an arrival, everything that was recorded before it is ordered, too. */
#include <stdio.h>
#include <stdlib.h>

#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/core/async.h"

enum { VISIT_ACCESS, VISIT_ARRIVAL, VISIT_KINDS };

/* The slot of this warp and kind in the block that it visits, or NULL. */
static Visit *visit_slot(const Warp *warp, Block *block, int kind)
{
    const WorkerCluster *cluster = &warp->worker->cluster;
    uint32_t slots = cluster->peers * block->warps * VISIT_KINDS;
    if (!block->visit) block->visit = calloc(slots, sizeof *block->visit);
    if (!block->visit) return NULL; /* in this case nothing is reported */
    return &block->visit[(cluster->rank * block->warps + warp->index) * VISIT_KINDS +
                         (uint32_t)kind];
}

/* Kernels that order blocks by flags in memory are not checked. */
static int is_checked(const Warp *warp)
{
    const KernelTraits *traits = &warp->worker->kernel->traits;
    return warp->worker->race.is_on && !traits->has_fences && !traits->has_polling;
}

static Visit *visit_begin(Warp *warp, const Ins *ins, uint32_t lane, Block *block, int kind)
{
    Visit *visit = is_checked(warp) ? visit_slot(warp, block, kind) : NULL;
    if (!visit) return NULL;
    *visit = (Visit){.number = ++block->visits,
                     .ins = (uint32_t)(ins - warp->code),
                     .lane = (uint8_t)lane,
                     .cluster_arrivals = warp->barrier.cluster_arrivals};
    return visit;
}

void race_visit(Warp *warp, const Ins *ins, uint32_t lane, Block *block, uint32_t offset, int store)
{
    Visit *visit = visit_begin(warp, ins, lane, block, VISIT_ACCESS);
    if (visit) visit->offset = offset, visit->is_store = (uint8_t)store;
}

void race_arrival(Warp *warp, const Ins *ins, uint32_t lane, Block *block, uint32_t barrier,
                  uint32_t phase)
{
    Visit *visit = visit_begin(warp, ins, lane, block, VISIT_ARRIVAL);
    if (visit) visit->offset = barrier, visit->phase = phase;
}

static uint32_t visit_slots(const Worker *worker)
{
    return worker->cluster.peers * worker->block.warps * VISIT_KINDS;
}

void race_arrivals_known(Worker *worker, uint32_t barrier, uint32_t phase)
{
    Block *block = &worker->block;
    uint64_t known = 0;
    for (uint32_t i = VISIT_ARRIVAL; i < visit_slots(worker); i += VISIT_KINDS) {
        const Visit *visit = &block->visit[i];
        if (visit->offset == barrier && visit->phase != phase && visit->number > known)
            known = visit->number;
    }
    for (uint32_t i = 0; i < visit_slots(worker); i++)
        if (block->visit[i].number <= known) block->visit[i].number = 0;
}

static void visit_report(const Worker *worker, Warp *visitor, const Visit *visit, int kind)
{
    const uint32_t *id = worker->block.id;
    const Ins *ins = &visitor->code[visit->ins];
    char where[300], of[64];
    source_name(visitor->worker->kernel, ins->from, where, sizeof where);
    snprintf(of, sizeof of, "(%u,%u,%u)", id[0], id[1], id[2]);
    finding_add(visitor, ins, SIMT_RACECHECK, visit->lane, 0, 0,
                "Race reported between %s at %.150s, at offset 0x%x of the shared memory of block "
                "%s of the cluster, and the end of that block, which does not wait for it. Shared "
                "memory no longer exists when its block has ended. All blocks must synchronise "
                "(cluster.sync) before the first one ends",
                kind == VISIT_ARRIVAL ? "an arrival at an mbarrier"
                : visit->is_store     ? "Write access"
                                      : "Read access",
                where, visit->offset, of);
}

void race_visits_find(Worker *worker)
{
    const Block *block = &worker->block;
    uint32_t waits = 0;
    for (uint32_t w = 0; w < block->warps; w++)
        if (block->warp[w].barrier.cluster_waits > waits)
            waits = block->warp[w].barrier.cluster_waits;
    for (uint32_t i = 0; i < visit_slots(worker); i++) {
        const Visit *visit = &block->visit[i];
        uint32_t warp = i / VISIT_KINDS;
        if (!visit->number || waits > visit->cluster_arrivals) continue;
        Worker *peer = worker->cluster.peer[warp / block->warps];
        visit_report(worker, &peer->warp[warp % block->warps], visit, (int)(i % VISIT_KINDS));
    }
}
