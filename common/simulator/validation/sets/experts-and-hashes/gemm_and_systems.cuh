/* gemm_and_systems.cuh - streams, reductions of rows, matrix products, small linear systems
 * (part of experts-and-hashes.cu). */

/* ---- streams and sums of rows ---------------------------------------------------------------- */

template <class T> __global__ void triad(const T *x, const T *z, T *y, T s, int n)
{
    GLOBAL_I;
    if (i < n) y[i] = x[i] + s * z[i];
}

__global__ void triad_halves(const __half2 *x, const __half2 *z, __half2 *y, float s, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x)
        y[i] = __hfma2(__float2half2_rn(s), z[i], x[i]);
}

__global__ void triad_bytes(const uchar4 *x, const uchar4 *z, uchar4 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uchar4 u = x[i], v = z[i];
    y[i] = make_uchar4(min(u.x + 3 * v.x, 255), min(u.y + 3 * v.y, 255), min(u.z + 3 * v.z, 255),
                       min(u.w + 3 * v.w, 255));
}

/* Sums of rows: one thread per row; tiles transposed in shared memory; one block per row in
 * doubles. */
__global__ void rows_by_threads(const float *x, float *y, int width, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < width; k++)
        sum += x[(size_t)i * width + k];
    y[i] = sum;
}

__global__ void rows_by_tiles(const float *x, float *y, int width)
{
    __shared__ float s[32][33];
    float sum = 0;
    for (int from = 0; from < width; from += 32) {
        for (int r = threadIdx.y; r < 32; r += 8)
            s[r][threadIdx.x] = x[(size_t)(blockIdx.x * 32 + r) * width + from + threadIdx.x];
        __syncthreads();
        if (threadIdx.y == 0)
            for (int k = 0; k < 32; k++)
                sum += s[threadIdx.x][k];
        __syncthreads();
    }
    if (threadIdx.y == 0) y[blockIdx.x * 32 + threadIdx.x] = sum;
}

__global__ void rows_in_doubles(const float4 *x, double *y, int fours)
{
    __shared__ double part[4];
    double sum = 0;
    for (int k = threadIdx.x; k < fours; k += 128) {
        float4 v = x[(size_t)blockIdx.x * fours + k];
        sum += (double)v.x + v.y + v.z + v.w;
    }
    for (int o = 16; o > 0; o >>= 1)
        sum += __shfl_down_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}

/* Sums of columns of bytes, four columns per thread, many rows per block, added at the end. */
__global__ void columns_of_bytes(const uchar4 *x, uint32_t *y, int fours, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= fours) return;
    uint32_t p = 0, q = 0, r = 0, s = 0;
    for (int row = blockIdx.y; row < n; row += gridDim.y) {
        uchar4 v = x[(size_t)row * fours + k];
        p += v.x, q += v.y, r += v.z, s += v.w;
    }
    atomicAdd(&y[4 * k], p), atomicAdd(&y[4 * k + 1], q);
    atomicAdd(&y[4 * k + 2], r), atomicAdd(&y[4 * k + 3], s);
}

/* ---- matrix products ------------------------------------------------------------------------- */

/* Doubles, 64 x 64 a block of 256, four by four a thread. */
__global__ void __launch_bounds__(256)
    dgemm_shared(const double *A, const double *B, double *C, int n, int depth)
{
    __shared__ double left[16][65], right[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    double sum[4][4] = {};
    A += (size_t)blockIdx.y * 64 * depth, B += blockIdx.x * 64;
    for (int k = 0; k < depth; k += 16) {
        for (int i = t; i < 1024; i += 256)
            left[i % 16][i / 16] = A[(size_t)(i / 16) * depth + k + i % 16],
                             right[i / 64][i % 64] = B[(size_t)(k + i / 64) * n + i % 64];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) {
            double l[4], r[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                l[i] = left[j][ty + 16 * i], r[i] = right[j][tx + 16 * i];
#pragma unroll
            for (int i = 0; i < 16; i++)
                sum[i / 4][i % 4] += l[i / 4] * r[i % 4];
        }
        __syncthreads();
    }
    for (int i = 0; i < 16; i++)
        C[(size_t)(blockIdx.y * 64 + ty + 16 * (i / 4)) * n + blockIdx.x * 64 + tx + 16 * (i % 4)] =
            sum[i / 4][i % 4];
}

/* The same on tensor cores: 32 x 32 a block, 16 x 16 a warp, tiles in shared memory. */
__global__ void __launch_bounds__(128)
    dgemm_tensor(const double *A, const double *B, double *C, int n, int depth)
{
    __shared__ double left[32][20], right[16][36];
    int t = threadIdx.x, warp = t / 32, wy = warp / 2 * 16, wx = warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sum[i / 2][i % 2], 0.0);
    A += (size_t)blockIdx.y * 32 * depth, B += blockIdx.x * 32;
    for (int k = 0; k < depth; k += 16) {
        for (int i = t; i < 512; i += 128)
            left[i / 16][i % 16] = A[(size_t)(i / 16) * depth + k + i % 16],
                             right[i / 32][i % 32] = B[(size_t)(k + i / 32) * n + i % 32];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j += 4) {
            wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> l[2];
            wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> r[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(l[i], &left[wy + 8 * i][j], 20);
                wmma::load_matrix_sync(r[i], &right[j][wx + 8 * i], 36);
            }
            for (int i = 0; i < 4; i++)
                wmma::mma_sync(sum[i / 2][i % 2], l[i / 2], r[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(&C[(size_t)(blockIdx.y * 32 + wy + 8 * (i / 2)) * n +
                                   blockIdx.x * 32 + wx + 8 * (i % 2)],
                                sum[i / 2][i % 2], n, wmma::mem_row_major);
}

/* Straight from global memory, as the smallest samples have it: a warp 8 x 8. */
__global__ void dgemm_tensor_plain(const double *A, const double *B, double *C, int n, int depth)
{
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 8,
        column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 8;
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> l;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> r;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.0);
    for (int k = 0; k < depth; k += 4) {
        wmma::load_matrix_sync(l, A + (size_t)row * depth + k, depth);
        wmma::load_matrix_sync(r, B + (size_t)column * depth + k, depth);
        wmma::mma_sync(sum, l, r, sum);
    }
    wmma::store_matrix_sync(C + (size_t)row * n + column, sum, n, wmma::mem_row_major);
}

/* Complex numbers: tiles of 16, one thread per result. */
__global__ void cgemm_tiles(const float2 *A, const float2 *B, float2 *C, int n, int depth)
{
    __shared__ float2 left[16][16], right[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    float2 sum = make_float2(0, 0);
    for (int k = 0; k < depth; k += 16) {
        left[ty][tx] = A[(size_t)(blockIdx.y * 16 + ty) * depth + k + tx];
        right[ty][tx] = B[(size_t)(k + ty) * n + blockIdx.x * 16 + tx];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) {
            float2 u = left[ty][j], v = right[j][tx];
            sum.x += u.x * v.x - u.y * v.y, sum.y += u.x * v.y + u.y * v.x;
        }
        __syncthreads();
    }
    C[(size_t)(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = sum;
}

/* Eight columns alone: one warp per row of the tall one, the eight in shared memory. */
__global__ void gemm_eight_columns(const float *A, const float *B, float *C, int depth)
{
    extern __shared__ float s[];
    for (int k = threadIdx.x; k < depth * 8; k += blockDim.x)
        s[k % 8 * depth + k / 8] = B[k];
    __syncthreads();
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum[8] = {};
    for (int k = lane; k < depth; k += 32) {
        float v = A[(size_t)row * depth + k];
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum[j] += v * s[j * depth + k];
    }
#pragma unroll
    for (int j = 0; j < 8; j++) {
        float all = warp_sum(sum[j]);
        if (lane == j) C[(size_t)row * 8 + j] = all;
    }
}

/* Additions instead of multiplications, and minima instead of sums: all shortest paths of two
 * edges. */
__global__ void min_plus(const int *A, const int *B, int *C, int n)
{
    __shared__ int left[32][33], right[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, least[4];
    for (int i = 0; i < 4; i++)
        least[i] = 0x3fffffff;
    for (int k = 0; k < n; k += 32) {
        for (int i = ty; i < 32; i += 8) {
            left[i][tx] = A[(blockIdx.y * 32 + i) * n + k + tx] & 0xffffff;
            right[i][tx] = B[(k + i) * n + blockIdx.x * 32 + tx] & 0xffffff;
        }
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 32; j++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                least[i] = min(least[i], left[ty + 8 * i][j] + right[j][tx]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        C[(blockIdx.y * 32 + ty + 8 * i) * n + blockIdx.x * 32 + tx] = least[i];
}

/* ---- small systems --------------------------------------------------------------------------- */

/* Cholesky of 32 x 32, one warp per matrix, one row per lane, all in registers and by shuffles. */
__global__ void cholesky_lanes(const float *A, float *L, int n)
{
    int matrix = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (matrix >= n) return;
    float row[32];
#pragma unroll
    for (int k = 0; k < 32; k++)
        row[k] = A[(size_t)matrix * 1024 + k * 32 + lane] * 0.1f + (k == lane ? 8.0f : 0.0f);
#pragma unroll
    for (int k = 0; k < 32; k++) {
        float pivot = rsqrtf(__shfl_sync(~0u, row[k], k));
        row[k] *= pivot;
#pragma unroll
        for (int j = k + 1; j < 32; j++)
            row[j] -= row[k] * __shfl_sync(~0u, row[k], j);
    }
#pragma unroll
    for (int k = 0; k < 32; k++)
        L[(size_t)matrix * 1024 + k * 32 + lane] = k <= lane ? row[k] : 0;
}

/* LU of 8 x 8 without pivots, one thread per matrix, elements of all matrices side by side. */
__global__ void lu_threads(const float *A, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float s[8][8];
#pragma unroll
    for (int k = 0; k < 64; k++)
        s[k / 8][k % 8] = A[(size_t)k * n + i] + (k % 9 == 0 ? 4.0f : 0.0f);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float one = 1.0f / s[k][k];
#pragma unroll
        for (int r = k + 1; r < 8; r++) {
            s[r][k] *= one;
#pragma unroll
            for (int q = k + 1; q < 8; q++)
                s[r][q] -= s[r][k] * s[k][q];
        }
    }
#pragma unroll
    for (int k = 0; k < 64; k++)
        y[(size_t)k * n + i] = s[k / 8][k % 8];
}

/* Inverses of 4 x 4 doubles by cofactors, one thread per matrix as it lies. */
__global__ void inverses_four(const double2 *A, double2 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    double m[16], r[16];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        double2 v = A[(size_t)i * 8 + k];
        m[2 * k] = v.x + (k * 2 % 5 == 0 ? 3.0 : 0.0),
              m[2 * k + 1] = v.y + (k == 2 || k == 7 ? 3.0 : 0.0);
    }
    double p[6], q[6];
    p[0] = m[0] * m[5] - m[4] * m[1], p[1] = m[0] * m[6] - m[4] * m[2];
    p[2] = m[0] * m[7] - m[4] * m[3], p[3] = m[1] * m[6] - m[5] * m[2];
    p[4] = m[1] * m[7] - m[5] * m[3], p[5] = m[2] * m[7] - m[6] * m[3];
    q[0] = m[8] * m[13] - m[12] * m[9], q[1] = m[8] * m[14] - m[12] * m[10];
    q[2] = m[8] * m[15] - m[12] * m[11], q[3] = m[9] * m[14] - m[13] * m[10];
    q[4] = m[9] * m[15] - m[13] * m[11], q[5] = m[10] * m[15] - m[14] * m[11];
    double one =
        1.0 / (p[0] * q[5] - p[1] * q[4] + p[2] * q[3] + p[3] * q[2] - p[4] * q[1] + p[5] * q[0]);
    r[0] = m[5] * q[5] - m[6] * q[4] + m[7] * q[3], r[1] = -m[1] * q[5] + m[2] * q[4] - m[3] * q[3];
    r[2] = m[13] * p[5] - m[14] * p[4] + m[15] * p[3];
    r[3] = -m[9] * p[5] + m[10] * p[4] - m[11] * p[3];
    r[4] = -m[4] * q[5] + m[6] * q[2] - m[7] * q[1], r[5] = m[0] * q[5] - m[2] * q[2] + m[3] * q[1];
    r[6] = -m[12] * p[5] + m[14] * p[2] - m[15] * p[1];
    r[7] = m[8] * p[5] - m[10] * p[2] + m[11] * p[1];
    r[8] = m[4] * q[4] - m[5] * q[2] + m[7] * q[0], r[9] = -m[0] * q[4] + m[1] * q[2] - m[3] * q[0];
    r[10] = m[12] * p[4] - m[13] * p[2] + m[15] * p[0];
    r[11] = -m[8] * p[4] + m[9] * p[2] - m[11] * p[0];
    r[12] = -m[4] * q[3] + m[5] * q[1] - m[6] * q[0],
    r[13] = m[0] * q[3] - m[1] * q[1] + m[2] * q[0];
    r[14] = -m[12] * p[3] + m[13] * p[1] - m[14] * p[0];
    r[15] = m[8] * p[3] - m[9] * p[1] + m[10] * p[0];
#pragma unroll
    for (int k = 0; k < 8; k++)
        y[(size_t)i * 8 + k] = make_double2(r[2 * k] * one, r[2 * k + 1] * one);
}

/* Systems of 256 with three diagonals, a block each: parallel cyclic reduction. */
__global__ void tridiagonal_pcr(const float *low, const float *own, const float *high,
                                const float *right, float *y)
{
    __shared__ float l[256], d[256], u[256], r[256];
    int t = threadIdx.x;
    size_t at = (size_t)blockIdx.x * 256 + t;
    l[t] = t ? low[at] : 0, d[t] = own[at] + 4.0f, u[t] = t < 255 ? high[at] : 0, r[t] = right[at];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int p = max(t - step, 0), q = min(t + step, 255);
        float up = t - step >= 0 ? l[t] / d[p] : 0, down = t + step < 256 ? u[t] / d[q] : 0;
        float nd = d[t] - u[p] * up - l[q] * down, nr = r[t] - r[p] * up - r[q] * down,
              nl = -l[p] * up, nu = -u[q] * down;
        __syncthreads();
        d[t] = nd, r[t] = nr, l[t] = nl, u[t] = nu;
        __syncthreads();
    }
    y[at] = r[t] / d[t];
}

/* Many systems side by side, a thread each, forth and back: floats. */
__global__ void tridiagonal_lines(const float *low, const float *own, const float *high,
                                  const float *right, float *part, float *y, int length, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float u = high[i] / (own[i] + 4.0f), r = right[i] / (own[i] + 4.0f);
    part[i] = u, y[i] = r;
    for (int k = 1; k < length; k++) {
        size_t at = (size_t)k * n + i;
        float l = low[at], one = 1.0f / (own[at] + 4.0f - l * u);
        u = high[at] * one, r = (right[at] - l * r) * one;
        part[at] = u, y[at] = r;
    }
    for (int k = length - 2; k >= 0; k--) {
        size_t at = (size_t)k * n + i;
        r = y[at] - part[at] * r;
        y[at] = r;
    }
}

/* A panel of 16 columns of 256, made orthogonal one after another: a block a panel. */
__global__ void __launch_bounds__(256) gram_schmidt(const float *A, float *Q, float *R)
{
    __shared__ float part[8];
    float v[16];
    int t = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 16; k++)
        v[k] = A[((size_t)blockIdx.x * 16 + k) * 256 + t];
#pragma unroll
    for (int k = 0; k < 16; k++) {
        float length = sqrtf(block_sum(v[k] * v[k], part));
        v[k] /= length;
        if (t == 0) R[blockIdx.x * 256 + k * 17] = length;
#pragma unroll
        for (int j = k + 1; j < 16; j++) {
            float dot = block_sum(v[k] * v[j], part);
            v[j] -= dot * v[k];
            if (t == 0) R[blockIdx.x * 256 + k * 16 + j] = dot;
        }
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        Q[((size_t)blockIdx.x * 16 + k) * 256 + t] = v[k];
}
