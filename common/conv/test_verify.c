/* test_verify.c - judgement and diagnosis, each shown by a convolution with one planted fault.
 *
 * The submission here is a plain CPU convolution in fp32 whose index arithmetic can be bent; it is
 * written for this test and shares nothing with the code that diagnoses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/conv/operation.h"
#include "common/conv/verify.h"
#include "convlab/conv.h"

/* ---- the submission ---------------------------------------------------------------------- */

typedef enum Plant {
    PLANT_NOTHING,
    PLANT_REVERSED_SUM, /* honest: another order */
    PLANT_SPLIT_SUM,    /* honest: eight partial sums */
    PLANT_TF32,
    PLANT_FP16,
    PLANT_BF16,
    PLANT_FP16_SUM,
    PLANT_FLIPPED,
    PLANT_FLIPPED_ROWS,
    PLANT_TRANSPOSED,
    PLANT_PAD_IGNORED,
    PLANT_PAD_AFTER,       /* pad_bottom, pad_right for pad_top, pad_left */
    PLANT_HALF_FILTER_PAD, /* R/2, S/2 for pad_top, pad_left: wrong for even filters only */
    PLANT_SHIFT_ONE,
    PLANT_NO_BOUNDS,
    PLANT_NO_COLUMN_BOUNDS,
    PLANT_CLAMPED,
    PLANT_ROW_ZERO_LOST,
    PLANT_STRIDE_IGNORED,
    PLANT_STRIDES_SWAPPED,
    PLANT_STRIDED_TILE, /* right at stride 1: the halo of 8-wide tiles forgets the stride */
    PLANT_TILE_HALO,    /* right halo of 16-wide tiles is never loaded */
    PLANT_TILE_ROWS,    /* lower halo of 8-high tiles is never loaded */
    PLANT_LAST_COLUMNS, /* wrong in the last partial 8-wide tile */
    PLANT_LAST_TILES,   /* ... and in the last partial 8-high one */
    PLANT_GRID_DOWN,    /* the number of 8-wide tiles is rounded down */
    PLANT_LAST_CHANNEL_LOST,
    PLANT_MIDDLE_CHANNEL_LOST,
    PLANT_CHANNELS_BY_FOUR, /* C rounded down to a multiple of 4 */
    PLANT_CHANNEL_ZERO_ONLY,
    PLANT_CHANNEL_ZERO_READ,
    PLANT_CHANNEL_SIGN,  /* every 64th channel is subtracted */
    PLANT_CHANNEL_DECAY, /* channels past the second are scaled: no lost products explain it */
    PLANT_TAP_LOST,
    PLANT_LAST_TAP_COLUMN_LOST,
    PLANT_REDUCTION_BY_FOUR, /* C*R*S rounded down to a multiple of 4 */
    PLANT_FILTER_LAST_GROUP, /* filters past the last full group of 4 are wrong */
    PLANT_ONE_FILTER,
    PLANT_FILTER_ZERO, /* every map made with filter 0 */
    PLANT_IMAGE_ZERO,  /* every image made from image 0 */
    PLANT_LATER_IMAGES,
    PLANT_ADDS,        /* y += */
    PLANT_NEVER_RESET, /* the accumulator runs on over q */
    PLANT_TWICE,
    PLANT_NAN,
    PLANT_NAN_ONE_MAP,
    PLANT_ZERO,
    PLANT_EMPTY,
    PLANT_RACE,
    PLANT_NOISE,
    PLANT_ROW_PITCH, /* rows of x taken Q apart */
    PLANT_Y_TRANSPOSED,
} Plant;

typedef struct Submission {
    Plant plant;
    int calls;
} Submission;

static float keep_bits(float value, uint32_t dropped)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    word += (1u << (dropped - 1)) - 1 + (word >> dropped & 1);
    word &= ~0u << dropped;
    memcpy(&value, &word, sizeof value);
    return value;
}

static float low_precision(Plant plant, float value)
{
    if (plant == PLANT_TF32 || plant == PLANT_FP16) return keep_bits(value, 13);
    return plant == PLANT_BF16 ? keep_bits(value, 16) : value;
}

/* One product's place in the sum, after the plant has bent it; 0 when the product is left out. */
static int bend(Plant plant, const ConvProblem *v, int p, int q, int c, int r, int s, int *h,
                int *w)
{
    int sh = v->stride_h, sw = v->stride_w, top = v->pad_top, left = v->pad_left;
    if (plant == PLANT_STRIDE_IGNORED) sh = sw = 1;
    if (plant == PLANT_STRIDES_SWAPPED) sh = v->stride_w, sw = v->stride_h;
    if (plant == PLANT_PAD_IGNORED) top = left = 0;
    if (plant == PLANT_PAD_AFTER) top = v->pad_bottom, left = v->pad_right;
    if (plant == PLANT_HALF_FILTER_PAD) top = v->R / 2, left = v->S / 2;
    *h = p * sh + r - top;
    *w = q * sw + s - left + (plant == PLANT_SHIFT_ONE);
    size_t flat = ((size_t)c * v->R + r) * v->S + s, products = (size_t)v->C * v->R * v->S;
    switch (plant) {
    case PLANT_TILE_HALO:
        return q % 16 + s < 16;
    case PLANT_TILE_ROWS:
        return p % 8 + r < 8;
    case PLANT_STRIDED_TILE: /* 8 outputs have 8 + S-1 columns, as if the stride were 1 */
        return q % 8 * sw + s < 8 + v->S - 1;
    case PLANT_LAST_CHANNEL_LOST:
        return c < v->C - 1;
    case PLANT_MIDDLE_CHANNEL_LOST:
        return c != v->C / 2;
    case PLANT_CHANNELS_BY_FOUR:
        return c < v->C / 4 * 4;
    case PLANT_CHANNEL_ZERO_ONLY:
        return c == 0;
    case PLANT_TAP_LOST:
        return r != v->R - 1 || s != 0;
    case PLANT_LAST_TAP_COLUMN_LOST:
        return s < v->S - 1;
    case PLANT_REDUCTION_BY_FOUR:
        return flat < products / 4 * 4;
    case PLANT_ROW_ZERO_LOST:
        return *h != 0;
    default:
        return 1;
    }
}

/* x at (n,c,h,w) as the plant reads it: by default zero outside. */
static float read_x(Plant plant, const ConvProblem *v, const float *x, int n, int c, int h, int w)
{
    if (plant == PLANT_CLAMPED) {
        h = h < 0 ? 0 : h >= v->H ? v->H - 1 : h;
        w = w < 0 ? 0 : w >= v->W ? v->W - 1 : w;
    }
    int rows = h >= 0 && h < v->H, columns = w >= 0 && w < v->W;
    if (plant == PLANT_NO_BOUNDS) rows = columns = 1;
    if (plant == PLANT_NO_COLUMN_BOUNDS) columns = 1;
    if (!rows || !columns) return 0;
    if (plant == PLANT_CHANNEL_ZERO_READ) c = 0;
    if (plant == PLANT_IMAGE_ZERO) n = 0;
    long long pitch = plant == PLANT_ROW_PITCH ? v->Q : v->W;
    long long at = ((long long)n * v->C + c) * v->H * v->W + h * pitch + w;
    long long count = (long long)v->N * v->C * v->H * v->W;
    return at < 0 || at >= count ? NAN : x[at]; /* the guard bands hold NaN */
}

static float read_w(Plant plant, const ConvProblem *v, const float *w, int k, int c, int r, int s)
{
    if (plant == PLANT_FLIPPED) r = v->R - 1 - r, s = v->S - 1 - s;
    if (plant == PLANT_FLIPPED_ROWS) r = v->R - 1 - r;
    if (plant == PLANT_FILTER_ZERO) k = 0;
    int tap = plant == PLANT_TRANSPOSED ? s * v->R + r : r * v->S + s;
    return w[((size_t)k * v->C + c) * v->R * v->S + tap];
}

static float sum_of(Plant plant, const ConvProblem *v, const float *x, const float *w, int n, int k,
                    int p, int q)
{
    float part[8] = {0};
    int products = v->C * v->R * v->S;
    for (int i = 0; i < products; i++) {
        int j = plant == PLANT_REVERSED_SUM ? products - 1 - i : i;
        int c = j / (v->R * v->S), r = j / v->S % v->R, s = j % v->S, h, column;
        if (!bend(plant, v, p, q, c, r, s, &h, &column)) continue;
        float a = low_precision(plant, read_x(plant, v, x, n, c, h, column));
        float product = a * low_precision(plant, read_w(plant, v, w, k, c, r, s));
        if (plant == PLANT_CHANNEL_DECAY && c > 1) product *= 0.75f;
        if (plant == PLANT_CHANNEL_SIGN && c % 64 == 63) product = -product;
        float *sum = &part[plant == PLANT_SPLIT_SUM ? i % 8 : 0];
        *sum += product;
        if (plant == PLANT_FP16_SUM) *sum = keep_bits(*sum, 13);
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) +
           ((part[1] + part[5]) + (part[3] + part[7]));
}

/* Outputs that the plant spoils after the sum. */
static int spoiled(Plant plant, const ConvProblem *v, int n, int k, int p, int q)
{
    switch (plant) {
    case PLANT_LAST_COLUMNS:
        return q >= v->Q / 8 * 8;
    case PLANT_LAST_TILES:
        return q >= v->Q / 8 * 8 || p >= v->P / 8 * 8;
    case PLANT_FILTER_LAST_GROUP:
        return k >= v->K / 4 * 4;
    case PLANT_ONE_FILTER:
        return k == 1;
    case PLANT_LATER_IMAGES:
        return n > 0;
    case PLANT_NOISE:
        return (n * 7 + k * 13 + p * 29 + q * 31 + p * q) % 3 == 0;
    default:
        return 0;
    }
}

/* Runs the submission on a y that holds `y`'s values. */
static void submission_run(Submission *submission, const ConvProblem *v, const float *x,
                           const float *w, float *y)
{
    Plant plant = submission->plant;
    float running = 0;
    submission->calls++;
    for (int n = 0; n < v->N && plant != PLANT_EMPTY; n++)
        for (int k = 0; k < v->K; k++)
            for (int p = 0; p < v->P; p++)
                for (int q = 0; q < v->Q; q++) {
                    size_t map = (size_t)n * v->K + k;
                    size_t at = (map * v->P + p) * v->Q + q;
                    if (plant == PLANT_GRID_DOWN && q >= v->Q / 8 * 8) continue;
                    if (plant == PLANT_Y_TRANSPOSED) at = (map * v->Q + q) * v->P + p;
                    float sum = sum_of(plant, v, x, w, n, k, p, q);
                    if (spoiled(plant, v, n, k, p, q)) sum = sum * 0.5f + 1;
                    if (plant == PLANT_RACE && (at * 2654435761u + submission->calls) % 5 == 0)
                        sum *= 1.5f;
                    if (plant == PLANT_ADDS) sum += y[at];
                    if (plant == PLANT_NEVER_RESET) sum = running += sum;
                    if (plant == PLANT_TWICE) sum *= 2;
                    if (plant == PLANT_NAN || (plant == PLANT_NAN_ONE_MAP && k == 0)) sum = NAN;
                    if (plant == PLANT_ZERO) sum = 0;
                    y[at] = sum;
                }
}

/* ---- one judgement ----------------------------------------------------------------------- */

static const Operation *operation;

static int probe_run(void *context, const Problem *problem, const float *const *tensor,
                     float *output)
{
    ConvProblem conv;
    memcpy(&conv, problem->data, sizeof conv);
    submission_run(context, &conv, tensor[0], tensor[1], output);
    return 0;
}

static int probe_fails(void *context, const Problem *problem, const float *const *tensor,
                       float *output)
{
    (void)context, (void)problem, (void)tensor, (void)output;
    return -1;
}

typedef struct Bench {
    Problem problem;
    ConvProblem conv;
    float *tensor[3];
    size_t outputs;
} Bench;

static Bench bench_make(const char *text, uint64_t seed)
{
    Bench bench;
    Error error = {""};
    TensorShape shape[OPERATION_TENSORS];
    if (operation->parse(text, &bench.problem, &error)) fail_msg("%s: %s", text, error.text);
    memcpy(&bench.conv, bench.problem.data, sizeof bench.conv);
    operation->tensors(&bench.problem, shape);
    for (int i = 0; i < 3; i++)
        bench.tensor[i] = malloc(tensor_count(&shape[i]) * sizeof(float));
    bench.outputs = tensor_count(&shape[2]);
    Random random;
    random_seed(&random, seed);
    operation->generate(&bench.problem, &random, bench.tensor);
    return bench;
}

static void bench_free(Bench *bench)
{
    for (int i = 0; i < 3; i++)
        free(bench->tensor[i]);
}

/* As the grader does: y holds the poison, one run, a verdict. */
static Verdict bench_judge(Bench *bench, Plant plant, Precision precision, ProbeRun run)
{
    Submission submission = {.plant = plant};
    const uint32_t poison = VERIFY_POISON;
    for (size_t i = 0; i < bench->outputs; i++)
        memcpy(&bench->tensor[2][i], &poison, sizeof poison);
    submission_run(&submission, &bench->conv, bench->tensor[0], bench->tensor[1], bench->tensor[2]);
    Observed observed = {.output = bench->tensor[2]};
    Verdict verdict;
    Error error = {""};
    assert_int_equal(verify_output(operation, &bench->problem, precision,
                                   (const float *const *)bench->tensor, &observed, run, &submission,
                                   &verdict, &error),
                     0);
    assert_int_equal(verdict.total, bench->outputs);
    assert_true(strlen(verdict.text) < sizeof verdict.text - 1);
    return verdict;
}

static Verdict judge(const char *text, Plant plant, Precision precision, ProbeRun run)
{
    Bench bench = bench_make(text, 11);
    Verdict verdict = bench_judge(&bench, plant, precision, run);
    bench_free(&bench);
    return verdict;
}

static void expect_right(const char *text, Plant plant, Precision precision)
{
    Verdict verdict = judge(text, plant, precision, probe_run);
    if (!verdict.correct)
        fail_msg("%s, plant %d: %s: %s", text, plant, fault_name(verdict.fault), verdict.text);
    assert_int_equal(verdict.fault, FAULT_NONE);
    assert_int_equal(verdict.wrong, 0);
    assert_true(verdict.worst <= 1);
}

/* The diagnosis must be `fault`, and its text must hold `words`. */
static void expect_run(const char *text, Plant plant, Fault fault, const char *words, ProbeRun run)
{
    Verdict verdict = judge(text, plant, PRECISION_FP32, run);
    if (getenv("SHOW"))
        print_message("%s\n  %s: %s\n", text, fault_name(verdict.fault), verdict.text);
    if (verdict.correct) fail_msg("%s, plant %d passes", text, plant);
    if (verdict.fault != fault || !strstr(verdict.text, words))
        fail_msg("%s, plant %d: expected %s (%s), got %s: %s", text, plant, fault_name(fault),
                 words, fault_name(verdict.fault), verdict.text);
    assert_true(verdict.wrong > 0);
    assert_non_null(strstr(verdict.where, "(n,k,p,q) = ("));
}

static void expect(const char *text, Plant plant, Fault fault, const char *words)
{
    expect_run(text, plant, fault, words, probe_run);
}

/* ---- shapes ------------------------------------------------------------------------------ */

#define SQUARE    "N=2 C=5 H=20 W=20 K=6 R=3 S=3 pad=1 stride=1"
#define OBLONG    "N=2 C=3 H=13 W=29 K=5 R=5 S=3 pad=same stride=1"
#define EVEN      "N=1 C=3 H=14 W=21 K=5 R=4 S=8 pad=same stride=1"
#define TWO       "N=1 C=4 H=19 W=24 K=3 R=2 S=2 pad=same stride=1"
#define STRIDED   "N=2 C=3 H=23 W=27 K=4 R=3 S=3 pad=1 stride=2"
#define UNEVEN    "N=1 C=3 H=25 W=26 K=4 R=3 S=5 pad=same stride=3,2"
#define VALID     "N=3 C=6 H=18 W=23 K=7 R=3 S=5 pad=valid stride=1"
#define LOPSIDED  "N=1 C=3 H=15 W=22 K=4 R=3 S=4 pad=0,2,1,0 stride=1"
#define LENET     "N=4 C=1 H=32 W=32 K=6 R=5 S=5 pad=valid stride=1"
#define POINTWISE "N=2 C=13 H=11 W=9 K=7 R=1 S=1 pad=valid stride=1"
#define WIDE      "N=1 C=2 H=35 W=70 K=3 R=3 S=3 pad=1 stride=1"

static const char *const every_shape[] = {SQUARE, OBLONG,   EVEN,  TWO,       STRIDED, UNEVEN,
                                          VALID,  LOPSIDED, LENET, POINTWISE, WIDE};
enum { SHAPES = sizeof every_shape / sizeof *every_shape };

/* ---- judgement --------------------------------------------------------------------------- */

static void honest_sums_pass(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect_right(every_shape[i], PLANT_NOTHING, PRECISION_FP32);
        expect_right(every_shape[i], PLANT_REVERSED_SUM, PRECISION_FP32);
        expect_right(every_shape[i], PLANT_SPLIT_SUM, PRECISION_FP32);
        expect_right(every_shape[i], PLANT_TF32, PRECISION_TF32);
        expect_right(every_shape[i], PLANT_FP16, PRECISION_FP16);
        expect_right(every_shape[i], PLANT_NOTHING, PRECISION_TF32);
    }
    /* A deep layer, and windows that lie in the padding altogether. */
    expect_right("N=1 C=500 H=9 W=9 K=4 R=3 S=3 pad=1 stride=1", PLANT_NOTHING, PRECISION_FP32);
    expect_right("N=1 C=2 H=3 W=3 K=2 R=2 S=2 pad=4 stride=1", PLANT_NOTHING, PRECISION_FP32);
}

/* gamma_m of fp32 for m = 27 is 27u/(1-27u); four times that, times the magnitude. */
static void bound_is_the_formula(void **state)
{
    (void)state;
    double u = ldexp(1, -24), gamma = 27 * u / (1 - 27 * u), v = ldexp(1, -11);
    assert_true(fabs(verify_bound(PRECISION_FP32, 2, 27) - 8 * gamma) < 1e-15);
    assert_true(fabs(verify_bound(PRECISION_TF32, 2, 27) - 8 * (gamma + 2 * v + v * v)) < 1e-12);
    assert_true(verify_bound(PRECISION_FP32, 0, 0) == 0);
    assert_true(verify_bound(PRECISION_FP32, 1, 1e9) > 0);
}

static void lower_precision_fails_at_any_depth(void **state)
{
    (void)state;
    static const Plant plant[] = {PLANT_TF32, PLANT_FP16, PLANT_BF16, PLANT_FP16_SUM};
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < SHAPES; i++)
            expect(every_shape[i], plant[j], FAULT_PRECISION, "");
        expect("N=1 C=64 H=10 W=10 K=4 R=3 S=3 pad=1 stride=1", plant[j], FAULT_PRECISION, "");
        expect("N=1 C=500 H=9 W=9 K=4 R=3 S=3 pad=1 stride=1", plant[j], FAULT_PRECISION, "");
    }
    expect(SQUARE, PLANT_BF16, FAULT_PRECISION, "bfloat16");
    expect(SQUARE, PLANT_TF32, FAULT_PRECISION, "tf32");
    assert_false(judge(SQUARE, PLANT_BF16, PRECISION_TF32, NULL).correct);
}

static void eleven_bits_are_told_from_less_at_any_depth(void **state)
{
    (void)state;
    static const char deep[] = "N=1 C=500 H=9 W=9 K=4 R=3 S=3 pad=1 stride=1";
    for (Precision precision = PRECISION_TF32; precision <= PRECISION_FP16; precision++) {
        expect_right(deep, PLANT_TF32, precision);
        expect_right(deep, PLANT_FP16, precision);
        expect_right(deep, PLANT_NOTHING, precision);
        assert_int_equal(judge(deep, PLANT_BF16, precision, NULL).fault, FAULT_PRECISION);
        assert_int_equal(judge(deep, PLANT_FP16_SUM, precision, NULL).fault, FAULT_PRECISION);
        assert_int_equal(judge(SQUARE, PLANT_BF16, precision, NULL).fault, FAULT_PRECISION);
    }
}

static void one_wrong_output_fails_and_is_located(void **state)
{
    (void)state;
    Bench bench = bench_make(VALID, 3);
    Verdict verdict = bench_judge(&bench, PLANT_NOTHING, PRECISION_FP32, NULL);
    assert_true(verdict.correct);
    size_t at = ((1 * 7 + 3) * 16 + 15) * 19 + 18;
    float right = bench.tensor[2][at];
    bench.tensor[2][at] = right * 1.01f;
    Observed observed = {.output = bench.tensor[2]};
    Error error;
    verify_output(operation, &bench.problem, PRECISION_FP32, (const float *const *)bench.tensor,
                  &observed, probe_fails, NULL, &verdict, &error);
    assert_false(verdict.correct);
    assert_int_equal(verdict.wrong, 1);
    assert_int_equal(verdict.first, at);
    assert_string_equal(verdict.where, "(n,k,p,q) = (1,3,15,18)");
    assert_true(verdict.got == right * 1.01f);
    assert_true(fabs(verdict.expected - right) <= verdict.bound);
    assert_true(verdict.worst > 1);
    assert_true(verdict.text[0] != '\0');
    bench_free(&bench);
}

static void memory_faults_are_named(void **state)
{
    (void)state;
    Bench bench = bench_make(SQUARE, 4);
    Verdict verdict = bench_judge(&bench, PLANT_NOTHING, PRECISION_FP32, NULL);
    Error error;
    const float *const *tensor = (const float *const *)bench.tensor;
    Observed past = {.output = bench.tensor[2], .fence_broken = "y", .fence_offset = 7};
    verify_output(operation, &bench.problem, PRECISION_FP32, tensor, &past, NULL, NULL, &verdict,
                  &error);
    assert_false(verdict.correct);
    assert_int_equal(verdict.fault, FAULT_FENCE);
    assert_non_null(strstr(verdict.text, "7 floats past the end of y"));
    Observed before = {.output = bench.tensor[2], .fence_broken = "y", .fence_offset = -2};
    verify_output(operation, &bench.problem, PRECISION_FP32, tensor, &before, NULL, NULL, &verdict,
                  &error);
    assert_non_null(strstr(verdict.text, "2 floats before the start of y"));
    Observed changed = {.output = bench.tensor[2], .input_changed = "w"};
    verify_output(operation, &bench.problem, PRECISION_FP32, tensor, &changed, NULL, NULL, &verdict,
                  &error);
    assert_false(verdict.correct);
    assert_int_equal(verdict.fault, FAULT_INPUT_CHANGED);
    assert_non_null(strstr(verdict.text, "its input w"));
    bench_free(&bench);
}

/* ---- diagnosis --------------------------------------------------------------------------- */

static void unwritten_and_nan(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect(every_shape[i], PLANT_EMPTY, FAULT_UNWRITTEN, "No output was written");
        expect(every_shape[i], PLANT_NAN, FAULT_NAN, "Every output is NaN");
        expect_run(every_shape[i], PLANT_EMPTY, FAULT_UNWRITTEN, "No output", probe_fails);
        expect_run(every_shape[i], PLANT_NAN, FAULT_NAN, "Every output", NULL);
    }
    expect(SQUARE, PLANT_GRID_DOWN, FAULT_UNWRITTEN, "q >= 16");
    expect(VALID, PLANT_GRID_DOWN, FAULT_UNWRITTEN, "q >= 16");
    expect(VALID, PLANT_NAN_ONE_MAP, FAULT_NAN, "k = 0");
}

static void filters_turned(void **state)
{
    (void)state;
    static const char *const shape[] = {SQUARE, OBLONG, EVEN,     TWO,  STRIDED,
                                        UNEVEN, VALID,  LOPSIDED, LENET};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        expect(shape[i], PLANT_FLIPPED, FAULT_FLIPPED_FILTER, "flipped:");
        expect(shape[i], PLANT_FLIPPED_ROWS, FAULT_FLIPPED_FILTER, "along r");
        expect(shape[i], PLANT_TRANSPOSED, FAULT_TRANSPOSED_FILTER, "s*R + r");
        expect_run(shape[i], PLANT_FLIPPED, FAULT_FLIPPED_FILTER, "flipped:", NULL);
    }
}

static void windows_shifted(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        expect(every_shape[i], PLANT_SHIFT_ONE, FAULT_HALO, "+1 column");
    static const char *const padded[] = {SQUARE, OBLONG, EVEN, STRIDED, UNEVEN, LOPSIDED};
    for (int i = 0; i < 6; i++)
        expect(padded[i], PLANT_PAD_IGNORED, FAULT_HALO, "not subtracted");
    expect(EVEN, PLANT_PAD_AFTER, FAULT_HALO, "even filter");
    expect(TWO, PLANT_PAD_AFTER, FAULT_HALO, "even filter");
    expect(EVEN, PLANT_HALF_FILTER_PAD, FAULT_HALO, "shifted");
    expect("N=1 C=2 H=30 W=31 K=3 R=11 S=11 pad=same stride=1", PLANT_PAD_IGNORED, FAULT_HALO,
           "not subtracted");
}

static void edges_and_padding(void **state)
{
    (void)state;
    static const char *const padded[] = {SQUARE, OBLONG, EVEN, STRIDED, UNEVEN, WIDE};
    for (int i = 0; i < 6; i++) {
        expect(padded[i], PLANT_NO_BOUNDS, FAULT_PADDING_EDGE, "over the edge");
        expect(padded[i], PLANT_NO_COLUMN_BOUNDS, FAULT_PADDING_EDGE, "columns are not tested");
        expect(padded[i], PLANT_CLAMPED, FAULT_PADDING_EDGE, "repeated");
        expect_run(padded[i], PLANT_CLAMPED, FAULT_PADDING_EDGE, "repeated", probe_fails);
    }
    /* Padding on one side alone: the test for the other side makes no difference. */
    expect(TWO, PLANT_NO_BOUNDS, FAULT_PADDING_EDGE, "h <= H");
    expect(TWO, PLANT_NO_COLUMN_BOUNDS, FAULT_PADDING_EDGE, "w < W is not tested");
    expect(TWO, PLANT_CLAMPED, FAULT_PADDING_EDGE, "repeated");
    expect(SQUARE, PLANT_ROW_ZERO_LOST, FAULT_PADDING_EDGE, "h > 0");
    expect(VALID, PLANT_ROW_ZERO_LOST, FAULT_PADDING_EDGE, "h > 0");
    expect(STRIDED, PLANT_ROW_ZERO_LOST, FAULT_PADDING_EDGE, "h > 0");
}

static void tiles(void **state)
{
    (void)state;
    expect(WIDE, PLANT_TILE_HALO, FAULT_TILE_EDGE, "16 columns");
    expect(SQUARE, PLANT_TILE_HALO, FAULT_TILE_EDGE, "16 columns");
    expect(WIDE, PLANT_TILE_ROWS, FAULT_TILE_EDGE, "8 rows");
    expect(LENET, PLANT_TILE_ROWS, FAULT_TILE_EDGE, "8 rows");
    expect(SQUARE, PLANT_TILE_ROWS, FAULT_TILE_EDGE, "8 rows");
    static const char *const shape[] = {SQUARE, OBLONG, EVEN, STRIDED, UNEVEN,
                                        VALID,  LENET,  WIDE, LOPSIDED};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        Bench bench = bench_make(shape[i], 1);
        int rows = bench.conv.P % 8 && bench.conv.P > 8,
            columns = bench.conv.Q % 8 && bench.conv.Q > 8;
        bench_free(&bench);
        if (columns) expect(shape[i], PLANT_LAST_COLUMNS, FAULT_LAST_BLOCK, "q ");
        if (rows && columns) expect(shape[i], PLANT_LAST_TILES, FAULT_LAST_BLOCK, " or q ");
    }
}

static void channels_and_taps(void **state)
{
    (void)state;
    static const char *const shape[] = {SQUARE, OBLONG, EVEN,     TWO,      STRIDED,
                                        UNEVEN, VALID,  LOPSIDED, POINTWISE};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        expect(shape[i], PLANT_LAST_CHANNEL_LOST, FAULT_ONE_CHANNEL, "left out");
        expect(shape[i], PLANT_MIDDLE_CHANNEL_LOST, FAULT_ONE_CHANNEL, "left out");
        expect(shape[i], PLANT_CHANNEL_ZERO_ONLY, FAULT_ONE_CHANNEL, "Only input channel");
        expect(shape[i], PLANT_CHANNEL_ZERO_READ, FAULT_ONE_CHANNEL, "input channel 0");
        if (shape[i] != (const char *)POINTWISE) {
            expect(shape[i], PLANT_TAP_LOST, FAULT_TAP_DROPPED, ",0)");
            expect(shape[i], PLANT_LAST_TAP_COLUMN_LOST, FAULT_TAP_DROPPED, "s = ");
        }
    }
    expect(VALID, PLANT_CHANNELS_BY_FOUR, FAULT_ONE_CHANNEL, "c = 4..5");
    expect(POINTWISE, PLANT_CHANNELS_BY_FOUR, FAULT_ONE_CHANNEL, "c = 12");
    expect(LENET, PLANT_REDUCTION_BY_FOUR, FAULT_TAP_DROPPED, "(4,4)");
    expect(VALID, PLANT_REDUCTION_BY_FOUR, FAULT_TAP_DROPPED, "last 2 of C*R*S = 90");
    expect(POINTWISE, PLANT_CHANNEL_DECAY, FAULT_ONE_CHANNEL, "right for c = 0");
    /* So deep that even this is within the worst case: that is no lower precision. */
    expect("N=1 C=32001 H=3 W=5 K=7 R=1 S=1 pad=0 stride=1", PLANT_CHANNEL_SIGN, FAULT_EVERYWHERE,
           "follow no pattern");
    expect(SQUARE, PLANT_CHANNEL_DECAY, FAULT_ONE_CHANNEL,
           "right for c = 0, 1 and wrong for c = 2, 3, 4");
}

static void maps_and_images(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        expect(every_shape[i], PLANT_ONE_FILTER, FAULT_ONE_FILTER, "k = 1 ");
    expect(SQUARE, PLANT_FILTER_LAST_GROUP, FAULT_ONE_FILTER, "k >= 4");
    expect(SQUARE, PLANT_FILTER_ZERO, FAULT_ONE_FILTER, "filter k = 0");
    expect(STRIDED, PLANT_FILTER_ZERO, FAULT_ONE_FILTER, "filter k = 0");
    expect(SQUARE, PLANT_IMAGE_ZERO, FAULT_ONE_IMAGE, "image n = 0");
    expect(LENET, PLANT_IMAGE_ZERO, FAULT_ONE_IMAGE, "image n = 0");
    expect(VALID, PLANT_LATER_IMAGES, FAULT_ONE_IMAGE, "n >= 1");
    expect(STRIDED, PLANT_LATER_IMAGES, FAULT_ONE_IMAGE, "n = 1");
}

static void strides(void **state)
{
    (void)state;
    expect(STRIDED, PLANT_STRIDE_IGNORED, FAULT_STRIDE, "left out");
    expect(UNEVEN, PLANT_STRIDE_IGNORED, FAULT_STRIDE, "left out");
    expect(UNEVEN, PLANT_STRIDES_SWAPPED, FAULT_STRIDE, "exchanged");
    expect(STRIDED, PLANT_STRIDED_TILE, FAULT_STRIDE, "With stride 1");
    expect(UNEVEN, PLANT_STRIDED_TILE, FAULT_STRIDE, "With stride 1");
}

static void accumulation(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect(every_shape[i], PLANT_ADDS, FAULT_ACCUMULATED, "+=");
        expect(every_shape[i], PLANT_TWICE, FAULT_ACCUMULATED, "twice");
        expect(every_shape[i], PLANT_NEVER_RESET, FAULT_ACCUMULATED, "set back to 0");
    }
    /* A run that poisons y, or cannot run again, leaves it at "unwritten", whose text names +=
     * too. */
    expect_run(SQUARE, PLANT_ADDS, FAULT_UNWRITTEN, "+=", probe_fails);
}

static void races_and_the_rest(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect(every_shape[i], PLANT_RACE, FAULT_RACE, "Two runs");
        expect(every_shape[i], PLANT_NOISE, FAULT_EVERYWHERE, "x all zero but x[");
        expect_run(every_shape[i], PLANT_NOISE, FAULT_EVERYWHERE, "no pattern", probe_fails);
        expect(every_shape[i], PLANT_ZERO, FAULT_EVERYWHERE, "Every output is 0");
    }
    expect(OBLONG, PLANT_Y_TRANSPOSED, FAULT_EVERYWHERE, "transposed");
    expect(VALID, PLANT_ROW_PITCH, FAULT_EVERYWHERE, "Q elements apart");
    expect(STRIDED, PLANT_ROW_PITCH, FAULT_EVERYWHERE, "Q elements apart");
}

/* VGG-16's first layer has 3.2 million outputs; the diagnosis looks at a sample. */
static void diagnosis_is_quick_on_large_outputs(void **state)
{
    (void)state;
    Bench bench = bench_make("N=1 C=3 H=224 W=224 K=16 R=3 S=3 pad=1 stride=1", 9);
    struct timespec start, end;
    Plant plant[] = {PLANT_NOTHING, PLANT_NOISE};
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        Submission submission = {.plant = plant[i]};
        submission_run(&submission, &bench.conv, bench.tensor[0], bench.tensor[1], bench.tensor[2]);
        Observed observed = {.output = bench.tensor[2]};
        Verdict verdict;
        Error error;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        verify_output(operation, &bench.problem, PRECISION_FP32, (const float *const *)bench.tensor,
                      &observed, NULL, NULL, &verdict, &error);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        assert_int_equal(verdict.correct, i == 0);
        seconds[i] =
            (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    }
    print_message("800 k outputs: judged in %.3f s, diagnosed in %.3f s of CPU\n", seconds[0],
                  seconds[1]);
    assert_true(seconds[1] < 3);
    bench_free(&bench);
}

/* Every plant on hidden shapes: none may pass where it changes the result, and nothing may crash or
 * overrun. */
static void every_fault_has_a_name(void **state)
{
    (void)state;
    for (Fault fault = FAULT_NONE; fault <= FAULT_EVERYWHERE; fault++) {
        const char *name = fault_name(fault);
        assert_true(strlen(name) > 1 && strcmp(name, "unknown") != 0);
        for (Fault other = FAULT_NONE; other < fault; other++)
            assert_string_not_equal(name, fault_name(other));
    }
    assert_string_equal(fault_name(FAULT_TILE_EDGE), "tile-edge");
    assert_string_equal(fault_name((Fault)-1), "unknown");
}

static void every_plant_on_hidden_shapes(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 77);
    for (int index = 0; index < 9; index++)
        for (Plant plant = PLANT_NOTHING; plant <= PLANT_Y_TRANSPOSED; plant++) {
            Problem problem;
            char text[256];
            operation->draw(&random, index, 1e5, &problem);
            operation->print(&problem, text, sizeof text);
            Verdict verdict = judge(text, plant, PRECISION_FP32, probe_run);
            if (plant <= PLANT_SPLIT_SUM) assert_true(verdict.correct);
            assert_int_equal(verdict.correct, verdict.fault == FAULT_NONE);
            assert_int_equal(verdict.correct, verdict.text[0] == '\0');
        }
}

/* Whatever bits come back, the judgement ends with a verdict; ASan and UBSan watch. */
static void garbage_gets_a_verdict(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 8);
    for (int round = 0; round < 60; round++) {
        Bench bench = bench_make(every_shape[round % SHAPES], 5);
        bench_judge(&bench, PLANT_NOTHING, PRECISION_FP32, NULL);
        for (size_t i = 0; i < bench.outputs; i++) {
            uint32_t word = (uint32_t)random_next(&random);
            if (round % 3 == 0 || random_range(&random, 0, 9) == 0)
                memcpy(&bench.tensor[2][i], &word, sizeof word);
        }
        Observed observed = {.output = bench.tensor[2]};
        Verdict verdict;
        Error error;
        assert_int_equal(verify_output(operation, &bench.problem, PRECISION_FP32,
                                       (const float *const *)bench.tensor, &observed,
                                       round % 2 ? probe_fails : NULL, NULL, &verdict, &error),
                         0);
        assert_false(verdict.correct);
        assert_true(verdict.fault != FAULT_NONE && verdict.text[0]);
        bench_free(&bench);
    }
    /* Extreme but valid shapes: the suspected formulas must not overflow either. */
    assert_false(judge("N=1 C=1 H=9 W=9 K=2 R=3 S=3 pad=1 stride=1,2147483647", PLANT_NOISE,
                       PRECISION_FP32, probe_fails)
                     .correct);
    expect("N=1 C=1 H=3 W=3 K=9 R=3 S=3 pad=500 stride=500", PLANT_ZERO, FAULT_EVERYWHERE, "0");
}

int main(void)
{
    operation = operation_find("conv_forward");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_is_the_formula),
        cmocka_unit_test(every_fault_has_a_name),
        cmocka_unit_test(honest_sums_pass),
        cmocka_unit_test(lower_precision_fails_at_any_depth),
        cmocka_unit_test(eleven_bits_are_told_from_less_at_any_depth),
        cmocka_unit_test(one_wrong_output_fails_and_is_located),
        cmocka_unit_test(memory_faults_are_named),
        cmocka_unit_test(unwritten_and_nan),
        cmocka_unit_test(filters_turned),
        cmocka_unit_test(windows_shifted),
        cmocka_unit_test(edges_and_padding),
        cmocka_unit_test(tiles),
        cmocka_unit_test(channels_and_taps),
        cmocka_unit_test(maps_and_images),
        cmocka_unit_test(strides),
        cmocka_unit_test(accumulation),
        cmocka_unit_test(races_and_the_rest),
        cmocka_unit_test(diagnosis_is_quick_on_large_outputs),
        cmocka_unit_test(every_plant_on_hidden_shapes),
        cmocka_unit_test(garbage_gets_a_verdict),
    };
    return cmocka_run_group_tests_name("conv/verify", tests, NULL, NULL);
}
