/* microbenchmarks.cu - small kernels with one property each, which compare the simulator's
 * counts and cycles with a GPU's.
 *
 * Families were assigned to the two kinds before anything was fitted: every third family is a
 * regression family. */
#include <stdint.h>
#include <stdio.h>

#include "common/simulator/validation/measure.h"

enum { MB = 1 << 20, FAR_FLOATS = 32 * MB, SMS = 132 };

static float *source, *target; /* FAR_FLOATS each: more than twice the GPU's L2 in bytes */
static uint32_t *chain;        /* FAR_FLOATS indices */

/* ---- launches ----------------------------------------------------------------------------- */

struct Shape {
    int blocks, threads, shared; /* dynamic bytes */
    int n;                       /* argument of the kernel */
};

/* ---- global memory ------------------------------------------------------------------------ */

__global__ void empty_kernel()
{
}

__global__ void copy_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

__global__ void read_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    if (sum == 12345.0f) y[0] = sum;
}

__global__ void write_kernel(float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (float)i;
}

__global__ void stride_kernel(const float *__restrict__ x, float *__restrict__ y, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[(size_t)i * stride];
}

__global__ void store_stride_kernel(const float *__restrict__ x, float *__restrict__ y, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[(size_t)i * stride] = x[i];
}

__global__ void offset_kernel(const float *__restrict__ x, float *__restrict__ y, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + offset];
}

template <class T> __global__ void vector_kernel(const T *__restrict__ x, T *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}

/* Eight gathers per thread from the first `mask` + 1 floats. */
__global__ void gather_kernel(const float *__restrict__ x, float *__restrict__ y, uint32_t mask)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        at = at * 2654435761u + 12345u;
        sum += x[(at >> 4) & mask];
    }
    y[i] = sum;
}

/* One lane follows the chain. */
__global__ void chase_kernel(const uint32_t *__restrict__ next, uint32_t *__restrict__ y, int steps)
{
    uint32_t at = 0;
    for (int i = 0; i < steps; i++)
        at = next[at];
    y[0] = at;
}

__global__ void chain_kernel(uint32_t *next, uint32_t length, uint32_t step)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) next[i] = (i + step) % length;
}

__global__ void broadcast_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Each warp reads its own row twice as often as it fits the first-level cache. */
__global__ void reuse_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    const float *row = x + (size_t)blockIdx.x * n;
    float sum = 0;
    for (int pass = 0; pass < 4; pass++)
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            sum += row[i] * (float)pass;
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* ---- shared memory ------------------------------------------------------------------------ */

__global__ void bank_kernel(float *__restrict__ y, int stride)
{
    __shared__ float tile[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += blockDim.x)
        tile[i] = (float)i;
    __syncthreads();
    float sum = 0;
    int at = threadIdx.x % 32 * stride % 1024;
#pragma unroll 8
    for (int i = 0; i < 128; i++) {
        sum += tile[at];
        at = (at + 32) & 1023;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__device__ static float sum_of(float2 v)
{
    return v.x + v.y;
}

__device__ static float sum_of(float4 v)
{
    return v.x + v.y + v.z + v.w;
}

template <class T> __global__ void shared_vector_kernel(float *__restrict__ y, int step)
{
    __shared__ T tile[512];
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        tile[i] = {};
    __syncthreads();
    float sum = 0;
    int at = threadIdx.x % 32 * step;
#pragma unroll 8
    for (int i = 0; i < 64; i++) {
        T value = tile[at];
        sum += sum_of(value);
        at = (at + 32) & 511;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void shared_chase_kernel(uint32_t *__restrict__ y, int steps)
{
    __shared__ uint32_t next[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        next[i] = (i + 33) % 1024;
    __syncthreads();
    uint32_t at = threadIdx.x;
    for (int i = 0; i < steps; i++)
        at = next[at];
    y[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

/* ---- arithmetic --------------------------------------------------------------------------- */

template <int CHAINS> __global__ void fma_kernel(float *__restrict__ y, float a, int steps)
{
    float sum[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        sum[c] = (float)(threadIdx.x + c);
#pragma unroll 4
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            sum[c] = sum[c] * a + 0.5f;
    float all = 0;
    for (int c = 0; c < CHAINS; c++)
        all += sum[c];
    y[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

__global__ void integer_kernel(uint32_t *__restrict__ y, uint32_t a, int steps)
{
    uint32_t p = threadIdx.x, q = blockIdx.x;
#pragma unroll 4
    for (int i = 0; i < steps; i++) {
        p = p * a + q;
        q = (q ^ p) + 7u;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = p + q;
}

__global__ void divide_kernel(uint32_t *__restrict__ y, uint32_t a, int steps)
{
    uint32_t sum = 0, value = blockIdx.x * blockDim.x + threadIdx.x + 77777u;
    for (int i = 0; i < steps; i++) {
        sum += value / a + value % (a + 2);
        value += 12345u;
        a += sum & 1;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void double_kernel(double *__restrict__ y, double a, int steps)
{
    double p = threadIdx.x, q = blockIdx.x;
#pragma unroll 4
    for (int i = 0; i < steps; i++) {
        p = p * a + 0.5;
        q = q * a + 0.25;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = p + q;
}

template <int WHICH> __global__ void special_kernel(float *__restrict__ y, float a, int steps)
{
    float p = (float)threadIdx.x + 1.5f;
#pragma unroll 4
    for (int i = 0; i < steps; i++)
        p = WHICH == 0 ? rsqrtf(p) + a : WHICH == 1 ? __expf(p * -0.25f) + a : __sinf(p) + a;
    y[blockIdx.x * blockDim.x + threadIdx.x] = p;
}

__global__ void quotient_kernel(float *__restrict__ y, float a, int steps)
{
    float p = (float)threadIdx.x + 1.5f;
    for (int i = 0; i < steps; i++)
        p = a / p + 1.0f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = p;
}

/* ---- control ------------------------------------------------------------------------------ */

/* `ways` groups of lanes take different branches in the loop. */
__global__ void diverge_kernel(float *__restrict__ y, float a, int ways)
{
    float sum = (float)threadIdx.x;
    int mine = threadIdx.x % ways;
    for (int way = 0; way < 32; way++) {
        if (way % ways != mine) continue;
#pragma unroll 16
        for (int i = 0; i < 16; i++)
            sum = sum * a + (float)way;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void trips_kernel(float *__restrict__ y, float a, int most)
{
    float sum = (float)threadIdx.x;
    int trips = (threadIdx.x * 7 + 3) % most;
    for (int i = 0; i < trips; i++)
        sum = sum * a + 1.0f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void barrier_kernel(float *__restrict__ y, float a, int steps)
{
    float sum = (float)threadIdx.x;
    for (int i = 0; i < steps; i++) {
        sum = sum * a + 1.0f;
        __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* ---- occupancy and waves ------------------------------------------------------------------ */

/* Latency-bound: each load needs the one before it; dynamic shared memory limits the blocks. */
__global__ void latency_kernel(const uint32_t *__restrict__ next, uint32_t *__restrict__ y,
                               uint32_t length, int steps)
{
    extern __shared__ uint32_t space[];
    uint32_t at = (blockIdx.x * blockDim.x + threadIdx.x) * 8u % length;
    for (int i = 0; i < steps; i++)
        at = next[at];
    if (at == 0xffffffffu) space[threadIdx.x] = at;
    y[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

/* ---- whole small programs ------------------------------------------------------------------ */

template <int PITCH>
__global__ void transpose_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    __shared__ float tile[32 * (PITCH ? PITCH : 1)];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (PITCH == 0) {
        for (int i = 0; i < 32; i += 8)
            y[(size_t)column * n + row + i] = x[(size_t)(row + i) * n + column];
        return;
    }
    for (int i = 0; i < 32; i += 8)
        tile[(threadIdx.y + i) * PITCH + threadIdx.x] = x[(size_t)(row + i) * n + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        y[(size_t)(row + i) * n + column] = tile[threadIdx.x * PITCH + threadIdx.y + i];
}

__global__ void reduce_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    __shared__ float part[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
        for (int step = 16; step; step /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (threadIdx.x == 0) y[blockIdx.x] = sum;
    }
}

__global__ void stencil_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
    const float *at = x + (size_t)row * n + column;
    y[(size_t)row * n + column] = at[0] + 0.25f * (at[-1] + at[1] + at[-n] + at[n]);
}

__global__ void gemm_naive_kernel(const float *__restrict__ a, const float *__restrict__ b,
                                  float *__restrict__ c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

template <int TILE>
__global__ void gemm_tiled_kernel(const float *__restrict__ a, const float *__restrict__ b,
                                  float *__restrict__ c, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

/* 64 x 64 outputs per block of 16 x 16 threads, 4 x 4 each in registers. */
__global__ void gemm_registers_kernel(const float *__restrict__ a, const float *__restrict__ b,
                                      float *__restrict__ c, int n)
{
    __shared__ float left[16][64], right[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = t; i < 1024; i += 256) {
            left[i % 16][i / 16] = a[(blockIdx.y * 64 + i / 16) * n + k + i % 16];
            right[i / 64][i % 64] = b[(k + i / 64) * n + blockIdx.x * 64 + i % 64];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
#pragma unroll
            for (int f = 0; f < 4; f++)
#pragma unroll
                for (int g = 0; g < 4; g++)
                    sum[f][g] += left[i][ty * 4 + f] * right[i][tx * 4 + g];
        __syncthreads();
    }
    for (int f = 0; f < 4; f++)
        for (int g = 0; g < 4; g++)
            c[(blockIdx.y * 64 + ty * 4 + f) * n + blockIdx.x * 64 + tx * 4 + g] = sum[f][g];
}

/* An array that is indexed at run time lies in local memory. */
__global__ void local_kernel(float *__restrict__ y, int steps, int salt)
{
    float sum[16];
    for (int i = 0; i < 16; i++)
        sum[i] = (float)(threadIdx.x + i);
#pragma unroll 1
    for (int i = 0; i < steps; i++)
        sum[(i * salt) & 15] += 1.5f * sum[(i + salt) & 15];
    float all = 0;
    for (int i = 0; i < 16; i++)
        all += sum[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

__constant__ float table[1024];

__global__ void constant_kernel(float *__restrict__ y, int step, int n)
{
    float sum = 0;
    int at = threadIdx.x % 32 * step;
    for (int i = 0; i < n; i++)
        sum += table[(at + i) & 1023];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void atomic_kernel(uint32_t *__restrict__ y, uint32_t mask)
{
    atomicAdd(&y[(blockIdx.x * blockDim.x + threadIdx.x) & mask], 1u);
}

__global__ void histogram_kernel(const uint32_t *__restrict__ x, uint32_t *__restrict__ y, int n)
{
    __shared__ uint32_t count[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        count[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&count[(x[i] * 2654435761u) >> 24], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        y[blockIdx.x * 256 + i] = count[i];
}

/* ---- more small programs, all regression launches ------------------------------------------ */

__global__ void scan_kernel(const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(0xffffffffu, v, step);
        if (threadIdx.x % 32 >= step) v += other;
    }
    y[i] = v;
}

/* A row of a matrix times a vector: one warp per row. */
__global__ void gemv_kernel(const float *__restrict__ a, const float *__restrict__ x,
                            float *__restrict__ y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = lane; i < n; i += 32)
        sum += a[(size_t)row * n + i] * x[i];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) y[row] = sum;
}

/* Four independent loads a thread, then four stores. */
__global__ void copy4_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = x[i + k * all];
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[i + k * all] = v[k] * (float)n;
}

__global__ void bitonic_kernel(const uint32_t *__restrict__ x, uint32_t *__restrict__ y)
{
    __shared__ uint32_t value[256];
    value[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x] * 2654435761u;
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            __syncthreads();
            int other = threadIdx.x ^ step;
            uint32_t a = value[threadIdx.x], b = value[other];
            bool up = (threadIdx.x & size) == 0, low = other > threadIdx.x;
            uint32_t least = a < b ? a : b, most = a < b ? b : a;
            __syncthreads();
            value[threadIdx.x] = up == low ? least : most;
        }
    __syncthreads();
    y[blockIdx.x * 256 + threadIdx.x] = value[threadIdx.x];
}

/* Polynomial and integer hash side by side: two pipes. */
__global__ void mixed_kernel(float *__restrict__ y, int steps)
{
    float p = (float)threadIdx.x * 0.001f;
    uint32_t h = threadIdx.x;
#pragma unroll 4
    for (int i = 0; i < steps; i++) {
        p = p * 0.99f + 0.01f;
        h = (h << 5) ^ (h >> 3) ^ 77u;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = p + (float)h;
}

/* 3 x 3 filter, one output per thread, no tile. */
__global__ void filter_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
    float sum = 0;
#pragma unroll
    for (int r = -1; r <= 1; r++)
#pragma unroll
        for (int s = -1; s <= 1; s++)
            sum += x[(size_t)(row + r) * n + column + s] * (float)(r * 3 + s);
    y[(size_t)row * n + column] = sum;
}

/* Exponentials of a row over their sum; one block per row of 1024. */
__global__ void softmax_kernel(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float part[8];
    float v[4], sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = __expf(x[blockIdx.x * 1024 + k * 256 + threadIdx.x]);
        sum += v[k];
    }
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += part[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[blockIdx.x * 1024 + k * 256 + threadIdx.x] = v[k] / sum;
}

/* ---- the table ---------------------------------------------------------------------------- */

#define U(p) ((uint32_t *)(p))

/* Calls measure_entry with a launch of `kernel` over `shape`; `s` is the shape in the arguments. */
#define ENTRY(set, family, name, kernel, grid, block, bytes, count, ...)                           \
    {                                                                                              \
        static Shape shape = {grid, block, bytes, count};                                          \
        measure_entry(                                                                             \
            set, family, name,                                                                     \
            [](void *argument) {                                                                   \
                const Shape s = *(const Shape *)argument;                                          \
                kernel<<<s.blocks, s.threads, s.shared>>>(__VA_ARGS__);                            \
            },                                                                                     \
            &shape);                                                                               \
    }

/* The same for a grid and block of two dimensions: `side` blocks each way of tx x ty threads. */
#define ENTRY_2D(set, family, name, kernel, side, tx, ty, count, ...)                              \
    {                                                                                              \
        static Shape shape = {side, 0, 0, count};                                                  \
        measure_entry(                                                                             \
            set, family, name,                                                                     \
            [](void *argument) {                                                                   \
                const Shape s = *(const Shape *)argument;                                          \
                kernel<<<dim3(s.blocks, s.blocks), dim3(tx, ty)>>>(__VA_ARGS__);                   \
            },                                                                                     \
            &shape);                                                                               \
    }

static void global_memory()
{
    ENTRY(FIT, "empty", "empty-1", empty_kernel, 1, 32, 0, 0);
    ENTRY(FIT, "empty", "empty-full", empty_kernel, SMS * 8, 256, 0, 0);
    ENTRY(FIT, "copy", "copy-1MB", copy_kernel, 1024, 256, 0, MB / 4, source, target, s.n);
    ENTRY(FIT, "copy", "copy-16MB", copy_kernel, 16384, 256, 0, 4 * MB, source, target, s.n);
    ENTRY(FIT, "copy", "copy-48MB", copy_kernel, 49152, 256, 0, 12 * MB, source, target, s.n);
    ENTRY(REGRESSION, "read", "read-4MB", read_kernel, SMS * 8, 256, 0, MB, source, target, s.n);
    ENTRY(REGRESSION, "read", "read-64MB", read_kernel, SMS * 8, 256, 0, 16 * MB, source, target,
          s.n);
    ENTRY(FIT, "write", "write-32MB", write_kernel, 32768, 256, 0, 8 * MB, target, s.n);
    ENTRY(FIT, "stride", "stride-2", stride_kernel, 4096, 256, 0, 2, source, target, s.n);
    ENTRY(FIT, "stride", "stride-4", stride_kernel, 4096, 256, 0, 4, source, target, s.n);
    ENTRY(FIT, "stride", "stride-8", stride_kernel, 4096, 256, 0, 8, source, target, s.n);
    ENTRY(FIT, "stride", "stride-32", stride_kernel, 4096, 256, 0, 32, source, target, s.n);
    ENTRY(REGRESSION, "store-stride", "store-stride-2", store_stride_kernel, 4096, 256, 0, 2,
          source, target, s.n);
    ENTRY(REGRESSION, "store-stride", "store-stride-8", store_stride_kernel, 4096, 256, 0, 8,
          source, target, s.n);
    ENTRY(FIT, "offset", "offset-1", offset_kernel, 8192, 256, 0, 1, source, target, s.n);
    ENTRY(FIT, "offset", "offset-4", offset_kernel, 8192, 256, 0, 4, source, target, s.n);
    ENTRY(REGRESSION, "vector", "float2", vector_kernel<float2>, 8192, 256, 0, 0, (float2 *)source,
          (float2 *)target);
    ENTRY(REGRESSION, "vector", "float4", vector_kernel<float4>, 4096, 256, 0, 0, (float4 *)source,
          (float4 *)target);
    ENTRY(FIT, "gather", "gather-L1", gather_kernel, 1056, 256, 0, 4095, source, target, s.n);
    ENTRY(FIT, "gather", "gather-L2", gather_kernel, 1056, 256, 0, 4 * MB - 1, source, target, s.n);
    ENTRY(FIT, "gather", "gather-DRAM", gather_kernel, 1056, 256, 0, FAR_FLOATS - 1, source, target,
          s.n);
    ENTRY(FIT, "broadcast", "broadcast", broadcast_kernel, 1056, 256, 0, 256, source, target, s.n);
    ENTRY(REGRESSION, "reuse", "reuse-8KB", reuse_kernel, 528, 256, 0, 2048, source, target, s.n);
    ENTRY(REGRESSION, "reuse", "reuse-32KB", reuse_kernel, 528, 256, 0, 8192, source, target, s.n);
}

static void chains()
{
    static const struct {
        MeasureKind kind;
        const char *name;
        uint32_t length, step;
    } CHAIN[] = {{FIT, "chase-L1", 4096, 32},
                 {FIT, "chase-L2", MB, 4099 * 8},
                 {FIT, "chase-DRAM", FAR_FLOATS, 1048583 * 8}};
    for (const auto &c : CHAIN) {
        chain_kernel<<<(c.length + 255) / 256, 256>>>(chain, c.length, c.step);
        measure_entry(
            c.kind, "chase", c.name,
            [](void *) { chase_kernel<<<1, 32>>>(chain, U(target), 2048); }, NULL);
    }
    chain_kernel<<<FAR_FLOATS / 256, 256>>>(chain, FAR_FLOATS, 1048583 * 8);
    ENTRY(FIT, "occupancy", "occupancy-1", latency_kernel, SMS * 8, 128, 200 * 1024, 32, chain,
          U(target), FAR_FLOATS, s.n);
    ENTRY(FIT, "occupancy", "occupancy-2", latency_kernel, SMS * 8, 128, 100 * 1024, 32, chain,
          U(target), FAR_FLOATS, s.n);
    ENTRY(FIT, "occupancy", "occupancy-4", latency_kernel, SMS * 8, 128, 50 * 1024, 32, chain,
          U(target), FAR_FLOATS, s.n);
    ENTRY(FIT, "occupancy", "occupancy-8", latency_kernel, SMS * 8, 128, 25 * 1024, 32, chain,
          U(target), FAR_FLOATS, s.n);
    ENTRY(FIT, "occupancy", "occupancy-16", latency_kernel, SMS * 16, 128, 0, 32, chain, U(target),
          FAR_FLOATS, s.n);
}

static void shared_memory()
{
    ENTRY(FIT, "bank", "bank-1", bank_kernel, 1056, 256, 0, 1, target, s.n);
    ENTRY(FIT, "bank", "bank-2", bank_kernel, 1056, 256, 0, 2, target, s.n);
    ENTRY(FIT, "bank", "bank-4", bank_kernel, 1056, 256, 0, 4, target, s.n);
    ENTRY(FIT, "bank", "bank-8", bank_kernel, 1056, 256, 0, 8, target, s.n);
    ENTRY(FIT, "bank", "bank-16", bank_kernel, 1056, 256, 0, 16, target, s.n);
    ENTRY(FIT, "bank", "bank-32", bank_kernel, 1056, 256, 0, 32, target, s.n);
    ENTRY(FIT, "bank", "bank-broadcast", bank_kernel, 1056, 256, 0, 0, target, s.n);
    ENTRY(FIT, "shared-vector", "shared-float2", shared_vector_kernel<float2>, 1056, 256, 0, 1,
          target, s.n);
    ENTRY(FIT, "shared-vector", "shared-float2-apart", shared_vector_kernel<float2>, 1056, 256, 0,
          2, target, s.n);
    ENTRY(FIT, "shared-vector", "shared-float4", shared_vector_kernel<float4>, 1056, 256, 0, 1,
          target, s.n);
    ENTRY(FIT, "shared-vector", "shared-float4-same", shared_vector_kernel<float4>, 1056, 256, 0, 0,
          target, s.n);
    ENTRY(FIT, "shared-vector", "shared-float4-apart", shared_vector_kernel<float4>, 1056, 256, 0,
          3, target, s.n);
    ENTRY(FIT, "shared-chase", "shared-chase", shared_chase_kernel, SMS, 32, 0, 1024, U(target),
          s.n);
}

static void arithmetic()
{
    ENTRY(FIT, "fma", "fma-chain", fma_kernel<1>, SMS, 32, 0, 1024, target, 0.999f, s.n);
    ENTRY(FIT, "fma", "fma-1", fma_kernel<1>, SMS * 8, 256, 0, 256, target, 0.999f, s.n);
    ENTRY(FIT, "fma", "fma-2", fma_kernel<2>, SMS * 4, 256, 0, 256, target, 0.999f, s.n);
    ENTRY(FIT, "fma", "fma-4", fma_kernel<4>, SMS * 8, 256, 0, 128, target, 0.999f, s.n);
    ENTRY(REGRESSION, "integer", "integer-chain", integer_kernel, SMS, 32, 0, 512, U(target), 77u,
          s.n);
    ENTRY(REGRESSION, "integer", "integer", integer_kernel, SMS * 8, 256, 0, 128, U(target), 77u,
          s.n);
    ENTRY(FIT, "divide", "divide", divide_kernel, SMS * 4, 256, 0, 16, U(target), 13u, s.n);
    ENTRY(FIT, "quotient", "quotient", quotient_kernel, SMS * 4, 256, 0, 32, target, 1.5f, s.n);
    ENTRY(REGRESSION, "double", "double", double_kernel, SMS * 4, 256, 0, 64, (double *)target,
          0.999, s.n);
    ENTRY(FIT, "special", "rsqrt", special_kernel<0>, SMS * 8, 256, 0, 64, target, 1.0f, s.n);
    ENTRY(FIT, "special", "exp", special_kernel<1>, SMS * 8, 256, 0, 64, target, 1.0f, s.n);
    ENTRY(FIT, "special", "sin", special_kernel<2>, SMS * 8, 256, 0, 64, target, 1.0f, s.n);
}

static void control()
{
    ENTRY(FIT, "diverge", "diverge-1", diverge_kernel, SMS * 8, 256, 0, 1, target, 0.999f, s.n);
    ENTRY(FIT, "diverge", "diverge-2", diverge_kernel, SMS * 8, 256, 0, 2, target, 0.999f, s.n);
    ENTRY(FIT, "diverge", "diverge-8", diverge_kernel, SMS * 8, 256, 0, 8, target, 0.999f, s.n);
    ENTRY(FIT, "diverge", "diverge-32", diverge_kernel, SMS * 8, 256, 0, 32, target, 0.999f, s.n);
    ENTRY(REGRESSION, "trips", "trips-64", trips_kernel, SMS * 8, 256, 0, 64, target, 0.999f, s.n);
    ENTRY(FIT, "barrier", "barrier-256", barrier_kernel, SMS * 4, 256, 0, 128, target, 0.999f, s.n);
    ENTRY(FIT, "barrier", "barrier-1024", barrier_kernel, SMS * 2, 1024, 0, 128, target, 0.999f,
          s.n);
    ENTRY(FIT, "tail", "tail-1", fma_kernel<1>, 1, 1024, 0, 2048, target, 0.999f, s.n);
    ENTRY(FIT, "tail", "tail-132", fma_kernel<1>, SMS, 1024, 0, 2048, target, 0.999f, s.n);
    ENTRY(FIT, "tail", "tail-264", fma_kernel<1>, SMS * 2, 1024, 0, 2048, target, 0.999f, s.n);
    ENTRY(FIT, "tail", "tail-265", fma_kernel<1>, SMS * 2 + 1, 1024, 0, 2048, target, 0.999f, s.n);
    ENTRY(FIT, "block-size", "block-32", copy_kernel, 32768, 32, 0, MB, source, target, s.n);
    ENTRY(FIT, "block-size", "block-128", copy_kernel, 8192, 128, 0, MB, source, target, s.n);
    ENTRY(FIT, "block-size", "block-1024", copy_kernel, 1024, 1024, 0, MB, source, target, s.n);
}

static void programs()
{
    ENTRY_2D(FIT, "transpose", "transpose-naive", transpose_kernel<0>, 64, 32, 8, 2048, source,
             target, s.n);
    ENTRY_2D(FIT, "transpose", "transpose-32", transpose_kernel<32>, 64, 32, 8, 2048, source,
             target, s.n);
    ENTRY_2D(FIT, "transpose", "transpose-33", transpose_kernel<33>, 64, 32, 8, 2048, source,
             target, s.n);
    ENTRY(REGRESSION, "reduce", "reduce-16MB", reduce_kernel, SMS * 4, 512, 0, 4 * MB, source,
          target, s.n);
    ENTRY_2D(FIT, "stencil", "stencil-2048", stencil_kernel, 128, 16, 16, 2048, source, target,
             s.n);
    ENTRY_2D(REGRESSION, "gemm", "gemm-naive", gemm_naive_kernel, 24, 16, 16, 384, source,
             source + MB, target, s.n);
    ENTRY_2D(REGRESSION, "gemm", "gemm-tiled-16", gemm_tiled_kernel<16>, 24, 16, 16, 384, source,
             source + MB, target, s.n);
    ENTRY_2D(REGRESSION, "gemm", "gemm-tiled-32", gemm_tiled_kernel<32>, 16, 32, 32, 512, source,
             source + MB, target, s.n);
    ENTRY_2D(REGRESSION, "gemm", "gemm-registers", gemm_registers_kernel, 12, 16, 16, 768, source,
             source + MB, target, s.n);
    ENTRY(FIT, "local", "local", local_kernel, SMS * 4, 128, 0, 64, target, s.n, 5);
    ENTRY(FIT, "constant", "constant-same", constant_kernel, SMS * 8, 256, 0, 0, target, s.n, 128);
    ENTRY(FIT, "constant", "constant-4", constant_kernel, SMS * 4, 256, 0, 8, target, s.n, 32);
    ENTRY(FIT, "atomic", "atomic-distinct", atomic_kernel, 1056, 256, 0, MB - 1, U(target), s.n);
    ENTRY(FIT, "atomic", "atomic-same", atomic_kernel, 264, 256, 0, 0, U(target), s.n);
    ENTRY(REGRESSION, "histogram", "histogram", histogram_kernel, SMS * 2, 256, 0, MB / 2, chain,
          U(target), s.n);
}

static void unseen()
{
    ENTRY(REGRESSION, "scan", "scan", scan_kernel, 4096, 256, 0, 0, source, target);
    ENTRY(REGRESSION, "gemv", "gemv-1024", gemv_kernel, 128, 256, 0, 1024, source, target + MB,
          target, s.n);
    ENTRY(REGRESSION, "gemv", "gemv-4096", gemv_kernel, 512, 256, 0, 4096, source, target + MB,
          target, s.n);
    ENTRY(REGRESSION, "copy4", "copy4", copy4_kernel, 4096, 256, 0, 3, source, target, s.n);
    ENTRY(REGRESSION, "bitonic", "bitonic", bitonic_kernel, 1056, 256, 0, 0, chain, U(target));
    ENTRY(REGRESSION, "mixed", "mixed", mixed_kernel, SMS * 8, 256, 0, 128, target, s.n);
    ENTRY_2D(REGRESSION, "filter", "filter-16", filter_kernel, 64, 16, 16, 1024, source, target,
             s.n);
    ENTRY_2D(REGRESSION, "filter", "filter-32", filter_kernel, 64, 32, 8, 2048, source, target,
             s.n);
    ENTRY(REGRESSION, "softmax", "softmax", softmax_kernel, 2048, 256, 0, 0, source, target);
    ENTRY(REGRESSION, "wide-stride", "stride-3", stride_kernel, 4096, 256, 0, 3, source, target,
          s.n);
    ENTRY(REGRESSION, "wide-stride", "stride-16", stride_kernel, 4096, 256, 0, 16, source, target,
          s.n);
    ENTRY(REGRESSION, "bank-odd", "bank-3", bank_kernel, 1056, 256, 0, 3, target, s.n);
    ENTRY(REGRESSION, "bank-odd", "bank-12", bank_kernel, 1056, 256, 0, 12, target, s.n);
    ENTRY(REGRESSION, "tail-half", "tail-396", fma_kernel<1>, SMS * 3, 1024, 0, 1024, target,
          0.999f, s.n);
    ENTRY(REGRESSION, "local-short", "local-16", local_kernel, SMS * 8, 128, 0, 16, target, s.n, 3);
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    cudaMalloc(&source, FAR_FLOATS * sizeof *source);
    cudaMalloc(&target, FAR_FLOATS * sizeof *target);
    cudaMalloc(&chain, FAR_FLOATS * sizeof *chain);
    cudaMemset(source, 0, FAR_FLOATS * sizeof *source);
    cudaMemset(target, 0, FAR_FLOATS * sizeof *target);
    cudaFuncSetAttribute(latency_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);
    global_memory();
    chains();
    shared_memory();
    arithmetic();
    control();
    programs();
    unseen();
    return measure_close();
}
