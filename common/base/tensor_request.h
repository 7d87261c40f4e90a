/* tensor_request.h - arguments of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col, which the
 * drop-in runtime sends, and which the engines answer with 128 bytes. */
#ifndef CONVLAB_BASE_TENSOR_REQUEST_H
#define CONVLAB_BASE_TENSOR_REQUEST_H

#include <stdint.h>

enum { TENSOR_MAP_RANK = 5, TENSOR_MAP_BYTES = 128 };

typedef enum TensorMapKind { TENSOR_MAP_TILED = 1, TENSOR_MAP_IM2COL = 2 } TensorMapKind;

/* The arguments of both calls, unchanged; those of the other kind are ignored. */
typedef struct TensorMapRequest {
    uint32_t kind, type, rank;
    uint64_t address;
    uint64_t dims[TENSOR_MAP_RANK];
    uint64_t strides[TENSOR_MAP_RANK - 1]; /* bytes, of dimensions 1, 2 ... */
    uint32_t element_strides[TENSOR_MAP_RANK];
    uint32_t interleave, swizzle, promotion, fill;                  /* fill 1: NaN out of bounds */
    uint32_t box[TENSOR_MAP_RANK];                                  /* tiled */
    int32_t lower[TENSOR_MAP_RANK - 2], upper[TENSOR_MAP_RANK - 2]; /* im2col: corners, W first */
    uint32_t channels, pixels;                                      /* im2col: per column */
} TensorMapRequest;

#endif
