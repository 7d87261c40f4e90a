/* grouped_forward.c - calls grouped_forward(p, x, w, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/depthwise.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    grouped_forward((const GroupedProblem *)problem, (const float *)tensor[0],
                    (const float *)tensor[1], (float *)tensor[2], (cudaStream_t)stream);
}

OPERATION_ENTRY("grouped_forward", call);
