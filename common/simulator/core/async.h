/* async.h - copies of the tensor memory accelerator and MMAs of warpgroups, as decoded, and those
 * in flight.
 *
 * The MMA of a warpgroup is computed when it is issued: each of the four warps computes its own
 * sixteen rows. Accesses before the required wait are detected by register, see exec_wgmma.h. A
 * bulk copy into shared memory reads its source when it is issued. Its bytes are buffered here
 * until a thread has observed the completion of the mbarrier's phase that counts them. */
#ifndef CONVLAB_SIMT_CORE_ASYNC_H
#define CONVLAB_SIMT_CORE_ASYNC_H

#include <stdint.h>

#include "common/simulator/core/tensor.h"
#include "common/simulator/core/tensor_map.h"

/* An address operand. */
typedef struct Place {
    uint32_t slot;
    uint8_t base64;
    int64_t imm;
} Place;

typedef enum BulkKind {
    BULK_LOAD,     /* from global to shared memory */
    BULK_STORE,    /* from shared to global memory */
    BULK_BETWEEN,  /* from the block's own shared memory to that of a block of its cluster */
    BULK_PREFETCH, /* to the L2 */
    BULK_VALUES    /* from registers to shared memory, perhaps of another block */
} BulkKind;

/* Effect of a copy on its destination: it overwrites the values, or combines them with its own like
 * an atomic (an AtomOp, of a Format; for a tensor, the map gives the format). */
typedef struct Reduction {
    uint8_t present, op, format;
} Reduction;

typedef struct BulkPlan {
    BulkKind kind;
    Reduction reduction;
    uint32_t rank; /* rank of the tensor; 0: contiguous bytes */
    int im2col;
    Place to, from, barrier; /* a tensor's map is where the global side would be */
    uint32_t bytes, mask;    /* slots; mask: of the blocks that get it, or NO_SLOT */
    uint32_t coordinate[TENSOR_MAP_RANK], offset[TENSOR_MAP_RANK - 2]; /* slots */
    uint32_t value[4], values, width; /* slots of values that are sent, and bytes of each */
} BulkPlan;

enum { WGMMA_RESULTS = 128, WGMMA_FACTORS = 4, WGMMA_ROWS = 64, WGMMA_K_BYTES = 32 };

typedef struct WgmmaPlan {
    uint32_t n, k, results, factors; /* factors: registers of a, 0 where a descriptor says */
    uint32_t d[WGMMA_RESULTS], a[WGMMA_FACTORS], b; /* slots; descriptors have 64 bits */
    uint32_t scale_d;                               /* predicate: accumulate onto the old values */
    TensorType a_type, b_type, d_type;
    int negate_a, negate_b, transposed_a, transposed_b, saturate;
} WgmmaPlan;

/* Bytes of shared memory: of each `pitch` of them the first `row`, under a swizzle of
 * 16 << `swizzle` bytes.  All are multiples of 16, but of a few values in a row. */
typedef struct Stretch {
    uint32_t bytes, row, pitch, swizzle;
} Stretch;

/* Bytes in flight into shared memory. */
typedef struct Flight {
    Stretch stretch;
    uint32_t to, barrier, phase; /* barrier: offset of the mbarrier, and its phase then */
    uint32_t ins, thread;
    Reduction reduction;
    unsigned char *data;
} Flight;

/* Source of a copy out of shared memory, until its thread has waited for it. The copy is performed
 * immediately, but a GPU reads its source at some time before the wait ends. */
typedef struct Departure {
    Stretch stretch;
    uint32_t from, ins, thread;
    uint32_t groups; /* groups that its thread has committed since; 0: none, not even its own */
} Departure;

/* Per warp and 16-byte chunk of shared memory: the latest group of MMAs that reads it, and one of
 * its instructions. */
typedef struct ProductRead {
    uint32_t group, ins;
} ProductRead;

/* The last access of a warp to the shared memory of another block of the cluster, or its last
 * arrival at an mbarrier there. */
typedef struct Visit {
    uint64_t number;           /* in the block's order; 0: none, or the block has waited for it */
    uint32_t ins, offset;      /* offset: the access's or the mbarrier's */
    uint32_t phase;            /* the mbarrier's phase before the arrival */
    uint32_t cluster_arrivals; /* the warp's arrivals at the cluster's barrier before it */
    uint8_t lane, is_store;
} Visit;

/* Phases of an mbarrier for the replay, numbered throughout the block. Critical paths use the
 * arrival time of the latest event of the current phase, and of the previous phase. */
typedef struct PhaseNumber {
    uint32_t barrier;
    uint16_t now, before;
    uint64_t arrived, complete;
} PhaseNumber;

#endif
