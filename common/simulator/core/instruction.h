/* instruction.h - decoded instructions.
 *
 * The decoder translates a kernel once into an array of Ins.  Operands are byte offsets into a
 * warp's register file: a 32-bit register is 32 consecutive lanes (128 bytes), a 64-bit one 256
 * bytes, and a predicate one 32-bit mask.  Immediates, addresses of variables and special registers
 * are slots too, so that an instruction needs only one form. */
#ifndef CONVLAB_SIMT_CORE_INSTRUCTION_H
#define CONVLAB_SIMT_CORE_INSTRUCTION_H

#include <stdint.h>

#include "common/simulator/core/layout.h"

typedef struct Warp Warp;
typedef struct Ins Ins;
typedef const Ins *(*Handler)(Warp *warp, const Ins *ins);

typedef enum OpClass {
    CLASS_FREE, /* no SASS instruction: moves, address casts, parameters */
    CLASS_INT,
    CLASS_INT_WIDE,
    CLASS_FP32,
    CLASS_FP64,
    CLASS_SFU,
    CLASS_DIV,
    CLASS_LOAD,
    CLASS_STORE,
    CLASS_SHARED_LOAD,
    CLASS_SHARED_STORE,
    CLASS_ATOMIC,
    CLASS_BRANCH,
    CLASS_BARRIER,
    CLASS_TENSOR,
    CLASS_COUNT
} OpClass;

enum { NO_SLOT = 0xffffffffu, NO_ROUTINE = 0xffffffffu };

/* Shared-memory accesses that ptxas combines into one.  The first load, or the last store, has the
 * combined width; the others are followers. */
enum { MERGE_NONE, MERGE_4, MERGE_8, MERGE_16, MERGE_FOLLOWER };

struct Ins {
    Handler fn, inner;   /* inner: handler of a guarded instruction if its predicate is true */
    uint32_t d, a, b, c; /* byte offsets into the register file */
    uint32_t v[4];       /* registers of a vector access */
    int64_t imm;
    uint32_t guard; /* predicate slot or NO_SLOT */
    uint32_t target, reconv;
    uint32_t mem;  /* number of this access in Worker.hit */
    uint32_t from; /* the PTX instruction, UINT32_MAX for none */
    uint16_t op;
    uint8_t guard_negated, pseudo, class, bytes, vector, space;
    uint8_t is_signed, base64, carries, merge, read_only, order;
    uint8_t shared_atomic;   /* SharedAtomic of kinds.h */
    uint8_t joins;           /* WarpAggregate of kinds.h; atomics only */
    uint8_t yields;          /* YIELDS_* of kinds.h; backward branches of polling loops only */
    uint8_t last_use;        /* a load after which the spilled value is dead */
    uint8_t part_bytes;      /* bytes of each part of a vector that ptxas splits; 0: not split */
    uint8_t part[2];         /* first byte of each part; the second 0: there is one */
    uint8_t is_operand;      /* a constant that SASS has no separate load for */
    uint16_t t_d[4], t_s[6]; /* scoreboard numbers written and read; 0: none */
    uint32_t aux;
};

/* The slot of the upper half of a 128-bit register. */
static inline uint32_t upper_half(uint32_t slot)
{
    return slot + LANES * 8;
}

typedef struct ConstSlot {
    uint64_t bits;
    uint32_t slot, bytes;
    int dynamic; /* relative to the end of the static shared memory */
} ConstSlot;

/* Slots of special registers come first in every register file. */
typedef enum Special {
    SR_TID_X,
    SR_TID_Y,
    SR_TID_Z,
    SR_NTID_X,
    SR_NTID_Y,
    SR_NTID_Z,
    SR_CTAID_X,
    SR_CTAID_Y,
    SR_CTAID_Z,
    SR_NCTAID_X,
    SR_NCTAID_Y,
    SR_NCTAID_Z,
    SR_LANEID,
    SR_WARPID,
    SR_NWARPID,
    SR_SMID,
    SR_NSMID,
    SR_MASK_EQ,
    SR_MASK_LE,
    SR_MASK_LT,
    SR_MASK_GE,
    SR_MASK_GT,
    SR_DYNAMIC_SMEM,
    SR_TOTAL_SMEM,       /* a block's allocation, rounded up to the allocation unit */
    SR_AGGR_SMEM,        /* with CUDA's own part, in bytes */
    SR_GRIDID,           /* number of the launch, from 1 */
    SR_RESERVED_CAP,     /* bytes of CUDA's own part of shared memory */
    SR_RESERVED_SMEM,    /* first byte of that part, and of the scratch of cooperative groups */
    SR_RESERVED_END,     /* end of the bytes that the driver uses of that part */
    SR_ENVREG1,          /* address of a cooperative grid's barrier, upper half */
    SR_ENVREG2,          /* ... and lower half */
    SR_EXPLICIT_CLUSTER, /* a predicate: launched with clusters */
    SR_CLUSTERID_X,      /* the grid of clusters */
    SR_CLUSTERID_Y,
    SR_CLUSTERID_Z,
    SR_NCLUSTERID_X,
    SR_NCLUSTERID_Y,
    SR_NCLUSTERID_Z,
    SR_CLUSTER_CTAID_X, /* the block in its cluster */
    SR_CLUSTER_CTAID_Y,
    SR_CLUSTER_CTAID_Z,
    SR_CLUSTER_NCTAID_X,
    SR_CLUSTER_NCTAID_Y,
    SR_CLUSTER_NCTAID_Z,
    SR_CLUSTER_CTARANK,
    SR_CLUSTER_NCTARANK,
    SR_COUNT
} Special;

#endif
