/* tensor_map.h - the 128-byte tensor descriptor of the tensor memory accelerator.
 *
 * NVIDIA's own layout of the 128 bytes is not published, so these have another layout with the same
 * contents. The simulated engine creates a map when a program calls cuTensorMapEncodeTiled or
 * ...Im2col. The program passes it to its kernel as a parameter, or in global or constant memory,
 * and cp.async.bulk.tensor reads it there. Enumerations have the numbers of cuda.h; dimension 0 is
 * the innermost. */
#ifndef CONVLAB_SIMT_CORE_TENSOR_MAP_H
#define CONVLAB_SIMT_CORE_TENSOR_MAP_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/base/tensor_request.h"

/* CUtensorMapDataType */
typedef enum TensorMapType {
    TENSOR_MAP_U8,
    TENSOR_MAP_U16,
    TENSOR_MAP_U32,
    TENSOR_MAP_S32,
    TENSOR_MAP_U64,
    TENSOR_MAP_S64,
    TENSOR_MAP_F16,
    TENSOR_MAP_F32,
    TENSOR_MAP_F64,
    TENSOR_MAP_BF16,
    TENSOR_MAP_F32_FTZ,
    TENSOR_MAP_TF32,
    TENSOR_MAP_TF32_FTZ,
    TENSOR_MAP_TYPES
} TensorMapType;

/* CUtensorMapSwizzle: the 16-byte chunks of a row are permuted by the row's number. */
typedef enum TensorMapSwizzle {
    TENSOR_MAP_PLAIN,
    TENSOR_MAP_SWIZZLE_32,
    TENSOR_MAP_SWIZZLE_64,
    TENSOR_MAP_SWIZZLE_128
} TensorMapSwizzle;

typedef struct TensorMap {
    uint32_t magic;
    uint8_t kind, type, rank, swizzle;
    uint64_t address;
    uint32_t last[TENSOR_MAP_RANK]; /* size of each dimension less one */
    uint32_t fill;
    uint64_t strides[TENSOR_MAP_RANK - 1];
    uint16_t box[TENSOR_MAP_RANK]; /* im2col: channels and pixels of a column */
    uint8_t element_strides[TENSOR_MAP_RANK], promotion;
    int16_t lower[TENSOR_MAP_RANK - 2], upper[TENSOR_MAP_RANK - 2];
    uint32_t reserved[4];
    uint32_t digest; /* digest of all members before it: an overwritten map is detected */
} __attribute__((aligned(64))) TensorMap;

_Static_assert(sizeof(TensorMap) == TENSOR_MAP_BYTES, "cuda.h says 128 bytes");

/* Fills in `map`. -1 with an error that names the invalid argument and the reason if the driver
 * would return CUDA_ERROR_INVALID_VALUE. Valid but unsupported arguments give -1, too, and set
 * `unsupported` (may be NULL) to 1: interleaved layouts and types of less than a byte. */
int tensor_map_encode(const TensorMapRequest *request, TensorMap *map, int *unsupported,
                      Error *error);
/* Is this a map that tensor_map_encode makes?  Everything in it is then within its bounds. */
int tensor_map_is_valid(const TensorMap *map);
/* Fields that tensormap.replace changes, with PTX's names. */
typedef enum TensorMapField {
    MAP_ADDRESS,
    MAP_RANK, /* less one */
    MAP_BOX,
    MAP_DIM,
    MAP_STRIDE, /* bytes */
    MAP_ELEMENT_STRIDE,
    MAP_TYPE, /* by PTX's numbers, which are others than cuda.h's */
    MAP_INTERLEAVE,
    MAP_SWIZZLE,
    MAP_FILL
} TensorMapField;

/* Overwrites one field; `ordinal`: the dimension. The result is not validated until it is used. -1:
 * it was neither a map before nor zeros, or the field cannot have this value here. */
int tensor_map_replace(TensorMap *map, TensorMapField field, uint32_t ordinal, uint64_t value);
/* 1, 2, 4 or 8; 0: no such type. */
uint32_t tensor_map_element(uint32_t type);

#endif
