/* pressure.c - registers, while one straight piece of code is put in order.
 *
 * A load that goes early holds its register until its value is used: how many loads are on their
 * way at once is decided by the registers that ptxas gave the kernel.  What the piece reads and has
 * not made keeps its place throughout; what it makes takes one until the last reader, and to its
 * end where nobody in the piece reads it. */
#include "common/simt/time/pressure.h"

#include <string.h>

enum { KEPT = 3, LEAST_FREE = 4 }; /* for what the piece does not mention; whatever else lives */

static uint16_t maker_of(const Ins *code, uint32_t k, uint16_t score)
{
    for (uint32_t i = k; score && i-- > 0;)
        for (int d = 0; d < 4 && code[i].t_d[d]; d++)
            if (code[i].t_d[d] == score) return (uint16_t)i;
    return NO_MAKER;
}

/* Is a source of instruction `k` that was there before read for the first time? */
static int is_first_mention(const Ins *code, uint32_t k, int source)
{
    for (uint32_t i = 0; i <= k; i++)
        for (int s = 0; s < (i < k ? 6 : source); s++)
            if (code[i].t_s[s] == code[k].t_s[source]) return 0;
    return 1;
}

/* Does the result replace a value that was there before, as a sum or a counter does? */
static int is_replacement(const Pressure *p, const Ins *code, uint32_t k, uint32_t count)
{
    uint16_t score = code[k].t_d[0];
    for (uint32_t i = k + 1; i < count; i++)
        if (code[i].t_d[0] == score) return 0; /* not the last of its name */
    for (uint32_t i = 0; i <= k; i++)
        for (int s = 0; s < 6; s++)
            if (code[i].t_s[s] == score && p->made_by[i][s] == NO_MAKER) return 1;
    return 0;
}

void pressure_open(Pressure *p, const Ins *code, const Price *price, uint32_t count,
                   const SimtKernel *kernel)
{
    const uint8_t *width = kernel->width;
    p->free = (int32_t)kernel->info.registers - KEPT;
    memset(p->readers, 0, sizeof p->readers);
    for (uint32_t k = 0; k < count; k++) {
        const Ins *ins = &code[k];
        for (int s = 0; s < 6; s++) {
            uint16_t maker = p->made_by[k][s] = maker_of(code, k, ins->t_s[s]);
            if (maker != NO_MAKER)
                p->readers[maker]++;
            else if (ins->t_s[s] && is_first_mention(code, k, s))
                p->free -= width[ins->t_s[s]];
        }
        uint32_t results = 0;
        for (int d = 0; d < 4 && ins->t_d[d]; d++)
            if (!d || ins->t_d[d] != ins->t_d[0]) results += width[ins->t_d[d]];
        if (!price[k].slots && ins->merge != MERGE_FOLLOWER) results = 0;
        p->width[k] = (uint8_t)(is_replacement(p, code, k, count) ? 0 : results);
    }
    if (p->free < LEAST_FREE) p->free = LEAST_FREE;
}

/* Registers that instruction `k` takes, less those that are free behind it. */
static int32_t change_of(const Pressure *p, uint32_t k)
{
    int32_t change = p->width[k];
    for (int s = 0; s < 6; s++) {
        uint16_t maker = p->made_by[k][s];
        if (maker == NO_MAKER) continue;
        int others = 0; /* the same value read twice ends once */
        for (int e = 0; e < s; e++)
            others += p->made_by[k][e] == maker;
        if (p->readers[maker] == others + 1) change -= p->width[maker];
    }
    return change;
}

int32_t pressure_lacks(const Pressure *p, uint32_t k)
{
    int32_t lacks = change_of(p, k) - p->free;
    return lacks > 0 ? lacks : 0;
}

void pressure_issue(Pressure *p, uint32_t k)
{
    p->free -= change_of(p, k);
    for (int s = 0; s < 6; s++)
        if (p->made_by[k][s] != NO_MAKER) p->readers[p->made_by[k][s]]--;
}
