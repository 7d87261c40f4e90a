/* launch_counts.h - what the workers of a launch counted, put together, and what it cost. */
#ifndef CONVLAB_SIMT_LAUNCH_COUNTS_H
#define CONVLAB_SIMT_LAUNCH_COUNTS_H

#include "common/simulator/core/core.h"

/* All that the launch did but its cycles and what went to DRAM; by instruction and by SM in
 * worker[0].  -1: out of host memory. */
int counts_merge(Launch *launch, Worker *worker, uint32_t count, SimtResult *result);
/* Computes its cycles and the results that depend on them; the launch is not used afterwards. -1:
 * the same. */
int counts_price(Launch *launch, Worker *worker, uint32_t count, SimtResult *result);

#endif
