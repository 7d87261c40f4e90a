#include "common/operations/conv/layout.h"

#include <stdlib.h>

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

float *layout_to_nchw(const ConvProblem *v, int tensor, int layout, const float *from)
{
    TensorExtent extent = layout_extent(v, tensor);
    float *to = malloc(layout_count(v, tensor) * sizeof *to);
    if (to) tensor_convert(&extent, (Layout)layout, from, LAYOUT_NCHW, to);
    return to;
}

int layout_rearrange(const Problem *problem, PlainView *view, Error *error)
{
    ConvProblem conv = conv_unpack(problem);
    int layout = conv.layout;
    if (layout == CONV_NCHW) return 0;
    for (int i = LAYOUT_X; i < LAYOUT_TENSORS; i++) {
        if (!view->tensor[i]) continue;
        view->tensor[i] = view->copy[i] = layout_to_nchw(&conv, i, layout, view->tensor[i]);
        if (!view->copy[i]) return error_set(error, "no memory to rearrange the tensors");
    }
    view->output = view->tensor[LAYOUT_Y];
    conv.layout = CONV_NCHW;
    conv_pack(&conv, &view->problem);
    return 0;
}
