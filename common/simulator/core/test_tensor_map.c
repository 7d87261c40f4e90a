/* The rules of a tensor map, each broken once; the rules are the CUDA driver API's manual's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/core/tensor_map.h"

/* Halves of 64 channels, 56 by 56 pixels, 4 images. */
static TensorMapRequest tiled(void)
{
    return (TensorMapRequest){.kind = TENSOR_MAP_TILED,
                              .type = TENSOR_MAP_F16,
                              .rank = 4,
                              .address = 0x700000000000,
                              .dims = {64, 56, 56, 4},
                              .strides = {128, 128 * 56, 128 * 56 * 56},
                              .element_strides = {1, 1, 1, 1},
                              .swizzle = TENSOR_MAP_SWIZZLE_128,
                              .box = {64, 8, 8, 1}};
}

static TensorMapRequest im2col(void)
{
    TensorMapRequest request = tiled();
    request.kind = TENSOR_MAP_IM2COL;
    request.channels = 64, request.pixels = 128;
    request.lower[0] = request.lower[1] = -1;
    request.upper[0] = request.upper[1] = -1;
    return request;
}

static void refused(TensorMapRequest request, const char *word, int unsupported)
{
    TensorMap map;
    Error error = {""};
    int is = 0;
    assert_int_equal(tensor_map_encode(&request, &map, &is, &error), -1);
    if (!strstr(error.text, word)) fail_msg("\"%s\" does not say \"%s\"", error.text, word);
    assert_int_equal(is, unsupported);
}

#define REFUSED(base, change, word, unsupported)                                                   \
    do {                                                                                           \
        TensorMapRequest r = base();                                                               \
        change;                                                                                    \
        refused(r, word, unsupported);                                                             \
    } while (0)

static void test_right_maps(void **state)
{
    TensorMapRequest requests[] = {tiled(), im2col()};
    (void)state;
    for (int i = 0; i < 2; i++) {
        TensorMap map;
        Error error = {""};
        assert_int_equal(tensor_map_encode(&requests[i], &map, NULL, &error), 0);
        assert_true(tensor_map_is_valid(&map));
        assert_int_equal(map.last[1], 55);
        map.strides[1]++; /* an overwritten map is invalid */
        assert_false(tensor_map_is_valid(&map));
    }
}

/* As whoever has read tensor_map.c does it. */
static void digest_forge(TensorMap *map)
{
    const unsigned char *byte = (const unsigned char *)map;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < offsetof(TensorMap, digest); i++)
        hash = (hash ^ byte[i]) * 16777619u;
    map->digest = hash;
}

static void bounds_check(const TensorMap *map)
{
    uint32_t bytes = map->box[0] * tensor_map_element(map->type);
    assert_in_range(map->rank, 1, TENSOR_MAP_RANK);
    assert_in_range(map->swizzle, 0, TENSOR_MAP_SWIZZLE_128);
    assert_in_range(bytes, 16, map->swizzle ? 16u << map->swizzle : 256 * 8);
    for (int i = 0; i < map->rank; i++)
        assert_in_range(map->element_strides[i], 1, 8);
    for (int i = 1; i < (map->kind == TENSOR_MAP_IM2COL ? 2 : map->rank); i++)
        assert_in_range(map->box[i], 1, 1024);
}

/* A kernel may pass any bytes as a map. An accepted map satisfies the rules, even with a forged
 * digest: a stride of 0 once caused a division by zero, and a long row of a narrow box was written
 * past its end. */
static void test_forged_maps(void **state)
{
    static const unsigned char wild[] = {0, 1, 2, 3, 5, 9, 28, 0x7f, 0x80, 0xff};
    TensorMapRequest requests[] = {tiled(), im2col()};
    int taken = 0;
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        TensorMap right, map;
        Error error;
        assert_int_equal(tensor_map_encode(&requests[kind], &right, NULL, &error), 0);
        map = right, map.element_strides[1] = 0, digest_forge(&map);
        assert_false(tensor_map_is_valid(&map));
        map = right, map.box[0] = 60000, digest_forge(&map);
        assert_false(tensor_map_is_valid(&map));
        for (size_t i = 0; i < offsetof(TensorMap, digest); i++)
            for (size_t k = 0; k < sizeof wild; k++) {
                map = right;
                ((unsigned char *)&map)[i] = wild[k];
                digest_forge(&map);
                if (!tensor_map_is_valid(&map)) continue;
                bounds_check(&map);
                taken++;
            }
    }
    assert_true(taken > 100); /* another address, say, is as good */
}

static void test_refusals(void **state)
{
    (void)state;
    REFUSED(tiled, r.kind = 3, "kind", 0);
    REFUSED(tiled, r.type = 99, "data type", 0);
    REFUSED(tiled, r.type = 13, "less than a byte", 1);
    REFUSED(tiled, r.interleave = 1, "interleaved", 1);
    REFUSED(tiled, r.interleave = 3, "interleave 3", 0);
    REFUSED(tiled, r.swizzle = 4, "atoms", 1);
    REFUSED(tiled, r.swizzle = 7, "swizzle 7", 0);
    REFUSED(tiled, r.promotion = 4, "promotion", 0);
    REFUSED(tiled, r.fill = 2, "fill", 0);
    REFUSED(tiled, (r.type = TENSOR_MAP_U16, r.fill = 1), "floating-point", 0);
    REFUSED(tiled, r.rank = 6, "rank is 6", 0);
    REFUSED(tiled, r.rank = 0, "rank is 0", 0);
    REFUSED(tiled, r.address += 8, "multiple of 16", 0);
    REFUSED(tiled, r.dims[3] = 0, "globalDim[3]", 0);
    REFUSED(tiled, r.dims[1] = (1ull << 32) + 1, "globalDim[1]", 0);
    REFUSED(tiled, r.strides[1] = 7170, "globalStrides[1]", 0);
    REFUSED(tiled, r.strides[2] = 1ull << 40, "globalStrides[2]", 0);
    REFUSED(tiled, r.element_strides[2] = 9, "elementStrides[2]", 0);
    REFUSED(tiled, r.box[1] = 257, "boxDim[1]", 0);
    REFUSED(tiled, r.box[0] = 0, "boxDim[0]", 0);
    REFUSED(tiled, r.box[0] = 65, "multiple of 16", 0);
    REFUSED(tiled, r.box[0] = 72, "swizzle of 128", 0);
    REFUSED(im2col, r.rank = 2, "rank is 2", 0);
    REFUSED(im2col, r.lower[1] = -129, "corners", 0);
    REFUSED(im2col, r.upper[0] = 128, "corners", 0);
    REFUSED(im2col, r.upper[0] = -57, "empty", 0);
    REFUSED(im2col, r.pixels = 1025, "pixelsPerColumn", 0);
    REFUSED(im2col, r.channels = 128, "swizzle of 128", 0);
}

/* PTX ISA 9.0, 9.7.9.27.2.2 (tensormap.replace): a map with a field replaced is what the host makes
 * with that field. */
#define REPLACED(field, ordinal, value, change)                                                    \
    do {                                                                                           \
        TensorMapRequest r = tiled();                                                              \
        TensorMap is, wanted;                                                                      \
        Error error = {""};                                                                        \
        assert_int_equal(tensor_map_encode(&r, &is, NULL, &error), 0);                             \
        change;                                                                                    \
        if (tensor_map_encode(&r, &wanted, NULL, &error)) fail_msg("%s", error.text);              \
        assert_int_equal(tensor_map_replace(&is, field, ordinal, value), 0);                       \
        assert_memory_equal(&is, &wanted, sizeof is);                                              \
    } while (0)

static void test_replaced_fields(void **state)
{
    static const uint32_t TYPES[][2] = {
        {6, TENSOR_MAP_F16}, {1, TENSOR_MAP_U16}, {10, TENSOR_MAP_BF16}};
    (void)state;
    REPLACED(MAP_ADDRESS, 0, 0x700000001000, r.address = 0x700000001000);
    REPLACED(MAP_RANK, 0, 2, (r.rank = 3, r.dims[3] = 0));
    REPLACED(MAP_BOX, 2, 5, r.box[2] = 5);
    REPLACED(MAP_DIM, 1, 40, r.dims[1] = 40);
    REPLACED(MAP_STRIDE, 0, 256, r.strides[0] = 256);
    REPLACED(MAP_ELEMENT_STRIDE, 1, 2, r.element_strides[1] = 2);
    REPLACED(MAP_SWIZZLE, 0, 3, r.swizzle = 3);
    REPLACED(MAP_FILL, 0, 1, r.fill = 1);
    REPLACED(MAP_INTERLEAVE, 0, 0, r.interleave = 0);
    for (int i = 0; i < 3; i++)
        REPLACED(MAP_TYPE, 0, TYPES[i][0], r.type = TYPES[i][1]);
}

/* All fields of 128 zeros; what is neither a map nor zeros, and dimensions that no map has. */
static void test_a_map_made_of_zeros(void **state)
{
    TensorMapRequest r = {.kind = TENSOR_MAP_TILED,
                          .type = TENSOR_MAP_F32,
                          .rank = 2,
                          .address = 0x700000000000,
                          .dims = {64, 32},
                          .strides = {256},
                          .element_strides = {1, 1},
                          .box = {16, 4}};
    TensorMap is, wanted, torn;
    Error error = {""};
    (void)state;
    memset(&is, 0, sizeof is), memset(&torn, 7, sizeof torn);
    assert_int_equal(tensor_map_encode(&r, &wanted, NULL, &error), 0);
    assert_int_equal(tensor_map_replace(&is, MAP_ADDRESS, 0, r.address), 0);
    assert_int_equal(tensor_map_replace(&is, MAP_RANK, 0, 1), 0);
    assert_int_equal(tensor_map_replace(&is, MAP_STRIDE, 0, 256), 0);
    assert_int_equal(tensor_map_replace(&is, MAP_TYPE, 0, 7), 0);
    assert_false(tensor_map_is_valid(&is));
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(tensor_map_replace(&is, MAP_BOX, i, r.box[i]), 0);
        assert_int_equal(tensor_map_replace(&is, MAP_DIM, i, r.dims[i]), 0);
        assert_int_equal(tensor_map_replace(&is, MAP_ELEMENT_STRIDE, i, 1), 0);
    }
    assert_true(tensor_map_is_valid(&is));
    assert_memory_equal(&is, &wanted, sizeof is);
    assert_int_equal(tensor_map_replace(&torn, MAP_ADDRESS, 0, r.address), -1);
    assert_int_equal(tensor_map_replace(&is, MAP_STRIDE, 4, 16), -1);
    assert_int_equal(tensor_map_replace(&is, MAP_BOX, 5, 16), -1);
    assert_int_equal(tensor_map_replace(&is, MAP_TYPE, 0, 13), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_maps),
        cmocka_unit_test(test_forged_maps),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_replaced_fields),
        cmocka_unit_test(test_a_map_made_of_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
