#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "autograder/lab/metric.h"
#include "common/operations/catalog/operations.h"

/* The naive lab's LeNet C1, N=16: 2x2 tiles of 16x16, 6*16 pairs; 28*28*25 taps of 8 bytes per
 * map. */
static DeviceCost naive_cost(void)
{
    DeviceCost cost = {.launches = 1,
                       .instructions = 1000,
                       .global_load_requests = 400,
                       .global_load_sectors = 1000,
                       .global_store_requests = 10,
                       .global_store_sectors = 40,
                       .global_load_bytes = 15052800,
                       .global_store_bytes = 301056,
                       .shared_load_requests = 60,
                       .shared_store_requests = 40,
                       .shared_wavefronts = 150,
                       .local_sectors = 77,
                       .registers = 40,
                       .shared_bytes = 1700,
                       .resident_blocks = 2,
                       .grid = {96, 2, 2},
                       .block = {16, 16, 1}};
    return cost;
}

static double value_of(const char *name, const DeviceCost *cost)
{
    const Operation *operation = operation_find("conv_forward");
    Problem problem;
    Error error;
    double value = -1;
    SimtMachine machine = {.sms = 100,
                           .schedulers = 4,
                           .registers_per_sm = 65536,
                           .register_unit = 256,
                           .shared_per_sm = 102400,
                           .shared_reserved = 1024,
                           .shared_unit = 128};
    assert_int_equal(
        operation->parse("N=16 C=1 H=32 W=32 K=6 R=5 S=5 pad=valid stride=1", &problem, &error), 0);
    MetricRun run = {operation, &problem, &machine, cost};
    int metric = metric_find(name);
    if (metric < 0) fail_msg("there is no metric '%s'", name);
    return metric_value(metric, &run, &value, &error) ? -1 : value;
}

static void metrics_follow_from_the_counters(void **state)
{
    (void)state;
    DeviceCost cost = naive_cost();
    assert_float_equal(value_of("blocks", &cost), 384, 0);
    assert_float_equal(value_of("threads_per_block", &cost), 256, 0);
    assert_float_equal(value_of("warps", &cost), 3072, 0);
    assert_float_equal(value_of("waves", &cost), 2, 0); /* 384 blocks, 200 resident */
    /* 40*32 registers per warp, 8 warps: 65536 / 10240; 1700 + 1024 bytes in units of 128. */
    assert_float_equal(value_of("blocks_by_registers", &cost), 6, 0);
    assert_float_equal(value_of("blocks_by_shared", &cost), 36, 0);
    assert_float_equal(value_of("full_wave", &cost), 200, 0);
    assert_float_equal(value_of("local_sectors", &cost), 77, 0);
    assert_float_equal(value_of("sectors_per_load", &cost), 2.5, 1e-12);
    assert_float_equal(value_of("sectors_per_store", &cost), 4, 1e-12);
    assert_float_equal(value_of("shared_wavefronts_per_load", &cost), 1.5, 1e-12);
    /* 2*16*6*28*28*25 FLOP, 8 bytes per multiply-add: a factor of 1 without reuse. */
    assert_float_equal(value_of("flops", &cost), 3763200, 0);
    assert_float_equal(value_of("input_load_reduction", &cost), 1, 1e-12);
    assert_float_equal(value_of("bytes_per_flop", &cost), (15052800 + 301056) / 3763200.0, 1e-12);
    /* x 16*32*32, w 6*25, y 16*6*28*28 floats. */
    assert_float_equal(value_of("least_bytes", &cost), 4 * (16384 + 150 + 75264), 0);
    assert_float_equal(value_of("registers", &cost), 40, 0);
}

static void half_a_warp_is_a_warp(void **state)
{
    (void)state;
    DeviceCost cost = naive_cost();
    cost.block[0] = 5;
    cost.block[1] = 7;
    assert_float_equal(value_of("warps", &cost), 384 * 2, 0);
}

static void metrics_without_events_have_no_value(void **state)
{
    (void)state;
    DeviceCost cost = {0};
    assert_float_equal(value_of("blocks", &cost), -1, 0);
    assert_float_equal(value_of("flops", &cost), 3763200, 0);
    cost = naive_cost();
    cost.shared_load_requests = cost.shared_store_requests = 0;
    assert_float_equal(value_of("shared_wavefronts_per_load", &cost), -1, 0);
}

static void every_metric_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < metric_count(); i++)
        assert_int_equal(metric_find(metric_name(i)), i);
    assert_int_equal(metric_find("speed"), -1);
    assert_non_null(strstr(metric_names(), "waves"));
    assert_non_null(strstr(metric_names(), metric_name(metric_count() - 1)));
}

/* Each counter under its own name: a 4-byte one between its neighbours, and 8-byte ones. */
static void counters_are_metrics(void **state)
{
    (void)state;
    DeviceCost cost = naive_cost();
    cost.cycles = 1ull << 40;
    cost.blocks = 999;
    cost.occupancy_percent = 61;
    assert_float_equal(value_of("cycles", &cost), 1099511627776.0, 0);
    assert_float_equal(value_of("all_blocks", &cost), 999, 0);
    assert_float_equal(value_of("occupancy_percent", &cost), 61, 0);
    assert_float_equal(value_of("shared_bytes_per_block", &cost), 1700, 0);
    assert_float_equal(value_of("resident_blocks", &cost), 2, 0);
    assert_float_equal(value_of("thread_instructions", &cost), 1000, 0);
    uint64_t value = 5000;
#define NUMBER(field, metric, about) cost.field = value++;
    COUNTERS(NUMBER)
    value = 5000;
#define SAME(field, metric, about) assert_float_equal(value_of(metric, &cost), (double)value++, 0);
    COUNTERS(SAME)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_follow_from_the_counters),
        cmocka_unit_test(half_a_warp_is_a_warp),
        cmocka_unit_test(metrics_without_events_have_no_value),
        cmocka_unit_test(counters_are_metrics),
        cmocka_unit_test(every_metric_is_found_by_its_name),
    };
    return cmocka_run_group_tests_name("autograder/metric", tests, NULL, NULL);
}
