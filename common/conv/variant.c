/* variant.c - convolutions that are wrong in one known way.
 *
 * Each variant is a set of index formulas; its outputs are worked out in fp64 for the sampled
 * outputs and compared with what the submission made.  A variant that predicts them all within the
 * bound is what the submission computes. */
#include "common/conv/diagnose.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS = 256 };

typedef enum Edge { EDGE_SKIP, EDGE_CLAMP, EDGE_WRAP, EDGE_REFLECT } Edge;
typedef enum Rounding { ROUND_NONE, ROUND_TF32, ROUND_TF32_CUT, ROUND_FP16, ROUND_BF16 } Rounding;

typedef struct Variant {
    Fault fault;
    int stride_h, stride_w, step_h, step_w; /* h = p*stride_h + r*step_h - top */
    int top, left;
    int low_h, high_h, low_w,
        high_w; /* taps outside of these are skipped; inside, memory is read as it lies */
    Edge edge;  /* what an h, w outside of the image is replaced by instead */
    int flip_r, flip_s;
    long long x_n, x_c, x_h, x_w, x_base; /* element steps into x */
    long long w_k, w_c, w_r, w_s;         /* element steps into w */
    char order[5];                        /* the axes of y, outermost first */
    Rounding rounding;
    double scale;
    char text[400];
} Variant;

typedef struct VariantList {
    const ConvProblem *conv;
    Variant *variant;
    int count;
} VariantList;

/* ---- the value that a variant gives
 * ----------------------------------------------------------------------------- */

/* Keeps `bits` bits of the significand, to nearest even or cut. */
static double round_bits(double value, int bits, int cut)
{
    int exponent;
    double significand = ldexp(frexp(value, &exponent), bits);
    return ldexp(cut ? trunc(significand) : nearbyint(significand), exponent - bits);
}

static double rounded(double value, Rounding rounding)
{
    switch (rounding) {
    case ROUND_TF32:
    case ROUND_FP16: /* the same 11 bits; random_wide stays inside of fp16's normal range */
        return round_bits(value, 11, 0);
    case ROUND_TF32_CUT:
        return round_bits(value, 11, 1);
    case ROUND_BF16:
        return round_bits(value, 8, 0);
    default:
        return value;
    }
}

/* Replaces a coordinate outside of 0..size-1 as `edge` says. */
static int edge_replace(Edge edge, int at, int size)
{
    if (at >= 0 && at < size) return at;
    if (edge == EDGE_CLAMP) return at < 0 ? 0 : size - 1;
    if (edge == EDGE_WRAP) return ((at % size) + size) % size;
    if (edge == EDGE_REFLECT && size > 1) {
        int period = 2 * (size - 1), phase = ((at % period) + period) % period;
        return phase < size ? phase : period - phase;
    }
    return at;
}

/* Which output a variant keeps at this place of y. */
static OutputAt variant_output(const ConvProblem *conv, const Variant *variant, size_t index)
{
    OutputAt at = {0};
    for (int i = 3; i >= 0; i--) {
        char axis = variant->order[i];
        int *value = axis == 'n' ? &at.n : axis == 'k' ? &at.k : axis == 'p' ? &at.p : &at.q;
        int extent = axis == 'n'   ? conv->N
                     : axis == 'k' ? conv->K
                     : axis == 'p' ? conv->P
                                   : conv->Q;
        *value = (int)(index % (size_t)extent);
        index /= (size_t)extent;
    }
    return at;
}

typedef struct Prediction {
    double value, magnitude, products;
    int outside; /* it reads outside of x or w: anything may come of that, NaN from the guard bands
                    most likely */
} Prediction;

static Prediction variant_predict(const Diagnosis *d, const Variant *v, size_t index)
{
    const ConvProblem *conv = &d->conv;
    Prediction sum = {0};
    OutputAt at = variant_output(conv, v, index);
    long long x_count = (long long)conv->N * conv->C * conv->H * conv->W;
    long long w_count = (long long)conv->K * conv->C * conv->R * conv->S;
    for (int r = 0; r < conv->R; r++)
        for (int s = 0; s < conv->S; s++) {
            int h = at.p * v->stride_h + r * v->step_h - v->top;
            int w = at.q * v->stride_w + s * v->step_w - v->left;
            h = edge_replace(v->edge, h, conv->H);
            w = edge_replace(v->edge, w, conv->W);
            if (h < v->low_h || h > v->high_h || w < v->low_w || w > v->high_w) continue;
            long long x_at = v->x_base + at.n * v->x_n + h * v->x_h + w * v->x_w;
            int tap_r = v->flip_r ? conv->R - 1 - r : r, tap_s = v->flip_s ? conv->S - 1 - s : s;
            long long w_at = at.k * v->w_k + tap_r * v->w_r + tap_s * v->w_s;
            for (int c = 0; c < conv->C; c++, x_at += v->x_c, w_at += v->w_c) {
                if (x_at < 0 || x_at >= x_count || w_at < 0 || w_at >= w_count) {
                    sum.outside = 1;
                    return sum;
                }
                double product = rounded(d->tensor[0][x_at], v->rounding) *
                                 rounded(d->tensor[1][w_at], v->rounding) * v->scale;
                sum.value += product;
                sum.magnitude += fabs(product);
                sum.products++;
            }
        }
    return sum;
}

/* Does the variant predict every sample?  The evidence is how much of a coincidence that would be
 * otherwise. */
static int variant_fits(const Diagnosis *d, const Variant *v, int everywhere)
{
    const Samples *samples = &d->samples;
    int count = samples->wrong + (everywhere ? samples->right : 0);
    double evidence = 0;
    for (int i = 0; i < count; i++) {
        size_t index = samples->index[i];
        double got = d->output[index];
        Prediction guess = variant_predict(d, v, index);
        if (guess.outside) {
            if (i < samples->wrong && isnan(got)) evidence += 4;
            continue;
        }
        double allowed = diagnosis_tolerance(d, guess.magnitude, guess.products);
        if (!(fabs(got - guess.value) <= allowed)) return 0;
        if (i >= samples->wrong) continue;
        double own = diagnosis_tolerance(d, d->magnitude[index], d->products[index]);
        evidence += log2(fabs(got - d->expected[index]) / fmax(allowed, own));
    }
    return evidence >= EVIDENCE_BITS;
}

/* ---- the list
 * ---------------------------------------------------------------------------------------------------
 */

/* Adds a copy of the right convolution under a fault's name; the caller bends it. */
static Variant *variant_add(VariantList *list, Fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static Variant *variant_add(VariantList *list, Fault fault, const char *format, ...)
{
    const ConvProblem *c = list->conv;
    if (list->count == VARIANTS) list->count--; /* cannot happen: the lists below are shorter */
    Variant *v = &list->variant[list->count++];
    long long plane = (long long)c->H * c->W, taps = (long long)c->R * c->S;
    *v = (Variant){.fault = fault,
                   .stride_h = c->stride_h,
                   .stride_w = c->stride_w,
                   .step_h = 1,
                   .step_w = 1,
                   .top = c->pad_top,
                   .left = c->pad_left,
                   .high_h = c->H - 1,
                   .high_w = c->W - 1,
                   .x_n = c->C * plane,
                   .x_c = plane,
                   .x_h = c->W,
                   .x_w = 1,
                   .w_k = c->C * taps,
                   .w_c = taps,
                   .w_r = c->S,
                   .w_s = 1,
                   .order = "nkpq",
                   .scale = 1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->text, sizeof v->text, format, arguments);
    va_end(arguments);
    return v;
}

static void list_filters(VariantList *list)
{
    const ConvProblem *c = list->conv;
    for (int both = 3; both > 0; both--) {
        Variant *v = variant_add(list, FAULT_FLIPPED_FILTER,
                                 "The filter is applied flipped%s: that is the mathematicians' "
                                 "convolution. Here tap (r,s) meets the "
                                 "input at p*stride_h + r - pad_top and q*stride_w + s - pad_left, "
                                 "with the filter as it lies in memory "
                                 "(cross-correlation).",
                                 both == 3   ? ""
                                 : both == 2 ? " along r"
                                             : " along s");
        v->flip_r = both >> 1;
        v->flip_s = both & 1;
    }
    const long long step[][2] = {{1, c->R}, {1, c->S}, {c->R, 1}};
    for (int i = 0; i < 3; i++) {
        Variant *v = variant_add(
            list, FAULT_TRANSPOSED_FILTER,
            "The filter's rows and columns are exchanged: tap (r,s) lies at r*S + s within its "
            "channel, where your index amounts to %s.",
            i == 0   ? "s*R + r"
            : i == 1 ? "s*S + r"
                     : "r*R + s");
        v->w_r = step[i][0];
        v->w_s = step[i][1];
    }
    Variant *v = variant_add(
        list, FAULT_EVERYWHERE,
        "The filters are read as if their channels came first: w is K*C*R*S, so filter k, channel "
        "c begins at (k*C + c)*R*S, not at (c*K + k)*R*S.");
    v->w_c = (long long)c->K * c->R * c->S;
    v->w_k = (long long)c->R * c->S;
    v = variant_add(list, FAULT_ONE_FILTER,
                    "Every output map is made with filter k = 0: the index into w lacks k*C*R*S.");
    v->w_k = 0;
    v = variant_add(list, FAULT_ONE_CHANNEL,
                    "Every input channel is multiplied with channel 0 of the filter: the index "
                    "into w lacks c*R*S.");
    v->w_c = 0;
}

static void list_strides(VariantList *list)
{
    const ConvProblem *c = list->conv;
    if (c->stride_h == 1 && c->stride_w == 1) return;
    const int stride[][2] = {{1, 1},
                             {c->stride_w, c->stride_h},
                             {c->stride_h, c->stride_h},
                             {c->stride_w, c->stride_w},
                             {1, c->stride_w},
                             {c->stride_h, 1}};
    static const char *const how[] = {"the stride is left out (1 is used both ways)",
                                      "stride_h and stride_w are exchanged",
                                      "stride_h is used for the columns too",
                                      "stride_w is used for the rows too",
                                      "stride_h is left out",
                                      "stride_w is left out"};
    static const char formula[] =
        "The window of output (p,q) begins at row p*stride_h - pad_top and column "
        "q*stride_w - pad_left of x.";
    for (int i = 0; i < 6; i++) {
        Variant *v = variant_add(list, FAULT_STRIDE, "The window moves by the wrong step: %s. %s",
                                 how[i], formula);
        v->stride_h = stride[i][0];
        v->stride_w = stride[i][1];
    }
    for (int scaled = 0; scaled < 2; scaled++) {
        Variant *v = variant_add(list, FAULT_STRIDE,
                                 "The stride multiplies the taps as well%s, which spreads the "
                                 "filter over the input. %s Then "
                                 "r and s are added, unscaled.",
                                 scaled ? " and the padding" : "", formula);
        v->step_h = c->stride_h;
        v->step_w = c->stride_w;
        if (scaled) v->top *= c->stride_h, v->left *= c->stride_w;
    }
    Variant *v =
        variant_add(list, FAULT_STRIDE, "The stride multiplies the padding as well. %s", formula);
    v->top *= c->stride_h;
    v->left *= c->stride_w;
}

static void list_shift(VariantList *list, int down, int right)
{
    const ConvProblem *c = list->conv;
    if (!down && !right) return;
    const char *why = "";
    if (down == c->pad_top && right == c->pad_left)
        why = " That is as if the padding were not subtracted at all.";
    else if (down == c->pad_top - c->pad_bottom && right == c->pad_left - c->pad_right)
        why = " That is as if pad_bottom and pad_right were subtracted: an even filter is padded "
              "by different amounts before and after.";
    else if (down == c->pad_top - c->pad_left && right == c->pad_left - c->pad_top)
        why = " That is as if pad_top and pad_left were exchanged.";
    else if (down == c->pad_top - c->R / 2 && right == c->pad_left - c->S / 2)
        why = " That is as if R/2 and S/2 were subtracted in place of pad_top and pad_left.";
    Variant *v = variant_add(
        list, FAULT_HALO,
        "The window is shifted against the right one by %+d row%s and %+d column%s of x "
        "(+ is down or right).%s Use h = p*stride_h + r - pad_top, w = q*stride_w + s - pad_left, "
        "and "
        "offset the halo of a tile by the same amounts.",
        down, abs(down) == 1 ? "" : "s", right, abs(right) == 1 ? "" : "s", why);
    v->top -= down;
    v->left -= right;
}

static void list_shifts(VariantList *list)
{
    const ConvProblem *c = list->conv;
    for (int reach = 1; reach <= 4; reach++) /* near ones first */
        for (int down = -reach; down <= reach; down++)
            for (int right = -reach; right <= reach; right++)
                if (abs(down) == reach || abs(right) == reach) list_shift(list, down, right);
    if (c->pad_top > 4 || c->pad_left > 4) list_shift(list, c->pad_top, c->pad_left);
    if (c->pad_top > 4) list_shift(list, c->pad_top, 0);
    if (c->pad_left > 4) list_shift(list, 0, c->pad_left);
}

static void list_limit(VariantList *list, const char *wrong, const char *right, int low_h,
                       int high_h, int low_w, int high_w)
{
    Variant *v = variant_add(
        list, FAULT_PADDING_EDGE,
        "Outputs whose window touches the edge of the image are wrong: %s. A tap counts only where "
        "%s; "
        "check the bounds test on h = p*stride_h + r - pad_top and w = q*stride_w + s - pad_left.",
        wrong, right);
    v->low_h = low_h;
    v->high_h = high_h;
    v->low_w = low_w;
    v->high_w = high_w;
}

static void list_edges(VariantList *list)
{
    const int H = list->conv->H, W = list->conv->W, P = list->conv->P, Q = list->conv->Q;
    const int any = INT_MAX / 2, bottom = H - 1, right = W - 1;
    static const char *const all = "0 <= h < H and 0 <= w < W";
    static const char *const rows = "0 <= h < H", *const columns = "0 <= w < W";
    list_limit(
        list,
        "x is read where the window hangs over the edge, so other rows of memory come in for zeros",
        all, -any, any, -any, any);
    list_limit(list,
               "the columns are not tested, so the end of the row above or the start of the row "
               "below comes in for zeros",
               columns, 0, bottom, -any, any);
    list_limit(list, "the rows are not tested, so other channels come in for zeros", rows, -any,
               any, 0, right);
    list_limit(list, "only h < H and w < W are tested, not h >= 0 and w >= 0", all, -any, bottom,
               -any, right);
    list_limit(list, "only h >= 0 and w >= 0 are tested, not h < H and w < W", all, 0, any, 0, any);
    list_limit(list, "w >= 0 is not tested", columns, 0, bottom, -any, right);
    list_limit(list, "w < W is not tested", columns, 0, bottom, 0, any);
    list_limit(list, "h >= 0 is not tested", rows, -any, bottom, 0, right);
    list_limit(list, "h < H is not tested", rows, 0, any, 0, right);
    list_limit(list, "row 0 and column 0 of x are taken for padding (h > 0, w > 0)", all, 1, bottom,
               1, right);
    list_limit(list, "row 0 of x is taken for padding (h > 0)", rows, 1, bottom, 0, right);
    list_limit(list, "column 0 of x is taken for padding (w > 0)", columns, 0, bottom, 1, right);
    list_limit(list, "the last row and column of x are taken for padding (h < H-1, w < W-1)", all,
               0, bottom - 1, 0, right - 1);
    list_limit(list, "the last row of x is taken for padding (h < H-1)", rows, 0, bottom - 1, 0,
               right);
    list_limit(list, "the last column of x is taken for padding (w < W-1)", columns, 0, bottom, 0,
               right - 1);
    list_limit(list, "row H and column W, which do not exist, are read (h <= H, w <= W)", all, 0, H,
               0, W);
    list_limit(list, "row H, which does not exist, is read (h <= H)", rows, 0, H, 0, right);
    list_limit(list, "column W, which does not exist, is read (w <= W)", columns, 0, bottom, 0, W);
    list_limit(list, "h is compared with W and w with H", all, 0, right, 0, bottom);
    list_limit(list, "h is compared with P and w with Q, the output's sizes", all, 0, P - 1, 0,
               Q - 1);
    static const char *const how[] = {[EDGE_CLAMP] = "the image's outermost pixels are repeated",
                                      [EDGE_WRAP] = "the image is continued from its opposite side",
                                      [EDGE_REFLECT] = "the image is mirrored"};
    for (Edge edge = EDGE_CLAMP; edge <= EDGE_REFLECT; edge++) {
        Variant *v = variant_add(list, FAULT_PADDING_EDGE,
                                 "Outputs whose window touches the padding are wrong: beyond the "
                                 "edge %s, where the padding is zero. "
                                 "Add nothing for a tap outside of 0 <= h < H, 0 <= w < W.",
                                 how[edge]);
        v->edge = edge;
    }
}

static void list_inputs(VariantList *list)
{
    const ConvProblem *c = list->conv;
    Variant *v =
        variant_add(list, FAULT_ONE_CHANNEL,
                    "Every channel's products use input channel 0: the index into x lacks c*H*W.");
    v->x_c = 0;
    for (int off = -1; off <= 1; off += 2) {
        v = variant_add(list, FAULT_ONE_CHANNEL,
                        "Input channel c%+d is read where channel c belongs: check where the "
                        "channel loop begins.",
                        off);
        v->x_base = off * v->x_c;
    }
    v = variant_add(
        list, FAULT_ONE_IMAGE,
        "Every image's output is made from image n = 0: the index into x lacks n*C*H*W.");
    v->x_n = 0;
    const struct {
        long long pitch;
        const char *name;
    } pitch[] = {{c->Q, "Q"},
                 {c->H, "H"},
                 {(long long)c->W + c->pad_left + c->pad_right, "the padded width"}};
    for (int i = 0; i < 3; i++) {
        v = variant_add(list, FAULT_EVERYWHERE,
                        "The rows of x are taken %s elements apart; they lie W apart: x[((n*C + "
                        "c)*H + h)*W + w].",
                        pitch[i].name);
        v->x_h = pitch[i].pitch;
        v = variant_add(list, FAULT_EVERYWHERE,
                        "The rows of x are taken %s elements apart, and the channels by as much; "
                        "they lie W and H*W apart: "
                        "x[((n*C + c)*H + h)*W + w].",
                        pitch[i].name);
        v->x_h = pitch[i].pitch;
        v->x_c = v->x_h * c->H;
        v->x_n = v->x_c * c->C;
    }
    const long long swapped[] = {c->H, c->W};
    for (int i = 0; i < 2; i++) {
        v = variant_add(list, FAULT_EVERYWHERE,
                        "Rows and columns of x are exchanged: h counts rows, which lie W elements "
                        "apart, and w the elements in a "
                        "row. Is threadIdx.x used for the rows?");
        v->x_h = 1;
        v->x_w = swapped[i];
    }
    v = variant_add(list, FAULT_EVERYWHERE,
                    "x is read as if it were laid out NHWC; this lab's tensors are NCHW: "
                    "x[((n*C + c)*H + h)*W + w].");
    v->x_c = 1;
    v->x_w = c->C;
    v->x_h = (long long)c->W * c->C;
}

static void list_outputs(VariantList *list)
{
    static const char *const order[][2] = {{"nkqp", "transposed, at q*P + p within its map"},
                                           {"npqk", "in NHWC order"},
                                           {"knpq", "with the maps outermost"},
                                           {"pqnk", "with p and q outermost"}};
    for (int i = 0; i < 4; i++) {
        Variant *v = variant_add(
            list, FAULT_EVERYWHERE,
            "The values are right but stored in the wrong places: y is written %s; it is "
            "y[((n*K + k)*P + p)*Q + q].",
            order[i][1]);
        strcpy(v->order, order[i][0]);
    }
    Variant *v = variant_add(list, FAULT_ACCUMULATED,
                             "Every output is twice what it should be: is the sum made twice, or "
                             "added to a y that holds it already? "
                             "y arrives unwritten; store with =, once.");
    v->scale = 2;
    v = variant_add(list, FAULT_EVERYWHERE,
                    "Every output is 0. The store is reached, but the sum never is: does the loop "
                    "run, and is its result what is stored?");
    v->scale = 0;
}

static void list_precisions(VariantList *list)
{
    static const struct {
        Rounding rounding;
        const char *name;
    } kind[] = {{ROUND_TF32, "tf32 or half"},
                {ROUND_TF32_CUT, "tf32 (cut, not rounded)"},
                {ROUND_BF16, "bfloat16"}};
    for (int i = 0; i < 3; i++) {
        Variant *v = variant_add(list, FAULT_PRECISION,
                                 "The outputs are what inputs rounded to %s give. This lab asks "
                                 "for more: keep x, w and the sum in "
                                 "the precision that the handout names.",
                                 kind[i].name);
        v->rounding = kind[i].rounding;
    }
}

/* y[i] - y[i - step] is what y[i] should be: the accumulator lives on from output to output. */
static int running_sum(const Diagnosis *d, Finding *finding)
{
    const size_t map = (size_t)d->conv.P * d->conv.Q;
    const size_t step[] = {1, map, map * d->conv.K};
    static const char *const along[] = {"q", "k", "n"};
    for (int i = 0; i < 3; i++) {
        double evidence = 0;
        int fits = 1;
        for (int s = 0; fits && s < d->samples.wrong; s++) {
            size_t index = d->samples.index[s];
            if (index < step[i]) {
                fits = 0;
                break;
            }
            double got = d->output[index], before = d->output[index - step[i]];
            double allowed = diagnosis_tolerance(d, d->magnitude[index], d->products[index]) +
                             0x1p-18 * (fabs(got) + fabs(before));
            fits = fabs(got - before - d->expected[index]) <= allowed;
            evidence += log2(fabs(got - d->expected[index]) / allowed);
        }
        if (!fits || evidence < EVIDENCE_BITS) continue;
        finding->fault = FAULT_ACCUMULATED;
        snprintf(finding->text, sizeof finding->text,
                 "Each wrong output is its own sum plus the output before it along %s: the "
                 "accumulator is not set back to 0 before "
                 "the next sum begins.",
                 along[i]);
        return 1;
    }
    return 0;
}

int variant_find(const Diagnosis *d, int everywhere, Finding *finding)
{
    VariantList list = {.conv = &d->conv, .variant = malloc(VARIANTS * sizeof(Variant))};
    if (!list.variant) return 0;
    list_outputs(&list);
    list_filters(&list);
    list_edges(&list);
    list_strides(&list);
    list_shifts(&list);
    list_inputs(&list);
    list_precisions(&list);
    int found = 0;
    for (int i = 0; i < list.count && !found; i++) {
        const Variant *v = &list.variant[i];
        if (!variant_fits(d, v, everywhere)) continue;
        finding->fault = v->fault;
        snprintf(finding->text, sizeof finding->text, "%s", v->text);
        found = 1;
    }
    free(list.variant);
    return found || (everywhere && running_sum(d, finding));
}
