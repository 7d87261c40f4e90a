/* lost.c - sums in which a set of terms is missing or counted twice: a channel, some taps, the end
 * of the loop.
 *
 * The terms of each sample are stored as [c][r][s]; the missing (or additional) amount of an output
 * must equal the sum over the suspected set, which is the same in every sample. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Lost {
    const Diagnosis *d;
    int samples, wrong;
    size_t products;
    double *before;  /* [sample][products + 1]: prefix sums of the terms */
    double *tap;     /* [sample][R*S]: sum over c */
    double *missing; /* [sample]; the missing amount, or the additional amount if terms are counted
                      * twice */
    double *allowed; /* [sample] */
    int twice;
    const char *how; /* "left out of" the sum, or "counted twice in" it */
} Lost;

static void lost_fill(Lost *lost, int sample)
{
    const Diagnosis *d = lost->d;
    const ConvProblem *v = &d->conv;
    size_t index = d->samples.index[sample];
    double *before = lost->before + (size_t)sample * (lost->products + 1), sum = 0;
    size_t taps = (size_t)v->R * v->S;
    double *tap = lost->tap + (size_t)sample * taps;
    output_products(d, index, before);
    for (size_t i = 0; i < lost->products; i++) {
        double product = before[i];
        before[i] = sum;
        sum += product;
        tap[i % taps] += product;
    }
    before[lost->products] = sum;
    lost->missing[sample] = d->expected[index] - d->output[index];
    lost->allowed[sample] = diagnosis_tolerance(d, d->magnitude[index], d->products[index]);
}

/* A set of terms: from..to-1 in [c][r][s] order, or, with `taps`, rows and columns of the filter in
 * all channels; `every` > 1 takes only every second channel and so on. */
typedef struct LostSet {
    size_t from, to;
    int taps, r_from, r_to, s_from, s_to;
    int every, phase;
} LostSet;

static double lost_sum(const Lost *lost, const LostSet *set, int sample)
{
    const ConvProblem *v = &lost->d->conv;
    const double *before = lost->before + (size_t)sample * (lost->products + 1);
    double sum = 0;
    if (set->taps) {
        const double *tap = lost->tap + (size_t)sample * v->R * v->S;
        for (int r = 0; r < v->R; r++)
            for (int s = 0; s < v->S; s++)
                if ((r >= set->r_from && r < set->r_to) || (s >= set->s_from && s < set->s_to))
                    sum += tap[r * v->S + s];
        return sum;
    }
    if (set->every) {
        size_t step = (size_t)v->R * v->S;
        for (size_t c = (size_t)set->phase; c < (size_t)v->C; c += (size_t)set->every)
            sum += before[(c + 1) * step] - before[c * step];
        return sum;
    }
    return before[set->to] - before[set->from];
}

static int lost_fits(const Lost *lost, const LostSet *set)
{
    double evidence = 0;
    for (int i = 0; i < lost->samples; i++) {
        double gap = fabs(lost->missing[i] - lost_sum(lost, set, i));
        if (!(gap <= lost->allowed[i])) return 0;
        if (i < lost->wrong) evidence += log2(fabs(lost->missing[i]) / lost->allowed[i]);
    }
    return evidence >= EVIDENCE_BITS;
}

/* ---- typical sets ------------------------------------------------------------------------- */

static int lost_channels(const Lost *lost, Finding *finding)
{
    int C = lost->d->conv.C;
    size_t step = (size_t)lost->d->conv.R * lost->d->conv.S;
    if (C == 1) return 0;
    finding->fault = FAULT_ONE_CHANNEL;
    for (int c = 0; c < C; c++)
        if (lost_fits(lost, &(LostSet){.from = c * step, .to = (c + 1) * step})) {
            snprintf(finding->text, sizeof finding->text,
                     "Input channel c = %d of 0..%d is %s the sum. Check where the loop over the "
                     "channels starts and ends, and the last, partial group of channels.",
                     c, C - 1, lost->how);
            return 1;
        }
    for (int c = 1; c < C; c++) {
        int first = lost_fits(lost, &(LostSet){.from = 0, .to = c * step});
        if (!first && !lost_fits(lost, &(LostSet){.from = c * step, .to = C * step})) continue;
        snprintf(
            finding->text, sizeof finding->text,
            "Input channels c = %d..%d are %s the sum%s. The loop over the channels must run over "
            "all %d of them once, also if the group or tile size does not divide this number.",
            first ? 0 : c, (first ? c : C) - 1, lost->how,
            first || c == 1 ? "" : " (the last, partial group?)", C);
        if (c == 1 && !first && !lost->twice)
            snprintf(finding->text, sizeof finding->text,
                     "Only input channel c = 0 is in the sum; channels 1..%d are left out. The sum "
                     "is over c, r and s.",
                     C - 1);
        return 1;
    }
    for (int phase = 0; phase < 2; phase++)
        if (lost_fits(lost, &(LostSet){.every = 2, .phase = phase})) {
            snprintf(
                finding->text, sizeof finding->text,
                "Every second input channel (c = %d, %d, ...) is %s the sum. Check the step of "
                "the loop over the channels, and that each channel of a pair is added.",
                phase, phase + 2, lost->how);
            return 1;
        }
    return 0;
}

static int lost_tap_set(const Lost *lost, LostSet set, Finding *finding, const char *what)
{
    set.taps = 1;
    if (!lost_fits(lost, &set)) return 0;
    finding->fault = FAULT_TAP_DROPPED;
    snprintf(finding->text, sizeof finding->text,
             "The multiplications of filter taps with %s are %s the sum. Check where the loops "
             "over r and s start and end (r < R, s < S), and the loads for those taps.",
             what, lost->how);
    return 1;
}

static int lost_taps(const Lost *lost, Finding *finding)
{
    const ConvProblem *v = &lost->d->conv;
    char what[96];
    if (v->R * v->S == 1) return 0;
    for (int r = 0; r < v->R; r++) {
        snprintf(what, sizeof what, "r = %d", r);
        if (lost_tap_set(lost, (LostSet){.r_from = r, .r_to = r + 1}, finding, what)) return 1;
        snprintf(what, sizeof what, "r >= %d", r);
        if (r && lost_tap_set(lost, (LostSet){.r_from = r, .r_to = v->R}, finding, what)) return 1;
    }
    for (int s = 0; s < v->S; s++) {
        snprintf(what, sizeof what, "s = %d", s);
        if (lost_tap_set(lost, (LostSet){.s_from = s, .s_to = s + 1}, finding, what)) return 1;
        snprintf(what, sizeof what, "s >= %d", s);
        if (s && lost_tap_set(lost, (LostSet){.s_from = s, .s_to = v->S}, finding, what)) return 1;
    }
    static const char *const side[] = {"first", "last"};
    for (int a = 0; a < 4; a++) {
        int r = a & 1 ? v->R - 1 : 0, s = a & 2 ? v->S - 1 : 0;
        snprintf(what, sizeof what, "the %s r or the %s s", side[a & 1], side[a >> 1]);
        if (lost_tap_set(lost, (LostSet){.r_from = r, .r_to = r + 1, .s_from = s, .s_to = s + 1},
                         finding, what))
            return 1;
    }
    return 0;
}

/* One tap (r,s) in all channels: uses the tap sums of a single cell. */
static int lost_one_tap(const Lost *lost, Finding *finding)
{
    const ConvProblem *v = &lost->d->conv;
    for (int cell = 0; v->R * v->S > 1 && cell < v->R * v->S; cell++) {
        double evidence = 0;
        int fits = 1;
        for (int i = 0; fits && i < lost->samples; i++) {
            double sum = lost->tap[(size_t)i * v->R * v->S + cell];
            fits = fabs(lost->missing[i] - sum) <= lost->allowed[i];
            if (i < lost->wrong) evidence += log2(fabs(lost->missing[i]) / lost->allowed[i]);
        }
        if (!fits || evidence < EVIDENCE_BITS) continue;
        finding->fault = FAULT_TAP_DROPPED;
        snprintf(finding->text, sizeof finding->text,
                 "The multiplications of the one filter tap (r,s) = (%d,%d) are %s the sum. Check "
                 "the first and last step of the loops over r and s, and the load for that tap.",
                 cell / v->S, cell % v->S, lost->how);
        return 1;
    }
    return 0;
}

/* The reduction as one long loop, as in a GEMM: its start or its end is missing. */
static int lost_run(const Lost *lost, Finding *finding)
{
    for (size_t at = 1; at < lost->products; at++) {
        int start = lost_fits(lost, &(LostSet){.from = 0, .to = at});
        if (!start && !lost_fits(lost, &(LostSet){.from = at, .to = lost->products})) continue;
        finding->fault = FAULT_TAP_DROPPED;
        snprintf(
            finding->text, sizeof finding->text,
            "The %s %zu of C*R*S = %zu products (in the order c, r, s) are %s the sum. If the "
            "reduction is divided into tiles, each must be summed once, including a partial one.",
            start ? "first" : "last", start ? at : lost->products - at, lost->products, lost->how);
        if (start && at == lost->products - 1 && !lost->twice)
            snprintf(finding->text, sizeof finding->text,
                     "Each wrong output is a single product, the last, not the sum of its %zu "
                     "products. Possibly the sum is stored with = in a loop instead of +=.",
                     lost->products);
        return 1;
    }
    return 0;
}

static int lost_any(const Lost *lost, Finding *finding)
{
    return lost_channels(lost, finding) || lost_taps(lost, finding) ||
           lost_one_tap(lost, finding) || lost_run(lost, finding);
}

static int lost_or_twice(Lost *lost, Finding *finding)
{
    lost->how = "left out of";
    if (lost_any(lost, finding)) return 1;
    for (int i = 0; i < lost->samples; i++)
        lost->missing[i] = -lost->missing[i];
    lost->twice = 1;
    lost->how = "counted twice in";
    return lost_any(lost, finding);
}

/* If all outputs are 0, all terms are missing and no set can be found. */
static int all_are_zero(const Diagnosis *d)
{
    for (int i = 0; i < d->samples.wrong; i++)
        if (d->output[d->samples.index[i]] != 0) return 0;
    return 1;
}

int lost_find(const Diagnosis *d, int everywhere, Finding *finding)
{
    Lost lost = {.d = d, .wrong = d->samples.wrong};
    lost.samples = d->samples.wrong + (everywhere ? d->samples.right : 0);
    lost.products = (size_t)d->conv.C * d->conv.R * d->conv.S;
    size_t taps = (size_t)d->conv.R * d->conv.S, count = (size_t)lost.samples;
    if (count * lost.products > 1u << 24) return 0; /* 128 MB: the layer is too deep */
    lost.before = malloc(count * (lost.products + 1) * sizeof *lost.before);
    lost.tap = calloc(count * taps, sizeof *lost.tap);
    lost.missing = malloc(count * sizeof *lost.missing);
    lost.allowed = malloc(count * sizeof *lost.allowed);
    int found = 0;
    if (lost.before && lost.tap && lost.missing && lost.allowed) {
        for (int i = 0; i < lost.samples; i++)
            lost_fill(&lost, i);
        found = !all_are_zero(d) && lost_or_twice(&lost, finding);
    }
    free(lost.before);
    free(lost.tap);
    free(lost.missing);
    free(lost.allowed);
    return found;
}
