/* spill.c - values that ptxas spills to local memory because registers run out.
 *
 * PTX has an unlimited number of registers. SASS, if it exists for this PTX, shows which values are
 * spilled and reloaded, next to which PTX instructions, and in which loop (sass.h). Each of these
 * accesses becomes an instruction here: it has no effect on data, but it is counted and priced as
 * an access.
 *
 * An access is placed as in SASS: before the PTX instruction that follows it there, in the loop
 * that is closed by the same branch. At the end of a basic block, whose successor may differ, it is
 * placed before the last instruction of the block. An access that ptxas moved out of a loop is
 * placed before the loop. If ptxas unrolled a loop n times, every nth access is kept, because PTX
 * makes n times more iterations. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/decode/decoder.h"

enum { NEAR = 96, NONE = CODE_NOWHERE };

typedef struct Spills {
    Decoder *d;
    const SassCode *machine;
    CodeMap map;
    uint32_t *ptx_loop; /* per SASS loop: the PTX loop, from 1; 0: none or not found */
    uint32_t *copies;   /* ... and its unroll factor; 0: another SASS loop matches better */
    uint32_t *seen;     /* ... and its accesses so far */
    Ins *add;           /* to be put before Ins number add.target */
    uint32_t adds;
} Spills;

/* ---- loops of SASS ---- */

/* Number of SASS instructions of the loop per PTX line: the most frequent number among lines that
 * have any. */
static uint32_t copies_count(const Spills *s, uint32_t number, uint32_t *count)
{
    enum { MOST = 64 };
    const SassCode *m = s->machine;
    memset(count, 0, s->map.lines * sizeof *count);
    for (uint32_t i = 0; i < m->count; i++) {
        const SassIns *ins = &m->ins[i];
        uint32_t at = code_at(&s->map, ins->line);
        if (ins->kind || ins->loop != number || at == NONE) continue;
        if (s->map.around[at] == s->ptx_loop[number]) count[ins->line - s->map.first]++;
    }
    return code_copies(&s->map, count, MOST);
}

/* If one PTX loop has several SASS loops, the one unrolled most executes nearly all iterations. */
static int machine_loops_find(Spills *s)
{
    const SassCode *m = s->machine;
    uint32_t *count = calloc(s->map.lines + 1, sizeof *count);
    s->ptx_loop = calloc(m->loops + 1, sizeof *s->ptx_loop);
    s->copies = calloc(m->loops + 1, sizeof *s->copies);
    s->seen = calloc(m->loops + 1, sizeof *s->seen);
    if (!count || !s->ptx_loop || !s->copies || !s->seen) {
        free(count);
        return -1;
    }
    uint64_t steps = ((uint64_t)m->count + s->map.lines + s->map.loops) * (m->loops + 1);
    s->copies[0] = 1;
    for (uint32_t k = 1; k <= m->loops && steps < CODE_STEPS; k++) {
        s->ptx_loop[k] = code_loop_closed(&s->map, m->loop_line[k - 1]);
        s->copies[k] = copies_count(s, k, count);
        for (uint32_t other = 1; other < k; other++) {
            if (s->ptx_loop[other] != s->ptx_loop[k] || !s->ptx_loop[k]) continue;
            s->copies[s->copies[other] < s->copies[k] ? other : k] = 0;
        }
    }
    free(count);
    return 0;
}

/* ---- places ---- */

/* The next Ins in SASS order of the same SASS loop and its PTX loop, or with `in_piece` of the same
 * basic block; NONE: none is near. */
static uint32_t next_inside(const Spills *s, uint32_t number, int step, int in_piece)
{
    const SassCode *m = s->machine;
    uint32_t loop = m->ins[number].loop;
    for (uint32_t i = number, k = 0; i < m->count && k < NEAR; i += (uint32_t)step, k++) {
        if (in_piece && m->ins[i].piece != m->ins[number].piece) break;
        uint32_t at =
            m->ins[i].loop == loop && !m->ins[i].kind ? code_at(&s->map, m->ins[i].line) : NONE;
        if (at != NONE && s->map.around[at] == s->ptx_loop[loop]) return at;
    }
    return NONE;
}

/* Accesses that ptxas moved out of an inner loop are placed before that loop. */
static uint32_t before_inner(const Spills *s, uint32_t number)
{
    const SassCode *m = s->machine;
    uint32_t outer = s->ptx_loop[m->ins[number].loop], at = NONE;
    for (uint32_t i = number; i < m->count && i < number + NEAR && at == NONE; i++)
        if (!m->ins[i].kind) at = code_at(&s->map, m->ins[i].line);
    if (at == NONE) return NONE;
    uint32_t inner = s->map.around[at];
    while (inner && s->map.loop[inner - 1].parent != outer)
        inner = s->map.loop[inner - 1].parent;
    if (!inner) return NONE;
    for (uint32_t i = s->map.loop[inner - 1].head; i-- > 0;)
        if (s->map.around[i] == outer) return i;
    return NONE;
}

static uint32_t place_of(const Spills *s, uint32_t number)
{
    uint32_t at = next_inside(s, number, 1, 1);
    if (at == NONE) at = next_inside(s, number, -1, 1);
    if (at == NONE) at = next_inside(s, number, 1, 0);
    if (at == NONE) at = before_inner(s, number);
    return at != NONE ? at : next_inside(s, number, -1, 0);
}

/* Excludes the arrays of the PTX, which are at the bottom of the frame. */
static int is_spill(const Spills *s, const SassIns *ins)
{
    return ins->kind && ins->offset >= 0 && (uint64_t)ins->offset >= s->d->local_bytes;
}

static void spill_add(Spills *s, uint32_t number)
{
    const SassIns *ins = &s->machine->ins[number];
    int store = ins->kind == SASS_KIND_LOCAL_STORE;
    uint32_t copies = s->copies[ins->loop], at = place_of(s, number),
             other = code_at(&s->map, s->machine->ins[ins->other].line);
    if (at == NONE || !copies || s->seen[ins->loop]++ % copies) return;
    s->add[s->adds++] = (Ins){.d = NO_SLOT,
                              .a = store && other != NONE ? s->d->code[other].d : NO_SLOT,
                              .b = NO_SLOT,
                              .c = NO_SLOT,
                              .mem = number,
                              .v = {NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT},
                              .guard = NO_SLOT,
                              .op = OP_SPILL,
                              .class = store ? CLASS_STORE : CLASS_LOAD,
                              .space = PTX_LOCAL,
                              .pseudo = 1,
                              .bytes = ins->bytes,
                              .last_use = ins->last,
                              .imm = ins->offset,
                              .from = s->d->code[at].from,
                              .aux = other != NONE ? s->d->code[other].from : NONE,
                              .target = at};
}

static int by_place(const void *left, const void *right)
{
    const Ins *a = left, *b = right;
    if (a->target != b->target) return a->target < b->target ? -1 : 1;
    return a->mem < b->mem ? -1 : a->mem > b->mem;
}

/* The source line with most consecutive spill accesses; those in a loop are weighted. */
static uint32_t busiest_line(const Spills *s)
{
    enum { IN_LOOP = 16 };
    uint32_t best = 0, most = 0, line = 0, here = 0;
    for (uint32_t i = 0; i < s->adds; i++) {
        uint32_t now = source_own_line(s->d->kernel, s->add[i].from);
        here = (now == line ? here : 0) + (s->map.around[s->add[i].target] ? IN_LOOP : 1);
        line = now;
        if (line && here > most) best = line, most = here;
    }
    return best;
}

static int spills_insert(Spills *s)
{
    Decoder *d = s->d;
    Ins *code = calloc(d->count + s->adds + 1, sizeof *code);
    uint32_t *moved = calloc(d->count + 1, sizeof *moved), at = 0;
    if (!code || !moved) {
        free(code), free(moved);
        return -1;
    }
    qsort(s->add, s->adds, sizeof *s->add, by_place);
    d->kernel->info.spill_line = busiest_line(s);
    for (uint32_t i = 0, k = 0; i < d->count; i++) {
        moved[i] = at;
        for (; k < s->adds && s->add[k].target == i; k++)
            code[at++] = s->add[k];
        code[at++] = d->code[i];
    }
    moved[d->count] = at;
    targets_move(d, code, at, moved);
    free(moved), free(d->code);
    d->code = code, d->count = at;
    return 0;
}

/* Finds the position in SASS of each PTX instruction, in its loop: the first of its copies. */
static int order_find(Spills *s)
{
    SimtKernel *kernel = s->d->kernel;
    kernel->cubin.order = calloc(kernel->origins + 1, sizeof *kernel->cubin.order);
    if (!kernel->cubin.order) return -1;
    for (uint32_t i = s->machine->count; i-- > 0;) {
        const SassIns *ins = &s->machine->ins[i];
        uint32_t at = ins->kind ? NONE : code_at(&s->map, ins->line);
        if (at != NONE && s->copies[ins->loop] && s->map.around[at] == s->ptx_loop[ins->loop])
            kernel->cubin.order[s->d->code[at].from] = i + 1;
    }
    return 0;
}

int spills_place(Decoder *d)
{
    Spills s = {.d = d, .machine = d->kernel->cubin.sass};
    if (!s.machine || !s.machine->count || spills_slightly(d)) return 0;
    if (d->kernel->calls.stack_slot) return 0; /* the frame's layout is known only at run time */
    s.add = calloc(s.machine->count, sizeof *s.add);
    int good = s.add && code_map_open(&s.map, d->kernel, d->code, d->count) == 0 &&
               machine_loops_find(&s) == 0 && order_find(&s) == 0;
    for (uint32_t i = 0; good && i < s.machine->count; i++)
        if (is_spill(&s, &s.machine->ins[i])) spill_add(&s, i);
    if (good && s.adds) good = spills_insert(&s) == 0;
    d->kernel->info.spills = good ? s.adds : 0;
    code_map_close(&s.map);
    free(s.ptx_loop), free(s.copies), free(s.seen), free(s.add);
    return good ? 0 : refuse(d, "out of host memory");
}

/* ---- readers of reloaded values ---- */

void spills_link(Decoder *d)
{
    enum { LAST = 5 };
    uint32_t first = d->scores, *reader = NULL;
    if (!d->kernel->info.spills || !(reader = malloc(d->kernel->origins * sizeof *reader))) return;
    memset(reader, 0xff, d->kernel->origins * sizeof *reader);
    for (uint32_t i = d->count; i-- > 0;)
        if (!d->code[i].pseudo && d->code[i].from < d->kernel->origins) reader[d->code[i].from] = i;
    for (uint32_t i = 0; i < d->count; i++) {
        Ins *load = &d->code[i];
        if (load->op != OP_SPILL || load->class != CLASS_LOAD || load->aux >= d->kernel->origins ||
            reader[load->aux] == NONE)
            continue;
        uint16_t *waits = &d->code[reader[load->aux]].t_s[LAST];
        if (!*waits && d->scores < UINT16_MAX) {
            *waits = (uint16_t)++d->scores;
            d->width[*waits] = 0; /* a name to wait by: the reloaded value has its register */
        }
        if (*waits > first) load->t_d[0] = *waits;
    }
    free(reader);
}
