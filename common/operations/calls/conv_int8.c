/* conv_int8.c - calls conv_int8(p, x, w, bias, scale, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/int8.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    conv_int8((const Int8Problem *)problem, (const int *)tensor[0], (const int *)tensor[1],
              (const int *)tensor[2], (const float *)tensor[3], tensor[4], (cudaStream_t)stream);
}

OPERATION_ENTRY("conv_int8", call);
