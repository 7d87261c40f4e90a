/* test_images.c - detection rate and size of samples of images.  The operation here claims the cost
 * of a network and costs nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/verify.h"

/* ---- y[n][k] = x[n][k] * w[k], with a claimed cost of a billion multiply-adds per image ----- */

enum { VALUES = 3, MANY = 100, FEW = 63 };
enum { X, W, Y, TENSORS };

static int images_of(const Problem *problem)
{
    int images;
    memcpy(&images, problem->data, sizeof images);
    return images;
}

static void toy_of_images(const Problem *problem, int images, Problem *fewer)
{
    *fewer = *problem;
    memcpy(fewer->data, &images, sizeof images);
}

static int toy_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    size_t N = (size_t)images_of(problem);
    shape[X] = (TensorShape){"x", TENSOR_INPUT, 2, {N, VALUES}, {"n", "k"}};
    shape[W] = (TensorShape){"w", TENSOR_INPUT, 1, {VALUES}, {"k"}};
    shape[Y] = (TensorShape){"y", TENSOR_OUTPUT, 2, {N, VALUES}, {"n", "k"}};
    return TENSORS;
}

static double toy_flops(const Problem *problem)
{
    return 2e9 * images_of(problem);
}

static void toy_oracle(const Problem *problem, const float *const *tensor, double *expected,
                       double *magnitude, double *terms)
{
    for (int i = 0; i < images_of(problem) * VALUES; i++) {
        expected[i] = (double)tensor[X][i] * tensor[W][i % VALUES];
        magnitude[i] = fabs(expected[i]);
        terms[i] = 1;
    }
}

static const Operation toy = {.name = "toy",
                              .tensors = toy_tensors,
                              .flops = toy_flops,
                              .oracle = toy_oracle,
                              .of_images = toy_of_images,
                              .own_reach = 1};

/* ---- detection rate ------------------------------------------------------------------------- */

/* Number of `draws` samples judged correct if the first `wrong` images have one wrong value
 * each. */
static int times_right(int images, int wrong, int draws)
{
    static float x[MANY * VALUES], y[MANY * VALUES];
    static const float w[VALUES] = {2, -3, 5};
    const float *const tensor[] = {x, w, y};
    const Observed observed = {.output = y};
    Problem problem = {.bytes = sizeof images};
    Random random;
    int times = 0;
    random_seed(&random, 3);
    toy_of_images(&problem, images, &problem);
    for (int i = 0; i < images * VALUES; i++) {
        x[i] = random_wide(&random);
        y[i] = x[i] * w[i % VALUES];
    }
    for (int n = 0; n < wrong; n++)
        y[n * VALUES + n % VALUES] *= 1.01F;
    for (int i = 0; i < draws; i++) {
        Error error = {""};
        int right = -1;
        assert_int_equal(verify_sample(&toy, &problem, PRECISION_FP32, tensor, &observed, &random,
                                       &right, &error),
                         0);
        times += right;
    }
    return times;
}

static void right_images_pass(void **state)
{
    (void)state;
    assert_int_equal(times_right(MANY, 0, 50), 50);
    assert_int_equal(times_right(FEW, 0, 50), 50);
}

/* 32 of 100 different images are judged: a single wrong image is missed in 68 % of the samples
 * (deviation 0.66 %), ten wrong ones in 1.7 %. */
static void a_sample_is_as_large_as_it_says(void **state)
{
    (void)state;
    assert_in_range(times_right(MANY, 1, 5000), 3235, 3565);
    assert_in_range(times_right(MANY, 10, 5000), 50, 130);
}

static void an_error_in_a_third_of_the_outputs_is_found(void **state)
{
    (void)state;
    assert_int_equal(times_right(MANY, MANY / 3, 2000), 0);
}

static void few_images_are_all_checked(void **state)
{
    (void)state;
    assert_int_equal(times_right(FEW, 1, 500), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_images_pass),
        cmocka_unit_test(a_sample_is_as_large_as_it_says),
        cmocka_unit_test(an_error_in_a_third_of_the_outputs_is_found),
        cmocka_unit_test(few_images_are_all_checked),
    };
    return cmocka_run_group_tests_name("operation/images", tests, NULL, NULL);
}
