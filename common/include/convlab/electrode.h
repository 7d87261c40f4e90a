/* electrode.h - network that classifies recordings of a nerve cuff (lab 19).
 *
 *     x      N recordings of H electrodes x W samples          56 x 100 in the report
 *     CONV1  c filters of 1 x 8 x 8, + b, ReLU                 64 x 56 x 100
 *            2 x 2 max pooling, stride 2                       64 x 28 x 50
 *     CONV2  c filters of c x 4 x 4, + b, ReLU                 64 x 28 x 50
 *            2 x 2 max pooling, stride 2                       64 x 14 x 25
 *     CONV3  c filters of c x 2 x 2, + b, ReLU                 64 x 14 x 25 = 22,400, in this order
 *     FULL   f outputs of c*(H/4)*(W/4), + b, ReLU             256
 *     OUT    classes outputs of f, + b, softmax                3, y
 *
 * Each convolution has stride 1 and as many outputs as inputs ('same').  Its filters have even
 * sizes, so the padding of a map is asymmetric: (R-1)/2 rows above and R/2 below.  These are 3 and
 * 4, 1 and 2, 0 and 1, and the same to the left and to the right.
 *
 * w is one vector: each layer's weights, outermost index first (w[k][c][r][s], w[k][c]), then its
 * biases, layer after layer.  The last index of a tensor is the fastest. */
#ifndef CONVLAB_ELECTRODE_H
#define CONVLAB_ELECTRODE_H

#include "convlab/conv.h"

enum {
    ELECTRODE_CONV1,
    ELECTRODE_CONV2,
    ELECTRODE_CONV3,
    ELECTRODE_FULL,
    ELECTRODE_OUT,
    ELECTRODE_LAYERS
};

/* The side of each layer's filters; and the padding that `padded` adds before and after. */
enum { ELECTRODE_R1 = 8, ELECTRODE_R2 = 4, ELECTRODE_R3 = 2 };
enum { ELECTRODE_BEFORE = (ELECTRODE_R1 - 1) / 2, ELECTRODE_AFTER = ELECTRODE_R1 / 2 };

typedef struct ElectrodeProblem {
    int N, H, W;    /* recordings; electrodes and samples of each, multiples of 4 */
    int c;          /* filters of each convolution */
    int f, classes; /* outputs of FULL and of OUT */
    int padded;     /* 0; 1: x includes CONV1's padding, N x (H+7) x (W+7) */
    int weights[ELECTRODE_LAYERS], biases[ELECTRODE_LAYERS]; /* offset of each layer's in w */
    int parameters;                                          /* size of w */
} ElectrodeProblem;

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* x: N*H*W floats, or N*(H+7)*(W+7) if p->padded; w: p->parameters; y: N*classes.  Device pointers;
 * enqueue the work on `stream` and do not synchronise; y is initially uninitialised. */
CONVLAB_ENTRY void electrode_forward(const ElectrodeProblem *p, const float *x, const float *w,
                                     float *y, cudaStream_t stream);
#endif

#endif
