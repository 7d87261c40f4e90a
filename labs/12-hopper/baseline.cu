/* baseline.cu - lab 12 in five steps: a block multiplies 128 filters x 256 pixels with wgmma, and
 * the five steps load the operands in different ways.  Step 1 is the baseline.  This file contains
 * the answers of lab 12, so the students' copy does not include it.  To select a step, write
 * `#define STEP n` above this file or change the line below.
 *
 *   1  all threads load and store both tiles
 *   2  TMA copies the tile of the filters
 *   3  TMA also copies the tile of the pixels, through an im2col map
 *   4  four stages: copies run three tiles ahead
 *   5  warp specialisation: a producer warp starts the copies, two warpgroups multiply
 *
 * From step 2 on, C must be a multiple of 4. */
#include <convlab/conv.h>
#include <cuda.h>
#include <stdint.h>

#ifndef STEP
#define STEP 1
#endif

enum {
    ROW = 128, /* bytes per row of a tile: DEPTH channels of a filter or of a pixel */
    DEPTH = ROW / sizeof(float),
    K_STEP = 32, /* bytes of each row that one wgmma multiplies */
    FILTERS = 128,
    PIXELS = 256,
    WARP = 32,
    CONSUMERS = 256, /* two warpgroups: 64 filters each */
    ACCUMULATORS = FILTERS * PIXELS / CONSUMERS,
    THREADS = STEP == 5 ? CONSUMERS + WARP : CONSUMERS,
    STAGES = STEP >= 4 ? 4 : 1,
    FILTER_BYTES = FILTERS * ROW,
    STAGE_BYTES = (FILTERS + PIXELS) * ROW,
    ALIGNMENT = 1024, /* eight rows: the period of the swizzle */
    SHARED_BYTES = STAGES * STAGE_BYTES + ALIGNMENT
};

/* ---- Hopper's instructions ------------------------------------------------------------------- */

__device__ unsigned shared_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* An mbarrier's phase completes after `count` arrivals and all announced bytes. */
__device__ void barrier_init(uint64_t *barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(count));
}

/* Arrives and announces `bytes` of asynchronous copies (expect_tx). */
__device__ void barrier_expect(uint64_t *barrier, int bytes)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

__device__ void barrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

/* Waits until the phase with this parity completes.  The first phase has parity 0. */
__device__ void barrier_wait(uint64_t *barrier, int parity)
{
    int done;
    do
        asm volatile("{.reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.b32 %0, 1, 0, over;}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    while (!done);
}

/* Starts the copy of a box, from channel c, tap rs and filter k on. */
__device__ void copy_filters(void *target, const CUtensorMap *map, int c, int rs, int k,
                             uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(target)),
                 "l"(map), "r"(c), "r"(rs), "r"(k), "r"(shared_address(barrier))
                 : "memory");
}

/* Starts an im2col copy: DEPTH channels from c on, of tap (r, s), for as many pixels as the map
 * defines.  The first pixel has its tap (0, 0) at (h, w) of image n. */
__device__ void copy_pixels(void *target, const CUtensorMap *map, int c, int w, int h, int n, int s,
                            int r, uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(shared_address(target)),
        "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(shared_address(barrier)), "h"((short)s),
        "h"((short)r)
        : "memory");
}

/* Matrix descriptor of a tile: its address and the distance of eight rows, in units of 16 bytes,
 * and the 128-byte swizzle.  (PTX ISA, "Matrix Descriptor Format".) */
__device__ uint64_t descriptor(const void *tile)
{
    return (uint64_t)(shared_address(tile) >> 4) | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

#define TEN(tens)                                                                                  \
    "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens        \
    "6, %" #tens "7, %" #tens "8, %" #tens "9, "
#define FOUR(i)    "+f"(acc[i]), "+f"(acc[i + 1]), "+f"(acc[i + 2]), "+f"(acc[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

/* acc += filters * pixels for 64 filters x 256 pixels, over K_STEP bytes of each row.  The four
 * warps of a warpgroup execute it together, and it completes asynchronously.  Warp 0 .. 3 holds
 *
 *     acc[4*j + 0 .. 1]  filter warp*16 + lane/4,     pixels j*8 + lane%4*2 and the next
 *     acc[4*j + 2 .. 3]  filter warp*16 + lane/4 + 8, the same pixels
 *
 * (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8".) */
__device__ void wgmma(float (&acc)[128], uint64_t filters, uint64_t pixels)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" TEN() TEN(1) TEN(2) TEN(3)
                     TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(
                         11) "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, 1, 1, 1;"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80),
                   SIXTEEN(96), SIXTEEN(112)
                 : "l"(filters), "l"(pixels));
}

/* Orders earlier writes of registers before the following wgmma. */
__device__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most `groups` groups of wgmma are in flight. */
template <int groups> __device__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

/* ---- operands -------------------------------------------------------------------------------- */

/* A chunk: DEPTH channels of one tap.  The order is channels, then s, then r. */
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

/* Position of tap (0, 0) of output pixel j. */
struct Pixel {
    int n, h, w;
};

__device__ Pixel pixel_position(const ConvProblem &p, int j)
{
    return {j / (p.P * p.Q), j / p.Q % p.P * p.stride_h - p.pad_top,
            j % p.Q * p.stride_w - p.pad_left};
}

/* Address of byte `byte` of a row of a tile, with the swizzle of 16-byte units. */
__device__ float *swizzled_address(unsigned char *tile, int row, int byte)
{
    return (float *)(tile + row * ROW + (byte ^ row % 8 * 16));
}

/* Consumer thread t loads channel t%DEPTH of every CONSUMERS/DEPTH-th row. */
__device__ void load_filters(const ConvProblem &p, const float *w, const Chunk &chunk, int k0,
                             unsigned char *tile)
{
    const int c = chunk.c + threadIdx.x % DEPTH;
    for (int row = threadIdx.x / DEPTH; row < FILTERS; row += CONSUMERS / DEPTH) {
        const size_t tap = ((size_t)(k0 + row) * p.R + chunk.r) * p.S + chunk.s;
        bool is_valid = k0 + row < p.K && c < p.C;
        *swizzled_address(tile, row, threadIdx.x % DEPTH * 4) = is_valid ? w[tap * p.C + c] : 0.0f;
    }
}

__device__ void load_pixels(const ConvProblem &p, const float *x, const Chunk &chunk, int pixel0,
                            unsigned char *tile)
{
    const int c = chunk.c + threadIdx.x % DEPTH;
    for (int row = threadIdx.x / DEPTH; row < PIXELS; row += CONSUMERS / DEPTH) {
        const Pixel pixel = pixel_position(p, pixel0 + row);
        const int h = pixel.h + chunk.r, w = pixel.w + chunk.s;
        bool is_valid = pixel.n < p.N && h >= 0 && h < p.H && w >= 0 && w < p.W && c < p.C;
        *swizzled_address(tile, row, threadIdx.x % DEPTH * 4) =
            is_valid ? x[(((size_t)pixel.n * p.H + h) * p.W + w) * p.C + c] : 0.0f;
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Block (bx, by) computes 256 pixels from bx*256 and 128 filters from by*128; each of its two
 * warpgroups has 64 of the filters. */
__global__ void __launch_bounds__(THREADS, 1)
    step_kernel(const ConvProblem p, const float *__restrict__ w, const float *__restrict__ x,
                const __grid_constant__ CUtensorMap w_map,
                const __grid_constant__ CUtensorMap x_map, float *__restrict__ y)
{
    extern __shared__ unsigned char shared[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    unsigned char *tiles = shared + (ALIGNMENT - shared_address(shared) % ALIGNMENT) % ALIGNMENT;
    const int t = threadIdx.x, k0 = blockIdx.y * FILTERS, pixel0 = blockIdx.x * PIXELS;
    const int chunks = p.R * p.S * ((p.C + DEPTH - 1) / DEPTH);
    if (t == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    const Pixel first_pixel = pixel_position(p, pixel0);
    Chunk next_chunk = {0, 0, 0}; /* next chunk to copy */
    float acc[ACCUMULATORS] = {};
#if STEP >= 2
    /* One thread starts the copies of a stage. */
    auto start_copies = [&](int stage) {
        unsigned char *filters = tiles + stage * STAGE_BYTES;
        barrier_expect(&full[stage], STEP == 2 ? FILTER_BYTES : STAGE_BYTES);
        copy_filters(filters, &w_map, next_chunk.c, next_chunk.r * p.S + next_chunk.s, k0,
                     &full[stage]);
        if (STEP >= 3)
            copy_pixels(filters + FILTER_BYTES, &x_map, next_chunk.c, first_pixel.w, first_pixel.h,
                        first_pixel.n, next_chunk.s, next_chunk.r, &full[stage]);
        chunk_advance(p, next_chunk);
    };
#endif

#if STEP == 5
    if (t >= CONSUMERS) { /* the producer */
        for (int i = 0; t == CONSUMERS && i < chunks; i++) {
            barrier_wait(&empty[i % STAGES], i / STAGES % 2 ^ 1);
            start_copies(i % STAGES);
        }
        return;
    }
#elif STEP == 4
    for (int i = 0; t == 0 && i < STAGES - 1 && i < chunks; i++)
        start_copies(i);
#endif
    for (int i = 0; i < chunks; i++) {
        const int stage = i % STAGES;
        unsigned char *filters = tiles + stage * STAGE_BYTES, *pixels = filters + FILTER_BYTES;
#if STEP == 1
        load_filters(p, w, next_chunk, k0, filters);
        load_pixels(p, x, next_chunk, pixel0, pixels);
        chunk_advance(p, next_chunk);
#elif STEP == 2
        load_pixels(p, x, next_chunk, pixel0, pixels);
        if (t == 0)
            start_copies(stage);
        else
            chunk_advance(p, next_chunk);
#elif STEP == 3
        if (t == 0) start_copies(stage);
#elif STEP == 4
        if (t == 0 && i + STAGES - 1 < chunks) start_copies((i + STAGES - 1) % STAGES);
#endif
        if (STEP <= 2) { /* makes the threads' stores visible to wgmma's async proxy */
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
        }
        if (STEP >= 2) barrier_wait(&full[stage], i / STAGES % 2);
        wgmma_fence();
#pragma unroll
        for (int k_step = 0; k_step < ROW; k_step += K_STEP)
            wgmma(acc, descriptor(filters + t / 128 * 64 * ROW + k_step),
                  descriptor(pixels + k_step));
        wgmma_commit();
        wgmma_wait<0>();
        if (STEP == 5)
            barrier_arrive(&empty[stage]);
        else
            __syncthreads(); /* all warps have finished reading the stage */
    }

    const int k = k0 + t / WARP * 16 + t % WARP / 4, j = pixel0 + t % 4 * 2;
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) {
        const int acc_k = k + i / 2 % 2 * 8, acc_pixel = j + i / 4 * 8 + i % 2;
        if (acc_k < p.K && acc_pixel < p.N * p.P * p.Q) y[(size_t)acc_pixel * p.K + acc_k] = acc[i];
    }
}

/* ---- tensor maps ----------------------------------------------------------------------------- */

/* Returns the driver function `name`; the program is not linked with the driver. */
template <typename Function> static Function *driver_function(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    return (Function *)function;
}

/* Tensor map of w, C x taps x K.  A box is DEPTH channels of one tap of `filters` filters. */
static void map_filters(const ConvProblem *p, const float *w, int filters, CUtensorMap *map)
{
    const cuuint64_t tap = p->C * sizeof(float), taps = (cuuint64_t)p->R * p->S;
    const cuuint64_t size[] = {(cuuint64_t)p->C, taps, (cuuint64_t)p->K};
    const cuuint64_t stride[] = {tap, taps * tap};
    const cuuint32_t box[] = {DEPTH, 1, (cuuint32_t)filters}, element_strides[] = {1, 1, 1};
    auto encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    encode(map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 3, (void *)w, size, stride, box, element_strides,
           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
           CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* im2col tensor map of x, C x W x H x N.  A copy has DEPTH channels of one tap of `pixels` output
 * pixels, in the order q, p, n.  The corners limit the position of tap (0, 0): `lower` relative to
 * the first pixel, `upper` relative to the last. */
static void map_pixels(const ConvProblem *p, const float *x, int pixels, CUtensorMap *map)
{
    const cuuint64_t pixel = p->C * sizeof(float), row = p->W * pixel, image = p->H * row;
    const cuuint64_t size[] = {(cuuint64_t)p->C, (cuuint64_t)p->W, (cuuint64_t)p->H,
                               (cuuint64_t)p->N};
    const cuuint64_t stride[] = {pixel, row, image};
    const int lower[] = {-p->pad_left, -p->pad_top};
    const int upper[] = {p->pad_right - (p->S - 1), p->pad_bottom - (p->R - 1)};
    const cuuint32_t element_strides[] = {1, (cuuint32_t)p->stride_w, (cuuint32_t)p->stride_h, 1};
    auto encode = driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    encode(map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, (void *)x, size, stride, lower, upper, DEPTH,
           pixels, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
           CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    if (STEP >= 2 && p->C % 4) return; /* TMA copies units of 16 bytes */
    const dim3 grid((p->N * p->P * p->Q + PIXELS - 1) / PIXELS, (p->K + FILTERS - 1) / FILTERS);
    CUtensorMap w_map = {}, x_map = {};
    if (STEP >= 2) map_filters(p, w, FILTERS, &w_map);
    if (STEP >= 3) map_pixels(p, x, PIXELS, &x_map);
    cudaFuncSetAttribute(step_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    step_kernel<<<grid, THREADS, SHARED_BYTES, stream>>>(*p, w, x, w_map, x_map, y);
}
