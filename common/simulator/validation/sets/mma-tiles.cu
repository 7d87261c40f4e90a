/* mma-tiles.cu - matrix products on tensor cores: single instructions in chains of one warp and
 * on the whole GPU, and asynchronously copied tiles.
 *
 * The tiles differ in the number of stages, size, warps, and in the path of the factors out of
 * shared memory. The regression launches were selected before any was measured. */
#include <cuda_pipeline.h>
#include <mma.h>

#include "common/simulator/validation/sets/entries.cuh"

static float *a, *b, *c; /* 8 M floats each */

/* ---- MMA instructions as in machine code ----------------------------------------------------- */

enum Type {
    F16,
    F16_ONLY, /* sums of halves, too */
    BF16,
    TF32,
    TF32_FLAT, /* half as deep */
    E4M3,
    S8,
    S8_SMALL, /* eight rows */
    S4,
    U4,
    B1,
    B1_XOR,
    D884,
    D1684,
    D1688,
    D16816
};

#define MMA "mma.sync.aligned."
/* Registers of the sums, and of both factors. */
#define MMA_442(text, kind, d, a, b)                                                               \
    asm volatile(MMA text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                 \
                 : "+" kind((d)[0]), "+" kind((d)[1]), "+" kind((d)[2]), "+" kind((d)[3])          \
                 : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#define MMA_421(text, kind, d, a, b)                                                               \
    asm volatile(MMA text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                          \
                 : "+" kind((d)[0]), "+" kind((d)[1]), "+" kind((d)[2]), "+" kind((d)[3])          \
                 : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]))
#define MMA_242(text, d, a, b)                                                                     \
    asm volatile(MMA text " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                             \
                 : "+r"((d)[0]), "+r"((d)[1])                                                      \
                 : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#define MMA_211(text, d, a, b)                                                                     \
    asm volatile(MMA text " {%0,%1}, {%2}, {%3}, {%0,%1};"                                         \
                 : "+r"((d)[0]), "+r"((d)[1])                                                      \
                 : "r"((a)[0]), "r"((b)[0]))

template <int TYPE>
__device__ void product(float *f, uint32_t *u, const uint32_t *x, const uint32_t *z)
{
    if (TYPE == F16) MMA_442("m16n8k16.row.col.f32.f16.f16.f32", "f", f, x, z);
    if (TYPE == F16_ONLY) MMA_242("m16n8k16.row.col.f16.f16.f16.f16", u, x, z);
    if (TYPE == BF16) MMA_442("m16n8k16.row.col.f32.bf16.bf16.f32", "f", f, x, z);
    if (TYPE == TF32) MMA_442("m16n8k8.row.col.f32.tf32.tf32.f32", "f", f, x, z);
    if (TYPE == TF32_FLAT) MMA_421("m16n8k4.row.col.f32.tf32.tf32.f32", "f", f, x, z);
    if (TYPE == E4M3) MMA_442("m16n8k32.row.col.f32.e4m3.e4m3.f32", "f", f, x, z);
    if (TYPE == S8) MMA_442("m16n8k32.row.col.s32.s8.s8.s32", "r", u, x, z);
    if (TYPE == S8_SMALL) MMA_211("m8n8k16.row.col.s32.s8.s8.s32", u, x, z);
    if (TYPE == S4) MMA_442("m16n8k64.row.col.s32.s4.s4.s32", "r", u, x, z);
    if (TYPE == U4) MMA_442("m16n8k64.row.col.s32.u4.u4.s32", "r", u, x, z);
    if (TYPE == B1) MMA_442("m16n8k256.row.col.s32.b1.b1.s32.and.popc", "r", u, x, z);
    if (TYPE == B1_XOR) MMA_442("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "r", u, x, z);
}

template <int TYPE> __device__ void product_of_doubles(double *d, const double *x, const double *z)
{
    if (TYPE == D884)
        asm volatile(MMA "m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(d[0]), "+d"(d[1])
                     : "d"(x[0]), "d"(z[0]));
    if (TYPE == D1684)
        asm volatile(MMA "m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
                         "{%0,%1,%2,%3};"
                     : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                     : "d"(x[0]), "d"(x[1]), "d"(z[0]));
    if (TYPE == D1688)
        asm volatile(MMA "m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                         "{%0,%1,%2,%3};"
                     : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                     : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(z[0]), "d"(z[1]));
    if (TYPE == D16816)
        asm volatile(MMA "m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                         "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                     : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                     : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]),
                       "d"(x[7]), "d"(z[0]), "d"(z[1]), "d"(z[2]), "d"(z[3]));
}

/* Each of a chain needs the one before. */
template <int TYPE, int CHAINS>
__global__ void chain_of_products(float *y, uint32_t seed, int steps)
{
    float f[CHAINS][4] = {};
    uint32_t u[CHAINS][4] = {}, x[4], z[2] = {seed, seed ^ threadIdx.x};
    double d[CHAINS][4] = {}, wide[8], other[4], sum = 0;
    for (int i = 0; i < 8; i++)
        x[i % 4] = seed + i % 4 * threadIdx.x, wide[i] = (int)(threadIdx.x ^ i) * 0.01;
    for (int i = 0; i < 4; i++)
        other[i] = (int)(seed % 16 + i) * 0.01;
#pragma unroll 4
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int j = 0; j < CHAINS; j++)
            if (TYPE < D884)
                product<TYPE>(f[j], u[j], x, z);
            else
                product_of_doubles<TYPE>(d[j], wide, other);
    for (int j = 0; j < CHAINS; j++)
        for (int i = 0; i < 4; i++)
            sum += f[j][i] + u[j][i] + d[j][i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)sum;
}

/* Half the warps if an MMA is long, or has many registers. */
template <int TYPE> static void form(MeasureKind kind, const char *alone, const char *full)
{
    const int threads = TYPE == S4 || TYPE == U4 || TYPE == D16816 ? 256 : 512;
    ENTER(kind, "mma-latency", alone, chain_of_products<TYPE, 1><<<1, 32>>>(c, 0x2c002c00, 512));
    ENTER(kind, "mma-throughput", full,
          chain_of_products<TYPE, 4><<<SMS, threads>>>(c, 0x2c002c00, 64));
}

static void forms()
{
#define FORM(set, type, name) form<type>(set, name "-alone", name "-full")
    FORM(FIT, D884, "product-d884");
    FORM(REGRESSION, D1684, "product-d1684");
    FORM(REGRESSION, D1688, "product-d1688");
    FORM(FIT, D16816, "product-d16816");
    FORM(FIT, F16, "product-f16");
    FORM(REGRESSION, F16_ONLY, "product-f16-only");
    FORM(REGRESSION, BF16, "product-bf16");
    FORM(FIT, TF32, "product-tf32");
    FORM(REGRESSION, TF32_FLAT, "product-tf32-flat");
    FORM(FIT, S8, "product-s8");
    FORM(REGRESSION, S8_SMALL, "product-s8-small");
    FORM(FIT, S4, "product-s4");
    FORM(REGRESSION, U4, "product-u4");
    FORM(FIT, B1, "product-b1");
    FORM(REGRESSION, B1_XOR, "product-b1-xor");
}

/* ---- tiles that are copied in the background ------------------------------------------------- */

enum { ROW = 16, PADDED = 20 }; /* words of a tile's row, and of its place in shared memory */

/* A lane's words of 4 x 2 tiles of 8 rows and 4 words. */
template <bool MATRIX> __device__ void square_load(uint32_t *x, const uint32_t *s, bool across)
{
    int lane = threadIdx.x % 32, right = across ? lane / 8 % 2 * 4 : lane / 16 * 4,
        down = across ? lane % 8 + lane / 16 * 8 : lane % 16;
    if (MATRIX) {
        uint32_t from = (uint32_t)__cvta_generic_to_shared(s + down * PADDED + right);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(from));
    } else {
        const uint32_t *own = s + lane / 4 * PADDED + lane % 4;
        x[0] = own[0], x[across ? 2 : 1] = own[8 * PADDED];
        x[across ? 1 : 2] = own[4], x[3] = own[8 * PADDED + 4];
    }
}

/* C = A B' of rows of `depth` words.  A block computes M x N with DOWN x ACROSS warps.  STAGES
 * segments of 64 bytes of each row are loaded or in flight, and the block computes with one. */
template <int TYPE, int M, int N, int DOWN, int ACROSS, int STAGES, bool MATRIX>
__global__ void __launch_bounds__(DOWN *ACROSS * 32)
    tile_product(const uint32_t *A, const uint32_t *B, float *C, int n, int depth)
{
    extern __shared__ uint32_t space[];
    const int threads = DOWN * ACROSS * 32, stage = (M + N) * PADDED, I = M / DOWN / 16,
              J = N / ACROSS / 8;
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wr = warp / ACROSS * (M / DOWN),
        wc = warp % ACROSS * (N / ACROSS);
    A += (size_t)blockIdx.y * M * depth, B += (size_t)blockIdx.x * N * depth;
    auto fetch = [&](int k, uint32_t *to) {
#pragma unroll
        for (int e = t; e < M * 4; e += threads)
            __pipeline_memcpy_async(to + e / 4 * PADDED + e % 4 * 4,
                                    A + (size_t)(e / 4) * depth + k + e % 4 * 4, 16);
#pragma unroll
        for (int e = t; e < N * 4; e += threads)
            __pipeline_memcpy_async(to + (M + e / 4) * PADDED + e % 4 * 4,
                                    B + (size_t)(e / 4) * depth + k + e % 4 * 4, 16);
    };
    float sum[I][J][4] = {};
    uint32_t sums[I][J][4] = {};
    for (int k = 0; k < STAGES - 1; k++) {
        if (k * ROW < depth) fetch(k * ROW, space + k * stage);
        __pipeline_commit();
    }
    for (int k = 0, at = 0; k < depth; k += ROW, at = at == STAGES - 1 ? 0 : at + 1) {
        int next = k + (STAGES - 1) * ROW;
        if (STAGES <= 2) { /* the next one's place is that of the one before */
            if (k > 0) __syncthreads();
            if (next < depth) fetch(next, space + (STAGES == 1 ? 0 : 1 - at) * stage);
            __pipeline_commit();
            __pipeline_wait_prior(STAGES - 1);
            __syncthreads();
        } else {
            __pipeline_wait_prior(STAGES > 2 ? STAGES - 2 : 0);
            __syncthreads();
            if (next < depth) fetch(next, space + (at == 0 ? STAGES - 1 : at - 1) * stage);
            __pipeline_commit();
        }
        const uint32_t *As = space + at * stage, *Bs = As + M * PADDED;
#pragma unroll
        for (int e = 0; e < ROW; e += 8) {
            uint32_t x[I][4], z[J][2];
#pragma unroll
            for (int i = 0; i < I; i++)
                square_load<MATRIX>(x[i], As + (wr + i * 16) * PADDED + e, false);
#pragma unroll
            for (int j = 0; j < J; j += 2)
                square_load<MATRIX>(z[j], Bs + (wc + j * 8) * PADDED + e, true);
#pragma unroll
            for (int i = 0; i < I; i++)
#pragma unroll
                for (int j = 0; j < J; j++)
                    product<TYPE>(sum[i][j], sums[i][j], x[i], z[j]);
        }
    }
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
        for (int j = 0; j < J; j++) {
            float *to = C + (size_t)(blockIdx.y * M + wr + i * 16 + lane / 4) * n + blockIdx.x * N +
                        wc + j * 8 + lane % 4 * 2;
            float2 up = make_float2(sum[i][j][0], sum[i][j][1]),
                   low = make_float2(sum[i][j][2], sum[i][j][3]);
            if (TYPE >= S8) {
                up = make_float2((float)(int)sums[i][j][0], (float)(int)sums[i][j][1]);
                low = make_float2((float)(int)sums[i][j][2], (float)(int)sums[i][j][3]);
            }
            *(float2 *)to = up, *(float2 *)(to + 8 * (size_t)n) = low;
        }
}

template <int TYPE, int M, int N, int DOWN, int ACROSS, int STAGES, bool MATRIX>
static void tile_launch(int rows, int columns, int depth)
{
    auto kernel = tile_product<TYPE, M, N, DOWN, ACROSS, STAGES, MATRIX>;
    int bytes = STAGES * (M + N) * PADDED * 4;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<dim3(columns / N, rows / M), DOWN * ACROSS * 32, bytes>>>((uint32_t *)a, (uint32_t *)b,
                                                                       c, columns, depth);
}

static void tiles()
{
#define TILE(set, name, rows, columns, depth, ...)                                                 \
    ENTER(set, "tiled-gemm", name, (tile_launch<__VA_ARGS__>(rows, columns, depth)))
    TILE(FIT, "tile-128-1", 1024, 1024, 192, F16, 128, 128, 2, 4, 1, true);
    TILE(REGRESSION, "tile-128-2", 2048, 1024, 192, F16, 128, 128, 2, 4, 2, true);
    TILE(FIT, "tile-128-3", 2048, 1024, 192, F16, 128, 128, 2, 4, 3, true);
    TILE(REGRESSION, "tile-128-4", 1024, 1024, 192, F16, 128, 128, 2, 4, 4, true);
    TILE(FIT, "tile-128-plain-2", 2048, 1024, 192, F16, 128, 128, 2, 4, 2, false);
    TILE(REGRESSION, "tile-128-plain-3", 1024, 1024, 192, F16, 128, 128, 2, 4, 3, false);
    TILE(REGRESSION, "tile-64-1", 1024, 1024, 256, F16, 64, 64, 2, 2, 1, true);
    TILE(FIT, "tile-64-2", 1024, 1024, 256, F16, 64, 64, 2, 2, 2, true);
    TILE(REGRESSION, "tile-64-3", 1024, 1024, 256, F16, 64, 64, 2, 2, 3, true);
    TILE(FIT, "tile-64-4", 1024, 1024, 256, F16, 64, 64, 2, 2, 4, true);
    TILE(FIT, "tile-64-plain-1", 1024, 1024, 256, F16, 64, 64, 2, 2, 1, false);
    TILE(REGRESSION, "tile-64-plain-3", 1024, 1024, 256, F16, 64, 64, 2, 2, 3, false);
    TILE(FIT, "tile-64-8-warps-3", 1024, 1024, 256, F16, 64, 64, 2, 4, 3, true);
    TILE(REGRESSION, "tile-64-8-warps-2", 1024, 1024, 256, F16, 64, 64, 2, 4, 2, true);
    TILE(REGRESSION, "tile-128-4-warps-2", 2048, 1024, 192, F16, 128, 128, 2, 2, 2, true);
    TILE(FIT, "tile-128-4-warps-3", 2048, 1024, 192, F16, 128, 128, 2, 2, 3, true);
    TILE(FIT, "tile-128-64-2", 1024, 1024, 256, F16, 128, 64, 2, 2, 2, true);
    TILE(REGRESSION, "tile-128-64-3", 1024, 1024, 256, F16, 128, 64, 2, 2, 3, true);
    TILE(FIT, "tile-one-3", 128, 128, 1024, F16, 128, 128, 2, 4, 3, true);
    TILE(REGRESSION, "tile-one-2", 128, 128, 1024, F16, 128, 128, 2, 4, 2, true);
    TILE(REGRESSION, "tile-one-64-4", 64, 64, 1024, F16, 64, 64, 2, 2, 4, true);
    TILE(FIT, "tile-one-64-1", 64, 64, 1024, F16, 64, 64, 2, 2, 1, true);
    TILE(FIT, "tile-waves-3", 2048, 2048, 128, F16, 128, 128, 2, 4, 3, true);
    TILE(REGRESSION, "tile-waves-64-3", 2048, 2048, 64, F16, 64, 64, 2, 2, 3, true);
    TILE(FIT, "tile-tf32-3", 1024, 1024, 192, TF32, 128, 128, 2, 4, 3, true);
    TILE(REGRESSION, "tile-tf32-64-2", 1024, 1024, 256, TF32, 64, 64, 2, 2, 2, true);
    TILE(REGRESSION, "tile-s8-3", 1024, 1024, 128, S8, 128, 128, 2, 4, 3, true);
    TILE(FIT, "tile-s8-64-2", 1024, 1024, 256, S8, 64, 64, 2, 2, 2, true);
    TILE(REGRESSION, "tile-bf16-plain-2", 1024, 1024, 192, BF16, 128, 128, 2, 4, 2, false);
    TILE(FIT, "tile-e4m3-64-2", 1024, 1024, 64, E4M3, 64, 64, 2, 2, 2, true);
    TILE(REGRESSION, "tile-e4m3-3", 1024, 1024, 64, E4M3, 128, 128, 2, 4, 3, true);
}

/* ---- doubles, and factors that come from global memory --------------------------------------- */

using namespace nvcuda;

/* One tile of 8 x 8 per warp, straight from global memory. */
__global__ void doubles_plain(const double *A, const double *B, double *C, int n)
{
    int warp = threadIdx.x / 32, row = blockIdx.y * 16 + warp / 2 * 8,
        column = blockIdx.x * 16 + warp % 2 * 8;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.0);
    for (int k = 0; k < n; k += 4) {
        wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> z;
        wmma::load_matrix_sync(x, A + (size_t)row * n + k, n);
        wmma::load_matrix_sync(z, B + (size_t)k * n + column, n);
        wmma::mma_sync(sum, x, z, sum);
    }
    wmma::store_matrix_sync(C + (size_t)row * n + column, sum, n, wmma::mem_row_major);
}

/* 64 x 64 a block of eight warps, by tiles of 16 in shared memory. */
template <bool AHEAD>
__global__ void __launch_bounds__(256)
    doubles_shared(const double *A, const double *B, double *C, int n)
{
    __shared__ double As[AHEAD + 1][64][20], Bs[AHEAD + 1][16][68];
    int t = threadIdx.x, warp = t / 32, wr = warp / 2 * 16, wc = warp % 2 * 32;
    auto fetch = [&](int k, int to) {
        for (int e = t; e < 512; e += 256) {
            __pipeline_memcpy_async(&As[to][e / 8][e % 8 * 2],
                                    &A[(size_t)(blockIdx.y * 64 + e / 8) * n + k + e % 8 * 2], 16);
            __pipeline_memcpy_async(&Bs[to][e / 32][e % 32 * 2],
                                    &B[(size_t)(k + e / 32) * n + blockIdx.x * 64 + e % 32 * 2],
                                    16);
        }
        __pipeline_commit();
    };
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum[2][4];
    for (int i = 0; i < 8; i++)
        wmma::fill_fragment(sum[i / 4][i % 4], 0.0);
    if (AHEAD) fetch(0, 0);
    for (int k = 0, at = 0; k < n; k += 16, at ^= AHEAD) {
        if (AHEAD && k + 16 < n)
            fetch(k + 16, 1 - at);
        else if (!AHEAD)
            fetch(k, 0);
        __pipeline_wait_prior(AHEAD && k + 16 < n ? 1 : 0);
        __syncthreads();
        for (int e = 0; e < 16; e += 4) {
            wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> x[2];
            wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> z[4];
            for (int i = 0; i < 2; i++)
                wmma::load_matrix_sync(x[i], &As[at][wr + i * 8][e], 20);
            for (int j = 0; j < 4; j++)
                wmma::load_matrix_sync(z[j], &Bs[at][e][wc + j * 8], 68);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    wmma::mma_sync(sum[i][j], x[i], z[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            wmma::store_matrix_sync(C + (size_t)(blockIdx.y * 64 + wr + i * 8) * n +
                                        blockIdx.x * 64 + wc + j * 8,
                                    sum[i][j], n, wmma::mem_row_major);
}

/* A warp 32 x 16, its factors in registers, straight from global memory; B lies by columns. */
template <int TYPE>
__global__ void doubles_registers(const double *A, const double *B, double *C, int n)
{
    const int deep = TYPE == D16816  ? 16
                     : TYPE == D1688 ? 8
                                     : 4,
              rows = TYPE == D884 ? 8 : 16, I = 32 / rows, each = rows * deep / 32;
    int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4, row = blockIdx.y * 32,
        column = (blockIdx.x * 4 + threadIdx.x / 32) * 16;
    double sum[I][2][4] = {};
    for (int k = 0; k < n; k += deep) {
        double x[I][8], z[2][4];
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int r = 0; r < each; r++) {
                int down = rows == 8 ? 0 : r % 2 * 8, right = rows == 8 ? r : r / 2;
                x[i][r] = A[(size_t)(row + i * rows + group + down) * n + k + place + right * 4];
            }
#pragma unroll
        for (int j = 0; j < 2; j++)
#pragma unroll
            for (int r = 0; r < deep / 4; r++)
                z[j][r] = B[(size_t)(column + j * 8 + group) * n + k + place + r * 4];
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < 2; j++)
                product_of_doubles<TYPE>(sum[i][j], x[i], z[j]);
    }
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
        for (int j = 0; j < 2; j++)
#pragma unroll
            for (int r = 0; r < rows / 8; r++)
                *(double2 *)&C[(size_t)(row + i * rows + group + r * 8) * n + column + j * 8 +
                               place * 2] = make_double2(sum[i][j][r * 2], sum[i][j][r * 2 + 1]);
}

/* A warp 16 x 32 of words, straight from global memory, no tile. */
template <int TYPE>
__global__ void words_plain(const uint32_t *A, const uint32_t *B, float *C, int n, int depth)
{
    int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4, row = blockIdx.y * 16,
        column = (blockIdx.x * 4 + threadIdx.x / 32) * 32;
    float sum[4][4] = {};
    uint32_t sums[4][4] = {};
    for (int k = 0; k < depth; k += 8) {
        uint32_t x[4], z[4][2];
#pragma unroll
        for (int r = 0; r < 4; r++)
            x[r] = A[(size_t)(row + group + r % 2 * 8) * depth + k + place + r / 2 * 4];
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int r = 0; r < 2; r++)
                z[j][r] = B[(size_t)(column + j * 8 + group) * depth + k + place + r * 4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            product<TYPE>(sum[j], sums[j], x, z[j]);
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int r = 0; r < 4; r++)
            C[(size_t)(row + group + r / 2 * 8) * n + column + j * 8 + place * 2 + r % 2] =
                TYPE >= S8 ? (float)(int)sums[j][r] : sum[j][r];
}

static void others()
{
    double *x = (double *)a, *z = (double *)b, *y = (double *)c;
    static double *A, *B, *C;
    A = x, B = z, C = y;
    ENTER(FIT, "double-gemm", "doubles-plain-512",
          doubles_plain<<<dim3(32, 32), 128>>>(A, B, C, 512));
    ENTER(REGRESSION, "double-gemm", "doubles-plain-640",
          doubles_plain<<<dim3(40, 40), 128>>>(A, B, C, 640));
    ENTER(FIT, "double-gemm", "doubles-shared-768",
          doubles_shared<false><<<dim3(12, 12), 256>>>(A, B, C, 768));
    ENTER(REGRESSION, "double-gemm", "doubles-shared-512",
          doubles_shared<false><<<dim3(8, 8), 256>>>(A, B, C, 512));
    ENTER(REGRESSION, "double-gemm", "doubles-ahead-768",
          doubles_shared<true><<<dim3(12, 12), 256>>>(A, B, C, 768));
    ENTER(FIT, "double-gemm", "doubles-ahead-512",
          doubles_shared<true><<<dim3(8, 8), 256>>>(A, B, C, 512));
    ENTER(FIT, "double-gemm", "doubles-registers-884",
          doubles_registers<D884><<<dim3(8, 16), 128>>>(A, B, C, 512));
    ENTER(REGRESSION, "double-gemm", "doubles-registers-1684",
          doubles_registers<D1684><<<dim3(8, 16), 128>>>(A, B, C, 512));
    ENTER(FIT, "double-gemm", "doubles-registers-1688",
          doubles_registers<D1688><<<dim3(8, 16), 128>>>(A, B, C, 512));
    ENTER(REGRESSION, "double-gemm", "doubles-registers-16816",
          doubles_registers<D16816><<<dim3(8, 16), 128>>>(A, B, C, 512));
#define WORDS(type, n, depth)                                                                      \
    (words_plain<type><<<dim3(n / 128, n / 16), 128>>>((uint32_t *)a, (uint32_t *)b, c, n, depth))
    ENTER(FIT, "words", "words-tf32-512", WORDS(TF32, 512, 512));
    ENTER(REGRESSION, "words", "words-tf32-1024", WORDS(TF32, 1024, 512));
    ENTER(FIT, "words", "words-f16-1024", WORDS(F16, 1024, 256));
    ENTER(REGRESSION, "words", "words-bf16-512", WORDS(BF16, 512, 512));
    ENTER(REGRESSION, "words", "words-s8-1024", WORDS(S8, 1024, 256));
}

__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    ENTER(FIT, "empty", "empty", empty_kernel<<<1, 32>>>());
    a = array_make(8 * MB), b = array_make(8 * MB), c = array_make(8 * MB);
    forms();
    tiles();
    others();
    return measure_close();
}
