/* retries.h - compare-and-swap loops on shared memory (floats, 64 bits) with contention between
 * warps: an iteration fails if another warp has changed the word since it was loaded. */
#ifndef CONVLAB_SIMT_RETRIES_H
#define CONVLAB_SIMT_RETRIES_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/wavefronts.h"

/* Notes one of a warp's, which takes `alone` if nobody else comes.  Warps come one after another up
 * to a barrier; where one comes again, what was noted is played. */
void retry_note(Retried *retried, uint32_t warp, const uint32_t *offset, uint32_t mask,
                uint32_t changing, uint32_t bytes, const AtomicPasses *alone);
/* Plays what was noted: adds to retried->vain what it takes more than alone. */
void retries_play(Retried *retried);
void retries_close(Retried *retried);

#endif
