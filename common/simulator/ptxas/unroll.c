/* unroll.c - loops that ptxas unrolls once more.
 *
 * ptxas unrolls a short loop four times if it is one basic block with a constant increment. The
 * loads of all four iterations are then in flight before the first is used, and counter, comparison
 * and branch are executed once. `.pragma "nounroll"` forbids it. Each such loop gets four copies of
 * its code after the kernel's own code. Their registers are renamed, so that only true dependences
 * remain. The replay uses the copies for four consecutive iterations. */
#include "common/simulator/ptxas/unroll.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/core/ops.h"

enum {
    /* Limit in SASS instructions: loops of 19 without and 30 with loads from global memory were
     * unrolled, loops of 29 and 45 were not. */
    MOST_SLOTS = 25,
    MOST_LOADING = 40,
    MOST_CODE = 126, /* instructions of PTX: four times that are put into order */
    MOST_SCORES = 60000
};

static int is_add(const Ins *ins)
{
    return ins->op == OP_ADD_32 || ins->op == OP_ADD_64 || ins->op == OP_SUB_32 ||
           ins->op == OP_SUB_64;
}

/* x = x + constant */
static int counts_on(const Ins *ins)
{
    if (!is_add(ins) || !ins->t_d[0] || ins->guard != NO_SLOT) return 0;
    return (ins->t_s[0] == ins->t_d[0] && !ins->t_s[1]) ||
           (ins->t_s[1] == ins->t_d[0] && !ins->t_s[0]);
}

/* The instruction of code[from, to) that writes `score`, if there is only one; else NULL. */
static const Ins *writer_of(const Ins *code, uint32_t from, uint32_t to, uint16_t score)
{
    const Ins *writer = NULL;
    return writers_count(code, from, to, score, &writer) == 1 ? writer : NULL;
}

/* The comparison that ends the loop, if one of its sides is a counter and the other stays. */
static const Ins *comparison_of(const Ins *code, uint32_t from, uint32_t to)
{
    const Ins *compare = writer_of(code, from, to, code[to].t_s[3]);
    if (!compare || compare->class != CLASS_INT || compare->guard != NO_SLOT) return NULL;
    for (int side = 0; side < 2; side++) {
        const Ins *counter = writer_of(code, from, to, compare->t_s[side]);
        uint16_t other = compare->t_s[!side];
        if (!counter || !counts_on(counter)) continue;
        const Ins *changes;
        return writers_count(code, from, to, other, &changes) ? NULL : compare;
    }
    return NULL;
}

static int is_forbidden(const SimtKernel *kernel, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (!kernel->code[i].pseudo && kernel->code[i].from < kernel->origins)
            return kernel->origin[kernel->code[i].from]->nounroll;
    return 1;
}

/* Is code[from, to] such a loop? It is one basic block, and branch `to` leads back. */
static int is_unrolled(const SimtKernel *kernel, const InsCost *price, uint32_t from, uint32_t to)
{
    uint32_t slots = 0, loads = 0;
    if (kernel->code[to].op != OP_BRA_P || from > to || to - from >= MOST_CODE) return 0;
    for (uint32_t i = from; i <= to; i++) {
        const Ins *ins = &kernel->code[i];
        int expands = ins->class == CLASS_DIV && price[i].pipe == PIPE_SFU;
        if ((i < to && segment_ends(ins, &price[i])) || expands) return 0;
        slots += price[i].slots;
        loads += ins->class == CLASS_LOAD && ins->space != PTX_CONST;
    }
    if (slots > (loads ? MOST_LOADING : MOST_SLOTS) || is_forbidden(kernel, from, to)) return 0;
    return comparison_of(kernel->code, from, to) != NULL;
}

uint32_t loops_mark(const SimtKernel *kernel, InsCost *price)
{
    uint32_t loops = 0;
    for (uint32_t i = 0; i < kernel->count; i++) {
        uint32_t from = kernel->code[i].target;
        if (kernel->code[i].class != CLASS_BRANCH || !is_unrolled(kernel, price, from, i)) continue;
        price[from].loop = ++loops;
    }
    return loops;
}

/* ---- copies ------------------------------------------------------------------------------- */

/* Renames what copy number `iteration` writes, and what it and the next ones read of that. */
static void copy_rename(SimtKernel *kernel, Ins *ins, uint32_t iteration, uint16_t *now,
                        uint16_t *fresh)
{
    for (int k = 0; k < 6; k++)
        ins->t_s[k] = now[ins->t_s[k]];
    for (int k = 0; k < 4 && ins->t_d[k]; k++) {
        uint16_t own = ins->t_d[k];
        if (iteration + 1 < UNROLLED && !fresh[own]) {
            fresh[own] = (uint16_t)kernel->costs.scoreboard++;
            kernel->width[fresh[own]] = kernel->width[own];
        }
        /* Code after the loop reads the last copy's result under its own name. */
        now[own] = iteration + 1 < UNROLLED ? fresh[own] : own;
        ins->t_d[k] = now[own];
    }
}

/* Counter, comparison and branch are executed once. */
static int is_dropped(const SimtKernel *kernel, const Unrolled *loop, uint32_t at)
{
    const Ins *ins = &kernel->code[at];
    uint32_t last = loop->first + loop->count - 1;
    return at == last || counts_on(ins) || ins == comparison_of(kernel->code, loop->first, last);
}

/* Four copies of a loop, in one order.  -1: out of memory. */
static int loop_copy(SimtKernel *kernel, InsCost *price, const Unrolled *loop, Liveness *alive)
{
    uint16_t *now = calloc(2 * (size_t)kernel->scoreboard, sizeof *now);
    if (!now) return -1;
    uint16_t *fresh = now + kernel->scoreboard;
    uint32_t to = loop->copy, last = loop->first + loop->count - 1;
    for (uint32_t i = 0; i < kernel->scoreboard; i++)
        now[i] = (uint16_t)i;
    for (uint32_t iteration = 0; iteration < UNROLLED; iteration++) {
        memset(fresh, 0, kernel->scoreboard * sizeof *fresh);
        for (uint32_t i = loop->first; i <= last; i++, to++) {
            kernel->costs.code[to] = kernel->code[i];
            price[to] = price[i];
            price[to].origin = i, price[to].loop = 0, price[to].last = 0;
            copy_rename(kernel, &kernel->costs.code[to], iteration, now, fresh);
            if (iteration + 1 == UNROLLED || !is_dropped(kernel, loop, i)) continue;
            if (!iteration) price[last].saves += price[i].slots;
            price[to].slots = 0, price[to].busy = 0, price[to].latency = 0;
            price[to].pipe = PIPE_NONE;
        }
    }
    free(now);
    price[to - 1].last = 1;
    piece_order(kernel, kernel->costs.code + loop->copy, price + loop->copy, UNROLLED * loop->count,
                liveness_after(alive, last + 1));
    return 0;
}

/* Assigns consecutive places to the copies of the marked loops; returns the total number of
 * instructions. */
static uint32_t loops_list(SimtKernel *kernel, const InsCost *price)
{
    uint32_t room = kernel->count;
    for (uint32_t i = 0; i < kernel->count; i++) {
        uint32_t first = kernel->code[i].target;
        if (kernel->code[i].class != CLASS_BRANCH || first > i || !price[first].loop) continue;
        Unrolled *loop = &kernel->costs.unrolled[price[first].loop - 1];
        if (loop->count) continue;
        *loop = (Unrolled){.first = first, .count = i - first + 1, .copy = room};
        room += UNROLLED * loop->count;
    }
    return room;
}

InsCost *loops_unroll(SimtKernel *kernel, InsCost *price, uint32_t loops, Liveness *alive,
                      uint32_t *prices)
{
    int failed = 1;
    kernel->costs.unrolled = calloc(loops + 1, sizeof *kernel->costs.unrolled);
    uint32_t room = kernel->costs.unrolled ? loops_list(kernel, price) : 0;
    kernel->costs.code = room ? malloc(((size_t)room + 1) * sizeof *kernel->costs.code) : NULL;
    InsCost *more = room ? realloc(price, ((size_t)room + 1) * sizeof *more) : NULL;
    /* Each copy but the last has up to four new names for its results. */
    uint8_t *width = realloc(kernel->width, kernel->scoreboard + 4 * (size_t)room);
    if (more) price = more;
    if (width) kernel->width = width;
    if (kernel->costs.code && more && width) {
        failed = 0;
        memcpy(kernel->costs.code, kernel->code, kernel->count * sizeof *kernel->costs.code);
        kernel->costs.scoreboard = kernel->scoreboard;
        for (uint32_t i = 0; i < kernel->count; i++)
            price[i].origin = i;
    }
    for (uint32_t i = 0; i < loops && !failed; i++) {
        const Unrolled *loop = &kernel->costs.unrolled[i];
        if (kernel->costs.scoreboard + UNROLLED * 4 * loop->count > MOST_SCORES)
            price[loop->first].loop = 0;
        else
            failed = loop_copy(kernel, price, loop, alive) != 0;
    }
    *prices = room;
    if (!failed) return price;
    free(price);
    return NULL;
}
