/* judge.h - whether what the simulator gave is what the card gave, as nearly as the form asks. */
#ifndef CONVLAB_CONFORMANCE_JUDGE_H
#define CONVLAB_CONFORMANCE_JUDGE_H

#include "common/simulator/conformance/form.h"

/* Errors of an approximate form, in the unit of its tolerance (ulp, or relative, or absolute). */
typedef struct Judgement {
    uint32_t compared;      /* lanes */
    uint32_t differing;     /* lanes of other bits than the card's, though allowed */
    uint32_t beyond;        /* where the card itself is outside the bound: its bits are wanted */
    double card, simulator; /* the worst error of each against the exact result */
} Judgement;

/* Compares got with golden (both value[k * lanes + i]).  0, or -1 with the first lane that is
 * wrong: the form, its operands, what came and what was wanted. */
int form_judge(const Form *form, const uint64_t *golden, const uint64_t *got, Judgement *judgement,
               Error *error);

#endif
