/* repeat.c - loads that ptxas leaves out, for a load before them has read the same.
 *
 * nvcc leaves hardly any such loads in plain code.  But inline assembly, as that of __dp4a, might
 * write for all that nvcc knows, so it loads again behind each; ptxas sees that nothing was
 * written.  So it is within a straight piece of code where the address stays, and nothing between
 * the two writes to that kind of memory, not even beside it, or says anything to other threads:
 * machine code for sm_75, sm_80 and sm_90 is alike in that.
 *
 * Such a load is executed, but neither counted nor priced. */
#include <stdlib.h>
#include <string.h>

#include "common/simt/core/code_map.h"
#include "common/simt/decode/decoder.h"

enum { WINDOW = 256 };

/* Are address and result of the load the same behind this instruction? */
static int keeps(const Ins *load, const Ins *ins)
{
    int kept = !writes_score(ins, load->t_s[0]);
    for (int d = 0; d < 4; d++)
        kept &= !writes_score(ins, load->t_d[d]);
    return kept;
}

static int is_same(const Ins *load, const Ins *ins)
{
    return ins->op == load->op && ins->a == load->a && ins->imm == load->imm &&
           ins->base64 == load->base64 && ins->bytes == load->bytes &&
           ins->vector == load->vector && ins->is_signed == load->is_signed &&
           ins->space == load->space;
}

/* Leaves out the loads that repeat code[at]. */
static void load_look(SimtKernel *kernel, uint32_t at, const uint8_t *target)
{
    const Ins *load = &kernel->code[at];
    int stays = !writes_score(load, load->t_s[0]);
    for (uint32_t k = at + 1; stays && k < kernel->count && k < at + WINDOW && !target[k]; k++) {
        Ins *ins = &kernel->code[k];
        int repeats = loads_plainly(ins) && is_same(load, ins);
        /* Into the same registers it brings what is there. */
        stays = repeats ? !memcmp(ins->t_d, load->t_d, sizeof ins->t_d) || keeps(load, ins)
                        : spares_load(load, ins) && keeps(load, ins);
        if (!repeats) continue;
        ins->class = CLASS_FREE;
        /* Its result is there when that of the first is. */
        memset(ins->t_s, 0, sizeof ins->t_s);
        memcpy(ins->t_s, load->t_d, sizeof load->t_d);
    }
}

/* Instructions that something branches to.  NULL: out of memory. */
static uint8_t *targets_find(const SimtKernel *kernel)
{
    uint8_t *target = calloc(kernel->count + 1, 1);
    for (uint32_t i = 0; target && i < kernel->count; i++)
        if (kernel->code[i].class == CLASS_BRANCH && kernel->code[i].target < kernel->count)
            target[kernel->code[i].target] = 1;
    return target;
}

void repeats_find(SimtKernel *kernel)
{
    uint8_t *target = kernel->tables || kernel->routines ? NULL : targets_find(kernel);
    for (uint32_t i = 0; target && i < kernel->count; i++)
        if (loads_plainly(&kernel->code[i])) load_look(kernel, i, target);
    free(target);
}
