/* compare.h - one convolution by many hands: the labs' solutions, cuDNN, cuBLAS.
 *
 * A Layer is a problem with its tensors on the GPU, a Side somebody who computes it.  Every side
 * works in a layout of its own; compare.c rearranges what goes in and what comes out, outside of
 * the clock. */
#ifndef CONVLAB_COMPARE_H
#define CONVLAB_COMPARE_H

#include <cuda_runtime.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/operations/conv/conv_problem.h"
#include "common/operations/conv/tensor.h"

/* The convolution to do, and its tensors in the side's layout, in device memory: floats, or halves
 * for a side that takes them. */
typedef struct Task {
    ConvProblem conv;
    const void *x, *w;
    void *y;
    float *unrolled; /* C*R*S rows of N*P*Q columns, for who multiplies only */
    cudaStream_t stream;
} Task;

/* Halves end at 65504.  Sums of products of what random_wide draws may pass that, a 64th of them
 * does not. */
#define HALVES_SCALE (1.0 / 64)

typedef struct Side Side;
struct Side {
    char name[48];   /* "10-implicit-gemm", "cuDNN fp32 NHWC" */
    char method[64]; /* what it chose, for the table: cuDNN's algorithm */
    Precision precision;
    int layout;       /* CONV_NCHW ... */
    int pads_alike;   /* above and below, left and right: else x comes with its zeros written in */
    int images_last;  /* y is [k][n][p][q] instead: a plain product's */
    int halves;       /* x, w and y are halves, x and y a HALVES_SCALE of what they are */
    size_t workspace; /* bytes of device memory beside the tensors, for the last task prepared */
    void *state;
    /* Gets ready for a task, as long as it takes.  -1 with error: this side cannot do it. */
    int (*prepare)(Side *side, const Task *task, Error *error);
    /* Enqueues the task on its stream; may be captured into a graph, after it ran once. */
    int (*enqueue)(Side *side, const Task *task, Error *error);
    /* The task once more and everything around it, as Xu, Fan et al.'s public code times it: for
     * cuDNN from making its handle to destroying it, for a solution with its cudaMalloc and
     * cudaFree.  Returns when it is done.  NULL: no such thing. */
    int (*boundary)(Side *side, const Task *task, Error *error);
};

/* `runs` runs of the task, one after the other, as a graph; the side has run before, so that its
 * code is loaded.  The caller destroys it.  -1 with error: the side cannot be captured. */
int side_graph(Side *side, const Task *task, int runs, cudaGraphExec_t *calls, Error *error);

/* A solution compiled as a shared object (side_lab.c). */
int side_lab(Side *side, const char *name, const char *object, Error *error);
/* cuDNN (side_cudnn.c), with the algorithm that is the fastest for the task; the fastest of those
 * that do all the products, as the labs do: no FFT, no Winograd; or the one that cuDNN's own rules
 * name without a measurement, which is what PyTorch takes unless it is told to try; or, from
 * CUDNN_NAMED on, one algorithm. */
enum { CUDNN_FASTEST, CUDNN_PRODUCTS, CUDNN_RULES, CUDNN_NAMED };
/* Of "fastest", or of an algorithm's name, such as "fft-tiling"; -1: there is none of that name. */
int cudnn_choice(const char *word);
int side_cudnn(Side *side, Precision precision, int layout, int choice, Error *error);
/* cuBLAS, the product w * X_unroll alone: X_unroll is there already (side_cublas.c). */
int side_cublas(Side *side, Precision precision, Error *error);
/* Versions of both, for the table's caption. */
void side_versions(char *text, size_t bytes);

#endif
