/* accelerator.h - hardware that a machine may have: which call is such, and how long it takes. */
#ifndef CONVLAB_SIMT_CORE_ACCELERATOR_H
#define CONVLAB_SIMT_CORE_ACCELERATOR_H

#include "common/simulator/core/core.h"

typedef enum Accelerator {
    ACCELERATOR_INNER_PRODUCT, /* 2 * N cycles, N pairs of elements (section 3.2) */
    ACCELERATOR_OUTER_PRODUCT, /* 4 + 2 * N - 2 cycles, N elements of the filters (section 3.3) */
    ACCELERATOR_INDEX,         /* one instruction (section 4.3) */
    ACCELERATORS
} Accelerator;

/* The functions that the accelerators are, to be executed in place of a submission's.  NULL with
 * error. */
PtxModule *accelerator_microcode(Error *error);
/* The accelerator that a function of this name is, or -1. */
int accelerator_find(const char *function);
/* Instructions that the call costs. */
uint32_t accelerator_slots(Accelerator accelerator);
/* Computes for how long the warp is blocked; stores it in warp->step.cycles. */
void accelerator_start(Warp *warp, const Ins *ins);

#endif
