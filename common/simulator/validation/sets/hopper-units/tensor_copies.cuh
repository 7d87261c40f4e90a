/* tensor_copies.cuh - tensor copies: tiled and im2col boxes, multicast (part of
 * hopper-units.cu). */

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
    ENTER(FIT, "tensor-copy", "tile-swizzled", LOADS(TILE_2D, 4, swizzled, 128, 24));
    ENTER(FIT, "tensor-copy", "tile-narrow-16B", LOADS(TILE_2D, 4, narrow_4, 128, 48));
    ENTER(FIT, "tensor-copy", "tile-narrow-64B", LOADS(TILE_2D, 4, narrow_16, 128, 24));
    ENTER(REGRESSION, "tensor-copy", "tile-plain", LOADS(TILE_2D, 2, plain, 128, 24));
    ENTER(REGRESSION, "tensor-copy", "tile-wide", LOADS(TILE_2D, 4, wide, 256, 16));
    ENTER(REGRESSION, "tensor-copy", "tile-narrow-32B", LOADS(TILE_2D, 4, narrow_8, 128, 32));
    ENTER(REGRESSION, "tensor-copy", "tile-4d", LOADS(TILE_4D, 4, tiled, 128, 24));
    ENTER(FIT, "tensor-store", "tile-store-swizzled", STORES(TILE_2D, stored, 24));
    ENTER(REGRESSION, "tensor-store", "tile-store-narrow", STORES(TILE_2D, stored_narrow, 24));
    ENTER(REGRESSION, "tensor-store", "tile-store-4d", STORES(TILE_4D, stored_tiled, 24));
    ENTER(FIT, "im2col", "im2col-64", LOADS(PIXELS_4D, 4, columns, 128, 13));
    ENTER(REGRESSION, "im2col", "im2col-128-apart", LOADS(PIXELS_4D, 2, columns_apart, 128, 13));
    ENTER(FIT, "multicast", "multicast-2", SHARED_BY(2, 8192, parts_2, SMS, 24));
    ENTER(REGRESSION, "multicast", "multicast-4", SHARED_BY(4, 4096, parts_4, SMS, 24));
    ENTER(FIT, "multicast", "multicast-4-fits", SHARED_BY(4, 4096, parts_4, 128, 24));
    ENTER(REGRESSION, "multicast", "multicast-2-few", SHARED_BY(2, 8192, parts_2, 64, 24));
#undef LOADS
#undef STORES
#undef SHARED_BY
}
