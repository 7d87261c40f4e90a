/* card_ceilings.h - the roofs of the card that is graded on, measured while compilers work. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_CARD_CEILINGS_H
#define CONVLAB_AUTOGRADER_JUDGING_CARD_CEILINGS_H

#include "common/cuda/gpu/gpu_ceilings.h"

typedef struct CardCeilings CardCeilings;

/* Begins to measure, in a thread of its own.  NULL: out of memory. */
CardCeilings *card_ceilings_begin(void);

/* Waits until they are known.  NULL: nothing is being measured, or it failed, which standard error
 * was told.  They are the measurement's. */
const GpuCeilings *card_ceilings_wait(CardCeilings *ceilings);

/* Waits until the measurement has left the card, which others are timed on. */
void card_ceilings_leave(CardCeilings *ceilings);

void card_ceilings_end(CardCeilings *ceilings);

#endif
