/* retries.h - compare-and-swap loops on shared memory (floats, 64 bits) with contention between
 * warps: an iteration fails if another warp has changed the word since it was loaded. */
#ifndef CONVLAB_SIMT_RETRIES_H
#define CONVLAB_SIMT_RETRIES_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/wavefronts.h"

/* Records one atomic of a warp, which costs `alone` without contention. Warps are recorded one
 * after another up to a barrier; if a warp repeats, the recorded atomics are replayed. */
void retry_note(Retried *retried, uint32_t warp, const uint32_t *offset, uint32_t mask,
                uint32_t changing, uint32_t bytes, const AtomicPasses *alone);
/* Replays the recorded atomics: adds to retried->failed the cost beyond that without contention. */
void retries_play(Retried *retried);
void retries_close(Retried *retried);

#endif
