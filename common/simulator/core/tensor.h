/* tensor.h - matrix products of a warp, as decoded.  Internal to this room.
 *
 * mma has the fragments that the PTX ISA prescribes (section "Matrix Fragments for mma"); those of
 * wmma are nobody's business: here element i of a matrix, counted row by row, lies in register
 * i / (32 * e) of lane i / e % 32, e elements a register, and where there are registers for twice
 * or four times as many, the others repeat the first.  Its factors of halves of bytes, and of bits,
 * are as mma's.
 *
 * Floats are summed as a tensor core does (exec_sums.h).  Products of doubles are added one after
 * the other, each rounded once with its product. */
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

/* Elements of a register of 32 bits; a double has a register of its own. */
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

/* How machine code for compute capability 7.5 to 9.0 makes one of wmma's loads or stores: what its
 * lanes access together.  Lines are rows, or columns where these lie side by side in memory. */
typedef enum MatrixWay {
    WAY_ROWS,  /* as ldmatrix: each lane 16 bytes of a line, eight lines a tile */
    WAY_ALONG, /* four lanes beside each other on each of eight lines */
    WAY_ACROSS /* eight lanes beside each other on a line, four times `run` lines a tile */
} MatrixWay;

typedef struct TensorPlan {
    TensorKind kind;
    uint32_t m, n, k;
    Fragment d, a, b, c;    /* load: d; store: c; ldmatrix: d */
    uint32_t rows, columns; /* of the matrix that is loaded or stored */
    /* Of octets: has a its columns together, has b its rows?  differ: of bits those that do are
     * counted. */
    int by_column, transposed, saturate, differ;
    uint32_t stride;             /* slot, or NO_SLOT: the matrix is dense */
    uint32_t packed;             /* elements of the stride that lie where one of d's or c's does */
    uint32_t metadata, selector; /* a sparse product's: a slot or NO_SLOT; whose lanes count */
    MatrixWay way;
    uint32_t lines, accesses, tiles, run; /* tiles: of an access, where it is as ldmatrix's */
} TensorPlan;

enum { QUAD = 4, OCTETS = 4 }; /* lanes beside each other; octets of a warp */

/* How many lanes of each four have metadata of a sparse product: two bits for each element of `a`
 * that is there, four of TF32, two for a pair of halves of bytes. */
static inline uint32_t metadata_lanes(const TensorPlan *plan)
{
    uint32_t deep = plan->k / (QUAD * type_elements(plan->a.type));
    return type_elements(plan->a.type) <= 2 ? deep / 2 : deep;
}

#endif
