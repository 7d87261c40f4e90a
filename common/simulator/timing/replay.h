/* replay.h - what the blocks of one SM did, step by step, and how long that SM takes for
 * it. */
#ifndef CONVLAB_SIMT_REPLAY_H
#define CONVLAB_SIMT_REPLAY_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/store_buffer.h"

/* Room for the blocks that SM 0 will run; the launch's geometry is known.  -1: out of memory. */
int trace_open(Launch *launch);
void trace_close(Launch *launch);

/* Trace buffer for block `number`; after its execution, trace_keep keeps the trace if the block has
 * enough work, and orders a sampled one. `begun`: the cycle of the launch in which it began, if
 * blocks run in time order, else 0. */
BlockTrace *trace_of(Launch *launch, Heaviest *heaviest, uint64_t number);
void trace_keep(Launch *launch, Heaviest *heaviest, uint64_t number, const BlockCost *cost,
                uint64_t begun);

/* steps.c: puts a block's steps into ptxas's order, and counts them. Called once before the replay;
 * if SASS is replayed, its steps stay in execution order. */
void trace_order(const Launch *launch, BlockTrace *block);
/* Number of steps that these blocks executed. */
size_t steps_count(const Launch *launch, const BlockTrace *trace, uint32_t count);
/* A copy of these blocks in that order, for the PTX estimate of SASS. NULL: out of memory; the
 * caller frees it. */
BlockTrace *steps_copy(const Launch *launch, const BlockTrace *trace, uint32_t count);

/* Number of traced blocks of SM 0 that can be replayed. */
uint32_t traces_count(const Launch *launch);

int heaviest_open(Heaviest *heaviest, const Launch *launch, LaunchArena *shelf);
/* The heaviest of all host threads, in the order of the grid; their number.  The caller frees the
 * list; the traces stay the workers'. */
uint32_t heaviest_merge(const Launch *launch, const Worker *worker, uint32_t workers,
                        BlockTrace **all);

/* SMs that get a block in one round. */
uint32_t dealt_sms(const Launch *launch);
/* The SM that block `number` runs on. */
uint32_t sm_of(const Launch *launch, uint64_t number);

typedef struct ReplayResult {
    uint64_t cycles;       /* cycles of clock_mhz until the last block ended */
    uint64_t sm_cycles;    /* the same in the SM's own cycles, which are longer at a low clock */
    uint64_t later_cycles; /* cycles after the first wave, if there was another wave; else all */
    uint64_t later_blocks; /* blocks that ended after the first wave */
    uint64_t pdl_trigger, pdl_wait; /* as SimtResult's; 0: no block waited */
    uint64_t slots, steps;          /* SASS instructions and steps that were replayed */
    uint64_t estimated_sectors, replayed_sectors; /* loaded sectors beyond the L1: counted, and
                                                   * replayed */
    StoreTraffic unbuffered, sent; /* stores: without the store buffer, and replayed */
    BlockCost cost;                /* cost of all instructions that the blocks executed */
} ReplayResult;

/* Costs of stores in multiples of a loaded sector's time in the L2: a line, an additional partial
 * sector, and per sector for the DRAM rows that it opens. The last two are in multiples of a
 * streamed sector's time in DRAM: an additional partial sector, and per sector. */
typedef struct StoreCost {
    double line, part, row, gone, opened;
} StoreCost;

static inline double stored_sectors(const StoreCost *price, const StoreTraffic *sent)
{
    double all = (double)sent->sectors * (1 + price->row) + (double)sent->lines * price->line +
                 (double)sent->parts * price->part;
    return all > 0 ? all : 0;
}

/* DRAM time of one of them. */
static inline double written_sectors(const StoreCost *price, const StoreTraffic *sent)
{
    double parts = sent->sectors ? (double)sent->parts / (double)sent->sectors : 0;
    return 1 + parts * price->gone + price->opened;
}

/* The SM's share of the memory beyond its L1. */
typedef struct ReplayMemory {
    uint32_t dram_loads, dram_stores; /* DRAM sectors per 65536 sectors of the L2 */
    double share;                     /* fraction of the bandwidth of L2 and DRAM */
    double scattered; /* DRAM time of a loaded sector, in multiples of a streamed one's */
    StoreCost stores;
} ReplayMemory;

/* Replays `count` traced blocks, each in order, on one SM of the machine, instead of an earlier
 * replay. -1: out of memory. */
int replay_run(Launch *launch, const BlockTrace *trace, uint32_t count, const ReplayMemory *memory,
               ReplayResult *result);

/* lower_bounds.c: lower bounds of the time on one SM, in 1/256 of a cycle, by resource. */
typedef enum LowerBoundAxis {
    LOWER_BOUND_SLOTS,
    LOWER_BOUND_FP32,
    LOWER_BOUND_INT,
    LOWER_BOUND_FP64,
    LOWER_BOUND_SFU,
    LOWER_BOUND_TENSOR,
    LOWER_BOUND_IMAD,
    LOWER_BOUND_LSU,   /* load/store unit */
    LOWER_BOUND_L2,    /* bandwidth of the L1, at the maximum that one SM gets */
    LOWER_BOUND_DSMEM, /* the way to other blocks' shared memory */
    LOWER_BOUND_TEXTURE,
    LOWER_BOUND_CRITICAL_PATHS, /* critical paths of blocks and warps, with the maximum number of
                                 * resident ones */
    LOWER_BOUND_AXES
} LowerBoundAxis;

void lower_bounds_find(const Launch *launch, const BlockCost *cost,
                       uint64_t floor[LOWER_BOUND_AXES]);
/* Time that a block adds to its SM: the largest of its lower bounds. */
uint64_t lower_bound_weight(const Launch *launch, const BlockCost *cost);

#endif
