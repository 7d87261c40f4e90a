/* tensor.h - matrix products of a warp, as decoded. Internal to this module.
 *
 * The fragments of mma are those of the PTX ISA (section "Matrix Fragments for mma"). The ISA
 * leaves the fragments of wmma undefined: here element i of a matrix, counted row by row, is in
 * register i / (32 * e) of lane i / e % 32, with e elements per register. If there are two or four
 * times more registers than needed, the others repeat the first. Its inputs of 4-bit integers and
 * of bits have the fragments of mma.
 *
 * Floats are accumulated like on a tensor core (exec_sums.h). Doubles are accumulated by FMAs one
 * after the other, each rounded once. */
#ifndef CONVLAB_SIMT_TENSOR_H
#define CONVLAB_SIMT_TENSOR_H

#include <stdint.h>

typedef enum TensorKind {
    TENSOR_MMA,
    TENSOR_WMMA,
    TENSOR_LOAD,
    TENSOR_STORE,
    TENSOR_LDMATRIX
} TensorKind;

typedef enum TensorType {
    TYPE_F16,
    TYPE_BF16,
    TYPE_TF32,
    TYPE_S8,
    TYPE_U8,
    TYPE_F32,
    TYPE_S32,
    TYPE_F64,
    TYPE_S4,
    TYPE_U4,
    TYPE_B1,
    TYPE_E4M3,
    TYPE_E5M2
} TensorType;

/* Elements of a 32-bit register; a double has a register for itself. */
static inline uint32_t type_elements(TensorType type)
{
    static const uint8_t EACH[] = {
        [TYPE_F16] = 2, [TYPE_BF16] = 2, [TYPE_TF32] = 1, [TYPE_S8] = 4, [TYPE_U8] = 4,
        [TYPE_F32] = 1, [TYPE_S32] = 1,  [TYPE_F64] = 1,  [TYPE_S4] = 8, [TYPE_U4] = 8,
        [TYPE_B1] = 32, [TYPE_E4M3] = 4, [TYPE_E5M2] = 4};
    return EACH[type];
}

static inline int is_eighth(TensorType type)
{
    return type == TYPE_E4M3 || type == TYPE_E5M2;
}

enum { FRAGMENT = 8 };

typedef struct Fragment {
    uint32_t slot[FRAGMENT], count;
    TensorType type;
} Fragment;

/* The accesses that SASS for compute capability 7.5 to 9.0 uses for wmma's loads and stores: the
 * elements that the lanes access together. Lines are rows, or columns if these are contiguous in
 * memory. */
typedef enum MatrixWay {
    WAY_ROWS,  /* like ldmatrix: each lane has 16 bytes of a line, eight lines per tile */
    WAY_ALONG, /* four adjacent lanes on each of eight lines */
    WAY_ACROSS /* eight adjacent lanes on a line, four times `run` lines per tile */
} MatrixWay;

typedef struct TensorPlan {
    TensorKind kind;
    uint32_t m, n, k;
    Fragment d, a, b, c;    /* load: d; store: c; ldmatrix: d */
    uint32_t rows, columns; /* size of the matrix that is loaded or stored */
    /* Octets: a is stored by columns, b by rows. differ: bits are combined by XOR. */
    int by_column, transposed, saturate, differ;
    uint32_t stride;             /* slot, or NO_SLOT: the matrix is dense */
    uint32_t packed;             /* elements of the stride that are stored in one element's place of
                                  * d or c */
    uint32_t metadata, selector; /* for a sparse MMA: a slot or NO_SLOT; the lanes that hold it */
    MatrixWay way;
    uint32_t lines, accesses, tiles, run; /* tiles: of an access, where it is as ldmatrix's */
} TensorPlan;

enum { QUAD = 4, OCTETS = 4 }; /* adjacent lanes; octets of a warp */

/* Number of lanes of each group of four that have metadata of a sparse MMA: two bits for each
 * stored element of `a`, four for TF32, two for a pair of 4-bit integers. */
static inline uint32_t metadata_lanes(const TensorPlan *plan)
{
    uint32_t deep = plan->k / (QUAD * type_elements(plan->a.type));
    return type_elements(plan->a.type) <= 2 ? deep / 2 : deep;
}

#endif
