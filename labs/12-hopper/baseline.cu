/* Lab 12, step by step: the same product of 128 filters x 256 pixels a block with wgmma, and the
 * operands brought in five ways.  `#define STEP n` above, or change the line below.
 *
 *   1  every thread loads and stores its share of both tiles
 *   2  the filters' tile comes by TMA
 *   3  the pixels' tile, too, through an im2col map
 *   4  four stages: copies run three tiles ahead
 *   5  a warp of its own asks for the copies, so nobody waits for all
 *
 * From step 2 on C must be a multiple of 4. */
#include <convlab/conv.h>
#include <cuda.h>
#include <stdint.h>

#ifndef STEP
#define STEP 1
#endif

enum {
    ROW = 128, /* bytes of a row of a tile: DEPTH channels of a filter or of a pixel */
    DEPTH = ROW / sizeof(float),
    STEP_BYTES = 32, /* of a row, that one wgmma takes */
    FILTERS = 128,
    PIXELS = 256,
    WARP = 32,
    CONSUMERS = 256, /* two warpgroups: 64 filters each */
    SUMS = FILTERS * PIXELS / CONSUMERS,
    THREADS = STEP == 5 ? CONSUMERS + WARP : CONSUMERS,
    STAGES = STEP >= 4 ? 4 : 1,
    FILTER_BYTES = FILTERS * ROW,
    STAGE_BYTES = (FILTERS + PIXELS) * ROW,
    ALIGNED = 1024, /* eight rows, after which the order of pieces repeats */
    SHARED_BYTES = STAGES * STAGE_BYTES + ALIGNED
};

/* ---- Hopper's instructions ------------------------------------------------------------------- */

__device__ unsigned place(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* A phase of an mbarrier ends when `count` have arrived and all announced bytes are there. */
__device__ void barrier_init(uint64_t *barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(barrier)), "r"(count));
}

/* Arrives, and announces `bytes` that copies will bring. */
__device__ void barrier_expect(uint64_t *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ void barrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(barrier)) : "memory");
}

/* Waits for the end of a phase; phases are told apart by their parity, 0 for the first. */
__device__ void barrier_wait(uint64_t *barrier, int parity)
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

/* A box of the map, from channel c of tap rs of filter k on. */
__device__ void copy_filters(void *to, const CUtensorMap *map, int c, int rs, int k,
                             uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(place(to)),
                 "l"(map), "r"(c), "r"(rs), "r"(k), "r"(place(barrier))
                 : "memory");
}

/* A column of the map: tap (r, s) of as many pixels as the map says, the first of them with its tap
 * (0, 0) at (h, w) of image n; DEPTH channels from c on. */
__device__ void copy_pixels(void *to, const CUtensorMap *map, int c, int w, int h, int n, int s,
                            int r, uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(place(to)),
        "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(place(barrier)), "h"((short)s), "h"((short)r)
        : "memory");
}

/* What wgmma is told of a tile: where it begins, in 16 bytes; that eight rows take 1024 bytes; that
 * the pieces of a row are swizzled over 128 bytes.  (PTX ISA, "Matrix Descriptor Format".) */
__device__ uint64_t descriptor(const void *tile)
{
    return (uint64_t)(place(tile) >> 4) | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

#define TEN(tens)                                                                                  \
    "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens        \
    "6, %" #tens "7, %" #tens "8, %" #tens "9, "
#define FOUR(i)    "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

/* sum += filters * pixels, 64 x 256 of them, over 32 bytes of each row.  The four warps of a
 * warpgroup do this together, and go on before it is done.  With warp = 0 .. 3 of the four
 *
 *     sum[4*j + 0 .. 1]  filter warp*16 + lane/4,     pixels j*8 + lane%4*2 and the next
 *     sum[4*j + 2 .. 3]  filter warp*16 + lane/4 + 8, the same pixels
 *
 * (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8".) */
__device__ void multiply(float (&sum)[128], uint64_t filters, uint64_t pixels)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" TEN() TEN(1) TEN(2) TEN(3)
                     TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(
                         11) "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, 1, 1, 1;"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80),
                   SIXTEEN(96), SIXTEEN(112)
                 : "l"(filters), "l"(pixels));
}

/* Before the first product: registers that were written are there for it. */
__device__ void products_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ void products_end()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most `groups` groups of products are under way. */
template <int groups> __device__ void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

/* ---- where the operands come from ------------------------------------------------------------ */

/* The chunks of a sum: DEPTH channels of a tap, channels before columns before rows. */
struct Chunk {
    int c, s, r;
};

__device__ void chunk_advance(const ConvProblem &p, Chunk &chunk)
{
    if ((chunk.c += DEPTH) < p.C) return;
    chunk.c = 0;
    if (++chunk.s < p.S) return;
    chunk.s = 0;
    chunk.r++;
}

/* Output pixel j, its tap (0, 0). */
struct Pixel {
    int n, h, w;
};

__device__ Pixel pixel_of(const ConvProblem &p, int j)
{
    return {j / (p.P * p.Q), j / p.Q % p.P * p.stride_h - p.pad_top,
            j % p.Q * p.stride_w - p.pad_left};
}

/* Where byte `byte` of a row of a tile lies: its pieces of 16 bytes are swizzled. */
__device__ float *swizzled(unsigned char *tile, int row, int byte)
{
    return (float *)(tile + row * ROW + (byte ^ row % 8 * 16));
}

/* Thread t of the consumers loads channel t%DEPTH of every EVERY-th row. */
__device__ void load_filters(const ConvProblem &p, const float *w, const Chunk &chunk, int k0,
                             unsigned char *tile)
{
    const int c = chunk.c + threadIdx.x % DEPTH;
    for (int row = threadIdx.x / DEPTH; row < FILTERS; row += CONSUMERS / DEPTH) {
        const size_t tap = ((size_t)(k0 + row) * p.R + chunk.r) * p.S + chunk.s;
        bool exists = k0 + row < p.K && c < p.C;
        *swizzled(tile, row, threadIdx.x % DEPTH * 4) = exists ? w[tap * p.C + c] : 0.0f;
    }
}

__device__ void load_pixels(const ConvProblem &p, const float *x, const Chunk &chunk, int j0,
                            unsigned char *tile)
{
    const int c = chunk.c + threadIdx.x % DEPTH;
    for (int row = threadIdx.x / DEPTH; row < PIXELS; row += CONSUMERS / DEPTH) {
        const Pixel pixel = pixel_of(p, j0 + row);
        const int h = pixel.h + chunk.r, w = pixel.w + chunk.s;
        bool exists = pixel.n < p.N && h >= 0 && h < p.H && w >= 0 && w < p.W && c < p.C;
        *swizzled(tile, row, threadIdx.x % DEPTH * 4) =
            exists ? x[(((size_t)pixel.n * p.H + h) * p.W + w) * p.C + c] : 0.0f;
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Block (bx, by) owns 256 pixels from bx*256 and 128 filters from by*128, each of its two
 * warpgroups 64 of the filters. */
__global__ void __launch_bounds__(THREADS, 1)
    step_kernel(const ConvProblem p, const float *__restrict__ w, const float *__restrict__ x,
                const __grid_constant__ CUtensorMap w_map,
                const __grid_constant__ CUtensorMap x_map, float *__restrict__ y)
{
    extern __shared__ unsigned char shared[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    unsigned char *tiles = shared + (ALIGNED - place(shared) % ALIGNED) % ALIGNED;
    const int t = threadIdx.x, k0 = blockIdx.y * FILTERS, j0 = blockIdx.x * PIXELS;
    const int chunks = p.R * p.S * ((p.C + DEPTH - 1) / DEPTH);
    if (t == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    const Pixel first = pixel_of(p, j0);
    Chunk next = {0, 0, 0}; /* that is to be brought */
    float sum[SUMS] = {};
#if STEP >= 2
    /* One thread asks for the copies of a stage. */
    auto bring = [&](int stage) {
        unsigned char *filters = tiles + stage * STAGE_BYTES;
        barrier_expect(&full[stage], STEP == 2 ? FILTER_BYTES : STAGE_BYTES);
        copy_filters(filters, &w_map, next.c, next.r * p.S + next.s, k0, &full[stage]);
        if (STEP >= 3)
            copy_pixels(filters + FILTER_BYTES, &x_map, next.c, first.w, first.h, first.n, next.s,
                        next.r, &full[stage]);
        chunk_advance(p, next);
    };
#endif

#if STEP == 5
    if (t >= CONSUMERS) { /* the producer */
        for (int i = 0; t == CONSUMERS && i < chunks; i++) {
            barrier_wait(&empty[i % STAGES], i / STAGES % 2 ^ 1);
            bring(i % STAGES);
        }
        return;
    }
#elif STEP == 4
    for (int i = 0; t == 0 && i < STAGES - 1 && i < chunks; i++)
        bring(i);
#endif
    for (int i = 0; i < chunks; i++) {
        const int stage = i % STAGES;
        unsigned char *filters = tiles + stage * STAGE_BYTES, *pixels = filters + FILTER_BYTES;
#if STEP == 1
        load_filters(p, w, next, k0, filters);
        load_pixels(p, x, next, j0, pixels);
        chunk_advance(p, next);
#elif STEP == 2
        load_pixels(p, x, next, j0, pixels);
        if (t == 0)
            bring(stage);
        else
            chunk_advance(p, next);
#elif STEP == 3
        if (t == 0) bring(stage);
#elif STEP == 4
        if (t == 0 && i + STAGES - 1 < chunks) bring((i + STAGES - 1) % STAGES);
#endif
        if (STEP <= 2) { /* what threads stored is there for wgmma, which reads by itself */
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
        }
        if (STEP >= 2) barrier_wait(&full[stage], i / STAGES % 2);
        products_begin();
#pragma unroll
        for (int step = 0; step < ROW; step += STEP_BYTES)
            multiply(sum, descriptor(filters + t / 128 * 64 * ROW + step),
                     descriptor(pixels + step));
        products_end();
        products_wait<0>();
        if (STEP == 5)
            barrier_arrive(&empty[stage]);
        else
            __syncthreads(); /* nobody reads the stage any more */
    }

    const int k = k0 + t / WARP * 16 + t % WARP / 4, j = j0 + t % 4 * 2;
#pragma unroll
    for (int i = 0; i < SUMS; i++) {
        const int my_k = k + i / 2 % 2 * 8, my_j = j + i / 4 * 8 + i % 2;
        if (my_k < p.K && my_j < p.N * p.P * p.Q) y[(size_t)my_j * p.K + my_k] = sum[i];
    }
}

/* ---- the maps -------------------------------------------------------------------------------- */

/* The driver's function of that name, for a program that is not linked with the driver. */
template <typename Function> static Function *driver_function(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    return (Function *)function;
}

/* w as C x taps x K; a box is DEPTH channels of one tap of `filters` filters. */
static void map_filters(const ConvProblem *p, const float *w, int filters, CUtensorMap *map)
{
    const cuuint64_t tap = p->C * sizeof(float), taps = (cuuint64_t)p->R * p->S;
    const cuuint64_t size[] = {(cuuint64_t)p->C, taps, (cuuint64_t)p->K};
    const cuuint64_t stride[] = {tap, taps * tap};
    const cuuint32_t box[] = {DEPTH, 1, (cuuint32_t)filters}, every[] = {1, 1, 1};
    auto encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    encode(map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 3, (void *)w, size, stride, box, every,
           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
           CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* x as C x W x H x N; a column is DEPTH channels of `pixels` output pixels' taps, which run along
 * w, then h, then n.  The corners say where tap (0, 0) may be: from `lower` on, up to `upper`
 * beyond the last pixel. */
static void map_pixels(const ConvProblem *p, const float *x, int pixels, CUtensorMap *map)
{
    const cuuint64_t pixel = p->C * sizeof(float), row = p->W * pixel, image = p->H * row;
    const cuuint64_t size[] = {(cuuint64_t)p->C, (cuuint64_t)p->W, (cuuint64_t)p->H,
                               (cuuint64_t)p->N};
    const cuuint64_t stride[] = {pixel, row, image};
    const int lower[] = {-p->pad_left, -p->pad_top};
    const int upper[] = {p->pad_right - (p->S - 1), p->pad_bottom - (p->R - 1)};
    const cuuint32_t every[] = {1, (cuuint32_t)p->stride_w, (cuuint32_t)p->stride_h, 1};
    auto encode = driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    encode(map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, (void *)x, size, stride, lower, upper, DEPTH,
           pixels, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
           CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    if (STEP >= 2 && p->C % 4) return; /* a copy moves no less than 16 bytes */
    const dim3 grid((p->N * p->P * p->Q + PIXELS - 1) / PIXELS, (p->K + FILTERS - 1) / FILTERS);
    CUtensorMap w_map = {}, x_map = {};
    if (STEP >= 2) map_filters(p, w, FILTERS, &w_map);
    if (STEP >= 3) map_pixels(p, x, PIXELS, &x_map);
    cudaFuncSetAttribute(step_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    step_kernel<<<grid, THREADS, SHARED_BYTES, stream>>>(*p, w, x, w_map, x_map, y);
}
