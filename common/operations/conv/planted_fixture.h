/* planted_fixture.h - a submission with one planted fault, for the tests of judgement and
 * diagnosis.
 *
 * The submission is a plain CPU convolution in fp32 with modifiable index arithmetic; it is written
 * for these tests and shares no code with the diagnosis. */
#ifndef CONVLAB_CONV_PLANTED_FIXTURE_H
#define CONVLAB_CONV_PLANTED_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/verify.h"
#include "convlab/conv.h"

/* ---- the submission ---------------------------------------------------------------------- */

typedef enum Plant {
    PLANT_NOTHING,
    PLANT_REVERSED_SUM, /* correct: another order */
    PLANT_SPLIT_SUM,    /* correct: eight partial sums */
    PLANT_TF32,
    PLANT_FP16,
    PLANT_BF16,
    PLANT_FP16_SUM,
    PLANT_FLIPPED,
    PLANT_FLIPPED_ROWS,
    PLANT_TRANSPOSED,
    PLANT_PAD_IGNORED,
    PLANT_PAD_AFTER,       /* pad_bottom, pad_right instead of pad_top, pad_left */
    PLANT_HALF_FILTER_PAD, /* R/2, S/2 instead of pad_top, pad_left: wrong for even filters only */
    PLANT_SHIFT_ONE,
    PLANT_NO_BOUNDS,
    PLANT_NO_COLUMN_BOUNDS,
    PLANT_CLAMPED,
    PLANT_ROW_ZERO_LOST,
    PLANT_STRIDE_IGNORED,
    PLANT_STRIDES_SWAPPED,
    PLANT_STRIDED_TILE, /* correct at stride 1: the halo of 8-wide tiles ignores the stride */
    PLANT_TILE_HALO,    /* the right halo of 16-wide tiles is never loaded */
    PLANT_TILE_ROWS,    /* the lower halo of 8-high tiles is never loaded */
    PLANT_LAST_COLUMNS, /* wrong in the last partial 8-wide tile */
    PLANT_LAST_TILES,   /* ... and in the last partial 8-high one */
    PLANT_GRID_DOWN,    /* the number of 8-wide tiles is rounded down */
    PLANT_LAST_CHANNEL_LOST,
    PLANT_MIDDLE_CHANNEL_LOST,
    PLANT_CHANNELS_BY_FOUR, /* C rounded down to a multiple of 4 */
    PLANT_CHANNEL_ZERO_ONLY,
    PLANT_CHANNEL_ZERO_READ,
    PLANT_CHANNEL_SIGN,  /* every 64th channel is subtracted */
    PLANT_CHANNEL_DECAY, /* channels after the second are scaled: no missing terms explain it */
    PLANT_TAP_LOST,
    PLANT_LAST_TAP_COLUMN_LOST,
    PLANT_REDUCTION_BY_FOUR, /* C*R*S rounded down to a multiple of 4 */
    PLANT_FILTER_LAST_GROUP, /* filters after the last full group of 4 are wrong */
    PLANT_ONE_FILTER,
    PLANT_FILTER_ZERO, /* every map computed with filter 0 */
    PLANT_IMAGE_ZERO,  /* every image computed from image 0 */
    PLANT_LATER_IMAGES,
    PLANT_ADDS,        /* y += */
    PLANT_NEVER_RESET, /* the accumulator is not reset for each q */
    PLANT_TWICE,
    PLANT_NAN,
    PLANT_NAN_ONE_MAP,
    PLANT_ZERO,
    PLANT_EMPTY,
    PLANT_RACE,
    PLANT_NOISE,
    PLANT_ROW_PITCH, /* rows of x at distance Q */
    PLANT_ROWS_OF_H, /* rows of x at distance H */
    PLANT_TRUNCATED, /* the sum is converted to int and back */
    PLANT_HALVED,
    PLANT_CLIPPED,         /* max(sum, 0) */
    PLANT_OFFSET,          /* the sum starts with 64 */
    PLANT_LAST_PRODUCT,    /* sum = term, not += */
    PLANT_CHANNEL_TWICE,   /* channel 1 is added twice */
    PLANT_MAPS_EXCHANGED,  /* maps k and k+1 are exchanged, for even k */
    PLANT_COLUMNS_TWICE,   /* in tf32: odd columns contain the values of the even ones */
    PLANT_ROWS_BY_W,       /* h is compared with W */
    PLANT_SIDES_EXCHANGED, /* H and W exchanged everywhere */
    PLANT_WINDOW_CROSSED,  /* the window's row is computed from q, its column from p */
    PLANT_ONE_MOVED,       /* the second output of a map contains the value of the first */
    PLANT_FIRST_TILE,      /* 8-wide tiles all contain the values of the first */
    PLANT_UNSET,           /* the accumulator has an old value in the first run */
    PLANT_INFINITE,        /* every second output is the same infinity */
    PLANT_PADDED_WITH_TWO, /* values outside of x are 2 */
    PLANT_ROWS_MIRRORED,   /* x is read in reverse order of rows */
    PLANT_CHANNEL_HALVED,  /* channels 0, 0, 1, 1 ... of x are read */
    PLANT_ADDED_ONCE,      /* map 0: x + w is added instead of x * w */
    PLANT_WEIGHTS_MOVED,   /* each weight is the next one in memory */
    PLANT_FIRST_WEIGHT,    /* every tap uses its filter's first weight */
    PLANT_SQUARED,         /* pixels are multiplied by themselves */
    PLANT_LAST_CHANNEL_ONLY,
    PLANT_LAST_TILE_ONLY,   /* only the last, partial tile of 8 terms */
    PLANT_SCALED,           /* the sum times 0.7 */
    PLANT_NINTH,            /* divided by 9, in every third column */
    PLANT_DOUBLED,          /* in every third column */
    PLANT_INTEGER_TERMS,    /* each term is converted to int */
    PLANT_FRAGMENT_COLUMNS, /* in tiles of 8 columns, q and q + 4 are exchanged */
    PLANT_FRAGMENT_ROWS,    /* in tiles of 4 maps: 0, 2, 1, 3; with sums of inputs in tf32 */
    PLANT_TILE_TRANSPOSED,  /* tiles of 4 rows and 4 columns */
    PLANT_INFINITE_OR_NAN,  /* infinity, and NaN in every third output */
    PLANT_HOLES,            /* every fifth output is never written */
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
    if (plant == PLANT_TF32 || plant == PLANT_FP16 || plant == PLANT_COLUMNS_TWICE ||
        plant == PLANT_FRAGMENT_ROWS)
        return keep_bits(value, 13);
    return plant == PLANT_BF16 ? keep_bits(value, 16) : value;
}

/* Indices of one term of the sum, after the planted fault; 0 if the term is left out. */
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
    size_t flat = ((size_t)c * v->R + r) * v->S + s, terms = (size_t)v->C * v->R * v->S;
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
    case PLANT_LAST_CHANNEL_ONLY:
        return c == v->C - 1;
    case PLANT_LAST_TILE_ONLY:
        return flat >= (terms - 1) / 8 * 8;
    case PLANT_TAP_LOST:
        return r != v->R - 1 || s != 0;
    case PLANT_LAST_TAP_COLUMN_LOST:
        return s < v->S - 1;
    case PLANT_REDUCTION_BY_FOUR:
        return flat < terms / 4 * 4;
    case PLANT_ROW_ZERO_LOST:
        return *h != 0;
    default:
        return 1;
    }
}

/* x at (n,c,h,w) as the faulty code reads it: by default zero outside. */
static float read_x(Plant plant, const ConvProblem *v, const float *x, int n, int c, int h, int w)
{
    if (plant == PLANT_CLAMPED) {
        h = h < 0 ? 0 : h >= v->H ? v->H - 1 : h;
        w = w < 0 ? 0 : w >= v->W ? v->W - 1 : w;
    }
    int rows = h >= 0 && h < v->H, columns = w >= 0 && w < v->W;
    if (plant == PLANT_ROWS_BY_W) rows = h >= 0 && h < v->W;
    if (plant == PLANT_SIDES_EXCHANGED) rows = h >= 0 && h < v->W, columns = w >= 0 && w < v->H;
    if (plant == PLANT_NO_BOUNDS) rows = columns = 1;
    if (plant == PLANT_NO_COLUMN_BOUNDS) columns = 1;
    if (!rows || !columns) return plant == PLANT_PADDED_WITH_TWO ? 2 : 0;
    if (plant == PLANT_ROWS_MIRRORED) h = v->H - 1 - h;
    if (plant == PLANT_CHANNEL_HALVED) c /= 2;
    if (plant == PLANT_CHANNEL_ZERO_READ) c = 0;
    if (plant == PLANT_IMAGE_ZERO) n = 0;
    long long pitch = plant == PLANT_ROW_PITCH         ? v->Q
                      : plant == PLANT_ROWS_OF_H       ? v->H
                      : plant == PLANT_SIDES_EXCHANGED ? v->H
                                                       : v->W;
    long long at = ((long long)n * v->C + c) * v->H * v->W + h * pitch + w;
    long long count = (long long)v->N * v->C * v->H * v->W;
    return at < 0 || at >= count ? NAN : x[at]; /* the guard bands contain NaN */
}

static float read_w(Plant plant, const ConvProblem *v, const float *w, int k, int c, int r, int s)
{
    if (plant == PLANT_FLIPPED) r = v->R - 1 - r, s = v->S - 1 - s;
    if (plant == PLANT_FLIPPED_ROWS) r = v->R - 1 - r;
    if (plant == PLANT_FILTER_ZERO) k = 0;
    int tap = plant == PLANT_TRANSPOSED ? s * v->R + r : r * v->S + s;
    size_t at = ((size_t)k * v->C + c) * v->R * v->S + tap;
    if (plant == PLANT_FIRST_WEIGHT) at = (size_t)k * v->C * v->R * v->S;
    if (plant == PLANT_WEIGHTS_MOVED) at = (at + 1) % ((size_t)v->K * v->C * v->R * v->S);
    return w[at];
}

static float sum_of(Plant plant, const ConvProblem *v, const float *x, const float *w, int n, int k,
                    int p, int q)
{
    float part[8] = {0};
    int terms = v->C * v->R * v->S;
    for (int i = 0; i < terms; i++) {
        int j = plant == PLANT_REVERSED_SUM ? terms - 1 - i : i;
        int c = j / (v->R * v->S), r = j / v->S % v->R, s = j % v->S, h, column;
        if (!bend(plant, v, p, q, c, r, s, &h, &column)) continue;
        if (plant == PLANT_WINDOW_CROSSED)
            h = q * v->stride_w - v->pad_left + r, column = p * v->stride_h - v->pad_top + s;
        float a = low_precision(plant, read_x(plant, v, x, n, c, h, column));
        float product = a * low_precision(plant, read_w(plant, v, w, k, c, r, s));
        if (plant == PLANT_INTEGER_TERMS) product = truncf(product);
        if (plant == PLANT_SQUARED) product = a * a;
        if (plant == PLANT_ADDED_ONCE && k == 0 && i == 0)
            product = a + read_w(plant, v, w, k, c, r, s);
        if (plant == PLANT_CHANNEL_DECAY && c > 1) product *= 0.75f;
        if (plant == PLANT_CHANNEL_SIGN && c % 64 == 63) product = -product;
        float *sum = &part[plant == PLANT_SPLIT_SUM ? i % 8 : 0];
        if (plant == PLANT_LAST_PRODUCT && product != 0) *sum = 0;
        if (plant == PLANT_CHANNEL_TWICE && c == 1) product *= 2;
        *sum += product;
        if (plant == PLANT_FP16_SUM) *sum = keep_bits(*sum, 13);
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) +
           ((part[1] + part[5]) + (part[3] + part[7]));
}

/* Outputs that the fault changes after the sum. */
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

/* Runs the submission on a y that contains `y`'s values. */
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
                    if (plant == PLANT_TRUNCATED) sum = truncf(sum);
                    if (plant == PLANT_HALVED && q % 3 == 1) sum /= 2;
                    if (plant == PLANT_SCALED) sum *= 0.7f;
                    if (plant == PLANT_NINTH && q % 3 == 1) sum /= 9;
                    if (plant == PLANT_DOUBLED && q % 3 == 1) sum *= 2;
                    if (plant == PLANT_FRAGMENT_COLUMNS && (q ^ 4) < v->Q)
                        sum = sum_of(plant, v, x, w, n, k, p, q ^ 4);
                    if (plant == PLANT_FRAGMENT_ROWS && k % 4 % 3 && (k ^ 3) < v->K)
                        sum = sum_of(plant, v, x, w, n, k ^ 3, p, q);
                    if (plant == PLANT_TILE_TRANSPOSED)
                        sum = sum_of(plant, v, x, w, n, k, p / 4 * 4 + q % 4, q / 4 * 4 + p % 4);
                    if (plant == PLANT_INFINITE_OR_NAN) sum = at % 3 ? INFINITY : NAN;
                    if (plant == PLANT_HOLES && at % 5 == 2) continue;
                    if (plant == PLANT_CLIPPED && sum < 0) sum = 0;
                    if (plant == PLANT_OFFSET) sum += 64;
                    if (plant == PLANT_MAPS_EXCHANGED)
                        sum = sum_of(plant, v, x, w, n, k + 1 < v->K ? k ^ 1 : k, p, q);
                    if (plant == PLANT_COLUMNS_TWICE) sum = sum_of(plant, v, x, w, n, k, p, q & ~1);
                    if (plant == PLANT_ONE_MOVED && p == 0 && q == 1 && n + k == 0)
                        sum = sum_of(plant, v, x, w, n, k, p, 0);
                    if (plant == PLANT_FIRST_TILE) sum = sum_of(plant, v, x, w, n, k, p, q % 8);
                    if (plant == PLANT_UNSET && submission->calls == 1) sum += 1e6f + (float)at;
                    if (plant == PLANT_INFINITE && at % 2) sum = INFINITY;
                    if (plant == PLANT_NAN || (plant == PLANT_NAN_ONE_MAP && k == 0)) sum = NAN;
                    if (plant == PLANT_ZERO) sum = 0;
                    y[at] = sum;
                }
}

/* ---- one judgement ----------------------------------------------------------------------- */

static const Operation *operation;

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

static void bench_verify(const Bench *bench, Precision precision, const Observed *observed,
                         Judgement *judgement)
{
    Error error = {""};
    if (verify_output(operation, &bench->problem, precision, (const float *const *)bench->tensor,
                      observed, judgement, &error))
        fail_msg("%s", error.text);
    assert_int_equal(judgement->verdict.total, bench->outputs);
}

/* As in the grader: y is poisoned, one run, and a judgement that the caller frees. */
static void bench_judge(Bench *bench, Submission *submission, Precision precision,
                        Judgement *judgement)
{
    const uint32_t poison = OUTPUT_POISON;
    for (size_t i = 0; i < bench->outputs; i++)
        memcpy(&bench->tensor[2][i], &poison, sizeof poison);
    submission_run(submission, &bench->conv, bench->tensor[0], bench->tensor[1], bench->tensor[2]);
    Observed observed = {.output = bench->tensor[2]};
    bench_verify(bench, precision, &observed, judgement);
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
#define DEEP      "N=1 C=500 H=9 W=9 K=4 R=3 S=3 pad=1 stride=1"

static const char *const every_shape[] = {SQUARE, OBLONG,   EVEN,  TWO,       STRIDED, UNEVEN,
                                          VALID,  LOPSIDED, LENET, POINTWISE, WIDE};
enum { SHAPES = sizeof every_shape / sizeof *every_shape };

#endif
