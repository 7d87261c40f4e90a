/* spin.c - loops that wait: a flag, a lock or a counter is read until another thread wrote it.
 *
 * Such a loop is short, goes back to its beginning, reads by a volatile or ordered load or by an
 * atomic whose result it uses, and neither stores nor waits at a barrier.  Its warp makes way for
 * others each time it goes back: on a card warps run side by side. */
#include "common/simt/decode/decoder.h"

enum { LONGEST = 256 };

static int works(const Ins *ins)
{
    int stores = ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE;
    return ins->op == OP_BAR || ins->op == OP_CP_ASYNC || (stores && !ins->order);
}

static int loop_waits(const Ins *code, uint32_t first, uint32_t last)
{
    int reads = 0;
    for (uint32_t i = first; i <= last; i++) {
        if (works(&code[i])) return 0;
        reads |= code[i].order & ORDER_READS;
    }
    return reads;
}

void spins_find(Decoder *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        Ins *back = &d->code[i];
        if ((back->op != OP_BRA && back->op != OP_BRA_P) || back->target > i) continue;
        if (i - back->target >= LONGEST || !loop_waits(d->code, back->target, i)) continue;
        back->yields = 1;
        d->kernel->spins = d->kernel->in_order = 1;
        for (uint32_t k = back->target; k <= i; k++)
            if (d->code[k].order & ORDER_READS) d->code[k].order |= ORDER_SPINS;
    }
}
