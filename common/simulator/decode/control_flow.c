/* control_flow.c - immediate post-dominators: the reconvergence points of divergent branches.
 *
 * The method reverses the edges between basic blocks and applies the algorithm of Lengauer and
 * Tarjan ("A Fast Algorithm for Finding Dominators in a Flowgraph", 1979, the simple one). It
 * starts from a virtual exit to which every ending block leads. A kernel may have any shape, so the
 * cost must not grow faster than the number of edges.
 *
 * If some lanes exit early, the formal post-dominator is the end of the kernel. On a GPU, however,
 * the remaining lanes reconverge where their own paths join (see "lanes that exit early"). */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/decode/decoder.h"

typedef struct Graph {
    uint32_t blocks; /* the virtual exit is number `blocks` */
    uint32_t *start, *block_of;
    uint32_t *edge_start, *edge;       /* successors */
    uint32_t *back_start, *back;       /* predecessors */
    uint32_t *order, *number, ordered; /* numbered in depth-first order of the reversed graph */
    uint32_t *parent;                  /* in the tree of that: of numbers, as they come */
    uint32_t *idom;
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
    free(g->order), free(g->number), free(g->parent), free(g->idom);
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
static void edges_reverse(Graph *g)
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
    edges_reverse(g);
    return 0;
}

/* Depth first from the exit along reversed edges, without recursion: programs may be deep. */
static int order_make(Graph *g)
{
    uint32_t n = g->blocks + 1, depth = 0;
    uint32_t *stack = malloc(n * sizeof *stack), *next = malloc(n * sizeof *next);
    g->order = malloc(n * sizeof *g->order);
    g->number = malloc(n * sizeof *g->number);
    g->parent = malloc(n * sizeof *g->parent);
    if (!stack || !next || !g->order || !g->number || !g->parent) {
        free(stack), free(next);
        return -1;
    }
    for (uint32_t b = 0; b < n; b++)
        g->number[b] = UINT32_MAX, next[b] = g->back_start[b];
    stack[depth++] = g->blocks;
    g->parent[0] = g->number[g->blocks] = 0, g->order[0] = g->blocks, g->ordered = 1;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] == g->back_start[b + 1]) {
            depth--;
            continue;
        }
        uint32_t p = g->back[next[b]++];
        if (g->number[p] != UINT32_MAX) continue;
        g->parent[g->ordered] = g->number[b];
        g->number[p] = g->ordered, g->order[g->ordered++] = p;
        stack[depth++] = p;
    }
    free(stack), free(next);
    return 0;
}

/* Indexed by block number. A block is in the forest after its visit. `up` leads towards the root of
 * its tree and is shortened by path compression. `best` is the block with the smallest `semi` on
 * the compressed path. */
typedef struct Forest {
    uint32_t *up, *best, *semi, *dom, *first, *next, *stack;
} Forest;

/* Returns the block with the smallest `semi` between v and its root. */
static uint32_t forest_best(const Forest *f, uint32_t v)
{
    uint32_t depth = 0;
    if (f->up[v] == UINT32_MAX) return v;
    for (uint32_t w = v; f->up[f->up[w]] != UINT32_MAX; w = f->up[w])
        f->stack[depth++] = w;
    while (depth) {
        uint32_t w = f->stack[--depth], over = f->up[w];
        if (f->semi[f->best[over]] < f->semi[f->best[w]]) f->best[w] = f->best[over];
        f->up[w] = f->up[over];
    }
    return f->best[v];
}

/* Adds block number i to the forest, which already contains all blocks with larger numbers. */
static void forest_add(const Graph *g, Forest *f, uint32_t i)
{
    uint32_t b = g->order[i], parent = g->parent[i];
    for (uint32_t e = g->edge_start[b]; e < g->edge_start[b + 1]; e++) {
        uint32_t from = g->number[g->edge[e]];
        if (from == UINT32_MAX) continue;
        uint32_t semi = f->semi[forest_best(f, from)];
        if (semi < f->semi[i]) f->semi[i] = semi;
    }
    f->next[i] = f->first[f->semi[i]], f->first[f->semi[i]] = i;
    f->up[i] = parent;
    for (uint32_t v = f->first[parent]; v != UINT32_MAX; v = f->next[v]) {
        uint32_t best = forest_best(f, v);
        f->dom[v] = f->semi[best] < f->semi[v] ? best : parent;
    }
    f->first[parent] = UINT32_MAX;
}

static int dominators_find(Graph *g)
{
    uint32_t n = g->ordered, *room = malloc((size_t)n * 7 * sizeof *room);
    g->idom = malloc((g->blocks + 1) * sizeof *g->idom);
    if (!room || !g->idom) {
        free(room);
        return -1;
    }
    Forest f = {room,         room + n,     room + 2 * n, room + 3 * n,
                room + 4 * n, room + 5 * n, room + 6 * n};
    memset(f.up, 0xff, n * sizeof *f.up);
    memset(f.first, 0xff, n * sizeof *f.first);
    for (uint32_t i = 0; i < n; i++)
        f.best[i] = f.semi[i] = i;
    for (uint32_t i = n; i-- > 1;)
        forest_add(g, &f, i);
    memset(g->idom, 0xff, (g->blocks + 1) * sizeof *g->idom);
    g->idom[g->blocks] = g->blocks;
    for (uint32_t i = 1; i < n; i++) {
        if (f.dom[i] != f.semi[i]) f.dom[i] = f.dom[f.dom[i]];
        g->idom[g->order[i]] = g->order[f.dom[i]];
    }
    free(room);
    return 0;
}

/* ---- lanes that exit early -------------------------------------------------------------------
 * If some lanes may exit before the reconvergence point of a branch, the other lanes reconverge
 * without them. Their reconvergence point post-dominates the branch among the blocks from which a
 * common successor of both sides is reachable. If no path through those blocks ends, a path ends
 * where it returns to the branch. */
typedef struct Going {
    const Graph *all;
    const Ins *code;
    uint32_t branch;                                 /* its block */
    unsigned char *from[2], *leads, *before, *parts; /* flags per block: reachable from the branch,
                                                      * by side; leads to a common successor;
                                                      * precedes the reconvergence point; some lanes
                                                      * exit after it, for any branch */
    uint32_t *stack;
} Going;

/* Is the block the end, or only a branch to it? */
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

static void path_mark(const Going *w, uint32_t way, unsigned char *mark, uint32_t stop)
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
        path_mark(w, way, w->from[way], g->blocks);
    }
    memset(w->leads, 0, g->blocks);
    for (uint32_t b = 0; b < g->blocks; b++)
        if (w->from[0][b] && w->from[1][b]) w->leads[b] = 1, w->stack[depth++] = b;
    int common = depth != 0;
    reach_mark(w, depth, w->leads, g->back_start, g->back, g->blocks);
    return common;
}

/* Keeps only the edges between blocks that lead to a common successor; with `returns`, edges back
 * to the branch go to the exit. Blocks without such a successor go to the exit, too. Returns the
 * number of these blocks. */
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

/* Returns the block where the lanes that continue reconverge; the exit if there is none; UINT32_MAX
 * if out of memory. */
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
        edges_reverse(&on);
        if (order_make(&on) == 0 && dominators_find(&on) == 0) meet = on.idom[w->branch];
        if (meet == UINT32_MAX && on.idom) meet = g->blocks; /* no way to the exit */
    }
    graph_free(&on);
    return meet;
}

/* Sets the reconvergence points of branches before `meet` of which one side only exits. */
static void ends_part(const Going *w, uint32_t meet, uint32_t *reconv)
{
    const Graph *g = w->all;
    memset(w->before, 0, g->blocks);
    for (uint32_t way = 0; way < 2; way++)
        path_mark(w, way, w->before, meet);
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

/* Handles all branches whose sides have only the end in common. -1: out of memory. */
static int ends_resolve(const Graph *g, const Ins *code, uint32_t *reconv)
{
    enum { MOST_STEPS = 20000000 }; /* limit on the work for a hostile kernel */
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
        if (steps > MOST_STEPS) break;
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
