/* conv_problem.h - convolution problem: text form, derived numbers, validity.
 *
 * Module: convolution problems, their layouts, inputs and hidden shapes, the fp64 oracle.
 * Callers: operations, conv/diagnosis, datasets, make compare.
 * May use: operation, base. */
#ifndef CONVLAB_CONV_CONV_PROBLEM_H
#define CONVLAB_CONV_CONV_PROBLEM_H

#include "common/operations/operation/operation.h"
#include "convlab/conv.h"

/* Conversions between a ConvProblem and a Problem, which contains any operation's struct.
 * conv_pack reverses no axis. */
void conv_pack(const ConvProblem *conv, Problem *problem);
ConvProblem conv_unpack(const Problem *problem);

/* Reversed axes: memory holds the last index of such an axis first.  Axis i of tensor t (x, w, y;
 * n, c, h, w) is bit 4t + i.  A submission does not see them in its ConvProblem: a variant of a lab
 * states them in its handout (`make variant`). */
enum { REVERSED_AXES = 12 };
unsigned conv_reversed(const Problem *problem);
void conv_reverse(Problem *problem, unsigned axes);
/* "x.h", for the number of a bit. */
const char *conv_axis_name(int axis);

/* Computes P and Q, and rejects invalid problems: sizes below 1, negative padding, a filter larger
 * than the padded input, tensors of more than 2^31-1 elements, padded sizes above 2^31-1.  The
 * message names the field. */
int conv_derive(ConvProblem *conv, Error *error);

/* Padding such that P = ceil(H / stride_h), Q = ceil(W / stride_w); an odd total puts the smaller
 * half first. */
void conv_pad_same(ConvProblem *conv);

int conv_layout_parse(const char *value, int *layout, Error *error); /* "nchw": CONV_NCHW */

double conv_macs(const ConvProblem *conv); /* multiply-adds; taps in the padding count */

/* Operation's numbers: every letter and flag of the problem, and "macs". */
int conv_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS]);

/* Operation's text functions (operation.h).  Example: "N=16 C=1 H=32 W=32 K=6 R=5 S=5 pad=same
 * stride=2".
 *
 *     pad     same | valid | one number | top,left,bottom,right
 *     stride  one number | h,w
 *     layout  nchw | nhwc | chwn, nchw if omitted
 *     reversed  axes that are stored in reverse order: x.h,w.r,w.s; none if omitted
 *     zeros   percent of x | of x, of w
 *     pool    one number */
int conv_parse(const char *text, Problem *problem, Error *error);
void conv_print(const Problem *problem, char *text, size_t bytes);

/* conv_draw.c and conv_oracle.c: longer functions of Operation.  CONV_KINDS successive indices draw
 * a problem of every kind: odd, prime, oblong ..., and small ones with an extent of one in each
 * axis. */
enum { CONV_KINDS = 17 };
void conv_draw(Random *random, int index, double max_macs, Problem *problem);
void conv_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                         double value[3]);
void conv_oracle(const Problem *problem, const float *const *tensor, double *expected,
                 double *magnitude, double *terms);

#endif
