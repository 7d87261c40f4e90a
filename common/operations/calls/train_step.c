/* train_step.c - calls train_step(p, x, label, parameter, velocity, setting, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/train.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    train_step((const TrainProblem *)problem, (const float *)tensor[0], (const float *)tensor[1],
               (const float *)tensor[2], (const float *)tensor[3], (const float *)tensor[4],
               (float *)tensor[5], (cudaStream_t)stream);
}

OPERATION_ENTRY("train_step", call);
