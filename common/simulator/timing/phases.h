/* phases.h - asynchronous operations in the replay: phases of mbarriers, bulk copies, MMAs of
 * warpgroups, and barriers of some warps.
 *
 * A trace names the phase of the mbarrier that an instruction counts for or waits for, numbered
 * throughout the block (Block.phase). A wait ends when all operations that count for its phase have
 * been issued and have arrived. Operations of other blocks of the cluster are not modelled and
 * count as arrived. */
#ifndef CONVLAB_SIMT_PHASES_H
#define CONVLAB_SIMT_PHASES_H

#include <stdlib.h>

#include "common/simulator/core/core.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"

enum { GROUPS_KEPT = 4 };

typedef struct Phase {
    uint32_t left; /* operations of the phase that have not been issued */
    uint64_t at;   /* arrival time of the latest issued one */
} Phase;

typedef struct Phases {
    Phase *phase;
    uint32_t count;
    uint32_t arrived[MAX_BARRIERS]; /* warps at a barrier of some */
} Phases;

/* Asynchronous groups of a warp: the completion time of the latest operation, and of the latest
 * groups. */
typedef struct Groups {
    uint64_t latest, committed[GROUPS_KEPT];
} Groups;

static inline int mbarrier_waits(const Ins *ins)
{
    uint32_t kind = ins->aux & MBARRIER_KIND;
    return ins->op == OP_MBARRIER && (kind == MBARRIER_TEST || kind == MBARRIER_TRY);
}

static inline int counts_for_phase(const Ins *ins)
{
    return ins->op == OP_BULK_COPY || ins->op == OP_VALUES_SEND ||
           (ins->op == OP_MBARRIER && !mbarrier_waits(ins));
}

/* Counts the phases of the block's traces; `any`: its kernel has such instructions. -1: out of
 * memory. */
static inline int phases_begin(Phases *phases, int any, const Ins *code, const BlockTrace *block,
                               uint32_t warps)
{
    uint32_t most = 0;
    *phases = (Phases){.phase = phases->phase, .count = phases->count};
    if (!any) return 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t w = 0; w < warps; w++)
            for (uint32_t i = 0; i < block->warp[w].count; i++) {
                const TraceStep *step = &block->warp[w].step[i];
                const Ins *ins = &code[step->ins];
                if (!counts_for_phase(ins) && !mbarrier_waits(ins)) continue;
                uint32_t phase = step_phase(step);
                if (pass)
                    phases->phase[phase].left += (uint32_t)counts_for_phase(ins);
                else if (phase >= most)
                    most = phase + 1;
            }
        if (pass || !most) return 0;
        if (most > phases->count) {
            Phase *grown = realloc(phases->phase, most * sizeof *grown);
            if (!grown) return -1;
            phases->phase = grown, phases->count = most;
        }
        for (uint32_t i = 0; i < phases->count; i++)
            phases->phase[i] = (Phase){0};
    }
    return 0;
}

static inline void groups_commit(Groups *groups)
{
    for (uint32_t i = GROUPS_KEPT - 1; i > 0; i--)
        groups->committed[i] = groups->committed[i - 1];
    groups->committed[0] = groups->latest;
}

/* When all groups but the latest `left` are done. */
static inline uint64_t groups_done(const Groups *groups, uint32_t left)
{
    return groups->committed[left < GROUPS_KEPT ? left : GROUPS_KEPT - 1];
}

#endif
