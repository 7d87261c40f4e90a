/* guess.c - plain loads whose word an atomicCAS then compares.
 *
 * A loop of atomicCAS makes any atomic there is: CUDA's guide shows it for doubles.  It begins with
 * a plain load, while other threads write that word by their atomics.  No harm is done: the CAS
 * tells whether what was loaded is still there. */
#include <stdlib.h>

#include "common/simt/core/code_map.h"
#include "common/simt/decode/decoder.h"

static int is_cas(const Ins *ins)
{
    return ins->op == OP_ATOM && (ins->aux & 15) == ATOM_CAS;
}

/* A bulk copy to the L2 alone has no register for where it goes. */
static int is_plain_load(const Ins *ins)
{
    return (ins->class == CLASS_LOAD || ins->class == CLASS_SHARED_LOAD) && !ins->order &&
           ins->a != NO_SLOT;
}

/* Backwards, so that each load meets the CAS that comes after it, where the same register has the
 * address of several words. */
void guesses_find(Decoder *d)
{
    uint32_t *next = calloc(d->file_bytes / 4 + 1, sizeof *next);
    if (!next) {
        refuse(d, "out of host memory");
        return;
    }
    for (uint32_t i = d->count; i-- > 0;) {
        Ins *ins = &d->code[i];
        if (is_cas(ins)) next[ins->a / 4] = i + 1;
        if (!is_plain_load(ins) || !next[ins->a / 4]) continue;
        const Ins *cas = &d->code[next[ins->a / 4] - 1];
        if (cas->imm == ins->imm && cas->space == ins->space) ins->order = ORDER_GUESSES;
    }
    free(next);
}
