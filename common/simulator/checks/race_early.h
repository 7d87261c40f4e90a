/* race_early.h - a launch that overlaps the one before it touches what that still uses. */
#ifndef CONVLAB_SIMT_CHECKS_RACE_EARLY_H
#define CONVLAB_SIMT_CHECKS_RACE_EARLY_H

#include "common/simulator/core/core.h"

/* The warp has waited for the launch before. */
void race_early_over(Warp *warp);
/* Has the warp waited, itself or by its block? */
int race_early_waited(const Warp *warp);
/* Called with each access of a launch that overlaps one before it. */
void race_early(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                SimtTouchKind kind);

#endif
