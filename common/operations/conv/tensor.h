/* tensor.h - memory layouts of a four-dimensional tensor of images.
 *
 * In NCHW the pixels of a channel are adjacent, in NHWC the channels of a pixel, in CHWN the same
 * pixel of all images.  The labs compare them; all other code in this module uses NCHW
 * (layout.h). */
#ifndef CONVLAB_CONV_TENSOR_H
#define CONVLAB_CONV_TENSOR_H

#include <stddef.h>

typedef enum Layout { LAYOUT_NCHW, LAYOUT_NHWC, LAYOUT_CHWN } Layout;

/* Extents by meaning, independent of the layout. */
typedef struct TensorExtent {
    size_t n, c, h, w;
} TensorExtent;

/* Converts `from` into `to`; they must not overlap. */
void tensor_convert(const TensorExtent *extent, Layout from_layout, const float *from,
                    Layout to_layout, float *to);

/* Reverses axes of a tensor in NCHW in place; bits of `axes`: n, c, h, w. */
void tensor_reverse(const TensorExtent *extent, unsigned axes, float *tensor);

#endif
