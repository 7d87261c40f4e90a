/* Lab 12: TMA, mbarriers and wgmma. */
#include "autograder/tests/predictions/derive.h"

enum {
    DEPTH = 32,
    ROW = 128,
    FILTERS = 128,
    PIXELS = 256,
    STAGES = 4,
    BARRIER = 8,
    ALIGNMENT = 1024
};

/* Channels are assigned to chunks until none remains. */
static int chunks_of_tap(const Given *given)
{
    int chunks = 0;
    for (int c = 0; c < given->p.C; c += DEPTH)
        chunks++;
    return chunks;
}

static double chunks(const Given *given)
{
    double all = 0;
    for (int r = 0; r < given->p.R; r++)
        for (int s = 0; s < given->p.S; s++)
            all += chunks_of_tap(given);
    return all;
}

/* Counts the multiplications of one tap; only those with an existing channel are needed. */
static double padded(const Given *given)
{
    double all = 0, real = 0;
    for (int c = 0; c < chunks_of_tap(given) * DEPTH; c++) {
        all++;
        real += c < given->p.C;
    }
    return all / real;
}

/* m64n256k8: 8 words per filter and per pixel, and all pairs of filters and pixels. */
static double bytes(const Given *given)
{
    (void)given;
    double bytes = 0, products = 0;
    for (int row = 0; row < 64 + 256; row++)
        bytes += 8 * sizeof(float);
    for (int filter = 0; filter < 64; filter++)
        for (int pixel = 0; pixel < 256; pixel++)
            products += 8;
    return bytes / products;
}

/* Adds the stages: the rows and two mbarriers of each. */
static double shared(const Given *given)
{
    (void)given;
    double bytes = ALIGNMENT;
    for (int stage = 0; stage < STAGES; stage++)
        bytes += (FILTERS + PIXELS) * ROW + 2 * BARRIER;
    return bytes;
}

static double blocks(const Given *given)
{
    const ConvProblem *p = &given->p;
    double blocks = 0;
    for (int j = 0; j < p->N * p->P * p->Q; j += PIXELS)
        for (int k = 0; k < p->K; k += FILTERS)
            blocks++;
    return blocks;
}

const LabDerivations derive_12 = {"12-hopper",
                                  {{"chunks", chunks},
                                   {"padded", padded},
                                   {"bytes", bytes},
                                   {"shared", shared},
                                   {"blocks", blocks},
                                   {0}}};
