/* Lab 08: lab 05's blocks and threads, with the outer product and the index converter. */
#include "autograder/tests/predictions/derive.h"

enum {
    THREAD_ROWS = 4, /* per block, two per warp */
    ROWS_OF_A_WARP = 2,
    IMAGES = 64,
    FILTERS = 16,
    EACH = 4, /* images and filters per thread */
    CACHED_PIXELS = 4,
    CHANNELS = 3
};

typedef struct Work {
    double outer_products, indices, stores;
} Work;

/* Adds the work of the warp with thread rows ty and ty + 1. */
static void warp_add(Work *work, const ConvProblem *p, int ty)
{
    for (int c0 = 0; c0 < p->C; c0 += CHANNELS)
        for (int first = 0; first < p->R * p->S; first += CACHED_PIXELS) {
            work->indices += first + ty < p->R * p->S; /* if one of its lanes has a filter pixel */
            work->outer_products++;
            for (int c = 0; c < CHANNELS; c++)
                work->stores += 1 + EACH; /* a weight, and one pixel per image */
        }
}

static Work work_of(const ConvProblem *p)
{
    Work work = {0, 0, 0};
    for (int n = 0; n < p->N; n += IMAGES)
        for (int k = 0; k < p->K; k += FILTERS)
            for (int pixel = 0; pixel < p->P * p->Q; pixel++)
                for (int ty = 0; ty < THREAD_ROWS; ty += ROWS_OF_A_WARP)
                    warp_add(&work, p, ty);
    return work;
}

static double calls(const Given *given)
{
    Work work = work_of(&given->p);
    return work.outer_products + work.indices;
}

/* Section 3.3: the first row of pixels, then two cycles per weight, minus two for the last one. */
static double held(const Given *given)
{
    double cycles = EACH;
    for (int weight = 0; weight < CHANNELS * CACHED_PIXELS * EACH; weight++)
        cycles += 2;
    return work_of(&given->p).outer_products * (cycles - 2);
}

static double accesses(const Given *given)
{
    return work_of(&given->p).stores;
}

/* Saving in 10,000 cycles. */
static double amdahl(const Given *given)
{
    int before = 10000, compute = 6900, after = before - compute + compute * 12 / 100;
    (void)given;
    return (double)(before - after) / before;
}

/* Remaining time, step by step. */
static double whole(const Given *given)
{
    static const double SAVED[] = {0.66, 0.259, 0.026, 0.05};
    double left = 1;
    (void)given;
    for (int i = 0; i < 4; i++)
        left -= left * SAVED[i];
    return 1 / left;
}

const LabDerivations derive_08 = {"08-accelerators",
                                  {
                                      {"calls", calls},
                                      {"held", held},
                                      {"accesses", accesses},
                                      {"amdahl", amdahl},
                                      {"whole", whole},
                                      {0},
                                  }};
