/* activation.h - the activations of convlab/layers.h in fp64, and the roundings of one in fp32. */
#ifndef CONVLAB_OPERATIONS_ACTIVATION_H
#define CONVLAB_OPERATIONS_ACTIVATION_H

/* f(z) */
double activation_value(int kind, double z);

/* f'(z); of ReLU 1 above 0 and 0 below. */
double activation_slope(int kind, double z);

/* What the evaluation of f(z) in fp32 rounds at most, in units of u = 2^-24, where z itself was
 * rounded once (relatively u).  The CUDA C++ Programming Guide's table "Single-Precision
 * Mathematical Standard Library Functions with Maximum ULP Error" has 2 ulp for tanhf and for expf,
 * and an ulp is at most 2 u of a value; additions and divisions round by u.
 *
 *     ReLU      |f|, which is the rounding of z
 *     tanh      4 |f| of tanhf, |z| f'(z) of z's rounding
 *     sigmoid   e = exp(-z) is off by 4 + |z| of itself, which is 1 - f of the sum 1 + e; the
 *               addition and the division round once each: f ((1 - f) (4 + |z|) + 2)
 *
 * Below the smallest normal float nothing is asked, so that is added. */
double activation_roundings(int kind, double z);

/* The same of exp(z) / sum as softmax has it, of K summands, with z = x - max and `mean` the sum
 * of p_j |z_j|: each exponential is off by its argument's rounding, |z|, and 4 of expf; the sum by
 * the mean of its summands' errors and by K - 1 roundings of its own, which are independent and
 * come to their root, doubled here (all of them would let 12 bits of a thousand classes pass); the
 * division by 1. */
double softmax_roundings(double value, double z, double mean, int K);

/* Softmax of K logits z with a spread each, in units of u: values, and what the logits' independent
 * errors (dy_k = y_k (dz_k - sum of y_j dz_j)) and its own roundings come to. */
void softmax_carry(int K, const double *z, const double *z_spread, double *value, double *spread);

#endif
