/* conv_backward.h - what the two gradients of a convolution share: the problem is that of the way
 * forward, its text, its hidden shapes and the mistakes that its index arithmetic invites. */
#ifndef CONVLAB_OPERATIONS_CONV_BACKWARD_H
#define CONVLAB_OPERATIONS_CONV_BACKWARD_H

#include "common/operations/conv/conv_problem.h"

struct Judgement;
struct Finding;

/* Operation's members, the same for both. */
int conv_backward_parse(const char *text, Problem *problem, Error *error);
void conv_backward_draw(Random *random, int index, double max_macs, Problem *problem);
double conv_backward_flops(const Problem *problem);
/* Every input gets wide random values. */
void conv_backward_generate(const Operation *operation, const Problem *problem, Random *random,
                            float *const *tensor);
double conv_backward_least_bytes(const Operation *operation, const Problem *problem);

/* The shapes of x, w and y, plain, under another name. */
TensorShape conv_backward_shape_x(const ConvProblem *conv, const char *name, TensorRole role);
TensorShape conv_backward_shape_w(const ConvProblem *conv, const char *name, TensorRole role);
TensorShape conv_backward_shape_y(const ConvProblem *conv, const char *name, TensorRole role);

/* What is wrong with dx, or with dw if `filter` (conv_backward_explain.c); Operation's explain. */
void conv_backward_explain(int filter, const struct Judgement *judged, ProbeRun run, void *context,
                           struct Finding *finding);

#endif
