/* depthwise.h - grouped, depthwise and depthwise-separable convolution (lab 21).
 *
 * In memory the last index of a tensor is the fastest.  Pointers are device pointers; enqueue the
 * work on `stream` and do not synchronise; y is initially uninitialised. */
#ifndef CONVLAB_DEPTHWISE_H
#define CONVLAB_DEPTHWISE_H

#include "convlab/conv.h"

/* ---- grouped convolution ------------------------------------------------------------------
 *
 * The C channels and the K filters are divided into `groups` parts of equal size.  Filter k belongs
 * to group g = k / (K/groups) and reads only the channels of that group:
 *
 *     y[n][k][p][q] = sum over c, r, s of x[n][g*(C/groups) + c][h][w] * w[k][c][r][s],
 *
 *     0 <= c < C/groups,  h = p*stride_h + r*dilation_h - pad_top,
 *                         w = q*stride_w + s*dilation_w - pad_left,
 *
 * with x taken as zero outside 0..H-1, 0..W-1.  groups = 1 is an ordinary convolution.  groups = C
 * is a depthwise convolution: each filter reads one channel. */
typedef struct GroupedProblem {
    int N, C, H, W; /* images, channels, input height and width */
    int K, R, S;    /* filters, filter height and width */
    int groups;     /* divides C and K */
    int P, Q;       /* output height and width */
    int pad_top, pad_left, pad_bottom, pad_right;
    int stride_h, stride_w;
    int dilation_h, dilation_w; /* distance between neighbouring taps in the input; 1: adjacent */
} GroupedProblem;

/* ---- depthwise-separable convolution --------------------------------------------------------
 *
 * A depthwise convolution with one filter per channel, ReLU, then a pointwise (1 x 1) convolution:
 *
 *     t[n][c][p][q] = max(0, sum over r, s of x[n][c][h][w] * d[c][r][s]),
 *     y[n][k][p][q] = sum over c of t[n][c][p][q] * w[k][c],
 *
 *     h = p*stride_h + r - pad_top,  w = q*stride_w + s - pad_left. */
typedef struct SeparableProblem {
    int N, C, H, W; /* images, channels, input height and width */
    int K, R, S;    /* pointwise filters; height and width of the depthwise filters */
    int P, Q;       /* output height and width */
    int pad_top, pad_left, pad_bottom, pad_right;
    int stride_h, stride_w;
} SeparableProblem;

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* x: N*C*H*W, w: K*(C/groups)*R*S, y: N*K*P*Q floats. */
CONVLAB_ENTRY void grouped_forward(const GroupedProblem *p, const float *x, const float *w,
                                   float *y, cudaStream_t stream);
/* x: N*C*H*W, d: C*R*S, w: K*C, y: N*K*P*Q floats. */
CONVLAB_ENTRY void separable_forward(const SeparableProblem *p, const float *x, const float *d,
                                     const float *w, float *y, cudaStream_t stream);
#endif

#endif
