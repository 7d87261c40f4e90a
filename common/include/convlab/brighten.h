/* brighten.h - brightening of a picture (lab 00). */
#ifndef CONVLAB_BRIGHTEN_H
#define CONVLAB_BRIGHTEN_H

#include "convlab/conv.h"

/*     y[i] = gain * x[i] + lift,    0 <= i < pixels */
typedef struct BrightenProblem {
    int pixels;
    int gain, lift;
} BrightenProblem;

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* x, y: `pixels` floats each, device pointers.  Enqueue the work on `stream`; do not synchronise.
 * y is initially uninitialised. */
CONVLAB_ENTRY void brighten(const BrightenProblem *p, const float *x, float *y,
                            cudaStream_t stream);
#endif

#endif
