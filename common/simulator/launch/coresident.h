/* coresident.h - a launch whose blocks wait for each other. */
#ifndef CONVLAB_SIMT_ALTERNATE_H
#define CONVLAB_SIMT_ALTERNATE_H

#include "common/simulator/core/core.h"

/* How many blocks of this launch may be on the way at a time. */
uint32_t coresident_blocks(const Launch *launch);
/* Runs the launch on this host thread.  Where a block waits for what other threads write, the next
 * one begins beside it, with a worker of its own, as long as the machine has room; `open` counts
 * the workers that were opened.  0, or -1 when the host's memory does not suffice. */
int coresident_run(Launch *launch, Worker *worker, uint32_t *open);

#endif
