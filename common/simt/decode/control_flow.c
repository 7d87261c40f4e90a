/* control_flow.c - immediate post-dominators: where lanes that part at a branch meet again.
 *
 * Basic blocks, edges reversed, and the iterative algorithm of Cooper, Harvey and Kennedy ("A
 * Simple, Fast Dominance Algorithm", 2001) from a virtual exit that every ending block leads to.
 *
 * Where some lanes end on their way, that is the end of all ways; but a card's lanes meet where
 * those do that go on. */
#include <stdlib.h>
#include <string.h>

#include "common/simt/decode/decoder.h"

typedef struct Graph {
    uint32_t blocks; /* the virtual exit is number `blocks` */
    uint32_t *start, *block_of;
    uint32_t *edge_start, *edge;       /* successors */
    uint32_t *back_start, *back;       /* predecessors */
    uint32_t *order, *number, ordered; /* reverse postorder of the reversed graph */
    uint32_t *idom;
    uint64_t walked; /* steps up the tree of dominators, to find them */
} Graph;

static int ends_block(const Ins *ins)
{
    return ins->op == OP_BRA || ins->op == OP_BRA_P || ins->op == OP_BRX || ins->op == OP_EXIT ||
           ins->op == OP_RETURN;
}

static void graph_free(Graph *g)
{
    free(g->start), free(g->block_of), free(g->edge_start), free(g->edge), free(g->back_start),
        free(g->back);
    free(g->order), free(g->number), free(g->idom);
}

static int blocks_find(Graph *g, const Ins *code, uint32_t count, const uint32_t *table)
{
    unsigned char *leader = calloc(count + 1, 1);
    g->start = malloc((count + 2) * sizeof *g->start);
    g->block_of = malloc((count + 1) * sizeof *g->block_of);
    if (!leader || !g->start || !g->block_of) {
        free(leader);
        return -1;
    }
    leader[0] = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (!ends_block(&code[i])) continue;
        leader[i + 1] = 1;
        if (code[i].op == OP_BRA || code[i].op == OP_BRA_P) leader[code[i].target] = 1;
        if (code[i].op == OP_RETURN) leader[i] = 1;
        if (code[i].op == OP_BRX)
            for (int64_t k = 0; k < code[i].imm; k++)
                leader[table[code[i].aux + k]] = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (leader[i]) g->start[g->blocks++] = i;
        g->block_of[i] = g->blocks - 1;
    }
    g->start[g->blocks] = count;
    g->block_of[count] = g->blocks;
    free(leader);
    return 0;
}

/* Successors of block b into `to` (or only their number, when it is NULL). */
static uint32_t successors(const Graph *g, const Ins *code, const uint32_t *table, uint32_t b,
                           uint32_t *to)
{
    const Ins *last = &code[g->start[b + 1] - 1];
    uint32_t n = 0;
#define EDGE(block)                                                                                \
    do {                                                                                           \
        if (to) to[n] = (block);                                                                   \
        n++;                                                                                       \
    } while (0)
    if (last->op == OP_BRA || last->op == OP_BRA_P) EDGE(g->block_of[last->target]);
    if (last->op == OP_BRX)
        for (int64_t k = 0; k < last->imm; k++)
            EDGE(g->block_of[table[last->aux + k]]);
    if (last->op == OP_RETURN) EDGE(g->blocks);
    /* In a routine's control flow an exit is a return without lanes: its target says where. */
    if (last->op == OP_EXIT) EDGE(last->target ? g->block_of[last->target] : g->blocks);
    int stops = last->op == OP_BRA || last->op == OP_BRX || last->op == OP_RETURN ||
                (last->op == OP_EXIT && last->guard == NO_SLOT);
    if (!stops) EDGE(b + 1);
#undef EDGE
    return n;
}

/* From each block to those before it. */
static void edges_turn(Graph *g)
{
    uint32_t n = g->blocks;
    for (uint32_t e = 0; e < g->edge_start[n]; e++)
        g->back_start[g->edge[e] + 2]++;
    for (uint32_t b = 0; b <= n; b++)
        g->back_start[b + 2] += g->back_start[b + 1];
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t e = g->edge_start[b]; e < g->edge_start[b + 1]; e++)
            g->back[g->back_start[g->edge[e] + 1]++] = b;
}

static int edges_make(Graph *g, const Ins *code, const uint32_t *table)
{
    uint32_t n = g->blocks, total = 0;
    g->edge_start = calloc(n + 2, sizeof *g->edge_start);
    g->back_start = calloc(n + 3, sizeof *g->back_start);
    if (!g->edge_start || !g->back_start) return -1;
    for (uint32_t b = 0; b < n; b++) {
        g->edge_start[b] = total;
        total += successors(g, code, table, b, NULL);
    }
    g->edge_start[n] = g->edge_start[n + 1] = total;
    g->edge = malloc((total + 1) * sizeof *g->edge);
    g->back = malloc((total + 1) * sizeof *g->back);
    if (!g->edge || !g->back) return -1;
    for (uint32_t b = 0; b < n; b++)
        successors(g, code, table, b, g->edge + g->edge_start[b]);
    edges_turn(g);
    return 0;
}

/* Depth first from the exit along reversed edges, without recursion: programs may be deep. */
static int order_make(Graph *g)
{
    uint32_t n = g->blocks + 1, depth = 0, post = n;
    uint32_t *stack = malloc(n * sizeof *stack), *next = malloc(n * sizeof *next);
    g->order = malloc(n * sizeof *g->order);
    g->number = malloc(n * sizeof *g->number);
    if (!stack || !next || !g->order || !g->number) {
        free(stack), free(next);
        return -1;
    }
    for (uint32_t b = 0; b < n; b++)
        g->number[b] = UINT32_MAX, next[b] = g->back_start[b];
    stack[depth++] = g->blocks;
    g->number[g->blocks] = 0;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] < g->back_start[b + 1]) {
            uint32_t p = g->back[next[b]++];
            if (g->number[p] == UINT32_MAX) {
                g->number[p] = 0;
                stack[depth++] = p;
            }
        } else {
            g->order[--post] = b;
            depth--;
        }
    }
    g->ordered = n - post;
    memmove(g->order, g->order + post, g->ordered * sizeof *g->order);
    for (uint32_t i = 0; i < g->ordered; i++)
        g->number[g->order[i]] = i;
    free(stack), free(next);
    return 0;
}

static uint32_t intersect(Graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        for (; g->number[a] > g->number[b]; g->walked++)
            a = g->idom[a];
        for (; g->number[b] > g->number[a]; g->walked++)
            b = g->idom[b];
    }
    return a;
}

static int dominators_find(Graph *g)
{
    uint32_t exit = g->blocks;
    g->idom = malloc((g->blocks + 1) * sizeof *g->idom);
    if (!g->idom) return -1;
    for (uint32_t b = 0; b <= exit; b++)
        g->idom[b] = UINT32_MAX;
    g->idom[exit] = exit;
    for (int changed = 1; changed;) {
        changed = 0;
        for (uint32_t i = 1; i < g->ordered; i++) {
            uint32_t b = g->order[i], best = UINT32_MAX;
            for (uint32_t e = g->edge_start[b]; e < g->edge_start[b + 1]; e++) {
                uint32_t s = g->edge[e];
                if (g->number[s] == UINT32_MAX || g->idom[s] == UINT32_MAX) continue;
                best = best == UINT32_MAX ? s : intersect(g, best, s);
            }
            if (best != UINT32_MAX && best != g->idom[b]) g->idom[b] = best, changed = 1;
        }
    }
    return 0;
}

/* ---- ways that end ----------------------------------------------------------------------------
 * Where lanes may end before those of a branch meet, the others meet without them: where all ways
 * come that can still come to a place of both.  Without an end among those, the ways end where they
 * come back to the branch. */
typedef struct Going {
    const Graph *all;
    const Ins *code;
    uint32_t branch;                                 /* its block */
    unsigned char *from[2], *leads, *before, *parts; /* per block: behind the branch, by which way;
                                                      * leads to a place of both; before lanes
                                                      * meet; some lanes end behind it, of any
                                                      * branch */
    uint32_t *stack;
    uint64_t walked; /* as the graph's, for all branches */
} Going;

/* Is there nothing but the end, or a branch to it? */
static int is_end(const Graph *g, const Ins *code, uint32_t b)
{
    if (b < g->blocks && code[g->start[b]].op == OP_BRA) b = g->edge[g->edge_start[b]];
    if (b == g->blocks) return 1;
    const Ins *ins = &code[g->start[b]];
    return ins->op == OP_EXIT && ins->guard == NO_SLOT && !ins->target;
}

/* Marks all that can be reached from the `depth` blocks on the stack, which are marked.  Nothing
 * goes through `stop`. */
static void reach_mark(const Going *w, uint32_t depth, unsigned char *mark, const uint32_t *start,
                       const uint32_t *next, uint32_t stop)
{
    while (depth) {
        uint32_t b = w->stack[--depth];
        for (uint32_t e = start[b]; b != stop && e < start[b + 1]; e++)
            if (!is_end(w->all, w->code, next[e]) && !mark[next[e]])
                mark[next[e]] = 1, w->stack[depth++] = next[e];
    }
}

static void way_mark(const Going *w, uint32_t way, unsigned char *mark, uint32_t stop)
{
    uint32_t first = w->all->edge[w->all->edge_start[w->branch] + way];
    if (is_end(w->all, w->code, first) || mark[first]) return;
    mark[first] = 1, w->stack[0] = first;
    reach_mark(w, 1, mark, w->all->edge_start, w->all->edge, stop);
}

/* 0: the ways have nothing in common but the end. */
static int leads_mark(const Going *w)
{
    const Graph *g = w->all;
    uint32_t depth = 0;
    for (uint32_t way = 0; way < 2; way++) {
        memset(w->from[way], 0, g->blocks);
        way_mark(w, way, w->from[way], g->blocks);
    }
    memset(w->leads, 0, g->blocks);
    for (uint32_t b = 0; b < g->blocks; b++)
        if (w->from[0][b] && w->from[1][b]) w->leads[b] = 1, w->stack[depth++] = b;
    int common = depth != 0;
    reach_mark(w, depth, w->leads, g->back_start, g->back, g->blocks);
    return common;
}

/* The edges between blocks that lead on; `returns`: those back to the branch go to the exit.  What
 * leads nowhere else ends there, too; the number of such blocks. */
static uint32_t leading_edges(const Going *w, Graph *on, int returns)
{
    const Graph *g = w->all;
    uint32_t n = 0, ends = 0;
    for (uint32_t b = 0; b < g->blocks; b++) {
        on->edge_start[b] = n;
        for (uint32_t e = g->edge_start[b]; w->leads[b] && e < g->edge_start[b + 1]; e++) {
            uint32_t next = g->edge[e];
            if (next == g->blocks || !w->leads[next]) continue;
            on->edge[n++] = returns && next == w->branch ? g->blocks : next;
        }
        if (w->leads[b] && n == on->edge_start[b]) on->edge[n++] = g->blocks, ends++;
    }
    on->edge_start[g->blocks] = on->edge_start[g->blocks + 1] = n;
    return ends;
}

/* The block where those meet that go on; the exit: nowhere, UINT32_MAX: out of memory. */
static uint32_t going_meet(Going *w)
{
    const Graph *g = w->all;
    size_t edges = (size_t)g->edge_start[g->blocks] + g->blocks + 1;
    Graph on = {.blocks = g->blocks,
                .edge_start = malloc((g->blocks + 2) * sizeof *on.edge_start),
                .back_start = calloc(g->blocks + 3, sizeof *on.back_start),
                .edge = malloc(edges * sizeof *on.edge),
                .back = malloc(edges * sizeof *on.back)};
    uint32_t meet = UINT32_MAX;
    if (on.edge_start && on.back_start && on.edge && on.back) {
        if (!leading_edges(w, &on, 0)) leading_edges(w, &on, 1);
        edges_turn(&on);
        if (order_make(&on) == 0 && dominators_find(&on) == 0) meet = on.idom[w->branch];
        if (meet == UINT32_MAX && on.idom) meet = g->blocks; /* no way to the exit */
    }
    w->walked += on.walked;
    graph_free(&on);
    return meet;
}

/* Before those meet that go on, others end on their own. */
static void ends_part(const Going *w, uint32_t meet, uint32_t *reconv)
{
    const Graph *g = w->all;
    memset(w->before, 0, g->blocks);
    for (uint32_t way = 0; way < 2; way++)
        way_mark(w, way, w->before, meet);
    for (uint32_t b = 0; b < g->blocks; b++) {
        uint32_t e = g->edge_start[b];
        if (!w->before[b] || b == meet || w->code[g->start[b + 1] - 1].op != OP_BRA_P) continue;
        int goes[2] = {g->edge[e] < g->blocks && w->leads[g->edge[e]],
                       g->edge[e + 1] < g->blocks && w->leads[g->edge[e + 1]]};
        if (goes[0] == goes[1]) continue;
        reconv[g->start[b + 1] - 1] = g->start[g->edge[e + (uint32_t)goes[1]]];
        w->parts[b] = 1;
    }
}

/* Of all branches whose ways meet at the end only.  -1: out of memory. */
static int ends_resolve(const Graph *g, const Ins *code, uint32_t *reconv)
{
    enum { MOST_STEPS = 20000000 }; /* what a hostile kernel may cost */
    unsigned char *marks = calloc(5, g->blocks + 1);
    Going w = {.all = g, .code = code, .stack = malloc((g->blocks + 1) * sizeof *w.stack)};
    int result = marks && w.stack ? 0 : -1;
    w.from[0] = marks, w.from[1] = marks + g->blocks;
    w.leads = w.from[1] + g->blocks, w.before = w.leads + g->blocks;
    w.parts = w.before + g->blocks;
    uint64_t steps = 0;
    for (w.branch = 0; w.branch < g->blocks && result == 0; w.branch++) {
        uint32_t at = g->start[w.branch + 1] - 1, end = g->idom[w.branch];
        if (code[at].op != OP_BRA_P || end > g->blocks || !is_end(g, code, end)) continue;
        steps += g->blocks + g->edge_start[g->blocks];
        if (steps > MOST_STEPS || w.walked > MOST_STEPS) break;
        if (!leads_mark(&w)) continue;
        uint32_t meet = going_meet(&w);
        if (meet == UINT32_MAX) result = -1;
        if (meet >= g->blocks) continue;
        if (!w.parts[w.branch]) reconv[at] = g->start[meet];
        ends_part(&w, meet, reconv);
    }
    free(marks), free(w.stack);
    return result;
}

int control_flow_resolve(const Ins *code, uint32_t count, const uint32_t *table, uint32_t *reconv)
{
    Graph g = {0};
    int result = blocks_find(&g, code, count, table) == 0 && edges_make(&g, code, table) == 0 &&
                         order_make(&g) == 0 && dominators_find(&g) == 0
                     ? 0
                     : -1;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        reconv[i] = UINT32_MAX;
        if (code[i].op != OP_BRA_P && code[i].op != OP_BRX) continue;
        uint32_t meet = g.idom[g.block_of[i]];
        if (meet < g.blocks) reconv[i] = g.start[meet];
    }
    if (result == 0) result = ends_resolve(&g, code, reconv);
    graph_free(&g);
    return result;
}
