/* The mutants that mutants.h lists, on a few lines: exactly the expected ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/mutate/mutants.h"

/* The mutants of `body` as the one TODO region of a source. */
static char source[4000];

static MutantList mutants_of(const char *body)
{
    TodoList todo;
    MutantList list;
    Error error = {""};
    snprintf(source, sizeof source,
             "int r, s, w[9]; // r - s\n"
             "// TODO(1): Do it.\n%s\n// END TODO(1)\n"
             "int after = 1 + 1;\n",
             body);
    assert_int_equal(todo_scan("x", source, &todo, &error), 0);
    assert_int_equal(mutants_find(source, &todo, &list, &error), 0);
    return list;
}

/* Exactly these, as "kind: after" with "; " between, in the order of the source. */
static void assert_mutants(const char *body, const char *expected)
{
    char found[4000] = "";
    MutantList list = mutants_of(body);
    for (size_t i = 0; i < list.mutants; i++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s: %s", i ? "\n" : "", list.mutant[i].kind,
                 list.mutant[i].after);
    }
    assert_string_equal(found, expected);
    mutants_free(&list);
}

static void operators_become_related_operators(void **state)
{
    (void)state;
    assert_mutants("    t = u + v;", "statement: ;\n"
                                     "operator: t = u * v;\n"
                                     "operator: t = u - v;");
    assert_mutants("t <<= u < v;", "statement: ;\n"
                                   "operator: t >>= u < v;\n"
                                   "operator: t <<= u <= v;\n"
                                   "operator: t <<= u >= v;");
    assert_mutants("load(-t, !u);", "statement: ;\n"
                                    "operator: load(t, !u);\n"
                                    "operator: load(-t, u);");
}

static void a_byte_of_shared_memory_more_is_the_same_program(void **state)
{
    (void)state;
    assert_mutants("kernel<<<grid, BLOCK, 0, stream>>>(*p);",
                   "statement: ;\n"
                   "constant: kernel<<<grid, BLOCK, -1, stream>>>(*p);");
}

static void declarations_and_casts_are_not_mutated(void **state)
{
    (void)state;
    assert_mutants("const float *in;", "");
    assert_mutants("Tile tile = t;", "");
    assert_mutants("u = (float *)v;", "statement: ;");
}

static void constants_grow_shrink_and_vanish(void **state)
{
    (void)state;
    assert_mutants("int t = 16;", "constant: int t = (16 + 1);\n"
                                  "constant: int t = (16 - 1);\n"
                                  "constant: int t = 0;");
    assert_mutants("int t = 0;", "constant: int t = -1;\n"
                                 "constant: int t = 1;");
    assert_mutants("int t = 1;", "constant: int t = (1 + 1);\n"
                                 "constant: int t = (1 - 1);");
}

static void names_become_their_counterparts_where_these_exist(void **state)
{
    (void)state;
    assert_mutants("int t = r;", "name: int t = s;");
    assert_mutants("int t = P;", "");   /* there is no Q */
    assert_mutants("int t = p.r;", ""); /* no member s */
}

static void indices_change_by_one(void **state)
{
    (void)state;
    assert_mutants("int t = w[v];", "index: int t = w[(v) + 1];\n"
                                    "index: int t = w[(v) - 1];");
}

static void loop_bounds_and_steps_are_mutated(void **state)
{
    (void)state;
    assert_mutants("for (i = t; i < u; i += d)\n    load();",
                   "statement: ;\n"
                   "loop: for (i = t + 1; i < u; i += d)\n"
                   "loop: for (i = t - 1; i < u; i += d)\n"
                   "operator: for (i = t; i <= u; i += d)\n"
                   "operator: for (i = t; i >= u; i += d)\n"
                   "loop: for (i = t; i < u - 1; i += d)\n"
                   "operator: for (i = t; i < u; i -= d)\n"
                   "operator: for (i = t; i < u; i = d)\n"
                   "loop: for (i = t; i < u; i += d + 1)\n"
                   "statement: ;");
}

static void conditions_become_true_false_or_partial(void **state)
{
    (void)state;
    assert_mutants("if (t && u)\n    load();\nelse\n    store();", "condition: if (1 && u)\n"
                                                                   "condition: if (0)\n"
                                                                   "condition: if (1)\n"
                                                                   "operator: if (t || u)\n"
                                                                   "condition: if (t && 1)\n"
                                                                   "statement: ;\n"
                                                                   "statement: ;");
    assert_mutants("v = t ? u : d;", "statement: ;\n"
                                     "condition: v = 0 ? u : d;\n"
                                     "condition: v = 1 ? u : d;");
}

static void barriers_are_removed_and_equal_lines_numbered(void **state)
{
    (void)state;
    MutantList list = mutants_of("    __syncthreads();\n    f();\n    __syncthreads();");
    assert_int_equal(list.mutants, 3);
    assert_string_equal(list.mutant[0].before, "__syncthreads();");
    assert_int_equal(list.mutant[0].which, 1);
    assert_int_equal(list.mutant[0].line, 3);
    assert_string_equal(list.mutant[2].before, "__syncthreads();");
    assert_int_equal(list.mutant[2].which, 2);
    assert_int_equal(list.mutant[2].region, 1);
    assert_true(list.mutant[0].digest != list.mutant[2].digest);
    char *planted = mutant_plant(source, &list.mutant[2]);
    assert_non_null(strstr(planted, "    __syncthreads();\n    f();\n    ;\n// END TODO(1)\n"));
    assert_int_equal(strlen(planted), strlen(source) - strlen("__syncthreads()"));
    free(planted);
    mutants_free(&list);
}

static void comments_strings_and_pragmas_are_left_alone(void **state)
{
    (void)state;
    assert_mutants("#pragma unroll 4\n/* 1 + 1 */ f(\"1 + 1\"); // 2 + 2",
                   "statement: /* 1 + 1 */ ; // 2 + 2");
}

static void a_sample_is_the_seeds_choice(void **state)
{
    (void)state;
    const char *body = "int a = 16 + 3 * 5 - 7 / 9;";
    MutantList one = mutants_of(body), again = mutants_of(body), other = mutants_of(body);
    size_t all = one.mutants, differ = 0;
    mutants_sample(&one, 6, 1);
    mutants_sample(&again, 6, 1);
    mutants_sample(&other, 6, 2);
    assert_true(all > 12);
    assert_int_equal(one.mutants, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(one.mutant[i].after, again.mutant[i].after);
        differ += strcmp(one.mutant[i].after, other.mutant[i].after) != 0;
        assert_true(!i || one.mutant[i - 1].begin <= one.mutant[i].begin);
    }
    assert_true(differ > 0);
    mutants_free(&one), mutants_free(&again), mutants_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_become_related_operators),
        cmocka_unit_test(a_byte_of_shared_memory_more_is_the_same_program),
        cmocka_unit_test(declarations_and_casts_are_not_mutated),
        cmocka_unit_test(constants_grow_shrink_and_vanish),
        cmocka_unit_test(names_become_their_counterparts_where_these_exist),
        cmocka_unit_test(indices_change_by_one),
        cmocka_unit_test(loop_bounds_and_steps_are_mutated),
        cmocka_unit_test(conditions_become_true_false_or_partial),
        cmocka_unit_test(barriers_are_removed_and_equal_lines_numbered),
        cmocka_unit_test(comments_strings_and_pragmas_are_left_alone),
        cmocka_unit_test(a_sample_is_the_seeds_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
