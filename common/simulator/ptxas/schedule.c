/* schedule.c - prices of instructions, and the order in which ptxas would issue them.
 *
 * PTX contains one operation at a time, and a load is next to its first use. ptxas fuses a
 * multiplication with the address computation that uses it, splits 64-bit additions, and expands
 * divisions. It also predicates instructions that a short branch skips, and moves loads up as far
 * as their operands allow. The order is list scheduling of each basic block, with the longest
 * remaining latency as priority: the result of a compiler that knows the latencies and has enough
 * registers. */
#include "common/simulator/ptxas/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/accelerator.h"
#include "common/simulator/core/code_map.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/ptxas/liveness.h"
#include "common/simulator/ptxas/latency.h"
#include "common/simulator/ptxas/fuse.h"
#include "common/simulator/ptxas/register_pressure.h"
#include "common/simulator/ptxas/mma_cost.h"
#include "common/simulator/ptxas/unroll.h"
#include "common/simulator/core/async.h"

static int uses_count(const SimtKernel *kernel, Uses *uses)
{
    uses->read = calloc(kernel->scoreboard, sizeof *uses->read);
    uses->written = calloc(kernel->scoreboard, sizeof *uses->written);
    uses->writer = calloc(kernel->scoreboard, sizeof *uses->writer);
    if (!uses->read || !uses->written || !uses->writer) return -1;
    for (uint32_t i = 0; i < kernel->count; i++) {
        for (int k = 0; k < 6; k++)
            uses->read[kernel->code[i].t_s[k]]++;
        for (int k = 0; k < 4; k++) {
            uint16_t score = kernel->code[i].t_d[k];
            uses->written[score] += !uses->written[score] || uses->writer[score] != i;
            uses->writer[score] = i;
        }
    }
    return 0;
}

/* ---- prices ------------------------------------------------------------------------------- */

uint32_t cycles_for(uint32_t lanes, const SimtMachine *m)
{
    uint32_t each = lanes / m->schedulers ? lanes / m->schedulers : 1;
    return (LANES + each - 1) / each;
}

/* Class by pipe: the integer pipe also computes minima and maxima of floats, and since Ampere
 * converts integers to floats and floats to halves. A half is converted to a float by adding
 * zero. */
static OpClass class_of(const Ins *ins, const SimtMachine *m)
{
    const MachineCosts *costs = &m->costs;
    switch (ins->op) {
    case OP_MIN_F32:
    case OP_MAX_F32:
    case OP_CVT_F32_BF16:
        return CLASS_INT;
    case OP_CVT_F32_F16:
        return CLASS_FP32;
    case OP_CVT_F32_S32:
    case OP_CVT_F32_U32:
    case OP_CVT_F16_F32:
    case OP_CVT_BF16_F32:
        return costs->conversions_on_int_pipe ? CLASS_INT : (OpClass)ins->class;
    case OP_PACK_32:
        return ins->class == CLASS_SFU && costs->conversions_on_int_pipe ? CLASS_INT
                                                                         : (OpClass)ins->class;
    default:
        return (OpClass)ins->class;
    }
}

/* Instructions of ptxas around an atomic that one lane does for all: they vote, find the first lane
 * and what it is to add. */
static uint32_t joining_slots(const Ins *ins, const SimtMachine *m)
{
    const MachineCosts *costs = &m->costs;
    switch ((WarpAggregate)ins->joins) {
    case WARP_AGGREGATE_COUNT:
        return costs->aggregate_count_slots;
    case WARP_AGGREGATE_REDUCE:
        return costs->aggregate_reduce_slots;
    case WARP_AGGREGATE_SCAN:
        return costs->aggregate_scan_slots;
    default:
        return 0;
    }
}

/* Divisions, roots and reciprocals of floats, whose common case has no loop. */
static int is_single(const Ins *ins)
{
    return ins->op == OP_DIV_F32 || ins->op == OP_SQRT_F32 || ins->op == OP_RCP_F32;
}

/* Integer multiplications run on a pipe of their own, concurrently with additions: IMAD and IDP. */
static int is_integer_product(const Ins *ins)
{
    switch (ins->op) {
    case OP_MUL_32:
    case OP_MAD_32:
    case OP_MULWIDE_U32:
    case OP_MULWIDE_S32:
    case OP_MADWIDE_U32:
    case OP_MADWIDE_S32:
    case OP_MULHI_U32:
    case OP_MULHI_S32:
    case OP_MADHI_U32:
    case OP_MADHI_S32:
    case OP_DP4A_SS:
    case OP_DP4A_SU:
    case OP_DP4A_US:
    case OP_DP4A_UU:
        return 1;
    default:
        return 0;
    }
}

/* Divisions, roots and reciprocals of doubles: an estimate by the special function unit, then
 * `doubles` dependent FMAs of doubles; and a branch for rare values. */
static void doubles_expand(const Ins *ins, const SimtMachine *m, InsCost *p)
{
    const MachineCosts *costs = &m->costs;
    uint32_t doubles = ins->op == OP_DIV_F64 || ins->op == OP_SQRT_F64    ? 8
                       : ins->op == OP_RCP_F64 || ins->op == OP_RSQRT_F64 ? 5
                                                                          : 0,
             alus = costs->double_guess_alus + costs->double_step_alus * doubles +
                    costs->double_check_alus +
                    (ins->op == OP_DIV_F64 ? costs->double_round_alus : 0);
    if (!doubles) return;
    p->slots = (uint8_t)(costs->double_other_slots + doubles);
    p->pipe = PIPE_FP64, p->busy = (uint16_t)(doubles * cycles_for(m->fp64_lanes, m));
    p->latency = (uint16_t)(alus * (uint32_t)m->alu_latency);
}

/* A division of 64-bit integers on sm_90 is a routine of wide_division_slots instructions, most of
 * which depend on the previous one. */
static void wide_expand(const Ins *ins, const SimtMachine *m, InsCost *p)
{
    uint32_t slots = m->costs.wide_division_slots, alu = (uint32_t)m->alu_latency;
    if (!divides_wide(ins)) return;
    p->slots = (uint8_t)slots, p->latency = (uint16_t)(slots * (alu + 1));
}

/* Instructions around the special function unit: if a comparison detects a loss of precision, the
 * operand is scaled before and the result after; angles become fractions of a rotation. */
static void special_expand(const Ins *ins, const SimtMachine *m, InsCost *p)
{
    const MachineCosts *costs = &m->costs;
    uint32_t alu = (uint32_t)m->alu_latency, unit = alu * 9 / 2,
             late = alu + costs->predicate_cycles;
    p->slots = 1, p->latency = (uint16_t)unit;
    switch (ins->op) {
    case OP_SIN_F32:
    case OP_SIN_F32_FTZ:
    case OP_COS_F32:
    case OP_COS_F32_FTZ:
    case OP_CLZ_32:
        p->slots = 2, p->latency = (uint16_t)(unit + alu);
        break;
    case OP_EX2_F32:
    case OP_LG2_F32:
    case OP_SQRT_F32:
    case OP_RSQRT_F32:
        p->slots = (uint8_t)costs->special_scaled_slots,
        p->latency = (uint16_t)(late + 2 * alu + unit);
        break;
    case OP_MATCH:
    case OP_REDUX:
        p->slots = 2, p->latency = (uint16_t)(6 * alu);
        break;
    case OP_RCP_F32:
        p->slots = (uint8_t)costs->reciprocal_slots, p->latency = (uint16_t)(5 * alu + unit);
        break;
    case OP_DIVAPPROX_F32:
    case OP_DIVAPPROX_F32_FTZ:
        p->slots = (uint8_t)costs->quotient_slots, p->latency = (uint16_t)(late + 3 * alu + unit);
        break;
    default:
        break;
    }
}

static InsCost price_of(const Ins *ins, const SimtKernel *kernel, const SimtMachine *m)
{
    const MachineCosts *costs = &m->costs;
    uint32_t alu = (uint32_t)m->alu_latency;
    InsCost p = {.slots = 1, .latency = (uint16_t)alu, .wait = STALL_WAIT};
    switch (class_of(ins, m)) {
    case CLASS_FREE:
        p.slots = 0, p.latency = 0;
        break;
    case CLASS_INT_WIDE:
        p.slots = is_add_64(ins) ? 2 : 1;
        p.pipe = PIPE_INT, p.busy = (uint16_t)(p.slots * cycles_for(m->int32_lanes, m));
        p.latency = (uint16_t)(alu + (p.slots > 1 ? alu : 1));
        break;
    case CLASS_INT:
        p.pipe = PIPE_INT, p.busy = (uint16_t)cycles_for(m->int32_lanes, m);
        break;
    case CLASS_FP32:
        p.pipe = PIPE_FP32, p.busy = (uint16_t)cycles_for(m->fp32_lanes, m);
        break;
    case CLASS_FP64:
        p.pipe = PIPE_FP64, p.busy = (uint16_t)cycles_for(m->fp64_lanes, m);
        p.latency = (uint16_t)(alu * 2);
        break;
    case CLASS_SFU:
        p.pipe = PIPE_SFU, p.busy = (uint16_t)cycles_for(m->sfu_lanes, m);
        p.wait = STALL_SPECIAL;
        special_expand(ins, m, &p);
        break;
    case CLASS_DIV:
        p.slots = 15, p.pipe = PIPE_SFU, p.busy = (uint16_t)(2 * cycles_for(m->sfu_lanes, m));
        p.latency = (uint16_t)(alu * (is_single(ins) ? 15 : 35)), p.wait = STALL_SPECIAL;
        if (ins->op == OP_DIVAPPROX_F32 || ins->op == OP_DIVAPPROX_F32_FTZ)
            special_expand(ins, m, &p);
        doubles_expand(ins, m, &p);
        wide_expand(ins, m, &p);
        break;
    case CLASS_TENSOR:
        mma_cost(ins, kernel, m, &p);
        break;
    case CLASS_LOAD:
    case CLASS_ATOMIC:
        p.latency = (uint16_t)costs->load_ahead_cycles;
        p.wait =
            ins->op == OP_LD_LOCAL || ins->op == OP_SPILL ? STALL_LOCAL : STALL_LONG_SCOREBOARD;
        p.slots = (uint8_t)(1 + joining_slots(ins, m) + (ins->part[1] != 0));
        break;
    case CLASS_SHARED_LOAD:
        p.latency = (uint16_t)costs->shared_ahead_cycles, p.wait = STALL_SHORT_SCOREBOARD;
        p.slots = ins->merge == MERGE_FOLLOWER ? 0 : ins->part[1] ? 2 : 1;
        break;
    case CLASS_STORE:
    case CLASS_SHARED_STORE:
        p.slots = ins->merge != MERGE_FOLLOWER;
        break;
    default:
        break;
    }
    if (is_integer_product(ins) && costs->imad_pipe) p.pipe = PIPE_IMAD;
    if (ins->op == OP_CLOCK) p.latency = (uint16_t)costs->clock_read_cycles;
    if (ins->op == OP_ALLOCA) /* a difference, and its low bits taken off */
        p.slots = 2, p.busy = (uint16_t)(2 * p.busy), p.latency = (uint16_t)costs->alloca_cycles;
    if (ins->op == OP_ACCELERATOR) p.slots = (uint8_t)accelerator_slots((Accelerator)ins->aux);
    return p;
}

static int is_division_32(const Ins *ins)
{
    return ins->op == OP_DIV_U32 || ins->op == OP_DIV_S32 || ins->op == OP_REM_U32 ||
           ins->op == OP_REM_S32;
}

static InsCost invariant_price(const Ins *ins, const SimtMachine *m)
{
    const MachineCosts *costs = &m->costs;
    int is_unsigned = ins->op == OP_DIV_U32 || ins->op == OP_REM_U32;
    uint32_t slots = is_unsigned ? costs->invariant_unsigned_slots : costs->invariant_signed_slots;
    return (InsCost){
        .slots = (uint8_t)slots,
        .pipe = PIPE_INT,
        .busy = (uint16_t)((slots - costs->invariant_products) * cycles_for(m->int32_lanes, m)),
        .latency = (uint16_t)(costs->invariant_alus * m->alu_latency),
        .wait = STALL_WAIT};
}

/* A division by a loop invariant: ptxas moves the reciprocal out of the loop if no branch precedes
 * the division. A multiplication and two corrections remain in the loop. */
static void divisions_hoist(const SimtKernel *kernel, InsCost *price, const Uses *uses,
                            const SimtMachine *m)
{
    const Ins *code = kernel->code;
    for (uint32_t to = 0; to < kernel->count; to++) {
        if (!is_backward_branch(code, to)) continue;
        uint32_t head = code[to].target;
        for (uint32_t i = head; i < to && i - head < PIECE; i++) {
            uint16_t divisor = code[i].t_s[1];
            if ((code[i].class == CLASS_BRANCH && price[i].slots) || code[i].op == OP_EXIT) break;
            if (!is_division_32(&code[i]) || code[i].guard != NO_SLOT || !divisor) continue;
            int stays = uses->writer[divisor] < head || uses->writer[divisor] > to;
            if (uses->written[divisor] == 1 && stays) price[i] = invariant_price(&code[i], m);
        }
    }
}

/* Is this instruction a barrier to scheduling? */
static int parts_code(const Ins *ins)
{
    return ins->class == CLASS_BRANCH || ins->class == CLASS_BARRIER || ins->op == OP_JOIN ||
           ins->op == OP_EXIT || ins->op == OP_ACCELERATOR || ins->op == OP_NANOSLEEP;
}

/* Number of instructions that the branch skips, if they are few and simple and all lanes reconverge
 * directly after them; else 0. */
static uint32_t branch_skips(const Ins *code, uint32_t at, const SimtMachine *m)
{
    const Ins *branch = &code[at];
    if (branch->op != OP_BRA_P || branch->class != CLASS_BRANCH) return 0;
    if (branch->target != branch->reconv || branch->target <= at) return 0;
    uint32_t skips = branch->target - at - 1;
    for (uint32_t i = at + 1; i < branch->target; i++)
        if (parts_code(&code[i])) return 0;
    return skips <= m->costs.predicated_instructions ? skips : 0;
}

/* Hopper's 64-bit additions have no operand in constant memory: a predicated instruction loads the
 * kernel parameter each time. */
static void parameter_load(const SimtKernel *kernel, const Ins *ins, InsCost *price,
                           uint32_t cycles)
{
    for (int s = 0; s < 2 && is_add_64(ins); s++) {
        if (!ins->t_s[s] || kernel->width[ins->t_s[s]]) continue;
        price->slots++, price->latency = (uint16_t)(price->latency + cycles);
        return;
    }
}

/* A short forward branch becomes the predicate of the instructions that it skips. It is then no
 * barrier to scheduling, and neither is its JOIN, unless other branches reconverge there. */
static void branches_fold(SimtKernel *kernel, InsCost *price, const SimtMachine *machine)
{
    Ins *code = kernel->code;
    for (uint32_t i = 0; i < kernel->count; i++) {
        uint32_t skips = branch_skips(code, i, machine);
        if (!skips) continue;
        price[i].slots = 0, price[i].latency = 0, price[i].guards = (uint8_t)skips;
        price[i].passed = price[code[i].target].passed = 1;
        for (uint32_t k = i + 1; k < code[i].target; k++) {
            if (!code[k].t_s[GUARD_SOURCE]) code[k].t_s[GUARD_SOURCE] = code[i].t_s[GUARD_SOURCE];
            if (machine->costs.constant_operand_cycles)
                parameter_load(kernel, &code[k], &price[k], machine->costs.constant_operand_cycles);
        }
    }
    for (uint32_t i = 0; i < kernel->count; i++)
        if (code[i].reconv < kernel->count && !price[i].passed) price[code[i].reconv].passed = 0;
}

/* A variable that is initialised with a constant and has other values later is a register, because
 * ptxas cannot fold the constant into its readers. */
static void variables_begin(const SimtKernel *kernel, InsCost *price, const Uses *uses,
                            const SimtMachine *machine)
{
    for (uint32_t i = 0; i < kernel->count; i++) {
        const Ins *ins = &kernel->code[i];
        int moves = (ins->op == OP_MOV_32 || ins->op == OP_MOV_64) && ins->class == CLASS_FREE,
            folded = !ins->t_s[0] || !kernel->width[ins->t_s[0]];
        if (moves && folded && !ins->pseudo && uses->written[ins->t_d[0]] > 1)
            price[i].slots = 1, price[i].latency = (uint16_t)machine->alu_latency;
    }
}

/* Predicates of comparisons have additional latency; for other writers, such as a wait at an
 * mbarrier, the latency applies until the following branch. */
static void guards_mark(const SimtKernel *kernel, InsCost *price, const Uses *uses,
                        const SimtMachine *m)
{
    for (uint32_t i = 0; i < kernel->count; i++) {
        uint16_t guard = kernel->code[i].t_s[GUARD_SOURCE];
        const Ins *writer = &kernel->code[uses->writer[guard]];
        if (guard && (compares(writer) || joins_predicates(writer)))
            price[i].guarded = (uint8_t)m->costs.predicate_cycles;
    }
}

/* "@p bra A; bra B; A:" is one branch to B. */
static void branches_turn(const SimtKernel *kernel, InsCost *price)
{
    const Ins *code = kernel->code;
    for (uint32_t i = 1; i < kernel->count; i++) {
        const Ins *before = &code[i - 1];
        if (code[i].op != OP_BRA || code[i].class != CLASS_BRANCH || before->op != OP_BRA_P)
            continue;
        if (before->target == i + 1) price[i].slots = 0, price[i].latency = 0;
    }
}

/* ---- order -------------------------------------------------------------------------------- */

int segment_ends(const Ins *ins, const InsCost *price)
{
    /* A division's rare cases are a routine that code branches to; and what has no instruction in
     * shared memory is a loop. */
    int loops = ins->shared_atomic == SHARED_RETRIES;
    return (parts_code(ins) || is_single(ins) || loops) && !price->passed;
}

static int is_writer(const Ins *ins)
{
    return ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE ||
           ins->class == CLASS_ATOMIC;
}

/* Must instruction `k` stay after `i`? */
static int depends(const Ins *code, const InsCost *price, uint32_t i, uint32_t k)
{
    const Ins *earlier = &code[i], *later = &code[k];
    if (earlier->op == OP_SPILL || later->op == OP_SPILL) return 0;
    if (k - i <= price[i].guards) return 1;
    for (int d = 0; d < 4 && earlier->t_d[d]; d++) {
        for (int s = 0; s < 6; s++)
            if (later->t_s[s] == earlier->t_d[d]) return 1;
        for (int e = 0; e < 4 && later->t_d[e]; e++)
            if (later->t_d[e] == earlier->t_d[d]) return 1;
    }
    for (int s = 0; s < 6; s++)
        for (int d = 0; earlier->t_s[s] && d < 4 && later->t_d[d]; d++)
            if (later->t_d[d] == earlier->t_s[s]) return 1;
    if (!is_memory(earlier) || !is_memory(later)) return 0;
    if (earlier->read_only || later->read_only) return 0;
    return (is_writer(earlier) || is_writer(later)) && earlier->space == later->space;
}

/* Reads `later` what `earlier` makes? */
static int reads_of(const Ins *earlier, const Ins *later)
{
    for (int d = 0; d < 4 && earlier->t_d[d]; d++)
        for (int s = 0; s < 6; s++)
            if (later->t_s[s] == earlier->t_d[d]) return 1;
    return 0;
}

/* Cycles from instruction `i` to `k`, which depends on it. An instruction that is ordered after an
 * atomic only because both may change the same memory does not wait for its completion. */
static uint32_t latency_between(const Ins *code, const InsCost *price, uint32_t i, uint32_t k)
{
    if (code[i].class == CLASS_ATOMIC && !reads_of(&code[i], &code[k])) return price[i].slots;
    int is_guard = code[k].t_s[GUARD_SOURCE] && code[k].t_s[GUARD_SOURCE] == code[i].t_d[0];
    return price[i].latency + (is_guard ? price[k].guarded : 0u);
}

/* Longest latency from the start of each instruction to the end of the basic block. */
static void heights_find(const Ins *code, const InsCost *price, uint32_t count, uint32_t *height)
{
    for (uint32_t i = count; i-- > 0;) {
        height[i] = price[i].latency;
        for (uint32_t k = i + 1; k < count; k++) {
            uint32_t here = height[k] + latency_between(code, price, i, k);
            if (here > height[i] && depends(code, price, i, k)) height[i] = here;
        }
    }
}

/* Its last instruction, a branch or barrier, stays last. */
void piece_order(const SimtKernel *kernel, const Ins *code, InsCost *price, uint32_t count,
                 const uint64_t *alive)
{
    RegisterPressure pressure;
    uint32_t height[PIECE], before[PIECE] = {0};
    unsigned char done[PIECE] = {0};
    uint32_t free_end =
        count && segment_ends(&code[count - 1], &price[count - 1]) ? count - 1 : count;
    pressure_open(&pressure, code, price, count, kernel, alive);
    heights_find(code, price, count, height);
    for (uint32_t k = 0; k < free_end; k++)
        for (uint32_t i = 0; i < k; i++)
            before[k] += (uint32_t)depends(code, price, i, k);
    for (uint32_t rank = 0; rank < free_end; rank++) {
        uint32_t best = free_end;
        int32_t least = 0;
        for (uint32_t k = 0; k < free_end; k++) {
            if (done[k] || before[k]) continue;
            /* Instructions for which the registers suffice come first; else those that need the
             * fewest, in the order of the PTX, which has enough registers. */
            int32_t lacks = pressure_lacks(&pressure, k);
            int later = lacks > 0 || height[k] <= height[best < free_end ? best : k];
            if (best < free_end && (lacks > least || (lacks == least && later))) continue;
            best = k, least = lacks;
        }
        pressure_issue(&pressure, best);
        done[best] = 1;
        price[best].rank = rank;
        for (uint32_t k = best + 1; k < free_end; k++)
            if (!done[k]) before[k] -= (uint32_t)depends(code, price, best, k);
    }
    if (free_end < count) price[free_end].rank = free_end;
}

/* The same with the order of SASS. Instructions that SASS lacks, or places after their readers, are
 * placed before their readers. */
static void piece_follow(const SimtKernel *kernel, uint32_t from, InsCost *price, uint32_t count)
{
    const Ins *code = kernel->code + from;
    uint32_t free_end =
        count && segment_ends(&code[count - 1], &price[count - 1]) ? count - 1 : count;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t place = code[i].op == OP_SPILL            ? code[i].mem + 1
                         : code[i].from >= kernel->origins ? 0
                                                           : kernel->cubin.order[code[i].from];
        uint32_t rank = place && i < free_end ? place : UINT32_MAX;
        for (uint32_t k = i + 1; k < free_end; k++)
            if (price[k].rank < rank && depends(code, price, i, k)) rank = price[k].rank;
        price[i].rank = rank;
    }
}

static void pieces_order(const SimtKernel *kernel, InsCost *price, Liveness *alive)
{
    uint32_t part = 0;
    for (uint32_t from = 0; from < kernel->count;) {
        uint32_t to = from;
        while (to < kernel->count && to - from < PIECE) {
            int last = segment_ends(&kernel->code[to], &price[to]);
            price[to++].part = part;
            if (last || price[to].loop ||
                (to < kernel->count && kernel->code[to].op == OP_JOIN && !price[to].passed))
                break;
        }
        /* A target inside of a block only makes the ranks start later. */
        if (kernel->info.spills)
            piece_follow(kernel, from, price + from, to - from);
        else
            piece_order(kernel, kernel->code + from, price + from, to - from,
                        liveness_after(alive, to));
        price[to - 1].last = 1;
        part++;
        from = to;
    }
}

/* Local memory of the PTX of which the machine's code has nothing: ptxas keeps small arrays in
 * registers and selects among them, also where the place is known only at run time. */
static void arrays_find(SimtKernel *kernel, const SimtMachine *machine)
{
    const SassCode *code = kernel->cubin.sass;
    if (!kernel->local_bytes || kernel->cubin.local_bytes || !code || !code->count ||
        code->sm / 10 != machine->cc_major)
        return;
    for (uint32_t i = 0; i < code->count; i++) {
        uint32_t op = code->ins[i].op & SASS_OPCODE_MASK;
        if (op == SASS_LDL || op == SASS_STL) return;
    }
    kernel->cubin.arrays_in_registers = 1;
    for (uint32_t i = 0; i < kernel->count; i++) {
        Ins *ins = &kernel->code[i];
        if (is_memory(ins) && ins->space == PTX_LOCAL) ins->class = CLASS_INT;
    }
}

/* Cost of each instruction, as far as its neighbours in the code determine it. -1: out of
 * memory. */
static int prices_make(SimtKernel *kernel, InsCost *price, const Uses *uses,
                       const SimtMachine *machine)
{
    for (uint32_t i = 0; i < kernel->count; i++)
        price[i] = price_of(&kernel->code[i], kernel, machine);
    if (sums_fuse(kernel, price, uses, machine) != 0) return -1;
    variables_begin(kernel, price, uses, machine);
    branches_fold(kernel, price, machine);
    branches_turn(kernel, price);
    divisions_hoist(kernel, price, uses, machine);
    guards_mark(kernel, price, uses, machine);
    for (uint32_t i = 0; i < kernel->count; i++)
        price[i].folded = !price[i].slots && !kernel->code[i].pseudo;
    return 0;
}

InsCost *schedule_build(SimtKernel *kernel, const SimtMachine *machine, int machine_code,
                        uint32_t *prices)
{
    Uses uses = {NULL, NULL, NULL};
    Liveness alive = {0};
    if (machine_code) arrays_find(kernel, machine);
    InsCost *price = calloc(kernel->count + 1, sizeof *price);
    if (price && kernel->width && uses_count(kernel, &uses) == 0 &&
        liveness_open(&alive, kernel) == 0 && prices_make(kernel, price, &uses, machine) == 0) {
        /* With spills, SASS gives the order and the number of spills per iteration. */
        uint32_t loops = kernel->info.spills ? 0 : loops_mark(kernel, price);
        pieces_order(kernel, price, &alive);
        price = loops_unroll(kernel, price, loops, &alive, prices);
    } else {
        free(price), price = NULL;
    }
    liveness_close(&alive);
    free(uses.read), free(uses.written), free(uses.writer);
    return price;
}
