/* variant.h - one known mistake in a convolution, as a set of index formulas.  Internal to the
 * diagnosis. */
#ifndef CONVLAB_CONV_DIAGNOSIS_VARIANT_H
#define CONVLAB_CONV_DIAGNOSIS_VARIANT_H

#include "common/operations/conv_diagnosis/explain_parts.h"

enum { VARIANTS = 256 };

typedef enum Edge { EDGE_SKIP, EDGE_CLAMP, EDGE_WRAP, EDGE_REFLECT } Edge;
typedef enum Rounding { ROUND_NONE, ROUND_TF32, ROUND_TF32_CUT, ROUND_FP16, ROUND_BF16 } Rounding;

typedef struct Variant {
    Fault fault;
    /* h = p*stride_h + r*step_h - top, and w in the same way; 64 bits, because odd strides overflow
     * int. */
    long long stride_h, stride_w, step_h, step_w, top, left;
    int crossed; /* Boolean: the window starts at row q*stride_w - left, column p*stride_h - top */
    /* Taps outside of these are skipped; inside, memory is read without further tests. */
    int low_h, high_h, low_w, high_w;
    Edge edge; /* replacement of an h, w outside of the image */
    int flip_r, flip_s;
    long long x_n, x_c, x_h, x_w, x_base; /* strides in elements in x */
    long long w_k, w_c, w_r, w_s;         /* strides in elements in w */
    char order[5];                        /* the axes of y, outermost first */
    Rounding rounding;
    double scale;
    char text[400];
} Variant;

typedef struct VariantList {
    const ConvProblem *conv; /* in NCHW, for every layout of the case */
    int rearranged; /* Boolean: the case has another order, so formulas of NCHW do not apply */
    Variant *variant;
    int count;
} VariantList;

/* Fills the list with every variant that is possible for list->conv, the most likely first. */
void variant_list(VariantList *list);

#endif
