/* tune.h - functions shared by the programs of `make tune`.  Each includes a lab's solution, times
 * its kernels on this machine's GPU, and prints the constants with which the lab selects its
 * tiles.  A line is "NAME value" for a constant, or "tile I values" for the last values of row I
 * of its table.  tune.sh writes them into a copy of the solution. */
#ifndef CONVLAB_TUNE_H
#define CONVLAB_TUNE_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "convlab/conv.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = call;                                                                \
        if (status_) {                                                                             \
            fprintf(stderr, "tune: %s: %s (%s:%d)\n", #call, cudaGetErrorString(status_),          \
                    __FILE__, __LINE__);                                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static int multiprocessors()
{
    int sms = 0;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    return sms;
}

static __global__ void noise_kernel(float *to, size_t count)
{
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        to[i] = (unsigned)i * 2654435761u * 0x1p-32f - 0.5f;
}

/* Allocates `floats` random floats on the GPU, because zeros take less power and allow a higher
 * clock rate. They are freed at the end of the program. */
static float *noise(size_t floats)
{
    float *memory = nullptr;
    CHECK(cudaMalloc(&memory, floats * sizeof *memory));
    noise_kernel<<<1024, 256>>>(memory, floats);
    CHECK(cudaDeviceSynchronize());
    return memory;
}

/* Microseconds of the work that `enqueue(stream)` launches: the median of nine graphs of RUNS
 * runs. */
template <class Enqueue> static double microseconds(Enqueue enqueue)
{
    enum { RUNS = 5, GRAPHS = 9 };
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    cudaEvent_t begin, end;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    enqueue(stream); /* loads its code */
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int run = 0; run < RUNS; run++)
        enqueue(stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&runs, graph, 0));
    std::vector<float> ms(GRAPHS);
    for (float &one : ms) {
        CHECK(cudaEventRecord(begin, stream));
        CHECK(cudaGraphLaunch(runs, stream));
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&one, begin, end));
    }
    std::sort(ms.begin(), ms.end());
    CHECK(cudaGraphExecDestroy(runs));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaStreamDestroy(stream));
    return ms[GRAPHS / 2] * 1e3 / RUNS;
}

/* A problem of N images, NCHW or NHWC, at stride 1. */
static ConvProblem problem(int layout, int N, int C, int H, int W, int K, int R, int S, int pad)
{
    ConvProblem p = {};
    p.layout = layout;
    p.N = N, p.C = C, p.H = H, p.W = W, p.K = K, p.R = R, p.S = S;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = pad;
    p.stride_h = p.stride_w = 1;
    p.P = H + 2 * pad - R + 1, p.Q = W + 2 * pad - S + 1;
    return p;
}

#endif
