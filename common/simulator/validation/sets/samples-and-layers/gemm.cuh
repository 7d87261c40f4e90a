/* gemm.cuh - matrix products (part of samples-and-layers.cu). */

__global__ void matmul(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}

template <int T> __global__ void matmul_shared(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[T][T], Bs[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (n + T - 1) / T; t++) {
        int i = t * T + threadIdx.x, j = t * T + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = row < n && i < n ? A[row * n + i] : 0;
        Bs[threadIdx.y][threadIdx.x] = j < n && col < n ? B[j * n + col] : 0;
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}

/* A column of eight outputs per thread: 64 x 64 a block of 512. */
__global__ void matmul_column(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[64 * 8], Bs[8 * 64];
    int tc = threadIdx.x % 64, tr = threadIdx.x / 64;
    const float *Ab = A + blockIdx.y * 64 * n, *Bb = B + blockIdx.x * 64;
    float sum[8] = {};
    for (int k = 0; k < n; k += 8) {
        As[threadIdx.x] = Ab[threadIdx.x / 8 * n + k + threadIdx.x % 8];
        Bs[threadIdx.x] = Bb[(k + threadIdx.x / 64) * n + threadIdx.x % 64];
        __syncthreads();
        for (int d = 0; d < 8; d++) {
            float right = Bs[d * 64 + tc];
            for (int r = 0; r < 8; r++)
                sum[r] += As[(tr * 8 + r) * 8 + d] * right;
        }
        __syncthreads();
    }
    for (int r = 0; r < 8; r++)
        C[(blockIdx.y * 64 + tr * 8 + r) * n + blockIdx.x * 64 + tc] = sum[r];
}

/* 8 x 8 outputs per thread, float4 all the way; DOUBLE: the next tile is loaded meanwhile. */
template <bool DOUBLE>
__global__ void __launch_bounds__(256)
    matmul_vector(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[2][8][128], Bs[2][8][128];
    int t = threadIdx.x, tr = t / 16, tc = t % 16;
    const float *Ab = A + (blockIdx.y * 128 + t / 2) * n + t % 2 * 4;
    const float *Bb = B + t / 32 * n + blockIdx.x * 128 + t % 32 * 4;
    float sum[8][8] = {}, l[8], r[8];
    float4 x = *(const float4 *)Ab, y = *(const float4 *)Bb;
    for (int k = 0, at = 0; k < n; k += 8, at ^= DOUBLE) {
        if (!DOUBLE) x = *(const float4 *)(Ab + k), y = *(const float4 *)(Bb + k * n);
        As[at][t % 2 * 4][t / 2] = x.x, As[at][t % 2 * 4 + 1][t / 2] = x.y;
        As[at][t % 2 * 4 + 2][t / 2] = x.z, As[at][t % 2 * 4 + 3][t / 2] = x.w;
        *(float4 *)&Bs[at][t / 32][t % 32 * 4] = y;
        __syncthreads();
        if (DOUBLE && k + 8 < n)
            x = *(const float4 *)(Ab + k + 8), y = *(const float4 *)(Bb + (k + 8) * n);
#pragma unroll
        for (int d = 0; d < 8; d++) {
            *(float4 *)l = *(float4 *)&As[at][d][tr * 8],
                     *(float4 *)(l + 4) = *(float4 *)&As[at][d][tr * 8 + 4];
            *(float4 *)r = *(float4 *)&Bs[at][d][tc * 4],
                     *(float4 *)(r + 4) = *(float4 *)&Bs[at][d][64 + tc * 4];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += l[i] * r[j];
        }
        if (!DOUBLE) __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float *row = C + (blockIdx.y * 128 + tr * 8 + i) * n + blockIdx.x * 128 + tc * 4;
        *(float4 *)row = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        *(float4 *)(row + 64) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
    }
}

/* 4 x 8 outputs per thread of 128, rows padded against bank conflicts. */
__global__ void matmul_4x8(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[16][65], Bs[16][64];
    int t = threadIdx.x, tr = t / 8, tc = t % 8;
    float sum[4][8] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = t; i < 1024; i += 128) {
            As[i % 16][i / 16] = A[(blockIdx.y * 64 + i / 16) * n + k + i % 16];
            Bs[i / 64][i % 64] = B[(k + i / 64) * n + blockIdx.x * 64 + i % 64];
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < 16; d++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += As[d][tr * 4 + i] * Bs[d][tc + j * 8];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            C[(blockIdx.y * 64 + tr * 4 + i) * n + blockIdx.x * 64 + tc + j * 8] = sum[i][j];
}

__global__ void matmul_half(const __half *A, const __half *B, __half *C, int n)
{
    __shared__ __half2 As[16][16], Bs[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    __half2 sum = __floats2half2_rn(0, 0);
    for (int k = 0; k < n; k += 32) {
        As[threadIdx.y][threadIdx.x] = *(const __half2 *)&A[row * n + k + threadIdx.x * 2];
        Bs[threadIdx.x][threadIdx.y] =
            *(const __half2 *)&B[(blockIdx.x * 16 + threadIdx.y) * n + k + threadIdx.x * 2];
        __syncthreads();
        for (int d = 0; d < 16; d++)
            sum = __hfma2(As[threadIdx.y][d], Bs[d][threadIdx.x], sum);
        __syncthreads();
    }
    C[row * n + col] = __hadd(__low2half(sum), __high2half(sum));
}

__global__ void matmul_bytes(const int *A, const int *B, int *C, int n)
{
    __shared__ int As[16][16], Bs[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x, sum = 0;
    for (int k = 0; k < n / 4; k += 16) {
        As[threadIdx.y][threadIdx.x] = A[row * n / 4 + k + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(blockIdx.x * 16 + threadIdx.y) * n / 4 + k + threadIdx.x];
        __syncthreads();
        for (int d = 0; d < 16; d++)
            sum = __dp4a(As[threadIdx.y][d], Bs[threadIdx.x][d], sum);
        __syncthreads();
    }
    C[row * n + col] = sum;
}

__global__ void matmul_wmma(const __half *A, const __half *B, float *C, int n)
{
    using namespace nvcuda::wmma;
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16,
        col = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    fragment<matrix_a, 16, 16, 16, __half, row_major> x;
    fragment<matrix_b, 16, 16, 16, __half, row_major> y;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(x, A + row * n + k, n);
        load_matrix_sync(y, B + k * n + col, n);
        mma_sync(sum, x, y, sum);
    }
    store_matrix_sync(C + row * n + col, sum, n, mem_row_major);
}

__global__ void matvec_block(const float *A, const float *x, float *y, int n)
{
    __shared__ float part[128];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 128)
        sum += A[(size_t)blockIdx.x * n + i] * x[i];
    part[threadIdx.x] = sum;
    for (int s = 64; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

static void products()
{
    E("matmul", "matmul-200", matmul<<<dim3(13, 13), dim3(16, 16)>>>(a, b, c, 200));
    E("matmul", "matmul-512", matmul<<<dim3(32, 32), dim3(16, 16)>>>(a, b, c, 512));
    E("matmul", "matmul-32", matmul<<<dim3(12, 48), dim3(32, 8)>>>(a, b, c, 384));
    E("matmul-shared", "matmul-shared-8",
      matmul_shared<8><<<dim3(32, 32), dim3(8, 8)>>>(a, b, c, 256));
    E("matmul-shared", "matmul-shared-16",
      matmul_shared<16><<<dim3(32, 32), dim3(16, 16)>>>(a, b, c, 512));
    E("matmul-shared", "matmul-shared-32",
      matmul_shared<32><<<dim3(10, 10), dim3(32, 32)>>>(a, b, c, 320));
    E("matmul-column", "matmul-column", matmul_column<<<dim3(8, 8), 512>>>(a, b, c, 512));
    E("matmul-column", "matmul-column-1024", matmul_column<<<dim3(16, 16), 512>>>(a, b, c, 1024));
    E("matmul-vector", "matmul-vector-512",
      matmul_vector<false><<<dim3(4, 4), 256>>>(a, b, c, 512));
    E("matmul-vector", "matmul-vector-1024",
      matmul_vector<false><<<dim3(8, 8), 256>>>(a, b, c, 1024));
    E("matmul-vector", "matmul-double-512", matmul_vector<true><<<dim3(4, 4), 256>>>(a, b, c, 512));
    E("matmul-vector", "matmul-double-1536",
      matmul_vector<true><<<dim3(12, 12), 256>>>(a, b, c, 1536));
    E("matmul-4x8", "matmul-4x8-768", matmul_4x8<<<dim3(12, 12), 128>>>(a, b, c, 768));
    E("matmul-half", "matmul-half-512",
      matmul_half<<<dim3(32, 32), dim3(16, 16)>>>((__half *)a, (__half *)b, (__half *)c, 512));
    E("matmul-bytes", "matmul-bytes-512",
      matmul_bytes<<<dim3(32, 32), dim3(16, 16)>>>((int *)a, (int *)b, (int *)c, 512));
    E("matmul-wmma", "matmul-wmma-512",
      matmul_wmma<<<dim3(8, 8), dim3(128, 4)>>>((__half *)a, (__half *)b, c, 512));
    E("matmul-4x8", "matmul-4x8-256", matmul_4x8<<<dim3(4, 4), 128>>>(a, b, c, 256));
    E("matmul-wmma", "matmul-wmma-1024",
      matmul_wmma<<<dim3(16, 16), dim3(128, 4)>>>((__half *)a, (__half *)b, c, 1024));
    E("matvec", "matvec-block", matvec_block<<<2048, 128>>>(a, b, c, 2048));
}
