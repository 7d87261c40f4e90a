/* liveness.h - which values are still wanted at a place of the code. */
#ifndef CONVLAB_SIMT_ALIVE_H
#define CONVLAB_SIMT_ALIVE_H

#include "common/simulator/core/core.h"

typedef struct Liveness {
    const SimtKernel *kernel;
    uint32_t words; /* size of a set: one bit per scoreboard number */
    uint32_t *kept; /* per instruction and one more: number of its set, from 1; 0: not kept */
    uint64_t *set;  /* before each target of a branch */
    uint64_t *now;  /* the last requested set */
} Liveness;

/* If the code has calls or indirect jumps, or is too long, all values are live everywhere. -1: out
 * of memory. */
int liveness_open(Liveness *alive, const SimtKernel *kernel);
void liveness_close(Liveness *alive);
/* Values live after a basic block that ends before instruction `to`; valid until the next call.
 * NULL: all. */
const uint64_t *liveness_after(Liveness *alive, uint32_t to);

static inline int is_live(const uint64_t *set, uint16_t score)
{
    return !set || (set[score / 64] >> score % 64 & 1);
}

#endif
