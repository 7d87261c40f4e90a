/* async.h - copies of the tensor memory accelerator and products of warpgroups, as decoded, and
 * what of them is under way.
 *
 * A product of a warpgroup is done when it is asked for: each of the four warps works out its own
 * sixteen rows.  What the program must not do before it has waited is checked by register, see
 * exec_wgmma.h.  A bulk copy into shared memory reads its source when it is asked for; its bytes
 * lie here until somebody has seen the phase of the mbarrier complete that counts them. */
#ifndef CONVLAB_SIMT_CORE_ASYNC_H
#define CONVLAB_SIMT_CORE_ASYNC_H

#include <stdint.h>

#include "common/simulator/core/tensor.h"
#include "common/simulator/core/tensor_map.h"

/* An address as an operand has it. */
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

/* What a copy does with the values that it finds: replaces them, or joins them with its own as an
 * atomic does (an AtomOp, of a Format; of a tensor its map says which). */
typedef struct Reduction {
    uint8_t present, op, format;
} Reduction;

typedef struct BulkPlan {
    BulkKind kind;
    Reduction reduction;
    uint32_t rank; /* of the tensor; 0: bytes in a row */
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
    uint32_t scale_d;                               /* predicate: add to what is there */
    TensorType a_type, b_type, d_type;
    int negate_a, negate_b, transposed_a, transposed_b, saturate;
} WgmmaPlan;

/* Bytes of shared memory: of each `pitch` of them the first `row`, under a swizzle of
 * 16 << `swizzle` bytes.  All are multiples of 16, but of a few values in a row. */
typedef struct Stretch {
    uint32_t bytes, row, pitch, swizzle;
} Stretch;

/* Bytes on their way into shared memory. */
typedef struct Flight {
    Stretch stretch;
    uint32_t to, barrier, phase; /* barrier: offset of the mbarrier, and its phase then */
    uint32_t ins, thread;
    Reduction reduction;
    unsigned char *data;
} Flight;

/* What a copy out of shared memory reads, until its thread has waited for it: made at once, but a
 * card reads its source some time before the wait ends. */
typedef struct Departure {
    Stretch stretch;
    uint32_t from, ins, thread;
    uint32_t groups; /* of its thread that were committed since; 0: none, not even its own */
} Departure;

/* Of a warp and a piece of 16 bytes of shared memory: the latest group of products that reads it,
 * and one of its instructions. */
typedef struct ProductRead {
    uint32_t group, ins;
} ProductRead;

/* For the replay: which phase an mbarrier is in, numbered through the block; and for chains, when
 * the latest of what counts for it arrived, and that of the phase before. */
typedef struct PhaseNumber {
    uint32_t barrier;
    uint16_t now, before;
    uint64_t arrived, complete;
} PhaseNumber;

#endif
