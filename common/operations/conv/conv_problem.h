/* conv_problem.h - the convolution problem as text and as numbers, and what makes it valid.
 *
 * Module: convolution problems, their layouts, inputs and hidden shapes, the fp64 oracle.
 * Callers: operations, conv/diagnosis, datasets, make compare.
 * May use: operation, base. */
#ifndef CONVLAB_CONV_CONV_PROBLEM_H
#define CONVLAB_CONV_CONV_PROBLEM_H

#include "common/operations/operation/operation.h"
#include "convlab/conv.h"

/* A Problem carries any operation's struct; these two put a ConvProblem in and take it out. */
void conv_pack(const ConvProblem *conv, Problem *problem);
ConvProblem conv_unpack(const Problem *problem);

/* Derives P and Q from the rest, and refuses what no lab could run: sizes below 1, negative
 * padding, a filter larger than the padded input, tensors over 2^31-1 elements, padded sizes over
 * 2^31-1.  Names the field. */
int conv_derive(ConvProblem *conv, Error *error);

/* Padding such that P = ceil(H / stride_h), Q = ceil(W / stride_w); an odd total puts the smaller
 * half first. */
void conv_pad_same(ConvProblem *conv);

int conv_layout_parse(const char *value, int *layout, Error *error); /* "nchw": CONV_NCHW */

double conv_macs(const ConvProblem *conv); /* multiply-adds; taps on the padding count */

/* Operation's numbers: every letter and flag of the problem, and "macs". */
int conv_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS]);

/* The members of Operation that deal with text (operation.h): "N=16 C=1 H=32 W=32 K=6 R=5 S=5
 * pad=same stride=2", pad = same | valid | one number | top,left,bottom,right; stride = one number
 * | h,w; layout = nchw | nhwc | chwn, nchw if left out; zeros = percent of x | of x, of w; pool =
 * one number. */
int conv_parse(const char *text, Problem *problem, Error *error);
void conv_print(const Problem *problem, char *text, size_t bytes);

/* conv_draw.c and conv_oracle.c: the members of Operation that are long enough for a file of their
 * own.  CONV_KINDS numbers in a row draw a problem of every kind: odd, prime, oblong ..., and small
 * ones with an extent of one in each axis. */
enum { CONV_KINDS = 17 };
void conv_draw(Random *random, int index, double max_macs, Problem *problem);
void conv_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                         double value[3]);
void conv_oracle(const Problem *problem, const float *const *tensor, double *expected,
                 double *magnitude, double *products);

#endif
