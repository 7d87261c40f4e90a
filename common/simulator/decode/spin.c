/* spin.c - loops that wait: a flag, a lock or a counter is read until another thread wrote it.
 *
 * Such a loop reads by a volatile or ordered load or by an atomic, and uses the result.  Where it
 * neither stores nor waits at a barrier it does nothing else, and its warp makes way for others
 * each time it goes back: on a card warps run side by side.  Where it does, it may be at work for
 * long before it waits, and makes way now and then. */
#include <stdlib.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/decode/decoder.h"

/* How many instructions before each read what others write, do other work, read the clock. */
typedef struct Tally {
    uint32_t reads, far_reads, works, clocks;
} Tally;

static int works(const Ins *ins)
{
    int stores = ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE;
    return ins->op == OP_BAR || ins->op == OP_CP_ASYNC || (stores && !ins->order);
}

/* Of each place in the file of registers, whether somebody reads it. */
static uint8_t *uses_find(const Decoder *d)
{
    uint8_t *used = calloc(d->score_room + 1, 1);
    for (uint32_t i = 0; used && i < d->count; i++) {
        const Ins *ins = &d->code[i];
        int store = ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE;
        const uint32_t slot[] = {ins->a, ins->b, ins->c, ins->guard, store ? ins->d : NO_SLOT};
        for (size_t k = 0; k < sizeof slot / sizeof *slot; k++)
            if (slot[k] != NO_SLOT && slot[k] / 4 < d->score_room) used[slot[k] / 4] = 1;
    }
    return used;
}

static int is_polled(const Decoder *d, const Ins *ins, const uint8_t *used)
{
    if (ins->class == CLASS_ATOMIC || ins->vector > 1 || ins->d / 4 >= d->score_room) return 1;
    return used[ins->d / 4];
}

static void tally_make(const Decoder *d, const uint8_t *used, Tally *tally)
{
    for (uint32_t i = 0; i < d->count; i++) {
        const Ins *ins = &d->code[i];
        int reads = ins->order & ORDER_READS && is_polled(d, ins, used);
        tally[i + 1] = tally[i];
        tally[i + 1].reads += (uint32_t)reads;
        tally[i + 1].far_reads += reads && ins->space != PTX_SHARED;
        tally[i + 1].works += (uint32_t)works(ins);
        tally[i + 1].clocks += ins->op == OP_CLOCK;
    }
}

static int reads(const Ins *ins, uint32_t slot)
{
    return ins->a == slot || ins->b == slot || ins->c == slot || ins->guard == slot;
}

static int writes(const Ins *ins, uint32_t slot)
{
    int found = ins->d == slot;
    for (uint32_t k = 0; k < 4; k++)
        found |= ins->v[k] == slot;
    return found;
}

/* Is what the instruction at `at` reads written later in the loop, and not before? */
static int load_is_reused(const Ins *code, uint32_t first, uint32_t at, uint32_t last,
                          uint32_t slot)
{
    if (slot == NO_SLOT || !reads(&code[at], slot)) return 0;
    for (uint32_t k = first; k < at; k++)
        if (writes(&code[k], slot)) return 0;
    for (uint32_t k = at; k <= last; k++)
        if (writes(&code[k], slot)) return 1;
    return 0;
}

/* Does each turn of the loop do just what the one before it did, and change nothing?  Then one that
 * goes back has looked in vain; a loop that tries one place after the other has not. */
static int only_looks(const Ins *code, uint32_t first, uint32_t last)
{
    if (last - first >= LOOKING_MOST) return 0;
    for (uint32_t i = first; i <= last; i++) {
        const Ins *ins = &code[i];
        const uint32_t slot[] = {ins->a, ins->b, ins->c, ins->guard};
        if (ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE) return 0;
        for (uint32_t k = 0; k < 4; k++)
            if (load_is_reused(code, first, i, last, slot[k])) return 0;
    }
    return 1;
}

static int is_comparison(const Ins *ins)
{
    return ins->op >= OP_EQ_32 && ins->op <= OP_INF_F64;
}

enum { TRYING_MOST = 256 }; /* instructions of such a loop: what a hostile kernel may cost */

/* Is there something that other blocks write and that each turn looks for at the same place, and of
 * which it only wants to know whether it is there?  So a lock is tried, with a pause that grows;
 * who takes one piece of work after the other uses what he gets. */
static int tries_again(const Ins *code, uint32_t first, uint32_t last)
{
    if (last - first >= TRYING_MOST) return 0;
    for (uint32_t i = first; i <= last; i++) {
        const Ins *ins = &code[i];
        int tries = ins->order & ORDER_READS && ins->space != PTX_SHARED && ins->vector <= 1;
        for (uint32_t k = first; k <= last && tries; k++)
            tries =
                !writes(&code[k], ins->a) && (!reads(&code[k], ins->d) || is_comparison(&code[k]));
        if (tries) return 1;
    }
    return 0;
}

/* Has it no other loop in it? */
static int is_innermost(const Ins *code, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++)
        if (goes_back(code, i)) return 0;
    return 1;
}

/* Of a loop that reads what others write, or the clock, and does no other work: how it waits. */
static uint8_t waiting_of(const Ins *code, uint32_t first, uint32_t last, int clocks)
{
    int looks = only_looks(code, first, last);
    if (clocks) return looks ? YIELDS_CLOCKED : YIELDS_TIMED;
    if (looks) return YIELDS_LOOKING;
    int tries = tries_again(code, first, last) && is_innermost(code, first, last);
    return tries ? YIELDS_TRYING : YIELDS_ALWAYS;
}

/* The loop from `first` to the branch back at `last`.  Blocks run side by side only for what a
 * block may wait for that another one writes. */
static void loop_mark(Decoder *d, const Tally *tally, uint32_t first, uint32_t last, int32_t *spins)
{
    const Tally *begin = &tally[first], *end = &tally[last + 1];
    int waits = end->works == begin->works, clocks = end->clocks != begin->clocks,
        reads = end->reads != begin->reads, reads_far = end->far_reads != begin->far_reads;
    uint8_t how = !waits            ? YIELDS_SOMETIMES
                  : reads || clocks ? waiting_of(d->code, first, last, clocks)
                                    : YIELDS_NEVER;
    if (!reads && how != YIELDS_CLOCKED) return;
    d->code[last].yields = how;
    if (how == YIELDS_CLOCKED) d->kernel->traits.polls_clock = 1;
    if (!reads) return;
    if (waits || reads_far) d->kernel->traits.has_polling = d->kernel->traits.is_ordered = 1;
    int looks = how == YIELDS_LOOKING || how == YIELDS_CLOCKED;
    if (waits && reads_far && (looks || tries_again(d->code, first, last)))
        d->kernel->traits.only_polls_blocks = 1;
    if (waits) spins[first]++, spins[last + 1]--;
}

void spins_find(Decoder *d)
{
    Tally *tally = calloc(d->count + 1, sizeof *tally);
    int32_t *spins = calloc(d->count + 1, sizeof *spins), inside = 0;
    uint8_t *used = uses_find(d);
    if (tally && spins && used) {
        tally_make(d, used, tally);
        for (uint32_t i = 0; i < d->count; i++)
            if (goes_back(d->code, i)) loop_mark(d, tally, d->code[i].target, i, spins);
        for (uint32_t i = 0; i < d->count; i++) {
            inside += spins[i];
            if (inside && d->code[i].order & ORDER_READS) d->code[i].order |= ORDER_SPINS;
        }
    } else {
        refuse(d, "out of host memory");
    }
    free(tally), free(spins), free(used);
}
