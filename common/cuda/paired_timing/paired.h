/* paired.h - comparison of two times with common noise.
 *
 * Module: interleaved measurements, and their statistics.
 * Callers: autograder/judging, make compare.
 * May use: base.
 *
 * Clock rates drift and machines have other load, so the ratio of A to B is measured, not the time
 * of A alone.  Windows alternate A B B A A B B A; each neighbouring A and B give a ratio.  The
 * median of the ratios is the result.  Order statistics give an interval for it that only assumes
 * that pairs are independent.  Every second pair has the opposite order, so that the second
 * position in a pair is no advantage. */
#ifndef CONVLAB_TIMING_PAIRED_H
#define CONVLAB_TIMING_PAIRED_H

#include "common/base/error.h"

enum { PAIRED_LEAST = 6, PAIRED_MOST = 1024 };   /* with 5 pairs there is no 95 % interval */
enum { PAIRED_INTERIMS = 3, PAIRED_PAIRS = 28 }; /* see paired_interim */

typedef struct PairedOptions {
    int repeats_max;       /* 0: 1000; limits a window of a very short subject */
    double window_seconds; /* minimum duration of one window; 0: 0.050 */
    double confidence;     /* paired_judge's; 0: 0.95 */
    double width_max;      /* confidence of paired_judge; 0: 0.95 */
    double drift_max;      /* maximum width of the interval, relative to the ratio; 0: 0.05 */
} PairedOptions;

typedef enum PairedVerdict {
    PAIRED_OK,
    PAIRED_AGAIN /* interval too wide, drift, or too few pairs: never a judgement on A or B */
} PairedVerdict;

typedef struct PairedResult {
    PairedVerdict verdict;
    double ratio, low, high;     /* A / B: the median, and its interval */
    double confidence;           /* the interval's actual confidence, slightly above the required
                                  * one */
    double drift;                /* trend of the ratio over the run: 0.01 is an increase of one per
                                  * cent */
    double drift_score;          /* its Kendall score in standard deviations: 3 is significant */
    double a_seconds, b_seconds; /* medians of one repeat */
    int pairs;
    char why[256]; /* not OK: one line with the numbers */
} PairedResult;

/* The median of n values, which are sorted. */
double paired_median(double *value, int n);

/* Relative width of the median's interval in a series of at most PAIRED_PAIRS times, with the
 * confidence of the last round: a measure of their steadiness. */
double paired_width(const double *seconds, int n);

/* The k for which the k-th smallest and k-th largest of n values enclose the median with at least
 * `confidence`, and the actual confidence; 0 if n is too small. */
int paired_rank(int n, double confidence, double *achieved);

/* Judges n pairs of times, in the order of measurement: OK or AGAIN.  -1 with error for a time that
 * is not positive and finite, or n above PAIRED_MOST. */
int paired_judge(const double *a, const double *b, int n, const PairedOptions *options,
                 PairedResult *result, Error *error);

/* One window: `repeats` runs of a subject; the seconds of one run.  -1 with error ends the
 * comparison. */
typedef int PairedMeasure(void *context, int repeats, double *seconds, Error *error);

typedef struct PairedSubject {
    PairedMeasure *measure;
    void *context;
    int repeats; /* per window; set by paired_repeats */
} PairedSubject;

/* Warms a subject up and determines the number of repeats in a window.  -1 with error. */
int paired_repeats(PairedSubject *subject, const PairedOptions *options, Error *error);

/* The pairs are judged in up to three rounds, each with all pairs so far.  If one may stop after
 * any round, an error in any interval counts, so the rounds share the 5 %: the confidence is 96.9 %
 * for 6 pairs, 98.7 % for 14 and 99.6 % for 28.  Together they are wrong in at most 4.8 % of all
 * cases, for every stopping rule. */

typedef struct PairedSeries {
    int interims, pairs;
    double a[PAIRED_PAIRS], b[PAIRED_PAIRS];
} PairedSeries;

/* Measures the pairs of the next round and judges all pairs so far.  `series` is initially zero.
 * -1 with error: a measurement failed, or all rounds are used. */
int paired_interim(PairedSeries *series, const PairedSubject *a, const PairedSubject *b,
                   const PairedOptions *options, PairedResult *result, Error *error);

#endif
