/* tail_waves_host.c - calls tail_waves_host(p, pixels, y). */
#include "common/operations/calls/operation_call.h"
#include "convlab/tail.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    (void)stream;
    tail_waves_host((const WavesProblem *)problem, (const float *)tensor[0], (float *)tensor[1]);
}

OPERATION_ENTRY("tail_waves", call);
