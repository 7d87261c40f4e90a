/* mma_cost.h - costs of MMA instructions. Internal to this module. */
#ifndef CONVLAB_SIMT_PRODUCTS_H
#define CONVLAB_SIMT_PRODUCTS_H

#include "common/simulator/ptxas/schedule.h"

/* Fills in what a tensor core's instruction takes of which pipe, its latency and its slots. */
void mma_cost(const Ins *ins, const SimtKernel *kernel, const SimtMachine *m, InsCost *p);

#endif
