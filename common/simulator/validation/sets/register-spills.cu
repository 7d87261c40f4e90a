/* register-spills.cu - kernels with too few registers: launch bounds limit them, and ptxas
 * keeps the remaining values in local memory.
 *
 * The launches differ in the place where the spilled values are used (in every iteration of a
 * loop, or before and after it). They also differ in the number of warps that hide the latency,
 * and in the share of the values that the caches hold. */
#include "common/simulator/validation/sets/entries.cuh"

static float *source, *target; /* 16 M and 32 M floats */

/* COUNT values that each iteration reads and writes, in at most 65536 / (THREADS * BLOCKS)
 * registers. */
template <int COUNT, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    mixed_kernel(const float *__restrict__ x, float *__restrict__ y, int turns)
{
    float value[COUNT];
    int i = blockIdx.x * THREADS + threadIdx.x, all = gridDim.x * THREADS;
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        value[k] = x[i + k * all];
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            value[k] += value[(k + COUNT / 3) % COUNT] * value[(k * 5 + 2) % COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        y[i + k * all] = value[k];
}

/* COUNT values that wait in the stack while a loop needs the registers. */
template <int COUNT, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    kept_kernel(const float *__restrict__ x, float *__restrict__ y, int turns)
{
    float value[COUNT], sum[16];
    int i = blockIdx.x * THREADS + threadIdx.x, all = gridDim.x * THREADS;
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        value[k] = x[i + k * all];
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum[k] = (float)(threadIdx.x + k);
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int k = 0; k < 16; k++)
            sum[k] = sum[k] * sum[(k + 5) % 16] + 0.5f;
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        y[i + k * all] = value[k] * sum[k % 16];
}

/* A GEMM with TM x TN outputs per thread; BLOCKS blocks of 256 threads must be resident. */
template <int TM, int TN, int BLOCKS>
__global__ void __launch_bounds__(256, BLOCKS)
    tight_product_kernel(const float *__restrict__ a, const float *__restrict__ b,
                         float *__restrict__ c, int n)
{
    const int BM = TM * 16, BN = TN * 16, BK = 8;
    __shared__ float left[BK][BM], right[BK][BN];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float sum[TM][TN] = {};
    a += blockIdx.y * BM * n, b += blockIdx.x * BN;
    for (int k = 0; k < n; k += BK) {
        for (int i = t; i < BM * BK; i += 256)
            left[i % BK][i / BK] = a[i / BK * n + k + i % BK];
        for (int i = t; i < BN * BK; i += 256)
            right[i / BN][i % BN] = b[(k + i / BN) * n + i % BN];
        __syncthreads();
#pragma unroll
        for (int d = 0; d < BK; d++)
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] += left[d][ty * TM + i] * right[d][tx * TN + j];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            c[(blockIdx.y * BM + ty * TM + i) * n + blockIdx.x * BN + tx * TN + j] = sum[i][j];
}

/* OUT x OUT outputs per thread of a 5 x 5 filter that lies in registers. */
template <int OUT, int BLOCKS>
__global__ void __launch_bounds__(256, BLOCKS)
    filter_kernel(const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y,
                  int width, int height)
{
    int column = (blockIdx.x * 32 + threadIdx.x % 32) * OUT,
        row = (blockIdx.y * 8 + threadIdx.x / 32) * OUT;
    float weight[25], sum[OUT][OUT] = {};
#pragma unroll
    for (int k = 0; k < 25; k++)
        weight[k] = w[k];
    if (column + OUT + 4 > width || row + OUT + 4 > height) return;
    for (int channel = 0; channel < 4; channel++) {
        const float *plane = x + (size_t)channel * width * height + row * width + column;
#pragma unroll
        for (int r = 0; r < OUT + 4; r++)
#pragma unroll
            for (int c = 0; c < OUT + 4; c++) {
                float pixel = plane[r * width + c];
#pragma unroll
                for (int i = 0; i < OUT; i++)
#pragma unroll
                    for (int j = 0; j < OUT; j++)
                        if (r >= i && r < i + 5 && c >= j && c < j + 5)
                            sum[i][j] += pixel * weight[(r - i) * 5 + c - j];
            }
    }
#pragma unroll
    for (int i = 0; i < OUT; i++)
#pragma unroll
        for (int j = 0; j < OUT; j++)
            y[(row + i) * width + column + j] = sum[i][j];
}

/* COUNT doubles, two registers each, and a division by a float in each iteration. */
template <int COUNT, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    doubles_kernel(const float *__restrict__ x, float *__restrict__ y, int turns)
{
    double value[COUNT];
    int i = blockIdx.x * THREADS + threadIdx.x, all = gridDim.x * THREADS;
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        value[k] = x[i + k * all];
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            value[k] += value[(k + 1) % COUNT] * value[(k * 3 + 2) % COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        y[i + k * all] = (float)value[k];
}

/* tool_validate subtracts the excess of this time from the other launches. */
__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    source = array_make(16 * MB);
    target = array_make(32 * MB);
#define A               source
#define B               (source + 4 * MB)
#define F(f, name, ...) ENTER(FIT, f, name, __VA_ARGS__)
#define H(f, name, ...) ENTER(REGRESSION, f, name, __VA_ARGS__)
    F("empty", "empty", empty_kernel<<<1, 32>>>());
    F("mixed-spills", "mixed-48", mixed_kernel<48, 256, 6><<<SMS * 6, 256>>>(A, target, 8));
    F("mixed-spills", "mixed-48-one", mixed_kernel<48, 256, 6><<<SMS, 256>>>(A, target, 8));
    F("mixed-spills", "mixed-48-single", mixed_kernel<48, 256, 6><<<1, 256>>>(A, target, 32));
    F("mixed-spills", "mixed-72", mixed_kernel<72, 128, 12><<<SMS * 12, 128>>>(A, target, 8));
    F("mixed-spills", "mixed-72-few", mixed_kernel<72, 128, 12><<<SMS * 2, 128>>>(A, target, 32));
    F("mixed-spills", "mixed-72-single", mixed_kernel<72, 128, 12><<<1, 128>>>(A, target, 32));
    H("mixed-spills", "mixed-56", mixed_kernel<56, 512, 3><<<SMS * 3, 512>>>(A, target, 8));
    H("mixed-spills", "mixed-56-one", mixed_kernel<56, 512, 3><<<SMS, 512>>>(A, target, 16));
    H("mixed-spills", "mixed-100", mixed_kernel<100, 256, 3><<<SMS * 3, 256>>>(A, target, 8));
    H("mixed-spills", "mixed-100-one", mixed_kernel<100, 256, 3><<<SMS, 256>>>(A, target, 24));
    F("spilled-values", "kept-32", kept_kernel<32, 256, 8><<<SMS * 8, 256>>>(A, target, 64));
    F("spilled-values", "kept-48", kept_kernel<48, 1024, 2><<<SMS * 2, 1024>>>(A, target, 16));
    H("spilled-values", "kept-40", kept_kernel<40, 512, 4><<<SMS * 4, 512>>>(A, target, 32));
    H("spilled-values", "kept-64", kept_kernel<64, 128, 12><<<SMS * 6, 128>>>(A, target, 64));
    F("spilled-gemm", "tight-8x8-3",
      tight_product_kernel<8, 8, 3><<<dim3(8, 8), 256>>>(A, B, target, 1024));
    F("spilled-gemm", "tight-8x8-4",
      tight_product_kernel<8, 8, 4><<<dim3(8, 8), 256>>>(A, B, target, 1024));
    F("spilled-gemm", "tight-4x4-8",
      tight_product_kernel<4, 4, 8><<<dim3(16, 16), 256>>>(A, B, target, 1024));
    H("spilled-gemm", "tight-8x4-5",
      tight_product_kernel<8, 4, 5><<<dim3(16, 8), 256>>>(A, B, target, 1024));
    H("spilled-gemm", "tight-8x8-4-512",
      tight_product_kernel<8, 8, 4><<<dim3(4, 4), 256>>>(A, B, target, 512));
    F("spilled-filter", "filter-4",
      filter_kernel<4, 6><<<dim3(16, 64), 256>>>(A, B, target, 2048, 2048));
    F("spilled-filter", "filter-2",
      filter_kernel<2, 8><<<dim3(32, 128), 256>>>(A, B, target, 2048, 2048));
    H("spilled-filter", "filter-3",
      filter_kernel<3, 7><<<dim3(20, 80), 256>>>(A, B, target, 2048, 2048));
    H("spilled-filter", "filter-4-8",
      filter_kernel<4, 8><<<dim3(8, 32), 256>>>(A, B, target, 1024, 1024));
    F("spilled-doubles", "doubles-24", doubles_kernel<24, 256, 6><<<SMS * 6, 256>>>(A, target, 8));
    H("spilled-doubles", "doubles-32", doubles_kernel<32, 512, 2><<<SMS * 2, 512>>>(A, target, 8));
    F("spilled-values", "kept-32-few", kept_kernel<32, 256, 8><<<SMS * 2, 256>>>(A, target, 64));
    F("spilled-values", "kept-56", kept_kernel<56, 256, 6><<<SMS * 6, 256>>>(A, target, 32));
    F("spilled-values", "kept-32-waves", kept_kernel<32, 256, 8><<<SMS * 12, 256>>>(A, target, 32));
    F("mixed-spills", "mixed-64", mixed_kernel<64, 256, 5><<<SMS * 5, 256>>>(A, target, 4));
    F("spilled-doubles", "doubles-40", doubles_kernel<40, 256, 3><<<SMS * 3, 256>>>(A, target, 8));
    F("spilled-gemm", "tight-4x8-6",
      tight_product_kernel<4, 8, 6><<<dim3(8, 16), 256>>>(A, B, target, 1024));
    H("spilled-values", "kept-72-one", kept_kernel<72, 256, 4><<<SMS, 256>>>(A, target, 64));
    H("spilled-values", "kept-48-half", kept_kernel<48, 1024, 2><<<SMS, 1024>>>(A, target, 16));
    H("spilled-values", "kept-40-waves", kept_kernel<40, 512, 4><<<SMS * 6, 512>>>(A, target, 16));
    H("mixed-spills", "mixed-80", mixed_kernel<80, 128, 8><<<SMS * 8, 128>>>(A, target, 8));
    H("mixed-spills", "mixed-40", mixed_kernel<40, 512, 4><<<SMS * 4, 512>>>(A, target, 4));
    H("spilled-doubles", "doubles-28", doubles_kernel<28, 256, 6><<<SMS * 6, 256>>>(A, target, 8));
    return measure_close();
}
