/* card_ceilings.h - roofline ceilings of the GPU that is used for grading, measured while the
 * compilers run. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_CARD_CEILINGS_H
#define CONVLAB_AUTOGRADER_JUDGING_CARD_CEILINGS_H

#include "common/cuda/gpu/gpu_ceilings.h"

typedef struct CardCeilings CardCeilings;

/* Starts the measurement in a thread of its own.  NULL: out of memory. */
CardCeilings *card_ceilings_begin(void);

/* Waits for the result, which the measurement owns.  NULL: no measurement was started, or it failed
 * and reported the reason on standard error. */
const GpuCeilings *card_ceilings_wait(CardCeilings *ceilings);

/* Waits until the measurement has released the GPU, so that it does not disturb timed runs. */
void card_ceilings_leave(CardCeilings *ceilings);

void card_ceilings_end(CardCeilings *ceilings);

#endif
