/* conv_oracle.c - expected output in fp64, fast enough to be computed for every graded run.
 *
 * One output row at a time: the C*R input rows for it are converted to double with their padding
 * and, for a stride, sorted into phases.  Then the innermost loop is "eight neighbouring outputs +=
 * eight neighbouring inputs times one tap" for every padding and stride. */
#include "common/operations/conv/conv_problem.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lanes.h"
#include "common/base/parallel.h"

typedef struct Oracle {
    ConvProblem conv;
    const float *x, *w;
    double *expected, *magnitude, *terms;
    size_t phases, phase_pitch, row_pitch; /* sizes of the converted rows, in doubles */
    size_t *offset;                        /* [S]: offset of tap s of output 0 in a row */
} Oracle;

/* All output rows n*P + p; each share has its own space for converted rows. */
typedef struct OracleRows {
    const Oracle *oracle;
    size_t rows, block; /* doubles of `space` per share */
    double *space;
    int shares;
} OracleRows;

/* The first tap inside the input, for taps that start at input `start`. */
static int first_inside(int start)
{
    return start < 0 ? -start : 0;
}

/* Number of the `taps` taps, starting at input `start`, that are inside 0..size-1. */
static int taps_inside(int start, int taps, int size)
{
    int low = first_inside(start);
    int high = size - start < taps ? size - start : taps;
    return high > low ? high - low : 0;
}

/* Converts the input row (n, c, h) into `row`, zero outside of x. */
static void widen_row(const Oracle *o, int n, int c, int h, double *row)
{
    const ConvProblem *conv = &o->conv;
    memset(row, 0, o->row_pitch * sizeof *row);
    if (h < 0 || h >= conv->H) return;
    const float *x = o->x + (((size_t)n * conv->C + c) * conv->H + h) * conv->W;
    for (size_t phase = 0; phase < o->phases; phase++)
        for (size_t i = 0; i < o->phase_pitch; i++) {
            long long w = (long long)i * conv->stride_w + (long long)phase - conv->pad_left;
            if (w >= conv->W) break;
            if (w >= 0) row[phase * o->phase_pitch + i] = x[w];
        }
}

/* Eight outputs from q on: the sums, and the sums of the terms' absolute values. */
WIDEST_VECTORS
static void sum_lanes(const Oracle *o, const double *rows, const float *w, Lanes *sum_out,
                      Lanes *magnitude_out)
{
    Lanes sum = {0}, magnitude = {0};
    const LaneBits no_sign = (LaneBits){0} + INT64_MAX;
    size_t input_rows = (size_t)o->conv.C * o->conv.R, taps = (size_t)o->conv.S;
    for (size_t i = 0; i < input_rows; i++, rows += o->row_pitch)
        for (size_t s = 0; s < taps; s++) {
            Lanes product = *(const Lanes *)(rows + o->offset[s]) * (double)*w++;
            sum += product;
            magnitude += (Lanes)((LaneBits)product & no_sign);
        }
    *sum_out = sum;
    *magnitude_out = magnitude;
}

static void oracle_row(const Oracle *o, int n, int p, double *rows)
{
    const ConvProblem *conv = &o->conv;
    int top = p * conv->stride_h - conv->pad_top;
    for (int c = 0; c < conv->C; c++)
        for (int r = 0; r < conv->R; r++)
            widen_row(o, n, c, top + r, rows + ((size_t)c * conv->R + r) * o->row_pitch);
    double across = (double)conv->C * taps_inside(top, conv->R, conv->H);
    for (int k = 0; k < conv->K; k++) {
        const float *w = o->w + (size_t)k * conv->C * conv->R * conv->S;
        size_t at = (((size_t)n * conv->K + k) * conv->P + p) * conv->Q;
        for (int q = 0; q < conv->Q; q += LANES) {
            Lanes sum, magnitude;
            sum_lanes(o, rows + q, w, &sum, &magnitude);
            for (int i = 0; i < LANES && q + i < conv->Q; i++) {
                int left = (q + i) * conv->stride_w - conv->pad_left;
                o->expected[at + q + i] = sum[i];
                o->magnitude[at + q + i] = magnitude[i];
                o->terms[at + q + i] = across * taps_inside(left, conv->S, conv->W);
            }
        }
    }
}

static void oracle_share(void *context, int share)
{
    const OracleRows *all = context;
    int P = all->oracle->conv.P;
    size_t last = all->rows * ((size_t)share + 1) / (size_t)all->shares;
    for (size_t i = all->rows * (size_t)share / (size_t)all->shares; i < last; i++)
        oracle_row(all->oracle, (int)(i / P), (int)(i % P), all->space + share * all->block);
}

/* One output of the convolution by definition: its sum, the sum of the terms' absolute values,
 * their number. */
static void oracle_point(const Oracle *o, int n, int k, int p, int q, double value[3])
{
    const ConvProblem *v = &o->conv;
    const int h = p * v->stride_h - v->pad_top, i = q * v->stride_w - v->pad_left;
    const int above = first_inside(h), below = above + taps_inside(h, v->R, v->H);
    const int left = first_inside(i), right = left + taps_inside(i, v->S, v->W);
    double sum = 0, absolute = 0;
    for (int c = 0; c < v->C; c++)
        for (int r = above; r < below; r++) {
            const ptrdiff_t row = (((ptrdiff_t)n * v->C + c) * v->H + h + r) * v->W + i;
            const float *w = o->w + (((size_t)k * v->C + c) * v->R + r) * v->S;
            for (int s = left; s < right; s++) {
                double product = (double)o->x[row + s] * w[s];
                sum += product;
                absolute += fabs(product);
            }
        }
    value[0] = sum;
    value[1] = absolute;
    value[2] = (double)v->C * (below - above) * (right - left);
}

/* The same for one element of the output, which may be pooled.  The error of a maximum is at most
 * the largest error of its arguments. */
static void oracle_element(const Oracle *o, size_t index, double most[3])
{
    const ConvProblem *v = &o->conv;
    int pool = v->pool ? v->pool : 1;
    size_t P = (size_t)(v->P / pool), Q = (size_t)(v->Q / pool), K = (size_t)v->K;
    int q = (int)(index % Q), p = (int)(index / Q % P);
    int k = (int)(index / (P * Q) % K), n = (int)(index / (P * Q * K));
    most[0] = -INFINITY, most[1] = most[2] = 0;
    for (int i = 0; i < pool * pool; i++) {
        double value[3];
        oracle_point(o, n, k, p * pool + i / pool, q * pool + i % pool, value);
        for (int j = 0; j < 3; j++)
            most[j] = fmax(most[j], value[j]);
    }
}

void conv_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                         double most[3])
{
    Oracle oracle = {.conv = conv_unpack(problem), .x = tensor[0], .w = tensor[1]};
    oracle_element(&oracle, index, most);
}

/* All elements one by one: for pooled outputs, or if there is no memory for converted rows. */
static void oracle_plain(const Oracle *o)
{
    const ConvProblem *v = &o->conv;
    int pool = v->pool ? v->pool : 1;
    size_t count = (size_t)v->N * v->K * (v->P / pool) * (v->Q / pool);
    for (size_t i = 0; i < count; i++) {
        double most[3];
        oracle_element(o, i, most);
        o->expected[i] = most[0];
        o->magnitude[i] = most[1];
        o->terms[i] = most[2];
    }
}

static void oracle_prepare(Oracle *o)
{
    const ConvProblem *conv = &o->conv;
    size_t stride = (size_t)conv->stride_w;
    o->phases = stride < (size_t)conv->S ? stride : (size_t)conv->S;
    o->phase_pitch = (size_t)conv->Q + (size_t)(conv->S - 1) / stride + LANES;
    o->row_pitch = o->phases * o->phase_pitch;
    for (size_t s = 0; s < (size_t)conv->S; s++)
        o->offset[s] = s % stride * o->phase_pitch + s / stride;
}

/* A thread needs at least a few million multiply-adds. */
static int shares_of(const ConvProblem *conv, size_t rows)
{
    int shares = parallel_shares(conv_macs(conv), 2e6);
    return rows < (size_t)shares ? (int)rows : shares;
}

void conv_oracle(const Problem *problem, const float *const *tensor, double *expected,
                 double *magnitude, double *terms)
{
    Oracle oracle = {.conv = conv_unpack(problem),
                     .x = tensor[0],
                     .w = tensor[1],
                     .expected = expected,
                     .magnitude = magnitude,
                     .terms = terms};
    const ConvProblem *conv = &oracle.conv;
    size_t rows = (size_t)conv->N * conv->P;
    if (conv->pool) {
        oracle_plain(&oracle);
        return;
    }
    int shares = shares_of(conv, rows);
    oracle.offset = malloc((size_t)conv->S * sizeof *oracle.offset);
    size_t block = 0;
    if (oracle.offset) {
        oracle_prepare(&oracle);
        block = oracle.row_pitch * conv->C * conv->R;
    }
    double *space = oracle.offset ? malloc(shares * block * sizeof *space) : NULL;
    if (!space) {
        oracle_plain(&oracle);
    } else {
        OracleRows all = {&oracle, rows, block, space, shares};
        parallel_run(shares, oracle_share, &all);
    }
    free(space);
    free(oracle.offset);
}
