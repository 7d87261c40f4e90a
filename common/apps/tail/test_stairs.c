/* test_stairs.c - waves, predictions and steps compared with values computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "common/apps/tail/stairs.h"

/* Blocks of four warps, one per scheduler; sums of 68 terms take the time of 100. */
static Stair stair_of(double blocks, double resident, double sms)
{
    return (Stair){.blocks = blocks,
                   .resident = resident,
                   .sms = sms,
                   .warps = 4,
                   .rows = 68,
                   .pieces = 1,
                   .launches = 1};
}

/* Lab 05's 120 blocks fill a GTX 480; 121 do not. */
static void waves_follow_from_the_blocks_per_sm(void **state)
{
    Stair full = stair_of(120, 8, 15), one_more = stair_of(121, 8, 15);
    (void)state;
    assert_float_equal(stair_waves(&full), 1, 0);
    assert_float_equal(stair_waves(&one_more), 2, 0);
    assert_float_equal(stair_busiest(&full), 8, 0);
    assert_float_equal(stair_busiest(&one_more), 9, 0);
    assert_float_equal(stair_utilisation(&full), 1, 0);
    assert_float_equal(stair_utilisation(&one_more), 121 / 240.0, 1e-9);
}

/* Two blocks at a time are as fast as one: the times at 1 and 5 blocks per SM, 10 and 30 us,
 * predict those of 2, 3 and 4. */
static void blocks_that_do_not_slow_each_other_make_waves(void **state)
{
    Stair stair[5];
    int calibrates[5];
    (void)state;
    for (int i = 0; i < 5; i++)
        stair[i] = stair_of(i + 1, 2, 1);
    stair[0].us = 10;
    stair[4].us = 30;
    stairs_predict(stair, 5, 0, calibrates);
    const double expected[] = {10, 10, 20, 20, 30};
    for (int i = 0; i < 5; i++) {
        assert_float_equal(stair[i].predicted, expected[i], 0.2);
        assert_int_equal(calibrates[i], i == 0 || i == 4);
    }
}

/* Blocks that fill an SM each: 4 of them take four times as long, whatever the number of resident
 * blocks. The same holds with blocks of two warps, two of which are needed for a warp on each
 * scheduler. */
static void blocks_that_fill_an_sm_run_one_after_another(void **state)
{
    Stair stair[4], half[4];
    int calibrates[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        stair[i] = stair_of(i + 1, 8, 1);
        half[i] = stair_of(i + 1, 8, 1);
        half[i].warps = 2;
    }
    stair[0].us = 12;
    stair[3].us = 42; /* 2 us of launch and 4 * 10 */
    half[0].us = 12;
    half[3].us = 22; /* 2 * 10 */
    stairs_predict(stair, 4, 2, calibrates);
    assert_float_equal(stair[1].predicted, 22, 0.5);
    assert_float_equal(stair[2].predicted, 32, 0.5);
    stairs_predict(half, 4, 2, calibrates);
    assert_float_equal(half[1].predicted, 12, 0.5);
    assert_float_equal(half[2].predicted, 22, 0.5);
}

/* Another kernel has its own constants; a part of the terms takes a part of the time, except for
 * the 32 terms of the start. */
static void kernels_are_distinguished_and_segments_divided(void **state)
{
    Stair stair[3] = {stair_of(4, 1, 4), stair_of(4, 1, 4), stair_of(4, 1, 4)};
    int calibrates[3];
    (void)state;
    stair[0].us = 10;
    stair[1].us = 99; /* not used: the first calibrates */
    stair[1].pieces = 2;
    stair[2].us = 5;
    stair[2].kernel = 2;
    stairs_predict(stair, 3, 0, calibrates);
    assert_float_equal(stair[1].predicted, 6.6, 1e-6);
    assert_float_equal(stair[2].predicted, 5, 1e-6);
    assert_int_equal(calibrates[1], 0);
    assert_int_equal(calibrates[2], 1);
}

/* Five launches per call: 20 us and a tenth for each block, from the widths of 100 and 300. */
static void calls_of_many_kernels_fit_a_line(void **state)
{
    Stair stair[3] = {stair_of(100, 1, 100), stair_of(150, 1, 100), stair_of(300, 1, 100)};
    int calibrates[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        stair[i].launches = 5;
    stair[0].us = 30;
    stair[2].us = 50;
    stairs_predict(stair, 3, 0.5, calibrates);
    assert_float_equal(stair[1].predicted, 35, 1e-9);
    assert_float_equal(stair[2].predicted, 50, 1e-9);
}

static void steps_are_found_between_neighbours(void **state)
{
    const double us[] = {10, 10.2, 9.9, 12, 12.3, 12.1, 8, 8.3, 8.6, 8.9, 9.3};
    const int expected[] = {0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1};
    int step[11];
    (void)state;
    stairs_find(us, us, us, 11, 0.04, step); /* 9.3 is 4.5 % above 8.9 */
    for (int i = 0; i < 11; i++)
        assert_int_equal(step[i], expected[i]);
    stairs_find(us, us, us, 11, 0.05, step); /* and 16 % above 8, but slowly */
    assert_int_equal(step[10], 0);
}

/* Times with overlapping intervals have no step. */
static void noise_is_no_step(void **state)
{
    const double us[] = {10, 10.1, 11, 10}, low[] = {9.9, 10, 10.3, 9.9},
                 high[] = {10.1, 10.4, 11.2, 10.2};
    int step[4];
    (void)state;
    stairs_find(us, low, high, 4, 0.04, step);
    assert_int_equal(step[2], 0);
    assert_int_equal(step[3], -1);
    stairs_find(us, us, us, 4, 0.04, step);
    assert_int_equal(step[2], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_follow_from_the_blocks_per_sm),
        cmocka_unit_test(blocks_that_do_not_slow_each_other_make_waves),
        cmocka_unit_test(blocks_that_fill_an_sm_run_one_after_another),
        cmocka_unit_test(kernels_are_distinguished_and_segments_divided),
        cmocka_unit_test(calls_of_many_kernels_fit_a_line),
        cmocka_unit_test(steps_are_found_between_neighbours),
        cmocka_unit_test(noise_is_no_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
