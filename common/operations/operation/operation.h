/* operation.h - interface of an operation such as conv_forward: all that the grader needs.
 *
 * Module: any operation's problem and oracle, judgement and diagnosis of outputs.
 * Callers: anybody; nothing in the module knows of convolutions, labs, processes or GPUs.
 * May use: base.
 *
 * An operation is a problem struct, some input tensors and one output, an fp64 oracle with a
 * magnitude for the error bound, and its cost.  A new operation needs a file in
 * common/operations/catalog that defines an Operation, a line in operations.c, and a call for the
 * runner in calls. */
#ifndef CONVLAB_OPERATION_OPERATION_H
#define CONVLAB_OPERATION_OPERATION_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/array_name.h"
#include "common/base/error.h"
#include "common/operations/operation/random.h"

enum { PROBLEM_BYTES = 256, OPERATION_TENSORS = 8, TENSOR_RANK = 5, OPERATION_NUMBERS = 24 };

/* Any operation's problem struct, copied as bytes between processes. */
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
    size_t dim[TENSOR_RANK];       /* outermost first; multiplied: the element count */
    const char *axes[TENSOR_RANK]; /* "n", "k", "p", "q", used in messages */
} TensorShape;

/* A number of the problem, with its name in formulas of lab.ini: "pad_top". */
typedef struct ProblemNumber {
    const char *name;
    double value;
} ProblemNumber;

/* The precision that the lab allows; it determines u in the error bound. */
typedef enum Precision { PRECISION_FP32, PRECISION_TF32, PRECISION_FP16 } Precision;

/* The precision of that name; -1 if there is none.  PRECISION_NAMES is for the error message. */
#define PRECISION_NAMES "fp32, tf32 or fp16"
int precision_find(const char *name, Precision *precision);
const char *precision_name(Precision precision);

/* Algorithms that the lab's programs may use.  ALGORITHM_SUMS: sums in any order, the default.
 * ALGORITHM_WINOGRAD_4X4: Winograd's F(4x4,3x3), which has larger rounding errors and a quarter of
 * the multiplications.  ALGORITHM_FFT_64X64: Fourier transforms of tiles of at most 64x64 inputs.
 * */
typedef enum Algorithm { ALGORITHM_SUMS, ALGORITHM_WINOGRAD_4X4, ALGORITHM_FFT_64X64 } Algorithm;

/* The algorithm of that name; -1 if there is none. */
#define ALGORITHM_NAMES "sums, winograd-4x4 or fft-64x64"
int algorithm_find(const char *name, Algorithm *algorithm);

/* Number of the problem's multiplications that one multiplication of such an algorithm replaces, at
 * most: 1, 4 or 136.  (The transform of a 64x64 tile has 64*64/2 + 2 complex numbers.  Four
 * multiplications for each of them give 33*33 outputs of 32*32 taps, which is the maximum over all
 * filter sizes.) */
double algorithm_saving(Algorithm algorithm);

/* A problem's tensors in the operation's default layout. */
typedef struct PlainView {
    Problem problem;                        /* the same problem with all tensors in the default
                                             * layout */
    const float *tensor[OPERATION_TENSORS]; /* tensors in the default layout; the output's is
                                             * `output` */
    const float *output;
    float *copy[OPERATION_TENSORS]; /* rearranged tensors, owned by the view; NULL: not
                                     * rearranged */
} PlainView;

/* Runs the submission on `tensor` inputs of `problem` and fills `output`; 0, or -1 if it cannot run
 * again.  `output` contains zeros at the call: a runner that can initialise the submission's y with
 * them allows FAULT_ACCUMULATED to be distinguished from FAULT_UNWRITTEN; a runner may also poison
 * y instead. */
typedef int (*ProbeRun)(void *context, const Problem *problem, const float *const *tensor,
                        float *output);

struct Judgement; /* verify.h */
struct Finding;   /* diagnose.h */

typedef struct Operation {
    const char *name; /* "conv_forward" */

    /* A small valid problem as text, on which any key can be tried: "N=2 C=3 H=13 ...". */
    const char *example;

    /* Parses such a text, with keys in any order, and computes the derived fields.  Rejects outputs
     * without elements, unknown or missing keys, and tensors of more than 2^31-1 elements; the
     * message names the key. */
    int (*parse)(const char *text, Problem *problem, Error *error);

    /* Writes the same text, in canonical order, NUL-terminated. */
    void (*print)(const Problem *problem, char *text, size_t bytes);

    /* A new hidden problem of kind `index` (0, 1, 2 ..., modulo the number of kinds; each has
     * another difficulty), small enough for the simulator (at most `max_macs` multiply-adds). */
    void (*draw)(Random *random, int index, double max_macs, Problem *problem);

    /* Returns their number. */
    int (*tensors)(const Problem *problem, TensorShape shape[OPERATION_TENSORS]);

    /* Every number that describes the problem.  Returns their number. */
    int (*numbers)(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS]);

    /* FLOP, 2 per multiply-add. */
    double (*flops)(const Problem *problem);

    /* Bytes of every input read once and every output written once. */
    double (*least_bytes)(const Problem *problem);

    /* Fills the inputs: wide dynamic range, non-separable, asymmetric, not constant, and no exact
     * zeros except those that the problem requires.  Each tensor has its own key, a child of
     * random's, so that no tensor can be predicted from another one or from an earlier call. */
    void (*generate)(const Problem *problem, Random *random, float *const *tensor);

    /* fp64 result and magnitude (sum of |terms|) of every output element, and the number of terms
     * per output (m).  All tensors have the default layout: verify_output rearranges. */
    void (*oracle)(const Problem *problem, const float *const *tensor, double *expected,
                   double *magnitude, double *terms);

    /* The same for one output element: expected, magnitude, terms.  NULL if one element is as
     * expensive as the whole output. */
    void (*oracle_element)(const Problem *problem, const float *const *tensor, size_t index,
                           double value[3]);

    /* The same problem with `images` images, for operations in which each image's outputs depend on
     * that image alone, and one output costs as much as all.  Samples of their outputs consist of
     * whole images.  Tensors with a part for each image have "n" as their first axis.  NULL if
     * there is oracle_element, or if images depend on each other; an operation with neither is
     * always judged completely. */
    void (*of_images)(const Problem *problem, int images, Problem *fewer);

    /* Boolean: the error of an output is measured by its own magnitude alone (verdict.h), in fp32
     * too, because no fast algorithm adds its neighbours' terms and subtracts them again. */
    int own_reach;

    /* Boolean: the terms are multiplications of 8-bit integers, for which tensor cores are twice as
     * fast as for halves, whatever the lab's precision is. */
    int has_integers;

    /* Boolean: magnitudes carry the size of the errors through several layers.  The root mean
     * square is then not judged, because its limit is for plain sums. */
    int carries_error;

    /* Boolean: each output is a sum of products of an element of the first input and one of the
     * second, the only inputs. */
    int has_products;

    /* NULL if tensors have only one layout.  Else fills *view, whose problem and pointers are
     * initially the original's.  The view owns the copies; NULL tensors, such as an output that
     * does not exist yet, stay NULL.  -1 with error: out of memory. */
    int (*rearrange)(const Problem *problem, PlainView *view, Error *error);

    /* Diagnosis of a wrong output by this operation.  NULL: only the general diagnosis
     * (diagnose.h). */
    void (*explain)(const struct Judgement *judged, ProbeRun run, void *context,
                    struct Finding *finding);
} Operation;

size_t tensor_count(const TensorShape *shape);

/* Bytes of `count` tensors: the least bytes of an operation that reads or writes each once. */
double tensors_bytes(const TensorShape *shape, int count);

/* The tensor's name and axes in the form that engines use. */
void tensor_name(const TensorShape *shape, ArrayName *name);

/* Writes the position of element `index`: "(n,k,p,q) = (0,3,15,16)". */
void tensor_place(const TensorShape *shape, size_t index, char *where, size_t bytes);

/* The shape of the problem's output. */
void output_shape(const Operation *operation, const Problem *problem, TensorShape *shape);

#endif
