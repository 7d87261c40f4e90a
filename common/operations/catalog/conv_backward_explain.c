/* conv_backward_explain.c - diagnosis of a wrong gradient, as a sentence that names the mistake.
 *
 * A gradient is a sum over rows: (k, r, s) of dy*w for dx, (n, p, q) of dy*x for dw.  A slip
 * changes the index arithmetic of that sum by one common mistake; a slip that predicts every
 * sampled output within the bound is the submission's mistake.  Incomplete sums are tried next,
 * then the positions of the wrong outputs. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/value_pattern.h"
#include "common/operations/catalog/conv_backward.h"

enum { SLIPS = 128, WRONG_ONES = 24, RIGHT_ONES = 16, EVIDENCE_BITS = 16 };

/* Index arithmetic of a gradient; slip_right is the correct one. */
typedef struct Slip {
    Fault fault;
    long long stride_h, stride_w, top, left;
    int any_step;       /* Boolean, dx: h + top - r need not be a multiple of the stride */
    int past_h, past_w; /* Booleans: rows, columns beyond the edges are read from adjacent memory */
    int turn_r, turn_s; /* Booleans: flipped taps; dx: the filter's, dw: dw's own */
    long long dy_n, dy_k, dy_p, dy_q; /* strides in elements in dy */
    long long in_0, in_1, in_2, in_3; /* strides in elements in the other input: w's k, c, r, s; x's
                                       * n, c, h, w */
    long long dy_base, in_base;       /* offsets of both */
    int low, high;                    /* range of the outermost axis of the sum: k, or n */
    int low_p, high_p, low_q, high_q; /* dw: range of dy's rows and columns */
    int low_r, high_r, low_s, high_s; /* dx: range of the taps */
    double scale;
    char order[5]; /* the axes of the output in memory order */
    char text[420];
} Slip;

typedef struct Backward {
    const Judgement *judged;
    ConvProblem v;
    int filter; /* Boolean: dw, not dx */
    const float *dy, *in;
    size_t rows; /* number of rows of every sum */
    double *product;
    size_t sample[WRONG_ONES + RIGHT_ONES];
    int wrong, right;
    Slip slip[SLIPS];
    int slips;
} Backward;

/* ---- values of a slip -------------------------------------------------------------------- */

static int extent_of(const ConvProblem *v, char axis)
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

/* The coordinates at `index` in this order; at[] has them in the correct order. */
static void place_of(const Backward *b, const Slip *slip, size_t index, int at[4])
{
    const char *right = b->filter ? "kcrs" : "nchw";
    for (int i = 3; i >= 0; i--) {
        size_t extent = (size_t)extent_of(&b->v, slip->order[i]);
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
                int tap_r = s->turn_r ? v->R - 1 - r : r, tap_s = s->turn_s ? v->S - 1 - t : t;
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
    int r = s->turn_r ? v->R - 1 - at[2] : at[2], t = s->turn_s ? v->S - 1 - at[3] : at[3];
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

/* Writes the terms of all rows of one output into b->`product`; 1 if some are outside of the
 * inputs. */
static int slip_terms(const Backward *b, const Slip *s, size_t index)
{
    int at[4], lost = 0;
    place_of(b, s, index, at);
    if (b->filter)
        filter_terms(b, s, at, b->product, &lost);
    else
        data_terms(b, s, at, b->product, &lost);
    return lost;
}

/* ---- comparison with the output ---------------------------------------------------------- */

/* Tolerance of an explanation: independent rounding errors of a long sum, which are far below the
 * error bound. */
static double nearness(const Judgement *j, double magnitude, double terms)
{
    return fmin(verdict_bound(j->precision, magnitude, terms),
                8 * UNIT_FP32 * sqrt(terms) * magnitude);
}

/* Compares the sum of b->`product`[from .. to-1] with the output.  Adds the improbability of a
 * coincidence to *evidence; 0 if they differ. */
static int sum_fits(const Backward *b, size_t index, size_t from, size_t to, double scale,
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
    double allowed = nearness(j, magnitude * fabs(scale), terms + 1);
    double own = nearness(j, j->magnitude[index], j->terms[index]);
    if (!(fabs(got - sum * scale) <= allowed)) return 0;
    if (j->mark[index] != MARK_RIGHT)
        *evidence += log2(fabs(got - j->expected[index]) / fmax(fmax(allowed, own), 1e-300));
    return 1;
}

static int slip_fits(const Backward *b, const Slip *s, int everywhere)
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

/* ---- list of slips ----------------------------------------------------------------------- */

static Slip slip_right(const Backward *b)
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

static Slip *slip_add(Backward *b, Fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static Slip *slip_add(Backward *b, Fault fault, const char *format, ...)
{
    if (b->slips == SLIPS) b->slips--; /* cannot happen: the lists below are shorter */
    Slip *s = &b->slip[b->slips++];
    *s = slip_right(b);
    s->fault = fault;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->text, sizeof s->text, format, arguments);
    va_end(arguments);
    return s;
}

/* The relation of pixel, tap and output, as text. */
static const char *window(const Backward *b)
{
    return b->filter ? "Gradient (p,q) is multiplied by the input at p*stride_h + r - pad_top, "
                       "q*stride_w + s "
                       "- pad_left through tap (r,s)."
                     : "The gradient of pixel (h,w) uses dy at (h + pad_top - r)/stride_h, (w + "
                       "pad_left - "
                       "s)/stride_w through tap (r,s), where these are whole.";
}

static void list_filters(Backward *b)
{
    const ConvProblem *v = &b->v;
    static const char *const along[] = {"", " along s", " along r", ""};
    for (int both = 3; both > 0; both--) {
        Slip *s = b->filter ? slip_add(b, FAULT_FLIPPED_FILTER,
                                       "dw is flipped%s. %s Both indices increase together: only "
                                       "dx uses a flipped filter.",
                                       along[both], window(b))
                            : slip_add(b, FAULT_FLIPPED_FILTER,
                                       "The filter is not flipped in dx%s. %s So if the index of "
                                       "dy increases, the index of the tap decreases.",
                                       along[both], window(b));
        s->turn_r = both >> 1;
        s->turn_s = both & 1;
    }
    if (b->filter) {
        Slip *s = slip_add(b, FAULT_TRANSPOSED_FILTER,
                           "dw's rows and columns are exchanged: tap (r,s) is stored at r*S + s.");
        strcpy(s->order, "kcsr");
        s = slip_add(b, FAULT_ONE_CHANNEL,
                     "dw is stored with its channels first: it is dw[((k*C + c)*R + r)*S + s], as "
                     "w is.");
        strcpy(s->order, "ckrs");
        return;
    }
    Slip *s = slip_add(
        b, FAULT_TRANSPOSED_FILTER,
        "The filter's rows and columns are exchanged: tap (r,s) is at r*S + s within its channel.");
    s->in_2 = 1, s->in_3 = v->R == v->S ? v->S : v->R;
    s = slip_add(b, FAULT_ONE_CHANNEL,
                 "The weights are read as if channels came first: filter k, channel c starts at "
                 "(k*C + c)*R*S of w, in the backward pass too.");
    s->in_0 = (long long)v->R * v->S, s->in_1 = (long long)v->K * v->R * v->S;
    s = slip_add(b, FAULT_ONE_CHANNEL,
                 "Every channel's dx is calculated with channel 0 of the filters: the index into w "
                 "lacks c*R*S.");
    s->in_1 = 0;
    s = slip_add(b, FAULT_ONE_FILTER,
                 "All maps are multiplied with filter k = 0: the index into w lacks k*C*R*S.");
    s->in_0 = 0;
}

static void slip_shift(Backward *b, int down, int right, int turned)
{
    const ConvProblem *v = &b->v;
    const char *why = "";
    int forward =
        !b->filter && down == v->R - 1 - 2 * v->pad_top && right == v->S - 1 - 2 * v->pad_left;
    if (!down && !right && !turned) return;
    if (forward)
        why = " That is the padding of the forward pass, used in the backward pass: a flipped "
              "filter of R taps needs R - 1 - pad_top zeros above dy.";
    else if (down == -v->pad_top && right == -v->pad_left)
        why = " That is as if there were no padding.";
    else if (down == v->pad_bottom - v->pad_top && right == v->pad_right - v->pad_left)
        why = " That is as if pad_bottom and pad_right were used for pad_top and pad_left.";
    else if (down == v->pad_left - v->pad_top && right == v->pad_top - v->pad_left)
        why = " That is as if pad_top and pad_left were exchanged.";
    Slip *s =
        slip_add(b, turned ? FAULT_FLIPPED_FILTER : FAULT_HALO,
                 "%sThe window is shifted by %+d row%s and %+d column%s of %s.%s %s",
                 turned ? "The filter is not flipped, and in addition: " : "",
                 b->filter ? -down : down, abs(down) == 1 ? "" : "s", b->filter ? -right : right,
                 abs(right) == 1 ? "" : "s", b->filter ? "x" : "dy", why, window(b));
    s->top += down;
    s->left += right;
    s->turn_r = s->turn_s = turned;
}

/* dx's window as in the forward pass, along one axis: h - pad_top + r. */
static void slip_forward(Backward *b, char axis)
{
    const ConvProblem *v = &b->v;
    int down = axis == 'r';
    Slip *s = slip_add(b, FAULT_FLIPPED_FILTER,
                       "dy is read with increasing %c and with the padding of the forward pass, as "
                       "x is there. In the backward pass it is %s.",
                       axis, down ? "h + pad_top - r" : "w + pad_left - s");
    if (down) {
        s->top = v->R - 1 - v->pad_top;
        s->turn_r = 1;
    } else {
        s->left = v->S - 1 - v->pad_left;
        s->turn_s = 1;
    }
}

static void list_shifts(Backward *b)
{
    const ConvProblem *v = &b->v;
    if (!b->filter) {
        int down = v->R - 1 - 2 * v->pad_top, right = v->S - 1 - 2 * v->pad_left;
        slip_shift(b, down, right, 0);
        slip_shift(b, down, right, 1);
        slip_forward(b, 'r');
        slip_forward(b, 's');
    }
    slip_shift(b, -v->pad_top, -v->pad_left, 0);
    slip_shift(b, v->pad_bottom - v->pad_top, v->pad_right - v->pad_left, 0);
    slip_shift(b, v->pad_left - v->pad_top, v->pad_top - v->pad_left, 0);
    for (int down = -2; down <= 2; down++)
        for (int right = -2; right <= 2; right++)
            slip_shift(b, down, right, 0);
    for (int down = -1; down <= 1 && !b->filter; down++) /* whole gradients */
        for (int right = -1; right <= 1; right++)
            if (v->stride_h > 2 || v->stride_w > 2)
                slip_shift(b, down * v->stride_h, right * v->stride_w, 0);
}

static void list_strides(Backward *b)
{
    const ConvProblem *v = &b->v;
    if (v->stride_h == 1 && v->stride_w == 1) return;
    Slip *s =
        slip_add(b, FAULT_STRIDE, "The stride is left out (1 is used both ways). %s", window(b));
    s->stride_h = s->stride_w = 1;
    s = slip_add(b, FAULT_STRIDE, "stride_h and stride_w are exchanged. %s", window(b));
    s->stride_h = v->stride_w, s->stride_w = v->stride_h;
    s = slip_add(b, FAULT_STRIDE, "stride_h is used for the columns, too. %s", window(b));
    s->stride_w = v->stride_h;
    s = slip_add(b, FAULT_STRIDE, "stride_w is used for the rows, too. %s", window(b));
    s->stride_h = v->stride_w;
    if (b->filter) return;
    s = slip_add(b, FAULT_STRIDE,
                 "Pixels use taps that do not belong to them: h + pad_top - r must be a multiple "
                 "of stride_h, w + pad_left - s of stride_w, or there is no such gradient.");
    s->any_step = 1;
}

static void list_images(Backward *b)
{
    const ConvProblem *v = &b->v;
    if (v->N == 1) return;
    Slip *s = slip_add(b, FAULT_ONE_IMAGE,
                       "It is calculated from the gradient of another image: dy is read at n = 0 "
                       "for every n. The index into dy lacks n*K*P*Q.");
    s->dy_n = 0;
    if (!b->filter) return;
    s = slip_add(b, FAULT_ONE_IMAGE,
                 "The gradient of one image is multiplied by the input of another: x is read at n "
                 "= 0 for every n. The index into x lacks n*C*H*W.");
    s->in_0 = 0;
    static const char plain[] = "dw is the sum over the batch: it includes every image.";
    const struct {
        int low, high;
        const char *what;
    } part[] = {{0, 1, "only image 0 is in it"},
                {v->N - 1, v->N, "only the last image is in it"},
                {0, v->N - 1, "the last image is missing"},
                {1, v->N, "image 0 is missing"}};
    for (int i = 0; i < 4; i++) {
        s = slip_add(b, FAULT_ONE_IMAGE, "The sum over the batch is missing or incomplete: %s. %s",
                     part[i].what, plain);
        s->low = part[i].low, s->high = part[i].high;
    }
}

static void list_ends(Backward *b)
{
    static const char missing[] = "The sum is incomplete: %s.";
    Slip *s;
    if (b->filter) {
        s = slip_add(b, FAULT_PADDING_EDGE, missing, "the last row of dy is missing (p < P-1)");
        s->high_p--;
        s = slip_add(b, FAULT_PADDING_EDGE, missing, "the last column of dy is missing (q < Q-1)");
        s->high_q--;
        s = slip_add(b, FAULT_PADDING_EDGE, missing, "row 0 of dy is missing");
        s->low_p++;
        s = slip_add(b, FAULT_PADDING_EDGE, missing, "column 0 of dy is missing");
        s->low_q++;
        return;
    }
    s = slip_add(b, FAULT_ONE_FILTER, missing,
                 "the last map of dy is missing; dx sums over all k of 0 .. K-1");
    s->high--;
    s = slip_add(b, FAULT_ONE_FILTER, missing,
                 "map 0 of dy is missing; dx sums over all k of 0 .. K-1");
    s->low++;
    s = slip_add(b, FAULT_ONE_FILTER, missing,
                 "only map 0 of dy is in it; dx sums over all k of 0 .. K-1");
    s->high = 1;
    s = slip_add(b, FAULT_TAP_DROPPED, missing, "the filter's last row is missing (r = R-1)");
    s->high_r--;
    s = slip_add(b, FAULT_TAP_DROPPED, missing, "the filter's last column is missing (s = S-1)");
    s->high_s--;
    s = slip_add(b, FAULT_TAP_DROPPED, missing, "the filter's row 0 is missing");
    s->low_r++;
    s = slip_add(b, FAULT_TAP_DROPPED, missing, "the filter's column 0 is missing");
    s->low_s++;
}

static void list_edges(Backward *b)
{
    const char *rows = b->filter ? "0 <= h < H" : "0 <= p < P";
    const char *columns = b->filter ? "0 <= w < W" : "0 <= q < Q";
    for (int which = 1; which <= 3; which++) {
        Slip *s = slip_add(b, FAULT_PADDING_EDGE,
                           "Values outside of %s are read although they count as zero, so other "
                           "rows or maps are included. Test %s%s%s first.",
                           b->filter ? "x" : "dy", which & 1 ? columns : "",
                           which == 3 ? " and " : "", which & 2 ? rows : "");
        s->past_w = which & 1;
        s->past_h = which >> 1;
    }
}

static void list_scales(Backward *b)
{
    const ConvProblem *v = &b->v;
    static const char once[] = "If the loss is a mean, dy contains the factor already, and the "
                               "backward pass does not divide.";
    const struct {
        double by;
        const char *text;
    } scale[] = {{1.0 / v->N, "The mean is divided by N twice: everything is 1/N of what it should "
                              "be."},
                 {1.0 / ((double)v->N * v->P * v->Q), "Everything is divided by N*P*Q."},
                 {1.0 / ((double)v->P * v->Q), "Everything is divided by P*Q."},
                 {1.0 / v->K, "Everything is divided by K."},
                 {v->N, "Everything is N times what it should be."},
                 {-1, "The sign is wrong: this is the gradient, not the step against it."}};
    for (int i = 0; i < 6; i++) {
        if (scale[i].by == 1) continue;
        Slip *s = slip_add(b, FAULT_FORMULA, "%s %s", scale[i].text, i < 5 ? once : "");
        s->scale = scale[i].by;
    }
    Slip *s = slip_add(b, FAULT_ACCUMULATED,
                       "Every gradient is twice what it should be: possibly the sum is calculated "
                       "twice, or added to memory that contains it already.");
    s->scale = 2;
}

static void list_inputs(Backward *b)
{
    const ConvProblem *v = &b->v;
    Slip *s = slip_add(b, FAULT_EVERYWHERE,
                       "The rows of dy are read with a pitch of W elements; the pitch is Q: "
                       "dy[((n*K + k)*P + p)*Q + q].");
    s->dy_p = v->W;
    s = slip_add(b, FAULT_EVERYWHERE,
                 "dy is read as if it had the sides of x: it is N*K*P*Q, dy[((n*K + k)*P + p)*Q + "
                 "q].");
    s->dy_p = v->W, s->dy_k = (long long)v->H * v->W, s->dy_n = v->K * s->dy_k;
    s = slip_add(b, FAULT_ONE_FILTER,
                 "Map 0 of dy stands for every map: the index into dy lacks k*P*Q.");
    s->dy_k = 0;
    s = slip_add(b, FAULT_ONE_IMAGE,
                 "It is calculated from the gradient of another image: dy's images are taken C*P*Q "
                 "apart; they lie K*P*Q apart.");
    s->dy_n = (long long)v->C * v->P * v->Q;
    s = slip_add(
        b, FAULT_ONE_IMAGE,
        "dy's images are taken P*Q apart; they lie K*P*Q apart: the index into dy lacks K.");
    s->dy_n = (long long)v->P * v->Q;
    if (!b->filter) return;
    s = slip_add(b, FAULT_ONE_CHANNEL,
                 "Every channel's dw is made from channel 0 of x: the index lacks c*H*W.");
    s->in_1 = 0;
    s = slip_add(b, FAULT_ONE_IMAGE,
                 "The gradient of one image is multiplied by the input of another: x's images are "
                 "taken K*H*W apart; they lie C*H*W apart.");
    s->in_0 = (long long)v->K * v->H * v->W;
    s = slip_add(b, FAULT_ONE_IMAGE,
                 "x's images are taken H*W apart; they lie C*H*W apart: the index into x lacks C.");
    s->in_0 = (long long)v->H * v->W;
}

static int find_slip(Backward *b, int everywhere, Finding *finding)
{
    for (int i = 0; i < b->slips; i++) {
        if (!slip_fits(b, &b->slip[i], everywhere)) continue;
        finding->fault = b->slip[i].fault;
        finding_say(finding, "%s", b->slip[i].text);
        return 1;
    }
    return 0;
}

/* ---- incomplete sums --------------------------------------------------------------------- */

static int cut_fits(Backward *b, const Slip *right, size_t from, size_t to)
{
    double evidence = 0;
    for (int i = 0; i < b->wrong + b->right; i++) {
        slip_terms(b, right, b->sample[i]);
        if (!sum_fits(b, b->sample[i], from, to, 1, &evidence)) return 0;
    }
    return evidence >= EVIDENCE_BITS;
}

/* The sum ends after `to` rows, or starts at row `from`: found in one wrong output, then compared
 * with all samples. */
static int find_cut(Backward *b, Finding *finding)
{
    enum { TRIES = 64 };
    Slip right = slip_right(b);
    size_t index = b->sample[0], tried = 0;
    double got = b->judged->view.output[index], all = b->judged->expected[index], sum = 0;
    double near = nearness(b->judged, b->judged->magnitude[index], b->judged->terms[index]);
    for (size_t i = 0; i < b->rows && tried < TRIES; i++) {
        slip_terms(b, &right, index);
        int ends = fabs(got - sum) <= near;
        int begins = fabs(got - (all - sum)) <= near;
        sum += b->product[i];
        for (int late = 0; late < 2; late++) {
            if (!(late ? begins : ends)) continue;
            tried++;
            if (!cut_fits(b, &right, late ? i : 0, late ? b->rows : i)) continue;
            finding->fault = b->filter ? FAULT_ONE_IMAGE : FAULT_ONE_FILTER;
            finding_say(finding,
                        late ? "The sum lacks its first %zu of %zu rows (%s)."
                             : "The sum ends after %zu of %zu rows (%s).",
                        i, b->rows, b->filter ? "n, p, q" : "k, r, s");
            finding_say(finding, "Check each slice's first and last row, that all slices are "
                                 "added, and that the last, shorter tile is included.");
            return 1;
        }
    }
    return 0;
}

/* ---- positions --------------------------------------------------------------------------- */

/* The fault of an output axis if only some of its coordinates are wrong. */
static Fault fault_of(const Backward *b, int axis, int first, int last, int extent)
{
    static const Fault of_dw[] = {FAULT_ONE_FILTER, FAULT_ONE_CHANNEL, FAULT_TAP_DROPPED,
                                  FAULT_TAP_DROPPED};
    if (b->filter) return of_dw[axis];
    if (axis < 2) return axis ? FAULT_ONE_CHANNEL : FAULT_ONE_IMAGE;
    if (first > 0 && last == extent - 1) return FAULT_LAST_BLOCK;
    return FAULT_PADDING_EDGE;
}

/* Whether all outputs at some coordinates of one axis are wrong, and no others; names the
 * coordinates. */
static int find_axis(const Backward *b, int axis, Finding *finding)
{
    const Judgement *j = b->judged;
    const char *letters = b->filter ? "kcrs" : "nchw";
    int extent = extent_of(&b->v, letters[axis]), first = -1, last = -1, bad = 0;
    size_t *wrong = calloc(2 * (size_t)extent, sizeof *wrong), *all = wrong + extent;
    Slip right = slip_right(b);
    for (size_t i = 0; wrong && i < j->verdict.total; i++) {
        int at[4];
        if (j->terms[i] == 0 && j->mark[i] == MARK_RIGHT)
            continue; /* correct without any
                                                                        * work */
        place_of(b, &right, i, at);
        all[at[axis]]++;
        wrong[at[axis]] += j->mark[i] != MARK_RIGHT;
    }
    int whole = wrong != NULL, touched = 0, phased = 1;
    int step = b->filter || axis < 2 ? 1 : axis == 2 ? b->v.stride_h : b->v.stride_w;
    for (int i = 0; whole && i < extent; i++) {
        touched += all[i] > 0;
        if (!wrong[i]) continue;
        if (wrong[i] * 4 < all[i]) whole = 0;
        if (first < 0) first = i;
        phased &= (i - first) % step == 0;
        last = i;
        bad++;
    }
    free(wrong);
    if (!whole || bad == touched || bad == 0) return 0;
    phased &= last > first;
    finding->fault = fault_of(b, axis, first, last, extent);
    if (step > 1 && phased) {
        finding->fault = FAULT_STRIDE;
        finding_say(finding,
                    "The only wrong outputs have %c = %d, %d, ...: one phase of the stride, whose "
                    "pixels use different taps.",
                    letters[axis], first, first + step);
        return 1;
    }
    if (bad == last - first + 1)
        finding_say(finding, "The only wrong outputs have %c = %d%s%.0d of 0 .. %d.", letters[axis],
                    first, last > first ? " .. " : "", last > first ? last : 0, extent - 1);
    else
        finding_say(finding, "Only %d of the %d values of %c are wrong, the first %d, the last %d.",
                    bad, extent, letters[axis], first, last);
    return 1;
}

/* Only pixels that no window covers, whose gradient is 0. */
static int find_untouched(const Backward *b, Finding *finding)
{
    const Judgement *j = b->judged;
    size_t untouched = 0;
    for (size_t i = 0; i < j->verdict.total; i++) {
        if (j->mark[i] == MARK_RIGHT) continue;
        if (j->terms[i] > 0) return 0;
        untouched++;
    }
    if (b->filter || !untouched) return 0;
    finding->fault = j->count[MARK_POISON] ? FAULT_UNWRITTEN : FAULT_STRIDE;
    finding_say(finding,
                "%zu pixels that no window covers %s. Their gradient is 0 and must be stored like "
                "any other.",
                untouched, j->count[MARK_POISON] ? "were never written" : "have a gradient");
    return 1;
}

enum { PERIODS = 8 };

/* Pixels (h, w) by h % period and w % period: their number, and the number of wrong ones. */
typedef struct Cells {
    size_t all[PERIODS][PERIODS], wrong[PERIODS][PERIODS];
} Cells;

static Cells cells_count(const Backward *b, int period)
{
    const Judgement *j = b->judged;
    Cells cells = {{{0}}, {{0}}};
    Slip right = slip_right(b);
    for (size_t i = 0; i < j->verdict.total; i++) {
        int at[4];
        place_of(b, &right, i, at);
        cells.all[at[2] % period][at[3] % period]++;
        cells.wrong[at[2] % period][at[3] % period] += j->mark[i] != MARK_RIGHT;
    }
    return cells;
}

/* Whether each cell is completely wrong or correct, except for coincidences. */
static int cells_are_whole(const Cells *cells, int period)
{
    int wrong = 0, right = 0;
    for (int i = 0; i < period * period; i++) {
        size_t all = cells->all[i / period][i % period], bad = cells->wrong[i / period][i % period];
        if (bad && bad * 4 < all * 3) return 0;
        wrong += bad > 0;
        right += all && !bad;
    }
    return wrong && right;
}

/* dx at stride 1: the wrong pixels have a period of 2 to 8 rows and columns, like the outputs of a
 * thread or a tile. */
static int find_period(const Backward *b, Finding *finding)
{
    const ConvProblem *v = &b->v;
    if (b->filter || v->stride_h > 1 || v->stride_w > 1) return 0;
    for (int period = 2; period <= PERIODS && 2 * period <= v->H && 2 * period <= v->W; period++) {
        Cells cells = cells_count(b, period);
        if (!cells_are_whole(&cells, period)) continue;
        char rows[32] = "";
        int listed = 0;
        for (int h = 0; h < period; h++) {
            int whole = 1;
            for (int w = 0; w < period; w++)
                whole &= !cells.all[h][w] || cells.wrong[h][w];
            if (whole)
                snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%s%d",
                         listed++ ? ", " : "", h);
        }
        finding->fault = FAULT_TILE_EDGE;
        finding_say(finding, "The wrong pixels repeat every %d rows and columns%s%s%s.", period,
                    listed ? ": rows " : "", rows,
                    listed ? " of each are wrong throughout, and so are the columns" : "");
        finding_say(finding, "The code that computes %d of them at a time is wrong.", period);
        return 1;
    }
    return 0;
}

static int find_place(const Backward *b, Finding *finding)
{
    for (int axis = 0; axis < 4; axis++)
        if (find_axis(b, axis, finding)) return 1;
    return find_period(b, finding);
}

/* ---- the same problem at stride 1 -------------------------------------------------------- */

/* Runs the submission on a problem with the same dy, filters and padding, and strides of 1. 1 if it
 * is correct there. */
static int right_without_steps(const Backward *b, ProbeRun run, void *context)
{
    const Operation *operation = b->judged->operation;
    ConvProblem v = b->v;
    Problem problem;
    Random random;
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS] = {0};
    v.stride_h = v.stride_w = 1;
    v.H = v.P - 1 + v.R - v.pad_top - v.pad_bottom;
    v.W = v.Q - 1 + v.S - v.pad_left - v.pad_right;
    if (!run || v.H < 1 || v.W < 1) return 0;
    conv_pack(&v, &problem);
    int count = operation->tensors(&problem, shape), right = 1;
    for (int i = 0; i < count; i++)
        right &= (tensor[i] = calloc(tensor_count(&shape[i]), sizeof(float))) != NULL;
    if (right) {
        random_seed(&random, 1);
        operation->generate(&problem, &random, tensor);
        right = !run(context, &problem, (const float *const *)tensor, tensor[count - 1]);
    }
    for (size_t i = 0; right && i < tensor_count(&shape[count - 1]); i++) {
        double value[3];
        operation->oracle_element(&problem, (const float *const *)tensor, i, value);
        right = fabs(tensor[count - 1][i] - value[0]) <=
                verdict_bound(b->judged->precision, value[1], value[2]);
    }
    for (int i = 0; i < count; i++)
        free(tensor[i]);
    return right;
}

static int find_steps(const Backward *b, ProbeRun run, void *context, Finding *finding)
{
    if (b->v.stride_h == 1 && b->v.stride_w == 1) return 0;
    if (!right_without_steps(b, run, context)) return 0;
    finding->fault = FAULT_STRIDE;
    finding_say(finding, "With strides of 1 and the same filters and padding it is correct. %s",
                window(b));
    return 1;
}

/* ---- entry point ------------------------------------------------------------------------- */

/* Samples spread over all wrong and over all correct outputs. */
static void samples_take(Backward *b)
{
    const Judgement *j = b->judged;
    size_t wrong = j->verdict.total - j->count[MARK_RIGHT], right = j->count[MARK_RIGHT];
    size_t wrong_seen = 0, right_seen = 0;
    size_t wrong_step = wrong / WRONG_ONES + 1, right_step = right / RIGHT_ONES + 1;
    size_t wrongs[WRONG_ONES], rights[RIGHT_ONES];
    for (size_t i = 0; i < j->verdict.total; i++)
        if (j->mark[i] == MARK_WRONG && wrong_seen++ % wrong_step == 0 && b->wrong < WRONG_ONES)
            wrongs[b->wrong++] = i;
        else if (j->mark[i] == MARK_RIGHT && right_seen++ % right_step == 0 &&
                 b->right < RIGHT_ONES)
            rights[b->right++] = i;
    memcpy(b->sample, wrongs, (size_t)b->wrong * sizeof *wrongs);
    memcpy(b->sample + b->wrong, rights, (size_t)b->right * sizeof *rights);
}

static int find_zeros(const Backward *b, Finding *finding)
{
    for (size_t i = 0; i < b->judged->verdict.total; i++)
        if (b->judged->view.output[i] != 0) return 0;
    finding->fault = FAULT_EVERYWHERE;
    finding_say(finding,
                "Every gradient is 0. The store is executed, but not with the sum: check that the "
                "loop runs, and that every term is added to the stored value.");
    return 1;
}

static void find_explanation(Backward *b, ProbeRun run, void *context, Finding *finding)
{
    const Judgement *j = b->judged;
    Finding where = {0};
    if (find_written_outside(j, finding)) return;
    if ((j->count[MARK_POISON] || j->count[MARK_NAN] == j->verdict.total) &&
        find_accumulated(j, run, context, finding))
        return;
    if (find_untouched(b, finding)) return;
    find_place(b, &where);
    if (find_unwritten(j, where.text, finding)) return;
    if (!j->faint && b->wrong && !j->count[MARK_NAN] &&
        (find_zeros(b, finding) || find_slip(b, 1, finding) || find_cut(b, finding)))
        return;
    if (find_race(j, run, context, finding) || find_nan(j, where.text, finding) ||
        find_small_errors(j, finding))
        return;
    if (!where.fault && find_steps(b, run, context, finding)) return;
    *finding = where;
    if (!where.fault) finding->fault = FAULT_EVERYWHERE;
    Finding inside = {0};
    if (b->wrong &&
        (find_integers(j, &inside) || find_factor(j, &inside) || find_permuted(j, &inside))) {
        if (!where.fault) finding->fault = inside.fault;
        finding_say(finding, "%s", inside.text);
    } else if (b->wrong && j->count[MARK_RIGHT] && find_slip(b, 0, &inside)) {
        if (!where.fault) finding->fault = inside.fault;
        finding_say(finding, "In those outputs: %s", inside.text);
    } else if (!where.fault) {
        finding_say(finding,
                    "%s Calculate the first one by hand on the smallest case, and print the "
                    "indices that your code uses for it.",
                    window(b));
    }
}

void conv_backward_explain(int filter, const Judgement *judged, ProbeRun run, void *context,
                           Finding *finding)
{
    Backward *b = calloc(1, sizeof *b);
    if (!b) return;
    b->judged = judged;
    b->v = conv_unpack(&judged->view.problem);
    b->filter = filter;
    b->dy = judged->view.tensor[filter ? 1 : 0];
    b->in = judged->view.tensor[filter ? 0 : 1];
    b->rows = filter ? (size_t)b->v.N * b->v.P * b->v.Q : (size_t)b->v.K * b->v.R * b->v.S;
    b->product = malloc(b->rows * sizeof *b->product);
    if (b->product) {
        samples_take(b);
        list_filters(b);
        list_strides(b);
        list_images(b);
        list_scales(b);
        list_ends(b);
        list_inputs(b);
        list_edges(b);
        list_shifts(b);
        find_explanation(b, run, context, finding);
    }
    free(b->product);
    free(b);
}
