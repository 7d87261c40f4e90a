#include "datasets/row_density.h"

#include <stddef.h>

/* Whether row (r, s) of one channel has a non-zero value in the patch whose first output is (op,
 * oq). */
static int row_is_nonzero(const ConvProblem *p, const float *channel, int op, int oq, int side,
                          int r, int s)
{
    for (int i = op; i < op + side && i < p->P; i++)
        for (int j = oq; j < oq + side && j < p->Q; j++) {
            int h = i * p->stride_h - p->pad_top + r, w = j * p->stride_w - p->pad_left + s;
            if (h < 0 || h >= p->H || w < 0 || w >= p->W) continue;
            if (channel[(size_t)h * p->W + w] != 0) return 1;
        }
    return 0;
}

double row_density(const ConvProblem *p, const float *x, int side)
{
    double kept = 0, rows = 0;
    for (int map = 0; map < p->N * p->C; map++, x += (size_t)p->H * p->W)
        for (int op = 0; op < p->P; op += side)
            for (int oq = 0; oq < p->Q; oq += side)
                for (int tap = 0; tap < p->R * p->S; tap++, rows++)
                    kept += row_is_nonzero(p, x, op, oq, side, tap / p->S, tap % p->S);
    return kept / rows;
}
