/* separable_forward.c - calls separable_forward(p, x, d, w, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/depthwise.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    separable_forward((const SeparableProblem *)problem, (const float *)tensor[0],
                      (const float *)tensor[1], (const float *)tensor[2], (float *)tensor[3],
                      (cudaStream_t)stream);
}

OPERATION_ENTRY("separable_forward", call);
