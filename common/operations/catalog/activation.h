/* activation.h - the activations of convlab/layers.h in fp64, and the roundings of one in fp32. */
#ifndef CONVLAB_OPERATIONS_ACTIVATION_H
#define CONVLAB_OPERATIONS_ACTIVATION_H

/* f(z) */
double activation_value(int kind, double z);

/* f'(z); of ReLU 1 above 0 and 0 below. */
double activation_derivative(int kind, double z);

/* Upper bound of the rounding errors of f(z) in fp32, in units of u = 2^-24, if z itself has a
 * relative error of u.  The CUDA C++ Programming Guide's table "Single-Precision Mathematical
 * Standard Library Functions with Maximum ULP Error" has 2 ulp for tanhf and for expf.  An ulp is
 * at most 2 u of a value; additions and divisions round by u.
 *
 *     ReLU      |f|, which is the rounding of z
 *     tanh      4 |f| of tanhf, |z| f'(z) of z's rounding
 *     sigmoid   e = exp(-z) has a relative error of 4 + |z|, which is multiplied by 1 - f in
 *               the sum 1 + e; the addition and the division round once each:
 *               f ((1 - f) (4 + |z|) + 2)
 *
 * Values below the smallest normal float need not be accurate, so that float is added. */
double activation_roundings(int kind, double z);

/* The same for exp(z) / sum in a softmax of K summands, with z = x - max and `mean` the sum of p_j
 * |z_j|. Each exponential has the error of its argument's rounding, |z|, and 4 of expf.  The sum
 * has the mean of its summands' errors and K - 1 independent roundings, which give twice their root
 * (all of them would accept 12 bits with a thousand classes).  The division has 1. */
double softmax_roundings(double value, double z, double mean, int K);

/* Softmax of K logits z with a spread each, in units of u: the values, and their spreads from the
 * logits' independent errors (dy_k = y_k (dz_k - sum of y_j dz_j)) and the function's own
 * roundings. */
void softmax_carry(int K, const double *z, const double *z_spread, double *value, double *spread);

#endif
