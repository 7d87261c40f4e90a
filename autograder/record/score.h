/* score.h - arithmetic of a mark: points on a logarithmic scale between the baseline and the
 * reference. */
#ifndef CONVLAB_AUTOGRADER_RECORD_SCORE_H
#define CONVLAB_AUTOGRADER_RECORD_SCORE_H

/* Lower limit of the reference's speedup over its baseline, divided by the slack; below it the case
 * has no points for speed.  The simulator's cycles are exact and therefore distinguish smaller
 * gains than measured times do. */
#define SCORE_LEAST_MEASURED 1.5
#define SCORE_LEAST_EXACT    1.05

typedef struct SpeedScore {
    double needed; /* H = s_ref / slack: this s earns all points */
    int counts;    /* 0: needed is below `least`, the points are left out of N */
    double points; /* P * clamp(ln(s/L) / ln(H/L), 0, 1); 0 when it does not count */
} SpeedScore;

/* s = T_baseline / T_student, s_ref = T_baseline / T_reference, P = `possible`.
 *
 * none_below is a share of the reference's speed, 0 to 1/slack: L = max(1, none_below * s_ref) is
 * the s at which the points begin.  It keeps a program without the lab's idea from most of the
 * points where the baseline is many times slower than both. */
SpeedScore score_speed(double s, double s_ref, double slack, double none_below, double least,
                       double possible);

/* The correct points are shared evenly by the public cases and the hidden set. */
double score_share(double points, int public_cases, int hidden_cases);

/* "87.5" or "100": no trailing zeros. */
const char *score_text(double points, char text[32]);

#endif
