/* train_oracle.h - one training step in fp64, with a bound for the fp32 error of every value. */
#ifndef CONVLAB_TRAINING_TRAIN_ORACLE_H
#define CONVLAB_TRAINING_TRAIN_ORACLE_H

#include <stddef.h>

#include "convlab/train.h"

/* A value, and the size of the error that it has in fp32, as a standard deviation.
 *
 * The method is running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
 * ed., section 3.3).  It assumes independent errors of mean zero (Higham and Mary, A New Approach
 * to Probabilistic Rounding Error Analysis, 2019).  Then m roundings give an error of sqrt(m) u of
 * the terms' absolute values, compared with m u in the worst case, and the squares of independent
 * errors add up.  The worst case is useless here: it is multiplied by the sum of each unit's
 * weights in five layers forward and four backward, and would exceed LeNet-5's gradients
 * (test_train_step.c).
 *
 * The allowed error is TRAIN_ALLOWED times that size, and two roundings of the value.  The largest
 * error of fp32 is an eighth of it, and factors of 16 bits exceed it (test_train_step.c).  An image
 * is drawn again if a unit is within TRAIN_REACH times that size of a kink. */
typedef struct Near {
    double v, e;
} Near;

enum { TRAIN_REACH = 16, TRAIN_ALLOWED = 4 };

/* Mistakes that the step can simulate, to find out whether a wrong output results from one. */
typedef enum TrainSlip {
    SLIP_NONE,
    SLIP_MEAN_TWICE,       /* the gradient is divided by N twice */
    SLIP_NO_MEAN,          /* the gradient is not divided by N */
    SLIP_LAST_IMAGE,       /* the sum over the batch includes only its last image */
    SLIP_FIRST_IMAGE,      /* only its first image */
    SLIP_FORWARD_BIAS,     /* forward pass without the biases */
    SLIP_MAPS_BIAS,        /* without those of the convolutions */
    SLIP_FORWARD_RELU,     /* forward pass without the ReLU */
    SLIP_POOL_SUM,         /* forward pass: the sum of 2 x 2 values, not the mean */
    SLIP_SLOPE,            /* backward pass without the ReLU's derivative */
    SLIP_MAPS_SLOPE,       /* without that of the convolutions */
    SLIP_QUARTER,          /* backward pass without the mean's factor 1/4 */
    SLIP_LABEL,            /* the softmax's gradient without the label */
    SLIP_LOSS_SUM,         /* the loss is not divided by N */
    SLIP_FLIPPED,          /* C3's filter is flipped in the backward pass */
    SLIP_BIAS_GRADIENT,    /* the biases' gradient is 0 */
    SLIP_BIAS_STILL,       /* biases and their velocities are not updated */
    SLIP_NO_DECAY,         /* no weight decay */
    SLIP_DECAY_SIGN,       /* weight decay with the wrong sign */
    SLIP_BIAS_NO_DECAY,    /* no weight decay for the biases */
    SLIP_NO_MOMENTUM,      /* the velocity is the gradient alone */
    SLIP_MOMENTUM_AFTER,   /* the step uses the gradient, and momentum is added only afterwards */
    SLIP_OLD_VELOCITY,     /* the step uses the old velocity */
    SLIP_RATE_IN_VELOCITY, /* the velocity already includes the learning rate */
    SLIP_UPHILL,           /* the step has the wrong sign */
    SLIPS
} TrainSlip;

/* One step.  x: N*H*W, label: N floats; parameter, velocity: p->parameters; result: 2*parameters+1,
 * as train_step's y.  -1: out of memory. */
int train_oracle(const TrainProblem *p, const float *x, const float *label, const Near *parameter,
                 const Near *velocity, const float *setting, TrainSlip slip, Near *result);

/* Tests the images n with at_kink[n] != 0, and keeps the flag if an input of a ReLU is so close to
 * zero that fp32 may compute the other sign.  Then one image's contribution to a gradient appears
 * or disappears, which exceeds all rounding errors.  Returns their number, or -1: out of memory. */
int train_kinks(const TrainProblem *p, const float *x, const Near *parameter,
                unsigned char *at_kink);

/* Number of terms in the gradient of parameter `index`. */
double train_terms(const TrainProblem *p, size_t index);

/* The parameter's layer. */
int train_layer_of(const TrainProblem *p, size_t index);

#endif
