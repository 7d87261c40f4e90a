/* kept.h - what is left of X_unroll once the zeros are left out. */
#ifndef CONVLAB_DATASETS_KEPT_H
#define CONVLAB_DATASETS_KEPT_H

#include "convlab/conv.h"

/* X_unroll has C*R*S rows, and a column for each output.  A patch is side x side neighbouring
 * outputs (fewer at the edge of a map); a row of it is kept if any of its columns has a value.
 * Returns the kept ones' part of all rows of all patches, 0 to 1.  x: N*C*H*W floats.  With side 1
 * it is the part of X_unroll that is not zero, zeros of the padding included. */
double kept_rows(const ConvProblem *p, const float *x, int side);

#endif
