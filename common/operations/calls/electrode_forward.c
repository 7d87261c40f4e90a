/* electrode_forward.c - calls electrode_forward(p, x, w, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/electrode.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    electrode_forward((const ElectrodeProblem *)problem, (const float *)tensor[0],
                      (const float *)tensor[1], (float *)tensor[2], (cudaStream_t)stream);
}

OPERATION_ENTRY("electrode_forward", call);
