/* train_oracle.h - one training step in fp64, with a bound of what fp32 makes of every value. */
#ifndef CONVLAB_TRAINING_TRAIN_ORACLE_H
#define CONVLAB_TRAINING_TRAIN_ORACLE_H

#include <stddef.h>

#include "convlab/train.h"

/* A value, and the size of the error that it has in fp32, as a standard deviation.
 *
 * This is running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
 * section 3.3) with errors that are independent and as often up as down (Higham and Mary, A New
 * Approach to Probabilistic Rounding Error Analysis, 2019): m roundings make sqrt(m) u of the
 * products' absolute values, where the worst case is m u, and errors of different factors add up as
 * squares.  The worst case is of no use here: five layers forward and four back multiply it by the
 * sum of each unit's weights, and LeNet-5's gradients would drown in it (test_train_step.c).
 *
 * What is allowed is TRAIN_REACH times that size.  Outputs whose errors are independent would pass
 * it once in 1e30 times; the rest of it is for what errors have in common: those of one image's
 * softmax go back to all of its maps. */
typedef struct Near {
    double v, e;
} Near;

enum { TRAIN_REACH = 16 };

/* Mistakes that the step can make on request, to see whether a wrong output comes of one. */
typedef enum TrainSlip {
    SLIP_NONE,
    SLIP_MEAN_TWICE,       /* the gradient is divided by N twice */
    SLIP_NO_MEAN,          /* and not at all */
    SLIP_LAST_IMAGE,       /* the sum over the batch has its last image only */
    SLIP_FIRST_IMAGE,      /* and its first */
    SLIP_FORWARD_BIAS,     /* forward without the biases */
    SLIP_MAPS_BIAS,        /* those of the convolutions alone */
    SLIP_FORWARD_RELU,     /* forward without the ReLU */
    SLIP_POOL_SUM,         /* forward, the sum of 2 x 2, not the mean */
    SLIP_SLOPE,            /* backward without the ReLU's derivative */
    SLIP_MAPS_SLOPE,       /* without that of the convolutions alone */
    SLIP_QUARTER,          /* backward, the mean's 1/4 left out */
    SLIP_LABEL,            /* the softmax's gradient without the label */
    SLIP_LOSS_SUM,         /* the loss is not divided by N */
    SLIP_FLIPPED,          /* C3's filter is turned round where the error goes back */
    SLIP_BIAS_GRADIENT,    /* the biases' gradient is 0 */
    SLIP_BIAS_STILL,       /* biases and their velocities stay as they were */
    SLIP_NO_DECAY,         /* no weight decay */
    SLIP_DECAY_SIGN,       /* weight decay with the wrong sign */
    SLIP_BIAS_NO_DECAY,    /* none for the biases */
    SLIP_NO_MOMENTUM,      /* the velocity is the gradient alone */
    SLIP_MOMENTUM_AFTER,   /* the step takes the gradient, and only then comes the momentum */
    SLIP_OLD_VELOCITY,     /* the step takes the velocity that came in */
    SLIP_RATE_IN_VELOCITY, /* the velocity holds the rate already */
    SLIP_UPHILL,           /* the step goes up */
    SLIPS
} TrainSlip;

/* One step.  x: N*H*W, label: N floats; parameter, velocity: p->parameters; result: 2*parameters+1,
 * as train_step's y.  -1 when memory is short. */
int train_oracle(const TrainProblem *p, const float *x, const float *label, const Near *parameter,
                 const Near *velocity, const float *setting, TrainSlip slip, Near *result);

/* Looks at the images n with at_kink[n] != 0, and leaves it so where a unit stands so near to the
 * kink of its ReLU that fp32 may take its other side.  There one image's share of a gradient comes
 * or goes, which is more than all roundings.  How many there are, or -1 when memory is short. */
int train_kinks(const TrainProblem *p, const float *x, const Near *parameter,
                unsigned char *at_kink);

/* How many products the gradient of parameter `index` sums up. */
double train_products(const TrainProblem *p, size_t index);

/* The layer that the parameter belongs to. */
int train_layer_of(const TrainProblem *p, size_t index);

#endif
