/* Lab 09: X_unroll in memory, then a matrix product in tiles of 64 x 64. */
#include "autograder/tests/predictions/derive.h"

enum { TILE = 64 };

static int inside(const ConvProblem *p, int op, int oq, int r, int s)
{
    int ih = op * p->stride_h + r - p->pad_top, iw = oq * p->stride_w + s - p->pad_left;
    return ih >= 0 && ih < p->H && iw >= 0 && iw < p->W;
}

/* Elements of X_unroll: one column per output pixel of every image, one row per tap. */
static double elements(const ConvProblem *p)
{
    double count = 0;
    for (int n = 0; n < p->N; n++)
        for (int op = 0; op < p->P; op++)
            for (int oq = 0; oq < p->Q; oq++)
                for (int tap = 0; tap < p->C * p->R * p->S; tap++)
                    count++;
    return count;
}

static double expansion(const Given *given)
{
    const ConvProblem *p = &given->p;
    double inputs = 0;
    for (int image = 0; image < p->N * p->C; image++)
        for (int ih = 0; ih < p->H; ih++)
            inputs += p->W;
    return elements(p) / inputs;
}

static double workspace(const Given *given)
{
    return elements(&given->p) * sizeof(float);
}

static double blocks(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int k = 0; k < p->K; k += TILE)
        for (int column = 0; column < p->N * p->P * p->Q; column += TILE)
            count++;
    return count;
}

/* unroll_kernel loads one input per tap inside the image; a block of gemm_kernel loads its rows of
 * both matrices.  8 images fit in WORKSPACE, and there are too few rows for split-K. */
static double floats_loaded(const ConvProblem *p)
{
    int rows = p->C * p->R * p->S, columns = p->N * p->P * p->Q;
    double loaded = 0;
    for (int op = 0; op < p->P; op++)
        for (int oq = 0; oq < p->Q; oq++)
            for (int tap = 0; tap < p->R * p->S; tap++)
                loaded += p->N * p->C * inside(p, op, oq, tap / p->S, tap % p->S);
    for (int k = 0; k < p->K; k += TILE)
        for (int j = 0; j < columns; j += TILE)
            for (int row = 0; row < rows; row++) {
                loaded += p->K - k < TILE ? p->K - k : TILE;
                loaded += columns - j < TILE ? columns - j : TILE;
            }
    return loaded;
}

static double reduction(const Given *given)
{
    const ConvProblem *p = &given->p;
    double products = 0;
    for (int k = 0; k < p->K; k++)
        products += elements(p);
    return products * 8 / (floats_loaded(p) * 4);
}

const LabDerivations derive_09 = {"09-im2col",
                                  {
                                      {"expansion", expansion},
                                      {"expansion-uneven", expansion},
                                      {"workspace", workspace},
                                      {"blocks", blocks},
                                      {"reduction", reduction},
                                      {0},
                                  }};
