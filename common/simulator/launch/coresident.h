/* coresident.h - a launch whose blocks wait for each other. */
#ifndef CONVLAB_SIMT_ALTERNATE_H
#define CONVLAB_SIMT_ALTERNATE_H

#include "common/simulator/core/core.h"

/* Largest number of blocks of this launch that may be in flight at once. */
uint32_t coresident_blocks(const Launch *launch);
/* Runs the launch on this host thread. If a block waits for other threads' writes, the next block
 * starts concurrently with a worker of its own, as long as it fits on the machine; `open` counts
 * the open workers. 0, or -1 when the host's memory does not suffice. */
int coresident_run(Launch *launch, Worker *worker, uint32_t *open);

#endif
