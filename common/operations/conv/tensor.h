/* tensor.h - the layouts that a four-dimensional tensor of images may have in memory.
 *
 * NCHW keeps a channel's pixels together, NHWC a pixel's channels, CHWN the same pixel of all
 * images.  The labs compare them; everything else in this room is NCHW (layout.h). */
#ifndef CONVLAB_CONV_TENSOR_H
#define CONVLAB_CONV_TENSOR_H

#include <stddef.h>

typedef enum Layout { LAYOUT_NCHW, LAYOUT_NHWC, LAYOUT_CHWN } Layout;

/* Extents by meaning, whatever the layout. */
typedef struct TensorExtent {
    size_t n, c, h, w;
} TensorExtent;

/* Rearranges `from` into `to`; they must not overlap. */
void tensor_convert(const TensorExtent *extent, Layout from_layout, const float *from,
                    Layout to_layout, float *to);

#endif
