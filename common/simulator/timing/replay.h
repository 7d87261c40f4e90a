/* replay.h - what the blocks of one SM did, step by step, and how long that SM takes for
 * it. */
#ifndef CONVLAB_SIMT_REPLAY_H
#define CONVLAB_SIMT_REPLAY_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/store_buffer.h"

/* Room for the blocks that SM 0 will run; the launch's geometry is known.  -1: out of memory. */
int trace_open(Launch *launch);
void trace_close(Launch *launch);

/* Where block `number` is to be traced; when it has run, keeps it if it has enough to do, and puts
 * a sampled one in order.  `begun`: the cycle of the launch in which it began, where blocks run in
 * the order of time, else 0. */
BlockTrace *trace_of(Launch *launch, Heaviest *heaviest, uint64_t number);
void trace_keep(Launch *launch, Heaviest *heaviest, uint64_t number, const BlockCost *cost,
                uint64_t begun);

/* steps.c: puts a block's steps into ptxas's order, and counts them.  Once, before it is played;
 * where machine code is played, its steps stay as they were executed. */
void trace_order(const Launch *launch, BlockTrace *block);
/* So many steps were executed in these blocks. */
size_t steps_count(const Launch *launch, const BlockTrace *trace, uint32_t count);
/* A copy of these blocks in that order, for the PTX beside its machine code.  NULL: out of memory;
 * the caller frees it. */
BlockTrace *steps_copy(const Launch *launch, const BlockTrace *trace, uint32_t count);

/* The blocks of SM 0 that can be played. */
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
    uint64_t slots, steps;          /* machine instructions and steps that were replayed */
    uint64_t estimated_sectors, replayed_sectors; /* of loads beyond the L1: counted, replayed */
    StoreTraffic unbuffered, sent; /* of stores: without the store buffer, and replayed */
    BlockCost cost;                /* of everything that the blocks executed */
} ReplayResult;

/* What stores take, times what a loaded sector takes of the L2: a line, a sector in part more, and
 * each for rows of DRAM that it opens.  And times a stream's sector of DRAM, more: one in part, and
 * each. */
typedef struct StoreCost {
    double line, part, row, gone, opened;
} StoreCost;

static inline double stored_sectors(const StoreCost *price, const StoreTraffic *sent)
{
    double all = (double)sent->sectors * (1 + price->row) + (double)sent->lines * price->line +
                 (double)sent->parts * price->part;
    return all > 0 ? all : 0;
}

/* What one of them takes of DRAM. */
static inline double written_sectors(const StoreCost *price, const StoreTraffic *sent)
{
    double parts = sent->sectors ? (double)sent->parts / (double)sent->sectors : 0;
    return 1 + parts * price->gone + price->opened;
}

/* What the SM has of the memory behind its L1. */
typedef struct ReplayMemory {
    uint32_t dram_loads, dram_stores; /* of 65536 sectors, those that go on from the L2 to DRAM */
    double share;                     /* of the bandwidth of L2 and DRAM */
    double scattered; /* times what a stream's sector takes of DRAM, what a loaded one does */
    StoreCost stores;
} ReplayMemory;

/* Plays `count` traced blocks, each in order, on one SM of the machine, instead of what was played
 * before.  -1: out of memory. */
int replay_run(Launch *launch, const BlockTrace *trace, uint32_t count, const ReplayMemory *memory,
               ReplayResult *result);

/* lower_bounds.c: the least that work takes on one SM, in 1/256 of a cycle, by what it needs. */
typedef enum LowerBoundAxis {
    LOWER_BOUND_SLOTS,
    LOWER_BOUND_FP32,
    LOWER_BOUND_INT,
    LOWER_BOUND_FP64,
    LOWER_BOUND_SFU,
    LOWER_BOUND_TENSOR,
    LOWER_BOUND_IMAD,
    LOWER_BOUND_LSU,   /* of the load/store unit */
    LOWER_BOUND_L2,    /* of the L1, at the most that one SM gets */
    LOWER_BOUND_DSMEM, /* the way to other blocks' shared memory */
    LOWER_BOUND_TEXTURE,
    LOWER_BOUND_CRITICAL_PATHS, /* of blocks and warps, as many at once as have places */
    LOWER_BOUND_AXES
} LowerBoundAxis;

void lower_bounds_find(const Launch *launch, const BlockCost *cost,
                       uint64_t floor[LOWER_BOUND_AXES]);
/* How much a block adds to its SM's time: the largest of its floors. */
uint64_t lower_bound_weight(const Launch *launch, const BlockCost *cost);

#endif
