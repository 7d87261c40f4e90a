/* judge.h - comparison of the simulator's results with the GPU's, within the form's tolerance. */
#ifndef CONVLAB_CONFORMANCE_JUDGE_H
#define CONVLAB_CONFORMANCE_JUDGE_H

#include "common/simulator/conformance/form.h"

/* Errors of an approximate form, in the unit of its tolerance (ulp, or relative, or absolute). */
typedef struct Judgement {
    uint32_t compared;  /* lanes */
    uint32_t differing; /* lanes whose bits differ from the GPU's, within the tolerance */
    uint32_t beyond;    /* lanes in which the GPU is outside the bound: equal bits are required */
    double card, simulator; /* largest error of the GPU and of the simulator */
} Judgement;

/* Compares got with golden (both value[k * lanes + i]).  Returns 0, or -1 with the first
 * wrong lane: the form, its operands, the result and the expected result. */
int form_judge(const Form *form, const uint64_t *golden, const uint64_t *got, Judgement *judgement,
               Error *error);

#endif
