/* test_verify.c - judgement of correct and incorrect sums. */
#include "common/operations/conv/planted_fixture.h"
#include "common/operations/catalog/operations.h"

static Verdict judge(const char *text, Plant plant, Precision precision)
{
    Bench bench = bench_make(text, 11);
    Judgement judgement;
    bench_judge(&bench, &(Submission){.plant = plant}, precision, &judgement);
    Verdict verdict = judgement.verdict;
    judgement_free(&judgement);
    bench_free(&bench);
    return verdict;
}

static void expect_right(const char *text, Plant plant, Precision precision)
{
    Verdict verdict = judge(text, plant, precision);
    if (!verdict.correct) fail_msg("%s, plant %d: wrong at %s", text, plant, verdict.where);
    assert_int_equal(verdict.wrong, 0);
    assert_true(verdict.worst <= 1);
}

static void expect_wrong(const char *text, Plant plant, Precision precision)
{
    Verdict verdict = judge(text, plant, precision);
    if (verdict.correct) fail_msg("%s, plant %d passes", text, plant);
    assert_true(verdict.wrong > 0);
    assert_non_null(strstr(verdict.where, "(n,k,p,q) = ("));
}

static void correct_sums_pass(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect_right(every_shape[i], PLANT_NOTHING, PRECISION_FP32);
        expect_right(every_shape[i], PLANT_REVERSED_SUM, PRECISION_FP32);
        expect_right(every_shape[i], PLANT_SPLIT_SUM, PRECISION_FP32);
        expect_right(every_shape[i], PLANT_TF32, PRECISION_TF32);
        expect_right(every_shape[i], PLANT_FP16, PRECISION_FP16);
        expect_right(every_shape[i], PLANT_NOTHING, PRECISION_TF32);
    }
    /* A deep layer, and windows completely in the padding. */
    expect_right(DEEP, PLANT_NOTHING, PRECISION_FP32);
    expect_right("N=1 C=2 H=3 W=3 K=2 R=2 S=2 pad=4 stride=1", PLANT_NOTHING, PRECISION_FP32);
}

/* gamma_m of fp32 for m = 27 is 27u/(1-27u); four times that, times the magnitude. */
static void bound_is_the_formula(void **state)
{
    (void)state;
    double u = ldexp(1, -24), gamma = 27 * u / (1 - 27 * u), v = ldexp(1, -11);
    assert_true(fabs(verdict_bound(PRECISION_FP32, 2, 27) - 8 * gamma) < 1e-15);
    assert_true(fabs(verdict_bound(PRECISION_TF32, 2, 27) - 8 * (gamma + 2 * v + v * v)) < 1e-12);
    assert_true(verdict_bound(PRECISION_FP32, 0, 0) == 0);
    assert_true(verdict_bound(PRECISION_FP32, 1, 1e9) > 0);
}

static void lower_precision_fails_at_any_depth(void **state)
{
    (void)state;
    static const Plant plant[] = {PLANT_TF32, PLANT_FP16, PLANT_BF16, PLANT_FP16_SUM};
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < SHAPES; i++)
            expect_wrong(every_shape[i], plant[j], PRECISION_FP32);
        expect_wrong("N=1 C=64 H=10 W=10 K=4 R=3 S=3 pad=1 stride=1", plant[j], PRECISION_FP32);
        expect_wrong(DEEP, plant[j], PRECISION_FP32);
    }
    expect_wrong(SQUARE, PLANT_BF16, PRECISION_TF32);
}

static void eleven_bits_are_distinguished_from_fewer_at_any_depth(void **state)
{
    (void)state;
    for (Precision precision = PRECISION_TF32; precision <= PRECISION_FP16; precision++) {
        expect_right(DEEP, PLANT_TF32, precision);
        expect_right(DEEP, PLANT_FP16, precision);
        expect_right(DEEP, PLANT_NOTHING, precision);
        expect_wrong(DEEP, PLANT_BF16, precision);
        expect_wrong(DEEP, PLANT_FP16_SUM, precision);
        expect_wrong(SQUARE, PLANT_BF16, precision);
    }
}

static void one_wrong_output_fails_and_is_located(void **state)
{
    (void)state;
    Bench bench = bench_make(VALID, 3);
    Judgement judgement;
    bench_judge(&bench, &(Submission){.plant = PLANT_NOTHING}, PRECISION_FP32, &judgement);
    assert_true(judgement.verdict.correct);
    judgement_free(&judgement);
    size_t at = ((1 * 7 + 3) * 16 + 15) * 19 + 18;
    float right = bench.tensor[2][at];
    bench.tensor[2][at] = right * 1.01f;
    bench_verify(&bench, PRECISION_FP32, &(Observed){.output = bench.tensor[2]}, &judgement);
    Verdict verdict = judgement.verdict;
    assert_false(verdict.correct);
    assert_int_equal(verdict.wrong, 1);
    assert_int_equal(verdict.first, at);
    assert_string_equal(verdict.where, "(n,k,p,q) = (1,3,15,18)");
    assert_true(verdict.got == right * 1.01f);
    assert_true(fabs(verdict.expected - right) <= verdict.bound);
    assert_true(verdict.worst > 1);
    for (size_t i = 0; i < bench.outputs; i++)
        assert_int_equal(judgement.mark[i], i == at ? MARK_WRONG : MARK_RIGHT);
    judgement_free(&judgement);
    bench_free(&bench);
}

/* Correct outputs, but writes to other memory. */
static void written_elsewhere_is_wrong(void **state)
{
    (void)state;
    Bench bench = bench_make(SQUARE, 4);
    Judgement judgement;
    bench_judge(&bench, &(Submission){.plant = PLANT_NOTHING}, PRECISION_FP32, &judgement);
    assert_true(judgement.verdict.correct);
    judgement_free(&judgement);
    const Observed bad[] = {{.output = bench.tensor[2], .band_broken = "y", .band_offset = 7},
                            {.output = bench.tensor[2], .input_changed = "w"}};
    for (int i = 0; i < 2; i++) {
        bench_verify(&bench, PRECISION_FP32, &bad[i], &judgement);
        assert_false(judgement.verdict.correct);
        assert_int_equal(judgement.verdict.wrong, 0);
        judgement_free(&judgement);
    }
    bench_free(&bench);
}

static void every_fault_has_a_name(void **state)
{
    (void)state;
    for (Fault fault = FAULT_NONE; fault <= FAULT_EVERYWHERE; fault++) {
        const char *name = fault_name(fault);
        assert_true(strlen(name) > 1 && strcmp(name, "unknown") != 0);
        for (Fault other = FAULT_NONE; other < fault; other++)
            assert_string_not_equal(name, fault_name(other));
    }
    assert_string_equal(fault_name(FAULT_TILE_EDGE), "tile-edge");
    assert_string_equal(fault_name((Fault)-1), "unknown");
}

int main(void)
{
    operation = operation_find("conv_forward");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_is_the_formula),
        cmocka_unit_test(every_fault_has_a_name),
        cmocka_unit_test(correct_sums_pass),
        cmocka_unit_test(lower_precision_fails_at_any_depth),
        cmocka_unit_test(eleven_bits_are_distinguished_from_fewer_at_any_depth),
        cmocka_unit_test(one_wrong_output_fails_and_is_located),
        cmocka_unit_test(written_elsewhere_is_wrong),
    };
    return cmocka_run_group_tests_name("conv/verify", tests, NULL, NULL);
}
