/* quantize.c - calls quantize(p, w, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/int8.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    quantize((const QuantizeProblem *)problem, (const float *)tensor[0], (int *)tensor[1],
             (cudaStream_t)stream);
}

OPERATION_ENTRY("quantize", call);
