/* conv_backward.h - code shared by the two gradients of a convolution: the problem is that of the
 * forward pass, with its text, its hidden shapes and the typical mistakes of its index
 * arithmetic. */
#ifndef CONVLAB_OPERATIONS_CONV_BACKWARD_H
#define CONVLAB_OPERATIONS_CONV_BACKWARD_H

#include "common/operations/conv/conv_problem.h"

/* Operation's functions that are the same for both. */
int conv_backward_parse(const char *text, Problem *problem, Error *error);
void conv_backward_draw(Random *random, int index, double max_macs, Problem *problem);
double conv_backward_flops(const Problem *problem);
/* Every input gets wide random values. */
void conv_backward_generate(const Operation *operation, const Problem *problem, Random *random,
                            float *const *tensor);
double conv_backward_least_bytes(const Operation *operation, const Problem *problem);

/* The shapes of x, w and y in NCHW, under another name. */
TensorShape conv_backward_shape_x(const ConvProblem *conv, const char *name, TensorRole role);
TensorShape conv_backward_shape_w(const ConvProblem *conv, const char *name, TensorRole role);
TensorShape conv_backward_shape_y(const ConvProblem *conv, const char *name, TensorRole role);

#endif
