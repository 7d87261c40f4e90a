/* pool_forward.c - calls pool_forward(p, x, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/layers.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    pool_forward((const PoolProblem *)problem, (const float *)tensor[0], (float *)tensor[1],
                 (cudaStream_t)stream);
}

OPERATION_ENTRY("pool_forward", call);
