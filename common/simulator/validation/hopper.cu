/* hopper.cu - kernels that use Hopper's own units, one property each: mbarriers, bulk and tensor
 * copies, products of warpgroups, clusters, launches that overlap.
 *
 * Those of a family that are held out were written and simulated before any was measured.  Whatever
 * the kernels read, they leave sums behind that depend on it. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/simulator/validation/entries.h"

enum { WARP = 32, GROUP = 128, ROW = 128 /* bytes of a row that is swizzled */ };

static float *source, *target; /* 8 M floats each */

/* ---- mbarriers, copies, clusters ------------------------------------------------------------- */

__device__ static uint32_t place(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

__device__ static void barrier_init(uint64_t *barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(barrier)), "r"(count));
}

__device__ static void barriers_show()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ static void barrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(barrier)) : "memory");
}

__device__ static void barrier_arrive_at(uint64_t *barrier, int rank)
{
    asm volatile("{.reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(place(barrier)),
                 "r"(rank)
                 : "memory");
}

__device__ static void barrier_expect(uint64_t *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ static void barrier_wait(uint64_t *barrier, int parity)
{
    int over;
    do
        asm volatile("{.reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.b32 %0, 1, 0, over;}"
                     : "=r"(over)
                     : "r"(place(barrier)), "r"(parity)
                     : "memory");
    while (!over);
}

__device__ static void bulk_load(void *to, const void *from, int bytes, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(place(to)),
                 "l"(from), "r"(bytes), "r"(place(barrier))
                 : "memory");
}

__device__ static void bulk_store(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(place(from)), "r"(bytes)
                 : "memory");
}

__device__ static void bulk_add(float *to, const void *from, int bytes)
{
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
        "r"(place(from)), "r"(bytes)
        : "memory");
}

/* Ends a group of stores; waits until at most `LEFT` groups have yet to read shared memory. */
template <int LEFT> __device__ static void stores_wait()
{
    asm volatile("cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group.read %0;" ::"n"(LEFT)
                 : "memory");
}

__device__ static void async_sees_writes()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ static int cluster_rank()
{
    int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ static void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::
                     : "memory");
}

__device__ static uint32_t place_at(const void *shared, int rank)
{
    uint32_t remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(place(shared)), "r"(rank));
    return remote;
}

/* Dynamic shared memory from a multiple of 1024 on, where the order of a swizzled row repeats. */
extern __shared__ unsigned char dynamic[];
__device__ static unsigned char *aligned_shared()
{
    return dynamic + (1024 - place(dynamic) % 1024) % 1024;
}

/* Values that no memory brings, neither zeros nor NaNs of any type. */
__device__ static void shared_fill(unsigned char *shared, int bytes)
{
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        ((uint32_t *)shared)[i] = (i * 2654435761u & 0x3f3f3f3f) | 0x20202020;
    async_sees_writes();
    __syncthreads();
}

/* A kernel that may have more dynamic shared memory than 48 KB. */
template <class Kernel> static Kernel *roomy(Kernel *kernel)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);
    return kernel;
}

/* ---- producers and consumers at mbarriers ---------------------------------------------------- */

/* Warp 0 writes a word for each lane, the others read it; STAGES words are under way. */
template <int STAGES> __global__ void ping_pong_kernel(const float *x, float *y, int rounds)
{
    __shared__ float word[STAGES][WARP];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, readers = blockDim.x / WARP - 1;
    float sum = x[blockIdx.x * WARP + lane];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++)
            barrier_init(&full[s], WARP), barrier_init(&empty[s], readers);
    __syncthreads();
    for (int i = 0, stage = 0, parity = 0; i < rounds; i++) {
        if (warp == 0) {
            barrier_wait(&empty[stage], parity ^ 1);
            word[stage][lane] = sum + i;
            barrier_arrive(&full[stage]);
        } else {
            barrier_wait(&full[stage], parity);
            sum += word[stage][lane];
            __syncwarp();
            if (lane == 0) barrier_arrive(&empty[stage]);
        }
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void ping_pong()
{
    ENTER(FIT, "ping-pong", "ping-pong-1", ping_pong_kernel<1><<<SMS, 64>>>(source, target, 128));
    ENTER(FIT, "ping-pong", "ping-pong-4", ping_pong_kernel<4><<<SMS, 64>>>(source, target, 128));
    ENTER(HELD_OUT, "ping-pong", "ping-pong-2-crowd",
          ping_pong_kernel<2><<<SMS, 288>>>(source, target, 128));
    ENTER(HELD_OUT, "ping-pong", "ping-pong-3-blocks",
          ping_pong_kernel<3><<<SMS * 4, 64>>>(source, target, 128));
}

/* ---- copies of so many bytes in a row -------------------------------------------------------- */

/* Block b copies pieces b, b + blocks, ... of the first `span`, DEPTH at a time, and adds them. */
template <int BYTES, int DEPTH>
__global__ void bulk_kernel(const unsigned char *x, float *y, int pieces, int span)
{
    __shared__ uint64_t full[DEPTH];
    unsigned char *stages = aligned_shared();
    if (threadIdx.x == 0)
        for (int s = 0; s < DEPTH; s++)
            barrier_init(&full[s], 1);
    barriers_show();
    __syncthreads();
    auto ask = [&](int i) {
        barrier_expect(&full[i % DEPTH], BYTES);
        bulk_load(stages + i % DEPTH * BYTES,
                  x + (size_t)((i * gridDim.x + blockIdx.x) % span) * BYTES, BYTES,
                  &full[i % DEPTH]);
    };
    if (threadIdx.x == 0)
        for (int i = 0; i < DEPTH; i++)
            ask(i);
    float sum = 0;
    for (int i = 0; i < pieces; i++) {
        const float *stage = (const float *)(stages + i % DEPTH * BYTES);
        barrier_wait(&full[i % DEPTH], i / DEPTH % 2);
        for (int j = threadIdx.x; j < BYTES / 4; j += blockDim.x)
            sum += stage[j];
        __syncthreads();
        if (threadIdx.x == 0 && i + DEPTH < pieces) ask(i + DEPTH);
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Block b stores pieces b, b + blocks, ..., two at a time, or adds them to what is there. */
template <int BYTES, bool ADDS>
__global__ void bulk_store_kernel(unsigned char *y, int pieces, int span)
{
    unsigned char *stage = aligned_shared();
    shared_fill(stage, BYTES);
    if (threadIdx.x) return;
    for (int i = 0; i < pieces; i++) {
        unsigned char *to = y + (size_t)((i * gridDim.x + blockIdx.x) % span) * BYTES;
        if (ADDS)
            bulk_add((float *)to, stage, BYTES);
        else
            bulk_store(to, stage, BYTES);
        stores_wait<1>();
    }
    stores_wait<0>();
}

static void bulk()
{
#define X ((const unsigned char *)source)
#define Y ((unsigned char *)target)
    roomy(bulk_kernel<16384, 4>), roomy(bulk_kernel<8192, 8>);
    ENTER(FIT, "bulk", "bulk-1k-alone",
          bulk_kernel<1024, 1><<<SMS, 128, 2048>>>(X, target, 64, 64));
    ENTER(FIT, "bulk", "bulk-4k-4",
          bulk_kernel<4096, 4><<<SMS, 128, 17 * 1024>>>(X, target, 48, 8192));
    ENTER(FIT, "bulk", "bulk-16k-4",
          bulk_kernel<16384, 4><<<SMS, 256, 66 * 1024>>>(X, target, 14, 2048));
    ENTER(FIT, "bulk", "bulk-256-8",
          bulk_kernel<256, 8><<<SMS, 64, 4096>>>(X, target, 128, 1 << 17));
    ENTER(HELD_OUT, "bulk", "bulk-512-2",
          bulk_kernel<512, 2><<<SMS, 128, 2048>>>(X, target, 96, 1 << 16));
    ENTER(HELD_OUT, "bulk", "bulk-2k-2-blocks",
          bulk_kernel<2048, 2><<<SMS * 4, 128, 5 * 1024>>>(X, target, 24, 1 << 14));
    ENTER(HELD_OUT, "bulk", "bulk-8k-8",
          bulk_kernel<8192, 8><<<SMS, 256, 66 * 1024>>>(X, target, 24, 4096));
    ENTER(HELD_OUT, "bulk", "bulk-8k-8-again",
          bulk_kernel<8192, 8><<<SMS, 256, 66 * 1024>>>(X, target, 40, 256));
    ENTER(FIT, "bulk-store", "bulk-store-4k",
          bulk_store_kernel<4096, false><<<SMS, 128, 8192>>>(Y, 32, 8192));
    ENTER(FIT, "bulk-store", "bulk-add-4k",
          bulk_store_kernel<4096, true><<<SMS, 128, 8192>>>(Y, 32, 8192));
    ENTER(FIT, "bulk-store", "bulk-store-512",
          bulk_store_kernel<512, false><<<SMS, 128, 2048>>>(Y, 96, 1 << 16));
    ENTER(FIT, "bulk-store", "bulk-store-2k",
          bulk_store_kernel<2048, false><<<SMS, 128, 4096>>>(Y, 48, 1 << 14));
    ENTER(HELD_OUT, "bulk-store", "bulk-add-512",
          bulk_store_kernel<512, true><<<SMS, 128, 2048>>>(Y, 64, 1 << 16));
    ENTER(HELD_OUT, "bulk-store", "bulk-store-16k",
          bulk_store_kernel<16384, false><<<SMS, 256, 18 * 1024>>>(Y, 12, 2048));
    ENTER(HELD_OUT, "bulk-store", "bulk-store-1k",
          bulk_store_kernel<1024, false><<<SMS, 128, 2048>>>(Y, 64, 1 << 15));
    ENTER(HELD_OUT, "bulk-store", "bulk-add-2k",
          bulk_store_kernel<2048, true><<<SMS, 128, 4096>>>(Y, 48, 1 << 14));
#undef X
#undef Y
}

/* ---- copies of boxes ------------------------------------------------------------------------- */

/* A tensor of floats in boxes: how many there are along each dimension, and how large they are. */
struct Boxes {
    int count[4], size[4], bytes;
};

enum Form { TILE_2D, TILE_4D, PIXELS_4D };

__device__ static void box_corner(const Boxes &boxes, int i, int at[4])
{
    for (int d = 0; d < 4; d++) {
        at[d] = i % boxes.count[d] * boxes.size[d];
        i /= boxes.count[d];
    }
}

/* Box i; of pixels the tap in the middle of 3 x 3. */
template <int FORM>
__device__ static void box_load(void *to, const CUtensorMap *map, const int at[4],
                                uint64_t *barrier)
{
    if (FORM == TILE_2D)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(place(to)),
                     "l"(map), "r"(at[0]), "r"(at[1]), "r"(place(barrier))
                     : "memory");
    if (FORM == TILE_4D)
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(place(to)),
                     "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(place(barrier))
                     : "memory");
    if (FORM == PIXELS_4D)
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
                     ".mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %7};" ::"r"(place(to)),
                     "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(place(barrier)),
                     "h"((unsigned short)1)
                     : "memory");
}

/* Block b copies boxes b, b + blocks, ..., DEPTH at a time, and adds them up. */
template <int FORM, int DEPTH>
__global__ void boxes_kernel(const __grid_constant__ CUtensorMap map,
                             const __grid_constant__ Boxes boxes, float *y, int rounds)
{
    __shared__ uint64_t full[DEPTH];
    unsigned char *stages = aligned_shared();
    if (threadIdx.x == 0)
        for (int s = 0; s < DEPTH; s++)
            barrier_init(&full[s], 1);
    barriers_show();
    __syncthreads();
    auto ask = [&](int i) {
        int at[4];
        box_corner(boxes, i * gridDim.x + blockIdx.x, at);
        if (FORM == PIXELS_4D) at[1] -= 1, at[2] -= 1;
        barrier_expect(&full[i % DEPTH], boxes.bytes);
        box_load<FORM>(stages + i % DEPTH * boxes.bytes, &map, at, &full[i % DEPTH]);
    };
    if (threadIdx.x == 0)
        for (int i = 0; i < DEPTH; i++)
            ask(i);
    float sum = 0;
    for (int i = 0; i < rounds; i++) {
        const float *stage = (const float *)(stages + i % DEPTH * boxes.bytes);
        barrier_wait(&full[i % DEPTH], i / DEPTH % 2);
        for (int j = threadIdx.x; j < boxes.bytes / 4; j += blockDim.x)
            sum += stage[j];
        __syncthreads();
        if (threadIdx.x == 0 && i + DEPTH < rounds) ask(i + DEPTH);
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Block b stores one box at places b, b + blocks, ..., two at a time. */
template <int FORM>
__global__ void boxes_store_kernel(const __grid_constant__ CUtensorMap map,
                                   const __grid_constant__ Boxes boxes, int rounds)
{
    unsigned char *stage = aligned_shared();
    shared_fill(stage, boxes.bytes);
    if (threadIdx.x) return;
    for (int i = 0; i < rounds; i++) {
        int at[4];
        box_corner(boxes, i * gridDim.x + blockIdx.x, at);
        if (FORM == TILE_2D)
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], "
                         "[%1];" ::"l"(&map),
                         "r"(place(stage)), "r"(at[0]), "r"(at[1])
                         : "memory");
        else
            asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group "
                         "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
                         "r"(place(stage)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                         : "memory");
        stores_wait<1>();
    }
    stores_wait<0>();
}

/* One box for all blocks of a cluster: each asks for its part, for all; a stage is asked for again
 * when all have read it. */
template <int BLOCKS, int BYTES, int DEPTH>
__global__ void __cluster_dims__(BLOCKS, 1, 1)
    multicast_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ Boxes boxes,
                     float *y, int rounds)
{
    __shared__ uint64_t full[DEPTH], empty[DEPTH];
    unsigned char *stages = aligned_shared();
    const int rank = cluster_rank(), cluster = blockIdx.x / BLOCKS, clusters = gridDim.x / BLOCKS;
    if (threadIdx.x == 0)
        for (int s = 0; s < DEPTH; s++)
            barrier_init(&full[s], 1), barrier_init(&empty[s], BLOCKS);
    barriers_show();
    cluster_sync();
    auto ask = [&](int i) {
        int at[4], stage = i % DEPTH;
        box_corner(boxes, (i * clusters + cluster) * BLOCKS + rank, at);
        barrier_expect(&full[stage], BYTES * BLOCKS);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
                         place(stages + (stage * BLOCKS + rank) * BYTES)),
                     "l"(&map), "r"(at[0]), "r"(at[1]), "r"(place(&full[stage])),
                     "h"((unsigned short)((1 << BLOCKS) - 1))
                     : "memory");
    };
    if (threadIdx.x == 0)
        for (int i = 0; i < DEPTH; i++)
            ask(i);
    float sum = 0;
    for (int i = 0; i < rounds; i++) {
        const int stage = i % DEPTH, parity = i / DEPTH % 2;
        const float *piece = (const float *)(stages + stage * BLOCKS * BYTES);
        barrier_wait(&full[stage], parity);
        for (int j = threadIdx.x; j < BYTES * BLOCKS / 4; j += blockDim.x)
            sum += piece[j];
        __syncthreads();
        if (threadIdx.x < BLOCKS) barrier_arrive_at(&empty[stage], threadIdx.x);
        if (threadIdx.x == 0 && i + DEPTH < rounds) {
            barrier_wait(&empty[stage], parity);
            ask(i + DEPTH);
        }
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    cluster_sync();
}

static void *driver_function(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    return function;
}

/* A matrix of `rows` rows of `bytes` bytes, in boxes of `box_rows` rows of `box_bytes`. */
static void matrix_map(CUtensorMap *map, CUtensorMapDataType type, int size, void *matrix,
                       int bytes, int rows, int box_bytes, int box_rows, CUtensorMapSwizzle swizzle)
{
    auto encode = (decltype(cuTensorMapEncodeTiled) *)driver_function("cuTensorMapEncodeTiled");
    const cuuint64_t dims[] = {(cuuint64_t)(bytes / size), (cuuint64_t)rows},
                     stride[] = {(cuuint64_t)bytes};
    const cuuint32_t box[] = {(cuuint32_t)(box_bytes / size), (cuuint32_t)box_rows},
                     step[] = {1, 1};
    if (encode(map, type, 2, matrix, dims, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
               swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        fprintf(stderr, "no map of %d x %d bytes\n", rows, bytes), exit(1);
}

/* A plane of floats, `rows` of `columns`, and its boxes. */
struct Plane {
    CUtensorMap map;
    Boxes boxes;
};

static void plane_make(Plane *p, float *matrix, int columns, int rows, int box_columns,
                       int box_rows, CUtensorMapSwizzle swizzle)
{
    p->boxes = {{columns / box_columns, rows / box_rows, 1, 1},
                {box_columns, box_rows, 1, 1},
                box_columns * box_rows * 4};
    matrix_map(&p->map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, matrix, columns * 4, rows,
               box_columns * 4, box_rows, swizzle);
}

/* Images of 64 channels, 56 x 56 pixels, 32 of them: as tiles of 16 channels of 8 x 7 pixels of
 * two; as columns of `pixels` pixels of 32 channels, `apart` from each other. */
static const cuuint64_t IMAGES[] = {64, 56, 56, 32},
                        IMAGES_STRIDE[] = {256, 256 * 56, 256 * 56 * 56};

static void images_tile(Plane *p, float *x)
{
    auto encode = (decltype(cuTensorMapEncodeTiled) *)driver_function("cuTensorMapEncodeTiled");
    const cuuint32_t box[] = {16, 8, 7, 2}, step[] = {1, 1, 1, 1};
    p->boxes = {{4, 7, 8, 16}, {16, 8, 7, 2}, 16 * 8 * 7 * 2 * 4};
    if (encode(&p->map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, x, IMAGES, IMAGES_STRIDE, box, step,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        fprintf(stderr, "no map of images\n"), exit(1);
}

static void images_line_up(Plane *p, float *x, unsigned pixels, unsigned apart)
{
    auto encode = (decltype(cuTensorMapEncodeIm2col) *)driver_function("cuTensorMapEncodeIm2col");
    const int lower[] = {-1, -1}, upper[] = {-1, -1};
    const cuuint32_t step[] = {1, apart, apart, 1};
    p->boxes = {{2, 1, 28, 32}, {32, 0, 2, 1}, (int)(32 * pixels * 4)};
    if (encode(&p->map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, x, IMAGES, IMAGES_STRIDE, lower, upper,
               32, pixels, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        fprintf(stderr, "no map of columns\n"), exit(1);
}

static Plane swizzled, plain, narrow_4, narrow_8, narrow_16, wide, stored, stored_narrow, tiled,
    stored_tiled, columns, columns_apart, parts_2, parts_4;

static void boxes()
{
    const CUtensorMapSwizzle NONE = CU_TENSOR_MAP_SWIZZLE_NONE, SW = CU_TENSOR_MAP_SWIZZLE_128B;
    plane_make(&swizzled, source, 2048, 4096, 32, 64, SW);
    plane_make(&plain, source, 4096, 2048, 64, 32, NONE);
    plane_make(&wide, source, 4096, 2048, 256, 16, NONE);
    plane_make(&narrow_4, source, 2048, 4096, 4, 128, NONE);
    plane_make(&narrow_8, source, 2048, 4096, 8, 128, NONE);
    plane_make(&narrow_16, source, 2048, 4096, 16, 128, NONE);
    plane_make(&stored, target, 2048, 4096, 32, 64, SW);
    plane_make(&stored_narrow, target, 2048, 4096, 8, 128, NONE);
    images_tile(&tiled, source);
    images_tile(&stored_tiled, target);
    images_line_up(&columns, source, 64, 1);
    images_line_up(&columns_apart, source, 128, 2);
    plane_make(&parts_2, source, 2048, 4096, 32, 64, SW);
    plane_make(&parts_4, source, 2048, 4096, 32, 32, SW);
#define LOADS(FORM, DEPTH, p, threads, rounds)                                                     \
    roomy(boxes_kernel<FORM, DEPTH>)<<<SMS, threads, 1024 + DEPTH *(p).boxes.bytes>>>(             \
        (p).map, (p).boxes, target, rounds)
#define STORES(FORM, p, rounds)                                                                    \
    boxes_store_kernel<FORM><<<SMS, 128, 1024 + (p).boxes.bytes>>>((p).map, (p).boxes, rounds)
#define SHARED_BY(BLOCKS, BYTES, p, blocks, rounds)                                                \
    roomy(multicast_kernel<BLOCKS, BYTES, 3>)<<<blocks, 128, 1024 + 3 * BLOCKS * BYTES>>>(         \
        (p).map, (p).boxes, target, rounds)
    ENTER(FIT, "tile", "tile-swizzled", LOADS(TILE_2D, 4, swizzled, 128, 24));
    ENTER(FIT, "tile", "tile-narrow-16B", LOADS(TILE_2D, 4, narrow_4, 128, 48));
    ENTER(FIT, "tile", "tile-narrow-64B", LOADS(TILE_2D, 4, narrow_16, 128, 24));
    ENTER(HELD_OUT, "tile", "tile-plain", LOADS(TILE_2D, 2, plain, 128, 24));
    ENTER(HELD_OUT, "tile", "tile-wide", LOADS(TILE_2D, 4, wide, 256, 16));
    ENTER(HELD_OUT, "tile", "tile-narrow-32B", LOADS(TILE_2D, 4, narrow_8, 128, 32));
    ENTER(HELD_OUT, "tile", "tile-4d", LOADS(TILE_4D, 4, tiled, 128, 24));
    ENTER(FIT, "tile-store", "tile-store-swizzled", STORES(TILE_2D, stored, 24));
    ENTER(HELD_OUT, "tile-store", "tile-store-narrow", STORES(TILE_2D, stored_narrow, 24));
    ENTER(HELD_OUT, "tile-store", "tile-store-4d", STORES(TILE_4D, stored_tiled, 24));
    ENTER(FIT, "im2col", "im2col-64", LOADS(PIXELS_4D, 4, columns, 128, 13));
    ENTER(HELD_OUT, "im2col", "im2col-128-apart", LOADS(PIXELS_4D, 2, columns_apart, 128, 13));
    ENTER(FIT, "multicast", "multicast-2", SHARED_BY(2, 8192, parts_2, SMS, 24));
    ENTER(HELD_OUT, "multicast", "multicast-4", SHARED_BY(4, 4096, parts_4, SMS, 24));
    ENTER(FIT, "multicast", "multicast-4-fits", SHARED_BY(4, 4096, parts_4, 128, 24));
    ENTER(HELD_OUT, "multicast", "multicast-2-few", SHARED_BY(2, 8192, parts_2, 64, 24));
#undef LOADS
#undef STORES
#undef SHARED_BY
}

/* ---- products of warpgroups ------------------------------------------------------------------ */

#define EIGHT(C, i)                                                                                \
    "+" C(d[i]), "+" C(d[i + 1]), "+" C(d[i + 2]), "+" C(d[i + 3]), "+" C(d[i + 4]),               \
        "+" C(d[i + 5]), "+" C(d[i + 6]), "+" C(d[i + 7])
#define SUMS_64(C)  EIGHT(C, 0), EIGHT(C, 8), EIGHT(C, 16), EIGHT(C, 24)
#define SUMS_128(C) SUMS_64(C), EIGHT(C, 32), EIGHT(C, 40), EIGHT(C, 48), EIGHT(C, 56)
#define SUMS_256(C)                                                                                \
    SUMS_128(C), EIGHT(C, 64), EIGHT(C, 72), EIGHT(C, 80), EIGHT(C, 88), EIGHT(C, 96),             \
        EIGHT(C, 104), EIGHT(C, 112), EIGHT(C, 120)
#define LIST_64                                                                                    \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "   \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LIST_128                                                                                   \
    LIST_64 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "   \
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LIST_256                                                                                   \
    LIST_128 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "  \
             "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "    \
             "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "    \
             "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "      \
             "%123, %124, %125, %126, %127"
#define SHARED_64     "%32, %33, 1"
#define SHARED_128    "%64, %65, 1"
#define SHARED_256    "%128, %129, 1"
#define REGISTERS_64  "{%32, %33, %34, %35}, %36, 1"
#define REGISTERS_128 "{%64, %65, %66, %67}, %68, 1"
#define REGISTERS_256 "{%128, %129, %130, %131}, %132, 1"

/* A product of 64 rows, 32 bytes deep, and N columns: `SUM`s of class C. */
#define PRODUCT_OF(NAME, SUM, C, N, DEEP, TYPES, SCALES, SHARED_TAIL, REGISTERS_TAIL)              \
    struct NAME##_##N {                                                                            \
        typedef SUM Sum;                                                                           \
        enum { COLUMNS = N };                                                                      \
        __device__ static void of_shared(Sum (&d)[N / 2], uint64_t a, uint64_t b)                  \
        {                                                                                          \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N DEEP TYPES " {" LIST_##N           \
                         "}, " SHARED_##N SCALES SHARED_TAIL ";"                                   \
                         : SUMS_##N(C)                                                             \
                         : "l"(a), "l"(b));                                                        \
        }                                                                                          \
        __device__ static void of_registers(Sum (&d)[N / 2], const uint32_t (&a)[4], uint64_t b)   \
        {                                                                                          \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N DEEP TYPES " {" LIST_##N           \
                         "}, " REGISTERS_##N SCALES REGISTERS_TAIL ";"                             \
                         : SUMS_##N(C)                                                             \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                    \
        }                                                                                          \
    };
#define HALF(N) PRODUCT_OF(Half, float, "f", N, "k16", ".f32.f16.f16", ", 1, 1", ", 0, 0", ", 0")
#define BRAIN(N)                                                                                   \
    PRODUCT_OF(Brain, float, "f", N, "k16", ".f32.bf16.bf16", ", 1, 1", ", 0, 0", ", 0")
#define TF32(N)  PRODUCT_OF(Tf32, float, "f", N, "k8", ".f32.tf32.tf32", ", 1, 1", "", "")
#define E4M3(N)  PRODUCT_OF(E4m3, float, "f", N, "k32", ".f32.e4m3.e4m3", ", 1, 1", "", "")
#define E5M2(N)  PRODUCT_OF(E5m2, float, "f", N, "k32", ".f32.e5m2.e5m2", ", 1, 1", "", "")
#define BYTES(N) PRODUCT_OF(Bytes, int, "r", N, "k32", ".s32.s8.s8", "", "", "")
HALF(64)
HALF(128)
HALF(256)
BRAIN(64)
BRAIN(128)
BRAIN(256)
TF32(64)
TF32(128)
TF32(256)
E4M3(64)
E4M3(128)
E4M3(256)
E5M2(128)
BYTES(64)
BYTES(128)
BYTES(256)

/* Rows of 128 swizzled bytes, eight of them a block. */
__device__ static uint64_t descriptor(const void *rows)
{
    return (uint64_t)(place(rows) >> 4) | (uint64_t)1 << 16 | (uint64_t)(8 * ROW >> 4) << 32 |
           (uint64_t)1 << 62;
}

__device__ static void products_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ static void products_end()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int LEFT> __device__ static void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

/* No register is read before. */
__device__ static void sum_settles(float &sum)
{
    asm volatile("" : "+f"(sum)::"memory");
}

__device__ static void sum_settles(int &sum)
{
    asm volatile("" : "+r"(sum)::"memory");
}

template <class Sum, int COUNT> __device__ static Sum sum_of(const Sum (&d)[COUNT])
{
    Sum sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += d[i];
    return sum;
}

/* Each warpgroup multiplies 64 rows of its own by the same columns, `rounds` times four slices;
 * LEFT groups of four may be under way. */
template <class Product, bool REGISTERS, int LEFT>
__global__ void products_kernel(float *y, int rounds)
{
    unsigned char *factors = aligned_shared();
    shared_fill(factors, (blockDim.x / 2 + Product::COLUMNS) * ROW);
    const unsigned char *columns = factors,
                        *rows = factors + Product::COLUMNS * ROW + threadIdx.x / GROUP * 64 * ROW;
    typename Product::Sum d[Product::COLUMNS / 2] = {};
    const uint32_t a[4] = {threadIdx.x, threadIdx.x * 3, threadIdx.x * 5, threadIdx.x * 7};
    for (int i = 0; i < rounds; i++) {
        products_begin();
#pragma unroll
        for (int slice = 0; slice < ROW; slice += 32)
            if (REGISTERS)
                Product::of_registers(d, a, descriptor(columns + slice));
            else
                Product::of_shared(d, descriptor(rows + slice), descriptor(columns + slice));
        products_end();
        products_wait<LEFT>();
    }
    products_wait<0>();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(d);
}

static void products()
{
#define MULTIPLY(PRODUCT, REGISTERS, LEFT, blocks, groups, rounds)                                 \
    roomy(products_kernel<PRODUCT, REGISTERS, LEFT>)<<<blocks, (groups)*GROUP, 66 * 1024>>>(       \
        target, rounds)
    ENTER(FIT, "products", "half-128", MULTIPLY(Half_128, false, 1, 8, 2, 64));
    ENTER(FIT, "products", "tf32-256", MULTIPLY(Tf32_256, false, 1, 8, 2, 32));
    ENTER(FIT, "products", "bytes-registers-128", MULTIPLY(Bytes_128, true, 1, 8, 2, 64));
    ENTER(FIT, "products", "brain-64-alone", MULTIPLY(Brain_64, false, 0, 8, 1, 64));
    ENTER(FIT, "products", "half-registers-64", MULTIPLY(Half_64, true, 1, 8, 2, 64));
    ENTER(FIT, "products", "e4m3-128-alone", MULTIPLY(E4m3_128, false, 0, 8, 1, 64));
    ENTER(HELD_OUT, "products", "half-registers-256", MULTIPLY(Half_256, true, 1, 8, 2, 32));
    ENTER(HELD_OUT, "products", "brain-256-all", MULTIPLY(Brain_256, false, 1, SMS, 2, 16));
    ENTER(HELD_OUT, "products", "tf32-64", MULTIPLY(Tf32_64, false, 1, 8, 2, 64));
    ENTER(HELD_OUT, "products", "tf32-registers-128", MULTIPLY(Tf32_128, true, 0, 8, 2, 64));
    ENTER(HELD_OUT, "products", "e4m3-256", MULTIPLY(E4m3_256, false, 1, 8, 2, 32));
    ENTER(HELD_OUT, "products", "e5m2-registers-128", MULTIPLY(E5m2_128, true, 1, 8, 1, 64));
    ENTER(HELD_OUT, "products", "bytes-64", MULTIPLY(Bytes_64, false, 1, 8, 2, 64));
    ENTER(HELD_OUT, "products", "half-64-crowd", MULTIPLY(Half_64, false, 1, 8, 4, 48));
#undef MULTIPLY
}

/* ---- products of what copies bring ----------------------------------------------------------- */

enum { STAGES = 4, GEMM_ROWS = 128, CONSUMERS = 2 * GROUP };

/* What a block has of A * transposed B: tiles of 128 rows and COLUMNS columns, blockIdx.x,
 * blockIdx.x + blocks, ...; `chunks` times 128 bytes of k each. */
struct Gemm {
    int across, tiles, chunks, columns;
};

struct Turn {
    int stage, parity;
    __device__ void advance()
    {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
};

template <class Product>
__device__ static void produce(const Gemm &g, const CUtensorMap *a, const CUtensorMap *b,
                               unsigned char *stages, uint64_t *full, uint64_t *empty, int deep)
{
    enum { BYTES = (GEMM_ROWS + Product::COLUMNS) * ROW };
    Turn turn = {0, 0};
    for (int tile = blockIdx.x; tile < g.tiles; tile += gridDim.x)
        for (int i = 0; i < g.chunks; i++, turn.advance()) {
            unsigned char *stage = stages + turn.stage * BYTES;
            const int at_a[] = {i * deep, tile / g.across * GEMM_ROWS, 0, 0},
                      at_b[] = {i * deep, tile % g.across * Product::COLUMNS, 0, 0};
            barrier_wait(&empty[turn.stage], turn.parity ^ 1);
            barrier_expect(&full[turn.stage], BYTES);
            box_load<TILE_2D>(stage, a, at_a, &full[turn.stage]);
            box_load<TILE_2D>(stage + GEMM_ROWS * ROW, b, at_b, &full[turn.stage]);
        }
}

template <class Product>
__device__ static void consume(const Gemm &g, const unsigned char *stages, uint64_t *full,
                               uint64_t *empty, float *__restrict__ y)
{
    enum { BYTES = (GEMM_ROWS + Product::COLUMNS) * ROW };
    const int group = threadIdx.x / GROUP, warp = threadIdx.x % GROUP / WARP,
              lane = threadIdx.x % WARP;
    Turn turn = {0, 0};
    for (int tile = blockIdx.x; tile < g.tiles; tile += gridDim.x) {
        typename Product::Sum d[Product::COLUMNS / 2] = {};
        int before = 0;
        for (int i = 0; i < g.chunks; i++, turn.advance()) {
            const unsigned char *rows = stages + turn.stage * BYTES + group * 64 * ROW,
                                *columns = stages + turn.stage * BYTES + GEMM_ROWS * ROW;
            barrier_wait(&full[turn.stage], turn.parity);
            products_begin();
#pragma unroll
            for (int slice = 0; slice < ROW; slice += 32)
                Product::of_shared(d, descriptor(rows + slice), descriptor(columns + slice));
            products_end();
            products_wait<1>();
            if (lane == 0 && i) barrier_arrive(&empty[before]);
            before = turn.stage;
        }
        products_wait<0>();
#pragma unroll
        for (int i = 0; i < Product::COLUMNS / 2; i++)
            sum_settles(d[i]);
        if (lane == 0) barrier_arrive(&empty[before]);
        const int row = tile / g.across * GEMM_ROWS + group * 64 + warp * 16 + lane / 4,
                  column = tile % g.across * Product::COLUMNS + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < Product::COLUMNS / 2; i += 2)
            *(float2 *)&y[(row + i / 2 % 2 * 8) * g.columns + column + i / 4 * 8] =
                make_float2(d[i], d[i + 1]);
    }
}

/* Two warpgroups multiply what one thread of the third asks for; where REGISTERS, that one hands
 * its registers on. */
template <class Product, bool REGISTERS>
__global__ void __launch_bounds__(CONSUMERS + GROUP, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                float *__restrict__ y, const Gemm g, int deep)
{
    __shared__ uint64_t full[STAGES], empty[STAGES];
    unsigned char *stages = aligned_shared();
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++)
            barrier_init(&full[s], 1), barrier_init(&empty[s], CONSUMERS / WARP);
    barriers_show();
    __syncthreads();
    if (threadIdx.x >= CONSUMERS) {
        if (REGISTERS) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == CONSUMERS) produce<Product>(g, &a, &b, stages, full, empty, deep);
    } else {
        if (REGISTERS) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume<Product>(g, stages, full, empty, y);
    }
}

/* A product of matrices that lie in `source`: rows x columns sums, `depth` bytes of k. */
struct Matrices {
    CUtensorMap a, b;
    Gemm gemm;
    int deep;
};

template <class Product>
static void matrices_make(Matrices *m, CUtensorMapDataType type, int size, int rows, int columns,
                          int depth)
{
    const CUtensorMapSwizzle SW = CU_TENSOR_MAP_SWIZZLE_128B;
    const int wide = Product::COLUMNS;
    matrix_map(&m->a, type, size, source, depth, rows, ROW, GEMM_ROWS, SW);
    matrix_map(&m->b, type, size, source + 4 * MB, depth, columns, ROW, wide, SW);
    m->gemm = {columns / wide, columns / wide * (rows / GEMM_ROWS), depth / ROW, columns};
    m->deep = ROW / size;
}

template <class Product, bool REGISTERS> static void gemm(const Matrices &m, int blocks)
{
    const int bytes = 1024 + STAGES * (GEMM_ROWS + Product::COLUMNS) * ROW;
    roomy(gemm_kernel<Product, REGISTERS>)<<<blocks, CONSUMERS + GROUP, bytes>>>(m.a, m.b, target,
                                                                                 m.gemm, m.deep);
}

static Matrices halves, singles, eighths, brains, many_halves, many_bytes;

static void gemms()
{
    matrices_make<Half_128>(&halves, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 1024, 1536, 4096);
    matrices_make<Tf32_128>(&singles, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, 1024, 1024, 4096);
    matrices_make<Brain_256>(&brains, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 1024, 2048, 2048);
    matrices_make<E4m3_256>(&eighths, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 1024, 4096, 1024);
    matrices_make<Half_128>(&many_halves, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 2048, 2048, 1024);
    matrices_make<Bytes_256>(&many_bytes, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 2048, 2560, 1024);
    ENTER(FIT, "gemm", "gemm-half", gemm<Half_128, false>(halves, 96));
    ENTER(HELD_OUT, "gemm", "gemm-tf32", gemm<Tf32_128, false>(singles, 64));
    ENTER(HELD_OUT, "gemm", "gemm-e4m3", gemm<E4m3_256, false>(eighths, 128));
    ENTER(FIT, "registers", "registers-brain", gemm<Brain_256, true>(brains, 64));
    ENTER(HELD_OUT, "registers", "registers-half", gemm<Half_256, true>(brains, 64));
    ENTER(FIT, "persistent", "persistent-half", gemm<Half_128, true>(many_halves, SMS));
    ENTER(HELD_OUT, "persistent", "persistent-bytes", gemm<Bytes_256, true>(many_bytes, SMS));
}

/* ---- clusters -------------------------------------------------------------------------------- */

enum Act { READS, CHASES, ADDS, WRITES };

/* Each thread does something to its neighbours' shared memory: reads, reads where the word before
 * says, adds to, writes. */
template <int BLOCKS, int ACT>
__global__ void __cluster_dims__(BLOCKS, 1, 1) neighbours_kernel(float *y, int rounds)
{
    __shared__ uint32_t word[1024];
    const int rank = cluster_rank();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        word[i] = (i * 5 + 1) % 1024;
    cluster_sync();
    uint32_t sum = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        uint32_t at = ACT == CHASES ? sum : (i * blockDim.x + threadIdx.x) % 1024, value;
        if (ACT == WRITES) at = rank * blockDim.x + threadIdx.x; /* nobody else writes there */
        uint32_t there = place_at(word, (rank + 1 + i % (BLOCKS - 1)) % BLOCKS) + at * 4;
        if (ACT == READS || ACT == CHASES) {
            asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
            sum = ACT == READS ? sum + value : value;
        }
        if (ACT == ADDS)
            asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(there),
                         "r"(sum)
                         : "memory");
        if (ACT == WRITES)
            asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(sum + i) : "memory");
    }
    cluster_sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum + word[threadIdx.x];
}

/* A histogram whose bins lie in all blocks of the cluster. */
template <int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1)
    histogram_kernel(const float *x, float *y, int rounds)
{
    __shared__ uint32_t bin[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        bin[i] = 0;
    cluster_sync();
    const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = 0; i < rounds; i++) {
        uint32_t which = __float_as_uint(x[first + i * step]) * 2654435761u >> 12;
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(
                         place_at(bin, which / 1024 % BLOCKS) + which % 1024 * 4)
                     : "memory");
    }
    cluster_sync();
    y[first] = bin[threadIdx.x];
}

/* Each thread adds up what lies at its own place in all blocks, four words at a time. */
template <int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1) reduction_kernel(float *y, int rounds)
{
    __shared__ float4 part[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        part[i] = make_float4(i, 1, 2, 3);
    cluster_sync();
    float sum = 0;
    for (int i = 0; i < rounds; i++)
        for (int rank = 0; rank < BLOCKS; rank++) {
            uint32_t at = place_at(part, rank) + (i * blockDim.x + threadIdx.x) % 1024 * 16;
            float4 v;
            asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                         : "r"(at)
                         : "memory");
            sum += v.x + v.y + v.z + v.w;
        }
    cluster_sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Blocks in a ring hand words on: from one to the next, while the others wait (AROUND), or each to
 * both neighbours at once, as the edges of tiles.  Each waits at mbarriers of its own, two in
 * turns: a neighbour may be a round ahead. */
template <int BLOCKS, bool AROUND>
__global__ void __cluster_dims__(BLOCKS, 1, 1) ring_kernel(float *y, int rounds)
{
    __shared__ float word[2][2][64];
    __shared__ uint64_t full[2];
    const int rank = cluster_rank(), warps = blockDim.x / WARP, lane = threadIdx.x % WARP,
              next = (rank + 1) % BLOCKS, before = (rank + BLOCKS - 1) % BLOCKS;
    if (threadIdx.x < 2) barrier_init(&full[threadIdx.x], AROUND ? warps : 2 * warps);
    barriers_show();
    cluster_sync();
    float sum = threadIdx.x;
    auto hand = [&](int to, int side, int i) {
        asm volatile(
            "st.shared::cluster.f32 [%0], %1;" ::"r"(place_at(&word[i % 2][side][threadIdx.x], to)),
            "f"(sum)
            : "memory");
        __syncwarp();
        if (lane == 0) barrier_arrive_at(&full[i % 2], to);
    };
    for (int i = 0; i < rounds; i++) {
        if (AROUND) {
            const int waits = rank ? i : i - 1;
            if (waits >= 0)
                barrier_wait(&full[waits % 2], waits / 2 % 2),
                    sum += word[waits % 2][0][threadIdx.x];
            hand(next, 0, i);
        } else {
            hand(next, 0, i), hand(before, 1, i);
            barrier_wait(&full[i % 2], i / 2 % 2);
            sum = 0.5f * (word[i % 2][0][threadIdx.x] + word[i % 2][1][threadIdx.x]);
        }
    }
    cluster_sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1) meetings_kernel(float *y, int rounds)
{
    float sum = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        sum = sum * 0.5f + i;
        cluster_sync();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void clusters()
{
#define C(BLOCKS, ACT, rounds) neighbours_kernel<BLOCKS, ACT><<<128, 256>>>(target, rounds)
    ENTER(FIT, "neighbours", "neighbours-read-2", C(2, READS, 256));
    ENTER(FIT, "neighbours", "neighbours-chase-2", C(2, CHASES, 64));
    ENTER(FIT, "neighbours", "neighbours-add-2", C(2, ADDS, 128));
    ENTER(FIT, "neighbours", "neighbours-write-2", C(2, WRITES, 256));
    ENTER(HELD_OUT, "neighbours", "neighbours-write-4", C(4, WRITES, 256));
    ENTER(HELD_OUT, "neighbours", "neighbours-read-8", C(8, READS, 256));
    ENTER(HELD_OUT, "neighbours", "neighbours-chase-4", C(4, CHASES, 64));
    ENTER(HELD_OUT, "neighbours", "neighbours-add-4", C(4, ADDS, 128));
    ENTER(FIT, "neighbours", "neighbours-read-4", C(4, READS, 192));
    ENTER(FIT, "neighbours", "neighbours-chase-8", C(8, CHASES, 48));
    ENTER(FIT, "neighbours", "neighbours-add-8", C(8, ADDS, 96));
    ENTER(FIT, "neighbours", "neighbours-write-8",
          neighbours_kernel<8, WRITES><<<128, 128>>>(target, 256));
    ENTER(HELD_OUT, "shares", "histogram-2", histogram_kernel<2><<<128, 256>>>(source, target, 64));
    ENTER(HELD_OUT, "shares", "histogram-8", histogram_kernel<8><<<128, 256>>>(source, target, 64));
    ENTER(HELD_OUT, "shares", "reduction-4", reduction_kernel<4><<<128, 256>>>(target, 32));
    ENTER(FIT, "ring", "ring-exchange-2", ring_kernel<2, false><<<128, 64>>>(target, 64));
    ENTER(FIT, "ring", "ring-token-4", ring_kernel<4, true><<<128, 64>>>(target, 16));
    ENTER(HELD_OUT, "ring", "ring-exchange-8", ring_kernel<8, false><<<128, 64>>>(target, 64));
    ENTER(HELD_OUT, "ring", "ring-token-2", ring_kernel<2, true><<<128, 64>>>(target, 32));
    ENTER(FIT, "meetings", "meetings-2", meetings_kernel<2><<<128, 256>>>(target, 64));
    ENTER(HELD_OUT, "meetings", "meetings-8", meetings_kernel<8><<<128, 128>>>(target, 64));
#undef C
}

/* ---- launches that overlap ------------------------------------------------------------------- */

/* One step of a chain: work of its own, then what depends on the launch before. */
template <bool EARLY> __global__ void link_step_kernel(const float *x, float *y, int work)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i;
    if (EARLY) asm volatile("griddepcontrol.launch_dependents;");
    for (int k = 0; k < work; k++)
        sum = sum * 0.5f + 1.0f;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    y[i] = x[i] + sum;
}

/* Half of the work is done before the launch waits, half of it after; the next may begin when the
 * first half is done. */
__global__ void link_halves_kernel(const float *x, float *y, int work)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i;
    for (int k = 0; k < work / 2; k++)
        sum = sum * 0.5f + 1.0f;
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    sum += x[i];
    for (int k = 0; k < work / 2; k++)
        sum = sum * 0.5f + 1.0f;
    y[i] = sum;
}

typedef void LinkKernel(const float *x, float *y, int work);

template <LinkKernel *KERNEL> static void links(int count, int blocks, int work)
{
    cudaLaunchAttribute overlaps = {};
    overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlaps.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = 256;
    config.attrs = &overlaps, config.numAttrs = 1;
    for (int i = 0; i < count; i++)
        cudaLaunchKernelEx(&config, KERNEL, (const float *)target, target, work);
}

static void chains()
{
#define EARLY  link_step_kernel<true>
#define LATE   link_step_kernel<false>
#define HALVES link_halves_kernel
    ENTER(FIT, "chain", "chain-4-late", links<LATE>(4, SMS, 2048));
    ENTER(FIT, "chain", "chain-4-early", links<EARLY>(4, SMS, 2048));
    ENTER(FIT, "chain", "chain-5-halves", links<HALVES>(5, SMS, 2048));
    ENTER(FIT, "chain", "chain-3-early-waves", links<EARLY>(3, SMS * 12, 512));
    ENTER(HELD_OUT, "chain", "chain-8-early", links<EARLY>(8, SMS * 2, 1024));
    ENTER(HELD_OUT, "chain", "chain-6-late", links<LATE>(6, SMS * 4, 512));
    ENTER(HELD_OUT, "chain", "chain-4-halves", links<HALVES>(4, SMS * 4, 1024));
    ENTER(HELD_OUT, "chain", "chain-6-early-small", links<EARLY>(6, 32, 1024));
#undef EARLY
#undef LATE
#undef HALVES
}

/* What every time has in it. */
__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    source = array_make(8 * MB);
    target = array_make(8 * MB);
    ENTER(FIT, "empty", "empty", empty_kernel<<<1, 32>>>());
    ping_pong();
    bulk();
    boxes();
    products();
    gemms();
    clusters();
    chains();
    return measure_close();
}
