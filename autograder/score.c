#include "autograder/score.h"

#include <math.h>
#include <stdio.h>

SpeedScore score_speed(double baseline, double student, double reference, double slack,
                       double possible)
{
    SpeedScore score = {0};
    if (!(baseline > 0 && student > 0 && reference > 0 && slack > 0)) return score;
    score.s = baseline / student;
    score.s_ref = baseline / reference;
    score.needed = score.s_ref / slack;
    score.counts = score.needed >= SCORE_LEAST_NEEDED;
    if (!score.counts) return score;
    double part = log(score.s) / log(score.needed);
    score.points = possible * fmin(fmax(part, 0), 1);
    return score;
}

double score_share(double points, int public_cases, int hidden_cases)
{
    int shares = public_cases + (hidden_cases > 0);
    return shares ? points / shares : 0;
}

double score_round(double points)
{
    return floor(points * 10 + 0.5 + 1e-9) / 10;
}

const char *score_text(double points, char text[32])
{
    double rounded = score_round(points);
    snprintf(text, 32, rounded == floor(rounded) ? "%.0f" : "%.1f", rounded);
    return text;
}
