/* layout.h - a problem whose tensors are not NCHW, seen as if they were.  Internal to this room.
 *
 * Judgement, diagnosis and probes think in NCHW; a view holds the tensors rearranged, and runs
 * the submission by rearranging what goes in and what comes out.  Rearranging is done with
 * tensor.h: to it, w is K images of C channels and y is N images of K channels. */
#ifndef CONVLAB_CONV_LAYOUT_H
#define CONVLAB_CONV_LAYOUT_H

#include "common/conv/tensor.h"
#include "common/conv/verify.h"
#include "convlab/conv.h"

typedef struct LayoutView {
    Problem original, problem; /* problem: the same in NCHW */
    ConvProblem conv;
    const float *const *raw; /* the tensors as they lie */
    const float *raw_output; /* what the submission wrote, as it lies */
    float *x, *w, *y;        /* rearranged */
    const float *tensor[3];  /* x, w, y */
    Observed observed;       /* of the rearranged output */
    ProbeRun run;
    void *context;
} LayoutView;

/* `tensor`, `observed` and `context` must outlive the view.  -1 with error: out of memory. */
int layout_view_open(LayoutView *view, const Problem *problem, const float *const *tensor,
                     const Observed *observed, ProbeRun run, void *context, Error *error);
void layout_view_close(LayoutView *view);

/* A ProbeRun whose context is a view: tensors and output are NCHW, as is the problem. */
int layout_view_run(void *view, const Problem *problem, const float *const *tensor, float *output);

/* Would the output be right if one of the tensors, or all of them, lay in another order?  Then
 * says so in the verdict. */
void layout_explain(const LayoutView *view, const Operation *operation, Precision precision,
                    Verdict *verdict);

#endif
