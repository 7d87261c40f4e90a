/* unroll.h - loops that ptxas unrolls four times. */
#ifndef CONVLAB_SIMT_UNROLL_H
#define CONVLAB_SIMT_UNROLL_H

#include "common/simulator/ptxas/liveness.h"
#include "common/simulator/ptxas/schedule.h"

enum { UNROLLED = 4 }; /* iterations */

struct Unrolled {
    uint32_t first, count; /* its code, the branch back included */
    uint32_t copy;         /* start of its copies in kernel->played and kernel->price */
};

/* Sets InsCost.loop at the start of each such loop, before basic blocks are ordered; returns the
 * number of loops. */
uint32_t loops_mark(const SimtKernel *kernel, InsCost *price);

/* Fills kernel->played and kernel->unrolled. Returns the costs: those of the kernel's own code,
 * then those of the copies; NULL, with `price` freed, if out of memory. */
InsCost *loops_unroll(SimtKernel *kernel, InsCost *price, uint32_t loops, Liveness *alive,
                      uint32_t *prices);

/* Called when the warp has executed the branch that closes an unrolled loop; returns the slots that
 * its last iterations save, because four consecutive ones are replayed as one. */
static inline uint32_t iteration_saves(CriticalPath *chain, const InsCost *price, int goes_on)
{
    uint32_t saves = ++chain->iterations == UNROLLED ? (UNROLLED - 1) * price->saves : 0;
    if (saves || !goes_on) chain->iterations = 0;
    chain->slots -= saves < chain->slots ? saves : chain->slots;
    return saves;
}

#endif
