/* wgmma_touch.c - instructions that access the registers of a warpgroup's MMAs.
 *
 * Those registers are numbered, and with them what moves copy them to and from, for nvcc copies
 * registers around an asm statement where ptxas sees one. */
#include <stdlib.h>

#include "common/simulator/core/async.h"
#include "common/simulator/decode/decoder.h"

enum { REGISTER_BYTES = LANES * 4 };

static int number_give(SimtKernel *kernel, uint32_t slot)
{
    uint16_t *number = &kernel->plans.wgmma_register[slot / REGISTER_BYTES];
    if (*number || kernel->plans.wgmma_registers == UINT16_MAX) return 0;
    *number = (uint16_t)++kernel->plans.wgmma_registers;
    return 1;
}

static int has_number(const Decoder *d, uint32_t slot)
{
    return slot < d->file_bytes && d->kernel->plans.wgmma_register[slot / REGISTER_BYTES] != 0;
}

static int is_constant(const Decoder *d, uint32_t slot)
{
    return d->score[slot / 4] == 0;
}

/* Copies of copies too, until nothing is new. */
static void moves_follow(Decoder *d)
{
    for (int found = 1; found;) {
        found = 0;
        for (uint32_t i = 0; i < d->count; i++) {
            const Ins *ins = &d->code[i];
            if (ins->op != OP_MOV_32) continue;
            int from = has_number(d, ins->a), to = has_number(d, ins->d);
            if (from && !to) found |= number_give(d->kernel, ins->d);
            if (to && !from && !is_constant(d, ins->a)) found |= number_give(d->kernel, ins->a);
        }
    }
}

void wgmma_registers_find(Decoder *d)
{
    SimtKernel *kernel = d->kernel;
    if (!kernel->plans.wgmmas) return;
    kernel->plans.wgmma_register =
        calloc(d->file_bytes / REGISTER_BYTES + 2, sizeof *kernel->plans.wgmma_register);
    if (!kernel->plans.wgmma_register) {
        refuse(d, "out of host memory");
        return;
    }
    for (uint32_t i = 0; i < kernel->plans.wgmmas; i++) {
        const WgmmaPlan *plan = &kernel->plans.wgmma[i];
        for (uint32_t r = 0; r < plan->results; r++)
            number_give(kernel, plan->d[r]);
        for (uint32_t r = 0; r < plan->factors; r++)
            if (!is_constant(d, plan->a[r])) number_give(kernel, plan->a[r]);
    }
    moves_follow(d);
}

int wgmma_touches(const Decoder *d, const Ins *ins)
{
    const uint32_t slot[] = {ins->a,    ins->b,    ins->c,    ins->d,
                             ins->v[0], ins->v[1], ins->v[2], ins->v[3]};
    if (!d->kernel->plans.wgmma_register || ins->op == OP_WGMMA || ins->op == OP_BRA_P ||
        ins->op == OP_EXIT || ins->class == CLASS_BARRIER || ins->yields)
        return 0;
    for (uint32_t i = 0; i < sizeof slot / sizeof *slot; i++)
        if (has_number(d, slot[i])) return 1;
    return 0;
}
