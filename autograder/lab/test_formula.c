#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "autograder/lab/formula.h"
#include "common/operations/catalog/operations.h"

static const char SHAPE[] = "N=16 C=3 H=32 W=30 K=6 R=5 S=4 pad=1,2,3,0 stride=1,2";

static Problem problem_of(const char *shape)
{
    Problem problem;
    Error error;
    assert_int_equal(operation_find("conv_forward")->parse(shape, &problem, &error), 0);
    return problem;
}

/* The value in a run of 7 blocks of 64 threads on a machine of 15 SMs; fails the test if there is
 * none. */
static double value_of(const char *text)
{
    Problem problem = problem_of(SHAPE);
    SimtMachine machine = {.sms = 15, .registers_per_sm = 32768, .clock_mhz = 1401.5};
    DeviceCost cost = {.launches = 1, .grid = {7, 1, 1}, .block = {64, 1, 1}, .barriers = 21};
    MetricRun run = {operation_find("conv_forward"), &problem, &machine, &cost};
    Error error = {""};
    double value = 0;
    if (formula_value(text, &run, &value, &error)) fail_msg("%s: %s", text, error.text);
    return value;
}

static void arithmetic_is_as_in_c_except_for_powers(void **state)
{
    (void)state;
    assert_float_equal(value_of("2 + 3 * 4"), 14, 0);
    assert_float_equal(value_of("(2 + 3) * 4 - 1"), 19, 0);
    assert_float_equal(value_of("7 % 4 * 2"), 6, 0);
    assert_float_equal(value_of("1 + 2 * 7 % 4"), 3, 0);
    assert_float_equal(value_of("2 ^ -11"), 1 / 2048.0, 0);
    assert_float_equal(value_of("floor(32768 / (28 * 64))"), 18, 0);
    assert_float_equal(value_of("ceil(25 / 4) + round(2.6) + sqrt(16)"), 14, 0);
    assert_float_equal(value_of("min(3, 2) + max(4, 5)"), 7, 0);
}

static void names_are_the_problems_the_machines_and_the_metrics(void **state)
{
    (void)state;
    /* P = (32 + 1 + 3 - 5) / 1 + 1, Q = (30 + 2 + 0 - 4) / 2 + 1 */
    assert_float_equal(value_of("P"), 32, 0);
    assert_float_equal(value_of("Q"), 15, 0);
    assert_float_equal(value_of("1000 * pad_top + 100 * pad_left + 10 * pad_bottom + pad_right"),
                       1230, 0);
    assert_float_equal(value_of("10 * stride_h + stride_w"), 12, 0);
    assert_float_equal(value_of("zeros + w_zeros + pool"), 0, 0);
    assert_float_equal(value_of("macs"), 16.0 * 6 * 32 * 15 * 3 * 5 * 4, 0);
    assert_float_equal(value_of("flops / macs"), 2, 0);
    assert_float_equal(value_of("least_bytes"),
                       4 * (16 * 3 * 32 * 30 + 6 * 3 * 5 * 4 + 16 * 6 * 32 * 15), 0);
    assert_float_equal(value_of("registers_per_sm / warp_size"), 1024, 0);
    assert_float_equal(value_of("clock_mhz"), 1401.5, 0);
    assert_float_equal(value_of("warps + barriers / blocks"), 7 * 2 + 3, 0);
}

typedef struct Bad {
    const char *text, *message;
} Bad;

static const Bad BAD[] = {
    {"2 +", "'2 +' breaks off"},
    {"", "'' breaks off"},
    {"2 * (3 + 1", "'2 * (3 + 1' breaks off"},
    {"N C",
     "'N C' is not a formula from 'C' on; it may contain + - * / % ^ ( ), ceil, floor, round, min, "
     "max and sqrt"},
    {"3 $ 4",
     "'3 $ 4' is not a formula from '$ 4' on; it may contain + - * / % ^ ( ), ceil, floor, round, "
     "min, max and sqrt"},
    {"1, 2", "'1, 2' is 2 numbers; a formula is one"},
    {"N / (R - 5)", "'N / (R - 5)' has no finite value; possibly it divides by zero"},
    {"0 / zeros", "'0 / zeros' has no finite value; possibly it divides by zero"},
    {"N % pool", "'N % pool' has no finite value; possibly it divides by zero"},
    {"sqrt(-N)", "'sqrt(-N)' has no finite value; possibly it divides by zero"},
    {"10 ^ 400", "'10 ^ 400' has no finite value; possibly it divides by zero"},
    {"KK * 2",
     "there is no number 'KK'; take one of the problem (N, C, H, W, K, R, S, P, Q, "
     "pad_top, pad_left, pad_bottom, pad_right, stride_h, stride_w, zeros, pool, "
     "w_zeros, macs), of "
     "the machine (sms, registers_per_sm, ...) or a metric; docs/instructor/lab-ini.md lists them"},
    {"title", NULL}, /* a key of the machine that is not a number */
};

static void invalid_formulas_are_rejected_before_any_run(void **state)
{
    (void)state;
    Problem problem = problem_of(SHAPE);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Error error = {""};
        int launch = 0;
        if (!formula_check(BAD[i].text, operation_find("conv_forward"), &problem, &launch, &error))
            fail_msg("accepted: %s", BAD[i].text);
        if (BAD[i].message) assert_string_equal(error.text, BAD[i].message);
    }
}

static void a_formula_reports_whether_it_needs_a_launch(void **state)
{
    (void)state;
    Problem problem = problem_of(SHAPE);
    const Operation *operation = operation_find("conv_forward");
    Error error;
    int launch = -1;
    assert_int_equal(formula_check("macs / sms", operation, &problem, &launch, &error), 0);
    assert_int_equal(launch, 0);
    assert_int_equal(formula_check("flops", operation, &problem, &launch, &error), 0);
    assert_int_equal(launch, 0);
    /* The launch's values are not known yet, so there is no division by zero. */
    assert_int_equal(formula_check("N / (blocks - 1)", operation, &problem, &launch, &error), 0);
    assert_int_equal(launch, 1);
}

static void a_run_may_lack_a_number(void **state)
{
    (void)state;
    Problem problem = problem_of(SHAPE);
    SimtMachine machine = {.sms = 15};
    DeviceCost cost = {0};
    MetricRun run = {operation_find("conv_forward"), &problem, &machine, &cost};
    Error error;
    double value;
    assert_int_equal(formula_value("2 * blocks", &run, &value, &error), -1);
    assert_string_equal(error.text, "no kernel was launched");
    cost.launches = 1;
    assert_int_equal(formula_value("1 + sectors_per_load", &run, &value, &error), -1);
    assert_string_equal(error.text, "your kernel made no global load");
    assert_int_equal(formula_value("N / blocks", &run, &value, &error), -1);
    assert_string_equal(error.text,
                        "'N / blocks' has no finite value; possibly it divides by zero");
}

static void too_many_names_are_rejected(void **state)
{
    (void)state;
    char text[2000] = "0";
    Problem problem = problem_of(SHAPE);
    Error error;
    int launch;
    for (int i = 0; i < metric_count(); i++)
        strcat(strcat(text, "+"), metric_name(i));
    strcat(text, "+N+C+H+W+K+R+S+P+Q+pad_top+pad_left+pad_bottom+pad_right+zeros+pool+macs+sms");
    assert_int_equal(formula_check(text, operation_find("conv_forward"), &problem, &launch, &error),
                     -1);
    assert_string_equal(error.text, "more than 64 names");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_as_in_c_except_for_powers),
        cmocka_unit_test(names_are_the_problems_the_machines_and_the_metrics),
        cmocka_unit_test(invalid_formulas_are_rejected_before_any_run),
        cmocka_unit_test(a_formula_reports_whether_it_needs_a_launch),
        cmocka_unit_test(a_run_may_lack_a_number),
        cmocka_unit_test(too_many_names_are_rejected),
    };
    return cmocka_run_group_tests_name("autograder/formula", tests, NULL, NULL);
}
