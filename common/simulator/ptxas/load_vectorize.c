/* load_vectorize.c - loads from shared memory that SASS shows to be merged.
 *
 * ptxas merges loads of neighbouring words if it can prove that their address is a multiple of the
 * width (decode/merge.c). It knows more than PTX shows if it unrolls a loop fully, because loop
 * variables become constants. SASS then has one wider load instead of the load and its neighbours.
 * The simulator accepts this if the neighbours follow in PTX and no instruction in between may
 * write to them. */
#include "common/simulator/ptxas/load_vectorize.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/ops.h"

enum { WINDOW = 256, SEVERAL = 255 };

typedef struct Vectorizer {
    SimtKernel *kernel;
    const CodeMap *map;
    uint8_t *width; /* width of the SASS loads per line, from map->first on; 0: there are none */
    uint64_t steps; /* instructions examined; the analysis of a hostile kernel ends at CODE_STEPS */
} Vectorizer;

static void widths_find(const Vectorizer *j, const SassCode *code)
{
    for (uint32_t i = 0; i < code->count; i++) {
        const SassIns *ins = &code->ins[i];
        if ((ins->op & SASS_OPCODE_MASK) != SASS_LDS || !ins->reached ||
            code_at(j->map, ins->line) == CODE_NOWHERE)
            continue;
        uint8_t *own = &j->width[ins->line - j->map->first];
        *own = !*own || *own == ins->bytes ? ins->bytes : SEVERAL;
    }
}

static uint32_t bytes_of(const Ins *ins)
{
    int loads = ins->class == CLASS_SHARED_LOAD && loads_plainly(ins) && !ins->merge;
    return loads ? ins->bytes * (ins->vector > 1 ? ins->vector : 1u) : 0;
}

static uint8_t width_of(const Vectorizer *j, uint32_t at)
{
    uint32_t line = code_line(j->map, at);
    return line ? j->width[line - j->map->first] : SEVERAL;
}

/* The load of the same size at `imm` after code[at] that corresponds to no SASS instruction; NULL:
 * there is none. */
static Ins *neighbour(Vectorizer *j, uint32_t at, int64_t imm)
{
    const Ins *first = &j->kernel->code[at];
    int stays = !writes_score(first, first->t_s[0]);
    for (uint32_t k = at + 1; stays && k < j->kernel->count && k < at + WINDOW; k++) {
        Ins *ins = &j->kernel->code[k];
        if (bytes_of(ins) == bytes_of(first) && ins->a == first->a && ins->imm == imm &&
            !width_of(j, k))
            return ins;
        stays = spares_load(first, ins) && !writes_score(ins, first->t_s[0]);
        j->steps++;
    }
    return NULL;
}

/* Finds the loads of the same SASS access as code[at], from `imm` on, in *part; returns their
 * number. */
static uint32_t parts_find(Vectorizer *j, uint32_t at, int64_t imm, Ins *part[4])
{
    uint32_t each = bytes_of(&j->kernel->code[at]), bytes = width_of(j, at), parts = 0;
    for (uint32_t i = 0; i < bytes / each; i++) {
        Ins *other = neighbour(j, at, imm + i * each);
        if (other) part[parts++] = other;
    }
    return parts;
}

/* Merges code[at] with the largest number of loads within `bytes` bytes: one of two, or at least
 * two of four. */
static void join_try(Vectorizer *j, uint32_t at)
{
    Ins *first = &j->kernel->code[at], *part[4];
    uint32_t each = bytes_of(first), bytes = width_of(j, at), best = 0, most = 0;
    if (each < 2 || bytes == SEVERAL || (bytes != 2 * each && bytes != 4 * each)) return;
    for (uint32_t before = 0; before < bytes; before += each) {
        uint32_t parts = parts_find(j, at, first->imm - before, part);
        if (parts > most) most = parts, best = before;
    }
    if (most < bytes / each / 2) return;
    parts_find(j, at, first->imm - best, part);
    for (uint32_t i = 0; i < most; i++)
        part[i]->merge = MERGE_FOLLOWER;
    first->merge = bytes == 16 ? MERGE_16 : bytes == 8 ? MERGE_8 : MERGE_4;
}

void loads_vectorize(SimtKernel *kernel, const CodeMap *map, const SassCode *code)
{
    Vectorizer j = {kernel, map, calloc((size_t)map->lines + 1, 1), 0};
    if (j.width) widths_find(&j, code);
    for (uint32_t i = 0; j.width && i < kernel->count && j.steps < CODE_STEPS; i++)
        join_try(&j, i);
    free(j.width);
}
