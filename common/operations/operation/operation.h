/* operation.h - what the grader has to know of an operation such as conv_forward, in one place.
 *
 * Module: any operation's problem and oracle, whether an output is right, what is wrong with it.
 * Callers: anybody; nothing in the room knows of convolutions, labs, processes or GPUs.
 * May use: base.
 *
 * An operation is a problem struct, some input tensors and one output, an fp64 oracle with a
 * magnitude for the error bound, and its cost.  Adding one is adding a file to common/operations/catalog
 * that defines an Operation, its line in operations.c, and a call for the runner in calls there. */
#ifndef CONVLAB_OPERATION_OPERATION_H
#define CONVLAB_OPERATION_OPERATION_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/array_name.h"
#include "common/base/error.h"
#include "common/operations/operation/random.h"

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
const char *precision_name(Precision precision);

/* By what the lab's programs may come to an output: by its products, summed in any order, as nearly
 * all do; by Winograd's F(4x4,3x3), which rounds more and does a quarter of the products; or by the
 * Fourier transforms of tiles of at most 64x64 inputs. */
typedef enum Algorithm { ALGORITHM_SUMS, ALGORITHM_WINOGRAD_4X4, ALGORITHM_FFT_64X64 } Algorithm;

/* The one of that name; -1 if there is none. */
#define ALGORITHM_NAMES "sums, winograd-4x4 or fft-64x64"
int algorithm_find(const char *name, Algorithm *algorithm);

/* So many of the problem's products stand for one that such a program does, at most: 1, 4 or 136.
 * (A tile of 64x64 has 64*64/2 + 2 complex numbers as its transform, and four products at each make
 * 33*33 outputs of 32*32 taps; of no other filter more are saved.) */
double algorithm_saving(Algorithm algorithm);

/* A problem's tensors in its operation's plain layout. */
typedef struct PlainView {
    Problem problem;                        /* the same problem, all tensors plain */
    const float *tensor[OPERATION_TENSORS]; /* plain; the output's is `output` */
    const float *output;
    float *copy[OPERATION_TENSORS]; /* those that had to be rearranged, the view's own; else NULL */
} PlainView;

/* Runs the submission on `tensor` inputs of `problem` and fills `output`; 0, or -1 when it cannot
 * run again.  `output` arrives holding zeros: a runner that can start the submission's y from them
 * lets FAULT_ACCUMULATED be told from FAULT_UNWRITTEN; one that poisons y instead is fine. */
typedef int (*ProbeRun)(void *context, const Problem *problem, const float *const *tensor,
                        float *output);

struct Judgement; /* verify.h */
struct Finding;   /* diagnose.h */

typedef struct Operation {
    const char *name; /* "conv_forward" */

    /* A small problem as text, on which any key can be tried: "N=2 C=3 H=13 ...". */
    const char *example;

    /* Reads such text, keys in any order, and derives what follows from it.  Refuses outputs
     * without an element, unknown or missing keys, and sizes whose tensors pass 2^31-1 elements,
     * each by name. */
    int (*parse)(const char *text, Problem *problem, Error *error);

    /* Writes the same text back, canonical order, NUL-terminated. */
    void (*print)(const Problem *problem, char *text, size_t bytes);

    /* A fresh hidden problem of kind `index` (0, 1, 2 ...: each unkind in its own way, wraps
     * around), small enough for the simulator (at most `max_macs` multiply-adds). */
    void (*draw)(Random *random, int index, double max_macs, Problem *problem);

    /* Returns how many. */
    int (*tensors)(const Problem *problem, TensorShape shape[OPERATION_TENSORS]);

    /* Every number that the problem is described by.  Returns how many. */
    int (*numbers)(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS]);

    /* 2 per multiply-add. */
    double (*flops)(const Problem *problem);

    /* Every input read once, every output written once. */
    double (*least_bytes)(const Problem *problem);

    /* Fills the inputs: wide dynamic range, non-separable, asymmetric, no constants, and no exact
     * zeros but those that the problem asks for.  Each tensor has a key of its own, a child of
     * random's: so none can be foreseen from another, nor from those of an earlier call. */
    void (*generate)(const Problem *problem, Random *random, float *const *tensor);

    /* fp64 result and magnitude (sum of |products|) of every output element, and products per
     * output (m).  All tensors in the plain layout: verify_output rearranges. */
    void (*oracle)(const Problem *problem, const float *const *tensor, double *expected,
                   double *magnitude, double *products);

    /* The same of one output element: expected, magnitude, products.  NULL where one costs as much
     * as many. */
    void (*oracle_element)(const Problem *problem, const float *const *tensor, size_t index,
                           double value[3]);

    /* The same problem of `images` images.  For an operation that makes all outputs of an image
     * from that image alone, and one of them at the cost of all: a sample of its outputs is one of
     * images.  Tensors that have a part for each image have "n" as their first axis.  NULL where
     * there is oracle_element, or where images know of each other: what has neither is judged
     * whole, always. */
    void (*of_images)(const Problem *problem, int images, Problem *fewer);

    /* The error of an output is measured by its own magnitude alone (verdict.h), in fp32 too: no
     * fast algorithm adds its neighbours' products and takes them away again. */
    int own_reach;

    /* NULL where tensors have one layout only.  Else fills *view, whose problem and pointers begin
     * as the original's; copies are the view's to free, and what is NULL, an output that is not
     * there yet, stays so.  -1 with error: out of memory. */
    int (*rearrange)(const Problem *problem, PlainView *view, Error *error);

    /* What is wrong with an output that was judged wrong, in words of this operation.  NULL: what
     * can be said of any operation (diagnose.h) is all there is to say. */
    void (*explain)(const struct Judgement *judged, ProbeRun run, void *context,
                    struct Finding *finding);
} Operation;

size_t tensor_count(const TensorShape *shape);

/* The same tensor as an engine tells it. */
void tensor_name(const TensorShape *shape, ArrayName *name);

/* Writes where element `index` stands: "(n,k,p,q) = (0,3,15,16)". */
void tensor_place(const TensorShape *shape, size_t index, char *where, size_t bytes);

/* The shape of the problem's output. */
void output_shape(const Operation *operation, const Problem *problem, TensorShape *shape);

#endif
