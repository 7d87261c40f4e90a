/* load_reuse.c - loads that ptxas removes from a loop, because an earlier iteration has loaded the
 * same value.
 *
 * An example is a sliding window: the value that one iteration loads at one end is needed further
 * inside by the next iterations. If ptxas unrolls the loop, it detects this reuse and keeps the
 * values in registers. SASS shows in how many of the unrolled iterations the load remains. The
 * simulator accepts this if PTX shows the reason. The address must advance by a constant in each
 * iteration, and a load with the same base register must have accessed it that number of iterations
 * before. Nothing in the loop may write to that memory or wait for others.
 *
 * Among the unrolled iterations, the first ones keep their loads. */
#include "common/simulator/ptxas/load_reuse.h"

#include <stdlib.h>

#include "common/simulator/core/ops.h"

enum { MOST_CODE = 2048, DEPTH = 6 };

/* A loop that is one basic block: code[from, to), and the branch back. */
typedef struct Iteration {
    const SimtKernel *kernel;
    uint32_t from, to;
    uint64_t *steps; /* instructions examined; the analysis of a hostile kernel ends at
                      * CODE_STEPS */
} Iteration;

/* Number of instructions of the loop that write `score`; the last one is in *writer. */
static uint32_t writers_of(const Iteration *t, uint16_t score, const Ins **writer)
{
    *t->steps += (uint64_t)t->to - t->from + t->kernel->constants;
    return writers_count(t->kernel->code, t->from, t->to, score, writer);
}

/* A constant operand of an addition, with its sign. */
static int addend_of(const Iteration *t, const Ins *add, uint64_t *by)
{
    int narrow = add->op == OP_ADD_32 || add->op == OP_SUB_32,
        minus = add->op == OP_SUB_32 || add->op == OP_SUB_64;
    uint32_t slot = !add->t_s[1] ? add->b : minus || add->t_s[0] ? NO_SLOT : add->a;
    if (!constant_of(t->kernel, slot, by)) return 0;
    if (narrow) *by = (uint64_t)(int64_t)(int32_t)*by;
    if (minus) *by = 0 - *by;
    return 1;
}

/* x = x + constant, perhaps by way of other registers. */
static int counts_by(const Iteration *t, uint16_t score, uint64_t *by)
{
    uint16_t at = score;
    *by = 0;
    for (uint32_t k = 0; k < DEPTH; k++) {
        const Ins *writer = NULL;
        uint64_t more = 0;
        if (writers_of(t, at, &writer) != 1) return 0;
        if (writer->guard != NO_SLOT) return 0;
        switch (writer->op) {
        case OP_ADD_32:
        case OP_ADD_64:
        case OP_SUB_32:
        case OP_SUB_64:
            if (!addend_of(t, writer, &more)) return 0;
            at = writer->t_s[0] ? writer->t_s[0] : writer->t_s[1];
            break;
        case OP_MOV_32:
        case OP_MOV_64:
            at = writer->t_s[0];
            break;
        default:
            return 0;
        }
        *by += more;
        if (at == score) return 1;
    }
    return 0;
}

/* Increment of a register per iteration; 0: not known. */
static int advance_find(const Iteration *t, uint16_t score, uint32_t depth, uint64_t *by)
{
    const Ins *w = NULL;
    uint64_t first = 0, second = 0, factor = 0;
    uint32_t writers = writers_of(t, score, &w);
    *by = 0;
    if (!writers) return 1;
    if (counts_by(t, score, by)) return 1;
    if (writers > 1 || !depth || w->guard != NO_SLOT ||
        !advance_find(t, w->t_s[0], depth - 1, &first) ||
        !advance_find(t, w->t_s[1], depth - 1, &second))
        return 0;
    int known = constant_of(t->kernel, w->b, &factor);
    switch (w->op) {
    case OP_MOV_32:
    case OP_MOV_64:
    case OP_SEXT_64:
    case OP_ZEXT_64:
        *by = first;
        return 1;
    case OP_ADD_32:
    case OP_ADD_64:
        *by = first + second;
        return 1;
    case OP_SUB_32:
    case OP_SUB_64:
        *by = first - second;
        return 1;
    case OP_SHL_32:
    case OP_SHL_64:
        *by = first << (factor & 63);
        return known;
    case OP_MUL_32:
    case OP_MUL_64:
    case OP_MULWIDE_U32:
    case OP_MULWIDE_S32:
        *by = first * factor;
        return known;
    default:
        return 0;
    }
}

static int is_straight(const Iteration *t)
{
    if (t->to <= t->from || t->to - t->from > MOST_CODE) return 0;
    for (uint32_t i = t->from; i < t->to; i++) {
        const Ins *ins = &t->kernel->code[i];
        if (ins->class == CLASS_BRANCH || ins->class == CLASS_BARRIER || ins->op == OP_EXIT)
            return 0;
    }
    return 1;
}

static int is_spared(const Iteration *t, const Ins *load)
{
    for (uint32_t i = t->from; i < t->to; i++)
        if (t->kernel->code[i].op != OP_JOIN && !spares_load(load, &t->kernel->code[i])) return 0;
    return 1;
}

static int is_alike(const Ins *load, const Ins *other)
{
    return loads_plainly(other) && other->op == load->op && other->a == load->a &&
           other->base64 == load->base64 && other->bytes == load->bytes &&
           other->vector == load->vector && other->space == load->space;
}

/* Number of iterations since another load accessed this load's address; 0: none of the last
 * `iterations`-1 iterations did. */
static uint32_t iterations_ago(const Iteration *t, uint32_t at, uint64_t step, uint32_t iterations)
{
    const Ins *code = t->kernel->code, *load = &code[at], *w = NULL;
    int backward = (int64_t)step < 0;
    uint64_t by = backward ? 0 - step : step;
    uint32_t best = 0;
    if (writers_of(t, load->t_s[0], &w) > 1) return 0;
    for (uint32_t i = t->from; i < t->to; i++) {
        uint64_t from = (uint64_t)load->imm, to = (uint64_t)code[i].imm,
                 ahead = backward ? from - to : to - from;
        if (!is_alike(load, &code[i]) || (int64_t)ahead <= 0 || ahead % by) continue;
        if (w && (w > load) != (w > &code[i])) continue;
        uint64_t ago = ahead / by;
        if (ago < iterations && (!best || ago < best)) best = (uint32_t)ago;
    }
    return best;
}

static void reuse_look(SimtKernel *kernel, const CodeMap *map, const Iteration *t,
                       uint32_t iterations, const uint32_t *made)
{
    for (uint32_t i = t->from; i < t->to && *t->steps <= CODE_STEPS; i++) {
        const Ins *load = &kernel->code[i];
        uint32_t line = code_line(map, i), loads = line ? made[line - map->first] : 0;
        uint64_t step;
        if (!loads_plainly(load) || load->merge || !loads || loads >= iterations) continue;
        if (!advance_find(t, load->t_s[0], DEPTH, &step) || !step || !is_spared(t, load)) continue;
        uint32_t ago = iterations_ago(t, i, step, iterations);
        if (!ago) continue;
        if (!kernel->costs.reused)
            kernel->costs.reused = calloc(kernel->mems + 1, sizeof *kernel->costs.reused);
        if (!kernel->costs.reused) return;
        kernel->costs.reused[load->mem] =
            (ReusedLoad){(int64_t)step, iterations, loads > ago ? loads : ago};
    }
}

void load_reuse_find(SimtKernel *kernel, const CodeMap *map, const UnrolledLoop *loop,
                     const uint32_t *made)
{
    uint64_t steps = 0;
    for (uint32_t k = 0; k < map->loops; k++) {
        const Iteration t = {kernel, loop[k].head, loop[k].end, &steps};
        if (loop[k].copies < 2 || !is_straight(&t)) continue;
        reuse_look(kernel, map, &t, loop[k].copies, made);
    }
}

int load_is_reused(Warp *warp, const Ins *ins, uint64_t address, uint32_t mask)
{
    Worker *worker = warp->worker;
    const ReusedLoad *load = &worker->kernel->costs.reused[ins->mem];
    if (!load->iterations) return 0;
    ReuseState *state = &worker->wavefronts[ins->mem].reuse;
    int goes_on = state->warp == warp && state->block == worker->block.number &&
                  state->mask == mask && state->next == address;
    *state = (ReuseState){.warp = warp,
                          .block = worker->block.number,
                          .mask = mask,
                          .next = address + (uint64_t)load->step,
                          .number = goes_on ? (state->number + 1) % load->iterations : 0};
    return state->number >= load->loads;
}
