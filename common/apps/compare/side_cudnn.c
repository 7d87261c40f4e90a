/* side_cudnn.c - cuDNN as a side: the fastest of all its forward algorithms on the layer's data,
 * the one that its heuristics select, or one that the caller selects.
 *
 * Its convolution descriptor only supports symmetric padding.  In other layers (even filters), x
 * includes the padding, which is added outside of the measured time. */
#include <cudnn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/apps/compare/compare.h"

#define WORKSPACE ((size_t)8 << 30)

typedef struct Cudnn {
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    cudnnMathType_t math;
    int choice; /* CUDNN_FASTEST ... */
    cudnnConvolutionFwdAlgo_t algorithm;
} Cudnn;

static void *shared_workspace; /* only one side works at a time */

static const char *const algorithm_names[CUDNN_CONVOLUTION_FWD_ALGO_COUNT] = {
    "implicit GEMM", "implicit precomputed GEMM", "GEMM", "direct", "FFT", "FFT tiling",
    "Winograd",      "Winograd nonfused"};

/* The names on the command line: cudnn-fft. */
static const char *const algorithm_words[CUDNN_CONVOLUTION_FWD_ALGO_COUNT] = {
    "implicit", "precomputed", "gemm",     "direct",
    "fft",      "fft-tiling",  "winograd", "winograd-nonfused"};

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudnnStatus_t status_ = call;                                                              \
        if (status_)                                                                               \
            return error_set(error, "%s: %s: %s", side->name, #call,                               \
                             cudnnGetErrorString(status_));                                        \
    } while (0)

static int cudnn_open(Side *side, Error *error)
{
    Cudnn *c = side->state;
    TRY(cudnnCreate(&c->handle));
    TRY(cudnnCreateTensorDescriptor(&c->x));
    TRY(cudnnCreateTensorDescriptor(&c->y));
    TRY(cudnnCreateFilterDescriptor(&c->w));
    TRY(cudnnCreateConvolutionDescriptor(&c->conv));
    return 0;
}

static int cudnn_close(Side *side, Error *error)
{
    Cudnn *c = side->state;
    TRY(cudnnDestroyConvolutionDescriptor(c->conv));
    TRY(cudnnDestroyFilterDescriptor(c->w));
    TRY(cudnnDestroyTensorDescriptor(c->y));
    TRY(cudnnDestroyTensorDescriptor(c->x));
    TRY(cudnnDestroy(c->handle));
    return 0;
}

static int cudnn_describe(Side *side, const Task *task, Error *error)
{
    Cudnn *c = side->state;
    const ConvProblem *p = &task->conv;
    cudnnTensorFormat_t format = side->layout == CONV_NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    TRY(cudnnSetStream(c->handle, task->stream));
    const cudnnDataType_t type = side->halves ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
    TRY(cudnnSetTensor4dDescriptor(c->x, format, type, p->N, p->C, p->H, p->W));
    TRY(cudnnSetTensor4dDescriptor(c->y, format, type, p->N, p->K, p->P, p->Q));
    TRY(cudnnSetFilter4dDescriptor(c->w, type, format, p->K, p->C, p->R, p->S));
    TRY(cudnnSetConvolution2dDescriptor(c->conv, p->pad_top, p->pad_left, p->stride_h, p->stride_w,
                                        1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    TRY(cudnnSetConvolutionMathType(c->conv, c->math));
    return 0;
}

static int cudnn_enqueue(Side *side, const Task *task, Error *error)
{
    Cudnn *c = side->state;
    const float one = 1, zero = 0;
    TRY(cudnnConvolutionForward(c->handle, &one, c->x, task->x, c->w, task->w, c->conv,
                                c->algorithm, shared_workspace, WORKSPACE, &zero, c->y, task->y));
    return 0;
}

/* The best of three launches of a graph of `runs` runs, in ms per run. */
static int cudnn_time(Side *side, const Task *task, int runs, float *best, Error *error)
{
    enum { TIMES = 3 };
    cudaGraphExec_t calls;
    cudaEvent_t begin, end;
    if (cudnn_enqueue(side, task, error)) return -1; /* loads its code */
    if (side_graph(side, task, runs, &calls, error)) return -1;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int i = 0; i < TIMES; i++) {
        float ms = INFINITY;
        cudaEventRecord(begin, task->stream);
        cudaGraphLaunch(calls, task->stream);
        cudaEventRecord(end, task->stream);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, begin, end);
        *best = fminf(*best, ms / (float)runs);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaGraphExecDestroy(calls);
    return 0;
}

static void algorithm_take(Side *side, const cudnnConvolutionFwdAlgoPerf_t *found)
{
    Cudnn *c = side->state;
    c->algorithm = found->algo;
    side->workspace = found->memory;
    snprintf(side->method, sizeof side->method, "%s", algorithm_names[found->algo]);
}

static int cudnn_follow_rules(Side *side, Error *error)
{
    Cudnn *c = side->state;
    cudnnConvolutionFwdAlgoPerf_t found[32];
    int count = 0;
    TRY(cudnnGetConvolutionForwardAlgorithm_v7(c->handle, c->x, c->w, c->conv, c->y, 32, &count,
                                               found));
    for (int i = 0; i < count; i++) {
        if (found[i].status || found[i].memory > WORKSPACE || found[i].mathType != c->math)
            continue;
        algorithm_take(side, &found[i]);
        return 0;
    }
    return error_set(error, "%s: cuDNN's rules name no algorithm for this layer", side->name);
}

static int cudnn_take_named(Side *side, Error *error)
{
    Cudnn *c = side->state;
    cudnnConvolutionFwdAlgoPerf_t named = {.algo = c->choice - CUDNN_NAMED};
    TRY(cudnnGetConvolutionForwardWorkspaceSize(c->handle, c->x, c->w, c->conv, c->y, named.algo,
                                                &named.memory));
    if (named.memory > WORKSPACE)
        return error_set(error, "%s: wants more than 8 GiB to work in", side->name);
    algorithm_take(side, &named);
    return 0;
}

static int cudnn_prepare(Side *side, const Task *task, Error *error)
{
    Cudnn *c = side->state;
    cudnnConvolutionFwdAlgoPerf_t found[32];
    int count = 0;
    if (cudnn_describe(side, task, error)) return -1;
    if (!shared_workspace && cudaMalloc(&shared_workspace, WORKSPACE))
        return error_set(error, "cuDNN's workspace of 8 GiB cannot be had");
    if (c->choice == CUDNN_RULES) return cudnn_follow_rules(side, error);
    if (c->choice >= CUDNN_NAMED) return cudnn_take_named(side, error);
    TRY(cudnnFindConvolutionForwardAlgorithmEx(c->handle, c->x, task->x, c->w, task->w, c->conv,
                                               c->y, task->y, 32, &count, found, shared_workspace,
                                               WORKSPACE));
    float best = INFINITY;
    for (int i = 0; i < count; i++) { /* sorted, the fastest first */
        float ms = INFINITY;
        if (found[i].status || found[i].memory > WORKSPACE || found[i].mathType != c->math)
            continue;
        if (c->choice == CUDNN_PRODUCTS && found[i].algo > CUDNN_CONVOLUTION_FWD_ALGO_DIRECT)
            continue;
        /* cuDNN's own times are of one run each: accurate enough to skip very slow algorithms. */
        if (found[i].time > 1 && found[i].time > 3 * best) continue;
        int runs = found[i].time > 1 ? 1 : found[i].time > 0.1f ? 3 : 10;
        cudnnConvolutionFwdAlgo_t before = c->algorithm;
        c->algorithm = found[i].algo;
        if (cudnn_time(side, task, runs, &ms, error)) return -1;
        if (ms >= best) {
            c->algorithm = before;
            continue;
        }
        best = ms;
        algorithm_take(side, &found[i]);
    }
    return best < INFINITY ? 0 : error_set(error, "%s: no algorithm for this layer", side->name);
}

/* The side's own handle is saved meanwhile. */
static int cudnn_boundary(Side *side, const Task *task, Error *error)
{
    Cudnn *c = side->state, kept = *c;
    int status = cudnn_open(side, error) || cudnn_describe(side, task, error) ||
                 cudnn_enqueue(side, task, error);
    if (!status && cudaStreamSynchronize(task->stream))
        status = error_set(error, "%s: the run failed", side->name);
    if (!status) status = cudnn_close(side, error);
    *c = kept;
    return status ? -1 : 0;
}

int side_cudnn(Side *side, Precision precision, int layout, int choice, Error *error)
{
    static const char *const chosen[CUDNN_NAMED] = {"", "products", "rules"};
    static const char *const precisions[] = {"fp32", "TF32", "FP16"};
    static const cudnnMathType_t math[] = {CUDNN_FMA_MATH, CUDNN_DEFAULT_MATH,
                                           CUDNN_TENSOR_OP_MATH};
    const char *how = choice < CUDNN_NAMED ? chosen[choice] : algorithm_names[choice - CUDNN_NAMED];
    Cudnn *c = calloc(1, sizeof *c);
    snprintf(side->name, sizeof side->name, "cuDNN %s %s%s%s", precisions[precision],
             layout == CONV_NHWC ? "NHWC" : "NCHW", *how ? " " : "", how);
    c->math = math[precision];
    c->choice = choice;
    side->precision = precision;
    side->layout = layout;
    side->pads_alike = 1;
    side->halves = precision == PRECISION_FP16;
    side->state = c;
    side->prepare = cudnn_prepare;
    side->enqueue = cudnn_enqueue;
    side->boundary = cudnn_boundary;
    return cudnn_open(side, error);
}

int cudnn_choice(const char *word)
{
    if (!strcmp(word, "fastest")) return CUDNN_FASTEST;
    for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; i++)
        if (!strcmp(word, algorithm_words[i])) return CUDNN_NAMED + i;
    return -1;
}

void side_versions(char *text, size_t bytes)
{
    size_t v = cudnnGetVersion(), cuda = cudnnGetCudartVersion();
    snprintf(text, bytes, "cuDNN %zu.%zu.%zu, CUDA %zu.%zu", v / 10000, v / 100 % 100, v % 100,
             cuda / 1000, cuda % 1000 / 10);
}
