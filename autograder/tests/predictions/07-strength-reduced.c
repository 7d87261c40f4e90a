/* Lab 07: lab 05's blocks and threads; elements that do not exist are not loaded. */
#include "autograder/tests/predictions/derive.h"

enum { IMAGES = 64, FILTERS = 16, CACHED_PIXELS = 4, CHANNELS = 3 };

static double chunks(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int c = 0; c < p->C; c += CHANNELS)
        for (int first = 0; first < p->R * p->S; first += CACHED_PIXELS)
            count++;
    return count;
}

/* Counts the filter pixels that a thread processes, and those that do not exist. */
static double wasted(const Given *given)
{
    const ConvProblem *p = &given->p;
    double all = 0, beyond = 0;
    for (int first = 0; first < p->R * p->S; first += CACHED_PIXELS)
        for (int i = 0; i < CACHED_PIXELS; i++) {
            all++;
            beyond += first + i >= p->R * p->S;
        }
    return beyond / all;
}

/* Taps of one channel's output map that lie inside of the input. */
static double taps_inside(const ConvProblem *p)
{
    double inside = 0;
    for (int op = 0; op < p->P; op++)
        for (int oq = 0; oq < p->Q; oq++)
            for (int r = 0; r < p->R; r++)
                for (int s = 0; s < p->S; s++) {
                    int ih = op * p->stride_h + r - p->pad_top;
                    int iw = oq * p->stride_w + s - p->pad_left;
                    inside += ih >= 0 && ih < p->H && iw >= 0 && iw < p->W;
                }
    return inside;
}

static double padding(const Given *given)
{
    const ConvProblem *p = &given->p;
    return 1 - taps_inside(p) / (p->P * p->Q * p->R * p->S);
}

/* Block after block: a pixel for each tap inside, image and channel; a weight for each tap, channel
 * and filter. */
static double bytes(const Given *given)
{
    const ConvProblem *p = &given->p;
    double pixels = 0, weights = 0;
    for (int k0 = 0; k0 < p->K; k0 += FILTERS)
        for (int n = 0; n < p->N; n++)
            for (int c = 0; c < p->C; c++)
                pixels += taps_inside(p);
    for (int n0 = 0; n0 < p->N; n0 += IMAGES)
        for (int pixel = 0; pixel < p->P * p->Q; pixel++)
            for (int k = 0; k < p->K; k++)
                for (int c = 0; c < p->C; c++)
                    for (int tap = 0; tap < p->R * p->S; tap++)
                        weights++;
    return 4 * (pixels + weights);
}

/* A thread loads under one filter pixel of each chunk: a / and a %. */
static double divisions(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int first = 0; first < p->R * p->S; first += CACHED_PIXELS)
        count += 2;
    return count;
}

/* The kernel without checks: conv_kernel<false>. */
static double registers(const Given *given)
{
    return registers_compiled(given, "conv_kernelILb0E");
}

const LabDerivations derive_07 = {"07-strength-reduced",
                                  {
                                      {"chunks", chunks},
                                      {"wasted", wasted},
                                      {"padding", padding},
                                      {"bytes", bytes},
                                      {"divisions", divisions},
                                      {"registers", registers},
                                      {0},
                                  }};
