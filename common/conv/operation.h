/* operation.h - what the grader has to know of an operation such as conv_forward, in one place.
 *
 * An operation is a problem struct, some input and output tensors, an fp64 oracle with a per-output
 * error bound, and its cost.  Adding an operation is adding one file that defines an Operation, a
 * line in operation.c, and a call glue for the runner (operation_call.h).  Nothing here knows of
 * labs, processes or GPUs. */
#ifndef CONVLAB_CONV_OPERATION_H
#define CONVLAB_CONV_OPERATION_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/conv/random.h"

enum { PROBLEM_BYTES = 256, OPERATION_TENSORS = 8, TENSOR_RANK = 5, OPERATION_NUMBERS = 24 };

/* Any operation's problem struct, copied whole between processes. */
typedef struct Problem {
    uint32_t bytes; /* sizeof the operation's own struct */
    _Alignas(8) unsigned char data[PROBLEM_BYTES];
} Problem;

typedef enum TensorRole { TENSOR_INPUT, TENSOR_OUTPUT } TensorRole;

/* One tensor argument, in the order of the entry point's pointers; all elements are float. */
typedef struct TensorShape {
    const char *name; /* "x", "w", "y" */
    TensorRole role;
    int rank;
    size_t dim[TENSOR_RANK];       /* outermost first; product is the element count */
    const char *axes[TENSOR_RANK]; /* "n", "k", "p", "q": for messages */
} TensorShape;

/* A number of the problem, by the name that a formula in lab.ini has for it: "pad_top". */
typedef struct ProblemNumber {
    const char *name;
    double value;
} ProblemNumber;

/* The precision that the lab allows; it picks u in the bound. */
typedef enum Precision { PRECISION_FP32, PRECISION_TF32, PRECISION_FP16 } Precision;

/* The one of that name; -1 if there is none.  PRECISION_NAMES is for the error message. */
#define PRECISION_NAMES "fp32, tf32 or fp16"
int precision_find(const char *name, Precision *precision);

typedef struct Operation {
    const char *name; /* "conv_forward" */

    /* Reads "N=16 C=1 H=32 W=32 K=6 R=5 S=5 pad=same stride=2" style text (keys in any order; pad =
     * same | valid | one number | top,left,bottom,right; stride = one number | h,w; layout = nchw |
     * nhwc | chwn, nchw if left out; zeros = percent of x | of x, of w; pool = one number) and
     * derives the output shape.  Refuses zero or negative outputs, unknown or missing keys, and
     * sizes whose tensors pass 2^31-1 elements, each by name. */
    int (*parse)(const char *text, Problem *problem, Error *error);

    /* Writes the same text back, canonical order, NUL-terminated. */
    void (*print)(const Problem *problem, char *text, size_t bytes);

    /* A fresh hidden problem of kind `index` (0,1,2,...: odd, prime, non-square, even filter,
     * tile-straddling, stride 2, wraps around), small enough for the simulator (at most `max_macs`
     * multiply-adds). */
    void (*draw)(Random *random, int index, double max_macs, Problem *problem);

    /* Returns how many. */
    int (*tensors)(const Problem *problem, TensorShape shape[OPERATION_TENSORS]);

    /* Every number that the problem is described by.  Returns how many. */
    int (*numbers)(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS]);

    /* 2 per multiply-add; taps on the padding count. */
    double (*flops)(const Problem *problem);

    /* Every input read once, every output written once. */
    double (*least_bytes)(const Problem *problem);

    /* Fills the inputs: wide dynamic range, non-separable, asymmetric, no constants, and no exact
     * zeros but those that the problem asks for. */
    void (*generate)(const Problem *problem, Random *random, float *const *tensor);

    /* fp64 result and magnitude (sum of |products|) of every output element, and products per
     * output (m).  All tensors in the operation's plain layout, NCHW: verify_output rearranges. */
    void (*oracle)(const Problem *problem, const float *const *tensor, double *expected,
                   double *magnitude, double *products);
} Operation;

/* NULL if there is none of that name; operation_names() is a comma-separated list for the error
 * message. */
const Operation *operation_find(const char *name);
const char *operation_names(void);

size_t tensor_count(const TensorShape *shape);

#endif
