/* Lab 14: Winograd's output tiles.  On the simulated h200 the staged case has a block tile of
 * 128x64. */
#include "autograder/tests/predictions/derive.h"

enum { POINTS_2 = 16, POINTS_4 = 36, TILES = 32, FILTERS = 32, CHANNELS = 8, BLOCK_TILES = 32 };

/* Multiplications of direct convolution in one map, over those of the tiles that cover it. */
static double reduction(const ConvProblem *p, int m, int points)
{
    double products = 0, own = 0;
    for (int op = 0; op < p->P; op++)
        for (int oq = 0; oq < p->Q; oq++) {
            products += p->R * p->S;
            if (op % m == 0 && oq % m == 0) own += points;
        }
    return products / own;
}

static double reduction_2x2(const Given *given)
{
    return reduction(&given->p, 2, POINTS_2);
}

static double reduction_4x4(const Given *given)
{
    return reduction(&given->p, 4, POINTS_4);
}

static int tiles_of(const ConvProblem *p, int m)
{
    int count = 0;
    for (int n = 0; n < p->N; n++)
        for (int op = 0; op < p->P; op += m)
            for (int oq = 0; oq < p->Q; oq += m)
                count++;
    return count;
}

static double blocks(const Given *given)
{
    int count = 0;
    for (int tile = 0; tile < tiles_of(&given->p, 2); tile += TILES)
        for (int k = 0; k < given->p.K; k += FILTERS)
            count++;
    return count;
}

/* Size of the arrays in shared memory, by the C compiler. */
static double shared(const Given *given)
{
    (void)given;
    struct Shared {
        float v[CHANNELS][POINTS_2][TILES];
        struct {
            float point[POINTS_2][FILTERS], apart[4];
        } u[CHANNELS];
    };
    return sizeof(struct Shared);
}

/* Every element of u, v and m; C and K fill their block tiles in this case. */
static double workspace(const Given *given)
{
    const ConvProblem *p = &given->p;
    int tiles = tiles_of(p, 4);
    while (tiles % BLOCK_TILES)
        tiles++;
    double bytes = 0;
    for (int point = 0; point < POINTS_4; point++) {
        for (int c = 0; c < p->C; c++)
            bytes += sizeof(float) * (double)(p->K + tiles);
        for (int k = 0; k < p->K; k++)
            bytes += sizeof(float) * (double)tiles;
    }
    return bytes;
}

/* The first three launches fill u, v and m, the last one y. */
static double stored(const Given *given)
{
    const ConvProblem *p = &given->p;
    double y = 0;
    for (int map = 0; map < p->N * p->K; map++)
        for (int op = 0; op < p->P; op++)
            y += sizeof(float) * (double)p->Q;
    return workspace(given) + y;
}

const LabDerivations derive_14 = {"14-winograd",
                                  {
                                      {"reduction-2x2", reduction_2x2},
                                      {"reduction-4x4", reduction_4x4},
                                      {"blocks", blocks},
                                      {"shared", shared},
                                      {"workspace", workspace},
                                      {"stored", stored},
                                      {0},
                                  }};
