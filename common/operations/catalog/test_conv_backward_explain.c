/* test_conv_backward_explain.c - diagnosis of gradients with one planted mistake each.
 *
 * The submission is a plain loop in fp32, written for this test; it shares no code with the
 * diagnosis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"
#include "common/operations/operation/diagnose.h"
#include "common/operations/catalog/operations.h"

typedef enum Plant {
    PLANT_NOTHING,
    PLANT_NOT_FLIPPED, /* dx: taps not flipped; dw: flipped */
    PLANT_TRANSPOSED,
    PLANT_FORWARD_PAD,  /* dx: R-1-pad and pad exchanged */
    PLANT_FORWARD_CONV, /* dx: the forward pass applied to dy, without flipping and with the old
                         * padding */
    PLANT_NO_PAD,
    PLANT_STRIDES_SWAPPED,
    PLANT_STRIDE_IGNORED,
    PLANT_ANY_STEP, /* dx: remainders dropped */
    PLANT_OTHER_IMAGE,
    PLANT_BATCH_MISSING, /* dw: the last image only */
    PLANT_MEAN_TWICE,
    PLANT_LAST_MAP,  /* dx: k < K-1 */
    PLANT_ROWS_OF_X, /* rows of dy at distance W */
    PLANT_TWICE,
    PLANT_CUT, /* the sum ends three rows early */
    PLANT_ZERO,
    PLANT_CHANNEL_WRONG, /* dx, dw: channel 1 only */
    PLANT_GAPS_UNWRITTEN,
    PLANT_HALF,
    PLANT_IMAGES_OF_A_MAP, /* images at the distance of maps */
    PLANT_FOURTHS,         /* dx: the last row and column of every 4 x 4 tile */
    PLANTS
} Plant;

static float keep(Plant plant, float value)
{
    if (plant != PLANT_HALF) return value;
    int exponent;
    float significand = frexpf(value, &exponent);
    return ldexpf(nearbyintf(ldexpf(significand, 11)), exponent - 11);
}

/* One term of either sum; 0 if there is none. */
static float product(const ConvProblem *v, Plant plant, int filter, const float *const *in,
                     const int at[7])
{
    int n = at[0], k = at[1], c = at[2], p = at[3], q = at[4], r = at[5], s = at[6];
    const float *x = in[0], *w = in[0], *dy = in[1];
    int h = p * v->stride_h + r - v->pad_top, i = q * v->stride_w + s - v->pad_left;
    if (!filter) dy = in[0], w = in[1];
    int dy_n = plant == PLANT_OTHER_IMAGE && !filter ? 0 : n;
    int x_n = plant == PLANT_OTHER_IMAGE && filter ? 0 : n;
    int row = plant == PLANT_ROWS_OF_X ? v->W : v->Q, near = plant == PLANT_IMAGES_OF_A_MAP;
    long long dy_map = (long long)dy_n * (near && !filter ? 1 : v->K) + k;
    long long dy_at = dy_map * v->P * v->Q + (long long)p * row + q;
    if (dy_at >= (long long)v->N * v->K * v->P * v->Q) return 0;
    if (filter)
        return keep(plant, dy[dy_at]) *
               keep(plant, x[((x_n * (near ? 1 : v->C) + c) * v->H + h) * v->W + i]);
    int tap = plant == PLANT_NOT_FLIPPED || plant == PLANT_FORWARD_CONV
                  ? (v->R - 1 - r) * v->S + v->S - 1 - s
              : plant == PLANT_TRANSPOSED ? s * v->R + r
                                          : r * v->S + s;
    return keep(plant, dy[dy_at]) * keep(plant, w[(k * v->C + c) * v->R * v->S + tap]);
}

static float data_sum(const ConvProblem *v, Plant plant, const float *const *in, size_t index)
{
    int w = (int)(index % (size_t)v->W), h = (int)(index / (size_t)v->W % (size_t)v->H);
    int plane = (int)(index / ((size_t)v->W * v->H)), c = plane % v->C, n = plane / v->C;
    int top = v->pad_top, left = v->pad_left, rows = 0, all = v->K * v->R * v->S;
    int down = v->stride_h, across = v->stride_w;
    if (plant == PLANT_FORWARD_PAD || plant == PLANT_FORWARD_CONV)
        top = v->R - 1 - top, left = v->S - 1 - left;
    if (plant == PLANT_NO_PAD) top = left = 0;
    if (plant == PLANT_STRIDES_SWAPPED) down = v->stride_w, across = v->stride_h;
    if (plant == PLANT_STRIDE_IGNORED) down = across = 1;
    float sum = 0;
    for (int k = 0; k < v->K; k++)
        for (int r = 0; r < v->R; r++)
            for (int s = 0; s < v->S; s++, rows++) {
                int a = h + top - r, b = w + left - s;
                if (a < 0 || b < 0 || a / down >= v->P || b / across >= v->Q) continue;
                if (plant != PLANT_ANY_STEP && (a % down || b % across)) continue;
                if (plant == PLANT_LAST_MAP && k == v->K - 1) continue;
                if (plant == PLANT_CUT && rows >= all - 3) continue;
                sum += product(v, plant, 0, in, (int[]){n, k, c, a / down, b / across, r, s});
            }
    if (plant == PLANT_FOURTHS && (h % 4 == 3 || w % 4 == 3)) return sum * 0.75f + 1;
    return plant == PLANT_CHANNEL_WRONG && c == 1 ? sum * 0.75f + 1 : sum;
}

static float filter_sum(const ConvProblem *v, Plant plant, const float *const *in, size_t index)
{
    int s = (int)(index % (size_t)v->S), r = (int)(index / (size_t)v->S % (size_t)v->R);
    int pair = (int)(index / ((size_t)v->S * v->R)), c = pair % v->C, k = pair / v->C;
    ConvProblem bent = *v;
    int rows = 0, all = v->N * v->P * v->Q;
    float sum = 0;
    if (plant == PLANT_NOT_FLIPPED) r = v->R - 1 - r, s = v->S - 1 - s;
    if (plant == PLANT_NO_PAD) bent.pad_top = bent.pad_left = 0;
    if (plant == PLANT_STRIDES_SWAPPED) bent.stride_h = v->stride_w, bent.stride_w = v->stride_h;
    if (plant == PLANT_STRIDE_IGNORED) bent.stride_h = bent.stride_w = 1;
    for (int n = 0; n < v->N; n++)
        for (int p = 0; p < v->P; p++)
            for (int q = 0; q < v->Q; q++, rows++) {
                int h = p * bent.stride_h + r - bent.pad_top;
                int w = q * bent.stride_w + s - bent.pad_left;
                if (h < 0 || h >= v->H || w < 0 || w >= v->W) continue;
                if (plant == PLANT_BATCH_MISSING && n < v->N - 1) continue;
                if (plant == PLANT_CUT && rows >= all - 3) continue;
                sum += product(&bent, plant, 1, in, (int[]){n, k, c, p, q, r, s});
            }
    return plant == PLANT_CHANNEL_WRONG && c == 1 ? sum * 0.75f + 1 : sum;
}

static void submit(const ConvProblem *v, Plant plant, int filter, const float *const *in,
                   float *output, size_t outputs, const double *terms)
{
    for (size_t i = 0; i < outputs; i++) {
        float sum = filter ? filter_sum(v, plant, in, i) : data_sum(v, plant, in, i);
        if (plant == PLANT_MEAN_TWICE) sum /= (float)v->N;
        if (plant == PLANT_TWICE) sum *= 2;
        if (plant == PLANT_ZERO) sum = 0;
        uint32_t poison = OUTPUT_POISON;
        if (plant == PLANT_GAPS_UNWRITTEN && terms[i] == 0) memcpy(&sum, &poison, sizeof sum);
        output[i] = sum;
    }
}

/* Checks the diagnosis of a planted mistake. */
static void told(int filter, const char *text, Plant plant, Finding *finding, int *correct)
{
    const Operation *operation =
        operation_find(filter ? "conv_backward_filter" : "conv_backward_data");
    Problem problem;
    Error error = {""};
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS] = {0};
    Random random;
    if (operation->parse(text, &problem, &error)) fail_msg("%s", error.text);
    ConvProblem v = conv_unpack(&problem);
    int count = operation->tensors(&problem, shape);
    for (int i = 0; i < count; i++)
        assert_non_null(tensor[i] = calloc(tensor_count(&shape[i]), sizeof(float)));
    random_seed(&random, 17);
    operation->generate(&problem, &random, tensor);
    size_t outputs = tensor_count(&shape[count - 1]);
    double *truth = calloc(3 * outputs, sizeof *truth);
    assert_non_null(truth);
    operation->oracle(&problem, (const float *const *)tensor, truth, truth + outputs,
                      truth + 2 * outputs);
    submit(&v, plant, filter, (const float *const *)tensor, tensor[count - 1], outputs,
           truth + 2 * outputs);
    Observed observed = {.output = tensor[count - 1]};
    Judgement judgement;
    if (verify_output(operation, &problem, PRECISION_FP32, (const float *const *)tensor, &observed,
                      &judgement, &error))
        fail_msg("%s", error.text);
    *correct = judgement.verdict.correct;
    diagnose(&judgement, NULL, NULL, finding);
    judgement_free(&judgement);
    free(truth);
    for (int i = 0; i < count; i++)
        free(tensor[i]);
}

static void expect(int filter, const char *text, Plant plant, Fault fault, const char *words)
{
    Finding finding = {0};
    int correct;
    told(filter, text, plant, &finding, &correct);
    if (correct) fail_msg("%s, plant %d passes", text, plant);
    if (finding.fault != fault || !strstr(finding.text, words))
        fail_msg("%s %s, plant %d: %s: %s", filter ? "dw" : "dx", text, plant,
                 fault_name(finding.fault), finding.text);
}

#define SAME    "N=3 C=4 H=11 W=9 K=5 R=5 S=3 pad=2,1,2,1 stride=1"
#define VALID   "N=2 C=3 H=12 W=10 K=4 R=3 S=3 pad=valid stride=1"
#define STRIDED "N=3 C=4 H=13 W=12 K=5 R=4 S=3 pad=1,2,0,1 stride=2,3"
#define GAPS    "N=2 C=3 H=11 W=10 K=4 R=2 S=1 pad=valid stride=3,2"

static void correct_sums_pass(void **state)
{
    (void)state;
    static const char *const text[] = {SAME, VALID, STRIDED, GAPS};
    for (int i = 0; i < 8; i++) {
        Finding finding = {0};
        int correct;
        told(i % 2, text[i / 2], PLANT_NOTHING, &finding, &correct);
        assert_true(correct && finding.fault == FAULT_NONE);
    }
}

static void mistakes_in_dx_are_named(void **state)
{
    (void)state;
    static const char *const text[] = {SAME, STRIDED};
    for (int i = 0; i < 2; i++) {
        expect(0, text[i], PLANT_NOT_FLIPPED, FAULT_FLIPPED_FILTER, "not flipped in dx");
        expect(0, text[i], PLANT_TRANSPOSED, FAULT_TRANSPOSED_FILTER, "exchanged");
        expect(0, text[i], PLANT_OTHER_IMAGE, FAULT_ONE_IMAGE, "gradient of another image");
        expect(0, text[i], PLANT_MEAN_TWICE, FAULT_FORMULA, "divided by N twice");
        expect(0, text[i], PLANT_LAST_MAP, FAULT_ONE_FILTER, "last map of dy is missing");
        expect(0, text[i], PLANT_TWICE, FAULT_ACCUMULATED, "twice what it should be");
        expect(0, text[i], PLANT_NO_PAD, FAULT_HALO, "no padding");
        expect(0, text[i], PLANT_CUT, FAULT_ONE_FILTER, "ends after");
        expect(0, text[i], PLANT_ZERO, FAULT_EVERYWHERE, "Every gradient is 0");
        expect(0, text[i], PLANT_CHANNEL_WRONG, FAULT_ONE_CHANNEL, "c = 1 of 0 .. 3");
        expect(0, text[i], PLANT_HALF, FAULT_PRECISION, "lower precision");
    }
    expect(0, VALID, PLANT_ROWS_OF_X, FAULT_EVERYWHERE, "a pitch of W elements");
    expect(0, VALID, PLANT_FORWARD_PAD, FAULT_HALO, "padding of the forward pass");
    expect(0, VALID, PLANT_FORWARD_CONV, FAULT_FLIPPED_FILTER, "padding of the forward pass");
    expect(0, SAME, PLANT_FOURTHS, FAULT_TILE_EDGE, "every 4 rows and columns: rows 3 of each");
    expect(0, SAME, PLANT_IMAGES_OF_A_MAP, FAULT_ONE_IMAGE, "the index into dy lacks K");
    expect(1, SAME, PLANT_IMAGES_OF_A_MAP, FAULT_ONE_IMAGE, "the index into x lacks C");
    expect(0, STRIDED, PLANT_STRIDES_SWAPPED, FAULT_STRIDE, "exchanged");
    expect(0, STRIDED, PLANT_STRIDE_IGNORED, FAULT_STRIDE, "left out");
    expect(0, STRIDED, PLANT_ANY_STEP, FAULT_STRIDE, "multiple of stride_h");
    expect(0, GAPS, PLANT_GAPS_UNWRITTEN, FAULT_UNWRITTEN, "no window covers");
}

static void mistakes_in_dw_are_named(void **state)
{
    (void)state;
    static const char *const text[] = {SAME, STRIDED};
    for (int i = 0; i < 2; i++) {
        expect(1, text[i], PLANT_NOT_FLIPPED, FAULT_FLIPPED_FILTER, "dw is flipped");
        expect(1, text[i], PLANT_OTHER_IMAGE, FAULT_ONE_IMAGE, "input of another");
        expect(1, text[i], PLANT_BATCH_MISSING, FAULT_ONE_IMAGE, "sum over the batch is missing");
        expect(1, text[i], PLANT_MEAN_TWICE, FAULT_FORMULA, "divided by N twice");
        expect(1, text[i], PLANT_TWICE, FAULT_ACCUMULATED, "twice what it should be");
        expect(1, text[i], PLANT_NO_PAD, FAULT_HALO, "no padding");
        expect(1, text[i], PLANT_CUT, FAULT_ONE_IMAGE, "ends after");
        expect(1, text[i], PLANT_CHANNEL_WRONG, FAULT_ONE_CHANNEL, "c = 1 of 0 .. 3");
        expect(1, text[i], PLANT_HALF, FAULT_PRECISION, "lower precision");
    }
    expect(1, STRIDED, PLANT_STRIDES_SWAPPED, FAULT_STRIDE, "exchanged");
    expect(1, STRIDED, PLANT_STRIDE_IGNORED, FAULT_STRIDE, "left out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_sums_pass),
        cmocka_unit_test(mistakes_in_dx_are_named),
        cmocka_unit_test(mistakes_in_dw_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
