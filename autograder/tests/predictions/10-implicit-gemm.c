/* Lab 10: implicit GEMM.  On the simulated h200 the tile of 16 filters by 64 columns and 32 rows
 * has the lowest cost for both cases of the questions; electrode-3's rows are split into 8
 * slices. */
#include <math.h>

#include "autograder/tests/predictions/derive.h"

enum { FILTERS = 16, COLUMNS = 64, DEPTH = 32, THREADS = 64, SLICES = 8, OFFSETS = 1024 };

/* Assigns each element of the next tiles to the thread that loads it; all must have the same
 * number. */
static double waiting(const Given *given)
{
    (void)given;
    int floats[THREADS] = {0};
    for (int row = 0; row < DEPTH; row++) {
        for (int filter = 0; filter < FILTERS; filter++)
            floats[filter % (THREADS / 8) * 8 + row % 8]++;
        for (int column = 0; column < COLUMNS; column++)
            floats[column % THREADS]++;
    }
    for (int t = 1; t < THREADS; t++)
        if (floats[t] != floats[0]) return NAN;
    return floats[0];
}

/* The C compiler adds the sizes of the shared arrays. */
static double shared(const Given *given)
{
    (void)given;
    struct Offset {
        int32_t input, tap;
    };
    struct Shared {
        float weights[2][DEPTH][FILTERS + 4], inputs[2][DEPTH][COLUMNS];
        struct Offset offset[OFFSETS];
    };
    return sizeof(struct Shared);
}

/* The kernel's loops, reduced to their barriers. */
static double barriers(const Given *given)
{
    const ConvProblem *p = &given->p;
    int rows = p->C * p->R * p->S, count = 0;
    for (int first = 0; first < rows; first += OFFSETS) {
        int some = rows - first < OFFSETS ? rows - first : OFFSETS;
        count++;
        for (int row = -DEPTH; row < some; row += DEPTH)
            count++;
    }
    return count;
}

/* One row of a 64x128 tile, float by float. */
static double intensity(const Given *given)
{
    (void)given;
    double flops = 0, bytes = 0;
    for (int filter = 0; filter < 64; filter++)
        bytes += sizeof(float);
    for (int column = 0; column < 128; column++) {
        bytes += sizeof(float);
        for (int filter = 0; filter < 64; filter++)
            flops += 2;
    }
    return flops / bytes;
}

static int slice_of(const ConvProblem *p)
{
    return p->C * p->R * p->S / SLICES; /* a multiple of DEPTH in this case */
}

static double blocks(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int row = 0; row < p->C * p->R * p->S; row += slice_of(p))
        for (int k = 0; k < p->K; k += FILTERS)
            for (int column = 0; column < p->N * p->P * p->Q; column += COLUMNS)
                count++;
    return count;
}

/* True if the input for this row and column of X_unroll is inside the image. */
static int inside(const ConvProblem *p, int row, int column)
{
    int s = row % p->S, r = row / p->S % p->R, oq = column % p->Q, op = column / p->Q % p->P;
    int ih = op * p->stride_h - p->pad_top + r, iw = oq * p->stride_w - p->pad_left + s;
    return ih >= 0 && ih < p->H && iw >= 0 && iw < p->W;
}

/* Loads of w and x by all blocks, and loads of the slices' results by reduce_kernel. */
static double floats_loaded(const ConvProblem *p)
{
    int rows = p->C * p->R * p->S, columns = p->N * p->P * p->Q;
    double loaded = 0;
    for (int k = 0; k < p->K; k += FILTERS)
        for (int j = 0; j < columns; j += COLUMNS)
            for (int row = 0; row < rows; row++) {
                loaded += FILTERS; /* all exist: K is a multiple of FILTERS */
                for (int g = 0; g < COLUMNS; g++)
                    loaded += inside(p, row, j + g < columns ? j + g : columns - 1);
            }
    for (int piece = 0; piece < SLICES; piece++)
        loaded += (double)p->K * columns;
    return loaded;
}

static double reduction(const Given *given)
{
    const ConvProblem *p = &given->p;
    double products = 0;
    for (int output = 0; output < p->N * p->K * p->P * p->Q; output++)
        products += p->C * p->R * p->S;
    return products * 8 / (floats_loaded(p) * 4);
}

const LabDerivations derive_10 = {"10-implicit-gemm",
                                  {
                                      {"waiting", waiting},
                                      {"shared", shared},
                                      {"barriers", barriers},
                                      {"intensity", intensity},
                                      {"blocks", blocks},
                                      {"reduction", reduction},
                                      {0},
                                  }};
