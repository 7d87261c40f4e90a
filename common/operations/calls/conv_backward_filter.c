/* conv_backward_filter.c - calls conv_backward_filter(p, x, dy, dw, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/conv.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    conv_backward_filter((const ConvProblem *)problem, (const float *)tensor[0],
                         (const float *)tensor[1], (float *)tensor[2], (cudaStream_t)stream);
}

OPERATION_ENTRY("conv_backward_filter", call);
