/* test_train.c - plans and checkpoints of training, and lab 18's oracle compared with PyTorch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/operations/training_step/train_oracle.h"
#include "common/operations/catalog/operations.h"
#include "common/apps/train/training_state.h"
#include "datasets/array.h"

static Plan plan;

static void reopen(int epochs, uint64_t seed)
{
    Error error = {""};
    plan_close(&plan);
    if (plan_open(&plan, ".", "none", "digits-8x8", epochs, seed, &error))
        fail_msg("%s", error.text);
}

static void the_published_digits_are_divided(void **state)
{
    (void)state;
    reopen(3, 1);
    assert_int_equal(plan.train.count, 1437);
    assert_int_equal(plan.test.count, 360);
    assert_int_equal(plan.steps, 89);
    assert_int_equal(plan.rows, 8);
}

static void untrainable_networks_are_rejected(void **state)
{
    (void)state;
    Plan other;
    Error error = {""};
    assert_int_equal(plan_open(&other, ".", "none", "letters", 1, 1, &error), -1);
    assert_non_null(strstr(error.text, "DATA= is one of: digits, mnist"));
    assert_int_equal(plan_open(&other, ".", "none", "mnist", 1, 1, &error), -1);
    assert_non_null(strstr(error.text, "none/mnist/train-images-idx3-ubyte"));
}

/* Every image at most once in an epoch; another order in each; reproducible with the same seed. */
static void each_epoch_is_shuffled_anew(void **state)
{
    (void)state;
    reopen(3, 1);
    int images = plan.steps * plan.step.N, same = 0;
    int *one = calloc((size_t)images, sizeof *one), *two = calloc((size_t)images, sizeof *two);
    float *augmentation = calloc(6 * (size_t)images, sizeof *augmentation),
          *again = calloc(6 * (size_t)images, sizeof *augmentation);
    char *seen = calloc(1437, 1);
    plan_epoch(&plan, 0, one, augmentation);
    for (int i = 0; i < images; i++) {
        assert_in_range(one[i], 0, 1436);
        assert_int_equal(seen[one[i]]++, 0);
    }
    plan_epoch(&plan, 1, two, again);
    for (int i = 0; i < images; i++)
        same += one[i] == two[i];
    assert_in_range(same, 0, 10);
    plan_epoch(&plan, 0, two, again);
    assert_memory_equal(one, two, (size_t)images * sizeof *one);
    assert_memory_equal(augmentation, again, 6 * (size_t)images * sizeof *augmentation);
    reopen(3, 2);
    plan_epoch(&plan, 0, two, again);
    assert_memory_not_equal(one, two, (size_t)images * sizeof *one);
    free(one), free(two), free(augmentation), free(again), free(seen);
}

static void the_rate_falls_to_zero(void **state)
{
    (void)state;
    reopen(4, 1);
    assert_float_equal(plan_rate(&plan, 0), 0.05, 1e-9);
    assert_float_equal(plan_rate(&plan, 2 * 89), 0.025, 1e-9);
    assert_float_equal(plan_rate(&plan, 4 * 89), 0, 1e-9);
}

/* ---- checkpoints ------------------------------------------------------------------------- */

static void a_checkpoint_is_restored_and_others_are_rejected(void **state)
{
    (void)state;
    char path[] = "/tmp/train-XXXXXX";
    TrainingState saved, again;
    Error error = {""};
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    reopen(3, 1);
    assert_int_equal(training_state_open(&saved, &plan, &error), 0);
    plan_first_parameters(&plan, saved.values);
    saved.done = 2;
    saved.epoch[1].loss = 0.5;
    saved.read[359] = 7;
    assert_int_equal(training_state_save(&saved, path, &error), 0);
    assert_int_equal(training_state_open(&again, &plan, &error), 0);
    assert_int_equal(training_state_load(&again, path, &error), 0);
    assert_int_equal(again.done, 2);
    assert_memory_equal(saved.values, again.values,
                        2 * (size_t)plan.step.parameters * sizeof(float));
    assert_memory_equal(saved.read, again.read, 360);
    assert_true(again.epoch[1].loss == 0.5);
    assert_int_equal(truncate(path, 1000), 0);
    assert_int_equal(training_state_load(&again, path, &error), -1);
    assert_non_null(strstr(error.text, "damaged"));
    assert_int_equal(training_state_save(&saved, path, &error), 0);
    plan.seed = 2;
    assert_int_equal(training_state_load(&again, path, &error), -1);
    assert_non_null(strstr(error.text, "to another training"));
    unlink(path);
    assert_int_equal(training_state_load(&again, path, &error), -1);
    assert_non_null(strstr(error.text, "there is no checkpoint"));
    training_state_close(&saved);
    training_state_close(&again);
}

/* ---- five steps of PyTorch (torch_steps.py) ---------------------------------------------- */

enum { STEPS = 5 };

static const char NETWORK[] = "N=4 H=14 W=18 R=3 c1=3 c3=5 c5=12 f6=9 classes=4";

static void five_steps_equal_pytorch(void **state)
{
    (void)state;
    Array file;
    Error error = {""};
    Problem problem;
    TrainProblem train;
    if (array_read("common/apps/train/data/torch-steps.npy", &file, &error))
        fail_msg("%s", error.text);
    assert_int_equal(operation_find("train_step")->parse(NETWORK, &problem, &error), 0);
    memcpy(&train, problem.data, sizeof train);
    size_t P = (size_t)train.parameters, pixels = (size_t)train.N * 14 * 18, N = (size_t)train.N;
    assert_int_equal(file.type, ARRAY_F64);
    assert_int_equal(file.count, 3 + STEPS * (pixels + N) + P + STEPS * (2 * P + 1));
    const double *from = file.value, *images = from + 3, *labels = images + STEPS * pixels;
    const double *expected = labels + STEPS * N;
    Near *now = calloc(4 * P + 1, sizeof *now), *next = now + 2 * P;
    float setting[3], *x = calloc(pixels + N, sizeof *x), *label = x + pixels;
    for (int i = 0; i < 3; i++)
        setting[i] = (float)from[i];
    for (size_t i = 0; i < P; i++)
        now[i].v = *expected++;
    for (int step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < pixels; i++)
            x[i] = (float)images[(size_t)step * pixels + i];
        for (size_t i = 0; i < N; i++)
            label[i] = (float)labels[(size_t)step * N + i];
        assert_int_equal(train_oracle(&train, x, label, now, now + P, setting, SLIP_NONE, next), 0);
        for (size_t i = 0; i <= 2 * P; i++, expected++)
            if (!(fabs(next[i].v - *expected) <= 1e-12 * (1 + fabs(*expected))))
                fail_msg("step %d, value %zu is %.17g, PyTorch has %.17g", step, i, next[i].v,
                         *expected);
        memcpy(now, next, 2 * P * sizeof *now);
    }
    free(now);
    free(x);
    array_close(&file);
}

int main(void)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_digits_are_divided),
        cmocka_unit_test(untrainable_networks_are_rejected),
        cmocka_unit_test(each_epoch_is_shuffled_anew),
        cmocka_unit_test(the_rate_falls_to_zero),
        cmocka_unit_test(a_checkpoint_is_restored_and_others_are_rejected),
        cmocka_unit_test(five_steps_equal_pytorch),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    plan_close(&plan);
    return status;
}
