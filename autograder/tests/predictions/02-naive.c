/* Lab 02: one thread per output, in blocks of 16 x 16. */
#include <stdlib.h>

#include "autograder/tests/predictions/derive.h"

enum { TILE = 16 };

static int inside(const ConvProblem *p, int op, int oq, int r, int s)
{
    int ih = op * p->stride_h + r - p->pad_top, iw = oq * p->stride_w + s - p->pad_left;
    return ih >= 0 && ih < p->H && iw >= 0 && iw < p->W;
}

/* Adds blocks until every output is covered. */
static double blocks(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int map = 0; map < p->N * p->K; map++)
        for (int op = 0; op < p->P; op += TILE)
            for (int oq = 0; oq < p->Q; oq += TILE)
                count++;
    return count;
}

/* Each thread loads a pixel and a weight, 4 bytes each, for every tap inside the input. */
static double bytes(const Given *given)
{
    const ConvProblem *p = &given->p;
    double of_a_map = 0, all = 0;
    for (int op = 0; op < p->P; op++)
        for (int oq = 0; oq < p->Q; oq++)
            for (int tap = 0; tap < p->R * p->S; tap++)
                of_a_map += inside(p, op, oq, tap / p->S, tap % p->S);
    for (int map = 0; map < p->N * p->K * p->C; map++)
        all += of_a_map;
    return all * 8;
}

/* Marks the elements that a kernel must access, and counts the marks. */
static double least_bytes(const Given *given)
{
    const ConvProblem *p = &given->p;
    size_t pixels = (size_t)p->N * p->C * p->H * p->W, marks = 0;
    char *read = calloc(pixels, 1);
    for (int image = 0; read && image < p->N * p->C; image++)
        for (int op = 0; op < p->P; op++)
            for (int oq = 0; oq < p->Q; oq++)
                for (int r = 0; r < p->R; r++)
                    for (int s = 0; s < p->S; s++) {
                        int ih = op * p->stride_h + r - p->pad_top;
                        int iw = oq * p->stride_w + s - p->pad_left;
                        if (inside(p, op, oq, r, s)) read[(image * p->H + ih) * p->W + iw] = 1;
                    }
    for (size_t i = 0; read && i < pixels; i++)
        marks += (size_t)read[i];
    free(read);
    for (int k = 0; k < p->K; k++)
        marks += (size_t)(p->C * p->R * p->S + p->N * p->P * p->Q);
    return (double)marks * 4;
}

typedef struct Loads {
    double requests, sectors;
} Loads;

/* Loads of x and w by one warp (two rows of its tile) at one tap. */
static void warp_load(const ConvProblem *p, int image, int op, int oq, int r, int s, Loads *loads)
{
    int64_t byte[MACHINE_WARP_SIZE];
    int any = 0;
    for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++) {
        int row = op + lane / TILE, column = oq + lane % TILE;
        int on = row < p->P && column < p->Q && inside(p, row, column, r, s);
        int ih = row * p->stride_h + r - p->pad_top, iw = column * p->stride_w + s - p->pad_left;
        byte[lane] = on ? 4 * (int64_t)((image * p->H + ih) * p->W + iw) : -1;
        any |= on;
    }
    loads->requests += 2 * any;
    loads->sectors += sectors_touched(byte) + any; /* w: one float for all lanes */
}

/* Every filter reads the same pixels, so one filter is enough. */
static double sectors(const Given *given)
{
    const ConvProblem *p = &given->p;
    Loads loads = {0, 0};
    for (int image = 0; image < p->N * p->C; image++)
        for (int op = 0; op < p->P; op += 2)
            for (int oq = 0; oq < p->Q; oq += TILE)
                for (int tap = 0; tap < p->R * p->S; tap++)
                    warp_load(p, image, op, oq, tap / p->S, tap % p->S, &loads);
    return loads.sectors / loads.requests;
}

const LabDerivations derive_02 = {"02-naive",
                                  {
                                      {"blocks", blocks},
                                      {"blocks-electrode", blocks},
                                      {"bytes", bytes},
                                      {"least-bytes", least_bytes},
                                      {"bytes-electrode", bytes},
                                      {"sectors", sectors},
                                      {0},
                                  }};
