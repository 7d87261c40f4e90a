/* gemm.cuh - matrix products (part of sorting-and-graphs.cu). */

/* T x T outputs per block of 256, (T / 16) x (T / 16) per thread; the next tile is copied
 * meanwhile. */
template <int T>
__global__ void __launch_bounds__(256) gemm_async(const float *A, const float *B, float *C, int n)
{
    const int R = T / 16;
    __shared__ float As[2][T][16], Bs[2][16][T];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float sum[R][R] = {};
    auto load = [&](int k, int at) {
        for (int i = t; i < T * 4; i += 256) {
            __pipeline_memcpy_async(&As[at][i / 4][i % 4 * 4],
                                    &A[(blockIdx.y * T + i / 4) * n + k + i % 4 * 4], 16);
            __pipeline_memcpy_async(&Bs[at][i / (T / 4)][i % (T / 4) * 4],
                                    &B[(k + i / (T / 4)) * n + blockIdx.x * T + i % (T / 4) * 4],
                                    16);
        }
        __pipeline_commit();
    };
    load(0, 0);
    for (int k = 0, at = 0; k < n; k += 16, at ^= 1) {
        if (k + 16 < n) load(k + 16, at ^ 1);
        __pipeline_wait_prior(k + 16 < n);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 16; e++) {
            float l[R], r[R];
#pragma unroll
            for (int i = 0; i < R; i++)
                l[i] = As[at][ty * R + i][e], r[i] = Bs[at][e][tx + 16 * i];
#pragma unroll
            for (int i = 0; i < R; i++)
#pragma unroll
                for (int j = 0; j < R; j++)
                    sum[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++)
            C[(blockIdx.y * T + ty * R + i) * n + blockIdx.x * T + tx + 16 * j] = sum[i][j];
}

/* A part of the depth a block, sums by atomics. */
__global__ void gemm_split(const float *A, const float *B, float *C, int m, int n, int k, int part)
{
    __shared__ float As[32][33], Bs[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum[4] = {};
    for (int at = blockIdx.z * part; at < (blockIdx.z + 1) * part; at += 32) {
        for (int r = ty; r < 32; r += 8) {
            As[r][tx] = A[(blockIdx.y * 32 + r) * k + at + tx];
            Bs[r][tx] = B[(at + r) * n + blockIdx.x * 32 + tx];
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 32; e++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                sum[r] += As[ty + 8 * r][e] * Bs[e][tx];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        atomicAdd(&C[(blockIdx.y * 32 + ty + 8 * r) * n + blockIdx.x * 32 + tx], sum[r]);
}

/* Halves on the tensor cores, tiles of 64 x 64 x 32 by way of shared memory, four warps. */
__global__ void gemm_wmma(const __half *A, const __half *B, float *C, int n)
{
    using namespace nvcuda::wmma;
    __shared__ __half As[64][40], Bs[32][72];
    int warp = threadIdx.x / 32;
    fragment<accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 32) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            *(uint4 *)&As[i / 4][i % 4 * 8] =
                *(const uint4 *)&A[(blockIdx.y * 64 + i / 4) * n + k + i % 4 * 8];
            *(uint4 *)&Bs[i / 8][i % 8 * 8] =
                *(const uint4 *)&B[(k + i / 8) * n + blockIdx.x * 64 + i % 8 * 8];
        }
        __syncthreads();
        for (int e = 0; e < 32; e += 16) {
            fragment<matrix_a, 16, 16, 16, __half, row_major> l[2];
            fragment<matrix_b, 16, 16, 16, __half, row_major> r[2];
            for (int i = 0; i < 2; i++) {
                load_matrix_sync(l[i], &As[warp / 2 * 32 + i * 16][e], 40);
                load_matrix_sync(r[i], &Bs[e][warp % 2 * 32 + i * 16], 72);
            }
            for (int i = 0; i < 4; i++)
                mma_sync(sum[i / 2][i % 2], l[i / 2], r[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(&C[(blockIdx.y * 64 + warp / 2 * 32 + i / 2 * 16) * n + blockIdx.x * 64 +
                             warp % 2 * 32 + i % 2 * 16],
                          sum[i / 2][i % 2], n, mem_row_major);
}

__global__ void gemm_double(const double *A, const double *B, double *C, int n)
{
    __shared__ double As[16][16], Bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        As[threadIdx.y][threadIdx.x] = A[row * n + k + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * n + col];
        __syncthreads();
        for (int e = 0; e < 16; e++)
            sum += As[threadIdx.y][e] * Bs[e][threadIdx.x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

/* Four-bit weights with a scale for each 32: one warp per row, as a language model's decoder. */
__global__ void gemv_nibbles(const uint4 *w, const __half *scale, const float *x, float *y,
                             int depth)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < depth / 32; k += 32) {
        uint4 v = w[(size_t)row * depth / 32 + k];
        const uint32_t word[4] = {v.x, v.y, v.z, v.w};
        float part = 0;
#pragma unroll
        for (int j = 0; j < 32; j++)
            part += (float)((int)(word[j / 8] >> j % 8 * 4 & 15) - 8) * x[k * 32 + j];
        sum += part * __half2float(scale[(size_t)row * depth / 32 + k]);
    }
    for (int o = 16; o > 0; o >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, o);
    if (lane == 0) y[row] = sum;
}

static void products()
{
    E("gemm-async", "gemm-async-64", gemm_async<64><<<dim3(8, 8), 256>>>(a, b, c, 512));
    E("gemm-async", "gemm-async-128", gemm_async<128><<<dim3(6, 6), 256>>>(a, b, c, 768));
    E("gemm-split", "gemm-split",
      gemm_split<<<dim3(4, 4, 16), dim3(32, 8)>>>(a, b, c, 128, 128, 4096, 256));
    E("gemm-wmma", "gemm-wmma-768",
      gemm_wmma<<<dim3(12, 12), 128>>>((__half *)a, (__half *)b, c, 768));
    E("gemm-double", "gemm-double-384",
      gemm_double<<<dim3(24, 24), dim3(16, 16)>>>((double *)a, (double *)b, (double *)c, 384));
    E("gemv-nibbles", "gemv-nibbles",
      gemv_nibbles<<<512, 256>>>((uint4 *)keys, (__half *)a, b, c, 4096));
}
