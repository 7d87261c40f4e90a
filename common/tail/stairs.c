#include "common/tail/stairs.h"

#include <math.h>

double stair_waves(const Stair *stair)
{
    return ceil(stair->blocks / (stair->sms * stair->resident));
}

double stair_busiest(const Stair *stair)
{
    return ceil(stair->blocks / stair->sms);
}

double stair_utilisation(const Stair *stair)
{
    return stair->blocks / (stair->sms * stair->resident * stair_waves(stair));
}

/* ---- the prediction ---- */

/* Of j blocks on an SM, where a block alone takes 1. */
static double round_time(double j, double fill)
{
    return j > 0 ? pow(1 + pow(j / fill, 4), 0.25) : 0;
}

/* In times of a block that is alone and has the whole sums. */
static double busiest_time(const Stair *stair, double fill)
{
    const double b = stair_busiest(stair), k = stair->resident, full = floor(b / k);
    return (full * round_time(k, fill) + round_time(b - full * k, fill)) / stair->pieces;
}

/* The `fill` with which the two times are as far apart as they were measured to be.  Their ratio
 * falls as `fill` grows: halving finds it. */
static double fill_find(const Stair *few, const Stair *many, double ratio)
{
    double low = 1e-2, high = 1e3;
    for (int i = 0; i < 60; i++) {
        double fill = sqrt(low * high);
        if (busiest_time(many, fill) / busiest_time(few, fill) > ratio)
            low = fill;
        else
            high = fill;
    }
    return sqrt(low * high);
}

static void kernel_predict(Stair *stair, int count, int kernel, double launch_us, int *calibrates)
{
    int few = -1, many = -1;
    for (int i = 0; i < count; i++) {
        if (stair[i].kernel != kernel) continue;
        if (few < 0 || stair_busiest(&stair[i]) < stair_busiest(&stair[few])) few = i;
        if (many < 0 || stair_busiest(&stair[i]) > stair_busiest(&stair[many])) many = i;
    }
    const double one = stair[few].us - launch_us * stair[few].launches;
    const double other = stair[many].us - launch_us * stair[many].launches;
    const double fill = fill_find(&stair[few], &stair[many], other / one);
    const double alone = one / busiest_time(&stair[few], fill);
    calibrates[few] = calibrates[many] = 1;
    for (int i = 0; i < count; i++)
        if (stair[i].kernel == kernel)
            stair[i].predicted =
                launch_us * stair[i].launches + alone * busiest_time(&stair[i], fill);
}

void stairs_predict(Stair *stair, int count, double launch_us, int *calibrates)
{
    for (int i = 0; i < count; i++)
        calibrates[i] = stair[i].predicted = 0;
    for (int i = 0; i < count; i++)
        if (!stair[i].predicted)
            kernel_predict(stair, count, stair[i].kernel, launch_us, calibrates);
}

/* ---- steps ---- */

void stairs_find(const double *us, int count, double least, int *step)
{
    double sum = 0;
    int plateau = 0;
    for (int i = 0; i < count; i++) {
        const double part = plateau ? us[i] * plateau / sum : 1;
        step[i] = part > 1 + least ? 1 : part < 1 - least ? -1 : 0;
        if (step[i]) sum = plateau = 0;
        sum += us[i];
        plateau++;
    }
}
