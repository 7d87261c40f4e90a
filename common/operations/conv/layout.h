/* layout.h - conversion of a problem with other tensor layouts to NCHW.
 *
 * Judgement, diagnosis and probes use NCHW.  Conversions use tensor.h: for it, w is K images of C
 * channels and y is N images of K channels. */
#ifndef CONVLAB_CONV_LAYOUT_H
#define CONVLAB_CONV_LAYOUT_H

#include "common/operations/operation/operation.h"
#include "common/operations/conv/tensor.h"
#include "convlab/conv.h"

enum { LAYOUT_X, LAYOUT_W, LAYOUT_Y, LAYOUT_TENSORS };

/* Operation's rearrange: the view's tensors in NCHW. */
int layout_rearrange(const Problem *problem, PlainView *view, Error *error);

/* Images, channels, rows and columns of x, w or y. */
TensorExtent layout_extent(const ConvProblem *conv, int tensor);
size_t layout_count(const ConvProblem *conv, int tensor); /* number of elements */

/* The order of a tensor's elements in memory. */
typedef struct MemoryOrder {
    int layout;        /* CONV_NCHW ... */
    unsigned reversed; /* as in conv_reversed, of all tensors */
} MemoryOrder;

MemoryOrder memory_order(const Problem *problem);
/* Whether the tensors are in NCHW, and no axis is reversed. */
int memory_order_is_plain(MemoryOrder order);

/* A copy of `from`, which has this order, in NCHW, owned by the caller; NULL: out of memory. */
float *layout_to_nchw(const ConvProblem *conv, int tensor, MemoryOrder order, const float *from);
/* A copy of `from`, in NCHW, in this order, owned by the caller; NULL: out of memory. */
float *layout_from_nchw(const ConvProblem *conv, int tensor, MemoryOrder order, const float *from);

#endif
