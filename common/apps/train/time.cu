/* time BATCH... - microseconds of lab 18's training step of LeNet-5 on a GPU, one CUDA graph per
 * step; one line per batch size. */
#define _Alignas alignas /* C's keyword in C++ */
extern "C" {
#include "common/operations/catalog/operations.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <convlab/train.h>

static void must(cudaError_t status)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "time: %s\n", cudaGetErrorString(status));
    exit(1);
}

enum { RUNS = 20, STEPS = 100 };

/* The median of several runs of several steps each. */
static double measured(cudaGraphExec_t graph, cudaStream_t stream)
{
    std::vector<float> times(RUNS);
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    for (float &time : times) {
        must(cudaEventRecord(begin, stream));
        for (int i = 0; i < STEPS; i++)
            must(cudaGraphLaunch(graph, stream));
        must(cudaEventRecord(end, stream));
        must(cudaEventSynchronize(end));
        must(cudaEventElapsedTime(&time, begin, end));
    }
    std::sort(times.begin(), times.end());
    return times[RUNS / 2] * 1e3 / STEPS;
}

static double step_time(const char *batch)
{
    const Operation *operation = operation_find("train_step");
    char text[200];
    Problem problem;
    Error error;
    Random random;
    TensorShape shape[OPERATION_TENSORS];
    float *host[OPERATION_TENSORS], *device[OPERATION_TENSORS];
    snprintf(text, sizeof text, "N=%.20s H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", batch);
    if (operation->parse(text, &problem, &error)) {
        fprintf(stderr, "time: %s\n", error.text);
        exit(2);
    }
    int tensors = operation->tensors(&problem, shape);
    for (int i = 0; i < tensors; i++)
        host[i] = (float *)calloc(tensor_count(&shape[i]), sizeof(float));
    random_seed(&random, 1);
    operation->generate(&problem, &random, host);
    for (int i = 0; i < tensors; i++) {
        size_t bytes = tensor_count(&shape[i]) * sizeof(float);
        must(cudaMalloc(&device[i], bytes));
        must(cudaMemcpy(device[i], host[i], bytes, cudaMemcpyHostToDevice));
        free(host[i]);
    }
    const TrainProblem *p = (const TrainProblem *)problem.data;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    must(cudaStreamCreate(&stream));
    for (int captured = 0; captured < 2; captured++) { /* once outside, for its allocations */
        if (captured) must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        train_step(p, device[0], device[1], device[2], device[3], device[4], device[5], stream);
        if (!captured) must(cudaStreamSynchronize(stream));
    }
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaGraphInstantiate(&ready, graph, 0));
    double microseconds = measured(ready, stream);
    for (int i = 0; i < tensors; i++)
        must(cudaFree(device[i]));
    return microseconds;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("lab-18\t%s\t%.2f\n", argv[i], step_time(argv[i]));
    return 0;
}
