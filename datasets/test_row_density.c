/* test_row_density.c - kept rows of X_unroll, compared with counts by hand and with probabilities.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/operations/conv/conv_problem.h"
#include "datasets/row_density.h"
#include "datasets/vgg19.h"

static ConvProblem problem_of(const char *shape)
{
    Problem problem;
    Error error;
    assert_int_equal(conv_parse(shape, &problem, &error), 0);
    return conv_unpack(&problem);
}

/* One value in the middle of a 5x5 map is in 9 windows of 3x3, once in each: of 81 rows 9. */
static void one_value_lies_in_nine_windows(void **state)
{
    (void)state;
    ConvProblem p = problem_of("N=1 C=1 H=5 W=5 K=1 R=3 S=3 pad=0 stride=1");
    float x[25] = {[12] = -1};
    assert_float_equal(row_density(&p, x, 1), 9. / 81, 1e-12);
    /* In patches of 2x2 the outputs (0..1, 0..1) use it with taps (1..2, 1..2): 4 rows of 9; (0..1,
     * 2) with 2; (2, 0..1) with 2; (2, 2) with 1: 9 of 36. */
    assert_float_equal(row_density(&p, x, 2), 9. / 36, 1e-12);
    assert_float_equal(row_density(&p, x, 4), 9. / 9, 1e-12);
    p = problem_of("N=1 C=1 H=5 W=5 K=1 R=3 S=3 pad=0 stride=2");
    assert_float_equal(row_density(&p, x, 1), 4. / 36, 1e-12);
}

/* The padding is zero: of the 9 windows of a full 3x3 map 49 of 81 values are inside. */
static void the_padding_is_left_out(void **state)
{
    (void)state;
    ConvProblem p = problem_of("N=1 C=1 H=3 W=3 K=1 R=3 S=3 pad=1 stride=1");
    float x[9];
    for (int i = 0; i < 9; i++)
        x[i] = 1;
    assert_float_equal(row_density(&p, x, 1), 49. / 81, 1e-12);
    assert_float_equal(row_density(&p, x, 3), 1, 1e-12);
}

/* With random zeros, a row of a patch of n outputs is empty with probability zeros^n. */
static void scattered_zeros_are_binomially_distributed(void **state)
{
    (void)state;
    enum { COUNT = 64 * 50 * 50 };
    ConvProblem p = problem_of("N=1 C=64 H=50 W=50 K=1 R=3 S=3 pad=0 stride=1");
    float *x = malloc(COUNT * sizeof *x);
    Random random;
    random_seed(&random, 5);
    for (int i = 0; i < COUNT; i++)
        x[i] = random_unit(&random) < 0.9 ? 0 : 1;
    for (int side = 1; side <= 4; side *= 2)
        assert_float_equal(row_density(&p, x, side), 1 - pow(0.9, side * side), 0.01);
    free(x);
}

static void vgg19_layers_get_sparser(void **state)
{
    (void)state;
    for (int i = 1; i < VGG19_LAYERS; i++) {
        const Vgg19Layer *before = &vgg19_layer[i - 1], *layer = &vgg19_layer[i];
        assert_int_equal(layer->C, before->K);
        assert_true(layer->size == before->size || 2 * layer->size == before->size);
        assert_true(layer->zeros > before->zeros);
        if (i >= 12) assert_true(layer->zeros > 70); /* the paper's statement about deep layers */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_lies_in_nine_windows),
        cmocka_unit_test(the_padding_is_left_out),
        cmocka_unit_test(scattered_zeros_are_binomially_distributed),
        cmocka_unit_test(vgg19_layers_get_sparser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
