/* control_flow.c - immediate post-dominators: where lanes that part at a branch meet again.
 *
 * Basic blocks, edges reversed, and the iterative algorithm of Cooper, Harvey and Kennedy ("A
 * Simple, Fast Dominance Algorithm", 2001) from a virtual exit that every ending block leads to. */
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
    for (uint32_t e = 0; e < total; e++)
        g->back_start[g->edge[e] + 2]++;
    for (uint32_t b = 0; b <= n; b++)
        g->back_start[b + 2] += g->back_start[b + 1];
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t e = g->edge_start[b]; e < g->edge_start[b + 1]; e++)
            g->back[g->back_start[g->edge[e] + 1]++] = b;
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

static uint32_t intersect(const Graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (g->number[a] > g->number[b])
            a = g->idom[a];
        while (g->number[b] > g->number[a])
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
    graph_free(&g);
    return result;
}
