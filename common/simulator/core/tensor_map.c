/* The rules of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, as the CUDA driver API's manual
 * has them ("Tensor Map Object Management"). */
#include "common/simulator/core/tensor_map.h"

#include <stddef.h>
#include <string.h>

enum { MAGIC = 0x70616d74, MOST_BOX = 256, MOST_PIXELS = 1024, MOST_STEP = 8 };

uint32_t tensor_map_element(uint32_t type)
{
    static const uint8_t BYTES[TENSOR_MAP_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < TENSOR_MAP_TYPES ? BYTES[type] : 0;
}

static int is_float(uint32_t type)
{
    return type >= TENSOR_MAP_F16 && type < TENSOR_MAP_TYPES;
}

static uint32_t digest_of(const TensorMap *map)
{
    const unsigned char *byte = (const unsigned char *)map;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < offsetof(TensorMap, digest); i++)
        hash = (hash ^ byte[i]) * 16777619u;
    return hash;
}

/* ---- the rules ------------------------------------------------------------------------------ */

static int modes_check(const TensorMapRequest *r, int *unsupported, Error *error)
{
    *unsupported = 0;
    if (r->type >= TENSOR_MAP_TYPES && r->type < TENSOR_MAP_TYPES + 3u) {
        *unsupported = 1;
        return error_set(error, "data type %u, of less than a byte, is not simulated", r->type);
    }
    if (r->type >= TENSOR_MAP_TYPES) return error_set(error, "there is no data type %u", r->type);
    if (r->interleave > 2) return error_set(error, "there is no interleave %u", r->interleave);
    if (r->interleave) {
        *unsupported = 1;
        return error_set(error, "interleaved layouts are not simulated: use "
                                "CU_TENSOR_MAP_INTERLEAVE_NONE");
    }
    if (r->swizzle > TENSOR_MAP_SWIZZLE_128 && r->swizzle < TENSOR_MAP_SWIZZLE_128 + 4) {
        *unsupported = 1;
        return error_set(error, "swizzle %u, of atoms of more than 16 bytes, is not simulated",
                         r->swizzle);
    }
    if (r->swizzle > TENSOR_MAP_SWIZZLE_128)
        return error_set(error, "there is no swizzle %u", r->swizzle);
    if (r->promotion > 3) return error_set(error, "there is no L2 promotion %u", r->promotion);
    if (r->fill > 1) return error_set(error, "there is no out-of-bounds fill %u", r->fill);
    if (r->fill && !is_float(r->type))
        return error_set(error, "elements out of bounds can be NaN in floating-point types only");
    return 0;
}

static int tensor_check(const TensorMapRequest *r, Error *error)
{
    uint32_t least = r->kind == TENSOR_MAP_IM2COL ? 3 : 1;
    if (r->rank < least || r->rank > TENSOR_MAP_RANK)
        return error_set(error, "the rank is %u: it may be %u to %d", r->rank, least,
                         TENSOR_MAP_RANK);
    if (r->address == 0 || r->address % 16)
        return error_set(error, "the global address 0x%llx is no multiple of 16 bytes",
                         (unsigned long long)r->address);
    for (uint32_t i = 0; i < r->rank; i++) {
        if (r->dims[i] == 0 || r->dims[i] > (1ull << 32))
            return error_set(error, "globalDim[%u] is %llu: it may be 1 to 2^32", i,
                             (unsigned long long)r->dims[i]);
        if (r->element_strides[i] == 0 || r->element_strides[i] > MOST_STEP)
            return error_set(error, "elementStrides[%u] is %u: it may be 1 to %d", i,
                             r->element_strides[i], MOST_STEP);
        if (i && (r->strides[i - 1] % 16 || r->strides[i - 1] >= 1ull << 40))
            return error_set(error,
                             "globalStrides[%u] is %llu bytes: it must be a multiple of 16 below "
                             "2^40",
                             i - 1, (unsigned long long)r->strides[i - 1]);
    }
    return 0;
}

/* The innermost row of what lands in shared memory. */
static int row_check(const TensorMapRequest *r, const char *name, uint32_t elements, Error *error)
{
    uint32_t bytes = elements * tensor_map_element(r->type), span = 16u << r->swizzle;
    if (elements == 0 || elements > MOST_BOX)
        return error_set(error, "%s is %u: it may be 1 to %d", name, elements, MOST_BOX);
    if (bytes % 16)
        return error_set(error, "%s of %u elements is %u bytes: it must be a multiple of 16", name,
                         elements, bytes);
    if (r->swizzle && bytes > span)
        return error_set(error, "%s of %u elements is %u bytes: a swizzle of %u bytes has no more",
                         name, elements, bytes, span);
    return 0;
}

static int tiled_check(const TensorMapRequest *r, Error *error)
{
    for (uint32_t i = 1; i < r->rank; i++)
        if (r->box[i] == 0 || r->box[i] > MOST_BOX)
            return error_set(error, "boxDim[%u] is %u: it may be 1 to %d", i, r->box[i], MOST_BOX);
    return row_check(r, "boxDim[0]", r->box[0], error);
}

static int im2col_check(const TensorMapRequest *r, Error *error)
{
    static const int BITS[TENSOR_MAP_RANK + 1] = {[3] = 15, [4] = 7, [5] = 4};
    int least = -(1 << BITS[r->rank]), most = -least - 1;
    for (uint32_t i = 0; i + 2 < r->rank; i++) {
        if (r->lower[i] < least || r->lower[i] > most || r->upper[i] < least || r->upper[i] > most)
            return error_set(error,
                             "corners %d and %d of dimension %u: of a tensor of rank %u they may "
                             "be %d to %d",
                             r->lower[i], r->upper[i], i + 1, r->rank, least, most);
        if ((int64_t)r->dims[i + 1] + r->upper[i] <= r->lower[i])
            return error_set(
                error, "the box from %d to %d beyond the end is empty in dimension %u of %llu",
                r->lower[i], r->upper[i], i + 1, (unsigned long long)r->dims[i + 1]);
    }
    if (r->pixels == 0 || r->pixels > MOST_PIXELS)
        return error_set(error, "pixelsPerColumn is %u: it may be 1 to %d", r->pixels, MOST_PIXELS);
    return row_check(r, "channelsPerPixel", r->channels, error);
}

int tensor_map_encode(const TensorMapRequest *request, TensorMap *map, int *unsupported,
                      Error *error)
{
    const TensorMapRequest *r = request;
    int ignored;
    if (r->kind != TENSOR_MAP_TILED && r->kind != TENSOR_MAP_IM2COL)
        return error_set(error, "there is no tensor map of kind %u", r->kind);
    if (modes_check(r, unsupported ? unsupported : &ignored, error) != 0 ||
        tensor_check(r, error) != 0)
        return -1;
    if ((r->kind == TENSOR_MAP_TILED ? tiled_check(r, error) : im2col_check(r, error)) != 0)
        return -1;
    memset(map, 0, sizeof *map);
    map->magic = MAGIC, map->kind = (uint8_t)r->kind, map->type = (uint8_t)r->type;
    map->rank = (uint8_t)r->rank, map->swizzle = (uint8_t)r->swizzle;
    map->promotion = (uint8_t)r->promotion;
    map->address = r->address, map->fill = r->fill;
    for (uint32_t i = 0; i < r->rank; i++) {
        map->last[i] = (uint32_t)(r->dims[i] - 1);
        map->element_strides[i] = (uint8_t)r->element_strides[i];
        if (i) map->strides[i - 1] = r->strides[i - 1];
        if (r->kind == TENSOR_MAP_TILED) map->box[i] = (uint16_t)r->box[i];
    }
    if (r->kind == TENSOR_MAP_IM2COL) {
        map->box[0] = (uint16_t)r->channels, map->box[1] = (uint16_t)r->pixels;
        for (uint32_t i = 0; i + 2 < r->rank; i++)
            map->lower[i] = (int16_t)r->lower[i], map->upper[i] = (int16_t)r->upper[i];
    }
    map->digest = digest_of(map);
    return 0;
}

/* The request that gives this map. */
static TensorMapRequest request_of(const TensorMap *map)
{
    TensorMapRequest r = {.kind = map->kind,
                          .type = map->type,
                          .rank = map->rank,
                          .address = map->address,
                          .swizzle = map->swizzle,
                          .promotion = map->promotion,
                          .fill = map->fill,
                          .channels = map->box[0],
                          .pixels = map->box[1]};
    for (uint32_t i = 0; i < TENSOR_MAP_RANK; i++) {
        r.dims[i] = map->last[i] + 1ull;
        r.element_strides[i] = map->element_strides[i];
        r.box[i] = map->box[i];
        if (i) r.strides[i - 1] = map->strides[i - 1];
        if (i > 1) r.lower[i - 2] = map->lower[i - 2], r.upper[i - 2] = map->upper[i - 2];
    }
    return r;
}

/* A digest can be forged, so each rule is checked again. */
int tensor_map_is_valid(const TensorMap *map)
{
    TensorMap again;
    Error error;
    if (map->magic != MAGIC || map->digest != digest_of(map)) return 0;
    TensorMapRequest request = request_of(map);
    return tensor_map_encode(&request, &again, NULL, &error) == 0 &&
           memcmp(map, &again, sizeof again) == 0;
}

/* Clears the members of dimensions that the map no longer has. */
static void dimensions_drop(TensorMap *map)
{
    for (uint32_t i = map->rank; i < TENSOR_MAP_RANK; i++) {
        map->last[i] = 0, map->box[i] = 0, map->element_strides[i] = 0;
        if (i) map->strides[i - 1] = 0;
    }
}

/* 128 zeros, of which a kernel may make a map field by field. */
static int is_blank(const TensorMap *map)
{
    static const TensorMap ZEROS;
    return memcmp(map, &ZEROS, sizeof ZEROS) == 0;
}

int tensor_map_replace(TensorMap *map, TensorMapField field, uint32_t ordinal, uint64_t value)
{
    static const uint8_t TYPES[] = {
        TENSOR_MAP_U8,   TENSOR_MAP_U16,  TENSOR_MAP_U32,     TENSOR_MAP_S32,     TENSOR_MAP_U64,
        TENSOR_MAP_S64,  TENSOR_MAP_F16,  TENSOR_MAP_F32,     TENSOR_MAP_F32_FTZ, TENSOR_MAP_F64,
        TENSOR_MAP_BF16, TENSOR_MAP_TF32, TENSOR_MAP_TF32_FTZ};
    if (is_blank(map))
        map->magic = MAGIC, map->kind = TENSOR_MAP_TILED, map->digest = digest_of(map);
    if (map->magic != MAGIC || map->digest != digest_of(map) || map->kind != TENSOR_MAP_TILED ||
        ordinal >= TENSOR_MAP_RANK - (field == MAP_STRIDE) ||
        (field == MAP_TYPE && value >= sizeof TYPES) || (field == MAP_INTERLEAVE && value))
        return -1;
    switch (field) {
    case MAP_ADDRESS:
        map->address = value;
        break;
    case MAP_RANK:
        map->rank = (uint8_t)(value + 1), dimensions_drop(map);
        break;
    case MAP_BOX:
        map->box[ordinal] = (uint16_t)value;
        break;
    case MAP_DIM:
        map->last[ordinal] = (uint32_t)value - 1;
        break;
    case MAP_STRIDE:
        map->strides[ordinal] = value;
        break;
    case MAP_ELEMENT_STRIDE:
        map->element_strides[ordinal] = (uint8_t)value;
        break;
    case MAP_TYPE:
        map->type = TYPES[value];
        break;
    case MAP_SWIZZLE:
        map->swizzle = (uint8_t)value;
        break;
    case MAP_FILL:
        map->fill = (uint32_t)value;
        break;
    default:
        break;
    }
    map->digest = digest_of(map);
    return 0;
}
