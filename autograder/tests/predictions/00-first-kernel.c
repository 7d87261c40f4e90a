/* Lab 00: one thread per pixel, in blocks of 256. */
#include "autograder/tests/predictions/derive.h"
#include "convlab/brighten.h"

enum { THREADS = 256 };

static int pixels_of(const Given *given)
{
    return ((const BrightenProblem *)(const void *)given->problem->data)->pixels;
}

/* Adds blocks until every pixel has a thread. */
static double blocks(const Given *given)
{
    double count = 0;
    for (int threads = 0; threads < pixels_of(given); threads += THREADS)
        count++;
    return count;
}

/* Threads of the last block that have no pixel. */
static double idle(const Given *given)
{
    int left = 0;
    for (int i = 0; i < pixels_of(given); i++)
        left = left ? left - 1 : THREADS - 1;
    return left;
}

static double bytes(const Given *given)
{
    double sum = 0;
    for (int i = 0; i < pixels_of(given); i++)
        sum += sizeof(float) + sizeof(float);
    return sum;
}

const LabDerivations derive_00 = {"00-first-kernel",
                                  {
                                      {"blocks", blocks},
                                      {"idle", idle},
                                      {"bytes", bytes},
                                      {0},
                                  }};
