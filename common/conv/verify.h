/* verify.h - is this output right?
 *
 * Judgement: |y - expected| <= safety * gamma_m * magnitude, gamma_m = m*u/(1 - m*u), m the
 * products of that output, u the unit roundoff of the lab's precision, written `!(error <= bound)`
 * so that NaN fails.  (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
 * section 3.1.)  What is wrong with an output that is not right, diagnosis/diagnose.h says. */
#ifndef CONVLAB_CONV_VERIFY_H
#define CONVLAB_CONV_VERIFY_H

#include "common/conv/layout.h"
#include "common/conv/verdict.h"

/* What is said of one output. */
typedef enum Mark { MARK_RIGHT, MARK_WRONG, MARK_NAN, MARK_POISON, MARKS } Mark;

/* A verdict and what it was reached by.  All tensors are in NCHW, whatever order the problem's are
 * in; the outputs' arrays have verdict.total elements. */
typedef struct Judgement {
    Verdict verdict;
    const Operation *operation;
    Precision precision;
    Observed observed; /* as the run left it */
    LayoutView view;   /* problem, inputs and output in NCHW */
    double *expected, *magnitude, *products;
    unsigned char *mark; /* a Mark for each output */
    double rms;          /* of expected */
    int faint; /* every output is within its worst case; only their root mean square is not */
} Judgement;

/* Judges one output.  The caller frees the judgement; until then `tensor` and the observed output
 * must live.  Returns -1 with `error` only for running out of memory; then there is nothing to
 * free. */
int verify_output(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, const Observed *observed, Judgement *judgement,
                  Error *error);
void judgement_free(Judgement *judgement);

#endif
