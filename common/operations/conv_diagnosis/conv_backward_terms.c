/* conv_backward_terms.c - the terms of a gradient's sums under a slip, and their comparison with
 * the submission's output. */
#include <math.h>
#include <string.h>

#include "common/operations/conv_diagnosis/conv_backward_slip.h"

/* ---- values of a slip -------------------------------------------------------------------- */

int conv_backward_extent(const ConvProblem *v, char axis)
{
    switch (axis) {
    case 'n':
        return v->N;
    case 'c':
        return v->C;
    case 'h':
        return v->H;
    case 'w':
        return v->W;
    case 'k':
        return v->K;
    case 'r':
        return v->R;
    default:
        return v->S;
    }
}

Slip slip_right(const Backward *b)
{
    const ConvProblem *v = &b->v;
    long long map = (long long)v->P * v->Q, taps = (long long)v->R * v->S;
    long long plane = (long long)v->H * v->W;
    Slip s = {.stride_h = v->stride_h,
              .stride_w = v->stride_w,
              .top = v->pad_top,
              .left = v->pad_left,
              .dy_n = v->K * map,
              .dy_k = map,
              .dy_p = v->Q,
              .dy_q = 1,
              .in_0 = v->C * (b->filter ? plane : taps),
              .in_1 = b->filter ? plane : taps,
              .in_2 = b->filter ? v->W : v->S,
              .in_3 = 1,
              .high = b->filter ? v->N : v->K,
              .high_p = v->P,
              .high_q = v->Q,
              .high_r = v->R,
              .high_s = v->S,
              .scale = 1};
    strcpy(s.order, b->filter ? "kcrs" : "nchw");
    return s;
}

void slip_place(const Backward *b, const Slip *slip, size_t index, int at[4])
{
    const char *right = b->filter ? "kcrs" : "nchw";
    for (int i = 3; i >= 0; i--) {
        size_t extent = (size_t)conv_backward_extent(&b->v, slip->order[i]);
        at[strchr(right, slip->order[i]) - right] = (int)(index % extent);
        index /= extent;
    }
}

/* One term; 0 if it is outside.  -1 in *lost: its address is outside of the inputs. */
static double product_at(const Backward *b, const Slip *s, long long dy_at, long long in_at,
                         int *lost)
{
    const ConvProblem *v = &b->v;
    long long dys = (long long)v->N * v->K * v->P * v->Q;
    long long ins =
        b->filter ? (long long)v->N * v->C * v->H * v->W : (long long)v->K * v->C * v->R * v->S;
    dy_at += s->dy_base, in_at += s->in_base;
    if (dy_at < 0 || dy_at >= dys || in_at < 0 || in_at >= ins) {
        *lost = 1;
        return 0;
    }
    return (double)b->dy[dy_at] * b->in[in_at];
}

/* The output that this slip combines with tap `tap` of pixel `from`; `outputs`: outside. */
static long long output_of_input(const Slip *s, long long from, int tap, long long stride,
                                 int outputs, int past)
{
    long long at = from - tap, none = (long long)outputs << 32;
    if (at % stride && !s->any_step) return none;
    at = at >= 0 ? at / stride : -((-at + stride - 1) / stride);
    return past || (at >= 0 && at < outputs) ? at : none;
}

static void data_terms(const Backward *b, const Slip *s, const int at[4], double *to, int *lost)
{
    const ConvProblem *v = &b->v;
    for (int k = 0; k < v->K; k++)
        for (int r = 0; r < v->R; r++)
            for (int t = 0; t < v->S; t++, to++) {
                long long p = output_of_input(s, at[2] + s->top, r, s->stride_h, v->P, s->past_h);
                long long q = output_of_input(s, at[3] + s->left, t, s->stride_w, v->Q, s->past_w);
                int tap_r = s->flip_r ? v->R - 1 - r : r, tap_s = s->flip_s ? v->S - 1 - t : t;
                *to = 0;
                if (k < s->low || k >= s->high || r < s->low_r || r >= s->high_r || t < s->low_s ||
                    t >= s->high_s || p > v->P * 2LL + v->H || q > v->Q * 2LL + v->W)
                    continue;
                *to = product_at(b, s, at[0] * s->dy_n + k * s->dy_k + p * s->dy_p + q * s->dy_q,
                                 k * s->in_0 + at[1] * s->in_1 + tap_r * s->in_2 + tap_s * s->in_3,
                                 lost);
            }
}

static void filter_terms(const Backward *b, const Slip *s, const int at[4], double *to, int *lost)
{
    const ConvProblem *v = &b->v;
    int r = s->flip_r ? v->R - 1 - at[2] : at[2], t = s->flip_s ? v->S - 1 - at[3] : at[3];
    for (int n = 0; n < v->N; n++)
        for (int p = 0; p < v->P; p++)
            for (int q = 0; q < v->Q; q++, to++) {
                long long h = p * s->stride_h + r - s->top, w = q * s->stride_w + t - s->left;
                *to = 0;
                if (n < s->low || n >= s->high || p < s->low_p || p >= s->high_p || q < s->low_q ||
                    q >= s->high_q)
                    continue;
                if (!s->past_h && (h < 0 || h >= v->H)) continue;
                if (!s->past_w && (w < 0 || w >= v->W)) continue;
                *to = product_at(b, s, n * s->dy_n + at[0] * s->dy_k + p * s->dy_p + q * s->dy_q,
                                 n * s->in_0 + at[1] * s->in_1 + h * s->in_2 + w * s->in_3, lost);
            }
}

int slip_terms(const Backward *b, const Slip *s, size_t index)
{
    int at[4], lost = 0;
    slip_place(b, s, index, at);
    if (b->filter)
        filter_terms(b, s, at, b->product, &lost);
    else
        data_terms(b, s, at, b->product, &lost);
    return lost;
}

/* ---- comparison with the output ---------------------------------------------------------- */

double sum_tolerance(const Judgement *j, double magnitude, double terms)
{
    return fmin(verdict_bound(j->precision, magnitude, terms),
                8 * UNIT_FP32 * sqrt(terms) * magnitude);
}

int sum_fits(const Backward *b, size_t index, size_t from, size_t to, double scale,
             double *evidence)
{
    const Judgement *j = b->judged;
    double sum = 0, magnitude = 0, terms = 0;
    for (size_t i = from; i < to; i++) {
        sum += b->product[i];
        magnitude += fabs(b->product[i]);
        terms += b->product[i] != 0;
    }
    double got = j->view.output[index];
    double allowed = sum_tolerance(j, magnitude * fabs(scale), terms + 1);
    double own = sum_tolerance(j, j->magnitude[index], j->terms[index]);
    if (!(fabs(got - sum * scale) <= allowed)) return 0;
    if (j->mark[index] != MARK_RIGHT)
        *evidence += log2(fabs(got - j->expected[index]) / fmax(fmax(allowed, own), 1e-300));
    return 1;
}

int slip_fits(const Backward *b, const Slip *s, int everywhere)
{
    int count = b->wrong + (everywhere ? b->right : 0), excused = 0;
    double evidence = 0;
    for (int i = 0; i < count; i++) {
        if (slip_terms(b, s, b->sample[i])) { /* the value there is unknown */
            if (++excused * 2 > b->wrong) return 0;
            continue;
        }
        if (!sum_fits(b, b->sample[i], 0, b->rows, s->scale, &evidence)) return 0;
    }
    return evidence >= EVIDENCE_BITS;
}
