/* @OPERATION@.h - the operation of lab @NUMBER@. */
#ifndef CONVLAB_@GUARD@_H
#define CONVLAB_@GUARD@_H

#include "convlab/conv.h"

/* Sums of S neighbours in each of N rows of W values:
 *
 *     y[n][q] = x[n][q] + x[n][q + 1] + ... + x[n][q + S - 1],    0 <= q < Q = W - S + 1 */
typedef struct @STRUCT@ {
    int N, W, S;
    int Q; /* derived */
} @STRUCT@;

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* x: N*W floats, y: N*Q floats, device pointers.  Enqueue the work on `stream`; do not
 * synchronise.  y is initially uninitialised. */
CONVLAB_ENTRY void @OPERATION@(const @STRUCT@ *p, const float *x, float *y, cudaStream_t stream);
#endif

#endif
