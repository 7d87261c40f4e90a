/* register_pressure.c - register pressure while one basic block is scheduled.
 *
 * A load that is issued early holds its register until its value is used: the number of loads in
 * flight is limited by the kernel's registers. A value occupies a register from its definition, or
 * from the start of the basic block, to its last reader. It occupies it to the end of the block if
 * it is live afterwards or has no reader. An accumulator therefore occupies one register, whatever
 * its names are. */
#include "common/simulator/ptxas/register_pressure.h"

#include <string.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/ptxas/liveness.h"

enum { KEPT = 3 }; /* for values that the basic block does not mention */

/* The value that instruction `k` reads as `score`: one from this basic block, or one defined before
 * it. */
static uint16_t value_of(RegisterPressure *p, const Ins *code, uint32_t k, uint16_t score)
{
    if (!score) return NO_VALUE;
    for (uint32_t i = k; i-- > 0;)
        if (writes_score(&code[i], score)) return (uint16_t)i;
    for (uint32_t v = 0; v < p->olds; v++)
        if (p->old[v] == score) return (uint16_t)(PIECE + v);
    if (p->olds == PIECE) return NO_VALUE;
    p->old[p->olds] = score;
    return (uint16_t)(PIECE + p->olds++);
}

/* Registers that the results of instruction `k` take. */
static uint32_t results_of(const Ins *ins, const InsCost *price, const uint8_t *width)
{
    uint32_t results = 0;
    if (!price->slots && ins->merge != MERGE_FOLLOWER && !(ins->class == CLASS_FREE && ins->t_s[0]))
        return 0;
    for (int d = 0; d < 4 && ins->t_d[d]; d++)
        if (!d || ins->t_d[d] != ins->t_d[0]) results += width[ins->t_d[d]];
    return results;
}

/* Registers that instruction `k` defines, less those that it frees. */
static int32_t change_of(const RegisterPressure *p, uint32_t k)
{
    int32_t change = p->width[k];
    for (int s = 0; s < SOURCES; s++) {
        uint16_t value = p->source[k][s];
        if (value == NO_VALUE) continue;
        int others = 0; /* the same value read twice ends once */
        for (int e = 0; e < s; e++)
            others += p->source[k][e] == value;
        if (p->readers[value] == others + 1) change -= p->width[value];
    }
    return change;
}

int32_t pressure_lacks(const RegisterPressure *p, uint32_t k)
{
    int32_t lacks = change_of(p, k) - p->free;
    return lacks > 0 ? lacks : 0;
}

void pressure_issue(RegisterPressure *p, uint32_t k)
{
    p->free -= change_of(p, k);
    for (int s = 0; s < SOURCES; s++)
        if (p->source[k][s] != NO_VALUE) p->readers[p->source[k][s]]--;
}

/* The smallest number of free registers in PTX order. */
static int32_t least_free(RegisterPressure p, uint32_t count)
{
    int32_t least = 0;
    for (uint32_t k = 0; k < count; k++) {
        pressure_issue(&p, k);
        if (p.free < least) least = p.free;
    }
    return least;
}

/* Values that are live after the basic block count as read there, so their registers are never
 * freed. */
static void values_keep(RegisterPressure *p, const Ins *code, uint32_t count,
                        const SimtKernel *kernel, const uint64_t *alive)
{
    for (uint32_t v = 0; v < p->olds; v++) {
        int written = 0;
        for (uint32_t k = 0; k < count && !written; k++)
            written = writes_score(&code[k], p->old[v]);
        p->readers[PIECE + v] += !written && is_live(alive, p->old[v]);
    }
    for (uint32_t k = 0; alive && k < count; k++)
        for (int d = 0; d < 4 && code[k].t_d[d]; d++) {
            int last = 1;
            for (uint32_t i = k + 1; i < count && last; i++)
                last = !writes_score(&code[i], code[k].t_d[d]);
            /* Names of copies of a loop are known within it only. */
            if (!last || code[k].t_d[d] >= kernel->scoreboard || !is_live(alive, code[k].t_d[d]))
                continue;
            p->readers[k]++;
            break;
        }
}

void pressure_open(RegisterPressure *p, const Ins *code, const InsCost *price, uint32_t count,
                   const SimtKernel *kernel, const uint64_t *alive)
{
    p->free = (int32_t)kernel->info.registers - KEPT;
    p->olds = 0;
    memset(p->readers, 0, sizeof p->readers);
    for (uint32_t k = 0; k < count; k++) {
        const Ins *ins = &code[k];
        p->width[k] = (uint8_t)results_of(ins, &price[k], kernel->width);
        for (int s = 0; s < SOURCES; s++) {
            /* A predicated instruction may leave its result unchanged, so the old value is read,
             * too. */
            uint16_t score = s + 1 < SOURCES         ? ins->t_s[s]
                             : ins->guard != NO_SLOT ? ins->t_d[0]
                                                     : 0;
            uint16_t value = p->source[k][s] = value_of(p, code, k, score);
            if (value != NO_VALUE) p->readers[value]++;
        }
    }
    for (uint32_t v = 0; v < p->olds; v++)
        p->free -= p->width[PIECE + v] = kernel->width[p->old[v]];
    values_keep(p, code, count, kernel, alive);
    p->free -= least_free(*p, count);
}
