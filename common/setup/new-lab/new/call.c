/* @OPERATION@.c - calls @OPERATION@(p, x, y, stream). */
#include <cuda_runtime_api.h>

#define CONVLAB_DEVICE_ENTRY
#include "common/operations/calls/operation_call.h"
#include "convlab/@OPERATION@.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    @OPERATION@(problem, tensor[0], tensor[1], stream);
}

OPERATION_ENTRY("@OPERATION@", call);
