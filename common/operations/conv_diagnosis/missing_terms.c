/* missing_terms.c - sums in which a set of terms is missing or counted twice: a channel, some taps,
 * the end of the loop.
 *
 * The terms of each sample are stored as [c][r][s]; the missing (or additional) amount of an output
 * must equal the sum over the suspected set, which is the same in every sample. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct MissingTerms {
    const Diagnosis *d;
    int samples, wrong;
    size_t terms;
    double *before;  /* [sample][terms + 1]: prefix sums of the terms */
    double *tap;     /* [sample][R*S]: sum over c */
    double *missing; /* [sample]; the missing amount, or the additional amount if terms are counted
                      * twice */
    double *allowed; /* [sample] */
    int twice;
    const char *how; /* "left out of" the sum, or "counted twice in" it */
} MissingTerms;

static void missing_fill(MissingTerms *sums, int sample)
{
    const Diagnosis *d = sums->d;
    const ConvProblem *v = &d->conv;
    size_t index = d->samples.index[sample];
    double *before = sums->before + (size_t)sample * (sums->terms + 1), sum = 0;
    size_t taps = (size_t)v->R * v->S;
    double *tap = sums->tap + (size_t)sample * taps;
    output_terms(d, index, before);
    for (size_t i = 0; i < sums->terms; i++) {
        double product = before[i];
        before[i] = sum;
        sum += product;
        tap[i % taps] += product;
    }
    before[sums->terms] = sum;
    sums->missing[sample] = d->expected[index] - d->output[index];
    sums->allowed[sample] = diagnosis_tolerance(d, d->magnitude[index], d->terms[index]);
}

/* A set of terms: from..to-1 in [c][r][s] order, or, with `taps`, rows and columns of the filter in
 * all channels; `every` > 1 takes only every second channel and so on. */
typedef struct TermSet {
    size_t from, to;
    int taps, r_from, r_to, s_from, s_to;
    int every, phase;
} TermSet;

static double missing_sum(const MissingTerms *sums, const TermSet *set, int sample)
{
    const ConvProblem *v = &sums->d->conv;
    const double *before = sums->before + (size_t)sample * (sums->terms + 1);
    double sum = 0;
    if (set->taps) {
        const double *tap = sums->tap + (size_t)sample * v->R * v->S;
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

static int missing_fits(const MissingTerms *sums, const TermSet *set)
{
    double evidence = 0;
    for (int i = 0; i < sums->samples; i++) {
        double gap = fabs(sums->missing[i] - missing_sum(sums, set, i));
        if (!(gap <= sums->allowed[i])) return 0;
        if (i < sums->wrong) evidence += log2(fabs(sums->missing[i]) / sums->allowed[i]);
    }
    return evidence >= EVIDENCE_BITS;
}

/* ---- typical sets ------------------------------------------------------------------------- */

/* The start of a sum is missing.  `left`: number of its last channels or terms. */
static void say_only_last(Finding *finding, size_t left, const char *what)
{
    finding_say(finding,
                "Only the last %zu %s are in it. Possibly the sum is set to 0 again, or stored "
                "with =, in every tile of the reduction.",
                left, what);
}

static int missing_channels(const MissingTerms *sums, Finding *finding)
{
    int C = sums->d->conv.C;
    size_t step = (size_t)sums->d->conv.R * sums->d->conv.S;
    if (C == 1) return 0;
    finding->fault = FAULT_ONE_CHANNEL;
    for (int c = 0; c < C; c++)
        if (missing_fits(sums, &(TermSet){.from = c * step, .to = (c + 1) * step})) {
            snprintf(finding->text, sizeof finding->text,
                     "Input channel c = %d of 0..%d is %s the sum. Check where the loop over the "
                     "channels starts and ends, and the last, partial group of channels.",
                     c, C - 1, sums->how);
            return 1;
        }
    for (int c = 1; c < C; c++) {
        int first = missing_fits(sums, &(TermSet){.from = 0, .to = c * step});
        if (first && c == C - 1 && !sums->twice) {
            snprintf(finding->text, sizeof finding->text,
                     "Only the last input channel, c = %d, is in the sum; channels 0..%d are left "
                     "out. Possibly the sum is set to 0 again, or stored with =, in every channel.",
                     c, c - 1);
            return 1;
        }
        if (!first && !missing_fits(sums, &(TermSet){.from = c * step, .to = C * step})) continue;
        snprintf(
            finding->text, sizeof finding->text,
            "Input channels c = %d..%d are %s the sum%s. The loop over the channels must run over "
            "all %d of them once, also if the group or tile size does not divide this number.",
            first ? 0 : c, (first ? c : C) - 1, sums->how,
            first || c == 1 ? "" : " (the last, partial group?)", C);
        if (c == 1 && !first && !sums->twice)
            snprintf(finding->text, sizeof finding->text,
                     "Only input channel c = 0 is in the sum; channels 1..%d are left out. The sum "
                     "is over c, r and s.",
                     C - 1);
        if (first && c > 1 && 2 * c >= C && !sums->twice)
            say_only_last(finding, (size_t)(C - c), "channels");
        return 1;
    }
    for (int phase = 0; phase < 2; phase++)
        if (missing_fits(sums, &(TermSet){.every = 2, .phase = phase})) {
            snprintf(
                finding->text, sizeof finding->text,
                "Every second input channel (c = %d, %d, ...) is %s the sum. Check the step of "
                "the loop over the channels, and that each channel of a pair is added.",
                phase, phase + 2, sums->how);
            return 1;
        }
    return 0;
}

static int missing_tap_set(const MissingTerms *sums, TermSet set, Finding *finding,
                           const char *what)
{
    set.taps = 1;
    if (!missing_fits(sums, &set)) return 0;
    finding->fault = FAULT_TAP_DROPPED;
    snprintf(finding->text, sizeof finding->text,
             "The multiplications of filter taps with %s are %s the sum. Check where the loops "
             "over r and s start and end (r < R, s < S), and the loads for those taps.",
             what, sums->how);
    return 1;
}

static int missing_taps(const MissingTerms *sums, Finding *finding)
{
    const ConvProblem *v = &sums->d->conv;
    char what[96];
    if (v->R * v->S == 1) return 0;
    for (int r = 0; r < v->R; r++) {
        snprintf(what, sizeof what, "r = %d", r);
        if (missing_tap_set(sums, (TermSet){.r_from = r, .r_to = r + 1}, finding, what)) return 1;
        snprintf(what, sizeof what, "r >= %d", r);
        if (r && missing_tap_set(sums, (TermSet){.r_from = r, .r_to = v->R}, finding, what))
            return 1;
    }
    for (int s = 0; s < v->S; s++) {
        snprintf(what, sizeof what, "s = %d", s);
        if (missing_tap_set(sums, (TermSet){.s_from = s, .s_to = s + 1}, finding, what)) return 1;
        snprintf(what, sizeof what, "s >= %d", s);
        if (s && missing_tap_set(sums, (TermSet){.s_from = s, .s_to = v->S}, finding, what))
            return 1;
    }
    static const char *const side[] = {"first", "last"};
    for (int a = 0; a < 4; a++) {
        int r = a & 1 ? v->R - 1 : 0, s = a & 2 ? v->S - 1 : 0;
        snprintf(what, sizeof what, "the %s r or the %s s", side[a & 1], side[a >> 1]);
        if (missing_tap_set(sums, (TermSet){.r_from = r, .r_to = r + 1, .s_from = s, .s_to = s + 1},
                            finding, what))
            return 1;
    }
    return 0;
}

/* One tap (r,s) in all channels: uses the tap sums of a single cell. */
static int missing_one_tap(const MissingTerms *sums, Finding *finding)
{
    const ConvProblem *v = &sums->d->conv;
    for (int cell = 0; v->R * v->S > 1 && cell < v->R * v->S; cell++) {
        double evidence = 0;
        int fits = 1;
        for (int i = 0; fits && i < sums->samples; i++) {
            double sum = sums->tap[(size_t)i * v->R * v->S + cell];
            fits = fabs(sums->missing[i] - sum) <= sums->allowed[i];
            if (i < sums->wrong) evidence += log2(fabs(sums->missing[i]) / sums->allowed[i]);
        }
        if (!fits || evidence < EVIDENCE_BITS) continue;
        finding->fault = FAULT_TAP_DROPPED;
        snprintf(finding->text, sizeof finding->text,
                 "The multiplications of the one filter tap (r,s) = (%d,%d) are %s the sum. Check "
                 "the first and last step of the loops over r and s, and the load for that tap.",
                 cell / v->S, cell % v->S, sums->how);
        return 1;
    }
    return 0;
}

/* The reduction as one long loop, as in a GEMM: its start or its end is missing. */
static int missing_run(const MissingTerms *sums, Finding *finding)
{
    for (size_t at = 1; at < sums->terms; at++) {
        int start = missing_fits(sums, &(TermSet){.from = 0, .to = at});
        if (!start && !missing_fits(sums, &(TermSet){.from = at, .to = sums->terms})) continue;
        finding->fault = FAULT_TAP_DROPPED;
        snprintf(
            finding->text, sizeof finding->text,
            "The %s %zu of C*R*S = %zu terms (in the order c, r, s) are %s the sum. If the "
            "reduction is divided into tiles, each must be summed once, including a partial one.",
            start ? "first" : "last", start ? at : sums->terms - at, sums->terms, sums->how);
        if (start && at == sums->terms - 1 && !sums->twice)
            snprintf(finding->text, sizeof finding->text,
                     "Each wrong output is a single term, the last, not the sum of its %zu "
                     "terms. Possibly the sum is stored with = in a loop instead of +=.",
                     sums->terms);
        else if (start && at % 4 == 0 && 2 * at >= sums->terms && !sums->twice)
            say_only_last(finding, sums->terms - at, "terms");
        return 1;
    }
    return 0;
}

static int missing_any(const MissingTerms *sums, Finding *finding)
{
    return missing_channels(sums, finding) || missing_taps(sums, finding) ||
           missing_one_tap(sums, finding) || missing_run(sums, finding);
}

static int missing_or_twice(MissingTerms *sums, Finding *finding)
{
    sums->how = "left out of";
    if (missing_any(sums, finding)) return 1;
    for (int i = 0; i < sums->samples; i++)
        sums->missing[i] = -sums->missing[i];
    sums->twice = 1;
    sums->how = "counted twice in";
    return missing_any(sums, finding);
}

/* If all outputs are 0, all terms are missing and no set can be found. */
static int all_are_zero(const Diagnosis *d)
{
    for (int i = 0; i < d->samples.wrong; i++)
        if (d->output[d->samples.index[i]] != 0) return 0;
    return 1;
}

int missing_terms_find(const Diagnosis *d, int everywhere, Finding *finding)
{
    MissingTerms sums = {.d = d, .wrong = d->samples.wrong};
    sums.samples = d->samples.wrong + (everywhere ? d->samples.right : 0);
    sums.terms = (size_t)d->conv.C * d->conv.R * d->conv.S;
    size_t taps = (size_t)d->conv.R * d->conv.S, count = (size_t)sums.samples;
    if (count * sums.terms > 1u << 24) return 0; /* 128 MB: the layer is too deep */
    sums.before = malloc(count * (sums.terms + 1) * sizeof *sums.before);
    sums.tap = calloc(count * taps, sizeof *sums.tap);
    sums.missing = malloc(count * sizeof *sums.missing);
    sums.allowed = malloc(count * sizeof *sums.allowed);
    int found = 0;
    if (sums.before && sums.tap && sums.missing && sums.allowed) {
        for (int i = 0; i < sums.samples; i++)
            missing_fill(&sums, i);
        found = !all_are_zero(d) && missing_or_twice(&sums, finding);
    }
    free(sums.before);
    free(sums.tap);
    free(sums.missing);
    free(sums.allowed);
    return found;
}
