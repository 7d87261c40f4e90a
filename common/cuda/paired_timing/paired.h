/* paired.h - comparing two times that share their noise.
 *
 * Module: measuring side by side, and its statistics.
 * Callers: autograder/judging, make compare.
 * May use: base.
 *
 * Clocks wander and machines have other guests, so one never asks "how long does A take" but "how
 * many times longer is A than B, measured side by side".  Windows alternate A B B A A B B A; each
 * neighbouring A and B give a ratio; the median of the ratios is the answer, and order statistics
 * give an interval for it that assumes nothing about the noise but that pairs are independent.
 * Because every second pair runs the other way round, what is second in a pair gains nothing by
 * it. */
#ifndef CONVLAB_TIMING_PAIRED_H
#define CONVLAB_TIMING_PAIRED_H

#include "common/base/error.h"

enum { PAIRED_LEAST = 6, PAIRED_MOST = 1024 }; /* with 5 pairs no 95 % interval exists */
enum { PAIRED_LOOKS = 3, PAIRED_PAIRS = 28 };  /* see paired_look */

typedef struct PairedOptions {
    int repeats_max;       /* 0: 1000; bounds a window of something very short */
    double window_seconds; /* the least that one window should take; 0: 0.050 */
    double confidence;     /* of paired_judge; 0: 0.95 */
    double width_max;      /* of the interval, relative to the ratio; 0: 0.05 */
    double drift_max;      /* of the ratio from the first pair to the last, relative; 0: 0.03 */
} PairedOptions;

typedef enum PairedVerdict {
    PAIRED_OK,
    PAIRED_AGAIN /* too wide, drifting, or too few pairs: never a judgement on A or B */
} PairedVerdict;

typedef struct PairedResult {
    PairedVerdict verdict;
    double ratio, low, high;     /* A / B: the median, and its interval */
    double confidence;           /* the interval's own, a little over what was asked */
    double drift;                /* the ratio's trend over the run: 0.01 is one per cent up */
    double drift_score;          /* its Kendall score in standard deviations: 3 is no accident */
    double a_seconds, b_seconds; /* medians, of one repeat */
    int pairs;
    char why[256]; /* not OK: one line with the numbers */
} PairedResult;

/* The median of n values, which it sorts. */
double paired_median(double *value, int n);

/* The width of the interval that holds the median of a series of at most PAIRED_PAIRS times, with
 * the confidence of the last look, relative to that median: how steady they are. */
double paired_width(const double *seconds, int n);

/* The k for which the k-th smallest and k-th largest of n values enclose the median with at least
 * `confidence`, and what that confidence comes to; 0 when n is too small. */
int paired_rank(int n, double confidence, double *achieved);

/* Judges n pairs of times, in the order in which they were measured: OK or AGAIN.  -1 with error
 * for a time that is no positive finite number, or n over PAIRED_MOST. */
int paired_judge(const double *a, const double *b, int n, const PairedOptions *options,
                 PairedResult *result, Error *error);

/* One window: `repeats` runs of a subject; the seconds of one run.  -1 with error ends the whole
 * comparison. */
typedef int PairedMeasure(void *context, int repeats, double *seconds, Error *error);

typedef struct PairedSubject {
    PairedMeasure *measure;
    void *context;
    int repeats; /* of a window: paired_repeats finds out */
} PairedSubject;

/* Warms a subject up and finds how many repeats of it fill a window.  -1 with error. */
int paired_repeats(PairedSubject *subject, const PairedOptions *options, Error *error);

/* Pairs are looked at up to three times, and each look is at all of them so far.  Whoever may stop
 * at any look is wrong where any interval is, so the looks share the 5 % among them: 6 pairs are
 * believed to 96.9 %, 14 to 98.7 %, 28 to 99.6 %.  Together they miss in 4.8 % of all cases at
 * most, whatever the rule by which one stops. */

typedef struct PairedSeries {
    int looks, pairs;
    double a[PAIRED_PAIRS], b[PAIRED_PAIRS];
} PairedSeries;

/* Measures the pairs of the next look and judges all there are.  `series` begins as zeros.  -1 with
 * error: a measurement failed, or all looks are spent. */
int paired_look(PairedSeries *series, const PairedSubject *a, const PairedSubject *b,
                const PairedOptions *options, PairedResult *result, Error *error);

#endif
