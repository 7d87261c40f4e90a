/* test_recordings.c - synthetic recordings: reproducible, difficult for a linear classifier, and
 * classified correctly by the network with the designed weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/catalog/operations.h"
#include "datasets/recordings.h"
#include "datasets/recordings_network.h"

enum { TRAIN = 90, TEST = 60, ALL = TRAIN + TEST, LINEAR = 800, UNSEEN = 300, EPOCHS = 6 };

static void a_seed_gives_its_recordings(void **state)
{
    (void)state;
    static float one[3 * RECORDING_VALUES], two[3 * RECORDING_VALUES];
    uint8_t label[3];
    Random random;
    random_seed(&random, 1);
    recordings_generate(3, &random, one, label);
    random_seed(&random, 1);
    recordings_generate(3, &random, two, label);
    assert_memory_equal(one, two, sizeof one);
    random_seed(&random, 2);
    recordings_generate(3, &random, two, label);
    assert_memory_not_equal(one, two, sizeof one);
}

/* The scores of linear functions of the samples. */
static int linear_class(float weight[RECORDING_CLASSES][RECORDING_VALUES + 1], const float *x,
                        float score[RECORDING_CLASSES])
{
    int best = 0;
    for (int k = 0; k < RECORDING_CLASSES; k++) {
        score[k] = weight[k][RECORDING_VALUES];
        for (int i = 0; i < RECORDING_VALUES; i++)
            score[k] += weight[k][i] * x[i];
        if (score[k] > score[best]) best = k;
    }
    return best;
}

/* Least squares by single-recording updates (Widrow and Hoff, 1960), on LINEAR recordings; with
 * three classes a random choice is correct for a third of the others. */
static void a_linear_classifier_does_not_read_them(void **state)
{
    (void)state;
    static float weight[RECORDING_CLASSES][RECORDING_VALUES + 1];
    float *x = malloc((size_t)(LINEAR + UNSEEN) * RECORDING_VALUES * sizeof *x);
    uint8_t *label = malloc(LINEAR + UNSEEN);
    float score[RECORDING_CLASSES];
    int right = 0;
    Random random;
    random_seed(&random, 7);
    recordings_generate(LINEAR + UNSEEN, &random, x, label);
    for (int step = 0; step < EPOCHS * LINEAR; step++) {
        const float *one = x + (size_t)(step % LINEAR) * RECORDING_VALUES;
        linear_class(weight, one, score);
        for (int k = 0; k < RECORDING_CLASSES; k++) {
            float rate = 2e-5f * ((label[step % LINEAR] == k) - score[k]);
            for (int i = 0; i < RECORDING_VALUES; i++)
                weight[k][i] += rate * one[i];
            weight[k][RECORDING_VALUES] += rate;
        }
    }
    for (int n = LINEAR; n < LINEAR + UNSEEN; n++)
        right += linear_class(weight, x + (size_t)n * RECORDING_VALUES, score) == label[n];
    print_message("linear: %.1f %%\n", 100.0 * right / UNSEEN);
    assert_in_range(right, 0, UNSEEN / 2);
    free(x);
    free(label);
}

/* The network is trained with TRAIN of them; its outputs for the others equal those of
 * electrode_forward's oracle. */
static void the_network_reads_them(void **state)
{
    (void)state;
    const Operation *operation = operation_find("electrode_forward");
    Problem problem;
    ElectrodeProblem p;
    Random random;
    assert_int_equal(operation->parse("N=2 H=56 W=100 c=64 f=256 classes=3", &problem, NULL), 0);
    memcpy(&p, problem.data, sizeof p);
    float *x = malloc((size_t)ALL * RECORDING_VALUES * sizeof *x);
    float *w = malloc((size_t)p.parameters * sizeof *w);
    uint8_t label[ALL];
    random_seed(&random, 1);
    recordings_generate(ALL, &random, x, label);
    recordings_design(&p, w);
    assert_int_equal(recordings_learn(&p, TRAIN, x, label, w), 0);
    const float *unseen = x + (size_t)TRAIN * RECORDING_VALUES;
    int right = recordings_right(&p, TEST, unseen, label + TRAIN, w);
    print_message("network: %.1f %%\n", 100.0 * right / TEST);
    assert_in_range(right, TEST * 3 / 4, TEST);
    double y[6], spread[6], products[6];
    const float *tensor[] = {unseen, w, NULL};
    operation->oracle(&problem, tensor, y, spread, products);
    for (int n = 0; n < 2; n++) {
        int best = 0;
        for (int k = 1; k < RECORDING_CLASSES; k++)
            if (y[n * RECORDING_CLASSES + k] > y[n * RECORDING_CLASSES + best]) best = k;
        int as_the_oracle =
            recordings_right(&p, 1, unseen + n * RECORDING_VALUES, &(uint8_t){(uint8_t)best}, w);
        assert_int_equal(as_the_oracle, 1);
    }
    free(x);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_gives_its_recordings),
        cmocka_unit_test(a_linear_classifier_does_not_read_them),
        cmocka_unit_test(the_network_reads_them),
    };
    return cmocka_run_group_tests_name("recordings", tests, NULL, NULL);
}
