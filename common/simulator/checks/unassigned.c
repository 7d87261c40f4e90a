/* unassigned.c - registers that a thread may read before it writes them.
 *
 * A forward analysis of the control flow: a register may be unassigned at a place if a path from
 * the kernel's entry leads there without an assignment. A guarded instruction assigns nothing for
 * certain. Such registers are few, because nvcc assigns nearly all registers before it reads them;
 * a kernel without any needs no further checks of its registers. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/checks/definedness.h"
#include "common/simulator/core/ops.h"

/* Limits for long kernels: words of all sets, and passes over the code. */
enum { WORDS_MOST = 1 << 22, PASSES = 32 };

typedef struct Analysis {
    SimtKernel *kernel;
    uint32_t *number;          /* per 4 bytes of the register file: from 1; 0: always defined */
    uint32_t registers, words; /* words of a set */
    uint32_t *begin;           /* per instruction: number of its set, plus 1; 0: it begins none */
    uint64_t *set, *now, *found;
    int grew;
} Analysis;

static int is_jump(const Ins *ins)
{
    return ins->op == OP_BRA || ins->op == OP_BRA_P;
}

static int ends_path(const Ins *ins)
{
    return ins->op == OP_BRA || ins->op == OP_BRX ||
           ((ins->op == OP_EXIT || ins->op == OP_TRAP) && ins->guard == NO_SLOT);
}

/* Numbers the registers that some instruction writes or reads, except special registers and
 * constants. */
static void registers_number(Analysis *a)
{
    const SimtKernel *kernel = a->kernel;
    Operands o;
    for (uint32_t i = 0; i < kernel->count; i++) {
        operands_of(kernel, &kernel->code[i], &o);
        for (uint32_t k = 0; k < o.reads; k++)
            if (o.read[k] < kernel->file_bytes) a->number[o.read[k] / 4] = 1;
    }
    for (uint32_t s = 0; s < SR_COUNT * LANES; s++)
        a->number[s] = 0;
    for (uint32_t i = 0; i < kernel->constants; i++)
        a->number[kernel->constant[i].slot / 4] = 0;
    if (kernel->calls.stack_slot) a->number[kernel->calls.stack_slot / 4] = 0;
    for (uint32_t s = 0; s < kernel->file_bytes / 4; s++)
        if (a->number[s]) a->number[s] = ++a->registers;
    a->words = a->registers / 64 + 1;
}

/* Numbers the places that control flow may reach from elsewhere; returns how many. */
static uint32_t sets_number(Analysis *a)
{
    const SimtKernel *kernel = a->kernel;
    uint32_t sets = 0;
    for (uint32_t i = 0; i < kernel->count; i++) {
        uint32_t target = kernel->code[i].target;
        if (is_jump(&kernel->code[i]) && !a->begin[target]) a->begin[target] = ++sets;
    }
    for (uint32_t i = 0; i < kernel->tables; i++)
        if (!a->begin[kernel->table[i]]) a->begin[kernel->table[i]] = ++sets;
    return sets;
}

static void set_join(Analysis *a, uint32_t to)
{
    uint64_t *set = a->set + (size_t)(a->begin[to] - 1) * a->words;
    for (uint32_t w = 0; w < a->words; w++) {
        a->grew |= (a->now[w] & ~set[w]) != 0;
        set[w] |= a->now[w];
    }
}

static void step(Analysis *a, uint32_t at)
{
    const SimtKernel *kernel = a->kernel;
    const Ins *ins = &kernel->code[at];
    Operands o;
    if (a->begin[at]) {
        set_join(a, at);
        memcpy(a->now, a->set + (size_t)(a->begin[at] - 1) * a->words, a->words * sizeof *a->now);
    }
    operands_of(kernel, ins, &o);
    for (uint32_t k = 0; k < o.reads; k++) {
        uint32_t n = o.read[k] < kernel->file_bytes ? a->number[o.read[k] / 4] : 0;
        if (n) a->found[n / 64] |= a->now[n / 64] & 1ull << n % 64;
    }
    for (uint32_t k = 0; k < o.writes && ins->guard == NO_SLOT; k++) {
        uint32_t n = o.write[k] < kernel->file_bytes ? a->number[o.write[k] / 4] : 0;
        if (n) a->now[n / 64] &= ~(1ull << n % 64);
    }
    if (is_jump(ins)) set_join(a, ins->target);
    for (uint32_t i = 0; ins->op == OP_BRX && i < (uint64_t)ins->imm; i++)
        set_join(a, kernel->table[ins->aux + i]);
    if (ends_path(ins)) memset(a->now, 0, a->words * sizeof *a->now);
}

/* 0: no set grows any more. */
static int pass(Analysis *a)
{
    a->grew = 0;
    memset(a->now, 0xff, a->words * sizeof *a->now);
    for (uint32_t i = 0; i < a->kernel->count; i++)
        step(a, i);
    return a->grew;
}

static void found_keep(const Analysis *a)
{
    SimtKernel *kernel = a->kernel;
    uint32_t count = 0;
    for (uint32_t w = 0; w < a->words; w++)
        count += (uint32_t)__builtin_popcountll(a->found[w]);
    if (!count || !(kernel->unassigned.slot = calloc(count, sizeof *kernel->unassigned.slot)))
        return;
    for (uint32_t s = 0; s < kernel->file_bytes / 4; s++) {
        uint32_t n = a->number[s];
        if (n && a->found[n / 64] >> n % 64 & 1)
            kernel->unassigned.slot[kernel->unassigned.count++] = s * 4;
    }
}

void unassigned_find(SimtKernel *kernel)
{
    Analysis a = {.kernel = kernel};
    if (kernel->unassigned.is_known) return;
    kernel->unassigned.is_known = 1;
    if (kernel->calls.routines) return;
    a.number = calloc(kernel->file_bytes / 4 + 1, sizeof *a.number);
    a.begin = calloc(kernel->count + 1, sizeof *a.begin);
    if (a.number && a.begin) {
        registers_number(&a);
        uint64_t words = ((uint64_t)sets_number(&a) + 1) * a.words;
        a.set = words <= WORDS_MOST ? calloc((size_t)words, sizeof *a.set) : NULL;
        a.now = calloc(a.words, sizeof *a.now), a.found = calloc(a.words, sizeof *a.found);
        int passes = 0;
        if (a.set && a.now && a.found) {
            while (pass(&a) && ++passes < PASSES)
                continue;
            found_keep(&a);
        }
    }
    free(a.number), free(a.begin), free(a.set), free(a.now), free(a.found);
}
