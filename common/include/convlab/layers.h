/* layers.h - the layers of a network other than convolution, and a whole network (lab 16).
 *
 * In memory the last index of a tensor is the fastest: x[n][c][h][w].  Pointers are device
 * pointers; enqueue the work on `stream` and do not synchronise; y is initially uninitialised. */
#ifndef CONVLAB_LAYERS_H
#define CONVLAB_LAYERS_H

#include "convlab/conv.h"

/* ---- pooling ------------------------------------------------------------------------------
 *
 * Output (n, c, p, q) is computed from the inputs of map (n, c) under a window of R x S:
 *
 *     h = p*stride_h + r - pad_top,  w = q*stride_w + s - pad_left,   0 <= r < R, 0 <= s < S,
 *
 * without those outside 0..H-1, 0..W-1.  Every window has an input inside. */
enum {
    POOL_MAX,           /* the largest input inside */
    POOL_AVERAGE,       /* the sum of those inside, divided by their number */
    POOL_AVERAGE_PADDED /* the same sum, divided by R*S: padding counts as zeros */
};

typedef struct PoolProblem {
    int N, C, H, W; /* images, maps, input height and width */
    int R, S;       /* window height and width */
    int P, Q;       /* output height and width */
    int pad_top, pad_left, pad_bottom, pad_right;
    int stride_h, stride_w;
    int kind;
} PoolProblem;

/* ---- bias and activation ------------------------------------------------------------------
 *
 *     y[n][c][h][w] = f(x[n][c][h][w] + b[c]) */
enum {
    ACTIVATE_RELU,   /* f(z) = z where z > 0, else 0 */
    ACTIVATE_TANH,   /* f(z) = tanh(z) */
    ACTIVATE_SIGMOID /* f(z) = 1 / (1 + exp(-z)) */
};

typedef struct ActivateProblem {
    int N, C, H, W;
    int kind;
} ActivateProblem;

/* ---- a fully connected layer --------------------------------------------------------------
 *
 *     y[n][k] = sum over c of x[n][c] * w[k][c] */
typedef struct FcProblem {
    int N, C, K; /* images, inputs, outputs */
} FcProblem;

/* ---- softmax ------------------------------------------------------------------------------
 *
 *     y[n][k] = exp(x[n][k]) / sum over j of exp(x[n][j]),
 *
 * which does not change if a number is subtracted from all x[n][...] of a row first. */
typedef struct SoftmaxProblem {
    int N, K;
    int offset; /* size of the number, of either sign, around which the logits of an image are */
} SoftmaxProblem;

/* ---- LeNet-5 ------------------------------------------------------------------------------
 *
 *     x     N images of 1 x 32 x 32
 *     C1    6 filters of 1 x 5 x 5, + b, f    6 x 28 x 28
 *     S2    2 x 2 pooled, stride 2            6 x 14 x 14
 *     C3    16 filters of 6 x 5 x 5, + b, f   16 x 10 x 10
 *     S4    2 x 2 pooled, stride 2            16 x 5 x 5 = 400, in this order
 *     C5    120 outputs of 400, + b, f
 *     F6    84 outputs of 120, + b, f
 *     OUT   10 outputs of 84, + b, softmax    y
 *
 * w is one vector: each layer's weights, outermost index first (w[k][c][r][s], w[k][c]), then its
 * biases, layer after layer. */
enum {
    LENET_C1_W = 0,
    LENET_C1_B = LENET_C1_W + 6 * 1 * 5 * 5,
    LENET_C3_W = LENET_C1_B + 6,
    LENET_C3_B = LENET_C3_W + 16 * 6 * 5 * 5,
    LENET_C5_W = LENET_C3_B + 16,
    LENET_C5_B = LENET_C5_W + 120 * 400,
    LENET_F6_W = LENET_C5_B + 120,
    LENET_F6_B = LENET_F6_W + 84 * 120,
    LENET_OUT_W = LENET_F6_B + 84,
    LENET_OUT_B = LENET_OUT_W + 10 * 84,
    LENET_WEIGHTS = LENET_OUT_B + 10
};

typedef struct LenetProblem {
    int N;
    int activation; /* ACTIVATE_... */
    int pool;       /* POOL_MAX or POOL_AVERAGE */
} LenetProblem;

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* x: N*C*H*W, y: N*C*P*Q floats. */
CONVLAB_ENTRY void pool_forward(const PoolProblem *p, const float *x, float *y,
                                cudaStream_t stream);
/* x, y: N*C*H*W, b: C floats. */
CONVLAB_ENTRY void activate_forward(const ActivateProblem *p, const float *x, const float *b,
                                    float *y, cudaStream_t stream);
/* x: N*C, w: K*C, y: N*K floats. */
CONVLAB_ENTRY void fc_forward(const FcProblem *p, const float *x, const float *w, float *y,
                              cudaStream_t stream);
/* x, y: N*K floats. */
CONVLAB_ENTRY void softmax_forward(const SoftmaxProblem *p, const float *x, float *y,
                                   cudaStream_t stream);
/* x: N*1024, w: LENET_WEIGHTS, y: N*10 floats. */
CONVLAB_ENTRY void lenet_forward(const LenetProblem *p, const float *x, const float *w, float *y,
                                 cudaStream_t stream);
#endif

#endif
