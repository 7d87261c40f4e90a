#include "common/operations/catalog/activation.h"

#include <float.h>
#include <math.h>

#include "convlab/layers.h"

/* The smallest normal float, in units of u. */
#define LEAST (FLT_MIN * 0x1p24)

double activation_value(int kind, double z)
{
    switch (kind) {
    case ACTIVATE_RELU:
        return z > 0 ? z : 0;
    case ACTIVATE_TANH:
        return tanh(z);
    default:
        return 1 / (1 + exp(-z));
    }
}

double activation_derivative(int kind, double z)
{
    double f = activation_value(kind, z);
    switch (kind) {
    case ACTIVATE_RELU:
        return z > 0;
    case ACTIVATE_TANH:
        return 1 - f * f;
    default:
        return f * (1 - f);
    }
}

double activation_roundings(int kind, double z)
{
    double f = activation_value(kind, z);
    switch (kind) {
    case ACTIVATE_RELU:
        return f;
    case ACTIVATE_TANH:
        return 4 * fabs(f) + fabs(z) * activation_derivative(kind, z) + LEAST;
    default:
        return f * ((1 - f) * (4 + fabs(z)) + 2) + LEAST;
    }
}

double softmax_roundings(double value, double z, double mean, int K)
{
    return value * (fabs(z) + 4 + mean + 4 + 2 * sqrt(K - 1) + 1) + LEAST;
}

void softmax_carry(int K, const double *z, const double *z_spread, double *value, double *spread)
{
    double largest = -INFINITY, sum = 0, mean = 0, all = 0;
    for (int k = 0; k < K; k++)
        largest = fmax(largest, z[k]);
    for (int k = 0; k < K; k++)
        sum += value[k] = exp(z[k] - largest);
    for (int k = 0; k < K; k++) {
        value[k] /= sum;
        mean += value[k] * fabs(z[k] - largest);
        all += value[k] * z_spread[k] * value[k] * z_spread[k];
    }
    for (int k = 0; k < K; k++) {
        double y = value[k], moved = y * z_spread[k], own = (1 - y) * z_spread[k];
        spread[k] = y * sqrt(own * own + all - moved * moved) +
                    softmax_roundings(y, z[k] - largest, mean, K);
    }
}
