/* verify.h - is this output right?
 *
 * Judgement: |y - expected| <= safety * gamma_m * reach, gamma_m = m*u/(1 - m*u), m the products of
 * that output, u the unit roundoff of the lab's precision, reach and safety as verdict.h has them;
 * written `!(error <= bound)` so that NaN fails.  What is wrong with an output that is not right,
 * diagnose.h says. */
#ifndef CONVLAB_OPERATION_VERIFY_H
#define CONVLAB_OPERATION_VERIFY_H

#include "common/operations/operation/verdict.h"

/* What is said of one output. */
typedef enum Mark { MARK_RIGHT, MARK_WRONG, MARK_NAN, MARK_POISON, MARKS } Mark;

/* A verdict and what it was reached by.  The outputs' arrays are in the operation's plain layout
 * and have verdict.total elements. */
typedef struct Judgement {
    Verdict verdict;
    const Operation *operation;
    Precision precision;
    Problem problem;            /* as it was given */
    const float *const *tensor; /* likewise */
    Observed observed;          /* as the run left it */
    PlainView view;             /* the same in the plain layout */
    double *expected, *magnitude, *products;
    unsigned char *mark; /* a Mark for each output */
    size_t count[MARKS]; /* outputs of each mark */
    double rms;          /* of expected */
    double typical;      /* the root mean square of magnitude */
    int faint;           /* every output is within its bound; only their root mean square is not */
} Judgement;

/* What the outputs for these inputs should be.  That is most of a judgement's time, and no run is
 * needed for it.  The caller frees the judgement; until then `tensor` must live.  Returns -1 with
 * `error` only for running out of memory; then there is nothing to free. */
int verify_expect(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, Judgement *judgement, Error *error);
/* Then judges what a run left behind, which must live as long, and forgets what an earlier run did.
 * -1 with `error`: out of memory; the judgement is still the caller's to free. */
int verify_observed(Judgement *judgement, const Observed *observed, Error *error);
/* Both; returns as verify_expect. */
int verify_output(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, const Observed *observed, Judgement *judgement,
                  Error *error);
void judgement_free(Judgement *judgement);

/* Whether a random sample of the outputs looks right: *right is 1 or 0, and 0 asks for
 * verify_output.  Of an output with one wrong element in a thousand it finds none once in a million
 * times; an output of fewer than VERIFY_WHOLE elements is looked at whole.
 *
 * Where an element costs as much as its image, the sample is one of images, each of them whole, and
 * no image twice: as many as VERIFY_PRODUCTS pay for, and VERIFY_IMAGES at least.  If there are not
 * twice as many, all are looked at.  One wrong image in three is missed once in 400,000 times, one
 * in ten once in 29.
 *
 * `random` must be nothing that the submission can know.  -1 with `error`: out of memory. */
enum { VERIFY_SAMPLE = 13809, VERIFY_WHOLE = 2 * VERIFY_SAMPLE }; /* ln 1e-6 / ln 0.999 */
enum { VERIFY_IMAGES = 32 };
#define VERIFY_PRODUCTS 4e9
int verify_sample(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, const Observed *observed, Random *random, int *right,
                  Error *error);

#endif
