/* kernel_costs.h - the costs of a kernel's instructions, on one machine. */
#ifndef CONVLAB_SIMT_TIMING_KERNEL_COSTS_H
#define CONVLAB_SIMT_TIMING_KERNEL_COSTS_H

#include "common/simulator/ptxas/schedule.h"

/* Fills kernel->price, once; with `machine_code`, the costs of the kernel's SASS too (sass_map.h).
 * -1: out of memory. */
int kernel_costs_build(SimtKernel *kernel, const SimtMachine *machine, int machine_code);

/* code_pieces.c: fills kernel->code_slots, and kernel->code_piece with the code block of each
 * instruction (traffic/code_cache.h); leaves the latter NULL if all code is short. `own` costs are
 * those of the PTX and of its copies, the others the SASS's. -1: out of memory. */
int code_pieces_find(SimtKernel *kernel, const InsCost *price, uint32_t own,
                     const SimtMachine *machine);

#endif
