/* layout.h - a problem whose tensors are not NCHW, seen as if they were.
 *
 * Judgement, diagnosis and probes think in NCHW; a view holds the tensors rearranged.  Rearranging
 * is done with tensor.h: to it, w is K images of C channels and y is N images of K channels. */
#ifndef CONVLAB_CONV_LAYOUT_H
#define CONVLAB_CONV_LAYOUT_H

#include "common/conv/operation.h"
#include "common/conv/tensor.h"
#include "convlab/conv.h"

enum { LAYOUT_X, LAYOUT_W, LAYOUT_Y, LAYOUT_TENSORS };

typedef struct LayoutView {
    Problem original, problem;           /* problem: the same in NCHW */
    const float *const *raw;             /* the tensors as they lie */
    const float *raw_output;             /* what the submission wrote, as it lies */
    float *copy[LAYOUT_TENSORS];         /* rearranged; NULL where the original is NCHW already */
    const float *tensor[LAYOUT_TENSORS]; /* in NCHW */
    const float *output;                 /* in NCHW: tensor[LAYOUT_Y] */
} LayoutView;

/* `tensor` and `output` must outlive the view.  -1 with error: out of memory. */
int layout_view_open(LayoutView *view, const Problem *problem, const float *const *tensor,
                     const float *output, Error *error);
void layout_view_close(LayoutView *view);

/* Images, channels, rows and columns of x, w or y. */
TensorExtent layout_extent(const ConvProblem *conv, int tensor);
size_t layout_count(const ConvProblem *conv, int tensor); /* their product */

/* A copy of `from`, which lies as `layout` says, in NCHW, for the caller to free; NULL: out of
 * memory. */
float *layout_to_nchw(const ConvProblem *conv, int tensor, int layout, const float *from);

#endif
