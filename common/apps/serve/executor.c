#include "common/apps/serve/executor.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "common/cuda/engine/engine.h"
#include "common/operations/calls/operation_call.h"
#include "common/apps/serve/pool.h"

struct Executor {
    const Model *model;
    int largest;
    cudaStream_t stream;
    float *device[OPERATION_TENSORS]; /* weights; x and y of a batch */
    float *input, *output[2];         /* on the host: by place; of two batches, alternating */
    int current;
};

static int failed(const char *what, cudaError_t status, Error *error)
{
    if (status == cudaSuccess) return 0;
    const char *more = engine_complaint();
    return error_set(error, "%s: %s%s%s", what, cudaGetErrorString(status), *more ? ": " : "",
                     more);
}

static size_t x_bytes(const Executor *executor)
{
    return executor->model->count[executor->model->x] * sizeof(float);
}

static size_t y_bytes(const Executor *executor)
{
    return executor->model->count[executor->model->y] * sizeof(float);
}

static int allocate(Executor *executor, Error *error)
{
    const Model *model = executor->model;
    if (failed("stream", cudaStreamCreate(&executor->stream), error) ||
        failed("memory for answers",
               cudaMallocHost((void **)&executor->output[0], executor->largest * y_bytes(executor)),
               error) ||
        failed("memory for answers",
               cudaMallocHost((void **)&executor->output[1], executor->largest * y_bytes(executor)),
               error))
        return -1;
    for (int i = 0; i < model->tensors; i++) {
        size_t bytes = model->count[i] * sizeof(float) * (model->weight[i] ? 1 : executor->largest);
        if (failed("memory on the device", cudaMalloc((void **)&executor->device[i], bytes), error))
            return -1;
        if (model->weight[i] &&
            failed("weights",
                   cudaMemcpy(executor->device[i], model->weight[i], bytes, cudaMemcpyHostToDevice),
                   error))
            return -1;
    }
    return 0;
}

Executor *executor_open(const Model *model, int largest, Error *error)
{
    Executor *executor = calloc(1, sizeof *executor);
    if (!executor) {
        error_set(error, "out of memory");
        return NULL;
    }
    *executor = (Executor){.model = model, .largest = largest};
    if (!allocate(executor, error)) return executor;
    executor_close(executor);
    return NULL;
}

void executor_close(Executor *executor)
{
    for (int i = 0; i < OPERATION_TENSORS; i++)
        cudaFree(executor->device[i]);
    cudaFreeHost(executor->input);
    cudaFreeHost(executor->output[0]);
    cudaFreeHost(executor->output[1]);
    if (executor->stream) cudaStreamDestroy(executor->stream);
    free(executor);
}

int executor_places(Executor *executor, int places, Error *error)
{
    cudaFreeHost(executor->input);
    executor->input = NULL;
    return failed("memory for requests",
                  cudaMallocHost((void **)&executor->input, places * x_bytes(executor)), error);
}

float *executor_input(const Executor *executor, int place)
{
    return executor->input + (size_t)place * executor->model->count[executor->model->x];
}

/* Adjacent places are copied together. */
static int inputs_copy(Executor *executor, const int *place, int count, Error *error)
{
    size_t floats = executor->model->count[executor->model->x];
    float *to = executor->device[executor->model->x];
    for (int i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && place[i + run] == place[i] + run;)
            run++;
        if (failed("a batch's inputs",
                   cudaMemcpyAsync(to + i * floats, executor_input(executor, place[i]),
                                   run * x_bytes(executor), cudaMemcpyHostToDevice,
                                   executor->stream),
                   error))
            return -1;
    }
    return 0;
}

const float *executor_run(Executor *executor, const int *place, int count, Error *error)
{
    const Model *model = executor->model;
    Problem problem;
    void *pointer[OPERATION_TENSORS];
    float *output = executor->output[executor->current ^= 1];
    for (int i = 0; i < model->tensors; i++)
        pointer[i] = executor->device[i];
    if (model_batch(model, count, &problem, error) || inputs_copy(executor, place, count, error))
        return NULL;
    operation_call(model->operation->name, problem.data, pointer, executor->stream);
    if (failed("a batch", cudaGetLastError(), error) ||
        failed("a batch's outputs",
               cudaMemcpyAsync(output, executor->device[model->y], count * y_bytes(executor),
                               cudaMemcpyDeviceToHost, executor->stream),
               error) ||
        failed("a batch", cudaStreamSynchronize(executor->stream), error))
        return NULL;
    pool_settle();
    return output;
}
