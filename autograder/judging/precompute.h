/* precompute.h - precomputation of the inputs and expected outputs of later cases, on cores that
 * the compilers and the current run leave idle. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_PRECOMPUTE_H
#define CONVLAB_AUTOGRADER_JUDGING_PRECOMPUTE_H

#include "autograder/tensors/workload.h"
#include "common/operations/operation/verify.h"

typedef struct Expected {
    Workload workload; /* with inputs filled in */
    Random random;     /* the generator's state after the inputs were drawn */
    Judgement judgement;
    double inputs, outputs; /* seconds for drawing the inputs and for computing the expected
                             * outputs */
} Expected;

/* NULL with error: out of memory.  expected_free accepts NULL. */
Expected *expected_make(const Operation *operation, const Problem *problem, Precision precision,
                        const Random *random, Error *error);
void expected_free(Expected *expected);

typedef struct PrecomputeCase {
    const Operation *operation; /* NULL: nothing to precompute */
    Problem problem;
    Random random;
} PrecomputeCase;

typedef struct Precompute Precompute;

/* Starts to precompute the cases in the order of `order`, which has `count` indices into `list`.
 * The list is copied.  NULL: nothing is precomputed. */
Precompute *precompute_begin(const PrecomputeCase *list, const int *order, int count,
                             Precision precision);
/* The data of case `number` of the list, owned by the caller; NULL: not precomputed, so the caller
 * computes them. */
Expected *precompute_take(Precompute *precomputed, int number);
/* Waits for the case that is being computed and starts no other.  Finished cases can still be
 * taken.  NULL is allowed. */
void precompute_stop(Precompute *precomputed);
/* Frees every case that was not taken; NULL is allowed. */
void precompute_end(Precompute *precomputed);

#endif
