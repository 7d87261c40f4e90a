/* conv_forward_host.c - calls conv_forward_host(p, x, w, y). */
#include "common/operations/calls/operation_call.h"
#include "convlab/conv.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    (void)stream;
    conv_forward_host((const ConvProblem *)problem, (const float *)tensor[0],
                      (const float *)tensor[1], (float *)tensor[2]);
}

OPERATION_ENTRY("conv_forward", call);
