/* critical_path.h - the least time that a warp takes, were it alone on the machine: the latencies
 * that it must wait for, one after another.
 *
 * Within a basic block, instructions may issue in any order, each when its operands are available;
 * the next block starts when all of them have issued. Therefore no order that schedule.c could
 * choose, and no other warp, makes a warp faster. Latencies are those of replay.c, except for
 * DRAM's: here all loads hit in the L1 or the L2. */
#ifndef CONVLAB_SIMT_CHAIN_H
#define CONVLAB_SIMT_CHAIN_H

#include "common/simulator/core/core.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/ptxas/latency.h"
#include "common/simulator/ptxas/schedule.h"
#include "common/simulator/timing/timer.h"
#include "common/simulator/ptxas/unroll.h"

/* The costs of the machine that the warp runs on. */
static inline const MachineCosts *costs_of(const Warp *warp)
{
    return &warp->worker->gpu->machine.costs;
}

/* Latency of a read through the texture units that hits in the L1. It consists of `cycles` of the
 * units, first for the look-up and then for the filter, and the path in both directions. The latter
 * is part of texture_latency, which includes the cycles of one texel per lane. A read with an
 * integer index is looked up earlier. */
static inline uint64_t texture_cycles(const SimtMachine *machine, const Ins *ins, uint32_t cycles)
{
    uint32_t single = (LANES + machine->texture_units - 1) / machine->texture_units;
    uint32_t sooner = ins->aux >> TEXTURE_BY_FLOAT & 1 ? 0 : machine->costs.texture_index_sooner;
    uint64_t all = (uint64_t)machine->texture_latency + 2 * (uint64_t)cycles;
    return all > 2 * single + sooner ? all - 2 * single - sooner : 1;
}

/* Latency that an inter-block access saves if its SM is next to the L2 partition; l2_latency and
 * ATOMIC_CYCLES are averages over all distances. */
static inline uint64_t interblock_nearer(const SimtMachine *machine, const Ins *ins)
{
    const MachineCosts *costs = &machine->costs;
    if (ins->class != CLASS_ATOMIC || costs->l2_halves < 2) return costs->l2_nearer_cycles;
    return costs->l2_nearer_cycles + costs->atomic_cycles - costs->atomic_near_cycles;
}

/* Minimum time of a fence that follows the instruction; 0: no effect. */
static inline int delays_fence(const MachineCosts *costs, const Ins *ins)
{
    int far = ins->space == PTX_GLOBAL || ins->space == PTX_SPACE_NONE,
        returns = ins->class == CLASS_ATOMIC && ins->order & ORDER_READS;
    if (ins->class == CLASS_STORE || (far && returns)) return (int)costs->fence_written_cycles;
    return far && (ins->class == CLASS_LOAD || ins->class == CLASS_ATOMIC)
               ? (int)costs->fence_loaded_cycles
               : 0;
}

static inline void fence_delay(int *before, const MachineCosts *costs, const Ins *ins)
{
    int cycles = delays_fence(costs, ins);
    if (cycles > *before) *before = cycles;
}

/* The same if blocks run in time order, depending on the L2 partition of the accessed data. */
static inline void fence_delay_timed(int *before, const Warp *warp, const Ins *ins)
{
    const MachineCosts *costs = costs_of(warp);
    int cycles = warp->interblock.is_across ? costs->fence_far_cycles : costs->fence_near_cycles;
    if (delays_fence(costs, ins) && cycles > *before) *before = cycles;
}

/* Does it invalidate the L1? SASS for sm_90 has a CCTL.IVALL after each fence with gpu scope, and
 * after an acquire with that scope. */
static inline int invalidates_l1(const Ins *ins)
{
    return (ins->op == OP_FENCE && ins->aux) || ins->order & ORDER_INVALIDATES_L1;
}

/* Does its trace step have a result delay in addition to passes (RESULT_DELAY_UNIT)?  A matrix is
 * loaded by several accesses and has none. */
static inline int has_result_delay(const Ins *ins)
{
    return ins->class == CLASS_LOAD && ins->op != OP_TENSOR_MATRIX;
}

/* A copy that bypasses the L1; count_copied computes its cost. */
static inline int is_copy_past(const Ins *ins)
{
    return ins->op == OP_CP_ASYNC && ins->aux;
}

/* Cycles until the L1 has looked up the lines of a store, or of a copy that bypasses it: two per
 * cycle. */
static inline uint32_t lookups_past(uint32_t lines)
{
    return (lines + 1) / 2;
}

/* Additional latency of a load from shared memory over its passes: each further word of a bank
 * arrives two cycles after the previous one, on an H200 for each of 60 strides and widths. Matrix
 * loads were not measured. */
static inline uint32_t conflicts_behind(const Ins *ins, uint32_t passes)
{
    return ins->op == OP_TENSOR_MATRIX || !passes ? 0 : passes - 1;
}

/* Time for which a fence blocks its warp; clears `before`. */
static inline uint64_t fence_cycles(int *before, const MachineCosts *costs)
{
    uint64_t cycles = *before ? (uint64_t)*before : costs->fence_cycles;
    *before = 0;
    return cycles;
}

/* A release with gpu scope waits, like a fence, for all earlier writes of its warp. */
static inline uint64_t release_cycles(const Ins *ins, int *before, const MachineCosts *costs)
{
    return ins->order & ORDER_FENCES ? fence_cycles(before, costs) : 0;
}

/* SASS instructions of the routine for the rare cases of a division on sm_90, measured for a
 * division of zero; most of them depend on the previous one. */
static inline uint32_t rare_slots(const MachineCosts *costs, const Ins *ins, int is_slow_path)
{
    if (!may_be_rare(ins) || !is_slow_path) return 0;
    return ins->op == OP_DIV_F32 ? costs->rare_float_slots : costs->rare_double_slots;
}

/* Time of the warp in the routine: doubles take twice as long, and the lanes diverge. */
static inline uint64_t rare_cycles(const MachineCosts *costs, const Ins *ins, int is_slow_path)
{
    uint64_t slots = rare_slots(costs, ins, is_slow_path);
    if (!slots) return 0;
    if (ins->op == OP_DIV_F64) slots += costs->rare_double_alus;
    return slots * costs->rare_slot_cycles + costs->divergence_cycles;
}

/* A match compares all lanes with one value after the other; each comparison takes the time of a
 * special function in its unit (match-...). */
static inline uint64_t match_cycles(const Ins *ins, uint32_t values, const InsCost *price)
{
    return ins->op == OP_MATCH ? (uint64_t)values * price->busy : 0;
}

/* The values of one warp are compared at longer intervals than the unit needs, and other warps use
 * it meanwhile (equal-...): additional latency over a match with one value. */
static inline uint64_t match_later(const MachineCosts *costs, const Ins *ins, uint32_t values)
{
    return ins->op == OP_MATCH && values ? (uint64_t)costs->match_value_cycles * (values - 1) : 0;
}

static inline uint64_t critical_end(const CriticalPath *chain, uint32_t issue_cycles)
{
    uint64_t issued = chain->begin + chain->slots * issue_cycles;
    return issued > chain->latest ? issued : chain->latest;
}

static inline void critical_open(CriticalPath *chain, const SimtKernel *kernel,
                                 const MachineCosts *costs)
{
    *chain = (CriticalPath){.ready = chain->ready,
                            .begin = costs->block_start_cycles,
                            .latest = costs->block_start_cycles};
    for (uint32_t i = 0; i < kernel->scoreboard; i++)
        chain->ready[i] = 0;
}

/* All later instructions wait until `cycle`. */
static inline void critical_wait_until(CriticalPath *chain, uint64_t cycle)
{
    chain->begin = chain->latest = cycle;
    chain->slots = 0;
}

/* Does it wait only for its operands and delay no later instruction? Nearly all executed
 * instructions are of this kind. */
static inline int critical_is_plain(const SimtKernel *kernel, const MachineCosts *costs,
                                    const Ins *ins, const InsCost *price)
{
    int waits = ins->order & ORDER_FENCES || invalidates_l1(ins) || ins->op == OP_CP_WAIT ||
                ins->merge == MERGE_FOLLOWER,
        tells = (kernel->traits.has_fences && delays_fence(costs, ins)) || ins->op == OP_CP_ASYNC ||
                ins->merge;
    return !waits && !tells && ins->shared_atomic != SHARED_RETRIES && !price->saves &&
           !price->last && ins->op != OP_ACCELERATOR && ins->op != OP_MATCH &&
           ins->op != OP_NANOSLEEP;
}

/* Cycle at which its operands are available. */
static inline uint64_t critical_ready(const CriticalPath *chain, const Ins *ins)
{
    uint64_t at = chain->begin;
    for (int i = 0; i < 6; i++)
        if (chain->ready[ins->t_s[i]] > at) at = chain->ready[ins->t_s[i]];
    return at;
}

/* Issues it at `at`, unless it is folded into another one; returns the cycle at which its result is
 * available. */
static inline uint64_t critical_issue(Warp *warp, const Ins *ins, const InsCost *price, uint64_t at)
{
    CriticalPath *chain = &warp->chain;
    if (!price->slots) return at;
    chain->slots += price->slots;
    if (at > chain->latest) chain->latest = at;
    if (!is_memory(ins)) return at + price->latency;
    return warp->step.latency ? at + warp->step.latency - 1 : at;
}

static inline void critical_result(CriticalPath *chain, const Ins *ins, uint64_t result)
{
    for (int i = 0; i < 4 && ins->t_d[i]; i++)
        chain->ready[ins->t_d[i]] = result;
}

/* When the next instruction of the warp goes, since the launch began. */
static inline uint64_t critical_now(const Warp *warp)
{
    const Worker *worker = warp->worker;
    return worker->progress.begun + critical_end(&warp->chain, worker->gpu->machine.issue_cycles);
}

/* Cycle at which a warp wakes that goes to sleep at a cycle of its critical path. */
static inline uint64_t critical_wake(const Warp *warp, uint64_t cycle)
{
    const Worker *worker = warp->worker;
    uint64_t from =
        worker->progress.begun + cycle + (uint64_t)costs_of(warp)->sleep_cycles * warp->step.sleeps;
    return sleep_end(&worker->gpu->machine, from, warp->step.sleep_cycles) - worker->progress.begun;
}

/* One that is not plain. */
static inline void critical_step_other(Warp *warp, const Ins *ins, const InsCost *price,
                                       uint32_t issue_cycles)
{
    CriticalPath *chain = &warp->chain;
    const MachineCosts *costs = costs_of(warp);
    uint64_t release = release_cycles(ins, &chain->before, costs);
    if (release) critical_wait_until(chain, critical_end(chain, issue_cycles) + release);
    const int timed = warp->worker->launch->interblock.queue != NULL;
    if (timed && costs->l2_halves > 1)
        fence_delay_timed(&chain->before, warp, ins);
    else
        fence_delay(&chain->before, costs, ins);
    if (invalidates_l1(ins)) warp->block->l1_since = warp->worker->l1.clock;
    uint64_t at = critical_ready(chain, ins), result;
    /* A predicate has additional latency, which determines the time of a polling iteration. */
    uint64_t decided = chain->ready[ins->t_s[GUARD_SOURCE]] + price->guarded;
    if (timed && price->guarded && decided > at) at = decided;
    if (ins->op == OP_CP_WAIT && (ins->imm || !ins->aux) && chain->copied > at) at = chain->copied;
    result = critical_issue(warp, ins, price, at) + match_later(costs, ins, warp->step.values);
    if (!price->slots && ins->merge == MERGE_FOLLOWER) result = chain->joined;
    critical_result(chain, ins, result);
    if (ins->op == OP_CP_ASYNC && result > chain->copied) chain->copied = result;
    if (ins->merge && ins->merge != MERGE_FOLLOWER) chain->joined = result;
    if (ins->shared_atomic == SHARED_RETRIES)
        critical_wait_until(chain, critical_end(chain, issue_cycles) + warp->step.passes /
                                                                           costs->retry_passes *
                                                                           costs->retry_own_cycles);
    /* With four unrolled iterations, only the last branch ends a basic block. */
    if (price->saves && chain->iterations) return;
    if (!price->last && ins->op != OP_ACCELERATOR && ins->op != OP_NANOSLEEP) return;
    uint64_t hold = ins->op == OP_ACCELERATOR ? warp->step.cycles : 0;
    if (ins->class == CLASS_BRANCH && price->slots) hold = costs->branch_cycles;
    if (ins->op == OP_FENCE) hold = fence_cycles(&chain->before, costs);
    if (ins->op == OP_FENCE && timed)
        warp->step.kind = STEP_WAIT, warp->step.wait_cycles = (uint32_t)hold; /* for the replay */
    uint64_t end = critical_end(chain, issue_cycles) + hold;
    if (ins->op == OP_MBARRIER && warp->phase.complete_at > end) end = warp->phase.complete_at;
    if (ins->op == OP_NANOSLEEP) end = critical_wake(warp, end);
    critical_wait_until(chain, end);
}

/* After `ins` was executed and its access, if any, counted. */
static inline void critical_step(Warp *warp, const Ins *ins, const InsCost *price,
                                 uint32_t issue_cycles)
{
    if (price->plain)
        critical_result(&warp->chain, ins,
                        critical_issue(warp, ins, price, critical_ready(&warp->chain, ins)));
    else
        critical_step_other(warp, ins, price, issue_cycles);
}

#endif
