/* sass_map.c - maps SASS to the PTX from which it was compiled.
 *
 * SASS instructions name the PTX line from which they come. A SASS loop corresponds to the PTX loop
 * whose backward branch has the same line. Its unroll factor is the most frequent number of copies
 * of a line. An instruction in the loop of its line belongs to that part of the PTX. Other
 * instructions (moved into or out of a loop, duplicated, or without a line) belong to the part of
 * their neighbours. Blocks that few threads reach are left out: those that call a routine, and
 * remainder loops.
 *
 * All input is untrusted. SASS that is not understood is not mapped. */
#include "common/simulator/sass_map/sass_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/ptxas/latency.h"
#include "common/simulator/ptxas/load_reuse.h"
#include "common/simulator/ptxas/load_vectorize.h"

enum { NONE = CODE_NOWHERE, ELSEWHERE = 2 };
enum { MOST_PLACES = 1 << 20 };

typedef struct Reading {
    SimtKernel *kernel;
    const InsCost *price;
    const SassCode *code;
    SassMap *f;
    CodeMap map;
    uint32_t *part;              /* per SASS instruction: its part, or NONE */
    uint8_t *variant;            /* which home of its loop it belongs to: 0 or 1, or ELSEWHERE */
    uint8_t *left_out;           /* per basic block of SASS */
    uint32_t *count[2], *now[2]; /* per line of PTX and home */
} Reading;

/* ---- instructions that can be mapped -------------------------------------- */

/* Units that work asynchronously to the warps, and operations that SASS implements with loops. */
static int is_unsupported(const Ins *ins)
{
    switch (ins->op) {
    case OP_MBARRIER:
    case OP_VALUES_SEND:
    case OP_WGMMA:
    case OP_WGMMA_WAIT:
    case OP_WGMMA_COMMIT:
    case OP_ACCELERATOR:
    case OP_DEPENDENTS:
    case OP_NANOSLEEP:
    case OP_ALLOCA:
        return 1;
    default:
        return ins->shared_atomic == SHARED_RETRIES;
    }
}

static int is_plain(const SimtKernel *kernel)
{
    if (kernel->calls.routines || kernel->calls.calls || kernel->tables ||
        kernel->traits.reads_clock || kernel->traits.has_polling || kernel->info.spills)
        return 0;
    for (uint32_t i = 0; i < kernel->count; i++)
        if (is_unsupported(&kernel->code[i])) return 0;
    return 1;
}

const char *sass_map_missing(const SimtKernel *kernel, const SimtMachine *machine)
{
    const SassCode *code = kernel->cubin.sass;
    if (kernel->costs.sass || !kernel->costs.price || !machine->costs.sass_decoder) return NULL;
    if (!code || !code->count || code->sm / 10 != machine->cc_major)
        return "the program has no SASS of it for this machine, or was built without -lineinfo";
    if (kernel->calls.routines || kernel->calls.calls) return "it calls functions recursively";
    if (kernel->tables) return "it jumps by a table";
    if (kernel->traits.reads_clock || kernel->traits.has_polling)
        return "it reads the clock, or polls memory";
    if (kernel->info.spills) return "it spills registers";
    return "its SASS does not correspond to its PTX";
}

/* Does it have a property that is known only from its execution? */
static int is_anchor(const Ins *ins)
{
    if (ins->pseudo || ins->space == PTX_PARAM) return 0;
    if (ins->merge == MERGE_FOLLOWER && ins->class == CLASS_STORE) return 0;
    if (ins->op == OP_CLUSTER_BARRIER) return ins->aux != 0; /* an arrival does not wait */
    if (ins->op == OP_FENCE) return ins->aux != 0;           /* cta scope has none */
    if (ins->op == OP_CP_COMMIT || ins->op == OP_CP_WAIT) return 1;
    return is_memory(ins) || ins->op == OP_BAR || ins->op == OP_BULK_GROUP || ins->op == OP_MATCH;
}

static int is_like_anchor(const Ins *anchor, const SassIns *ins)
{
    if (anchor->space == PTX_CONST) return sass_is_constant(ins);
    return sass_is_access(ins) || sass_is_barrier(ins) || sass_is_match(ins);
}

/* Every access of the PTX has a SASS instruction, except for accesses to shared memory that ptxas
 * may have merged, and constants that are operands. */
static int is_covered(const Reading *r)
{
    const SimtKernel *kernel = r->kernel;
    uint8_t *has = calloc(kernel->count + 1, 1);
    uint32_t shared = 0, found = 0, good = has != NULL;
    for (uint32_t i = 0; good && i < r->code->count; i++)
        if (r->f->anchor[i] != NO_SLOT && !r->variant[i]) has[r->f->anchor[i]] = 1;
    for (uint32_t i = 0; good && i < kernel->count; i++) {
        if (!is_anchor(&kernel->code[i]) || kernel->code[i].space == PTX_CONST) continue;
        if (kernel->code[i].class == CLASS_SHARED_LOAD ||
            kernel->code[i].class == CLASS_SHARED_STORE)
            shared++, found += has[i];
        else
            good = has[i];
    }
    free(has);
    return good && found * 4 >= shared;
}

/* ---- the PTX ------------------------------------------------- */

enum { KEPT = 1, TARGET = 2, FOLDED = 4, BARE = 8 };

/* Marks branches that ptxas kept as such, and where those lead that could have been predicates; and
 * what accesses memory there without a predicate. */
static void kept_mark(const Reading *r, uint8_t *mark)
{
    const SimtKernel *kernel = r->kernel;
    for (uint32_t k = 0; k < r->code->count; k++) {
        const SassIns *ins = &r->code->ins[k];
        if (!ins->reached || !(sass_is_branch(ins) || sass_is_access(ins))) continue;
        for (uint32_t i = code_at(&r->map, ins->line);
             i < kernel->count && code_line(&r->map, i) == ins->line; i++) {
            if (!sass_is_branch(ins) && !ins->guarded) mark[i] |= BARE;
            if (!sass_is_branch(ins) || kernel->code[i].class != CLASS_BRANCH) continue;
            mark[i] |= KEPT;
            if (r->price[i].passed) mark[kernel->code[i].target] |= KEPT;
        }
    }
}

/* Do both sides of this branch, up to their reconvergence point and without a loop, have no branch
 * in SASS? If so, each of their instructions is predicated there, and all of them are issued. */
static int is_folded(const Reading *r, uint32_t at, const uint8_t *mark)
{
    enum { MOST_FOLDED = 64 };
    const Ins *code = r->kernel->code;
    uint32_t meet = code[at].reconv;
    if (code[at].op != OP_BRA_P || code[at].class != CLASS_BRANCH || r->price[at].passed) return 0;
    if (meet >= r->kernel->count || meet <= at || meet - at > MOST_FOLDED) return 0;
    for (uint32_t i = at; i < meet; i++) {
        if (mark[i] & BARE || code[i].class == CLASS_BARRIER || code[i].op == OP_EXIT) return 0;
        if (code[i].class != CLASS_BRANCH) continue;
        int leads_on = code[i].op == OP_BRA || code[i].op == OP_BRA_P;
        if (mark[i] & KEPT || !leads_on || code[i].target <= i || code[i].target > meet) return 0;
    }
    return 1;
}

static void folded_mark(const Reading *r, uint8_t *mark)
{
    const Ins *code = r->kernel->code;
    for (uint32_t at = 0; at < r->kernel->count; at++) {
        if (!is_folded(r, at, mark)) continue;
        for (uint32_t i = at; i <= code[at].reconv; i++)
            if (code[i].class == CLASS_BRANCH || code[i].op == OP_JOIN) mark[i] |= FOLDED;
    }
    for (uint32_t i = 0; i < r->kernel->count; i++)
        if (code[i].op == OP_BRA_P && !(mark[i] & FOLDED) && code[i].reconv < r->kernel->count)
            mark[code[i].reconv] &= (uint8_t)~FOLDED;
}

/* Is it a branch at which control may diverge, or a reconvergence point? */
static int parts_control(const Reading *r, uint32_t i, const uint8_t *mark)
{
    return mark[i] & KEPT || !(r->price[i].passed || mark[i] & FOLDED);
}

/* Begins a part at this instruction? */
static int is_parted(const Reading *r, uint32_t i, const uint8_t *mark)
{
    const Ins *code = r->kernel->code;
    if (!i || mark[i] & TARGET || (code[i].op == OP_JOIN && parts_control(r, i, mark))) return 1;
    return code[i - 1].op == OP_EXIT ||
           (code[i - 1].class == CLASS_BRANCH && parts_control(r, i - 1, mark));
}

static int parts_find(Reading *r)
{
    const SimtKernel *kernel = r->kernel;
    SassMap *f = r->f;
    uint8_t *mark = calloc(kernel->count + 1, 1);
    if (!mark) return -1;
    kept_mark(r, mark);
    folded_mark(r, mark);
    for (uint32_t i = 0; i < kernel->count; i++) {
        const Ins *ins = &kernel->code[i];
        if ((ins->op == OP_BRA || ins->op == OP_BRA_P) && parts_control(r, i, mark))
            mark[ins->target] |= TARGET;
    }
    for (uint32_t i = 0; i < kernel->count; i++) {
        if (is_parted(r, i, mark))
            f->part[f->parts++] = (SassPart){.first = i, .loop = r->map.around[i]};
        f->part_of[i] = f->parts - 1;
        f->part[f->parts - 1].count++;
    }
    free(mark);
    for (uint32_t p = 0; p < f->parts; p++) {
        SassPart *part = &f->part[p];
        if (!part->loop) continue;
        const CodeLoop *loop = &r->map.loop[part->loop - 1];
        part->whole = loop->head == part->first && loop->end == part->first + part->count - 1;
    }
    return 0;
}

/* ---- loops ------------------------------------------------- */

/* 64-bit logic and shifts, which SASS executes by words; and the sum of two shifts, which is nvcc's
 * form of a rotation. */
static int is_by_words(const Ins *code, uint32_t at)
{
    switch (code[at].op) {
    case OP_ADD_64:
        return at > 1 && code[at - 1].op == OP_SHR_U64 && code[at - 2].op == OP_SHL_64;
    case OP_AND_64:
    case OP_OR_64:
    case OP_XOR_64:
    case OP_NOT_64:
    case OP_SHL_64:
    case OP_SHR_U64:
    case OP_SHR_S64:
        return 1;
    default:
        return 0;
    }
}

/* Does one PTX instruction become several? A matrix is loaded in parts, a wmma becomes two SASS
 * MMAs, and 64-bit values are computed by words. */
static int is_expanded(const Ins *code, uint32_t at)
{
    return code[at].op == OP_TENSOR_MATRIX || code[at].op == OP_TENSOR_PRODUCT ||
           is_by_words(code, at);
}

/* The most frequent number of instructions of SASS loop `home` per line of the PTX loop. A constant
 * that is loaded for an instruction has its line, too. */
static uint32_t copies_count(Reading *r, uint32_t home, uint32_t loop)
{
    uint32_t *count = r->count[0];
    memset(count, 0, r->map.lines * sizeof *count);
    for (uint32_t i = 0; i < r->code->count; i++) {
        const SassIns *ins = &r->code->ins[i];
        uint32_t at = ins->loop == home && ins->reached ? code_at(&r->map, ins->line) : NONE;
        if (at == NONE || r->map.around[at] != loop || is_expanded(r->kernel->code, at)) continue;
        if (sass_is_constant(ins) && r->kernel->code[at].space != PTX_CONST) continue;
        count[ins->line - r->map.first]++;
    }
    return code_copies(&r->map, count, CODE_COPIES);
}

static void home_note(SassLoop *loop, uint32_t home, uint32_t copies, int is_first)
{
    if (is_first || copies > loop->copies[0]) loop->home[0] = home, loop->copies[0] = copies;
    if (is_first || copies < loop->copies[1]) loop->home[1] = home, loop->copies[1] = copies;
}

/* The PTX loop that corresponds to SASS loop `m`. If PTX falls through from the end of an iteration
 * to its start, ptxas generates the backward branch itself: then the loop is the widest one there
 * with this head. */
static uint32_t loop_of(const Reading *r, uint32_t m)
{
    uint32_t line = r->code->loop_line[m - 1], number = code_loop_closed(&r->map, line),
             at = code_at(&r->map, line);
    if (number || at == NONE) return number;
    number = r->map.around[at];
    if (!number) return 0;
    const CodeLoop *loop = r->map.loop;
    while (loop[number - 1].parent &&
           loop[loop[number - 1].parent - 1].head == loop[number - 1].head)
        number = loop[number - 1].parent;
    return number;
}

/* -1: too much to look at. */
static int homes_find(Reading *r)
{
    SassMap *f = r->f;
    uint64_t each = (uint64_t)r->code->count + r->map.lines + r->map.loops + CODE_COPIES;
    if (each * ((uint64_t)r->code->loops + f->loops) > CODE_STEPS) return -1;
    for (uint32_t k = 0; k < f->loops; k++)
        f->loop[k] = (SassLoop){.head = r->map.loop[k].head, .end = r->map.loop[k].end};
    for (uint32_t m = 1; m <= r->code->loops; m++) {
        uint32_t number = loop_of(r, m);
        if (!number) continue;
        SassLoop *loop = &f->loop[number - 1];
        home_note(loop, m, copies_count(r, m, number), !loop->copies[0]);
    }
    /* A PTX loop without a SASS loop is fully unrolled into the surrounding loop, one iteration
     * after the other. */
    for (uint32_t k = f->loops; k-- > 0;) {
        uint32_t parent = r->map.loop[k].parent, home = parent ? f->loop[parent - 1].home[0] : 0;
        if (f->loop[k].copies[0]) continue;
        home_note(&f->loop[k], home, copies_count(r, home, k + 1), 1);
        f->loop[k].parent = parent;
    }
    for (uint32_t p = 0; p < f->parts; p++)
        if (f->part[p].loop &&
            (uint64_t)f->part[p].count * f->loop[f->part[p].loop - 1].copies[0] > MOST_PLACES)
            return -1;
    return 0;
}

/* Is the SASS instruction in the PTX loop of its line? */
static uint8_t variant_of(const Reading *r, const SassIns *ins, uint32_t at)
{
    uint32_t number = r->map.around[at];
    if (!number) return ins->loop ? ELSEWHERE : 0;
    const SassLoop *loop = &r->f->loop[number - 1];
    return ins->loop == loop->home[0] ? 0 : ins->loop == loop->home[1] ? 1 : ELSEWHERE;
}

/* ---- owners of SASS instructions ------------------------------------ */

/* Is it a call that always occurs, and not a rare path? MMAs of 4-bit integers and XORs of bits are
 * built from other MMAs. */
static int is_called(const Ins *ins)
{
    return divides_wide(ins) || ins->op == OP_TENSOR_PRODUCT;
}

static void pieces_judge(Reading *r)
{
    for (uint32_t i = 0; i < r->code->count; i++) {
        const SassIns *ins = &r->code->ins[i];
        uint32_t at = code_at(&r->map, ins->line);
        int is_routine = at != NONE && is_called(&r->kernel->code[at]);
        if (!ins->reached || (sass_is_call(ins) && !is_routine)) r->left_out[ins->piece] = 1;
        if (at == NONE || !sass_is_access(ins) || !r->map.around[at]) continue;
        if (variant_of(r, ins, at) == ELSEWHERE) r->left_out[ins->piece] = 1;
    }
}

static int is_played(const Reading *r, uint32_t i)
{
    const SassIns *ins = &r->code->ins[i];
    return !r->left_out[ins->piece] && !sass_is_nop(ins);
}

/* The PTX instruction that it belongs to; NONE: none, or it is elsewhere. An access is matched only
 * by the SASS instruction that performs it. A BSYNC is passed by all lanes, although its line is
 * that of the last instruction that some of them skip. */
static uint32_t own_place(const Reading *r, uint32_t i)
{
    const SassIns *ins = &r->code->ins[i];
    uint32_t at = is_played(r, i) && !sass_is_bsync(ins) ? code_at(&r->map, ins->line) : NONE;
    if (at == NONE || variant_of(r, ins, at) == ELSEWHERE) return NONE;
    const Ins *own = &r->kernel->code[at];
    return is_anchor(own) && !is_like_anchor(own, ins) ? NONE : at;
}

/* Number of the unrolled iteration that an instruction of this line belongs to. */
static uint64_t copy_of(const Reading *r, uint32_t at, uint64_t number, uint64_t of, uint32_t v)
{
    uint32_t loop = r->map.around[at], copies = loop ? r->f->loop[loop - 1].copies[v] : 1;
    const ReusedLoad *carried = r->kernel->costs.reused;
    int first = carried && loads_plainly(&r->kernel->code[at]) &&
                carried[r->kernel->code[at].mem].iterations == copies;
    return first ? number : number * copies / of;
}

/* Finds the loads that unrolled loops omit. */
static void reuse_find(const Reading *r)
{
    const SassMap *f = r->f;
    UnrolledLoop *loop = calloc(f->loops + 1, sizeof *loop);
    for (uint32_t k = 0; loop && k < f->loops; k++)
        loop[k] = (UnrolledLoop){f->loop[k].head, f->loop[k].end, f->loop[k].copies[0]};
    if (loop) load_reuse_find(r->kernel, &r->map, loop, r->count[0]);
    free(loop);
}

static void owners_find(Reading *r)
{
    const SassCode *m = r->code;
    SassMap *f = r->f;
    memset(r->count[0], 0, r->map.lines * sizeof *r->count[0]);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t at = own_place(r, i);
        r->part[i] = NONE, r->variant[i] = ELSEWHERE, f->anchor[i] = NO_SLOT;
        if (at == NONE) continue;
        r->variant[i] = variant_of(r, &m->ins[i], at);
        r->count[r->variant[i]][m->ins[i].line - r->map.first]++;
    }
    reuse_find(r);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t v = r->variant[i], line = m->ins[i].line;
        if (v == ELSEWHERE) continue;
        uint32_t at = code_at(&r->map, line);
        uint64_t number = r->now[v][line - r->map.first]++, of = r->count[v][line - r->map.first],
                 copy = copy_of(r, at, number, of, v);
        r->part[i] = f->part_of[at], f->copy[i] = (uint16_t)copy;
        /* If one access became several, the first one has the cost of all of them. */
        int is_first = !number || copy_of(r, at, number - 1, of, v) != copy;
        const Ins *own = &r->kernel->code[at];
        if (may_be_rare(own) ? sass_is_rare_check(&m->ins[i], own) : is_anchor(own) && is_first)
            f->anchor[i] = at;
    }
}

/* A basic block of SASS is executed as a whole. Nearly all of it belongs to one part of the PTX,
 * and the few instructions that ptxas has moved into it are assigned to that part. */
static void piece_settle(Reading *r, uint32_t from, uint32_t to)
{
    enum { OF_FOUR = 3 };
    uint32_t most = NONE, own = 0, all = 0;
    int32_t lead = 0; /* lead of `most` over all others, if one part has the majority */
    for (uint32_t i = from; i < to; i++) {
        if (r->part[i] == NONE) continue;
        if (!lead) most = i;
        lead += r->part[i] == r->part[most] ? 1 : -1;
    }
    for (uint32_t i = from; i < to; i++)
        if (r->part[i] != NONE) all++, own += r->part[i] == r->part[most];
    if (own == all || own * 4 < all * OF_FOUR) return;
    for (uint32_t i = from; i < to; i++) {
        if (r->part[i] == NONE || r->part[i] == r->part[most]) continue;
        if (r->f->anchor[i] != NO_SLOT) continue;
        r->part[i] = NONE, r->variant[i] = ELSEWHERE;
    }
}

static void pieces_settle(Reading *r)
{
    const SassIns *ins = r->code->ins;
    for (uint32_t from = 0, to; from < r->code->count; from = to) {
        to = from + 1;
        while (to < r->code->count && ins[to].piece == ins[from].piece)
            to++;
        piece_settle(r, from, to);
    }
}

/* Assigns the remaining instructions to the part of their neighbours, preferably in the same basic
 * block. */
static void owners_spread(Reading *r)
{
    const SassCode *m = r->code;
    SassMap *f = r->f;
    for (int way = 0; way < 4; way++) {
        uint32_t last = NONE;
        for (uint32_t n = 0; n < m->count; n++) {
            uint32_t i = way % 2 ? m->count - 1 - n : n;
            if (!is_played(r, i)) continue;
            if (r->part[i] != NONE) {
                last = i;
                continue;
            }
            if (last == NONE || m->ins[last].loop != m->ins[i].loop) continue;
            if (way < 2 && m->ins[last].piece != m->ins[i].piece) continue;
            r->part[i] = r->part[last], r->variant[i] = r->variant[last];
            f->copy[i] = f->copy[last];
        }
    }
}

static void lists_make(Reading *r)
{
    SassMap *f = r->f;
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->code->count; i++)
        if (r->part[i] != NONE) f->part[r->part[i]].length[r->variant[i]]++;
    for (uint32_t p = 0; p < f->parts; p++)
        for (int v = 0; v < 2; v++) {
            f->part[p].list[v] = at, at += f->part[p].length[v];
            f->part[p].length[v] = 0;
        }
    for (uint32_t i = 0; i < r->code->count; i++) {
        if (r->part[i] == NONE) continue;
        SassPart *part = &f->part[r->part[i]];
        uint32_t v = r->variant[i];
        f->list[part->list[v] + part->length[v]++] = i;
    }
}

/* ---- building ------------------------------------------------- */

static SassMap *sass_map_open(uint32_t code, uint32_t loops, uint32_t machine)
{
    size_t words = (size_t)code + 2 * (size_t)machine;
    SassMap *f = calloc(1, sizeof *f + code * sizeof *f->part + loops * sizeof *f->loop +
                               words * sizeof *f->list + machine * sizeof *f->copy);
    if (!f) return NULL;
    f->part = (SassPart *)(f + 1);
    f->loop = (SassLoop *)(f->part + code);
    f->loops = loops;
    f->part_of = (uint32_t *)(f->loop + loops);
    f->list = f->part_of + code;
    f->anchor = f->list + machine;
    f->copy = (uint16_t *)(f->anchor + machine);
    return f;
}

static int reading_open(Reading *r)
{
    const SassCode *m = r->code;
    SimtKernel *kernel = r->kernel;
    if (code_map_open(&r->map, kernel, kernel->code, kernel->count) != 0) return -1;
    /* The access of a line follows the instructions that prepare it. */
    for (uint32_t k = 0; k < r->map.lines; k++) {
        uint32_t i = r->map.at[k];
        while (i != NONE && i + 1 < kernel->count && kernel->code[i].pseudo &&
               code_line(&r->map, i + 1) == k + r->map.first)
            r->map.at[k] = ++i;
    }
    r->f = sass_map_open(kernel->count, r->map.loops, m->count);
    r->part = malloc(m->count * sizeof *r->part);
    r->variant = malloc(m->count);
    r->left_out = calloc(m->count + 1, 1); /* there are at most as many blocks as instructions */
    for (int v = 0; v < 2; v++) {
        r->count[v] = calloc(r->map.lines + 1, sizeof *r->count[v]);
        r->now[v] = calloc(r->map.lines + 1, sizeof *r->now[v]);
    }
    return r->f && r->part && r->variant && r->left_out && r->count[0] && r->count[1] &&
                   r->now[0] && r->now[1]
               ? 0
               : -1;
}

static void reading_close(Reading *r)
{
    code_map_close(&r->map);
    free(r->part), free(r->variant), free(r->left_out);
    for (int v = 0; v < 2; v++)
        free(r->count[v]), free(r->now[v]);
}

/* Appends SASS instructions and their costs to those that exist. */
static int prices_append(Reading *r, InsCost **price, uint32_t prices, const SimtMachine *machine)
{
    SimtKernel *kernel = r->kernel;
    size_t all = (size_t)prices + r->code->count + 1;
    Ins *played = realloc(kernel->costs.code, all * sizeof *played);
    if (played) kernel->costs.code = played;
    InsCost *more = realloc(*price, all * sizeof *more);
    if (more) *price = more;
    if (!played || !more) return -1;
    r->f->base = prices;
    for (uint32_t i = 0; i < r->code->count; i++) {
        const SassIns *ins = &r->code->ins[i];
        uint32_t anchor = r->f->anchor[i],
                 at = anchor != NO_SLOT ? anchor : code_at(&r->map, ins->line);
        played[prices + i] = sass_ins(kernel, ins, anchor);
        more[prices + i] = sass_ins_cost(ins, at != NONE ? &kernel->code[at] : NULL,
                                         at != NONE ? &more[at] : NULL, machine);
        more[prices + i].origin = at != NONE ? at : 0;
    }
    r->f->way = (uint32_t)all - 1;
    sass_divergence(&played[all - 1], &more[all - 1], machine);
    return 0;
}

/* Constants that SASS loads without LDC: ptxas knows their address, or it is the same for all
 * lanes. */
static void operands_mark(const Reading *r)
{
    SimtKernel *kernel = r->kernel;
    for (uint32_t i = 0; i < kernel->count; i++)
        kernel->code[i].is_operand = kernel->code[i].space == PTX_CONST;
    for (uint32_t i = 0; i < r->code->count; i++)
        if (r->f->anchor[i] != NO_SLOT && sass_is_ldc(&r->code->ins[i]))
            kernel->code[r->f->anchor[i]].is_operand = 0;
}

InsCost *sass_map_build(SimtKernel *kernel, InsCost *price, uint32_t prices,
                        const SimtMachine *machine)
{
    Reading r = {.kernel = kernel, .price = price, .code = kernel->cubin.sass};
    if (!r.code || !r.code->count || !machine->costs.sass_decoder ||
        r.code->sm / 10 != machine->cc_major || !is_plain(kernel))
        return price;
    int good = reading_open(&r) == 0 && parts_find(&r) == 0 && homes_find(&r) == 0;
    if (good) {
        pieces_judge(&r);
        owners_find(&r);
        pieces_settle(&r);
        owners_spread(&r);
        lists_make(&r);
        good = is_covered(&r) && prices_append(&r, &price, prices, machine) == 0;
    }
    if (good) loads_vectorize(kernel, &r.map, r.code), operands_mark(&r);
    kernel->costs.sass = good ? r.f : NULL;
    if (!good) free(r.f), free(kernel->costs.reused), kernel->costs.reused = NULL;
    reading_close(&r);
    return price;
}
