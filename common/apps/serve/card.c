#include "common/apps/serve/card.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "common/cuda/engine/engine.h"
#include "common/operations/calls/operation_call.h"
#include "common/apps/serve/pool.h"

struct Card {
    const Model *model;
    int largest;
    cudaStream_t stream;
    float *device[OPERATION_TENSORS]; /* weights; x and y of a batch */
    float *input, *output[2];         /* on the host: by place; of two batches, alternating */
    int turn;
};

static int failed(const char *what, cudaError_t status, Error *error)
{
    if (status == cudaSuccess) return 0;
    const char *more = engine_complaint();
    return error_set(error, "%s: %s%s%s", what, cudaGetErrorString(status), *more ? ": " : "",
                     more);
}

static size_t x_bytes(const Card *card)
{
    return card->model->count[card->model->x] * sizeof(float);
}

static size_t y_bytes(const Card *card)
{
    return card->model->count[card->model->y] * sizeof(float);
}

static int allocate(Card *card, Error *error)
{
    const Model *model = card->model;
    if (failed("stream", cudaStreamCreate(&card->stream), error) ||
        failed("memory for answers",
               cudaMallocHost((void **)&card->output[0], card->largest * y_bytes(card)), error) ||
        failed("memory for answers",
               cudaMallocHost((void **)&card->output[1], card->largest * y_bytes(card)), error))
        return -1;
    for (int i = 0; i < model->tensors; i++) {
        size_t bytes = model->count[i] * sizeof(float) * (model->weight[i] ? 1 : card->largest);
        if (failed("memory on the device", cudaMalloc((void **)&card->device[i], bytes), error))
            return -1;
        if (model->weight[i] &&
            failed("weights",
                   cudaMemcpy(card->device[i], model->weight[i], bytes, cudaMemcpyHostToDevice),
                   error))
            return -1;
    }
    return 0;
}

Card *card_open(const Model *model, int largest, Error *error)
{
    Card *card = calloc(1, sizeof *card);
    if (!card) {
        error_set(error, "out of memory");
        return NULL;
    }
    *card = (Card){.model = model, .largest = largest};
    if (!allocate(card, error)) return card;
    card_close(card);
    return NULL;
}

void card_close(Card *card)
{
    for (int i = 0; i < OPERATION_TENSORS; i++)
        cudaFree(card->device[i]);
    cudaFreeHost(card->input);
    cudaFreeHost(card->output[0]);
    cudaFreeHost(card->output[1]);
    if (card->stream) cudaStreamDestroy(card->stream);
    free(card);
}

int card_places(Card *card, int places, Error *error)
{
    cudaFreeHost(card->input);
    card->input = NULL;
    return failed("memory for requests",
                  cudaMallocHost((void **)&card->input, places * x_bytes(card)), error);
}

float *card_input(const Card *card, int place)
{
    return card->input + (size_t)place * card->model->count[card->model->x];
}

/* Adjacent places are copied together. */
static int inputs_copy(Card *card, const int *place, int count, Error *error)
{
    size_t floats = card->model->count[card->model->x];
    float *to = card->device[card->model->x];
    for (int i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && place[i + run] == place[i] + run;)
            run++;
        if (failed("a batch's inputs",
                   cudaMemcpyAsync(to + i * floats, card_input(card, place[i]), run * x_bytes(card),
                                   cudaMemcpyHostToDevice, card->stream),
                   error))
            return -1;
    }
    return 0;
}

const float *card_run(Card *card, const int *place, int count, Error *error)
{
    const Model *model = card->model;
    Problem problem;
    void *pointer[OPERATION_TENSORS];
    float *output = card->output[card->turn ^= 1];
    for (int i = 0; i < model->tensors; i++)
        pointer[i] = card->device[i];
    if (model_batch(model, count, &problem, error) || inputs_copy(card, place, count, error))
        return NULL;
    operation_call(model->operation->name, problem.data, pointer, card->stream);
    if (failed("a batch", cudaGetLastError(), error) ||
        failed("a batch's outputs",
               cudaMemcpyAsync(output, card->device[model->y], count * y_bytes(card),
                               cudaMemcpyDeviceToHost, card->stream),
               error) ||
        failed("a batch", cudaStreamSynchronize(card->stream), error))
        return NULL;
    pool_settle();
    return output;
}
