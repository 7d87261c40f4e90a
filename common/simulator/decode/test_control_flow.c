/* Reconvergence points, compared with the definition on small graphs of any shape; and time limits
 * on large graphs that are built to be slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/simulator/decode/decoder.h"

static uint32_t noise = 1;

static uint32_t below(uint32_t most)
{
    noise = noise * 1664525 + 1013904223;
    return (noise >> 8) % most;
}

/* ---- by the definition ------------------------------------------------------------------------
 * Successors of each instruction, two at most; the last node is the end. */
enum { MOST = 24, END = MOST };

typedef struct Ways {
    uint32_t count, to[MOST][2], ways[MOST];
} Ways;

static Ways ways_of(const Ins *code, uint32_t count)
{
    Ways w = {.count = count};
    for (uint32_t i = 0; i < count; i++) {
        if (code[i].op == OP_BRA || code[i].op == OP_BRA_P) w.to[i][w.ways[i]++] = code[i].target;
        if (code[i].op == OP_EXIT) w.to[i][w.ways[i]++] = END;
        if (code[i].op != OP_BRA && code[i].op != OP_EXIT) w.to[i][w.ways[i]++] = i + 1;
    }
    return w;
}

/* Is there a way from `from` to the end that does not come by `without`? */
static int leads_out(const Ways *w, uint32_t from, uint32_t without)
{
    uint32_t todo[MOST * 2 + 1], waiting = 0;
    unsigned char seen[MOST] = {0};
    todo[waiting++] = from;
    while (waiting) {
        uint32_t at = todo[--waiting];
        if (at == END) return 1;
        if (at == without || seen[at]) continue;
        seen[at] = 1;
        for (uint32_t k = 0; k < w->ways[at]; k++)
            todo[waiting++] = w->to[at][k];
    }
    return 0;
}

/* The first instruction that all ways from `from` to the end come by; END: there is none. */
static uint32_t sync_group_of(const Ways *w, uint32_t from)
{
    for (uint32_t d = 0; d < w->count; d++) {
        int first = d != from && !leads_out(w, from, d);
        for (uint32_t other = 0; other < w->count && first; other++)
            first =
                other == from || other == d || leads_out(w, from, other) || !leads_out(w, d, other);
        if (first) return d;
    }
    return END;
}

static void small_graph(uint32_t count, uint32_t *looked)
{
    Ins code[MOST];
    uint32_t reconv[MOST + 1];
    for (uint32_t i = 0; i < count; i++)
        code[i] = (Ins){.op = (uint16_t)(below(3)   ? OP_BRA_P
                                         : below(4) ? OP_ADD_32
                                                    : OP_BRA),
                        .guard = NO_SLOT,
                        .target = below(count)};
    code[count - 1] = (Ins){.op = OP_EXIT, .guard = NO_SLOT};
    assert_int_equal(control_flow_resolve(code, count, NULL, reconv), 0);
    Ways w = ways_of(code, count);
    for (uint32_t i = 0; i < count; i++) {
        if (code[i].op != OP_BRA_P || !leads_out(&w, i, END)) continue;
        uint32_t meeting = sync_group_of(&w, i);
        /* If only the end is left, the lanes that continue decide (tested elsewhere). */
        if (meeting == END || meeting == count - 1 || code[meeting].op == OP_BRA) continue;
        assert_int_equal(reconv[i], meeting);
        ++*looked;
    }
}

static void lanes_reconverge_where_all_paths_join(void **state)
{
    (void)state;
    uint32_t looked = 0;
    for (int turn = 0; turn < 4000; turn++)
        small_graph(3 + below(MOST - 3), &looked);
    assert_true(looked > 1000);
}

/* ---- shapes ---------------------------------------------------------------------------------- */
typedef uint32_t Shape(uint32_t i, uint32_t n); /* target of branch i of n, 2 instructions each */

static uint32_t comb(uint32_t i, uint32_t n)
{
    (void)i;
    return 2 * n;
}

static uint32_t ladder(uint32_t i, uint32_t n)
{
    (void)n;
    return 2 * i + 2;
}

static uint32_t all_to_the_first(uint32_t i, uint32_t n)
{
    (void)i, (void)n;
    return 0;
}

static uint32_t loops_in_loops(uint32_t i, uint32_t n)
{
    return i < n / 2 ? 2 * i + 1 : 2 * (n - 1 - i);
}

static uint32_t rungs(uint32_t i, uint32_t n)
{
    return i < n / 2 ? 2 * (n / 2 + i) : 2 * n;
}

static uint32_t rungs_turned(uint32_t i, uint32_t n)
{
    return i < n / 2 ? 2 * (n - 1 - i) : 2 * n;
}

static uint32_t both_ways(uint32_t i, uint32_t n)
{
    return i % 2 ? 2 * (i - 1) : i + 3 < n ? 2 * (i + 3) : 2 * n;
}

static uint32_t anywhere(uint32_t i, uint32_t n)
{
    (void)i;
    return 2 * below(n);
}

static void large_shapes_take_no_longer(void **state)
{
    enum { BRANCHES = 100000, COUNT = 2 * BRANCHES + 1, SECONDS = 5 };
    static Shape *const SHAPES[] = {comb,  ladder,       all_to_the_first, loops_in_loops,
                                    rungs, rungs_turned, both_ways,        anywhere};
    (void)state;
    Ins *code = calloc(COUNT, sizeof *code);
    uint32_t *reconv = malloc((COUNT + 1) * sizeof *reconv);
    assert_true(code && reconv);
    for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; s++) {
        clock_t begin = clock();
        for (uint32_t i = 0; i < BRANCHES; i++) {
            code[2 * i] = (Ins){.op = OP_BRA_P, .guard = 0, .target = SHAPES[s](i, BRANCHES)};
            code[2 * i + 1] = (Ins){.op = OP_ADD_32, .guard = NO_SLOT};
        }
        code[COUNT - 1] = (Ins){.op = OP_EXIT, .guard = NO_SLOT};
        assert_int_equal(control_flow_resolve(code, COUNT, NULL, reconv), 0);
        if (clock() - begin > SECONDS * CLOCKS_PER_SEC)
            fail_msg("shape %zu took %.1f s", s, (double)(clock() - begin) / CLOCKS_PER_SEC);
    }
    free(code), free(reconv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_reconverge_where_all_paths_join),
                                       cmocka_unit_test(large_shapes_take_no_longer)};
    return cmocka_run_group_tests_name("control flow", tests, NULL, NULL);
}
