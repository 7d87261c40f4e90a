/* unroll.h - loops of which ptxas makes one turn of four. */
#ifndef CONVLAB_SIMT_UNROLL_H
#define CONVLAB_SIMT_UNROLL_H

#include "common/simulator/ptxas/liveness.h"
#include "common/simulator/ptxas/schedule.h"

enum { UNROLLED = 4 }; /* turns */

struct Unrolled {
    uint32_t first, count; /* its code, the branch back included */
    uint32_t copy;         /* where its copies begin in kernel->played and kernel->price */
};

/* Sets Price.loop where such a loop begins, before pieces are put in order; how many there are. */
uint32_t loops_mark(const SimtKernel *kernel, InsCost *price);

/* Fills kernel->played and kernel->unrolled.  Returns the prices, those of the copies behind those
 * of the kernel's own code; NULL, and they are freed: out of memory. */
InsCost *loops_unroll(SimtKernel *kernel, InsCost *price, uint32_t loops, Liveness *alive,
                      uint32_t *prices);

/* The warp has executed the branch that closes an unrolled loop: slots that its last turns save,
 * for four that followed each other are one. */
static inline uint32_t turn_saves(CriticalPath *chain, const InsCost *price, int goes_on)
{
    uint32_t saves = ++chain->turns == UNROLLED ? (UNROLLED - 1) * price->saves : 0;
    if (saves || !goes_on) chain->turns = 0;
    chain->slots -= saves < chain->slots ? saves : chain->slots;
    return saves;
}

#endif
