/* conv_backward_filter.c - gradient of a convolution with respect to its weights: dw from x and dy,
 * summed over the batch. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lanes.h"
#include "common/base/parallel.h"
#include "common/operations/catalog/conv_backward.h"
#include "common/operations/conv_diagnosis/conv_backward_explain.h"

enum { TENSOR_X, TENSOR_DY, TENSOR_DW, TENSORS };

static int filter_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    ConvProblem v = conv_unpack(problem);
    shape[TENSOR_X] = conv_backward_shape_x(&v, "x", TENSOR_INPUT);
    shape[TENSOR_DY] = conv_backward_shape_y(&v, "dy", TENSOR_INPUT);
    shape[TENSOR_DW] = conv_backward_shape_w(&v, "dw", TENSOR_OUTPUT);
    return TENSORS;
}

/* ---- one element by the definition ------------------------------------------------------- */

/* Adds the terms of neighbours in a row of x and a row of dy, and their absolute values. */
WIDEST_VECTORS
static void row_element(const float *x, int step, const float *dy, int count, double value[3])
{
    typedef float Floats __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
    const LaneBits no_sign = (LaneBits){0} + INT64_MAX;
    Lanes sum = {0}, magnitude = {0};
    int q = 0;
    for (; step == 1 && q + LANES <= count; q += LANES) {
        Lanes product = __builtin_convertvector(*(const Floats *)(x + q), Lanes) *
                        __builtin_convertvector(*(const Floats *)(dy + q), Lanes);
        sum += product;
        magnitude += (Lanes)((LaneBits)product & no_sign);
    }
    for (int lane = 0; lane < LANES; lane++) {
        value[0] += sum[lane];
        value[1] += magnitude[lane];
    }
    for (; q < count; q++) {
        double product = (double)x[(size_t)q * step] * dy[q];
        value[0] += product;
        value[1] += fabs(product);
    }
    value[2] += count;
}

static void filter_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                                  double value[3])
{
    ConvProblem v = conv_unpack(problem);
    int s = (int)(index % (size_t)v.S), r = (int)(index / (size_t)v.S % (size_t)v.R);
    size_t pair = index / ((size_t)v.R * v.S);
    int c = (int)(pair % (size_t)v.C), k = (int)(pair / (size_t)v.C);
    int first = 0, last = v.Q; /* the q whose input is inside its row */
    while (first < v.Q && first * (long long)v.stride_w + s < v.pad_left)
        first++;
    while (last > first && (last - 1) * (long long)v.stride_w + s - v.pad_left >= v.W)
        last--;
    value[0] = value[1] = value[2] = 0;
    for (int n = 0; n < v.N && first < last; n++)
        for (int p = 0; p < v.P; p++) {
            long long h = p * (long long)v.stride_h + r - v.pad_top;
            if (h < 0 || h >= v.H) continue;
            size_t at_x = (((size_t)n * v.C + c) * v.H + (size_t)h) * v.W +
                          (size_t)(first * (long long)v.stride_w + s - v.pad_left);
            size_t at_dy = (((size_t)n * v.K + k) * v.P + p) * v.Q + (size_t)first;
            row_element(tensor[TENSOR_X] + at_x, v.stride_w, tensor[TENSOR_DY] + at_dy,
                        last - first, value);
        }
}

/* ---- all elements ------------------------------------------------------------------------ */

/* A part of the work is eight filters with all images, or with some of them if there are few
 * filters. It has sums and magnitudes of all C*R*S weights, and each share has a row of dy, eight
 * doubles for each q.  So the innermost loop is "eight filters' accumulators += one input times
 * eight neighbours".  Parts are added in order, and their number is the same on every machine. */
enum { PIECES = 64 };

typedef struct FilterOracle {
    ConvProblem v;
    const float *x, *dy;
    double *const *all;
    double *row, *sums; /* row: per share; sums: per part, followed by its magnitudes */
    size_t weights;
    int groups, parts, shares;
} FilterOracle;

static double *piece_sums(const FilterOracle *o, int piece)
{
    return o->sums + (size_t)piece * 2 * o->weights * LANES;
}

/* Number of outputs for which one tap of one axis is inside the input. */
static int outputs_inside(int outputs, int stride, int shift, int size)
{
    int count = 0;
    for (int i = 0; i < outputs; i++)
        count += i * (long long)stride + shift >= 0 && i * (long long)stride + shift < size;
    return count;
}

static void row_widen(const FilterOracle *o, int n, int p, int group, double *row)
{
    const ConvProblem *v = &o->v;
    memset(row, 0, (size_t)v->Q * LANES * sizeof *row);
    for (int lane = 0; lane < LANES && group * LANES + lane < v->K; lane++) {
        size_t plane = (size_t)n * v->K + (size_t)(group * LANES + lane);
        const float *dy = o->dy + (plane * v->P + p) * v->Q;
        for (int q = 0; q < v->Q; q++)
            row[(size_t)q * LANES + lane] = dy[q];
    }
}

/* Adds the terms of a row of dy and a row of x to one weight's accumulators. */
WIDEST_VECTORS
static void row_add(const ConvProblem *v, const double *row, const float *x, int shift, double *sum,
                    double *magnitude)
{
    const LaneBits no_sign = (LaneBits){0} + INT64_MAX;
    Lanes of = *(Lanes *)sum, size = *(Lanes *)magnitude;
    for (int q = 0; q < v->Q; q++) {
        long long w = q * (long long)v->stride_w + shift;
        if (w < 0) continue;
        if (w >= v->W) break;
        Lanes product = *(const Lanes *)(row + (size_t)q * LANES) * (double)x[w];
        of += product;
        size += (Lanes)((LaneBits)product & no_sign);
    }
    *(Lanes *)sum = of;
    *(Lanes *)magnitude = size;
}

/* All weights' accumulators of one group, from one row of dy. */
static void row_sum(const FilterOracle *o, int n, int p, const double *row, double *sum,
                    double *magnitude)
{
    const ConvProblem *v = &o->v;
    size_t weight = 0;
    for (int c = 0; c < v->C; c++)
        for (int r = 0; r < v->R; r++) {
            long long h = p * (long long)v->stride_h + r - v->pad_top;
            int inside = h >= 0 && h < v->H;
            const float *x =
                o->x + (((size_t)n * v->C + c) * v->H + (size_t)(inside ? h : 0)) * v->W;
            for (int s = 0; s < v->S && inside; s++)
                row_add(v, row, x, s - v->pad_left, sum + (weight + s) * LANES,
                        magnitude + (weight + s) * LANES);
            weight += (size_t)v->S;
        }
}

static void piece_share(void *context, int share)
{
    const FilterOracle *o = context;
    const ConvProblem *v = &o->v;
    double *row = o->row + (size_t)share * (size_t)v->Q * LANES;
    for (int piece = share; piece < o->groups * o->parts; piece += o->shares) {
        const int part = piece % o->parts;
        double *sum = piece_sums(o, piece), *magnitude = sum + o->weights * LANES;
        memset(sum, 0, 2 * o->weights * LANES * sizeof *sum);
        for (int n = v->N * part / o->parts; n < v->N * (part + 1) / o->parts; n++)
            for (int p = 0; p < v->P; p++) {
                row_widen(o, n, p, piece / o->parts, row);
                row_sum(o, n, p, row, sum, magnitude);
            }
    }
}

/* Adds a group's parts, and stores the results that the caller wants. */
static void group_finish(const FilterOracle *o, int group)
{
    const ConvProblem *v = &o->v;
    const size_t weights = o->weights, taps = (size_t)v->R * v->S;
    double *sum = piece_sums(o, group * o->parts), *magnitude = sum + weights * LANES;
    for (int part = 1; part < o->parts; part++) {
        const double *more = piece_sums(o, group * o->parts + part);
        for (size_t i = 0; i < 2 * weights * LANES; i++)
            sum[i] += more[i];
    }
    for (size_t i = 0; i < weights; i++) {
        int r = (int)(i % taps) / v->S, s = (int)(i % taps) % v->S;
        double terms = (double)v->N * outputs_inside(v->P, v->stride_h, r - v->pad_top, v->H) *
                       outputs_inside(v->Q, v->stride_w, s - v->pad_left, v->W);
        for (int lane = 0; lane < LANES && group * LANES + lane < v->K; lane++) {
            size_t at = (size_t)(group * LANES + lane) * weights + i;
            o->all[0][at] = sum[i * LANES + lane];
            o->all[1][at] = magnitude[i * LANES + lane];
            o->all[2][at] = terms;
        }
    }
}

static void finish_share(void *context, int share)
{
    const FilterOracle *o = context;
    for (int group = share; group < o->groups; group += o->shares)
        group_finish(o, group);
}

static void filter_oracle(const Problem *problem, const float *const *tensor, double *expected,
                          double *magnitude, double *terms)
{
    double *const all[] = {expected, magnitude, terms};
    FilterOracle o = {
        .v = conv_unpack(problem), .x = tensor[TENSOR_X], .dy = tensor[TENSOR_DY], .all = all};
    const ConvProblem *v = &o.v;
    o.weights = (size_t)v->C * v->R * v->S;
    o.groups = (v->K + LANES - 1) / LANES;
    o.parts = o.groups < PIECES ? PIECES / o.groups : 1;
    if (o.parts > v->N) o.parts = v->N;
    o.shares = parallel_shares(conv_macs(v), 2e6);
    if (o.shares > o.groups * o.parts) o.shares = o.groups * o.parts;
    const size_t rows = (size_t)o.shares * (size_t)v->Q * LANES;
    const size_t sums = (size_t)(o.groups * o.parts) * 2 * o.weights * LANES;
    o.row = malloc((rows + sums) * sizeof *o.row);
    o.sums = o.row ? o.row + rows : NULL;
    if (o.row) {
        parallel_run(o.shares, piece_share, &o);
        parallel_run(o.shares, finish_share, &o);
    } else { /* no memory for the fast method */
        for (size_t i = 0; i < (size_t)v->K * o.weights; i++) {
            double value[3];
            filter_oracle_element(problem, tensor, i, value);
            for (int j = 0; j < 3; j++)
                all[j][i] = value[j];
        }
    }
    free(o.row);
}

/* ---- the operation ----------------------------------------------------------------------- */

extern const Operation conv_backward_filter_operation;

static double filter_least_bytes(const Problem *problem)
{
    return conv_backward_least_bytes(&conv_backward_filter_operation, problem);
}

static void filter_generate(const Problem *problem, Random *random, float *const *tensor)
{
    conv_backward_generate(&conv_backward_filter_operation, problem, random, tensor);
}

static void filter_explain(const struct Judgement *judged, ProbeRun run, void *context,
                           struct Finding *finding)
{
    conv_backward_explain(1, judged, run, context, finding);
}

const Operation conv_backward_filter_operation = {
    .name = "conv_backward_filter",
    .example = "N=2 C=3 H=13 W=11 K=5 R=3 S=3 pad=1 stride=1",
    .parse = conv_backward_parse,
    .print = conv_print,
    .draw = conv_backward_draw,
    .tensors = filter_tensors,
    .numbers = conv_numbers,
    .flops = conv_backward_flops,
    .least_bytes = filter_least_bytes,
    .generate = filter_generate,
    .oracle = filter_oracle,
    .oracle_element = filter_oracle_element,
    .has_products = 1,
    .explain = filter_explain};
