#include "common/operations/conv/tensor.h"

/* Strides in elements along each axis. */
static TensorExtent tensor_steps(Layout layout, const TensorExtent *e)
{
    switch (layout) {
    case LAYOUT_NHWC:
        return (TensorExtent){.n = e->h * e->w * e->c, .h = e->w * e->c, .w = e->c, .c = 1};
    case LAYOUT_CHWN:
        return (TensorExtent){.c = e->h * e->w * e->n, .h = e->w * e->n, .w = e->n, .n = 1};
    default:
        return (TensorExtent){.n = e->c * e->h * e->w, .c = e->h * e->w, .h = e->w, .w = 1};
    }
}

void tensor_convert(const TensorExtent *extent, Layout from_layout, const float *from,
                    Layout to_layout, float *to)
{
    TensorExtent a = tensor_steps(from_layout, extent), b = tensor_steps(to_layout, extent);
    for (size_t n = 0; n < extent->n; n++)
        for (size_t c = 0; c < extent->c; c++)
            for (size_t h = 0; h < extent->h; h++) {
                const float *source = from + n * a.n + c * a.c + h * a.h;
                float *target = to + n * b.n + c * b.c + h * b.h;
                for (size_t w = 0; w < extent->w; w++)
                    target[w * b.w] = source[w * a.w];
            }
}
