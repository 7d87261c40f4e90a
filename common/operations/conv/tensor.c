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

void tensor_reverse(const TensorExtent *e, unsigned axes, float *tensor)
{
    const size_t size[4] = {e->n, e->c, e->h, e->w};
    for (size_t i = 0, total = e->n * e->c * e->h * e->w; axes && i < total; i++) {
        size_t rest = i, other = 0, step = 1;
        for (int axis = 3; axis >= 0; rest /= size[axis], step *= size[axis], axis--) {
            size_t at = rest % size[axis];
            other += (axes >> axis & 1 ? size[axis] - 1 - at : at) * step;
        }
        if (other <= i) continue;
        float value = tensor[i];
        tensor[i] = tensor[other], tensor[other] = value;
    }
}
