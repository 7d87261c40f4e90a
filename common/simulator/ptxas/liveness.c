/* liveness.c - which values are still wanted at a place of the code.
 *
 * A value is live at a place if a path leads from there to a reader and no instruction on the path
 * overwrites the value. Sets are stored before the targets of branches, and at intervals in
 * between; elsewhere liveness is computed backwards from the next stored set. */
#include "common/simulator/ptxas/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/ops.h"

/* Limits for a hostile kernel: words that are stored, passes over the code, and instructions
 * between stored sets. */
enum { MOST_WORDS = 1 << 22, PASSES = 64, APART = 512 };

static int has_target(const Ins *ins)
{
    return ins->op == OP_BRA || ins->op == OP_BRA_P;
}

static uint64_t *set_before(const Liveness *a, uint32_t at)
{
    return a->kept[at] ? a->set + (size_t)(a->kept[at] - 1) * a->words : NULL;
}

static void set_join(uint64_t *to, const uint64_t *from, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        to[i] |= from[i];
}

/* Transforms the set live after the instruction into the set live before it. */
static void liveness_step(Liveness *a, uint32_t at)
{
    const Ins *ins = &a->kernel->code[at];
    int always = ins->op == OP_BRA || (ins->op == OP_EXIT && ins->guard == NO_SLOT);
    if (always) memset(a->now, 0, a->words * sizeof *a->now);
    if (has_target(ins)) set_join(a->now, set_before(a, ins->target), a->words);
    for (int d = 0; ins->guard == NO_SLOT && d < 4 && ins->t_d[d]; d++)
        a->now[ins->t_d[d] / 64] &= ~(1ull << ins->t_d[d] % 64);
    for (int s = 0; s < 6; s++)
        if (ins->t_s[s]) a->now[ins->t_s[s] / 64] |= 1ull << ins->t_s[s] % 64;
}

/* Goes through all code backwards; 0 when no set grows any more. */
static int sets_grow(Liveness *a)
{
    int grew = 0;
    memset(a->now, 0, a->words * sizeof *a->now);
    for (uint32_t i = a->kernel->count; i-- > 0;) {
        liveness_step(a, i);
        uint64_t *kept = set_before(a, i);
        if (!kept || !memcmp(kept, a->now, a->words * sizeof *kept)) continue;
        set_join(kept, a->now, a->words);
        grew = 1;
    }
    return grew;
}

/* Numbers the stored sets; returns how many are stored and merged. */
static uint32_t sets_number(Liveness *a)
{
    uint32_t sets = 0, branches = 0;
    for (uint32_t i = 0; i < a->kernel->count; i++) {
        const Ins *ins = &a->kernel->code[i];
        branches += (uint32_t)has_target(ins);
        if (has_target(ins) && !a->kept[ins->target]) a->kept[ins->target] = ++sets;
        if (i % APART == 0 && !a->kept[i]) a->kept[i] = ++sets;
    }
    return sets + branches;
}

int liveness_open(Liveness *a, const SimtKernel *kernel)
{
    *a = (Liveness){.kernel = kernel, .words = kernel->scoreboard / 64 + 1};
    if (kernel->calls.routines || kernel->tables) return 0;
    a->kept = calloc(kernel->count + 1, sizeof *a->kept);
    if (!a->kept) return -1;
    uint64_t room = (uint64_t)(sets_number(a) + 1) * a->words;
    if (room > MOST_WORDS) return 0;
    a->now = calloc(a->words, sizeof *a->now);
    a->set = calloc((size_t)room, sizeof *a->set);
    if (!a->now || !a->set) return -1;
    for (int pass = 0; pass < PASSES; pass++)
        if (!sets_grow(a)) return 0;
    free(a->set);
    a->set = NULL;
    return 0;
}

void liveness_close(Liveness *a)
{
    free(a->kept), free(a->set), free(a->now);
}

const uint64_t *liveness_after(Liveness *a, uint32_t to)
{
    if (!a->set) return NULL;
    uint32_t from = to;
    while (from < a->kernel->count && !a->kept[from])
        from++;
    const uint64_t *known = from < a->kernel->count ? set_before(a, from) : NULL;
    memset(a->now, 0, a->words * sizeof *a->now);
    if (known) memcpy(a->now, known, a->words * sizeof *a->now);
    while (from-- > to)
        liveness_step(a, from);
    const Ins *last = &a->kernel->code[to - 1];
    if (last->op == OP_BRA) memset(a->now, 0, a->words * sizeof *a->now);
    if (has_target(last)) set_join(a->now, set_before(a, last->target), a->words);
    return a->now;
}
