/* brighten.c - calls brighten(p, x, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/brighten.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    brighten((const BrightenProblem *)problem, (const float *)tensor[0], (float *)tensor[1],
             (cudaStream_t)stream);
}

OPERATION_ENTRY("brighten", call);
