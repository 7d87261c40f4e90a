/* tail_widths_host.c - calls tail_widths_host(p, layer, time, y). */
#include "common/operations/calls/operation_call.h"
#include "convlab/tail.h"

static void call(const void *problem, void *const *tensor, void *stream)
{
    (void)stream;
    tail_widths_host((const WidthsProblem *)problem, (const float *)tensor[0],
                     (const float *)tensor[1], (float *)tensor[2]);
}

OPERATION_ENTRY("tail_widths", call);
