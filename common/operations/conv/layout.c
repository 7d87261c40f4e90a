#include "common/operations/conv/layout.h"

#include <stdlib.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"

TensorExtent layout_extent(const ConvProblem *v, int tensor)
{
    const int extent[LAYOUT_TENSORS][4] = {
        {v->N, v->C, v->H, v->W}, {v->K, v->C, v->R, v->S}, {v->N, v->K, v->P, v->Q}};
    const int *e = extent[tensor];
    return (TensorExtent){(size_t)e[0], (size_t)e[1], (size_t)e[2], (size_t)e[3]};
}

size_t layout_count(const ConvProblem *v, int tensor)
{
    TensorExtent e = layout_extent(v, tensor);
    return e.n * e.c * e.h * e.w;
}

MemoryOrder memory_order(const Problem *problem)
{
    return (MemoryOrder){conv_unpack(problem).layout, conv_reversed(problem)};
}

int memory_order_is_plain(MemoryOrder order)
{
    return order.layout == CONV_NCHW && !order.reversed;
}

/* The tensor's own bits of the reversed axes. */
static unsigned axes_of(MemoryOrder order, int tensor)
{
    return order.reversed >> 4 * tensor & 15;
}

float *layout_to_nchw(const ConvProblem *v, int tensor, MemoryOrder order, const float *from)
{
    TensorExtent extent = layout_extent(v, tensor);
    float *to = malloc(layout_count(v, tensor) * sizeof *to);
    if (!to) return NULL;
    tensor_convert(&extent, (Layout)order.layout, from, LAYOUT_NCHW, to);
    tensor_reverse(&extent, axes_of(order, tensor), to);
    return to;
}

float *layout_from_nchw(const ConvProblem *v, int tensor, MemoryOrder order, const float *from)
{
    TensorExtent extent = layout_extent(v, tensor);
    size_t bytes = layout_count(v, tensor) * sizeof *from;
    float *plain = malloc(bytes), *to = malloc(bytes);
    if (plain && to) {
        memcpy(plain, from, bytes);
        tensor_reverse(&extent, axes_of(order, tensor), plain);
        tensor_convert(&extent, LAYOUT_NCHW, plain, (Layout)order.layout, to);
    } else {
        free(to);
        to = NULL;
    }
    free(plain);
    return to;
}

int layout_rearrange(const Problem *problem, PlainView *view, Error *error)
{
    ConvProblem conv = conv_unpack(problem);
    MemoryOrder order = memory_order(problem);
    if (memory_order_is_plain(order)) return 0;
    for (int i = LAYOUT_X; i < LAYOUT_TENSORS; i++) {
        if (!view->tensor[i]) continue;
        view->tensor[i] = view->copy[i] = layout_to_nchw(&conv, i, order, view->tensor[i]);
        if (!view->copy[i]) return error_set(error, "no memory to rearrange the tensors");
    }
    view->output = view->tensor[LAYOUT_Y];
    conv.layout = CONV_NCHW;
    conv_pack(&conv, &view->problem);
    return 0;
}
