/* mma_cost.c - what matrix products cost.
 *
 * All numbers for compute capability 9.0 were measured on an H200: 60 forms of `mma`, `mma.sp` and
 * `wmma`, in chains of one warp and of sixteen warps. Those for older GPUs follow from the FMAs per
 * cycle of the machine's tensor cores. */
#include "common/simulator/ptxas/mma_cost.h"

#include "common/simulator/core/async.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/core/tensor.h"
#include "common/simulator/ptxas/latency.h"

enum { MMA_ROWS = 16, MMA_WIDE = 8 };

static uint64_t fmas_a_cycle(const SimtMachine *m)
{
    return m->tensor_fma ? m->tensor_fma : 64;
}

/* A warp's quarter of a warpgroup's MMA uses its own tensor core, with 32 bytes of k at a time for
 * every type. Small MMAs are limited by shared memory, which delivers 128 bytes of the inputs per
 * cycle. */
static uint16_t wgmma_cycles(const WgmmaPlan *plan, const SimtMachine *m)
{
    enum { HALVES_DEEP = 16, LINE = 128 };
    uint64_t rate = fmas_a_cycle(m), fmas = WGMMA_ROWS * plan->n * HALVES_DEEP,
             cycles = (fmas + rate - 1) / rate, rows = plan->factors ? 0 : WGMMA_ROWS,
             fetched = (rows + plan->n) * WGMMA_K_BYTES / LINE;
    if (fetched > cycles) cycles = fetched;
    uint64_t least = m->costs.wgmma_least_cycles;
    return (uint16_t)(cycles > least ? cycles : least);
}

/* Number of FMAs of halves that take the same time: tf32 has half the rate, bytes twice the rate,
 * and bits sixteen times. */
static uint64_t as_halves(TensorType type, uint64_t fmas)
{
    switch (type) {
    case TYPE_TF32:
        return fmas * 2;
    case TYPE_F64: /* A100's data sheet: 19.5 of 312 TFLOPS */
        return fmas * 16;
    case TYPE_S8:
    case TYPE_U8:
        return (fmas + 1) / 2;
    case TYPE_S4:
    case TYPE_U4:
        return (fmas + 3) / 4;
    case TYPE_B1:
        return (fmas + 15) / 16;
    default:
        return fmas;
    }
}

static int is_sparse(const TensorPlan *plan)
{
    return plan->metadata != NO_SLOT;
}

/* ---- instructions that ptxas expands for compute capability 9.0 ----------------------------- */

/* 4-bit integers are unpacked into bytes, register by register; signed values take a left and a
 * right shift each. The XOR of bits is computed as two ANDs with one side complemented. */
static int unpacks(const TensorPlan *plan)
{
    return plan->a.type == TYPE_S4 || plan->a.type == TYPE_U4 ||
           (plan->a.type == TYPE_B1 && plan->differ);
}

static void unpacking_price(const TensorPlan *plan, InsCost *p)
{
    enum { PART_BUSY = 4 };
    uint32_t of_a = plan->a.count, of_b = plan->b.count, bits = plan->a.type == TYPE_B1,
             with_sign =
                 (plan->a.type == TYPE_S4 ? of_a : 0) + (plan->b.type == TYPE_S4 ? of_b : 0),
             without = of_a + of_b - with_sign;
    p->slots = (uint8_t)(6 + 31 * with_sign + (bits ? 2 : 4) * without);
    p->pipe = PIPE_INT, p->part_busy = PART_BUSY;
    p->busy = (uint16_t)(16 + 40 * with_sign + (bits ? 5 : 7) * without);
    p->latency = (uint16_t)(80 + 48 * with_sign + (bits ? 6 : 10) * without);
}

/* Volta's m8n8k4 is a routine: shuffles and FMAs of floats. If an input matrix has the other
 * layout, the steps are serialised. */
static void octets_price(const TensorPlan *plan, InsCost *p)
{
    int halves = plan->d.type == TYPE_F16, turned = plan->by_column || plan->transposed;
    p->pipe = PIPE_FP32;
    p->slots = halves ? 126 : 84;
    p->busy = (uint16_t)(halves ? turned ? 290 : 176 : turned ? 251 : 126);
    p->latency = turned ? 740 : 232;
}

/* ---- native MMA instructions ----------------------------------------------------------------- */

/* An MMA in SASS has sixteen rows and eight columns. FP8 takes two MMAs of halves, and wmma's TF32
 * takes two, each over half of k. Returns this number of serial steps. */
static uint32_t product_steps(const TensorPlan *plan)
{
    return is_eighth(plan->a.type) || (plan->kind == TENSOR_WMMA && plan->a.type == TYPE_TF32) ? 2
                                                                                               : 1;
}

static uint32_t product_parts(const TensorPlan *plan)
{
    uint32_t rows = plan->m < MMA_ROWS ? MMA_ROWS : plan->m,
             parts = rows * plan->n / (MMA_ROWS * MMA_WIDE);
    if (plan->kind == TENSOR_WMMA && plan->m == 8 && plan->n == 32) parts = 2; /* transposed */
    return product_steps(plan) * parts;
}

/* If several MMAs use a register of FP8, it is converted to halves once; this cost is for four. */
static void eighths_price(const TensorPlan *plan, const SimtMachine *m, InsCost *p)
{
    p->latency = (uint16_t)(p->latency + m->costs.mma_convert_cycles);
    p->slots = (uint8_t)((plan->a.count + plan->b.count) / 2 + product_parts(plan) + plan->d.count);
    if (is_sparse(plan)) /* lanes exchange what they have of b, and of the metadata */
        p->slots = 60, p->busy = 67, p->latency = 110;
}

/* An MMA occupies the unit for two cycles in addition to its FMAs, a sparse one for two more; one
 * of doubles has no such overhead. The latency grows with the number of registers of the first
 * input. */
static void hopper_price(const TensorPlan *plan, const SimtMachine *m, InsCost *p)
{
    const MachineCosts *costs = &m->costs;
    uint32_t steps = product_steps(plan), sparse = is_sparse(plan),
             deep = plan->k / steps / (sparse ? 2 : 1), doubles = plan->a.type == TYPE_F64,
             each = type_elements(is_eighth(plan->a.type) ? TYPE_F16 : plan->a.type),
             rows = plan->n == MMA_WIDE && plan->m < MMA_ROWS ? plan->m : MMA_ROWS,
             of_a = rows * deep / (LANES * each);
    uint64_t fmas = as_halves(plan->a.type, MMA_ROWS * MMA_WIDE * deep) * m->schedulers,
             busy = (fmas + fmas_a_cycle(m) - 1) / fmas_a_cycle(m);
    if (!doubles) busy += costs->mma_part_cycles * (1 + sparse);
    p->part_busy = (uint16_t)busy, p->busy = (uint16_t)(product_parts(plan) * busy);
    uint32_t latency = doubles ? costs->dmma_first_cycles + costs->dmma_register_cycles * of_a
                               : costs->mma_first_cycles + costs->mma_register_cycles * of_a;
    p->latency = (uint16_t)(steps * latency);
    if (is_eighth(plan->a.type)) eighths_price(plan, m, p);
}

static void older_price(const Ins *ins, const TensorPlan *plan, const SimtMachine *m, InsCost *p)
{
    uint64_t fmas = as_halves(plan->a.type, (uint64_t)plan->m * plan->n * plan->k), cycles;
    if (is_sparse(plan)) fmas /= 2;
    if (ins->op == OP_TENSOR_OCTETS) fmas *= OCTETS;
    cycles = (fmas * m->schedulers + fmas_a_cycle(m) - 1) / fmas_a_cycle(m);
    p->busy = (uint16_t)(cycles ? cycles : 1);
    p->latency = (uint16_t)(p->busy + 4 * m->alu_latency);
}

/* MMAs of doubles do not lower the clock, and neither do forms that are expanded without the tensor
 * core. */
static int product_slows(const Ins *ins, const SimtKernel *kernel)
{
    return ins->op == OP_WGMMA ||
           (ins->op != OP_TENSOR_OCTETS && kernel->plans.tensor[ins->aux].a.type != TYPE_F64);
}

void mma_cost(const Ins *ins, const SimtKernel *kernel, const SimtMachine *m, InsCost *p)
{
    const MachineCosts *costs = &m->costs;
    p->pipe = PIPE_TENSOR;
    int falls = m->tensor_mhz > 0 && m->tensor_mhz < m->clock_mhz;
    p->slows = falls && product_slows(ins, kernel);
    if (ins->op == OP_WGMMA) {
        p->busy = wgmma_cycles(&kernel->plans.wgmma[ins->aux], m);
        p->latency = (uint16_t)(p->busy + costs->wgmma_cycles);
        return;
    }
    const TensorPlan *plan = &kernel->plans.tensor[ins->aux];
    if (ins->op == OP_TENSOR_OCTETS && costs->m8n8k4_routine)
        octets_price(plan, p);
    else if (!costs->mma_by_parts)
        older_price(ins, plan, m, p);
    else if (unpacks(plan))
        unpacking_price(plan, p);
    else
        hopper_price(plan, m, p);
}
