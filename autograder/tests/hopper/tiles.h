// tiles.h - tensor copies: tiles and columns of pixels, swizzles, elements out of bounds.
#ifndef CONVLAB_CONFORMANCE_HOPPER_TILES_H
#define CONVLAB_CONFORMANCE_HOPPER_TILES_H

#include "share.h"

typedef CUresult Tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                       const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                       CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill);
typedef CUresult Im2col(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                        const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t,
                        const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                        CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static void *driver(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found),
          name);
    return function;
}

struct Where {
    int at[5];
    unsigned short offset[3];
};

enum { IMAGE = 32768 };

static __device__ void phase_wait(uint64_t *barrier, uint32_t parity)
{
    asm volatile(
        "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(shared_of(barrier)),
        "r"(parity)
        : "memory");
}

// Contents of a box in shared memory, over a pattern that shows unwritten bytes.
#define LOAD(NAME, FORM, COORDINATES, ...)                                                         \
    __global__ void NAME(const __grid_constant__ CUtensorMap map, Where w, uint32_t bytes,         \
                         uint32_t *y)                                                              \
    {                                                                                              \
        extern __shared__ __align__(1024) unsigned char memory[];                                  \
        __shared__ __align__(8) uint64_t barrier;                                                  \
        for (uint32_t i = threadIdx.x; i < IMAGE / 4; i += blockDim.x)                             \
            ((uint32_t *)memory)[i] = 0xa5a5a5a5;                                                  \
        if (threadIdx.x == 0) {                                                                    \
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_of(&barrier)));     \
            asm volatile("fence.mbarrier_init.release.cluster;");                                  \
        }                                                                                          \
        asm volatile("fence.proxy.async;");                                                        \
        __syncthreads();                                                                           \
        if (threadIdx.x == 0) {                                                                    \
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(           \
                             shared_of(&barrier)),                                                 \
                         "r"(bytes)                                                                \
                         : "memory");                                                              \
            asm volatile("cp.async.bulk.tensor." FORM                                              \
                         ".mbarrier::complete_tx::bytes [%0], [%1, " COORDINATES                   \
                         ";" ::"r"(shared_of(memory)),                                             \
                         "l"(&map), "r"(shared_of(&barrier)), __VA_ARGS__                          \
                         : "memory");                                                              \
        }                                                                                          \
        phase_wait(&barrier, 0);                                                                   \
        for (uint32_t i = threadIdx.x; i < IMAGE / 4; i += blockDim.x)                             \
            y[i] = ((uint32_t *)memory)[i];                                                        \
    }

LOAD(tile_1d, "1d.shared::cluster.global.tile", "{%3}], [%2]", "r"(w.at[0]))
LOAD(tile_2d, "2d.shared::cluster.global.tile", "{%3, %4}], [%2]", "r"(w.at[0]), "r"(w.at[1]))
LOAD(tile_3d, "3d.shared::cluster.global.tile", "{%3, %4, %5}], [%2]", "r"(w.at[0]), "r"(w.at[1]),
     "r"(w.at[2]))
LOAD(tile_4d, "4d.shared::cluster.global.tile", "{%3, %4, %5, %6}], [%2]", "r"(w.at[0]),
     "r"(w.at[1]), "r"(w.at[2]), "r"(w.at[3]))
LOAD(tile_5d, "5d.shared::cluster.global.tile", "{%3, %4, %5, %6, %7}], [%2]", "r"(w.at[0]),
     "r"(w.at[1]), "r"(w.at[2]), "r"(w.at[3]), "r"(w.at[4]))
LOAD(pixels_3d, "3d.shared::cluster.global.im2col", "{%3, %4, %5}], [%2], {%6}", "r"(w.at[0]),
     "r"(w.at[1]), "r"(w.at[2]), "h"(w.offset[0]))
LOAD(pixels_4d, "4d.shared::cluster.global.im2col", "{%3, %4, %5, %6}], [%2], {%7, %8}",
     "r"(w.at[0]), "r"(w.at[1]), "r"(w.at[2]), "r"(w.at[3]), "h"(w.offset[0]), "h"(w.offset[1]))
LOAD(pixels_5d, "5d.shared::cluster.global.im2col", "{%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}",
     "r"(w.at[0]), "r"(w.at[1]), "r"(w.at[2]), "r"(w.at[3]), "r"(w.at[4]), "h"(w.offset[0]),
     "h"(w.offset[1]), "h"(w.offset[2]))

// The other direction: a box of shared memory to the tensor.
__global__ void store_3d(const __grid_constant__ CUtensorMap map, Where w)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    for (uint32_t i = threadIdx.x; i < IMAGE / 4; i += blockDim.x)
        ((uint32_t *)memory)[i] = hash(i + 31337);
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::
            "l"(&map),
        "r"(shared_of(memory)), "r"(w.at[0]), "r"(w.at[1]), "r"(w.at[2])
        : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

typedef void Load(CUtensorMap, Where, uint32_t, uint32_t *);

static Tiled *tiled;
static Im2col *im2col;
static uint32_t *tensor; // 1 MiB of hashed words

static const cuuint32_t SIZE[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

enum {
    U8 = CU_TENSOR_MAP_DATA_TYPE_UINT8,
    I32 = CU_TENSOR_MAP_DATA_TYPE_INT32,
    F16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    F32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    F64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    BF16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    TF32 = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    F32_FTZ = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    TF32_FTZ = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
    PLAIN_ROWS = CU_TENSOR_MAP_SWIZZLE_NONE,
    SW32 = CU_TENSOR_MAP_SWIZZLE_32B,
    SW64 = CU_TENSOR_MAP_SWIZZLE_64B,
    SW128 = CU_TENSOR_MAP_SWIZZLE_128B,
    NANS = 16, // flag in addition to a swizzle: elements out of bounds are NaN
};

// A row of the tables: the rank is the number of dims; an omitted stride is 1.
struct Tile {
    const char *name;
    int type;
    cuuint64_t dims[5];
    cuuint32_t box[5];
    int layout; // a swizzle, and NANS
    int at[5];
    cuuint32_t step[5];
};

struct Pixels { // halves
    const char *name;
    cuuint64_t dims[5];
    int lower[3], upper[3];
    cuuint32_t channels, pixels;
    int layout;
    Where where;
    cuuint32_t step[5];
};

static const Tile TILES[] = {
    {"tile-1d", F32, {1000}, {256}, PLAIN_ROWS, {900}},
    {"tile-2d", F16, {200, 100}, {64, 40}, PLAIN_ROWS, {-8, 70}},
    {"tile-2d-32", F16, {200, 100}, {16, 40}, SW32, {16, -3}},
    {"tile-2d-64", F16, {200, 100}, {32, 40}, SW64, {184, 5}},
    {"tile-2d-128", F16, {200, 100}, {64, 40}, SW128, {64, 64}},
    {"tile-2d-narrow-128", F16, {200, 100}, {16, 40}, SW128, {32, 8}},
    {"tile-2d-narrow-64", F16, {200, 100}, {8, 40}, SW64, {32, 8}},
    {"tile-3d", U8, {64, 20, 30}, {32, 7, 9}, PLAIN_ROWS, {48, 15, -4}},
    {"tile-3d-steps", F32, {64, 20, 30}, {16, 8, 9}, PLAIN_ROWS, {8, 15, 3}, {1, 2, 3}},
    {"tile-4d", BF16, {32, 10, 12, 5}, {32, 6, 4, 2}, SW64, {0, -2, 10, 4}},
    {"tile-5d", I32, {16, 6, 5, 4, 3}, {8, 3, 3, 3, 2}, PLAIN_ROWS, {12, -1, 3, 2, 2}},
    {"tile-nan-f16", F16, {200, 100}, {64, 40}, NANS, {-8, 70}},
    {"tile-nan-bf16", BF16, {200, 100}, {64, 40}, NANS, {-8, 70}},
    {"tile-nan-f32", F32, {200, 100}, {32, 40}, NANS, {-8, 70}},
    {"tile-tf32", TF32, {200, 100}, {32, 40}, SW128, {8, 7}},
    {"tile-f32-ftz", F32_FTZ, {200, 100}, {32, 40}, SW128, {8, 7}},
    {"tile-tf32-ftz", TF32_FTZ, {200, 100}, {32, 40}, SW128, {8, 7}},
    {"tile-f64", F64, {100, 100}, {16, 40}, SW128, {8, 7}},
};

// Elements past the end are not stored; a negative coordinate is an illegal instruction.
static const Tile STORES[] = {
    {"store", F16, {64, 20, 30}, {32, 7, 9}, SW64, {32, 3, 4}},
    {"store-plain", F16, {64, 20, 30}, {32, 7, 9}, PLAIN_ROWS, {32, 3, 4}},
    {"store-end", F16, {64, 20, 30}, {32, 7, 9}, SW64, {40, 15, 28}},
    {"store-narrow", F16, {64, 20, 30}, {16, 7, 9}, SW64, {16, 3, 4}},
};

// clang-format off: one row per line
static const Pixels PIXELS[] = {
    {"pixels-3d", {64, 20, 6}, {-1}, {-1}, 32, 40, SW64, {{32, -1, 1}, {2}}},
    {"pixels-4d", {64, 14, 12, 5}, {-1, -1}, {-1, -1}, 64, 100, SW128, {{0, 5, 9, 1}, {0, 0}}},
    {"pixels-4d-tap", {64, 14, 12, 5}, {-1, -1}, {-1, -1}, 64, 100, SW128, {{0, 5, 9, 1}, {2, 1}}},
    {"pixels-4d-stride",
     {64, 15, 13, 5},
     {-1, -1},
     {-1, -1},
     32,
     64,
     SW64,
     {{32, 3, -1, 0}, {1, 2}},
     {1, 2, 2}},
    {"pixels-4d-end",
     {64, 14, 12, 3},
     {-2, -2},
     {-2, -2},
     16,
     128,
     PLAIN_ROWS,
     {{56, 9, 8, 2}, {4, 3}}},
    {"pixels-4d-steps3",
     {64, 16, 14, 4},
     {-1, 0},
     {0, -2},
     64,
     64,
     SW128,
     {{0, -1, 2, 1}, {1, 1}},
     {1, 3, 2}},
    {"pixels-5d",
     {32, 8, 7, 6, 3},
     {-1, -1, -1},
     {-1, -1, -1},
     32,
     90,
     SW64,
     {{0, 2, 3, 4, 0}, {1, 0, 2}}},
};
// clang-format on

static cuuint32_t rank_of(const cuuint64_t dims[5])
{
    cuuint32_t rank = 0;
    while (rank < 5 && dims[rank])
        rank++;
    return rank;
}

// The bytes between elements of each dimension, and the strides with every 0 replaced by 1.
static void lay(cuuint32_t rank, const cuuint64_t dims[5], cuuint32_t size,
                const cuuint32_t given[5], cuuint64_t strides[4], cuuint32_t step[5])
{
    cuuint64_t bytes = dims[0] * size;
    for (cuuint32_t i = 0; i < rank; i++) {
        step[i] = given[i] ? given[i] : 1;
        if (i + 1 == rank) break;
        strides[i] = bytes = (bytes + 15) / 16 * 16;
        bytes *= dims[i + 1];
    }
}

static CUtensorMap map_or_exit(const char *name, CUresult status, const CUtensorMap &map)
{
    if (status) {
        printf("%s: no map, %d\n", name, (int)status);
        exit(1);
    }
    return map;
}

// The map of a row of TILES or STORES; *bytes is the size of its box.
static CUtensorMap tile_map(const Tile &t, void *memory, uint32_t *bytes)
{
    CUtensorMap map;
    cuuint32_t step[5], rank = rank_of(t.dims);
    cuuint64_t strides[4];
    lay(rank, t.dims, SIZE[t.type], t.step, strides, step);
    *bytes = SIZE[t.type] * t.box[0];
    for (cuuint32_t i = 1; i < rank; i++)
        *bytes *= (t.box[i] + step[i] - 1) / step[i];
    CUresult status = tiled(&map, (CUtensorMapDataType)t.type, rank, memory, t.dims, strides, t.box,
                            step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            (CUtensorMapSwizzle)(t.layout & ~NANS), CU_TENSOR_MAP_L2_PROMOTION_NONE,
                            t.layout & NANS ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                            : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map_or_exit(t.name, status, map);
}

static CUtensorMap pixels_map(const Pixels &p)
{
    CUtensorMap map;
    cuuint32_t step[5], rank = rank_of(p.dims);
    cuuint64_t strides[4];
    lay(rank, p.dims, SIZE[F16], p.step, strides, step);
    CUresult status = im2col(&map, (CUtensorMapDataType)F16, rank, tensor, p.dims, strides, p.lower,
                             p.upper, p.channels, p.pixels, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             (CUtensorMapSwizzle)p.layout, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map_or_exit(p.name, status, map);
}

// Copies one box and prints shared memory.
static void load(const char *name, Load *kernel, const CUtensorMap &map, const Where &where,
                 uint32_t bytes)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE), name);
    kernel<<<1, 128, IMAGE>>>(map, where, bytes, y);
    tell(name, y, IMAGE / 4);
}

static Where corner(const Tile &t)
{
    Where where = {};
    memcpy(where.at, t.at, sizeof where.at);
    return where;
}

static void tiles()
{
    static Load *const BY_RANK[] = {tile_1d, tile_2d, tile_3d, tile_4d, tile_5d};
    uint32_t bytes;
    for (const Tile &t : TILES) {
        if (!wanted(t.name)) continue;
        CUtensorMap map = tile_map(t, tensor, &bytes);
        load(t.name, BY_RANK[rank_of(t.dims) - 1], map, corner(t), bytes);
    }
    for (const Tile &t : STORES) {
        if (!wanted(t.name)) continue;
        CUtensorMap map = tile_map(t, y, &bytes);
        cudaMemset(y, 0x33, 131072);
        check(cudaFuncSetAttribute(store_3d, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE),
              t.name);
        store_3d<<<1, 128, IMAGE>>>(map, corner(t));
        tell(t.name, y, 131072 / 4);
    }
}

static void columns()
{
    static Load *const BY_RANK[] = {pixels_3d, pixels_4d, pixels_5d};
    for (const Pixels &p : PIXELS)
        if (wanted(p.name))
            load(p.name, BY_RANK[rank_of(p.dims) - 3], pixels_map(p), p.where,
                 p.channels * SIZE[F16] * p.pixels);
}

#endif
