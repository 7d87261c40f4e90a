/* gemm.cuh - products of matrices and vectors in the variants of courses, row-major (part of
 * common-kernels.cu). */

/* One thread per element of C, whose rows are n long. */
__global__ void product_simple(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

/* A tile of T x T in shared memory, one element per thread. */
template <int T>
__global__ void product_tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    for (int t = 0; t < (k + T - 1) / T; t++) {
        as[ty][tx] = row < m && t * T + tx < k ? a[row * k + t * T + tx] : 0.0f;
        bs[ty][tx] = col < n && t * T + ty < k ? b[(t * T + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

/* 64 x 64 elements per block of 16 x 16 threads, 4 x 4 a thread; 16 of K at a time. */
__global__ void product_four(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float as[16][65], bs[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, id = ty * 16 + tx;
    float sum[4][4] = {};
    const float *from_a = a + blockIdx.y * 64 * k, *from_b = b + blockIdx.x * 64;
    for (int t = 0; t < k; t += 16) {
        for (int i = id; i < 1024; i += 256) {
            as[i % 16][i / 16] = from_a[i / 16 * k + t + i % 16];
            bs[i / 64][i % 64] = from_b[(t + i / 64) * n + i % 64];
        }
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            float u[4], v[4];
            for (int j = 0; j < 4; j++)
                u[j] = as[i][ty * 4 + j], v[j] = bs[i][tx + 16 * j];
            for (int p = 0; p < 4; p++)
                for (int q = 0; q < 4; q++)
                    sum[p][q] += u[p] * v[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++)
            c[(blockIdx.y * 64 + ty * 4 + p) * n + blockIdx.x * 64 + tx + 16 * q] = sum[p][q];
}

/* 128 x 128 elements per block of 256 threads, 8 x 8 a thread; vectors of four, and the next tiles
 * are in flight while these are multiplied. */
__global__ void __launch_bounds__(256)
    product_eight(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                  int n, int k)
{
    __shared__ float as[2][8][128], bs[2][8][128];
    int id = threadIdx.x, tx = id % 16, ty = id / 16;
    int a_row = id / 2, a_col = id % 2 * 4, b_row = id / 32, b_col = id % 32 * 4;
    const float *from_a = a + (blockIdx.y * 128 + a_row) * k + a_col,
                *from_b = b + b_row * n + blockIdx.x * 128 + b_col;
    float sum[8][8] = {};
    float4 next_a = *(const float4 *)from_a, next_b = *(const float4 *)from_b;
    int now = 0;
    for (int t = 0; t < k; t += 8, now ^= 1) {
        as[now][a_col][a_row] = next_a.x, as[now][a_col + 1][a_row] = next_a.y;
        as[now][a_col + 2][a_row] = next_a.z, as[now][a_col + 3][a_row] = next_a.w;
        *(float4 *)&bs[now][b_row][b_col] = next_b;
        __syncthreads();
        if (t + 8 < k) {
            next_a = *(const float4 *)(from_a + t + 8);
            next_b = *(const float4 *)(from_b + (t + 8) * n);
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float u[8], v[8];
            *(float4 *)u = *(float4 *)&as[now][i][ty * 4];
            *(float4 *)(u + 4) = *(float4 *)&as[now][i][64 + ty * 4];
            *(float4 *)v = *(float4 *)&bs[now][i][tx * 4];
            *(float4 *)(v + 4) = *(float4 *)&bs[now][i][64 + tx * 4];
#pragma unroll
            for (int p = 0; p < 8; p++)
#pragma unroll
                for (int q = 0; q < 8; q++)
                    sum[p][q] += u[p] * v[q];
        }
    }
#pragma unroll
    for (int p = 0; p < 8; p++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int row = blockIdx.y * 128 + p / 4 * 64 + ty * 4 + p % 4;
            *(float4 *)&c[row * n + blockIdx.x * 128 + h * 64 + tx * 4] =
                make_float4(sum[p][h * 4], sum[p][h * 4 + 1], sum[p][h * 4 + 2], sum[p][h * 4 + 3]);
        }
}

/* C = A^T B: both are read along their rows. */
__global__ void product_turned(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16, col = blockIdx.x * 16;
    float sum = 0;
    for (int t = 0; t < k; t += 16) {
        as[ty][tx] = a[(t + ty) * m + row + tx];
        bs[ty][tx] = b[(t + ty) * n + col + tx];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
            sum += as[i][ty] * bs[i][tx];
        __syncthreads();
    }
    c[(row + ty) * n + col + tx] = sum;
}

/* Small matrices, one a block: 32 x 32 threads. */
__global__ void products_of_32(const float *a, const float *b, float *c)
{
    __shared__ float as[32][33], bs[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, at = blockIdx.x * 1024 + ty * 32 + tx;
    as[ty][tx] = a[at], bs[ty][tx] = b[at];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 32; i++)
        sum += as[ty][i] * bs[i][tx];
    c[at] = sum;
}

/* Smaller ones, one a thread, in registers: 4 x 4. */
__global__ void products_of_4(const float4 *a, const float4 *b, float4 *c, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 v[4];
    for (int r = 0; r < 4; r++)
        v[r] = b[i * 4 + r];
    for (int r = 0; r < 4; r++) {
        float4 u = a[i * 4 + r];
        c[i * 4 + r] = make_float4(u.x * v[0].x + u.y * v[1].x + u.z * v[2].x + u.w * v[3].x,
                                   u.x * v[0].y + u.y * v[1].y + u.z * v[2].y + u.w * v[3].y,
                                   u.x * v[0].z + u.y * v[1].z + u.z * v[2].z + u.w * v[3].z,
                                   u.x * v[0].w + u.y * v[1].w + u.z * v[2].w + u.w * v[3].w);
    }
}

/* y = A x, one row per warp. */
__global__ void rows_by_warps(const float *a, const float *x, float *y, int m, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    float sum = 0;
    for (int i = lane; i < n; i += 32)
        sum += a[row * n + i] * x[i];
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (!lane) y[row] = sum;
}

/* y = A^T x, one column per thread, parts of the rows by blocks, added by atomics. */
__global__ void columns_by_threads(const float *a, const float *x, float *y, int m, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, part = m / gridDim.y;
    if (col >= n) return;
    float sum = 0;
    for (int i = blockIdx.y * part; i < (int)(blockIdx.y + 1) * part; i++)
        sum += a[i * n + col] * x[i];
    atomicAdd(&y[col], sum);
}

__global__ void product_doubles(const double *a, const double *b, double *c, int n)
{
    __shared__ double as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    double sum = 0;
    for (int t = 0; t < n; t += 16) {
        as[ty][tx] = a[row * n + t + tx], bs[ty][tx] = b[(t + ty) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

/* Bytes of A's rows by those of B's columns, four at a time. */
__global__ void product_bytes(const int *a, const int *b, int *c, int n, int k)
{
    __shared__ int as[16][17], bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, sum = 0;
    for (int t = 0; t < k; t += 16) {
        as[ty][tx] = a[(blockIdx.y * 16 + ty) * k + t + tx];
        bs[ty][tx] = b[(blockIdx.x * 16 + ty) * k + t + tx];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum = __dp4a(as[ty][i], bs[tx][i], sum);
        __syncthreads();
    }
    c[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = sum;
}

/* Halves on tensor cores: a warp has 16 x 64 of C, a block of four warps 64 x 64; both tiles go
 * through shared memory, padded by eight. */
__global__ void __launch_bounds__(128)
    product_halves(const __half *a, const __half *b, float *c, int n, int k)
{
    __shared__ __align__(32) __half as[64][40], bs[32][72];
    int id = threadIdx.x, warp = id / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    for (int j = 0; j < 4; j++)
        wmma::fill_fragment(sum[j], 0.0f);
    for (int t = 0; t < k; t += 32) {
        for (int i = id; i < 256; i += 128) {
            *(uint4 *)&as[i / 4][i % 4 * 8] =
                *(const uint4 *)&a[(blockIdx.y * 64 + i / 4) * k + t + i % 4 * 8];
            *(uint4 *)&bs[i / 8][i % 8 * 8] =
                *(const uint4 *)&b[(t + i / 8) * n + blockIdx.x * 64 + i % 8 * 8];
        }
        __syncthreads();
        for (int s = 0; s < 32; s += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> u;
            wmma::load_matrix_sync(u, &as[warp * 16][s], 40);
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> v;
                wmma::load_matrix_sync(v, &bs[s][j * 16], 72);
                wmma::mma_sync(sum[j], u, v, sum[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(&c[(blockIdx.y * 64 + warp * 16) * n + blockIdx.x * 64 + j * 16],
                                sum[j], n, wmma::mem_row_major);
}

/* A rank more: A += x y^T. */
__global__ void rank_one(float *a, const float *x, const float *y, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) a[row * n + col] += x[row] * y[col];
}

static void products()
{
    static const dim3 quarter(16, 16), whole(32, 32);
    E("gemm", "simple-640", product_simple<<<dim3(40, 40), quarter>>>(a, b, c, 640, 640, 640));
    E("gemm", "simple-wide",
      product_simple<<<dim3(8, 160), dim3(128, 1)>>>(a, b, c, 160, 1000, 700));
    E("gemm", "tiled-16-640", product_tiled<16><<<dim3(40, 40), quarter>>>(a, b, c, 640, 640, 640));
    E("gemm", "tiled-32-640", product_tiled<32><<<dim3(20, 20), whole>>>(a, b, c, 640, 640, 640));
    E("gemm", "tiled-16-odd", product_tiled<16><<<dim3(19, 26), quarter>>>(a, b, c, 401, 301, 777));
    E("gemm", "tiled-8-320",
      product_tiled<8><<<dim3(40, 40), dim3(8, 8)>>>(a, b, c, 320, 320, 320));
    E("gemm-4x4", "four-768", product_four<<<dim3(12, 12), quarter>>>(a, b, c, 768, 768));
    E("gemm-4x4", "four-tall", product_four<<<dim3(4, 48), quarter>>>(a, b, c, 256, 512));
    E("gemm-8x8", "eight-1024", product_eight<<<dim3(8, 8), 256>>>(a, b, c, 1024, 1024));
    E("gemm-8x8", "eight-2048", product_eight<<<dim3(16, 16), 256>>>(a, b, c, 2048, 256));
    E("gemm", "turned-512", product_turned<<<dim3(32, 32), quarter>>>(a, b, c, 512, 512, 512));
    E("small", "of-32", products_of_32<<<2000, whole>>>(a, b, c));
    E("small", "of-4",
      products_of_4<<<600, 256>>>((const float4 *)a, (const float4 *)b, (float4 *)c, 150000));
    E("vector", "warps-3000", rows_by_warps<<<750, 128>>>(a, b, c, 3000, 2500));
    E("vector", "warps-long", rows_by_warps<<<32, 256>>>(a, b, c, 256, 20000));
    E("vector", "columns-2048", columns_by_threads<<<dim3(8, 32), 256>>>(a, b, c, 2048, 2048));
    E("gemm-doubles", "doubles-320",
      product_doubles<<<dim3(20, 20), quarter>>>((const double *)a, (const double *)b, (double *)c,
                                                 320));
    E("gemm-bytes", "bytes-768",
      product_bytes<<<dim3(48, 48), quarter>>>((const int *)a, (const int *)b, (int *)c, 768, 192));
    E("gemm-halves", "halves-1024",
      product_halves<<<dim3(16, 16), 128>>>(halves, halves + MB, c, 1024, 1024));
    E("gemm-halves", "halves-flat",
      product_halves<<<dim3(48, 2), 128>>>(halves, halves + MB, c, 3072, 768));
    E("vector", "rank-one-2000", rank_one<<<dim3(63, 250), dim3(32, 8)>>>(e, a, b, 2000));
}
