#include "autograder/record/score.h"

#include <math.h>

#include "autograder/text/text.h"

SpeedScore score_speed(double s, double s_ref, double slack, double none_below, double least,
                       double possible)
{
    SpeedScore score = {0};
    if (!(s > 0 && s_ref > 0 && slack > 0)) return score;
    score.needed = s_ref / slack;
    score.counts = score.needed >= least;
    const double lowest = fmax(1, none_below * s_ref);
    if (!score.counts) return score;
    score.points = s >= score.needed ? possible
                   : s <= lowest     ? 0
                                     : possible * log(s / lowest) / log(score.needed / lowest);
    return score;
}

double score_share(double points, int public_cases, int hidden_cases)
{
    int shares = public_cases + (hidden_cases > 0);
    return shares ? points / shares : 0;
}

/* Rounds to a tenth, ties up, as tables and records show, so that sums of shown numbers agree. */
static double score_round(double points)
{
    return floor(points * 10 + 0.5 + 1e-9) / 10;
}

const char *score_text(double points, char text[32])
{
    double rounded = score_round(points);
    text_set(text, 32, rounded == floor(rounded) ? "%.0f" : "%.1f", rounded);
    return text;
}
