#include "common/cuda/paired_timing/paired.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PairedOptions options_fill(const PairedOptions *given)
{
    PairedOptions o = given ? *given : (PairedOptions){0};
    if (o.repeats_max < 1) o.repeats_max = 1000;
    if (!(o.window_seconds > 0)) o.window_seconds = 0.050;
    if (!(o.confidence > 0)) o.confidence = 0.95;
    if (!(o.width_max > 0)) o.width_max = 0.05;
    if (!(o.drift_max > 0)) o.drift_max = 0.03;
    return o;
}

/* ---- statistics ------------------------------------------------------------------------- */

/* The median is below the k-th smallest value exactly if fewer than k of n fair coins show
 * heads. */
int paired_rank(int n, double confidence, double *achieved)
{
    int rank = 0;
    double log_term = -n * log(2), tail = 0; /* probability of 0 heads; the following terms are
                                              * computed from it */
    *achieved = 0;
    for (int heads = 0; heads < n / 2; heads++) {
        tail += exp(log_term);
        if (1 - 2 * tail < confidence) break;
        rank = heads + 1;
        *achieved = 1 - 2 * tail;
        log_term += log((double)(n - heads) / (heads + 1));
    }
    return rank;
}

static int double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Also sorts. */
double paired_median(double *value, int n)
{
    qsort(value, (size_t)n, sizeof *value, double_compare);
    return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

/* Trend of a series: Theil-Sen slope, the median over all pairs of points, times the length of the
 * series; and the excess of its rises over its falls in standard deviations (Mann and Kendall).
 * Both are robust against outliers. */
static int trend(const double *value, int n, double *change, double *score)
{
    int slopes = 0, rises = 0;
    double *slope = malloc(sizeof *slope * (size_t)n * (size_t)n);
    if (!slope) return -1;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            slope[slopes++] = (value[j] - value[i]) / (j - i);
            rises += (value[j] > value[i]) - (value[j] < value[i]);
        }
    double deviation = sqrt(n * (n - 1.0) * (2 * n + 5.0) / 18);
    *change = slopes ? paired_median(slope, slopes) * (n - 1) : 0;
    *score = slopes ? rises / deviation : 0;
    free(slope);
    return 0;
}

static PairedVerdict verdict_of(const PairedOptions *o, PairedResult *r)
{
    double width = (r->high - r->low) / r->ratio;
    if (width > o->width_max) {
        snprintf(r->why, sizeof r->why,
                 "the ratio %.3f is known only to [%.3f, %.3f], %.1f %% wide where %.1f %% is "
                 "allowed",
                 r->ratio, r->low, r->high, 100 * width, 100 * o->width_max);
        return PAIRED_AGAIN;
    }
    if (fabs(r->drift) > o->drift_max && fabs(r->drift_score) > 3) {
        snprintf(r->why, sizeof r->why,
                 "the ratio moved by %+.1f %% while it was measured (%.1f %% is allowed)",
                 100 * r->drift, 100 * o->drift_max);
        return PAIRED_AGAIN;
    }
    return PAIRED_OK;
}

/* Logarithms treat A/B and B/A alike, also when the mean of two values is taken. */
static int judge_into(const double *a, const double *b, int n, const PairedOptions *o,
                      PairedResult *r, double *work, Error *error)
{
    int rank = paired_rank(n, o->confidence, &r->confidence);
    for (int i = 0; i < n; i++)
        work[i] = log(a[i]) - log(b[i]);
    if (trend(work, n, &r->drift, &r->drift_score))
        return error_set(error, "out of memory for the statistics of %d pairs", n);
    r->drift = expm1(r->drift);
    r->ratio = exp(paired_median(work, n)); /* after paired_median has sorted them */
    r->low = rank ? exp(work[rank - 1]) : 0;
    r->high = rank ? exp(work[n - rank]) : INFINITY;
    memcpy(work, a, sizeof *work * (size_t)n);
    r->a_seconds = paired_median(work, n);
    memcpy(work, b, sizeof *work * (size_t)n);
    r->b_seconds = paired_median(work, n);
    r->verdict = verdict_of(o, r);
    if (!rank)
        snprintf(r->why, sizeof r->why, "%d pairs are too few for a %.0f %% interval", n,
                 100 * o->confidence);
    return 0;
}

int paired_judge(const double *a, const double *b, int n, const PairedOptions *options,
                 PairedResult *result, Error *error)
{
    PairedOptions o = options_fill(options);
    memset(result, 0, sizeof *result);
    result->pairs = n;
    if (n < 1 || n > PAIRED_MOST)
        return error_set(error, "cannot judge %d pairs of times: 1 to %d", n, PAIRED_MOST);
    for (int i = 0; i < n; i++)
        if (!(a[i] > 0 && b[i] > 0 && isfinite(a[i]) && isfinite(b[i])))
            return error_set(error, "pair %d of %d is no pair of times: %g s and %g s", i + 1, n,
                             a[i], b[i]);
    double *work = malloc(sizeof *work * (size_t)n);
    if (!work) return error_set(error, "out of memory for the statistics of %d pairs", n);
    int failed = judge_into(a, b, n, &o, result, work, error);
    free(work);
    return failed;
}

/* ---- measuring -------------------------------------------------------------------------- */

/* The first run is a warm-up and only shows whether it alone exceeds the window by far; later runs
 * determine the number of repeats. */
int paired_repeats(PairedSubject *subject, const PairedOptions *options, Error *error)
{
    PairedOptions o = options_fill(options);
    double seconds = 0;
    subject->repeats = 1;
    if (subject->measure(subject->context, 1, &seconds, error)) return -1;
    if (seconds > 4 * o.window_seconds) return 0;
    for (int round = 0; round < 8; round++) {
        int *repeats = &subject->repeats;
        if (subject->measure(subject->context, *repeats, &seconds, error)) return -1;
        if (!(seconds > 0 && isfinite(seconds)))
            return error_set(error, "a run measured %g s", seconds);
        if (seconds * *repeats >= o.window_seconds || *repeats >= o.repeats_max) return 0;
        double wanted = fmin(ceil(1.1 * o.window_seconds / seconds), o.repeats_max);
        *repeats = wanted > *repeats ? (int)wanted : *repeats + 1;
    }
    return 0;
}

static const struct {
    int pairs;
    double confidence;
} LOOK[PAIRED_INTERIMS] = {{6, 0.96}, {14, 0.98}, {PAIRED_PAIRS, 0.995}};

/* Pair i: A B, B A, A B, ... */
static int pair_measure(PairedSeries *series, int i, const PairedSubject *a, const PairedSubject *b,
                        Error *error)
{
    for (int turn = 0; turn < 2; turn++) {
        int second = (i + turn) % 2;
        const PairedSubject *subject = second ? b : a;
        double *seconds = second ? &series->b[i] : &series->a[i];
        if (subject->measure(subject->context, subject->repeats, seconds, error)) return -1;
    }
    return 0;
}

int paired_interim(PairedSeries *series, const PairedSubject *a, const PairedSubject *b,
                   const PairedOptions *options, PairedResult *result, Error *error)
{
    PairedOptions o = options_fill(options);
    if (series->interims == PAIRED_INTERIMS) return error_set(error, "all pairs were measured");
    int pairs = LOOK[series->interims].pairs;
    o.confidence = LOOK[series->interims++].confidence;
    for (; series->pairs < pairs; series->pairs++)
        if (pair_measure(series, series->pairs, a, b, error)) return -1;
    return paired_judge(series->a, series->b, pairs, &o, result, error);
}

double paired_width(const double *seconds, int n)
{
    double sorted[PAIRED_PAIRS], confidence;
    memcpy(sorted, seconds, sizeof *sorted * (size_t)n);
    double median = paired_median(sorted, n);
    int rank = paired_rank(n, LOOK[PAIRED_INTERIMS - 1].confidence, &confidence);
    return rank ? (sorted[n - rank] - sorted[rank - 1]) / median : INFINITY;
}
