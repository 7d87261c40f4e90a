/* compare.h - one convolution computed by several implementations: the labs' solutions, cuDNN,
 * cuBLAS.
 *
 * A Layer is a problem with its tensors on the GPU, a Side an implementation.  Every side has its
 * own layout; compare.c converts its inputs and outputs, outside of the measured time. */
#ifndef CONVLAB_COMPARE_H
#define CONVLAB_COMPARE_H

#include <cuda_runtime.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/operations/conv/conv_problem.h"
#include "common/operations/conv/tensor.h"

/* The convolution, and its tensors in the side's layout, in device memory: floats, or halves for a
 * side that needs them. */
typedef struct Task {
    ConvProblem conv;
    const void *x, *w;
    void *y;
    float *unrolled; /* C*R*S rows of N*P*Q columns, for a side that only multiplies matrices */
    cudaStream_t stream;
} Task;

/* Halves overflow at 65504.  Sums of random_wide's values may exceed that, a 64th of them does
 * not. */
#define HALVES_SCALE (1.0 / 64)

typedef struct Side Side;
struct Side {
    char name[48];   /* "10-implicit-gemm", "cuDNN fp32 NHWC" */
    char method[64]; /* the selected method, for the table: cuDNN's algorithm */
    Precision precision;
    int layout;       /* CONV_NCHW ... */
    int pads_alike;   /* Boolean: only symmetric padding; else x includes the padding */
    int images_last;  /* Boolean: y is [k][n][p][q], as in a plain GEMM */
    int halves;       /* Boolean: x, w and y are halves, x and y scaled by HALVES_SCALE */
    size_t workspace; /* bytes of additional device memory, for the last prepared task */
    void *state;
    /* Prepares for a task, without a time limit.  -1 with error: this side does not support it. */
    int (*prepare)(Side *side, const Task *task, Error *error);
    /* Enqueues the task on its stream; can be captured into a graph after it ran once. */
    int (*enqueue)(Side *side, const Task *task, Error *error);
    /* The task with setup and cleanup, as Xu, Fan et al.'s public code times it: for cuDNN from the
     * creation of its handle to its destruction, for a solution with its cudaMalloc and cudaFree.
     * Returns at the end of the work.  NULL: not available. */
    int (*boundary)(Side *side, const Task *task, Error *error);
};

/* A graph of `runs` successive runs of the task; the side has run before, so that its code is
 * loaded.  The caller destroys it.  -1 with error: the side cannot be captured. */
int side_graph(Side *side, const Task *task, int runs, cudaGraphExec_t *calls, Error *error);

/* A solution compiled as a shared object (side_lab.c). */
int side_lab(Side *side, const char *name, const char *object, Error *error);
/* cuDNN (side_cudnn.c), with the fastest algorithm for the task; the fastest without FFT and
 * Winograd, like the labs; or the one that cuDNN's heuristics select without a measurement, which
 * is PyTorch's default.  From CUDNN_NAMED on: a given algorithm. */
enum { CUDNN_FASTEST, CUDNN_PRODUCTS, CUDNN_RULES, CUDNN_NAMED };
/* Number of "fastest", or of an algorithm's name, such as "fft-tiling"; -1: unknown name. */
int cudnn_choice(const char *word);
int side_cudnn(Side *side, Precision precision, int layout, int choice, Error *error);
/* cuBLAS: only the GEMM w * X_unroll, with X_unroll already computed (side_cublas.c). */
int side_cublas(Side *side, Precision precision, Error *error);
/* Versions of both, for the table's caption. */
void side_versions(char *text, size_t bytes);

#endif
