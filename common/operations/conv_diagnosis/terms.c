/* terms.c - the terms of an output, the tolerance of an explanation, and the names of axes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/operations/conv_diagnosis/explain_parts.h"

OutputAt output_at(const ConvProblem *conv, size_t index)
{
    OutputAt at;
    at.q = (int)(index % (size_t)conv->Q);
    index /= (size_t)conv->Q;
    at.p = (int)(index % (size_t)conv->P);
    index /= (size_t)conv->P;
    at.k = (int)(index % (size_t)conv->K);
    at.n = (int)(index / (size_t)conv->K);
    return at;
}

size_t output_terms(const Diagnosis *d, size_t index, double *product)
{
    const ConvProblem *v = &d->conv;
    OutputAt at = output_at(v, index);
    const float *w = d->tensor[1] + (size_t)at.k * v->C * v->R * v->S;
    size_t inside = 0;
    for (int c = 0; c < v->C; c++)
        for (int r = 0; r < v->R; r++)
            for (int s = 0; s < v->S; s++, w++, product++) {
                int h = at.p * v->stride_h + r - v->pad_top;
                int i = at.q * v->stride_w + s - v->pad_left;
                *product = 0;
                if (h < 0 || h >= v->H || i < 0 || i >= v->W) continue;
                size_t plane = (size_t)at.n * v->C + c;
                *product = (double)d->tensor[0][(plane * v->H + h) * v->W + i] * *w;
                inside++;
            }
    return inside;
}

/* The rounding errors of a fast algorithm depend on the whole map (verdict.h). */
double diagnosis_tolerance(const Diagnosis *d, double magnitude, double terms)
{
    const Algorithm algorithm = d->judged->observed.algorithm;
    if (d->faint) return 4 * UNIT_FP32 * sqrt(terms) * magnitude;
    if (algorithm != ALGORITHM_SUMS)
        return verdict_bound(d->precision, fmax(magnitude, d->judged->typical),
                             fmax(terms, verdict_least_terms(algorithm)));
    return verdict_bound(d->precision, magnitude, terms);
}

void axes_name(unsigned axes, const char *letters, char *text, size_t bytes)
{
    int left = __builtin_popcount(axes);
    *text = 0;
    for (int axis = 0; letters[axis]; axis++) {
        size_t used = strlen(text);
        if (!(axes >> axis & 1)) continue;
        left--;
        snprintf(text + used, bytes - used, "%s%c",
                 !used  ? ""
                 : left ? ", "
                        : " and ",
                 letters[axis]);
    }
}
