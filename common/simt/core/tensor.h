/* tensor.h - matrix products of a warp, as decoded.  Internal to this room.
 *
 * mma has the fragments that the PTX ISA prescribes (section "Matrix Fragments for mma"); those of
 * wmma are nobody's business: here element i of a matrix, counted row by row, lies in register
 * i / (32 * e) of lane i / e % 32, e elements a register, and where there are registers for twice
 * or four times as many, the others repeat the first.
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
    Fragment d, a, b, c;                         /* load: d; store: c; ldmatrix: d */
    uint32_t rows, columns;                      /* of the matrix that is loaded or stored */
    int by_column, transposed, saturate, differ; /* differ: of bits those that do are counted */
    uint32_t stride;                             /* slot, or NO_SLOT: the matrix is dense */
    MatrixWay way;
    uint32_t lines, accesses, tiles, run; /* tiles: of an access, where it is as ldmatrix's */
} TensorPlan;

#endif
