/* operands.c - the registers that an instruction reads and writes. */
#include "common/simulator/checks/definedness.h"
#include "common/simulator/core/async.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"

static void read_add(Operands *o, uint32_t slot)
{
    if (slot != NO_SLOT && o->reads < READS_MOST) o->read[o->reads++] = slot;
}

static void write_add(Operands *o, uint32_t slot)
{
    if (slot != NO_SLOT && o->writes < WRITES_MOST) o->write[o->writes++] = slot;
}

int is_store(const Ins *ins)
{
    return (ins->op >= OP_ST_GLOBAL_8 && ins->op <= OP_ST_GLOBAL_V) ||
           (ins->op >= OP_ST_SHARED_8 && ins->op <= OP_ST_SHARED_V) || ins->op == OP_ST_LOCAL ||
           ins->op == OP_ST_GENERIC;
}

int is_plain_load(const Ins *ins)
{
    return (ins->op >= OP_LD_GLOBAL_8 && ins->op <= OP_LD_GLOBAL_V) ||
           (ins->op >= OP_LD_SHARED_8 && ins->op <= OP_LD_SHARED_V) || ins->op == OP_LD_LOCAL ||
           ins->op == OP_LD_GENERIC || ins->op == OP_LD_PARAM;
}

static void fragment_read(Operands *o, const Fragment *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        read_add(o, f->slot[i]);
}

static void tensor_operands(const TensorPlan *plan, Operands *o)
{
    fragment_read(o, &plan->a), fragment_read(o, &plan->b), fragment_read(o, &plan->c);
    read_add(o, plan->stride), read_add(o, plan->metadata);
    for (uint32_t i = 0; i < plan->d.count; i++)
        write_add(o, plan->d.slot[i]);
}

static void wgmma_operands(const WgmmaPlan *plan, Operands *o)
{
    for (uint32_t i = 0; i < plan->factors; i++)
        read_add(o, plan->a[i]);
    read_add(o, plan->scale_d);
    for (uint32_t i = 0; i < plan->results; i++)
        read_add(o, plan->d[i]), write_add(o, plan->d[i]);
}

/* Registers of a vector access, or the only one. */
static void values_of(const Ins *ins, uint32_t *slot, uint32_t *count)
{
    *count = ins->vector > 1 ? ins->vector : 1;
    if (*count > 4) *count = 4;
    for (uint32_t i = 0; i < *count; i++)
        slot[i] = ins->vector > 1 ? ins->v[i] : ins->d;
}

static int has_second_result(const Ins *ins)
{
    return (ins->op >= OP_EQ_32 && ins->op <= OP_INF_F64) || ins->op == OP_ELECT;
}

void operands_of(const SimtKernel *kernel, const Ins *ins, Operands *o)
{
    uint32_t slot[4], count;
    o->reads = o->writes = 0;
    read_add(o, ins->a), read_add(o, ins->b), read_add(o, ins->c), read_add(o, ins->guard);
    values_of(ins, slot, &count);
    switch (ins->op) {
    case OP_TENSOR_PRODUCT:
    case OP_TENSOR_SPARSE:
    case OP_TENSOR_OCTETS:
    case OP_TENSOR_MATRIX:
    case OP_LDMATRIX:
    case OP_STMATRIX:
        tensor_operands(&kernel->plans.tensor[ins->aux], o);
        return;
    case OP_WGMMA:
        wgmma_operands(&kernel->plans.wgmma[ins->aux], o);
        return;
    case OP_CARRY:
        if (ins->aux >> 3 & 1) read_add(o, ins->v[0]);
        if (ins->aux >> 4 & 1) write_add(o, ins->v[0]);
        break;
    case OP_BFI_32:
    case OP_BFI_64:
    case OP_VOTE:
    case OP_REDUX:
        read_add(o, ins->v[0]);
        break;
    case OP_ATOM:
        if (ins->bytes != 16) break;
        read_add(o, upper_half(ins->b)), read_add(o, upper_half(ins->c));
        if (ins->d != NO_SLOT) write_add(o, upper_half(ins->d));
        break;
    case OP_SHFL:
    case OP_MATCH:
        read_add(o, ins->v[0]), write_add(o, ins->v[1]);
        break;
    case OP_TEXTURE:
        for (uint32_t i = 0; i < 4; i++)
            if ((ins->aux & TEXTURE_KIND) == SURFACE_WRITE)
                read_add(o, ins->v[i]);
            else
                write_add(o, ins->v[i]);
        break;
    default:
        if (has_second_result(ins)) write_add(o, ins->v[0]);
    }
    for (uint32_t i = 0; is_store(ins) && i < count; i++)
        read_add(o, slot[i]);
    for (uint32_t i = 0; is_plain_load(ins) && i < count; i++)
        write_add(o, slot[i]);
    if (!is_store(ins) && !is_plain_load(ins)) write_add(o, ins->d);
}
