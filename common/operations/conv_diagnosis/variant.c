/* variant.c - convolutions with one known mistake.
 *
 * Each variant is a set of index formulas; its outputs are computed in fp64 for the sampled outputs
 * and compared with the submission's.  A variant that predicts them all within the bound is the
 * submission's mistake. */
#include "common/operations/conv_diagnosis/variant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- value of a variant ------------------------------------------------------------------ */

/* Keeps `bits` bits of the significand, rounded to nearest even or truncated. */
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
    case ROUND_FP16: /* the same 11 bits; random_wide stays in fp16's normal range */
        return round_bits(value, 11, 0);
    case ROUND_TF32_CUT:
        return round_bits(value, 11, 1);
    case ROUND_BF16:
        return round_bits(value, 8, 0);
    default:
        return value;
    }
}

/* Replaces a coordinate outside of 0..size-1 according to `edge`. */
static long long edge_replace(Edge edge, long long at, int size)
{
    if (at >= 0 && at < size) return at;
    if (edge == EDGE_CLAMP) return at < 0 ? 0 : size - 1;
    if (edge == EDGE_WRAP) return ((at % size) + size) % size;
    if (edge == EDGE_REFLECT && size > 1) {
        long long period = 2 * ((long long)size - 1), phase = ((at % period) + period) % period;
        return phase < size ? phase : period - phase;
    }
    return at;
}

/* The output that a variant stores at this place of y. */
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
    double value, magnitude, terms;
    int outside; /* Boolean: it reads outside of x or w, where the guard bands probably contain
                  * NaN */
} Prediction;

static Prediction variant_predict(const Diagnosis *d, const Variant *v, size_t index)
{
    const ConvProblem *conv = &d->conv;
    Prediction sum = {0};
    OutputAt at = variant_output(conv, v, index);
    long long x_count = (long long)conv->N * conv->C * conv->H * conv->W;
    long long w_count = (long long)conv->K * conv->C * conv->R * conv->S;
    const long long below = at.p * v->stride_h - v->top, right = at.q * v->stride_w - v->left;
    for (int r = 0; r < conv->R; r++)
        for (int s = 0; s < conv->S; s++) {
            long long h = (v->crossed ? right : below) + r * v->step_h;
            long long w = (v->crossed ? below : right) + s * v->step_w;
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
                sum.terms++;
            }
        }
    return sum;
}

/* Tolerance of the prediction.  Rounded inputs are visible long before they exceed the error bound,
 * so their tolerance is that of independent rounding errors. */
static double variant_tolerance(const Diagnosis *d, const Variant *v, double magnitude,
                                double terms)
{
    if (v->rounding) return 4 * UNIT_FP32 * sqrt(terms) * magnitude;
    return diagnosis_tolerance(d, magnitude, terms);
}

/* Whether the variant predicts every sample.  The evidence is the probability of a coincidence.
 * Reads outside of x and w must give NaN, with some tolerance for a submission that reads other
 * addresses. */
static int variant_fits(const Diagnosis *d, const Variant *v, int everywhere)
{
    const Samples *samples = &d->samples;
    int count = samples->wrong + (everywhere ? samples->right : 0), predicted = 0, excused = 0;
    double evidence = 0;
    for (int i = 0; i < count; i++) {
        size_t index = samples->index[i];
        double got = d->output[index];
        Prediction guess = variant_predict(d, v, index);
        if (guess.outside) {
            if (i >= samples->wrong) return 0;
            if (isnan(got))
                evidence += 4;
            else if (++excused * 4 > samples->wrong)
                return 0;
            continue;
        }
        double allowed = variant_tolerance(d, v, guess.magnitude, guess.terms);
        if (!(fabs(got - guess.value) <= allowed)) return 0;
        predicted++;
        if (i >= samples->wrong) continue;
        double own = variant_tolerance(d, v, d->magnitude[index], d->terms[index]);
        evidence += log2(fabs(got - d->expected[index]) / fmax(allowed, own));
    }
    return predicted && evidence >= EVIDENCE_BITS;
}

/* y[i] - y[i - step] is the expected value of y[i]: the accumulator is not reset between
 * outputs. */
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
            double allowed = diagnosis_tolerance(d, d->magnitude[index], d->terms[index]) +
                             0x1p-18 * (fabs(got) + fabs(before));
            fits = isfinite(allowed) && fabs(got - before - d->expected[index]) <= allowed;
            evidence += log2(fabs(got - d->expected[index]) / allowed);
        }
        if (!fits || evidence < EVIDENCE_BITS) continue;
        finding->fault = FAULT_ACCUMULATED;
        snprintf(finding->text, sizeof finding->text,
                 "Each wrong output is its own sum plus the output before it along %s: the "
                 "accumulator is not reset to 0 before the next sum starts.",
                 along[i]);
        return 1;
    }
    return 0;
}

/* A few outputs that are 0 are predicted by many variants. */
static int are_few_zeros(const Diagnosis *d)
{
    for (int i = 0; i < d->samples.wrong; i++)
        if (d->output[d->samples.index[i]] != 0) return 0;
    return d->samples.wrong < 4;
}

int variant_find(const Diagnosis *d, int everywhere, Finding *finding)
{
    VariantList list = {.conv = &d->conv,
                        .rearranged = !memory_order_is_plain(memory_order(&d->judged->problem)),
                        .variant = malloc(VARIANTS * sizeof(Variant))};
    if (!list.variant || (are_few_zeros(d) && d->count[MARK_RIGHT])) {
        free(list.variant);
        return 0;
    }
    variant_list(&list);
    int found = 0;
    for (int i = 0; i < list.count && !found; i++) {
        const Variant *v = &list.variant[i];
        /* A y in another order contains all outputs there. */
        if (!everywhere && strcmp(v->order, "nkpq") != 0) continue;
        if (!variant_fits(d, v, everywhere)) continue;
        finding->fault = v->fault;
        snprintf(finding->text, sizeof finding->text, "%s", v->text);
        found = 1;
    }
    free(list.variant);
    return found || (everywhere && running_sum(d, finding));
}
