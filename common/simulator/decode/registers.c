/* registers.c - how many registers a thread needs.
 *
 * SASS states its number of registers. That can be fewer than the kernel needs: under a register
 * limit, ptxas spills the other values to local memory, which costs time on a GPU and is not
 * visible in PTX. If the spill instructions are known (spill.c), they are priced. If they are not
 * known, spilled values count as registers. The exception is at most a sixteenth of the registers:
 * a GPU that stores and loads two of 128 registers once is as fast as without spills. At least
 * three fifths of the values that are live at once are counted in any case; no kernel of the labs
 * or the measurements takes less than 0.63. With spills, this holds for each loop: for the values
 * that it mentions and does not reload from memory. Without SASS, only the live values are known.
 *
 * Every register is live from its first to its last mention in code order, and through any loop
 * that it enters from outside. Values that are folded into other instructions (parameters,
 * constants) need no register. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/decode/decoder.h"

enum { ADDED = 8, LEAST = 16, MOST = 255, PASSES = 16, EASY = 32, FOLDABLE = 52 };
enum { NEEDED = 3, OF = 5 }; /* minimum ratio of registers to live values */
enum { SLIGHT = 16 };        /* the part of its registers that may be stored away for nothing */

typedef struct Life {
    uint32_t from, to;
    int folded, defined;
} Life;

/* A folded register holds a parameter or a constant, or is a copy of such. */
static int definition_folds(const Ins *ins, const Life *life)
{
    if (ins->class != CLASS_FREE) return 0;
    if (ins->op == OP_LD_PARAM) return 1;
    for (int i = 0; i < 3; i++)
        if (ins->t_s[i] && !life[ins->t_s[i]].folded) return 0;
    return 1;
}

static void mention(Life *life, uint32_t score, uint32_t at)
{
    if (!score) return;
    if (at < life[score].from) life[score].from = at;
    if (at > life[score].to) life[score].to = at;
}

static void lives_collect(const Decoder *d, Life *life)
{
    for (uint32_t s = 0; s <= d->scores; s++)
        life[s] = (Life){.from = UINT32_MAX};
    for (uint32_t i = 0; i < d->count; i++) {
        const Ins *ins = &d->code[i];
        for (int k = 0; k < 6; k++)
            mention(life, ins->t_s[k], i);
        for (int k = 0; k < 4; k++) {
            Life *l = &life[ins->t_d[k]];
            if (!ins->t_d[k]) continue;
            int folds = definition_folds(ins, life);
            l->folded = l->defined ? l->folded && folds : folds;
            l->defined = 1;
            mention(life, ins->t_d[k], i);
        }
    }
}

/* A value that is live at a loop's head and mentioned inside the loop lives to the loop's end. */
static int loops_extend(const Decoder *d, Life *life)
{
    int changed = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        const Ins *ins = &d->code[i];
        if (!is_backward_branch(d->code, i)) continue;
        for (uint32_t s = 1; s <= d->scores; s++) {
            if (life[s].from >= ins->target || life[s].to < ins->target || life[s].to >= i)
                continue;
            life[s].to = i;
            changed = 1;
        }
    }
    return changed;
}

/* ptxas limits itself to 32 registers, at which registers do not limit occupancy, as long as
 * recomputing addresses suffices. Source: the labs' kernels, where 24 to 50 values were live and
 * ptxas took 32 to 37. */
static uint32_t squeezed(uint32_t alive)
{
    if (alive <= EASY - ADDED) return alive + ADDED < LEAST ? LEAST : alive + ADDED;
    if (alive <= FOLDABLE) return EASY;
    uint32_t some = EASY + (alive - FOLDABLE) * 3 / 2, all = alive + ADDED,
             least = some < all ? some : all;
    return least < MOST ? least : MOST;
}

/* Live ranges per scoreboard number; NULL: the kernel is too long to analyse. */
static Life *lives_find(const Decoder *d)
{
    if ((uint64_t)d->scores * d->count > 200000000u) return NULL;
    Life *life = malloc((d->scores + 1) * sizeof *life);
    if (!life) return NULL;
    lives_collect(d, life);
    for (int pass = 0; pass < PASSES && loops_extend(d, life); pass++)
        continue;
    return life;
}

/* The most 32-bit values alive at once; -1: not known. */
static int32_t values_alive(const Decoder *d, const Life *life)
{
    int32_t *change = calloc(d->count + 2, sizeof *change);
    int32_t most = life && change ? 0 : -1;
    if (life && change) {
        for (uint32_t s = 1; s <= d->scores; s++) {
            if (life[s].from == UINT32_MAX || life[s].folded) continue;
            change[life[s].from] += d->width[s];
            change[life[s].to] -= d->width[s];
        }
        for (uint32_t s = 1; s <= d->scores && d->kernel->width; s++)
            d->kernel->width[s] = life[s].folded ? 0 : d->width[s];
        int32_t alive = 0;
        for (uint32_t i = 0; i < d->count; i++) {
            alive += change[i];
            if (alive > most) most = alive;
        }
    }
    free(change);
    return most;
}

/* ---- loops that spill ----------------------------------------------------------------------- */

typedef struct Mentions {
    uint32_t *score, *word; /* the loop, from 1, that last mentioned it */
    int32_t *change;
    uint32_t words;
} Mentions;

static int mentions_open(Mentions *m, const Decoder *d)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (d->code[i].op == OP_SPILL && d->code[i].imm / 4 >= m->words)
            m->words = (uint32_t)(d->code[i].imm / 4) + 1;
    m->score = calloc(d->scores + 1, sizeof *m->score);
    m->word = calloc(m->words + 1, sizeof *m->word);
    m->change = calloc(d->count + 2, sizeof *m->change);
    return m->score && m->word && m->change ? 0 : -1;
}

/* Number of the loop's values that must be in registers: those live at once, less the words that it
 * stores or loads as spills. */
static int32_t loop_values(const Decoder *d, const Life *life, Mentions *m, uint32_t end)
{
    uint32_t head = d->code[end].target;
    int32_t words = 0, alive = 0, most = 0;
    for (uint32_t i = head; i <= end; i++) {
        const Ins *ins = &d->code[i];
        for (int k = 0; k < 6; k++)
            m->score[ins->t_s[k]] = end + 1;
        for (int k = 0; k < 4; k++)
            m->score[ins->t_d[k]] = end + 1;
        if (ins->op != OP_SPILL) continue;
        words += m->word[ins->imm / 4] != end + 1;
        m->word[ins->imm / 4] = end + 1;
    }
    memset(m->change, 0, (end - head + 2) * sizeof *m->change);
    for (uint32_t s = 1; s <= d->scores; s++) {
        if (m->score[s] != end + 1 || life[s].folded) continue;
        m->change[(life[s].from > head ? life[s].from : head) - head] += d->width[s];
        m->change[(life[s].to < end ? life[s].to : end) - head + 1] -= d->width[s];
    }
    for (uint32_t i = head; i <= end; i++) {
        alive += m->change[i - head];
        if (alive > most) most = alive;
    }
    return most > words ? most - words : 0;
}

/* The maximum over all loops; -1: not known. Values that are only live through a loop may all be in
 * memory, at no further cost. Those that a loop uses must be in registers, unless it is known to
 * reload them. */
static int32_t values_in_loops(const Decoder *d, const Life *life)
{
    enum { STEPS = 200000000 };
    Mentions m = {0};
    uint64_t steps = 0;
    int32_t most = life && mentions_open(&m, d) == 0 ? 0 : -1;
    for (uint32_t i = 0; most >= 0 && i < d->count; i++) {
        const Ins *ins = &d->code[i];
        if (!is_backward_branch(d->code, i)) continue;
        steps += i - ins->target + d->scores;
        int32_t here = steps < STEPS ? loop_values(d, life, &m, i) : -1;
        most = here > most || here < 0 ? here : most;
    }
    free(m.score), free(m.word), free(m.change);
    return most;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Registers alive across the call at `at`, in words. */
static uint32_t words_kept(const Decoder *d, const Life *life, uint32_t at)
{
    uint32_t words = 0;
    for (uint32_t s = 1; life && s <= d->scores; s++)
        if (life[s].from != UINT32_MAX && life[s].from < at && life[s].to > at)
            words += d->width[s];
    return words;
}

/* Stack words of a routine on a GPU: values that live across its calls, return addresses, and
 * arrays; parameters are in registers. */
static uint32_t stack_of(const Decoder *d, const Life *life, const Routine *routine)
{
    enum { RETURN_BYTES = 8 };
    uint32_t words = 0;
    uint64_t arrays = 0;
    for (uint32_t i = 0; i < routine->function->variables; i++)
        if (routine->function->variable[i].space == PTX_LOCAL)
            arrays += routine->function->variable[i].bytes;
    for (uint32_t i = routine->entry; i < routine->leave; i++) {
        uint32_t kept = d->code[i].op == OP_CALL ? words_kept(d, life, i) : 0;
        if (kept > words) words = kept;
    }
    return (uint32_t)((arrays + 4 * words + RETURN_BYTES + 7) / 8 * 8);
}

int spills_slightly(const Decoder *d)
{
    uint64_t own = (d->local_bytes + 15) / 16 * 16, all = d->kernel->cubin.local_bytes;
    return all <= own || (all - own + 3) / 4 * SLIGHT <= d->kernel->info.registers;
}

void registers_find(const Decoder *d)
{
    SimtKernel *kernel = d->kernel;
    SimtKernelInfo *info = &kernel->info;
    Life *life = lives_find(d);
    kernel->width = calloc((size_t)d->scores + 1, sizeof *kernel->width);
    int32_t alive = kernel->width ? values_alive(d, life) : -1,
            in_loops = kernel->info.spills ? values_in_loops(d, life) : -1,
            values = in_loops < 0 ? alive : in_loops;
    for (uint32_t i = 0; i < kernel->calls.routines; i++)
        kernel->calls.routine[i].stack_bytes = stack_of(d, life, &kernel->calls.routine[i]);
    free(life);
    if (!kernel->cubin.has_registers)
        info->registers = alive < 0 ? MOST : squeezed((uint32_t)alive);
    uint64_t own = (d->local_bytes + 15) / 16 * 16, all = kernel->cubin.local_bytes,
             stored = in_loops < 0 && !spills_slightly(d) ? (all - own + 3) / 4 : 0,
             needed = info->registers + stored,
             least = values < 0 ? 0 : (uint64_t)values * NEEDED / OF;
    info->spilled_bytes = all > own ? (uint32_t)(all - own) : 0;
    needed = needed > least ? needed : least;
    kernel->registers_needed = needed < MOST ? (uint32_t)needed : MOST;
}
