#include "common/conv/tensor.h"

#include <strings.h>

static const char *const names[] = {"NCHW", "NHWC", "CHWN"};

const char *layout_name(Layout layout)
{
    return names[layout];
}

int layout_find(const char *name, Layout *layout, Error *error)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(name, names[i]) != 0) continue;
        *layout = (Layout)i;
        return 0;
    }
    return error_set(error, "no tensor layout is called \"%.40s\": there are NCHW, NHWC and CHWN",
                     name);
}

/* How far apart neighbours along each axis lie. */
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

size_t tensor_index(Layout layout, const TensorExtent *extent, size_t n, size_t c, size_t h,
                    size_t w)
{
    TensorExtent step = tensor_steps(layout, extent);
    return n * step.n + c * step.c + h * step.h + w * step.w;
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
