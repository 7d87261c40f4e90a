/* test_sample.c - detection rate of a random sample of the outputs. */
#include "common/operations/conv/planted_fixture.h"
#include "common/operations/catalog/operations.h"

/* More outputs than are judged completely; strides, padding, pooling. */
static const char *const large[] = {
    "N=4 C=2 H=64 W=64 K=4 R=3 S=3 pad=1 stride=1",
    "N=4 C=3 H=192 W=192 K=4 R=5 S=2 pad=2,1,0,3 stride=2,3",
    "N=4 C=2 H=128 W=128 K=4 R=3 S=3 pad=1 stride=1 pool=2",
};

/* The fp64 oracle's own outputs, rounded: correct to the last bit. */
static float *right_output(const Bench *bench, size_t *outputs)
{
    Judgement judgement;
    Observed observed = {.output = bench->tensor[2]}; /* arbitrary contents */
    bench_verify(bench, PRECISION_FP32, &observed, &judgement);
    *outputs = judgement.verdict.total;
    float *output = malloc(*outputs * sizeof *output);
    assert_non_null(output);
    for (size_t i = 0; i < *outputs; i++)
        output[i] = (float)judgement.expected[i];
    judgement_free(&judgement);
    return output;
}

static int sample_right(const Bench *bench, const float *output, Random *random)
{
    Observed observed = {.output = output};
    Error error = {""};
    int right = -1;
    assert_int_equal(verify_sample(operation, &bench->problem, PRECISION_FP32,
                                   (const float *const *)bench->tensor, &observed, random, &right,
                                   &error),
                     0);
    return right;
}

static void right_outputs_pass(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 7);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        Bench bench = bench_make(large[i], 5);
        size_t outputs;
        float *output = right_output(&bench, &outputs);
        assert_true(outputs >= VERIFY_WHOLE);
        assert_int_equal(sample_right(&bench, output, &random), 1);
        free(output);
        bench_free(&bench);
    }
}

/* One wrong output in a thousand: detected in 200 of 200 draws; the probability to miss it is
 * 1e-6. */
static void one_in_a_thousand_is_found(void **state)
{
    (void)state;
    Random random;
    size_t outputs;
    Bench bench = bench_make(large[0], 5);
    float *output = right_output(&bench, &outputs);
    random_seed(&random, 8);
    for (size_t i = 0; i < outputs; i += 1000)
        output[i] += 1;
    for (int i = 0; i < 200; i++)
        assert_int_equal(sample_right(&bench, output, &random), 0);
    free(output);
    bench_free(&bench);
}

/* Anywhere: the first and the last three in a thousand. */
static void every_element_can_be_sampled(void **state)
{
    (void)state;
    Random random;
    size_t outputs, part;
    Bench bench = bench_make(large[0], 5);
    float *output = right_output(&bench, &outputs);
    random_seed(&random, 11);
    part = outputs * 3 / 1000;
    for (int last = 0; last < 2; last++) {
        float *at = last ? output + outputs - part : output;
        for (size_t i = 0; i < part; i++)
            at[i] = -at[i];
        assert_int_equal(sample_right(&bench, output, &random), 0);
        for (size_t i = 0; i < part; i++)
            at[i] = -at[i];
    }
    assert_int_equal(sample_right(&bench, output, &random), 1);
    free(output);
    bench_free(&bench);
}

static void lower_precision_is_found(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 9);
    Bench bench = bench_make("N=4 C=64 H=64 W=64 K=2 R=3 S=3 pad=1 stride=1", 5);
    Judgement judgement;
    bench_judge(&bench, &(Submission){.plant = PLANT_TF32}, PRECISION_FP32, &judgement);
    judgement_free(&judgement);
    assert_int_equal(sample_right(&bench, bench.tensor[2], &random), 0);
    bench_free(&bench);
}

/* A small output is judged completely. */
static void small_outputs_are_checked_completely(void **state)
{
    (void)state;
    Random random;
    size_t outputs;
    Bench bench = bench_make("N=2 C=2 H=64 W=64 K=3 R=3 S=3 pad=1 stride=1", 5);
    float *output = right_output(&bench, &outputs);
    random_seed(&random, 10);
    assert_true(outputs < VERIFY_WHOLE);
    for (size_t i = 0; i < 20; i++) {
        float kept = output[i * 1009];
        assert_int_equal(sample_right(&bench, output, &random), 1);
        output[i * 1009] = NAN;
        assert_int_equal(sample_right(&bench, output, &random), 0);
        output[i * 1009] = kept;
    }
    free(output);
    bench_free(&bench);
}

int main(void)
{
    operation = operation_find("conv_forward");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_outputs_pass),
        cmocka_unit_test(one_in_a_thousand_is_found),
        cmocka_unit_test(every_element_can_be_sampled),
        cmocka_unit_test(lower_precision_is_found),
        cmocka_unit_test(small_outputs_are_checked_completely),
    };
    return cmocka_run_group_tests_name("operation/verify_sample", tests, NULL, NULL);
}
