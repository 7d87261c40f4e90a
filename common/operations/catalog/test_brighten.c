/* test_brighten.c - lab 00's operation: text form, drawn problems, the oracle compared with values
 * computed by hand, messages about mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/catalog/operations.h"
#include "convlab/brighten.h"

static const Operation *brighten;

static Problem problem_of(const char *text)
{
    Problem problem;
    Error error = {""};
    if (brighten->parse(text, &problem, &error)) fail_msg("%s", error.text);
    return problem;
}

static void text_and_back(void **state)
{
    char text[100];
    Problem problem;
    Error error;
    (void)state;
    problem = problem_of("lift=2 pixels=1000 gain=3");
    brighten->print(&problem, text, sizeof text);
    assert_string_equal(text, "pixels=1000 gain=3 lift=2");
    assert_int_equal(brighten->parse("pixels=0 gain=3 lift=2", &problem, &error), -1);
    assert_int_equal(brighten->parse("pixels=5 gain=3", &problem, &error), -1);
    assert_non_null(strstr(error.text, "missing: lift"));
    assert_int_equal(brighten->parse("pixels=5 gain=2000000 lift=0", &problem, &error), -1);
}

/* Multiples of 1000 plus four, one more, one less; and never more than allowed. */
static void random_indices_reach_the_borders_of_blocks(void **state)
{
    Random random;
    (void)state;
    random_seed(&random, 5);
    for (int index = 0; index < 40; index++) {
        Problem problem = {0};
        BrightenProblem p;
        brighten->draw(&random, index, 1e6, &problem);
        memcpy(&p, problem.data, sizeof p);
        if (index % 4 < 3) assert_int_equal((p.pixels + 1 - index % 4) % 1024, 0);
        assert_true(p.gain != 1 && p.lift > 0);
        brighten->draw(&random, index, 10, &problem);
        memcpy(&p, problem.data, sizeof p);
        assert_in_range(p.pixels, 1, 10);
    }
}

static void the_oracle_by_hand(void **state)
{
    Problem problem = problem_of("pixels=3 gain=3 lift=2");
    const float x[] = {0.5f, -4, 0.1f};
    const float *tensor[OPERATION_TENSORS] = {x};
    double expected[3], magnitude[3], terms[3];
    (void)state;
    brighten->oracle(&problem, tensor, expected, magnitude, terms);
    assert_float_equal(expected[0], 3.5, 0);
    assert_float_equal(expected[1], -10, 0);
    assert_float_equal(magnitude[1], 14, 0);
    assert_float_equal(expected[2], 3 * (double)0.1f + 2, 0);
    assert_float_equal(terms[2], 2, 0);
    assert_float_equal(brighten->least_bytes(&problem), 24, 0);
    assert_float_equal(brighten->flops(&problem), 6, 0);
}

/* ---- messages about mistakes ----------------------------------------------------------------- */

enum { PIXELS = 600, GAIN = 3, LIFT = 2 };

static float right(const float *x, int i)
{
    return GAIN * x[i] + LIFT;
}

static float no_lift(const float *x, int i)
{
    return GAIN * x[i];
}

static float no_gain(const float *x, int i)
{
    return x[i] + LIFT;
}

static float copied(const float *x, int i)
{
    return x[i];
}

static float lift_first(const float *x, int i)
{
    return GAIN * (x[i] + LIFT);
}

static float exchanged(const float *x, int i)
{
    return LIFT * x[i] + GAIN;
}

static float subtracted(const float *x, int i)
{
    return GAIN * x[i] - LIFT;
}

static float cut(const float *x, int i)
{
    return (float)(GAIN * (int)x[i] + LIFT);
}

static void judge(float (*code)(const float *, int), Verdict *verdict, Finding *finding)
{
    static float x[PIXELS], y[PIXELS];
    float *tensor[OPERATION_TENSORS] = {x, y};
    Problem problem = problem_of("pixels=600 gain=3 lift=2");
    Observed observed = {.output = y};
    Judgement judgement;
    Random random;
    Error error = {""};
    random_seed(&random, 11);
    brighten->generate(&problem, &random, tensor);
    for (int i = 0; i < PIXELS; i++)
        y[i] = code(x, i);
    if (verify_output(brighten, &problem, PRECISION_FP32, (const float *const *)tensor, &observed,
                      &judgement, &error))
        fail_msg("%s", error.text);
    *verdict = judgement.verdict;
    diagnose(&judgement, NULL, NULL, finding);
    judgement_free(&judgement);
}

static void mistakes_have_names(void **state)
{
    static const struct {
        float (*code)(const float *, int);
        Fault fault;
        const char *words;
    } MADE[] = {{no_lift, FAULT_FORMULA, "lift is missing"},
                {no_gain, FAULT_FORMULA, "gain is missing"},
                {copied, FAULT_FORMULA, "copied"},
                {lift_first, FAULT_FORMULA, "added before the multiplication"},
                {exchanged, FAULT_FORMULA, "exchanged"},
                {subtracted, FAULT_FORMULA, "subtracted"},
                {cut, FAULT_PRECISION, "truncated to an integer"}};
    Verdict verdict;
    Finding finding;
    (void)state;
    judge(right, &verdict, &finding);
    assert_true(verdict.correct && verdict.worst < 0.5);
    for (size_t i = 0; i < sizeof MADE / sizeof *MADE; i++) {
        judge(MADE[i].code, &verdict, &finding);
        if (verdict.correct || finding.fault != MADE[i].fault ||
            !strstr(finding.text, MADE[i].words))
            fail_msg("%s: %s, %s", MADE[i].words, fault_name(finding.fault), finding.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(random_indices_reach_the_borders_of_blocks),
        cmocka_unit_test(the_oracle_by_hand),
        cmocka_unit_test(mistakes_have_names),
    };
    brighten = operation_find("brighten");
    return brighten ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
