/* core.h - shared state of the simulated GPU: the header to read first.
 *
 * Module: the simulator's shared state.
 * Callers: the modules of the simulator; others only profile.h and simt_types.h.
 * May use: machine, ptx, base.
 *
 * Each header has one subject:
 *   layout.h        sizes of a warp, address windows
 *   memory.h        device memory, allocations, device heap
 *   instruction.h   decoded instructions
 *   kernel.h        a module's kernels, with the results of decoding and of analyses
 *   block_cost.h    sums of work per block and per instruction
 *   trace.h         executed instructions, for the replay
 *   access_state.h  state of L1, sectors, L2 and atomics while accesses are counted
 *   warp.h          warps and blocks during execution
 *   worker.h        host threads that execute blocks
 *   launch_state.h  a launch
 *   gpu.h           a GPU
 *
 * Fields of one module form a struct of their own, which is embedded in the common one: for
 * example, LaunchRace belongs to checks and KernelCosts to ptxas, sass_map and timing. */
#ifndef CONVLAB_SIMT_CORE_H
#define CONVLAB_SIMT_CORE_H

#include "common/simulator/core/gpu.h"
#include "common/simulator/core/kernel.h"
#include "common/simulator/core/launch_state.h"
#include "common/simulator/core/worker.h"

#endif
