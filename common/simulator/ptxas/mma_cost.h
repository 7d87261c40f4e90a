/* mma_cost.h - costs of MMA instructions. Internal to this module. */
#ifndef CONVLAB_SIMT_PRODUCTS_H
#define CONVLAB_SIMT_PRODUCTS_H

#include "common/simulator/ptxas/schedule.h"

/* Fills in the cost of an MMA: its pipe, busy cycles, latency and slots. */
void mma_cost(const Ins *ins, const SimtKernel *kernel, const SimtMachine *m, InsCost *p);

#endif
