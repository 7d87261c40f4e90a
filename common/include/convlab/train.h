/* train.h - one step of training LeNet-5, or a network of its form with other sizes.
 *
 * Five layers, each a convolution as in conv.h without padding, stride 1:
 *
 *   z[n][k][p][q] = b[k] + sum over c, r, s of in[n][c][p + r][q + s] * w[k][c][r][s]
 *
 * C1 and C3 are followed by a ReLU, then by the mean of every 2 x 2 (pool = 2); C5 and F6 by a ReLU
 * alone (pool = 1); the last layer by a softmax.  In C5 the filters are as large as the maps, in F6
 * and the last layer maps are one pixel: there z = b + w in, a fully connected layer, and the same
 * indices hold.  LeNet-5's sizes are those of PMPP figure 16.2. */
#ifndef CONVLAB_TRAIN_H
#define CONVLAB_TRAIN_H

#include "convlab/conv.h"

enum { TRAIN_C1, TRAIN_C3, TRAIN_C5, TRAIN_F6, TRAIN_OUT, TRAIN_LAYERS };

/* `setting`: further inputs of the update. */
enum { TRAIN_RATE, TRAIN_MOMENTUM, TRAIN_DECAY, TRAIN_SETTINGS };

typedef struct TrainLayer {
    int C, H, W; /* its input: maps, rows, columns */
    int K, R, S; /* filters, their rows and columns */
    int P, Q;    /* its output, before pooling: H - R + 1 and W - S + 1, even where pool is 2 */
    int pool;    /* 2: the next layer's input has P/2 rows and Q/2 columns */
    int weights; /* offset of w[K][C][R][S] among the parameters; b[K] follows it */
} TrainLayer;

typedef struct TrainProblem {
    int N;          /* images of the mini-batch */
    int parameters; /* total number of weights and biases of all layers */
    TrainLayer layer[TRAIN_LAYERS];
} TrainProblem;

/* Offset of the layer's biases among the parameters. */
#define TRAIN_BIASES(layer) ((layer).weights + (layer).K * (layer).C * (layer).R * (layer).S)

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* One step of stochastic gradient descent on the mini-batch x[N][H][W] (one map), whose images have
 * the classes label[N] (integers from 0, as floats).  With p(n, k) the softmax of the last z:
 *
 *   loss     = mean over n of -log p(n, label[n])
 *   velocity = momentum * velocity + d loss / d parameter + decay * parameter
 *   parameter = parameter - rate * velocity               with the new velocity
 *
 * for every parameter, biases too.  y gets the new parameters, then the new velocities, then the
 * loss: 2 * parameters + 1 floats; it is initially uninitialised, and the inputs must not change.
 * All are device pointers; enqueue the work on `stream`, do not synchronise. */
CONVLAB_ENTRY void train_step(const TrainProblem *p, const float *x, const float *label,
                              const float *parameter, const float *velocity, const float *setting,
                              float *y, cudaStream_t stream);
#endif

#endif
