/* ahead.h - what the judgement of a call needs and no run does: inputs, and what the outputs for
 * them should be; for the cases to come, beside compilers and runs, which leave cores idle. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_AHEAD_H
#define CONVLAB_AUTOGRADER_JUDGING_AHEAD_H

#include "autograder/tensors/workload.h"
#include "common/operations/operation/verify.h"

typedef struct Expected {
    Workload workload; /* filled */
    Random random;     /* as the filling left it */
    Judgement judgement;
    double inputs, outputs; /* seconds that filling and computing took */
} Expected;

/* NULL with error: out of memory.  Frees nothing for NULL. */
Expected *expected_make(const Operation *operation, const Problem *problem, Precision precision,
                        const Random *random, Error *error);
void expected_free(Expected *expected);

typedef struct AheadCase {
    const Operation *operation; /* NULL: nothing is to be made */
    Problem problem;
    Random random;
} AheadCase;

typedef struct Ahead Ahead;

/* Begins to make what the cases need, in the order of `order`, `count` indices into `list`, which
 * is copied.  NULL: nothing is made ahead. */
Ahead *ahead_begin(const AheadCase *list, const int *order, int count, Precision precision);
/* What case `number` of the list needs, the caller's to free; NULL: the caller makes it. */
Expected *ahead_take(Ahead *ahead, int number);
/* Waits for the case in hand, and makes no more; what was made can be taken.  NULL is allowed. */
void ahead_stop(Ahead *ahead);
/* Frees all that nobody took; NULL is allowed. */
void ahead_end(Ahead *ahead);

#endif
