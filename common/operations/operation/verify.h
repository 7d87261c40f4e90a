/* verify.h - judgement of an output.
 *
 * An output is correct if |y - expected| <= safety * gamma_m * reach.  Here gamma_m = m*u/(1 -
 * m*u), m is the number of the output's terms, and u is the unit roundoff of the lab's precision;
 * verdict.h defines reach and safety.  The code has `!(error <= bound)`, so that NaN is wrong.
 * diagnose.h explains wrong outputs. */
#ifndef CONVLAB_OPERATION_VERIFY_H
#define CONVLAB_OPERATION_VERIFY_H

#include "common/operations/operation/verdict.h"

/* Judgement of one output. */
typedef enum Mark { MARK_RIGHT, MARK_WRONG, MARK_NAN, MARK_POISON, MARKS } Mark;

/* A verdict and the data used for it.  The outputs' arrays have the operation's default layout and
 * verdict.total elements. */
typedef struct Judgement {
    Verdict verdict;
    const Operation *operation;
    Precision precision;
    Problem problem;            /* in the original layout */
    const float *const *tensor; /* in the original layout */
    Observed observed;          /* in the original layout */
    PlainView view;             /* the same in the default layout */
    double *expected, *magnitude, *terms;
    unsigned char *mark; /* a Mark for each output */
    size_t count[MARKS]; /* outputs of each mark */
    double rms;          /* root mean square of expected */
    double typical;      /* the root mean square of magnitude */
    int faint;           /* Boolean: every output is within its bound, but their root mean square is
                          * not */
} Judgement;

/* Memory for the oracle's results on `total` outputs: one allocation, which free(*expected) frees.
 * -1: out of memory. */
int oracle_room(size_t total, double **expected, double **magnitude, double **terms);

/* Computes the expected outputs for these inputs, which takes most of a judgement's time and needs
 * no run.  The caller frees the judgement; `tensor` must outlive it.  Returns -1 with `error` only
 * if memory is exhausted; then there is nothing to free. */
int verify_expect(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, Judgement *judgement, Error *error);
/* Judges an observed run, which must outlive the judgement, and discards an earlier run's results.
 * -1 with `error`: out of memory; the caller still frees the judgement. */
int verify_observed(Judgement *judgement, const Observed *observed, Error *error);
/* Both; returns as verify_expect. */
int verify_output(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, const Observed *observed, Judgement *judgement,
                  Error *error);
void judgement_free(Judgement *judgement);

/* Judges a random sample of the outputs: *right is 1 or 0; after 0, verify_output is needed.  If
 * one element in a thousand is wrong, the sample misses it with probability 1e-6; an output of
 * fewer than VERIFY_WHOLE elements is judged completely.
 *
 * If an element costs as much as its image, the sample consists of whole, different images: their
 * number is limited by VERIFY_TERMS multiply-adds, and at least VERIFY_IMAGES.  If there are
 * fewer than twice that number, all are judged.  If one image in three is wrong, the sample misses
 * it once in 400,000 times; one in ten, once in 29.
 *
 * `random` must be unpredictable for the submission.  -1 with `error`: out of memory. */
enum { VERIFY_SAMPLE = 13809, VERIFY_WHOLE = 2 * VERIFY_SAMPLE }; /* ln 1e-6 / ln 0.999 */
enum { VERIFY_IMAGES = 32 };
#define VERIFY_TERMS 4e9
int verify_sample(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, const Observed *observed, Random *random, int *right,
                  Error *error);

#endif
