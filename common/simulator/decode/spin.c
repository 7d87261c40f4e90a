/* spin.c - polling loops: a flag, a lock or a counter is read until another thread writes it.
 *
 * Such a loop reads with a volatile or ordered load or with an atomic, and uses the result. If it
 * neither stores nor waits at a barrier, it does no other work, and its warp yields to others after
 * each iteration, because the warps of a GPU run concurrently. Otherwise it may work for long
 * before it waits, and yields only now and then. */
#include <stdlib.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/decode/decoder.h"

/* Number of instructions before each one that read shared flags, do other work, or read the
 * clock. */
typedef struct Tally {
    uint32_t reads, far_reads, works, clocks;
} Tally;

static int works(const Ins *ins)
{
    int stores = ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE;
    return ins->op == OP_BAR || ins->op == OP_CP_ASYNC || (stores && !ins->order);
}

/* Marks each place of the register file that an instruction reads. */
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

/* Is each iteration of the loop identical to the one before, without side effects? If so, an
 * iteration that branches back was a failed poll. A loop that tries one address after the other is
 * not of this kind. */
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

/* Does each iteration read a word that other blocks write, at a fixed address, and only compare its
 * value? An example is a lock acquired with growing back-off. A loop that takes tasks from a queue
 * is not of this kind, because it uses the value. */
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

/* Is it an innermost loop? */
static int is_innermost(const Ins *code, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++)
        if (is_backward_branch(code, i)) return 0;
    return 1;
}

/* Waiting mode of a loop that reads shared flags or the clock and does no other work. */
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
            if (is_backward_branch(d->code, i)) loop_mark(d, tally, d->code[i].target, i, spins);
        for (uint32_t i = 0; i < d->count; i++) {
            inside += spins[i];
            if (inside && d->code[i].order & ORDER_READS) d->code[i].order |= ORDER_SPINS;
        }
    } else {
        refuse(d, "out of host memory");
    }
    free(tally), free(spins), free(used);
}
