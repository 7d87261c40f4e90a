// tiles.h - tensor copies: tiles and columns of pixels, swizzles, what lies outside.
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

// The image of a box in shared memory, over a pattern that shows what was not written.
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

// The other way: a box of shared memory into the tensor.
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

struct Tile {
    const char *name;
    Load *kernel;
    CUtensorMapDataType type;
    cuuint32_t rank;
    cuuint64_t dims[5];
    cuuint32_t box[5], step[5];
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
    Where where;
};

static CUtensorMap tile_map(const Tile &t, void *memory)
{
    CUtensorMap map;
    cuuint64_t strides[4], bytes = t.dims[0] * SIZE[t.type];
    for (cuuint32_t i = 0; i + 1 < t.rank; i++) {
        bytes = (bytes + 15) / 16 * 16;
        strides[i] = bytes;
        bytes *= t.dims[i + 1];
    }
    if (tiled(&map, t.type, t.rank, memory, t.dims, strides, t.box, t.step,
              CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, t.fill)) {
        printf("%s: no map\n", t.name);
        exit(1);
    }
    return map;
}

#define UNSWIZZLED CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
#define SW(n)      CU_TENSOR_MAP_SWIZZLE_##n##B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
#define NANS       CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
#define TYPE(t)    CU_TENSOR_MAP_DATA_TYPE_##t

static void tiles()
{
    static const Tile TILES[] = {
        {"tile-1d", tile_1d, TYPE(FLOAT32), 1, {1000}, {256}, {1}, UNSWIZZLED, {{900}}},
        {"tile-2d",
         tile_2d,
         TYPE(FLOAT16),
         2,
         {200, 100},
         {64, 40},
         {1, 1},
         UNSWIZZLED,
         {{-8, 70}}},
        {"tile-2d-32", tile_2d, TYPE(FLOAT16), 2, {200, 100}, {16, 40}, {1, 1}, SW(32), {{16, -3}}},
        {"tile-2d-64", tile_2d, TYPE(FLOAT16), 2, {200, 100}, {32, 40}, {1, 1}, SW(64), {{184, 5}}},
        {"tile-2d-128",
         tile_2d,
         TYPE(FLOAT16),
         2,
         {200, 100},
         {64, 40},
         {1, 1},
         SW(128),
         {{64, 64}}},
        {"tile-2d-narrow-128",
         tile_2d,
         TYPE(FLOAT16),
         2,
         {200, 100},
         {16, 40},
         {1, 1},
         SW(128),
         {{32, 8}}},
        {"tile-2d-narrow-64",
         tile_2d,
         TYPE(FLOAT16),
         2,
         {200, 100},
         {8, 40},
         {1, 1},
         SW(64),
         {{32, 8}}},
        {"tile-3d",
         tile_3d,
         TYPE(UINT8),
         3,
         {64, 20, 30},
         {32, 7, 9},
         {1, 1, 1},
         UNSWIZZLED,
         {{48, 15, -4}}},
        {"tile-3d-steps",
         tile_3d,
         TYPE(FLOAT32),
         3,
         {64, 20, 30},
         {16, 8, 9},
         {1, 2, 3},
         UNSWIZZLED,
         {{8, 15, 3}}},
        {"tile-4d",
         tile_4d,
         TYPE(BFLOAT16),
         4,
         {32, 10, 12, 5},
         {32, 6, 4, 2},
         {1, 1, 1, 1},
         SW(64),
         {{0, -2, 10, 4}}},
        {"tile-5d",
         tile_5d,
         TYPE(INT32),
         5,
         {16, 6, 5, 4, 3},
         {8, 3, 3, 3, 2},
         {1, 1, 1, 1, 1},
         UNSWIZZLED,
         {{12, -1, 3, 2, 2}}},
        {"tile-nan-f16", tile_2d, TYPE(FLOAT16), 2, {200, 100}, {64, 40}, {1, 1}, NANS, {{-8, 70}}},
        {"tile-nan-bf16",
         tile_2d,
         TYPE(BFLOAT16),
         2,
         {200, 100},
         {64, 40},
         {1, 1},
         NANS,
         {{-8, 70}}},
        {"tile-nan-f32", tile_2d, TYPE(FLOAT32), 2, {200, 100}, {32, 40}, {1, 1}, NANS, {{-8, 70}}},
        {"tile-tf32", tile_2d, TYPE(TFLOAT32), 2, {200, 100}, {32, 40}, {1, 1}, SW(128), {{8, 7}}},
        {"tile-f32-ftz",
         tile_2d,
         TYPE(FLOAT32_FTZ),
         2,
         {200, 100},
         {32, 40},
         {1, 1},
         SW(128),
         {{8, 7}}},
        {"tile-tf32-ftz",
         tile_2d,
         TYPE(TFLOAT32_FTZ),
         2,
         {200, 100},
         {32, 40},
         {1, 1},
         SW(128),
         {{8, 7}}},
        {"tile-f64", tile_2d, TYPE(FLOAT64), 2, {100, 100}, {16, 40}, {1, 1}, SW(128), {{8, 7}}},
    };
    for (const Tile &t : TILES) {
        if (!wanted(t.name)) continue;
        CUtensorMap map = tile_map(t, tensor);
        uint32_t bytes = SIZE[t.type] * t.box[0];
        for (cuuint32_t i = 1; i < t.rank; i++)
            bytes *= (t.box[i] + t.step[i] - 1) / t.step[i];
        check(cudaFuncSetAttribute(t.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE),
              t.name);
        t.kernel<<<1, 128, IMAGE>>>(map, t.where, bytes, y);
        tell(t.name, y, IMAGE / 4);
    }
    // Past the end is left out; a coordinate below 0 is an illegal instruction.
    static const Tile STORES[] = {
        {"store",
         nullptr,
         TYPE(FLOAT16),
         3,
         {64, 20, 30},
         {32, 7, 9},
         {1, 1, 1},
         SW(64),
         {{32, 3, 4}}},
        {"store-plain",
         nullptr,
         TYPE(FLOAT16),
         3,
         {64, 20, 30},
         {32, 7, 9},
         {1, 1, 1},
         UNSWIZZLED,
         {{32, 3, 4}}},
        {"store-end",
         nullptr,
         TYPE(FLOAT16),
         3,
         {64, 20, 30},
         {32, 7, 9},
         {1, 1, 1},
         SW(64),
         {{40, 15, 28}}},
        {"store-narrow",
         nullptr,
         TYPE(FLOAT16),
         3,
         {64, 20, 30},
         {16, 7, 9},
         {1, 1, 1},
         SW(64),
         {{16, 3, 4}}},
    };
    for (const Tile &t : STORES) {
        if (!wanted(t.name)) continue;
        CUtensorMap map = tile_map(t, y);
        cudaMemset(y, 0x33, 131072);
        check(cudaFuncSetAttribute(store_3d, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE),
              t.name);
        store_3d<<<1, 128, IMAGE>>>(map, t.where);
        tell(t.name, y, 131072 / 4);
    }
}

struct Pixels {
    const char *name;
    Load *kernel;
    cuuint32_t rank;
    cuuint64_t dims[5];
    int lower[3], upper[3];
    cuuint32_t channels, pixels, step[5];
    CUtensorMapSwizzle swizzle;
    Where where;
};

static void columns()
{
    static const Pixels PIXELS[] = {
        {"pixels-3d",
         pixels_3d,
         3,
         {64, 20, 6},
         {-1},
         {-1},
         32,
         40,
         {1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_64B,
         {{32, -1, 1}, {2}}},
        {"pixels-4d",
         pixels_4d,
         4,
         {64, 14, 12, 5},
         {-1, -1},
         {-1, -1},
         64,
         100,
         {1, 1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_128B,
         {{0, 5, 9, 1}, {0, 0}}},
        {"pixels-4d-tap",
         pixels_4d,
         4,
         {64, 14, 12, 5},
         {-1, -1},
         {-1, -1},
         64,
         100,
         {1, 1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_128B,
         {{0, 5, 9, 1}, {2, 1}}},
        {"pixels-4d-stride",
         pixels_4d,
         4,
         {64, 15, 13, 5},
         {-1, -1},
         {-1, -1},
         32,
         64,
         {1, 2, 2, 1},
         CU_TENSOR_MAP_SWIZZLE_64B,
         {{32, 3, -1, 0}, {1, 2}}},
        {"pixels-4d-end",
         pixels_4d,
         4,
         {64, 14, 12, 3},
         {-2, -2},
         {-2, -2},
         16,
         128,
         {1, 1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_NONE,
         {{56, 9, 8, 2}, {4, 3}}},
        {"pixels-4d-steps3",
         pixels_4d,
         4,
         {64, 16, 14, 4},
         {-1, 0},
         {0, -2},
         64,
         64,
         {1, 3, 2, 1},
         CU_TENSOR_MAP_SWIZZLE_128B,
         {{0, -1, 2, 1}, {1, 1}}},
        {"pixels-5d",
         pixels_5d,
         5,
         {32, 8, 7, 6, 3},
         {-1, -1, -1},
         {-1, -1, -1},
         32,
         90,
         {1, 1, 1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_64B,
         {{0, 2, 3, 4, 0}, {1, 0, 2}}},
    };
    for (const Pixels &p : PIXELS) {
        if (!wanted(p.name)) continue;
        CUtensorMap map;
        cuuint64_t strides[4], bytes = p.dims[0] * 2;
        for (cuuint32_t i = 0; i + 1 < p.rank; i++)
            strides[i] = bytes, bytes *= p.dims[i + 1];
        CUresult status =
            im2col(&map, TYPE(FLOAT16), p.rank, tensor, p.dims, strides, p.lower, p.upper,
                   p.channels, p.pixels, p.step, CU_TENSOR_MAP_INTERLEAVE_NONE, p.swizzle,
                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (status) {
            printf("%s: no map, %d\n", p.name, (int)status);
            continue;
        }
        check(cudaFuncSetAttribute(p.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE),
              p.name);
        p.kernel<<<1, 128, IMAGE>>>(map, p.where, p.channels * 2 * p.pixels, y);
        tell(p.name, y, IMAGE / 4);
    }
}

#endif
