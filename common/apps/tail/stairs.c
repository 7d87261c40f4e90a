#include "common/apps/tail/stairs.h"

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

/* ---- prediction ---- */

enum { SCHEDULERS = 4, START = 32 };

/* Time of j blocks on an SM, relative to a block alone. */
static double round_time(const Stair *stair, double j, double fill)
{
    return j > 0 ? pow(1 + pow(ceil(j * stair->warps / SCHEDULERS) / fill, 4), 0.25) : 0;
}

/* Time of the busiest SM in units of one term of a block that is alone. */
static double busiest_time(const Stair *stair, double fill)
{
    const double b = stair_busiest(stair), k = stair->resident, full = floor(b / k);
    return (full * round_time(stair, k, fill) + round_time(stair, b - full * k, fill)) *
           (stair->rows / stair->pieces + START);
}

/* The time of a term alone from both widths with this `fill`, and their difference. */
static double single_block_find(const Stair *few, const Stair *many, double launch_us, double fill,
                                double *apart)
{
    const double one = fmax(few->us - launch_us * few->launches, 1e-3) / busiest_time(few, fill);
    const double other =
        fmax(many->us - launch_us * many->launches, 1e-3) / busiest_time(many, fill);
    *apart = fabs(log(one / other));
    return sqrt(one * other);
}

/* Tries `fill` from a quarter of a warp to 64 warps; among equally good values, the nearest to
 * 1. */
static void kernel_fit(const Stair *few, const Stair *many, double launch_us, double *alone,
                       double *fill)
{
    enum { STEPS = 64 };
    const double lowest = 0.25, doubt = 0.006;
    double least = INFINITY;
    for (int i = 0; i <= STEPS; i++) {
        double apart, tried = lowest * pow(2, i / 8.0);
        double is = single_block_find(few, many, launch_us, tried, &apart);
        const double error = hypot(apart, doubt * log(tried));
        if (error >= least) continue;
        least = error;
        *alone = is;
        *fill = tried;
    }
}

/* Value at `stair`'s number of blocks on the line through the two widths. */
static double line_at(const Stair *few, const Stair *many, double blocks)
{
    const double apart = many->blocks - few->blocks;
    return apart > 0 ? few->us + (many->us - few->us) * (blocks - few->blocks) / apart : few->us;
}

static void kernel_predict(Stair *stair, int count, int kernel, double launch_us, int *calibrates)
{
    int few = -1, many = -1;
    double alone = 0, fill = 1;
    for (int i = 0; i < count; i++) {
        if (stair[i].kernel != kernel) continue;
        if (few < 0 || stair_busiest(&stair[i]) < stair_busiest(&stair[few])) few = i;
        if (many < 0 || stair_busiest(&stair[i]) > stair_busiest(&stair[many])) many = i;
    }
    kernel_fit(&stair[few], &stair[many], launch_us, &alone, &fill);
    calibrates[few] = calibrates[many] = 1;
    for (int i = 0; i < count; i++)
        if (stair[i].kernel == kernel)
            stair[i].predicted =
                stair[i].launches >= MANY_LAUNCHES
                    ? line_at(&stair[few], &stair[many], stair[i].blocks)
                    : launch_us * stair[i].launches + alone * busiest_time(&stair[i], fill);
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

void stairs_find(const double *us, const double *low, const double *high, int count, double least,
                 int *step)
{
    for (int i = 0; i < count; i++)
        step[i] = !i                                                        ? 0
                  : us[i] > us[i - 1] * (1 + least) && low[i] > high[i - 1] ? 1
                  : us[i - 1] > us[i] * (1 + least) && low[i - 1] > high[i] ? -1
                                                                            : 0;
}
