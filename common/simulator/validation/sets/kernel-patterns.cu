/* kernel-patterns.cu - kernels with patterns of third-party programs that were predicted
 * wrongly, several of each, so that their causes can be separated.
 *
 * The fit launches may be used when the model is corrected. The regression launches at the end
 * must not be used. */
#include <cuda_fp16.h>

#include "common/simulator/validation/sets/entries.cuh"

static float *source, *target;   /* 16 M and 32 M floats */
static uint32_t *counts, *chain; /* 2 M, of zeros; 24 M indices */
static const size_t CHAIN_LENGTH = 24u << 20;

/* ---- atomics of many lanes on few addresses -------------------------------------------------- */

enum Kind { ONE, VALUE, REAL, MOST, TICKET };

/* Each lane adds to one of `ways` counters of its block. */
template <int KIND, int STEPS>
__global__ void shared_hot_kernel(const uint32_t *__restrict__ x, uint32_t *__restrict__ y,
                                  int ways)
{
    __shared__ uint32_t count[64];
    __shared__ float sum[64];
    if (threadIdx.x < 64) count[threadIdx.x] = 0, sum[threadIdx.x] = 0;
    __syncthreads();
    uint32_t value = x[blockIdx.x * blockDim.x + threadIdx.x], at = threadIdx.x % ways, got = 0;
    for (int i = 0; i < STEPS; i++) {
        if (KIND == ONE) atomicAdd(&count[at], 1u);
        if (KIND == VALUE) atomicAdd(&count[at], value + i);
        if (KIND == REAL) atomicAdd(&sum[at], (float)i);
        if (KIND == MOST) atomicMax(&count[at], value + i);
        if (KIND == TICKET) got += atomicAdd(&count[at], 1u);
    }
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = count[at] + (uint32_t)sum[at] + got;
}

/* Each lane adds to one of `ways` words: all lanes of a block to one, or neighbours to others. */
template <int KIND>
__global__ void global_hot_kernel(const uint32_t *__restrict__ x, uint32_t *__restrict__ y,
                                  int blocks, int lanes)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, value = x[i];
    uint32_t *at = y + blockIdx.x % blocks * 64 + threadIdx.x % lanes;
    if (KIND == ONE) atomicAdd(at, 1u);
    if (KIND == VALUE) atomicAdd(at, value);
    if (KIND == REAL) atomicAdd((float *)at, (float)value);
    if (KIND == MOST) atomicMax(at, value);
    if (KIND == TICKET) y[65536 + i] = atomicAdd(at, 1u);
}

/* Bins of all the chip, by value. */
__global__ void bins_kernel(const uint32_t *__restrict__ x, uint32_t *__restrict__ y, int bins)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&y[(x[i] * 2654435761u >> 8) % bins], 1u);
}

static void atomics()
{
#define X ((const uint32_t *)source)
#define Y ((uint32_t *)target)
    ENTER(FIT, "hot-shared-atomic", "hot-shared-one",
          shared_hot_kernel<ONE, 32><<<528, 256>>>(X, Y, 1));
    ENTER(FIT, "hot-shared-atomic", "hot-shared-value",
          shared_hot_kernel<VALUE, 32><<<528, 256>>>(X, Y, 1));
    ENTER(FIT, "hot-shared-atomic", "hot-shared-float",
          shared_hot_kernel<REAL, 8><<<528, 256>>>(X, Y, 1));
    ENTER(FIT, "hot-shared-atomic", "hot-shared-max",
          shared_hot_kernel<MOST, 32><<<528, 256>>>(X, Y, 1));
    ENTER(FIT, "hot-shared-atomic", "hot-shared-ticket",
          shared_hot_kernel<TICKET, 32><<<528, 256>>>(X, Y, 1));
    ENTER(FIT, "hot-shared-atomic", "hot-shared-4",
          shared_hot_kernel<ONE, 32><<<528, 256>>>(X, Y, 4));
    ENTER(FIT, "hot-shared-atomic", "hot-shared-32",
          shared_hot_kernel<ONE, 32><<<528, 256>>>(X, Y, 32));
    ENTER(FIT, "hot-shared-atomic", "hot-shared-float-32",
          shared_hot_kernel<REAL, 32><<<528, 256>>>(X, Y, 32));
    ENTER(FIT, "hot-global-atomic", "hot-global-one",
          global_hot_kernel<ONE><<<1056, 256>>>(X, counts, 1, 1));
    ENTER(FIT, "hot-global-atomic", "hot-global-value",
          global_hot_kernel<VALUE><<<1056, 256>>>(X, counts, 1, 1));
    ENTER(FIT, "hot-global-atomic", "hot-global-float",
          global_hot_kernel<REAL><<<264, 256>>>(X, counts, 1, 1));
    ENTER(FIT, "hot-global-atomic", "hot-global-max",
          global_hot_kernel<MOST><<<1056, 256>>>(X, counts, 1, 1));
    ENTER(FIT, "hot-global-atomic", "hot-global-ticket",
          global_hot_kernel<TICKET><<<1056, 256>>>(X, counts, 1, 1));
    ENTER(FIT, "hot-global-atomic", "hot-global-blocks",
          global_hot_kernel<VALUE><<<1056, 256>>>(X, counts, 256, 1));
    ENTER(FIT, "hot-global-atomic", "hot-global-float-blocks",
          global_hot_kernel<REAL><<<1056, 256>>>(X, counts, 256, 1));
    ENTER(FIT, "hot-global-atomic", "hot-global-4",
          global_hot_kernel<ONE><<<1056, 256>>>(X, counts, 1, 4));
    ENTER(FIT, "hot-global-atomic", "hot-global-32",
          global_hot_kernel<ONE><<<1056, 256>>>(X, counts, 1, 32));
    ENTER(FIT, "histogram", "bins-256", bins_kernel<<<1024, 256>>>(X, counts, 256));
    ENTER(FIT, "histogram", "bins-65536", bins_kernel<<<1024, 256>>>(X, counts, 65536));
}

/* ---- matrix products with tiles in registers ------------------------------------------------- */

/* BM x BN outputs per block, TM x TN a thread, BK deep; the left tile lies transposed. */
template <int BM, int BN, int BK, int TM, int TN>
__global__ void product_kernel(const float *__restrict__ a, const float *__restrict__ b,
                               float *__restrict__ c, int n)
{
    __shared__ float left[BK][BM], right[BK][BN];
    const int threads = BM * BN / TM / TN, t = threadIdx.x;
    int tx = t % (BN / TN), ty = t / (BN / TN);
    float sum[TM][TN] = {}, l[TM], r[TN];
    a += blockIdx.y * BM * n, b += blockIdx.x * BN;
    for (int k = 0; k < n; k += BK) {
#pragma unroll
        for (int i = t; i < BM * BK; i += threads)
            left[i % BK][i / BK] = a[i / BK * n + k + i % BK];
#pragma unroll
        for (int i = t; i < BN * BK; i += threads)
            right[i / BN][i % BN] = b[(k + i / BN) * n + i % BN];
        __syncthreads();
#pragma unroll
        for (int d = 0; d < BK; d++) {
#pragma unroll
            for (int i = 0; i < TM; i++)
                l[i] = left[d][ty * TM + i];
#pragma unroll
            for (int j = 0; j < TN; j++)
                r[j] = right[d][tx * TN + j];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            c[(blockIdx.y * BM + ty * TM + i) * n + blockIdx.x * BN + tx * TN + j] = sum[i][j];
}

/* TM x TN multiply-adds per step, all in registers: the dispatch alone. */
template <int TM, int TN> __global__ void outer_kernel(float *__restrict__ y, float a, int steps)
{
    float sum[TM][TN] = {}, l[TM], r[TN];
#pragma unroll
    for (int i = 0; i < TM; i++)
        l[i] = (float)(threadIdx.x + i);
#pragma unroll
    for (int j = 0; j < TN; j++)
        r[j] = (float)(threadIdx.x * 3 + j);
    for (int step = 0; step < steps; step++) {
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++)
                sum[i][j] += l[i] * r[j];
        l[step & 0] += a, r[0] -= a;
    }
    float all = 0;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            all += sum[i][j];
    y[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

/* TM x TN multiply-adds per step with operands from shared memory, no barriers and no global
 * memory. */
template <int TM, int TN>
__global__ void shared_outer_kernel(const float *__restrict__ x, float *__restrict__ y, int turns)
{
    __shared__ float left[8][TM * 16], right[8][TN * 16];
    for (int i = threadIdx.x; i < 8 * TM * 16; i += blockDim.x)
        left[i / (TM * 16)][i % (TM * 16)] = x[i];
    for (int i = threadIdx.x; i < 8 * TN * 16; i += blockDim.x)
        right[i / (TN * 16)][i % (TN * 16)] = x[i];
    __syncthreads();
    float sum[TM][TN] = {};
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16 % 16;
    for (int turn = 0; turn < turns; turn++) {
#pragma unroll
        for (int d = 0; d < 8; d++)
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] += left[d][ty * TM + i] * right[d][tx * TN + j];
    }
    float all = 0;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            all += sum[i][j];
    y[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

static void tiles()
{
#define B (source + 4 * MB)
    ENTER(FIT, "register-tile", "tile-4x4",
          product_kernel<64, 64, 16, 4, 4><<<dim3(8, 8), 256>>>(source, B, target, 512));
    ENTER(FIT, "register-tile", "tile-4x4-1024",
          product_kernel<64, 64, 16, 4, 4><<<dim3(16, 16), 256>>>(source, B, target, 1024));
    ENTER(FIT, "register-tile", "tile-8x8",
          product_kernel<128, 128, 8, 8, 8><<<dim3(8, 8), 256>>>(source, B, target, 1024));
    ENTER(FIT, "register-tile", "tile-8x8-16",
          product_kernel<128, 128, 16, 8, 8><<<dim3(8, 8), 256>>>(source, B, target, 1024));
    ENTER(FIT, "register-tile", "tile-8x4",
          product_kernel<128, 64, 8, 8, 4><<<dim3(16, 8), 256>>>(source, B, target, 1024));
    ENTER(FIT, "register-tile", "tile-8x8-64",
          product_kernel<64, 64, 8, 8, 8><<<dim3(12, 12), 64>>>(source, B, target, 768));
    ENTER(FIT, "register-tile", "tile-2x2",
          product_kernel<32, 32, 16, 2, 2><<<dim3(16, 16), 256>>>(source, B, target, 512));
    ENTER(FIT, "register-outer-product", "outer-4x4",
          outer_kernel<4, 4><<<SMS * 4, 256>>>(target, 0.5f, 64));
    ENTER(FIT, "register-outer-product", "outer-8x8",
          outer_kernel<8, 8><<<SMS * 2, 256>>>(target, 0.5f, 32));
    ENTER(FIT, "register-outer-product", "outer-8x8-one",
          outer_kernel<8, 8><<<SMS, 128>>>(target, 0.5f, 64));
    ENTER(FIT, "shared-outer-product", "shared-outer-4x4",
          shared_outer_kernel<4, 4><<<SMS * 4, 256>>>(source, target, 32));
    ENTER(FIT, "shared-outer-product", "shared-outer-8x8",
          shared_outer_kernel<8, 8><<<SMS * 2, 256>>>(source, target, 16));
    ENTER(FIT, "shared-outer-product", "shared-outer-8x8-one",
          shared_outer_kernel<8, 8><<<SMS, 128>>>(source, target, 16));
    ENTER(FIT, "shared-outer-product", "shared-outer-8x4",
          shared_outer_kernel<8, 4><<<SMS * 2, 256>>>(source, target, 16));
    ENTER(FIT, "shared-outer-product", "shared-outer-1x1",
          shared_outer_kernel<1, 1><<<SMS * 8, 256>>>(source, target, 64));
}

/* ---- a thread that traverses a row, operands that all lanes share ---------------------------- */

/* `pitch` floats from one thread's row to the next. */
__global__ void walk_kernel(const float *__restrict__ x, float *__restrict__ y, int n, int pitch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += x[(size_t)i * pitch + k];
    y[i] = sum;
}

/* Three passes over the row, the last one writes: what a first softmax does. */
__global__ void walk_write_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *row = x + (size_t)i * n;
    float most = row[0], sum = 0;
    for (int k = 1; k < n; k++)
        most = fmaxf(most, row[k]);
    for (int k = 0; k < n; k++)
        sum += row[k] * most;
    for (int k = 0; k < n; k++)
        y[(size_t)i * n + k] = row[k] * sum;
}

__global__ void columns_kernel(const float *__restrict__ x, float *__restrict__ y, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < rows; k++)
        sum += x[(size_t)k * n + i];
    y[i] = sum;
}

__global__ void matvec_kernel(const float *__restrict__ a, const float *__restrict__ x,
                              float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)i * n + k] * x[k];
    y[i] = sum;
}

/* Every lane wants the same float, or the same float4, of a list that all read. */
__global__ void pairs_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = x[i], sum = 0;
    for (int k = 0; k < n; k++) {
        float d = x[k] - own;
        sum += d * d;
    }
    y[i] = sum;
}

__global__ void pairs4_kernel(const float4 *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = x[i];
    float sum = 0;
    for (int k = 0; k < n; k++) {
        float4 other = x[k];
        float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        sum += other.w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    }
    y[i] = sum;
}

/* A naive matrix product; SWAPPED takes the row from threadIdx.x, as beginners do. */
template <bool SWAPPED>
__global__ void naive_kernel(const float *__restrict__ a, const float *__restrict__ b,
                             float *__restrict__ c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int row = SWAPPED ? x : y, column = SWAPPED ? y : x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

/* The second operand is row-major, too: a matrix product with a transposed matrix. */
__global__ void naive_t_kernel(const float *__restrict__ a, const float *__restrict__ b,
                               float *__restrict__ c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[column * n + k];
    c[row * n + column] = sum;
}

static void walks()
{
    ENTER(FIT, "row-traversal", "walk-1024", walk_kernel<<<32, 128>>>(source, target, 1024, 1024));
    ENTER(FIT, "row-traversal", "walk-256", walk_kernel<<<256, 256>>>(source, target, 256, 256));
    ENTER(FIT, "row-traversal", "walk-64", walk_kernel<<<1024, 256>>>(source, target, 64, 64));
    ENTER(FIT, "row-traversal", "walk-few", walk_kernel<<<4, 256>>>(source, target, 512, 512));
    ENTER(FIT, "row-traversal", "walk-write", walk_write_kernel<<<64, 128>>>(source, target, 256));
    ENTER(FIT, "row-traversal", "columns", columns_kernel<<<16, 256>>>(source, target, 1024, 4096));
    ENTER(FIT, "row-traversal", "matvec", matvec_kernel<<<16, 256>>>(source, B, target, 1024));
    ENTER(FIT, "all-pairs", "pairs-1024", pairs_kernel<<<528, 256>>>(source, target, 1024));
    ENTER(FIT, "all-pairs", "pairs-4096", pairs_kernel<<<64, 256>>>(source, target, 4096));
    ENTER(FIT, "all-pairs", "pairs4-4096",
          pairs4_kernel<<<16, 256>>>((const float4 *)source, target, 4096));
    ENTER(FIT, "all-pairs", "pairs4-1024",
          pairs4_kernel<<<264, 256>>>((const float4 *)source, target, 1024));
    ENTER(FIT, "naive-gemm", "naive-256",
          naive_kernel<false><<<dim3(16, 16), dim3(16, 16)>>>(source, B, target, 256));
    ENTER(FIT, "naive-gemm", "naive-512-32",
          naive_kernel<false><<<dim3(16, 16), dim3(32, 32)>>>(source, B, target, 512));
    ENTER(FIT, "naive-gemm", "naive-swapped",
          naive_kernel<true><<<dim3(16, 16), dim3(16, 16)>>>(source, B, target, 256));
    ENTER(FIT, "naive-gemm", "naive-transposed",
          naive_t_kernel<<<dim3(16, 16), dim3(16, 16)>>>(source, B, target, 256));
}

/* ---- reductions of a block, again and again -------------------------------------------------- */

__device__ static float tree_sum(float value, float *space)
{
    space[threadIdx.x] = value;
    __syncthreads();
    for (int step = blockDim.x / 2; step; step /= 2) {
        if (threadIdx.x < step) space[threadIdx.x] += space[threadIdx.x + step];
        __syncthreads();
    }
    value = space[0];
    __syncthreads();
    return value;
}

__device__ static float warps_sum(float value, float *space)
{
    for (int step = 16; step; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) space[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < blockDim.x / 32 ? space[threadIdx.x % 32] : 0;
    for (int step = 16; step; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    __syncthreads();
    return value;
}

/* Mean and deviation of a row, then the normalised row. */
template <bool TREE>
__global__ void rows_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    __shared__ float space[1024];
    const float *row = x + (size_t)blockIdx.x * n;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += row[i];
    float mean = (TREE ? tree_sum(sum, space) : warps_sum(sum, space)) / (float)n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        square += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf((TREE ? tree_sum(square, space) : warps_sum(square, space)) / (float)n);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(size_t)blockIdx.x * n + i] = (row[i] - mean) * scale;
}

/* Each iteration loads one value per thread and adds it up over the block. */
template <bool TREE>
__global__ void turns_kernel(const float *__restrict__ x, float *__restrict__ y, int turns)
{
    __shared__ float space[1024];
    float all = 0;
    for (int turn = 0; turn < turns; turn++) {
        float value = x[((size_t)blockIdx.x * turns + turn) * blockDim.x + threadIdx.x];
        all += TREE ? tree_sum(value, space) : warps_sum(value, space);
    }
    if (threadIdx.x == 0) y[blockIdx.x] = all;
}

static void reductions()
{
    ENTER(FIT, "row-reduction", "rows-tree-1024",
          rows_kernel<true><<<1024, 256>>>(source, target, 1024));
    ENTER(FIT, "row-reduction", "rows-tree-4096",
          rows_kernel<true><<<512, 256>>>(source, target, 4096));
    ENTER(FIT, "row-reduction", "rows-warps-1024",
          rows_kernel<false><<<1024, 256>>>(source, target, 1024));
    ENTER(FIT, "row-reduction", "rows-warps-8192",
          rows_kernel<false><<<256, 1024>>>(source, target, 8192));
    ENTER(FIT, "loop-reduction", "turns-tree",
          turns_kernel<true><<<264, 256>>>(source, target, 16));
    ENTER(FIT, "loop-reduction", "turns-warps",
          turns_kernel<false><<<264, 256>>>(source, target, 16));
    ENTER(FIT, "loop-reduction", "turns-tree-one",
          turns_kernel<true><<<16, 512>>>(source, target, 32));
}

/* ---- many short blocks ----------------------------------------------------------------------- */

__global__ void idle_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}

__global__ void axpy_kernel(const float *__restrict__ x, float *__restrict__ y, float a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}

template <int BYTES>
__global__ void turned_kernel(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float space[BYTES / 4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    space[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = space[blockDim.x - 1 - threadIdx.x];
}

__global__ void short_kernel(float *__restrict__ y, float a, int steps)
{
    float sum = (float)threadIdx.x;
    for (int i = 0; i < steps; i++)
        sum = sum * a + 1.0f;
    if (sum == 0.5f) y[threadIdx.x] = sum;
}

static void shorts()
{
    ENTER(FIT, "short-blocks", "short-32", axpy_kernel<<<16384, 32>>>(source, target, 2.0f));
    ENTER(FIT, "short-blocks", "short-64", axpy_kernel<<<16384, 64>>>(source, target, 2.0f));
    ENTER(FIT, "short-blocks", "short-128", axpy_kernel<<<16384, 128>>>(source, target, 2.0f));
    ENTER(FIT, "short-blocks", "short-256", axpy_kernel<<<8192, 256>>>(source, target, 2.0f));
    ENTER(FIT, "short-blocks", "short-512", axpy_kernel<<<4096, 512>>>(source, target, 2.0f));
    ENTER(FIT, "short-blocks", "short-turned-64",
          turned_kernel<1024><<<16384, 64>>>(source, target));
    ENTER(FIT, "short-blocks", "short-turned-256",
          turned_kernel<8192><<<8192, 256>>>(source, target));
    ENTER(FIT, "short-blocks", "idle-64", idle_kernel<<<65536, 64>>>(source, target, 64));
    ENTER(FIT, "short-blocks", "idle-256", idle_kernel<<<32768, 256>>>(source, target, 64));
    ENTER(FIT, "short-blocks", "idle-1024", idle_kernel<<<8192, 1024>>>(source, target, 64));
    ENTER(FIT, "short-blocks", "short-chain-128", short_kernel<<<8192, 128>>>(target, 0.5f, 32));
    ENTER(FIT, "short-blocks", "short-chain-256", short_kernel<<<4096, 256>>>(target, 0.5f, 128));
}

/* ---- register spills, which PTX does not show ------------------------------------------------ */

/* COUNT values live at once in at most 65536 / (THREADS * BLOCKS) registers. */
template <int COUNT, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    spill_kernel(const float *__restrict__ x, float *__restrict__ y, int turns)
{
    float value[COUNT];
    int i = blockIdx.x * THREADS + threadIdx.x, all = gridDim.x * THREADS;
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        value[k] = x[i + k * all];
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            value[k] = value[k] * value[(k + COUNT / 2) % COUNT] + value[(k * 7 + 1) % COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        y[i + k * all] = value[k];
}

static void spills()
{
    ENTER(FIT, "register-spill", "spill-none",
          spill_kernel<32, 256, 4><<<SMS * 4, 256>>>(source, target, 8));
    ENTER(FIT, "register-spill", "spill-40",
          spill_kernel<40, 1024, 2><<<SMS * 2, 1024>>>(source, target, 8));
    ENTER(FIT, "register-spill", "spill-64",
          spill_kernel<64, 512, 4><<<SMS * 3, 512>>>(source, target, 8));
    ENTER(FIT, "register-spill", "spill-96",
          spill_kernel<96, 256, 4><<<SMS * 4, 256>>>(source, target, 8));
}

/* ---- L2 and DRAM ----------------------------------------------------------------------------- */

__global__ void link_kernel(uint32_t *next, uint32_t length, uint32_t step)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) next[i] = (uint32_t)((i + (uint64_t)step) % length);
}

__global__ void follow_kernel(const uint32_t *__restrict__ next, uint32_t *__restrict__ y,
                              int steps)
{
    uint32_t at = threadIdx.x;
    for (int i = 0; i < steps; i++)
        at = next[at];
    y[threadIdx.x] = at;
}

/* The whole array, again and again. */
__global__ void again_kernel(const float4 *__restrict__ x, float *__restrict__ y, int n, int turns)
{
    float sum = 0;
    for (int turn = 0; turn < turns; turn++)
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            sum += x[i].x + x[i].y + x[i].z + x[i].w;
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* One sector per lane, `spread` sectors of the array. */
__global__ void scatter_kernel(const float *__restrict__ x, float *__restrict__ y, uint32_t spread)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[((i * 2654435761u) >> 3) % spread * 8];
}

__global__ void scatter_store_kernel(const float *__restrict__ x, float *__restrict__ y,
                                     uint32_t spread)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[((i * 2654435761u) >> 3) % spread * 8] = x[i];
}

static void far()
{
    const struct {
        MeasureKind kind;
        const char *name;
        uint32_t length, step;
    } CHAIN[] = {{FIT, "follow-8MB", 2 * MB, 4099 * 8},
                 {FIT, "follow-24MB", 6 * MB, 4099 * 8},
                 {REGRESSION, "follow-48MB", 12 * MB, 1048583 * 8},
                 {FIT, "follow-96MB", 24 * MB, 1048583 * 8}};
    for (const auto &c : CHAIN) {
        link_kernel<<<(c.length + 255) / 256, 256>>>(chain, c.length, c.step);
        ENTER(c.kind, "pointer-chase", c.name, follow_kernel<<<1, 1>>>(chain, Y, 1024));
    }
    ENTER(FIT, "repeated-read", "again-16MB",
          again_kernel<<<SMS * 8, 256>>>((const float4 *)chain, target, MB, 4));
    ENTER(FIT, "repeated-read", "again-32MB",
          again_kernel<<<SMS * 8, 256>>>((const float4 *)chain, target, 2 * MB, 4));
    ENTER(FIT, "repeated-read", "again-96MB",
          again_kernel<<<SMS * 8, 256>>>((const float4 *)chain, target, 6 * MB, 3));
    ENTER(FIT, "scatter", "scatter-4MB",
          scatter_kernel<<<4096, 256>>>((const float *)chain, target, MB / 8));
    ENTER(FIT, "scatter", "scatter-32MB",
          scatter_kernel<<<4096, 256>>>((const float *)chain, target, MB));
    ENTER(FIT, "scatter", "scatter-96MB",
          scatter_kernel<<<4096, 256>>>((const float *)chain, target, 3 * MB));
    ENTER(FIT, "scatter", "scatter-store-96MB",
          scatter_store_kernel<<<4096, 256>>>(source, target, 3 * MB));
}

/* ---- single mechanisms ----------------------------------------------------------------------- */

template <int KIND> __global__ void unit_kernel(float *__restrict__ y, float a, int steps)
{
    float p = (float)threadIdx.x * 0.01f + 1.5f, q = a;
    uint32_t u = threadIdx.x + 77u, v = (uint32_t)a + 3u;
    __half2 h = __floats2half2_rn(p, a), g = h;
#pragma unroll 4
    for (int i = 0; i < steps; i++) {
        if (KIND == 0) p += __shfl_xor_sync(0xffffffffu, p, 1 + (i & 15));
        if (KIND == 1) p = sqrtf(p) + q;
        if (KIND == 2) p = expf(p * -0.5f) + q;
        if (KIND == 3) p = logf(p) + 2.0f;
        if (KIND == 4) p = powf(p, q) + 0.5f;
        if (KIND == 5) p = sinf(p) + q;
        if (KIND == 6) h = __hfma2(h, g, g);
        if (KIND == 7) u = __dp4a((int)u, (int)v, (int)(u ^ v));
        if (KIND == 8) u = __popc(u) + u * 5u;
        if (KIND == 9) u = (uint32_t)(((unsigned long long)u * v + 99u) >> 7);
        if (KIND == 10) p = tanhf(p) + q;
        if (KIND == 11) u = u % 1000003u + u / 7u;
        if (KIND == 12) p = (float)(int)(p * 1.5f) + q;
        if (KIND == 13) p = fminf(fmaxf(p, q), p * 2.0f) + (p > q ? 1.0f : 0.25f);
        if (KIND == 14) u = (u & 1) ? u * 3u + 1u : u >> 1;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = p + (float)u + __low2float(h);
}

/* Loads that the L1 has, of 4 or 16 bytes per lane. */
template <class T>
__global__ void near_kernel(const T *__restrict__ x, T *__restrict__ y, int turns)
{
    T sum = x[threadIdx.x];
    float *s = (float *)&sum;
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            T other = x[(threadIdx.x + k * 32 + turn) & 511];
            s[0] += ((float *)&other)[0] + ((float *)&other)[sizeof(T) / 4 - 1];
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void units()
{
#define UNIT(kind, name)                                                                           \
    ENTER(FIT, "function-unit", name, unit_kernel<kind><<<SMS * 8, 256>>>(target, 0.5f, 64))
    UNIT(0, "unit-shuffle");
    UNIT(1, "unit-sqrt");
    UNIT(2, "unit-expf");
    UNIT(3, "unit-logf");
    UNIT(4, "unit-powf");
    UNIT(5, "unit-sinf");
    UNIT(6, "unit-half2");
    UNIT(7, "unit-dp4a");
    UNIT(8, "unit-popc");
    UNIT(9, "unit-wide");
    UNIT(10, "unit-tanhf");
    UNIT(11, "unit-modulo");
    UNIT(12, "unit-convert");
    UNIT(13, "unit-minmax");
    UNIT(14, "unit-select");
    ENTER(FIT, "near-gather", "near-4", near_kernel<float><<<SMS * 8, 256>>>(source, target, 16));
    ENTER(FIT, "near-gather", "near-16",
          near_kernel<float4><<<SMS * 4, 256>>>((const float4 *)source, (float4 *)target, 16));
}

/* ---- regression launches of each family ------------------------------------------------------ */

#define H(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

static void siblings()
{
    H("hot-shared-atomic", "hot-shared-2", shared_hot_kernel<ONE, 16><<<1056, 128>>>(X, Y, 2));
    H("hot-shared-atomic", "hot-shared-value-8",
      shared_hot_kernel<VALUE, 32><<<264, 256>>>(X, Y, 8));
    H("hot-shared-atomic", "hot-shared-max-4", shared_hot_kernel<MOST, 32><<<264, 256>>>(X, Y, 4));
    H("hot-shared-atomic", "hot-shared-float-4",
      shared_hot_kernel<REAL, 16><<<264, 256>>>(X, Y, 4));
    H("hot-shared-atomic", "hot-shared-one-1024",
      shared_hot_kernel<ONE, 8><<<264, 1024>>>(X, Y, 1));
    H("hot-global-atomic", "hot-global-max-blocks",
      global_hot_kernel<MOST><<<2112, 128>>>(X, counts, 64, 1));
    H("hot-global-atomic", "hot-global-ticket-blocks",
      global_hot_kernel<TICKET><<<528, 256>>>(X, counts, 256, 1));
    H("hot-global-atomic", "hot-global-float-8",
      global_hot_kernel<REAL><<<528, 256>>>(X, counts, 1, 8));
    H("hot-global-atomic", "hot-global-one-2112",
      global_hot_kernel<ONE><<<2112, 256>>>(X, counts, 1, 1));
    H("histogram", "bins-1024", bins_kernel<<<2048, 256>>>(X, counts, 1024));
    H("register-tile", "tile-4x4-8",
      product_kernel<64, 64, 8, 4, 4><<<dim3(12, 12), 256>>>(source, B, target, 768));
    H("register-tile", "tile-8x8-128",
      product_kernel<128, 64, 16, 8, 8><<<dim3(16, 8), 128>>>(source, B, target, 1024));
    H("register-tile", "tile-4x4-128",
      product_kernel<32, 64, 16, 4, 4><<<dim3(8, 16), 128>>>(source, B, target, 512));
    H("register-tile", "tile-8x8-512",
      product_kernel<128, 128, 8, 8, 8><<<dim3(4, 4), 256>>>(source, B, target, 512));
    H("register-tile", "tile-4x8",
      product_kernel<64, 128, 8, 4, 8><<<dim3(6, 12), 256>>>(source, B, target, 768));
    H("register-outer-product", "outer-4x8",
      outer_kernel<4, 8><<<SMS * 2, 512>>>(target, 0.5f, 32));
    H("register-outer-product", "outer-2x2",
      outer_kernel<2, 2><<<SMS * 8, 256>>>(target, 0.5f, 128));
    H("shared-outer-product", "shared-outer-4x8",
      shared_outer_kernel<4, 8><<<SMS * 2, 256>>>(source, target, 24));
    H("shared-outer-product", "shared-outer-2x2",
      shared_outer_kernel<2, 2><<<SMS * 4, 256>>>(source, target, 64));
    H("row-traversal", "walk-512", walk_kernel<<<64, 128>>>(source, target, 512, 512));
    H("row-traversal", "walk-odd", walk_kernel<<<64, 256>>>(source, target, 300, 301));
    H("row-traversal", "walk-write-128", walk_write_kernel<<<128, 256>>>(source, target, 128));
    H("row-traversal", "columns-256", columns_kernel<<<128, 256>>>(source, target, 256, 32768));
    H("row-traversal", "matvec-2048", matvec_kernel<<<16, 128>>>(source, B, target, 2048));
    H("all-pairs", "pairs-2048", pairs_kernel<<<132, 128>>>(source, target, 2048));
    H("all-pairs", "pairs4-2048",
      pairs4_kernel<<<132, 256>>>((const float4 *)source, target, 2048));
    H("naive-gemm", "naive-320",
      naive_kernel<false><<<dim3(20, 20), dim3(16, 16)>>>(source, B, target, 320));
    H("naive-gemm", "naive-swapped-128",
      naive_kernel<true><<<dim3(4, 16), dim3(32, 8)>>>(source, B, target, 128));
    H("naive-gemm", "naive-transposed-128",
      naive_t_kernel<<<dim3(8, 8), dim3(16, 16)>>>(source, B, target, 128));
    H("row-reduction", "rows-tree-2048", rows_kernel<true><<<768, 512>>>(source, target, 2048));
    H("row-reduction", "rows-warps-512", rows_kernel<false><<<4096, 128>>>(source, target, 512));
    H("loop-reduction", "turns-tree-128", turns_kernel<true><<<528, 128>>>(source, target, 24));
    H("loop-reduction", "turns-warps-1024", turns_kernel<false><<<132, 1024>>>(source, target, 16));
    H("short-blocks", "short-96", axpy_kernel<<<16384, 96>>>(source, target, 2.0f));
    H("short-blocks", "short-1024", axpy_kernel<<<4096, 1024>>>(source, target, 2.0f));
    H("short-blocks", "short-turned-128", turned_kernel<4096><<<8192, 128>>>(source, target));
    H("short-blocks", "idle-128", idle_kernel<<<32768, 128>>>(source, target, 64));
    H("short-blocks", "short-chain-64", short_kernel<<<16384, 64>>>(target, 0.5f, 64));
    H("register-spill", "spill-48", spill_kernel<48, 256, 6><<<SMS * 6, 256>>>(source, target, 8));
    H("register-spill", "spill-128",
      spill_kernel<128, 128, 5><<<SMS * 5, 128>>>(source, target, 4));
    H("repeated-read", "again-24MB",
      again_kernel<<<SMS * 8, 256>>>((const float4 *)source, target, 3 * MB / 2, 4));
    H("repeated-read", "again-64MB",
      again_kernel<<<SMS * 8, 256>>>((const float4 *)source, target, 4 * MB, 3));
    H("scatter", "scatter-16MB",
      scatter_kernel<<<4096, 256>>>((const float *)chain, target, MB / 2));
    H("scatter", "scatter-64MB", scatter_kernel<<<4096, 256>>>(source, target, 2 * MB));
    H("scatter", "scatter-store-16MB", scatter_store_kernel<<<4096, 256>>>(source, target, MB / 2));
    H("near-gather", "near-8",
      near_kernel<float2><<<SMS * 4, 512>>>((const float2 *)source, (float2 *)target, 16));
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    source = array_make(16 * MB);
    target = array_make(32 * MB);
    cudaMalloc(&counts, 8 * MB);
    cudaMemset(counts, 0, 8 * MB);
    cudaMalloc(&chain, CHAIN_LENGTH * sizeof *chain);
    cudaMemset(chain, 0, CHAIN_LENGTH * sizeof *chain);
    atomics();
    tiles();
    walks();
    reductions();
    shorts();
    spills();
    far();
    units();
    siblings();
    return measure_close();
}
