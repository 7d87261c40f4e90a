/* variant.h - one known way of getting a convolution wrong, as a set of index formulas.  Internal
 * to the diagnosis. */
#ifndef CONVLAB_CONV_DIAGNOSIS_VARIANT_H
#define CONVLAB_CONV_DIAGNOSIS_VARIANT_H

#include "common/operations/conv_diagnosis/explain_parts.h"

enum { VARIANTS = 256 };

typedef enum Edge { EDGE_SKIP, EDGE_CLAMP, EDGE_WRAP, EDGE_REFLECT } Edge;
typedef enum Rounding { ROUND_NONE, ROUND_TF32, ROUND_TF32_CUT, ROUND_FP16, ROUND_BF16 } Rounding;

typedef struct Variant {
    Fault fault;
    /* h = p*stride_h + r*step_h - top, and w likewise; wide, for odd strides overflow int. */
    long long stride_h, stride_w, step_h, step_w, top, left;
    int crossed; /* the window begins at row q*stride_w - left, column p*stride_h - top */
    /* Taps outside of these are skipped; inside, memory is read as it lies. */
    int low_h, high_h, low_w, high_w;
    Edge edge; /* what an h, w outside of the image is replaced by instead */
    int flip_r, flip_s;
    long long x_n, x_c, x_h, x_w, x_base; /* element steps into x */
    long long w_k, w_c, w_r, w_s;         /* element steps into w */
    char order[5];                        /* the axes of y, outermost first */
    Rounding rounding;
    double scale;
    char text[400];
} Variant;

typedef struct VariantList {
    const ConvProblem *conv; /* plain, whatever the layout of the case */
    int rearranged; /* the case has another layout: formulas of the plain one say nothing */
    Variant *variant;
    int count;
} VariantList;

/* Fills the list with every variant that makes sense for list->conv, the likelier before the
 * stranger. */
void variant_list(VariantList *list);

#endif
