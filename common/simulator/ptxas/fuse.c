/* fuse.c - what ptxas makes one instruction of several that the PTX has, and the other way around.
 *
 * Since Maxwell, integer addition has three operands (IADD3), one of which may be shifted (LEA,
 * LEA.HI), and logical operations have three, too (LOP3). IMAD adds a multiplication's result to,
 * or subtracts it from, another operand. Each word of a 64-bit value is a separate register. An
 * access can include an offset. A comparison can combine its result with one more predicate
 * (ISETP.OR); other combinations of predicates are instructions (PLOP3). Two instructions can be
 * fused if only the second one reads the result of the first, which the code shows. */
#include "common/simulator/ptxas/fuse.h"

#include <stdlib.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/core/ops.h"

enum { AHEAD = 64 };

static void becomes_free(InsCost *p)
{
    p->slots = 0, p->busy = 0, p->latency = 0, p->pipe = PIPE_NONE;
}

static int is_product(const Ins *ins)
{
    return ins->op == OP_MULWIDE_U32 || ins->op == OP_MULWIDE_S32 || ins->op == OP_SHL_32 ||
           ins->op == OP_SHL_64;
}

static int is_sum(const Ins *ins)
{
    return ins->op == OP_ADD_32 || ins->op == OP_SUB_32;
}

static int is_logic(const Ins *ins)
{
    return ins->op == OP_AND_32 || ins->op == OP_OR_32 || ins->op == OP_XOR_32 ||
           ins->op == OP_NOT_32;
}

/* A shift by 32 bits, or the lower word. */
static int takes_word(const SimtKernel *kernel, const Ins *ins)
{
    uint64_t bits;
    switch (ins->op) {
    case OP_TRUNC_32:
        return 1;
    case OP_SHR_U64:
    case OP_SHL_64:
        return !ins->t_s[1] && constant_of(kernel, ins->b, &bits) && bits == 32;
    case OP_AND_64:
        return !ins->t_s[1] && constant_of(kernel, ins->b, &bits) && bits == 0xffffffff;
    default:
        return 0;
    }
}

/* Is `inner` a part of `outer`, which reads its result? */
static int fuses(const Ins *inner, const Ins *outer)
{
    int shifts = (inner->op == OP_SHR_U32 || inner->op == OP_SHR_S32) && !inner->t_s[1];
    if (is_sum(outer)) return is_sum(inner) || shifts || inner->op == OP_MUL_32;
    return is_logic(inner) && is_logic(outer);
}

/* The only reader of the result of instruction `i`; `count` if there is no or more than one reader,
 * or if it is not known. */
static uint32_t reader_of(const SimtKernel *kernel, const Uses *uses, uint32_t i)
{
    uint16_t result = kernel->code[i].t_d[0];
    if (!result || uses->read[result] != 1 || uses->written[result] != 1 ||
        kernel->code[i].guard != NO_SLOT)
        return kernel->count;
    for (uint32_t k = i + 1; k < kernel->count && k < i + AHEAD; k++)
        for (int s = 0; s < 3; s++)
            if (kernel->code[k].t_s[s] == result) return k;
    return kernel->count;
}

/* An instruction has three operands, so each absorbs at most one other instruction. */
static int pairs_fuse(const SimtKernel *kernel, InsCost *price, const Uses *uses)
{
    uint8_t *taken = calloc(kernel->count + 1, 1);
    if (!taken) return -1;
    for (uint32_t i = 0; i < kernel->count; i++) {
        const Ins *ins = &kernel->code[i];
        if (takes_word(kernel, ins)) becomes_free(&price[i]);
        if (!price[i].slots || taken[i]) continue;
        uint32_t reader = reader_of(kernel, uses, i);
        if (reader == kernel->count || taken[reader] || !price[reader].slots) continue;
        int offset = is_memory(&kernel->code[reader]) && ins->op == OP_ADD_32 && !ins->t_s[1] &&
                     kernel->code[reader].t_s[0] == ins->t_d[0];
        if (!offset && !fuses(ins, &kernel->code[reader])) continue;
        taken[reader] = !offset;
        becomes_free(&price[i]);
    }
    free(taken);
    return 0;
}

/* A comparison whose only reader is such an instruction is fused with it. */
static void predicates_fuse(const SimtKernel *kernel, InsCost *price, const Uses *uses,
                            const SimtMachine *machine)
{
    for (uint32_t i = 0; i < kernel->count; i++) {
        const Ins *ins = &kernel->code[i];
        if (!joins_predicates(ins)) continue;
        uint32_t parts = 0;
        for (int s = 0; s < 2; s++) {
            uint16_t score = ins->t_s[s];
            const Ins *writer = &kernel->code[uses->writer[score]];
            int alone = uses->written[score] == 1 && uses->read[score] == 1;
            if (!score || !alone || !compares(writer) || writer->guard != NO_SLOT) continue;
            becomes_free(&price[uses->writer[score]]);
            parts++;
        }
        if (!parts) parts = 1;
        price[i].slots = (uint8_t)parts, price[i].pipe = PIPE_INT;
        price[i].latency = (uint16_t)(parts * (uint32_t)machine->alu_latency);
        price[i].busy = (uint16_t)(parts * cycles_for(machine->int32_lanes, machine));
    }
}

/* mul.wide or shl whose only reader adds it to an address becomes part of that sum: IMAD.WIDE,
 * LEA. */
static void products_fold(const SimtKernel *kernel, InsCost *price, const Uses *uses)
{
    for (uint32_t i = 0; i < kernel->count; i++) {
        const Ins *product = &kernel->code[i];
        uint32_t result = product->t_d[0];
        if (!is_product(product) || !result || uses->read[result] != 1 ||
            uses->written[result] != 1)
            continue;
        for (uint32_t k = i + 1; k < kernel->count && k < i + AHEAD; k++) {
            const Ins *sum = &kernel->code[k];
            if (sum->t_s[0] != result && sum->t_s[1] != result) continue;
            int folds = product->op == OP_SHL_32 ? sum->op == OP_ADD_32 : is_add_64(sum);
            if (!folds) break;
            becomes_free(&price[i]);
            if (price[k].slots > 1) price[k].slots = 1, price[k].busy /= 2;
            break;
        }
    }
}

int sums_fuse(const SimtKernel *kernel, InsCost *price, const Uses *uses,
              const SimtMachine *machine)
{
    products_fold(kernel, price, uses);
    predicates_fuse(kernel, price, uses, machine);
    return machine->costs.three_operand_sums ? pairs_fuse(kernel, price, uses) : 0;
}
