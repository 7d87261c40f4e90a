#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "autograder/lab/slow.h"

static DeviceCost reference(void)
{
    return (DeviceCost){.cycles = 10000,
                        .launches = 1,
                        .instructions = 32000000,
                        .warp_instructions = 1000000,
                        .integer_instructions = 300000,
                        .float_instructions = 500000,
                        .memory_instructions = 100000,
                        .global_load_requests = 1000,
                        .global_load_sectors = 4000,
                        .global_load_bytes = 128000,
                        .shared_load_requests = 50000,
                        .shared_wavefronts = 50000,
                        .occupancy_percent = 50,
                        .grid = {768, 1, 1}};
}

static void expect(const DeviceCost *mine, SlowCause cause, const char *text)
{
    SlowReason reason[3];
    DeviceCost other = reference();
    int found = slow_find(mine, &other, "the reference", "conv.cu", reason, 3);
    assert_true(found >= 1);
    assert_int_equal(reason[0].cause, cause);
    assert_string_equal(reason[0].text, text);
}

static void equal_counters_are_no_cause(void **state)
{
    (void)state;
    SlowReason reason[3];
    DeviceCost mine = reference(), other = mine;
    assert_int_equal(slow_find(&mine, &other, "the reference", "conv.cu", reason, 3), 0);
}

static void each_cause_is_reported_with_its_numbers(void **state)
{
    (void)state;
    DeviceCost mine = reference();
    mine.local_sectors = 2600000, mine.local_line = 87, mine.warp_instructions = 2000000;
    mine.instructions *= 2;
    expect(&mine, SLOW_LOCAL,
           "2.6 million sectors of local memory at conv.cu:87: an array of the thread is indexed "
           "at run time, or there are not enough registers.");
    mine = reference();
    mine.warp_instructions = 3100000, mine.integer_instructions = 2300000;
    mine.instructions = 99200000;
    expect(&mine, SLOW_INSTRUCTIONS,
           "3.1 times the instructions of the reference; most of the additional ones are "
           "integer arithmetic: indices and their tests.");
    mine = reference();
    mine.shared_wavefronts = 100000, mine.conflict_line = 61;
    expect(&mine, SLOW_BANKS,
           "wavefronts of an access to shared memory: 2.0, where the reference has 1.0; most at "
           "conv.cu:61.");
    mine = reference();
    mine.global_load_sectors = 32000;
    expect(&mine, SLOW_SECTORS,
           "sectors that a warp's load touches: 32.0, where the reference has 4.0.");
    mine = reference();
    mine.grid[0] = 12;
    expect(&mine, SLOW_FEW_BLOCKS,
           "12 blocks, but the reference launches 768: SMs without a block are idle.");
    mine = reference();
    mine.launches = 64;
    expect(&mine, SLOW_LAUNCHES, "64 launches, 64.0 times those of the reference.");
    mine = reference();
    mine.instructions /= 2;
    expect(&mine, SLOW_LANES, "16.0 of a warp's 32 lanes are active; the reference has 32.0.");
}

static void largest_causes_first_up_to_a_limit(void **state)
{
    (void)state;
    SlowReason reason[2];
    DeviceCost mine = reference(), other = mine;
    mine.global_load_bytes *= 7, mine.shared_wavefronts *= 2, mine.launches = 3;
    assert_int_equal(slow_find(&mine, &other, "the reference", "conv.cu", reason, 2), 2);
    assert_int_equal(reason[0].cause, SLOW_BYTES);
    assert_int_equal(reason[1].cause, SLOW_LAUNCHES);
}

/* Four times the work needs four times the barriers. */
static void more_barriers_for_more_work_are_no_cause(void **state)
{
    (void)state;
    SlowReason reason[3];
    DeviceCost other = reference(), mine;
    other.barriers = 100;
    mine = other;
    mine.barriers = 300;
    assert_int_equal(slow_find(&mine, &other, "the reference", "conv.cu", reason, 3), 1);
    assert_string_equal(reason[0].text,
                        "300 arrivals of warps at barriers, 3.0 times those of the reference.");
    mine.warp_instructions *= 4, mine.instructions *= 4, mine.barriers = 500;
    assert_int_equal(slow_find(&mine, &other, "the reference", "conv.cu", reason, 3), 1);
    assert_int_equal(reason[0].cause, SLOW_INSTRUCTIONS);
    mine.barriers = 1200;
    assert_int_equal(slow_find(&mine, &other, "the reference", "conv.cu", reason, 3), 2);
    assert_int_equal(reason[0].cause, SLOW_INSTRUCTIONS);
    assert_int_equal(reason[1].cause, SLOW_BARRIERS);
}

static void names_map_in_both_directions(void **state)
{
    (void)state;
    for (int i = 0; i < SLOW_CAUSES; i++)
        assert_int_equal(slow_named(slow_name((SlowCause)i)), i);
    assert_int_equal(slow_named("weather"), SLOW_CAUSES);
}

/* Lines 3 and 7 are in phases of both; line 9 is outside. */
static const char MARKED[] =
    "a\n// phase: load\nx = 1;\ny = 2;\n\n// phase: multiply\nz += x;\n}\nw;\n";
static const char REGIONS[] =
    "// TODO(1): Load.\n// END TODO(1)\n// TODO(2): Add.\nz;\n// END TODO(2)\n";

static DeviceCost cost_of_lines(const uint32_t (*line)[2], int lines)
{
    DeviceCost cost = {0};
    for (int i = 0; i < lines; i++) {
        cost.work.line[i] = line[i][0];
        cost.work.warp_instructions[i] = line[i][1];
        cost.warp_instructions += line[i][1];
    }
    return cost;
}

static void the_phase_with_the_surplus_is_named(void **state)
{
    (void)state;
    char text[200];
    const DeviceCost other =
        cost_of_lines((const uint32_t[][2]){{3, 60}, {4, 40}, {7, 100}, {9, 50}}, 4);
    DeviceCost mine = cost_of_lines((const uint32_t[][2]){{3, 60}, {4, 250}, {7, 110}, {9, 50}}, 4);
    const SlowSide mine_side = {&mine, MARKED}, other_side = {&other, MARKED};
    assert_int_equal(slow_phase(&mine_side, &other_side, "the reference", text, sizeof text), 0);
    assert_string_equal(text, "Most of the additional instructions are in phase 'load': 3.1 times "
                              "the number that the reference has there.");
    mine = cost_of_lines((const uint32_t[][2]){{3, 60}, {4, 40}, {7, 100}, {9, 250}}, 4);
    assert_int_equal(slow_phase(&mine_side, &other_side, "the reference", text, sizeof text), -1);
    assert_string_equal(text, "");
    mine = cost_of_lines((const uint32_t[][2]){{3, 62}, {4, 50}, {7, 100}, {9, 50}}, 4);
    assert_int_equal(slow_phase(&mine_side, &other_side, "the reference", text, sizeof text), -1);
}

static void a_phase_may_exist_in_one_run_only(void **state)
{
    (void)state;
    char text[200];
    const DeviceCost other = cost_of_lines((const uint32_t[][2]){{2, 10}, {6, 100}}, 2);
    const DeviceCost mine = cost_of_lines((const uint32_t[][2]){{4, 80}, {2, 10}, {6, 100}}, 3);
    const SlowSide mine_side = {&mine, REGIONS}, other_side = {&other, "// TODO(1): Load.\nx;\n"};
    assert_int_equal(slow_phase(&mine_side, &other_side, "the baseline", text, sizeof text), 0);
    assert_string_equal(
        text, "Most of the additional instructions are in TODO(2): the baseline has none there.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_counters_are_no_cause),
        cmocka_unit_test(each_cause_is_reported_with_its_numbers),
        cmocka_unit_test(largest_causes_first_up_to_a_limit),
        cmocka_unit_test(more_barriers_for_more_work_are_no_cause),
        cmocka_unit_test(names_map_in_both_directions),
        cmocka_unit_test(the_phase_with_the_surplus_is_named),
        cmocka_unit_test(a_phase_may_exist_in_one_run_only),
    };
    return cmocka_run_group_tests_name("autograder/slow", tests, NULL, NULL);
}
