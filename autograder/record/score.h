/* score.h - the arithmetic of a mark (design: points on a line between the baseline and the
 * reference). */
#ifndef CONVLAB_AUTOGRADER_RECORD_SCORE_H
#define CONVLAB_AUTOGRADER_RECORD_SCORE_H

/* A case whose reference is less than this many times as fast as its baseline, slack taken off, is
 * too close to call: it has no timed points.  Cycles of the simulator are exact and tell smaller
 * gains apart than measured times do. */
#define SCORE_LEAST_MEASURED 1.5
#define SCORE_LEAST_EXACT    1.05

typedef struct SpeedScore {
    double needed; /* H = s_ref / slack: this s earns all points */
    int counts;    /* 0: needed is below `least`, the points are left out of N */
    double points; /* P * clamp(ln s / ln H, 0, 1); 0 when it does not count */
} SpeedScore;

/* s = T_baseline / T_student, s_ref = T_baseline / T_reference, P = `possible`. */
SpeedScore score_speed(double s, double s_ref, double slack, double least, double possible);

/* The correct points are shared evenly by the public cases and the hidden set. */
double score_share(double points, int public_cases, int hidden_cases);

/* "87.5" or "100": no trailing zeros. */
const char *score_text(double points, char text[32]);

#endif
