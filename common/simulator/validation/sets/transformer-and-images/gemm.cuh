/* gemm.cuh - matrix products (part of transformer-and-images.cu). */

/* Any size: a 1D block computes a tile of 32 x 32. */
__global__ void gemm_any(const float *A, const float *B, float *C, int n, float alpha, float beta)
{
    int row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = alpha * sum + beta * C[row * n + column];
}

/* 128 x 128 a block of 128: a warp has 64 x 64 as four of 32 x 32, a thread 8 x 4 of each. */
__global__ void __launch_bounds__(128) gemm_warps(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[16][128], Bs[16][128];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wr = warp / 2 * 64, wc = warp % 2 * 64,
        tr = lane / 8 * 8, tc = lane % 8 * 4;
    A += blockIdx.y * 128 * n, B += blockIdx.x * 128;
    float sum[2][8][2][4] = {}, l[2][8], r[2][4];
    for (int k = 0; k < n; k += 16) {
        for (int row = t / 4; row < 128; row += 32) {
            float4 v = *(const float4 *)&A[row * n + k + t % 4 * 4];
            As[t % 4 * 4][row] = v.x, As[t % 4 * 4 + 1][row] = v.y;
            As[t % 4 * 4 + 2][row] = v.z, As[t % 4 * 4 + 3][row] = v.w;
        }
        for (int row = t / 32; row < 16; row += 4)
            *(float4 *)&Bs[row][lane * 4] = *(const float4 *)&B[(k + row) * n + lane * 4];
        __syncthreads();
        for (int e = 0; e < 16; e++) {
#pragma unroll
            for (int p = 0; p < 2; p++) {
#pragma unroll
                for (int i = 0; i < 8; i++)
                    l[p][i] = As[e][wr + p * 32 + tr + i];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    r[p][j] = Bs[e][wc + p * 32 + tc + j];
            }
#pragma unroll
            for (int p = 0; p < 2; p++)
#pragma unroll
                for (int i = 0; i < 8; i++)
#pragma unroll
                    for (int q = 0; q < 2; q++)
#pragma unroll
                        for (int j = 0; j < 4; j++)
                            sum[p][i][q][j] += l[p][i] * r[q][j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int q = 0; q < 2; q++)
                *(float4 *)&C[(blockIdx.y * 128 + wr + p * 32 + tr + i) * n + blockIdx.x * 128 +
                              wc + q * 32 + tc] =
                    make_float4(sum[p][i][q][0], sum[p][i][q][1], sum[p][i][q][2], sum[p][i][q][3]);
}

/* Many rows, 16 columns; the narrow factor in shared memory. */
__global__ void gemm_tall(const float *A, const float *B, float *C, int depth)
{
    extern __shared__ float s[];
    for (int k = threadIdx.x; k < depth * 16; k += 256)
        s[k] = B[k];
    __syncthreads();
    int row = blockIdx.x * 16 + threadIdx.x / 16, column = threadIdx.x % 16;
    const float *from = A + (size_t)row * depth;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < depth; k++)
        sum += from[k] * s[k * 16 + column];
    C[row * 16 + column] = sum;
}

/* Batch of small square matrices, one block each. */
__global__ void batched_16(const float *A, const float *B, float *C)
{
    __shared__ float x[16][17], z[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, at = blockIdx.x * 256 + ty * 16 + tx;
    x[ty][tx] = A[at], z[ty][tx] = B[at];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += x[ty][k] * z[k][tx];
    C[at] = sum;
}

/* Smaller ones, a thread each: vectors of a homogeneous transformation. */
__global__ void batched_4(const float4 *A, const float4 *B, float4 *C, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 r[4];
    for (int k = 0; k < 4; k++)
        r[k] = B[i * 4 + k];
    for (int k = 0; k < 4; k++) {
        float4 l = A[i * 4 + k];
        C[i * 4 + k] = make_float4(l.x * r[0].x + l.y * r[1].x + l.z * r[2].x + l.w * r[3].x,
                                   l.x * r[0].y + l.y * r[1].y + l.z * r[2].y + l.w * r[3].y,
                                   l.x * r[0].z + l.y * r[1].z + l.z * r[2].z + l.w * r[3].z,
                                   l.x * r[0].w + l.y * r[1].w + l.z * r[2].w + l.w * r[3].w);
    }
}

/* Bytes, four to a word: 64 x 64 a block of 256, 4 x 4 a thread; sums are made bytes again. */
__global__ void gemm_quarters(const int *A, const int *B, signed char *C, int n, float scale)
{
    __shared__ int As[8][65], Bs[8][65];
    int t = threadIdx.x, tr = t / 16 * 4, tc = t % 16 * 4, sum[4][4] = {};
    for (int k = 0; k < n / 4; k += 8) {
        for (int e = t; e < 512; e += 256) {
            As[e % 8][e / 8] = A[(blockIdx.y * 64 + e / 8) * (n / 4) + k + e % 8];
            Bs[e % 8][e / 8] = B[(blockIdx.x * 64 + e / 8) * (n / 4) + k + e % 8];
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 8; e++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] = __dp4a(As[e][tr + i], Bs[e][tc + j], sum[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            C[(blockIdx.y * 64 + tr + i) * n + blockIdx.x * 64 + tc + j] =
                (signed char)max(-127, min(127, __float2int_rn((float)sum[i][j] * scale)));
}

/* mma.sync on halves: 128 x 128 a block of eight warps, three stages of 32 in the background. */
__global__ void __launch_bounds__(256) gemm_mma(const __half *A, const __half *B, float *C, int n)
{
    extern __shared__ __half space[];
    const int stage = 128 * 40 + 32 * 136;
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wr = warp / 4 * 64, wc = warp % 4 * 32;
    A += (size_t)blockIdx.y * 128 * n, B += blockIdx.x * 128;
    auto fetch = [&](int k, __half *to) {
        for (int e = t; e < 512; e += 256) {
            __pipeline_memcpy_async(to + e / 4 * 40 + e % 4 * 8,
                                    A + (size_t)(e / 4) * n + k + e % 4 * 8, 16);
            __pipeline_memcpy_async(to + 128 * 40 + e / 16 * 136 + e % 16 * 8,
                                    B + (size_t)(k + e / 16) * n + e % 16 * 8, 16);
        }
    };
    float sum[4][4][4] = {};
    for (int k = 0; k < 2; k++)
        fetch(k * 32, space + k * stage), __pipeline_commit();
    for (int k = 0, at = 0; k < n; k += 32, at = at == 2 ? 0 : at + 1) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (k + 64 < n) fetch(k + 64, space + (at == 0 ? 2 : at - 1) * stage);
        __pipeline_commit();
        const __half *As = space + at * stage, *Bs = As + 128 * 40;
#pragma unroll
        for (int e = 0; e < 32; e += 16) {
            uint32_t x[4][4], z[4][2];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t from = (uint32_t)__cvta_generic_to_shared(
                    As + (wr + i * 16 + lane % 16) * 40 + e + lane / 16 * 8);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                             : "r"(from));
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t from =
                    (uint32_t)__cvta_generic_to_shared(Bs + (e + lane % 16) * 136 + wc + j * 8);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                             : "=r"(z[j][0]), "=r"(z[j][1])
                             : "r"(from));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]),
                                   "+f"(sum[i][j][3])
                                 : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]),
                                   "r"(z[j][0]), "r"(z[j][1]));
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float *to = C + (size_t)(blockIdx.y * 128 + wr + i * 16 + lane / 4) * n +
                        blockIdx.x * 128 + wc + j * 8 + lane % 4 * 2;
            *(float2 *)to = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)(to + 8 * (size_t)n) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}

static void gemm_mma_launch(int n)
{
    int bytes = 3 * (128 * 40 + 32 * 136) * 2;
    cudaFuncSetAttribute(gemm_mma, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    gemm_mma<<<dim3(n / 128, n / 128), 256, bytes>>>((__half *)a, (__half *)b, c, n);
}

/* Two columns of halves per thread. */
__global__ void gemm_pairs(const __half *A, const __half2 *B, __half2 *C, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 sum = __float2half2_rn(0);
    for (int k = 0; k < n; k++)
        sum = __hfma2(__half2half2(A[row * n + k]), B[k * n / 2 + column], sum);
    C[row * n / 2 + column] = sum;
}

/* One warp per row of halves, eight a lane at a time. */
__global__ void gemv_half(const uint4 *w, const float4 *x, float *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < n / 8; k += 32) {
        union {
            uint4 all;
            __half2 two[4];
        } v;
        v.all = w[(size_t)row * (n / 8) + k];
        float4 p = x[2 * k], q = x[2 * k + 1];
        float2 f0 = __half22float2(v.two[0]), f1 = __half22float2(v.two[1]),
               f2 = __half22float2(v.two[2]), f3 = __half22float2(v.two[3]);
        sum += f0.x * p.x + f0.y * p.y + f1.x * p.z + f1.y * p.w;
        sum += f2.x * q.x + f2.y * q.y + f3.x * q.z + f3.y * q.w;
    }
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

/* Two matrices times one vector, one thread per row. */
__global__ void gesummv(const float *A, const float *B, const float *x, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float left = 0, right = 0;
    for (int k = 0; k < n; k++)
        left += A[i * n + k] * x[k], right += B[i * n + k] * x[k];
    y[i] = 1.5f * left + 1.2f * right;
}

/* A matrix by its own rows; the sums lie in memory. */
__global__ void syrk(const float *A, float *C, int n, int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    C[i * n + j] *= 0.5f;
    for (int k = 0; k < m; k++)
        C[i * n + j] += 0.1f * A[i * m + k] * A[j * m + k];
}

/* One thread per column, all later columns one by one. */
__global__ void covariance(const float *x, float *y, int m, int n)
{
    GLOBAL_I;
    if (i >= m) return;
    for (int j = i; j < m; j++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += x[k * m + i] * x[k * m + j];
        y[i * m + j] = sum, y[j * m + i] = sum;
    }
}

/* A triangle of n, a right side a thread. */
__global__ void solve_lower(const float *L, const float *right, float *x, int n, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    for (int r = 0; r < n; r++) {
        float sum = right[r * count + i];
        for (int k = 0; k < r; k++)
            sum -= L[r * n + k] * x[k * count + i];
        x[r * count + i] = sum / (2.0f + L[r * n + r]);
    }
}

__global__ void outer_add(float *A, const float *x, const float *y, int width)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    A[(size_t)row * width + column] += 0.01f * x[row] * y[column];
}

static void products()
{
    E("gemm-any", "gemm-any-333", gemm_any<<<dim3(11, 11), 1024>>>(a, b, c, 333, 0.5f, 0.25f));
    E("gemm-warps", "gemm-warps-768", gemm_warps<<<dim3(6, 6), 128>>>(a, b, c, 768));
    E("gemm-tall", "gemm-tall", gemm_tall<<<1024, 256, 128 * 64>>>(a, b, c, 128));
    E("batched", "batched-16", batched_16<<<2500, dim3(16, 16)>>>(a, b, c));
    E("batched", "batched-4",
      batched_4<<<500, 192>>>((float4 *)a, (float4 *)b, (float4 *)c, 96000));
    E("gemm-quarters", "gemm-quarters-768",
      gemm_quarters<<<dim3(12, 12), 256>>>((int *)a, (int *)b, (signed char *)c, 768, 1e-4f));
    E("gemm-mma", "gemm-mma-1024", gemm_mma_launch(1024));
    E("gemm-mma", "gemm-mma-2048", gemm_mma_launch(2048));
    E("gemm-pairs", "gemm-pairs-384",
      gemm_pairs<<<dim3(6, 48), dim3(32, 8)>>>((__half *)a, (__half2 *)b, (__half2 *)c, 384));
    E("gemv-half", "gemv-half", gemv_half<<<1024, 128>>>((uint4 *)a, (float4 *)b, c, 4096));
    E("gesummv", "gesummv-1000", gesummv<<<8, 128>>>(a, b, b + 4 * MB, c, 1000));
    E("syrk", "syrk-200", syrk<<<dim3(7, 25), dim3(32, 8)>>>(a, c, 200, 200));
    E("covariance", "covariance", covariance<<<1, 192>>>(a, c, 192, 128));
    E("solve-lower", "solve-lower", solve_lower<<<32, 128>>>(a, b, c, 96, 4096));
    E("outer-add", "outer-add", outer_add<<<dim3(4, 1500), 256>>>(c, a, b, 1024));
}
