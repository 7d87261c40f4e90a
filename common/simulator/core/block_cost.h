/* block_cost.h - work of a block or an SM, as integer sums, and counts per instruction.
 *
 * The counting code of timing and traffic fills these in.  Sums of several blocks are independent
 * of the order of addition. */
#ifndef CONVLAB_SIMT_CORE_BLOCK_COST_H
#define CONVLAB_SIMT_CORE_BLOCK_COST_H

#include <stdint.h>

typedef enum Pipe {
    PIPE_NONE,
    PIPE_FP32,
    PIPE_INT,
    PIPE_FP64,
    PIPE_SFU,
    PIPE_TENSOR,
    PIPE_IMAD, /* integer multiply-add */
    PIPES,
    PIPE_CONSTANT = PIPES /* constant memory; SASS only, one for all schedulers */
} Pipe;

typedef struct BlockCost {
    uint64_t steps, passes, load_misses, store_misses, local_misses, blocks;
    uint64_t slots, pipe[PIPES]; /* machine instructions; cycles of each pipe of a scheduler */
    uint64_t folded;             /* instructions that ptxas fuses into others */
    uint64_t spun;               /* machine instructions of iterations that only polled the clock */
    uint64_t load_rows;          /* DRAM rows of loads, beyond the rows that cost nothing */
    uint64_t store_rows;         /* DRAM rows of stores that touch many */
    uint64_t store_lines;        /* lines of store_misses, each access by itself */
    uint64_t store_parts;        /* sectors of which a store writes only some words */
    uint64_t bulk_sectors;       /* loaded by the tensor memory accelerator */
    uint64_t spill_stores;       /* sectors of local memory that spills store */
    uint64_t remote;             /* cycles of transfers to other blocks' shared memory */
    uint64_t texture;            /* cycles of the texture units */
    uint64_t chain;              /* critical path in cycles, of the block */
    uint64_t warp_chains;        /* ... sum over its warps */
} BlockCost;

typedef struct InsCount {
    uint64_t runs, lanes;
    uint64_t requests, sectors, hits; /* global memory */
    uint64_t local_requests, local_sectors;
    uint64_t shared_requests, wavefronts, divergent;
} InsCount;

#endif
