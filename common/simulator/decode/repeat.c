/* repeat.c - redundant loads that ptxas removes, because an earlier load has read the same value.
 *
 * nvcc leaves hardly any redundant loads in plain code. However, nvcc must assume that inline
 * assembly, such as that of __dp4a, writes memory, and loads again after each; ptxas sees that
 * nothing was written.
 *
 * ptxas removes a load within a basic block if the address stays the same. Between the
 * two loads, no instruction may write to that memory space, not even at other addresses, and none
 * may synchronise with other threads. SASS for sm_75, sm_80 and sm_90 agrees.
 *
 * ptxas also removes a load from a loop if each iteration loads what was loaded before the loop,
 * for example the end of a row that nvcc loads again because of inline assembly (spmv-lanes-...).
 *
 * Such a load is executed, but neither counted nor priced. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/decode/decoder.h"

enum { WINDOW = 256 };

/* Does the instruction leave the load's address and result unchanged? */
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
        /* A load into the same registers leaves them unchanged. */
        stays = repeats ? !memcmp(ins->t_d, load->t_d, sizeof ins->t_d) || keeps(load, ins)
                        : spares_load(load, ins) && keeps(load, ins);
        if (!repeats) continue;
        ins->class = CLASS_FREE;
        /* Its result is available when that of the first is. */
        memset(ins->t_s, 0, sizeof ins->t_s);
        memcpy(ins->t_s, load->t_d, sizeof load->t_d);
    }
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* A loop, and how often one has looked at an instruction: of hostile kernels no more than that. */
typedef struct Loop {
    SimtKernel *kernel;
    const uint8_t *target;
    const uint32_t *load; /* from each instruction on, the next that is a load */
    uint32_t head, end;
    uint64_t *steps;
} Loop;

static int only_branches(const Ins *ins)
{
    return ins->op == OP_JOIN || ins->op == OP_BRA || ins->op == OP_BRA_P;
}

/* Does each iteration load the same value, before control flow may diverge? */
static int is_steady(const Loop *l, uint32_t at)
{
    const Ins *code = l->kernel->code, *load = &code[at];
    *l->steps += l->end - l->head;
    for (uint32_t i = l->head; i <= l->end; i++) {
        int plain = i == at || (spares_load(load, &code[i]) && keeps(load, &code[i]));
        if (writes_score(&code[i], load->t_s[0]) || (!plain && !only_branches(&code[i]))) return 0;
        if (i <= at && (code[i].class == CLASS_BRANCH || (i > l->head && l->target[i]))) return 0;
    }
    return 1;
}

/* Does nothing come into the loop but by way of code[from]? */
static int is_entered_from(const Loop *l, uint32_t from)
{
    const Ins *code = l->kernel->code;
    *l->steps += l->kernel->count;
    for (uint32_t i = 0; i < l->kernel->count; i++) {
        int outside = i < from || i > l->end,
            branches = code[i].op == OP_BRA || code[i].op == OP_BRA_P;
        if (branches && outside && code[i].target > from && code[i].target <= l->end) return 0;
    }
    return 1;
}

/* The load before the loop that loaded the same value as code[at]; NULL: none. */
static const Ins *first_find(const Loop *l, uint32_t at)
{
    const Ins *code = l->kernel->code, *load = &code[at];
    for (uint32_t i = l->head; i-- > 0 && i + WINDOW > l->head;) {
        const Ins *ins = &code[i];
        if (loads_plainly(ins) && is_same(load, ins)) return is_entered_from(l, i) ? ins : NULL;
        int plain = spares_load(load, ins) || only_branches(ins);
        if (!plain || writes_score(ins, load->t_s[0]) || l->target[i]) return NULL;
    }
    return NULL;
}

/* Are the first load's results kept from there to the loop's end? */
static int is_kept(const Loop *l, const Ins *first)
{
    const Ins *code = l->kernel->code;
    for (const Ins *ins = first + 1; ins <= &code[l->end]; ins++)
        if (!keeps(first, ins)) return 0;
    return !writes_score(first, first->t_s[0]);
}

static void loop_look(const Loop *l)
{
    enum { MOST_STEPS = 20000000 }; /* limit on the work for a hostile kernel */
    for (uint32_t i = l->load[l->head]; i < l->end && *l->steps < MOST_STEPS; i = l->load[i + 1]) {
        Ins *load = &l->kernel->code[i];
        ++*l->steps;
        if (!loads_plainly(load) || !is_steady(l, i)) continue;
        const Ins *first = first_find(l, i);
        if (!first || !is_kept(l, first)) continue;
        load->class = CLASS_FREE;
        memset(load->t_s, 0, sizeof load->t_s);
        memcpy(load->t_s, first->t_d, sizeof first->t_d);
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

/* Finds the next plain load after each instruction; loops may be nested. NULL: out of memory. */
static uint32_t *loads_find(const SimtKernel *kernel)
{
    uint32_t *load = malloc((kernel->count + 1) * sizeof *load);
    if (load) load[kernel->count] = kernel->count;
    for (uint32_t i = kernel->count; load && i-- > 0;)
        load[i] = loads_plainly(&kernel->code[i]) ? i : load[i + 1];
    return load;
}

void repeats_find(SimtKernel *kernel)
{
    uint8_t *target = kernel->tables || kernel->calls.routines ? NULL : targets_find(kernel);
    uint32_t *load = target ? loads_find(kernel) : NULL;
    uint64_t steps = 0;
    for (uint32_t i = 0; target && i < kernel->count; i++)
        if (loads_plainly(&kernel->code[i])) load_look(kernel, i, target);
    for (uint32_t i = 0; load && i < kernel->count; i++)
        if (is_backward_branch(kernel->code, i))
            loop_look(&(Loop){kernel, target, load, kernel->code[i].target, i, &steps});
    free(target), free(load);
}
