#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "autograder/record/score.h"

/* Computed by hand: s_ref = 4.8, slack 1.2 -> H = 4; s = 2 is half way on a logarithmic scale. */
static void points_are_logarithmic_in_time(void **state)
{
    (void)state;
    SpeedScore score = score_speed(2, 4.8, 1.2, 0, SCORE_LEAST_MEASURED, 30);
    assert_true(score.counts);
    assert_float_equal(score.needed, 4, 1e-12);
    assert_float_equal(score.points, 15, 1e-9);
    assert_float_equal(score_speed(4, 4.8, 1.2, 0, SCORE_LEAST_MEASURED, 30).points, 30, 1e-9);
    assert_float_equal(score_speed(8, 4.8, 1.2, 0, SCORE_LEAST_MEASURED, 30).points, 30, 1e-9);
    assert_float_equal(score_speed(1, 4.8, 1.2, 0, SCORE_LEAST_MEASURED, 30).points, 0, 1e-9);
    assert_float_equal(score_speed(0.25, 4.8, 1.2, 0, SCORE_LEAST_MEASURED, 30).points, 0, 1e-9);
}

/* s_ref = 4.8, H = 4, and points begin at L = 0.5 * 4.8 = 2.4: sqrt(2.4 * 4) is half way. */
static void none_below_shifts_the_start_of_the_points(void **state)
{
    (void)state;
    assert_float_equal(score_speed(4, 4.8, 1.2, 0.5, SCORE_LEAST_EXACT, 30).points, 30, 1e-9);
    assert_float_equal(score_speed(2.4, 4.8, 1.2, 0.5, SCORE_LEAST_EXACT, 30).points, 0, 1e-9);
    assert_float_equal(score_speed(2, 4.8, 1.2, 0.5, SCORE_LEAST_EXACT, 30).points, 0, 0);
    assert_float_equal(score_speed(3.098386676965934, 4.8, 1.2, 0.5, SCORE_LEAST_EXACT, 30).points,
                       15, 1e-9);
    /* Never below the baseline's own speed. */
    assert_float_equal(score_speed(1, 1.5, 1.2, 0.5, SCORE_LEAST_EXACT, 30).points, 0, 0);
    /* The floor is the needed speed itself: all or nothing. */
    assert_float_equal(score_speed(5, 10, 2, 0.5, SCORE_LEAST_EXACT, 30).points, 30, 0);
    assert_float_equal(score_speed(4.9, 10, 2, 0.5, SCORE_LEAST_EXACT, 30).points, 0, 0);
}

static void invalid_baselines_are_ignored(void **state)
{
    (void)state;
    assert_true(score_speed(5, 1.8, 1.2, 0, SCORE_LEAST_MEASURED, 10).counts); /* H = 1.5 exactly */
    assert_true(score_speed(5, 1.4, 1.2, 0, SCORE_LEAST_EXACT, 10).counts);
    assert_false(score_speed(5, 1.25, 1.2, 0, SCORE_LEAST_EXACT, 10).counts);
    assert_false(score_speed(5, 1.79, 1.2, 0, SCORE_LEAST_MEASURED, 10).counts);
    assert_float_equal(score_speed(5, 1.79, 1.2, 0, SCORE_LEAST_MEASURED, 10).points, 0, 0);
    assert_false(score_speed(0, 4, 1.2, 0, SCORE_LEAST_MEASURED, 10).counts);
    assert_false(score_speed(2, 0.0 / 1.0, 1.2, 0, SCORE_LEAST_MEASURED, 10).counts);
}

static void correctness_is_shared_evenly_with_the_hidden_set(void **state)
{
    (void)state;
    assert_float_equal(score_share(50, 4, 6), 10, 1e-12);
    assert_float_equal(score_share(50, 5, 0), 10, 1e-12);
    assert_float_equal(score_share(50, 0, 0), 0, 0);
}

static void points_are_shown_with_one_decimal(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(score_text(100, text), "100");
    assert_string_equal(score_text(87.5, text), "87.5");
    assert_string_equal(score_text(87.54, text), "87.5");
    assert_string_equal(score_text(87.55, text), "87.6");
    assert_string_equal(score_text(99.96, text), "100");
    assert_string_equal(score_text(0, text), "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_logarithmic_in_time),
        cmocka_unit_test(none_below_shifts_the_start_of_the_points),
        cmocka_unit_test(invalid_baselines_are_ignored),
        cmocka_unit_test(correctness_is_shared_evenly_with_the_hidden_set),
        cmocka_unit_test(points_are_shown_with_one_decimal),
    };
    return cmocka_run_group_tests_name("autograder/score", tests, NULL, NULL);
}
