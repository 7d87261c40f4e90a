/* kinds.h - small numbers that the decoder packs into Ins.aux and the handlers unpack. */
#ifndef CONVLAB_SIMT_KINDS_H
#define CONVLAB_SIMT_KINDS_H

/* Number formats of conversions. */
typedef enum Format {
    FORMAT_U8,
    FORMAT_U16,
    FORMAT_U32,
    FORMAT_U64,
    FORMAT_S8,
    FORMAT_S16,
    FORMAT_S32,
    FORMAT_S64,
    FORMAT_F16,
    FORMAT_BF16,
    FORMAT_F32,
    FORMAT_F64
} Format;

enum { ROUND_N, ROUND_Z, ROUND_M, ROUND_P };

/* Rounded arithmetic: aux = operation | rounding << 4 | is_double << 8 | ftz << 9. */
typedef enum RoundedOp {
    ROUNDED_ADD,
    ROUNDED_SUB,
    ROUNDED_MUL,
    ROUNDED_DIV,
    ROUNDED_FMA,
    ROUNDED_SQRT,
    ROUNDED_RCP
} RoundedOp;

/* Rare 32-bit integer operations: aux = operation | variant << 8. */
typedef enum RareOp {
    RARE_ADD_SAT,
    RARE_SUB_SAT,
    RARE_MADHI_SAT,
    RARE_MUL24HI, /* variant 1: signed */
    RARE_MAD24HI_SAT,
    RARE_DP2A,  /* variant: a signed, b signed << 1, upper bytes << 2 */
    RARE_BMSK,  /* variant 1: wrap */
    RARE_SZEXT, /* variant: signed, wrap << 1 */
    RARE_FNS,
    RARE_ADD_X2,
    RARE_MIN_X2, /* variant: signed, relu << 1 */
    RARE_MAX_X2,
    RARE_PACK,           /* variant: signed, log2 of the bits - 1 << 1 */
    RARE_F32X2_TO_FP8X2, /* two floats, or two halves; variant: e5m2, relu << 1, halves << 2 */
    RARE_FP8X2_TO_F16X2  /* to two halves; variant: e5m2, relu << 1 */
} RareOp;

/* Sums with a carry: aux = operation | wide << 2 | carry in << 3 | carry out << 4 | signed << 5. */
typedef enum CarryOp { CARRY_ADD, CARRY_SUB, CARRY_MAD_LO, CARRY_MAD_HI } CarryOp;

/* Half arithmetic: aux = operation | bf16 << 4 | packed << 5 | relu << 6 | sat << 7 | ftz << 8 |
 * NaN wins << 9 | negate the multiplication's result << 10 | no result if a factor is out of bounds
 * << 11. */
typedef enum HalfOp {
    HALF_ADD,
    HALF_SUB,
    HALF_MUL,
    HALF_FMA,
    HALF_MIN,
    HALF_MAX,
    HALF_NEG,
    HALF_ABS,
    HALF_EX2,
    HALF_TANH
} HalfOp;

/* Atomics: aux = operation | format << 8; 16: has no result. */
/* Implementation of an atomic on shared memory. */
typedef enum SharedAtomic {
    SHARED_TURNS,  /* lanes with the same word are serialised */
    SHARED_COUNTS, /* adds one and wants no result: the lanes of a word are counted */
    SHARED_RETRIES /* has no instruction: a loop that compares and swaps, one lane a round */
} SharedAtomic;

/* If ptxas can prove that all lanes of a warp use one address, one lane performs the access for
 * all. */
typedef enum WarpAggregate {
    WARP_AGGREGATE_NEVER,
    WARP_AGGREGATE_COUNT,  /* all add the same: it counts the lanes */
    WARP_AGGREGATE_REDUCE, /* no result: REDUX from Ampere on, before that shuffles of all lanes */
    WARP_AGGREGATE_SCAN    /* each lane needs its own sum: shuffles, if all lanes are active */
} WarpAggregate;

typedef enum AtomOp {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_INC,
    ATOM_DEC,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR,
    ATOM_EXCH,
    ATOM_CAS
} AtomOp;

/* aux of OP_ATOM: an AtomOp, this flag (the scope is the block), and the format from bit 8 on. */
enum { ATOM_BLOCK_SCOPE = 1 << 4 };

/* Ins.order: memory ordering of an atomic, volatile or ordered access. A load whose result is
 * unused acquires nothing. SPINS: read in a polling loop. */
/* aux of OP_TEXTURE: a kind in the lowest bits, and from these bits on what it says of it. */
enum { CLOCK_NANOSECONDS = 1, CLOCK_UPPER = 2 }; /* the upper half of either */

enum { TEXTURE_READ, SURFACE_READ, SURFACE_WRITE, TEXTURE_KIND = 3 };
enum {
    TEXTURE_DIMS = 2,
    TEXTURE_LAYERED = 4,
    TEXTURE_BY_FLOAT = 5,
    TEXTURE_CUBE = 7,
    TEXTURE_WAY = 8,
    TEXTURE_COMPONENT = 10,
    SURFACE_BOUNDARY = 7
};
enum { TEXTURE_PLAIN, TEXTURE_LEVEL, TEXTURE_GRADIENT, TEXTURE_GATHER }; /* at TEXTURE_WAY */
enum { BOUNDARY_TRAP, BOUNDARY_CLAMP, BOUNDARY_ZERO };

/* aux of OP_TRAP. */
enum { TRAP_PLAIN, TRAP_BREAK, TRAP_NO_FUNCTION };

/* A backward branch of a loop that waits for other warps: these run first, always if the loop does
 * no other work. LOOKING: always, and each iteration is identical to the previous one. TRYING:
 * always, and each iteration accesses the same address, with any kind of pause. TIMED, and if
 * identical CLOCKED: always, and the loop reads the clock, so it may end without a write. */
enum {
    YIELDS_NEVER,
    YIELDS_ALWAYS,
    YIELDS_SOMETIMES,
    YIELDS_LOOKING,
    YIELDS_TRYING,
    YIELDS_TIMED,
    YIELDS_CLOCKED
};
/* Instructions of such a loop, at most. */
enum { LOOKING_MOST = 32 };

enum {
    ORDER_READS = 1,
    ORDER_WRITES = 2,
    ORDER_RELEASES = 4,
    ORDER_SPINS = 8,
    ORDER_GUESSES = 16,
    ORDER_FENCES = 32, /* releases to the whole chip */
    ORDER_ALONE = 64,  /* volatile, or for the whole system: no other look of this SM's will do */
    ORDER_INVALIDATES_L1 = 128 /* acquires from there: what the L1 has counts no more */
};

typedef enum ShflMode { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX } ShflMode;
typedef enum VoteMode { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT } VoteMode;
typedef enum BarKind { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR } BarKind;
typedef enum MbarrierKind {
    MBARRIER_INIT,
    MBARRIER_INVAL,
    MBARRIER_ARRIVE,
    MBARRIER_DROP,
    MBARRIER_TEST,
    MBARRIER_TRY,
    MBARRIER_PENDING,
    MBARRIER_EXPECT,
    MBARRIER_COMPLETE
} MbarrierKind;
/* aux of OP_MBARRIER is a kind and, of an arrival, whether it expects bytes first. */
enum { MBARRIER_KIND = 15, MBARRIER_EXPECTS = 16 };
enum {
    REDUX_ADD,
    REDUX_MIN_U,
    REDUX_MAX_U,
    REDUX_MIN_S,
    REDUX_MAX_S,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR
};

#endif
