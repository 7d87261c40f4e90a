#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/lab/predict.h"

/* The naive lab's LeNet C1, N=16: 2x2 tiles of 16x16, 6*16 pairs; 28*28*25 taps of 8 bytes a
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

static double value_of(Metric metric, const DeviceCost *cost)
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
    if (metric_value(metric, operation, &problem, cost, &machine, &value, &error)) return -1;
    return value;
}

static void metrics_follow_from_the_counters(void **state)
{
    (void)state;
    DeviceCost cost = naive_cost();
    assert_float_equal(value_of(METRIC_BLOCKS, &cost), 384, 0);
    assert_float_equal(value_of(METRIC_THREADS_PER_BLOCK, &cost), 256, 0);
    assert_float_equal(value_of(METRIC_WARPS, &cost), 3072, 0);
    assert_float_equal(value_of(METRIC_WAVES, &cost), 2, 0); /* 384 blocks, 200 at once */
    /* 40*32 registers a warp, 8 warps: 65536 / 10240; 1700 + 1024 bytes in units of 128. */
    assert_float_equal(value_of(METRIC_BLOCKS_BY_REGISTERS, &cost), 6, 0);
    assert_float_equal(value_of(METRIC_BLOCKS_BY_SHARED, &cost), 36, 0);
    assert_float_equal(value_of(METRIC_FULL_WAVE, &cost), 200, 0);
    assert_float_equal(value_of(METRIC_LOCAL_SECTORS, &cost), 77, 0);
    assert_float_equal(value_of(METRIC_SECTORS_PER_LOAD, &cost), 2.5, 1e-12);
    assert_float_equal(value_of(METRIC_SECTORS_PER_STORE, &cost), 4, 1e-12);
    assert_float_equal(value_of(METRIC_SHARED_WAVEFRONTS_PER_LOAD, &cost), 1.5, 1e-12);
    /* 2*16*6*28*28*25 FLOP, of 8 bytes a product: a factor of 1 when nothing is saved. */
    assert_float_equal(value_of(METRIC_FLOPS, &cost), 3763200, 0);
    assert_float_equal(value_of(METRIC_INPUT_LOAD_REDUCTION, &cost), 1, 1e-12);
    assert_float_equal(value_of(METRIC_BYTES_PER_FLOP, &cost), (15052800 + 301056) / 3763200.0,
                       1e-12);
    /* x 16*32*32, w 6*25, y 16*6*28*28 floats. */
    assert_float_equal(value_of(METRIC_LEAST_BYTES, &cost), 4 * (16384 + 150 + 75264), 0);
    assert_float_equal(value_of(METRIC_REGISTERS, &cost), 40, 0);
}

static void half_a_warp_is_a_warp(void **state)
{
    (void)state;
    DeviceCost cost = naive_cost();
    cost.block[0] = 5;
    cost.block[1] = 7;
    assert_float_equal(value_of(METRIC_WARPS, &cost), 384 * 2, 0);
}

static void what_did_not_happen_has_no_value(void **state)
{
    (void)state;
    DeviceCost cost = {0};
    assert_float_equal(value_of(METRIC_BLOCKS, &cost), -1, 0);
    assert_float_equal(value_of(METRIC_FLOPS, &cost), 3763200, 0);
    cost = naive_cost();
    cost.shared_load_requests = cost.shared_store_requests = 0;
    assert_float_equal(value_of(METRIC_SHARED_WAVEFRONTS_PER_LOAD, &cost), -1, 0);
}

static void every_metric_has_a_name_and_is_found_by_it(void **state)
{
    (void)state;
    for (int i = 0; i < METRICS; i++)
        assert_int_equal(metric_find(metric_name((Metric)i)), i);
    assert_int_equal(metric_find("speed"), -1);
    assert_non_null(strstr(metric_names(), "waves"));
}

static void a_near_answer_earns_a_part(void **state)
{
    (void)state;
    assert_float_equal(predict_part(16, 16, 0), 1, 0);
    assert_float_equal(predict_part(16.001, 16, 0), 0, 0);
    assert_float_equal(predict_part(105, 100, 0.05), 1, 1e-12);
    assert_float_equal(predict_part(150, 100, 0.05), 0, 1e-12);
    /* gap 0.275: half way from 0.05 to 0.5 */
    assert_float_equal(predict_part(127.5, 100, 0.05), 0.5, 1e-12);
    assert_float_equal(predict_part(72.5, 100, 0.05), 0.5, 1e-12);
    assert_float_equal(predict_part(0, 0, 0.1), 1, 0);
    assert_float_equal(predict_part(1, 0, 0.1), 0, 0);
    assert_float_equal(predict_part(-100, 100, 0.1), 0, 0);
}

static const char *const NAMES[] = {"blocks", "bytes", NULL};

static int read_text(const char *text, PredictFile *file, Error *error)
{
    char path[] = "/tmp/convlab-predict-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int status = predict_read(path, "04-tiled/predict.ini", NAMES, file, error);
    unlink(path);
    return status;
}

static void answers_are_read_and_empty_ones_left_out(void **state)
{
    (void)state;
    PredictFile file;
    Error error;
    assert_int_equal(read_text("[predict]\nblocks = 384\nbytes =\n", &file, &error), 0);
    assert_int_equal(file.answers, 1);
    assert_float_equal(*predict_find(&file, "blocks"), 384, 0);
    assert_null(predict_find(&file, "bytes"));
    assert_int_equal(predict_read("/nowhere/predict.ini", "x", NAMES, &file, &error), 0);
    assert_int_equal(file.answers, 0);
}

static void bad_predictions_are_named_by_line(void **state)
{
    (void)state;
    PredictFile file;
    Error error;
    assert_int_equal(read_text("[predict]\nblocks = many\n", &file, &error), -1);
    assert_string_equal(error.text, "04-tiled/predict.ini:2: 'many' is not a number");
    assert_int_equal(read_text("[predict]\n\nwaves = 2\n", &file, &error), -1);
    assert_string_equal(
        error.text,
        "04-tiled/predict.ini:3: this lab asks for no 'waves'; it asks for: blocks, bytes");
    assert_int_equal(read_text("[guess]\nblocks = 2\n", &file, &error), -1);
    assert_string_equal(error.text, "04-tiled/predict.ini:1: the only section here is [predict]");
    assert_int_equal(read_text("[predict]\nblocks = inf\n", &file, &error), -1);
    assert_int_equal(file.answers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_follow_from_the_counters),
        cmocka_unit_test(half_a_warp_is_a_warp),
        cmocka_unit_test(what_did_not_happen_has_no_value),
        cmocka_unit_test(every_metric_has_a_name_and_is_found_by_it),
        cmocka_unit_test(a_near_answer_earns_a_part),
        cmocka_unit_test(answers_are_read_and_empty_ones_left_out),
        cmocka_unit_test(bad_predictions_are_named_by_line),
    };
    return cmocka_run_group_tests_name("autograder/predict", tests, NULL, NULL);
}
