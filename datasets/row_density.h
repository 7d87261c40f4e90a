/* row_density.h - share of X_unroll that remains without zeros. */
#ifndef CONVLAB_DATASETS_ROW_DENSITY_H
#define CONVLAB_DATASETS_ROW_DENSITY_H

#include "convlab/conv.h"

/* X_unroll has C*R*S rows, and a column for each output.  A patch is side x side neighbouring
 * outputs (fewer at the edge of a map); a row of it is kept if any of its columns is non-zero.
 * Returns the share of kept rows among all rows of all patches, 0 to 1.  x: N*C*H*W floats.  With
 * side 1 it is the non-zero share of X_unroll, where zeros of the padding count as zeros. */
double row_density(const ConvProblem *p, const float *x, int side);

#endif
