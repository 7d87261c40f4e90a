/* test_tail.c - waves and widths compared with values computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/operations/catalog/operations.h"
#include "convlab/tail.h"

static void expect(const char *name, const char *shape, const float *const *tensor, double *value)
{
    const Operation *operation = operation_find(name);
    static double magnitude[256], terms[256];
    Problem problem;
    Error error;
    if (operation->parse(shape, &problem, &error)) fail_msg("%s", error.text);
    operation->oracle(&problem, tensor, value, magnitude, terms);
}

/* Figure 5 of the paper: one block per filter, 80 at a time. */
static void waves_equal_those_of_the_paper(void **state)
{
    const float pixels[] = {4096};
    const float *tensor[] = {pixels, NULL};
    double value[128];
    (void)state;
    expect("tail_waves", "L=1 M=64 unit=8 S=80 k=1 tile=1,4096", tensor, value);
    assert_float_equal(value[9], 1, 0);              /* 80 filters */
    assert_float_equal(value[10], 2, 0);             /* 88 */
    assert_float_equal(value[63], 7, 0);             /* 512 */
    assert_float_equal(value[64 + 10], 0.55, 1e-12); /* 88 of 160 places */
}

/* Tiles of filters and of pixels are rounded up separately: 2 * 3 blocks for 9 filters, 10 at a
 * time. */
static void tiles_are_rounded_up_apart(void **state)
{
    const float pixels[] = {17};
    const float *tensor[] = {pixels, NULL};
    double value[4];
    (void)state;
    expect("tail_waves", "L=1 M=2 unit=9 S=5 k=2 tile=8", tensor, value);
    assert_float_equal(value[0], 1, 0); /* 2 * 3 */
    assert_float_equal(value[1], 1, 0); /* 3 * 3 */
    assert_float_equal(value[3], 0.9, 1e-12);
}

/* Two 1x1 layers of 3 and 4 filters, one channel: latency 1*20 + 3*40, parameters 3 + 12.  Right
 * edges are widths 2 and 4 of the first, 3 of the second layer. */
static void plan(const char *how, double first, double second)
{
    const float layer[] = {3, 1, 1, 4, 1, 1};
    const float time[] = {10, 10, 20, 20, 10, 20, 20, 40};
    const float *tensor[] = {layer, time, NULL};
    char shape[80] = "L=2 M=4 unit=1 C=1 ";
    double value[2];
    expect("tail_widths", strcat(shape, how), tensor, value);
    assert_float_equal(value[0], first, 0);
    assert_float_equal(value[1], second, 0);
}

static void widths_move_to_the_edges(void **state)
{
    (void)state;
    /* The second gains 60, to 80; then the first 30, to 50: 8 of 15 parameters remain. */
    plan("mode=latency tau=500", 2, 3);
    /* 10.5 must remain: the second round has no layer to balance it and is undone. */
    plan("mode=latency tau=300", 3, 3);
    /* 13.5: the second's move leaves 12, and the first goes up to balance it: 16, at most 16.5. */
    plan("mode=latency tau=100", 4, 3);
    /* That leaves 100 of 140; 600 thousandths are 84: again with 200, which 12 parameters keep. */
    plan("mode=latency tau=100 delta=600", 3, 3);
    /* The first goes up, to 180; the second goes down to balance it, to 100: 16 parameters instead
     * of 15. */
    plan("mode=parameters tau=100", 4, 3);
}

/* Four 1x1 layers of 4 filters, with 4 channels; edges are 2 and 4, and the last layer is fixed.
 * Latency is 4*4*20 = 320, parameters are 64.  Each of the other three gains the same by moving to
 * 2: 40 of its own and 40 of the next one's.  Then 48 parameters remain, the minimum. */
static void the_first_of_equal_moves_is_chosen(void **state)
{
    const float layer[] = {4, 1, 1, 4, 1, 1, 4, 1, 1, 4, 1, 0};
    const float time[] = {10, 10, 20, 20, 10, 10, 20, 20, 10, 10, 20, 20, 10, 10, 20, 20};
    const float *tensor[] = {layer, time, NULL};
    double value[4];
    (void)state;
    expect("tail_widths", "L=4 M=4 unit=1 C=4 mode=latency tau=250", tensor, value);
    assert_float_equal(value[0], 2, 0);
    assert_float_equal(value[1], 4, 0);
    assert_float_equal(value[2], 4, 0);
    assert_float_equal(value[3], 4, 0);
}

/* Widths 2, 3 and 4 have the same throughput, and 4 is the last: only 4 is a candidate. */
static void the_last_of_equal_throughputs_is_the_edge(void **state)
{
    const float layer[] = {4, 1, 1}, time[] = {20, 20, 30, 40}, last[] = {20, 20, 30, 41};
    const float *tensor[] = {layer, time, NULL};
    double value;
    (void)state;
    expect("tail_widths", "L=1 M=4 unit=1 C=1 mode=latency tau=900", tensor, &value);
    assert_float_equal(value, 4, 0); /* no move is possible */
    tensor[1] = last;
    expect("tail_widths", "L=1 M=4 unit=1 C=1 mode=latency tau=900", tensor, &value);
    assert_float_equal(value, 3, 0);
}

/* Drawn problems contain equal layers. */
static void layers_that_are_alike(void **state)
{
    enum { L = 5, M = 12, TRIES = 20 };
    const Operation *operation = operation_find("tail_widths");
    Problem problem;
    Error error;
    (void)state;
    assert_int_equal(
        operation->parse("L=5 M=12 unit=1 C=9 mode=latency tau=50 alike=1", &problem, &error), 0);
    for (int i = 0; i < TRIES; i++) {
        float layer[L * LAYER_FLOATS], time[L * M], y[L], *tensor[] = {layer, time, y};
        int equal = 0;
        Random random;
        random_seed(&random, (uint64_t)i);
        operation->generate(&problem, &random, tensor);
        for (int l = 1; l < L; l++) {
            assert_memory_equal(time, time + l * M, M * sizeof *time);
            assert_float_equal(layer[l * LAYER_FLOATS + LAYER_WIDTH], layer[LAYER_WIDTH], 0);
        }
        for (int m = 2; m <= M; m++)
            equal += m * (double)time[m - 2] == (m - 1) * (double)time[m - 1];
        assert_true(equal > 0);
    }
}

static void a_goal_for_the_other_mode_is_rejected(void **state)
{
    Problem problem;
    Error error;
    (void)state;
    assert_int_equal(
        operation_find("tail_widths")
            ->parse("L=2 M=4 unit=1 C=1 mode=parameters tau=9 delta=900", &problem, &error),
        -1);
    assert_non_null(strstr(error.text, "delta is for mode=latency"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_equal_those_of_the_paper),
        cmocka_unit_test(tiles_are_rounded_up_apart),
        cmocka_unit_test(widths_move_to_the_edges),
        cmocka_unit_test(the_first_of_equal_moves_is_chosen),
        cmocka_unit_test(the_last_of_equal_throughputs_is_the_edge),
        cmocka_unit_test(layers_that_are_alike),
        cmocka_unit_test(a_goal_for_the_other_mode_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
