/* replay.h - what the blocks of one SM did, step by step, and how long that SM takes for
 * it. */
#ifndef CONVLAB_SIMT_REPLAY_H
#define CONVLAB_SIMT_REPLAY_H

#include "common/simt/core/core.h"

/* Room for the blocks that SM 0 will run; the launch's geometry is known.  -1: out of memory. */
int trace_open(Launch *launch);
void trace_close(Launch *launch);

/* Where block `number` is to be traced, or NULL. */
BlockTrace *trace_of(Launch *launch, uint64_t number);
/* The SM that block `number` runs on. */
uint32_t sm_of(const Launch *launch, uint64_t number);

typedef struct ReplayResult {
    uint64_t cycles;          /* until the last traced block ended */
    uint64_t steps, executed; /* traced and run by the traced blocks */
    uint64_t blocks;
} ReplayResult;

/* Plays the traced blocks on one SM of the machine.  Of 65536 sectors that miss the L1, so many go
 * on from the L2 to DRAM: loads, stores.  -1: out of memory. */
int replay_run(Launch *launch, uint32_t dram_loads, uint32_t dram_stores, ReplayResult *result);

#endif
