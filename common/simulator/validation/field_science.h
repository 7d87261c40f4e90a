/* field_science.h - science: streams, products, small systems, sparse matrices, grids, elements,
 * particles, rays, chances. */

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

/* Sums of rows: a thread a row; tiles turned in shared memory; a block a row in doubles. */
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

/* Sums of columns of bytes, four columns a thread, many rows a block, added at the end. */
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

/* ---- products -------------------------------------------------------------------------------- */

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

/* Complex numbers: tiles of 16, a thread a result. */
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

/* Eight columns alone: a warp a row of the tall one, the eight in shared memory. */
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

/* Sums instead of products, and the least instead of sums: all shortest ways of two steps. */
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

/* Cholesky of 32 x 32, a warp a matrix, a row a lane, all in registers and by shuffles. */
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

/* LU of 8 x 8 without pivots, a thread a matrix, elements of all matrices side by side. */
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

/* Inverses of 4 x 4 doubles by cofactors, a thread a matrix as it lies. */
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

/* ---- matrices with few elements -------------------------------------------------------------- */

/* Eight of each row side by side, the rest as triples, added: hybrid, one launch. */
__global__ void spmv_hybrid(const int *column, const float *v, const int *row_of,
                            const int *column_of, const float *rest, const float *x, float *y,
                            int n, int triples)
{
    GLOBAL_I;
    if (i < n) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            int at = column[(size_t)k * n + i];
            if (at >= 0) sum += v[(size_t)k * n + i] * x[at];
        }
        atomicAdd(&y[i], sum);
    } else if (i - n < triples)
        atomicAdd(&y[row_of[i - n]], rest[i - n] * x[column_of[i - n]]);
}

/* Triples in the order of their rows: a warp puts together what is of one row. */
__global__ void spmv_triples_joined(const int *row_of, const int *column_of, const float *v,
                                    const float *x, float *y, int each, int n)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < each; k++) {
        int i = (warp * each + k) * 32 + lane;
        int row = i < n ? row_of[i] : -1 - lane;
        float sum = i < n ? v[i] * x[column_of[i]] : 0;
#pragma unroll
        for (int o = 1; o < 32; o *= 2) {
            int r = __shfl_up_sync(~0u, row, o);
            float s = __shfl_up_sync(~0u, sum, o);
            if (lane >= o && r == row) sum += s;
        }
        int next = __shfl_down_sync(~0u, row, 1);
        if (i < n && (lane == 31 || next != row)) atomicAdd(&y[row], sum);
    }
}

/* As many elements a thread as any other has, rows found along the merge's diagonal. */
__global__ void spmv_merged(const int *end, const int *column, const float *v, const float *x,
                            float *y, int n, int elements, int each)
{
    GLOBAL_I;
    int diagonal = min(i * each, n + elements), last = min(diagonal + each, n + elements);
    int from = max(diagonal - elements, 0), to = min(diagonal, n);
    while (from < to) {
        int middle = (from + to) / 2;
        if (end[middle] <= diagonal - middle - 1)
            from = middle + 1;
        else
            to = middle;
    }
    int row = from, k = diagonal - from;
    float sum = 0;
    for (int step = diagonal; step < last; step++)
        if (k < end[row])
            sum += v[k] * x[column[k]], k++;
        else {
            atomicAdd(&y[row], sum);
            sum = 0, row++;
        }
    if (sum != 0) atomicAdd(&y[row], sum);
}

/* ---- grids ----------------------------------------------------------------------------------- */

/* 27 neighbours in a volume, three planes in turn in shared memory. */
__global__ void stencil_27_planes(const float *x, float *y, int n, float own, float side,
                                  float edge, float corner)
{
    __shared__ float s[3][10][34];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    int t = ty * 32 + tx, first = blockIdx.z * 16;
    for (int z = first - 1; z <= first + 16; z++) {
        for (int k = t; k < 340; k += 256) {
            int q = min(max(left + k % 34, 0), n - 1), r = min(max(top + k / 34, 0), n - 1),
                p = min(max(z, 0), n - 1);
            s[(z + 3) % 3][k / 34][k % 34] = x[((size_t)p * n + r) * n + q];
        }
        __syncthreads();
        if (z > first) {
            float sum = 0;
#pragma unroll
            for (int k = 0; k < 27; k++) {
                int apart = (k % 3 != 1) + (k / 3 % 3 != 1) + (k / 9 != 1);
                float w = apart == 0 ? own : apart == 1 ? side : apart == 2 ? edge : corner;
                sum += w * s[(z - 1 + k / 9 - 1 + 3) % 3][ty + k / 3 % 3][tx + k % 3];
            }
            y[((size_t)(z - 1) * n + top + 1 + ty) * n + left + 1 + tx] = sum;
        }
        __syncthreads();
    }
}

/* Eighth order in a volume: a plane in shared memory, what is before and behind in registers. */
__global__ void stencil_25_queue(const float *x, float *y, int n, int layers_of)
{
    __shared__ float s[16][40];
    int column = blockIdx.x * 32 + threadIdx.x + 4, row = blockIdx.y * 8 + threadIdx.y + 4;
    size_t at = (size_t)row * n + column, plane = (size_t)n * n;
    const float w[5] = {-2.847222f, 1.6f, -0.2f, 0.025397f, -0.001786f};
    float before[4], behind[4], own;
    for (int k = 0; k < 4; k++)
        before[3 - k] = x[at + k * plane], behind[k] = x[at + (5 + k) * plane];
    own = x[at + 4 * plane];
    for (int z = 4; z < layers_of - 4; z++) {
        __syncthreads();
        s[threadIdx.y + 4][threadIdx.x + 4] = own;
        if (threadIdx.y < 4) {
            s[threadIdx.y][threadIdx.x + 4] = x[at + z * plane - 4 * n];
            s[threadIdx.y + 12][threadIdx.x + 4] = x[at + z * plane + 8 * n];
        }
        if (threadIdx.x < 4) {
            s[threadIdx.y + 4][threadIdx.x] = x[at + z * plane - 4];
            s[threadIdx.y + 4][threadIdx.x + 36] = x[at + z * plane + 32];
        }
        __syncthreads();
        float sum = 3 * w[0] * own;
#pragma unroll
        for (int k = 1; k <= 4; k++)
            sum += w[k] * (before[k - 1] + behind[k - 1] + s[threadIdx.y + 4 - k][threadIdx.x + 4] +
                           s[threadIdx.y + 4 + k][threadIdx.x + 4] +
                           s[threadIdx.y + 4][threadIdx.x + 4 - k] +
                           s[threadIdx.y + 4][threadIdx.x + 4 + k]);
        y[at + z * plane] = sum;
        for (int k = 3; k > 0; k--)
            before[k] = before[k - 1];
        before[0] = own, own = behind[0];
        for (int k = 0; k < 3; k++)
            behind[k] = behind[k + 1];
        if (z + 5 < layers_of) behind[3] = x[at + (z + 5) * plane];
    }
}

/* Every second place in place: Gauss and Seidel's red ones, with relaxation. */
__global__ void red_black(float *x, const float *f, int n, int colour, float omega)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y + 1,
        column = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (row + colour) % 2;
    if (row >= n - 1 || column >= n - 1) return;
    float *p = &x[row * n + column];
    float v = 0.25f * (p[-1] + p[1] + p[-n] + p[n] - f[row * n + column]);
    *p += omega * (v - *p);
}

/* To the coarser grid by nine weights, and back between four. */
__global__ void restricted(const double *fine, double *coarse, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
        wide = 2 * n;
    if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
    const double *p = fine + 2 * row * wide + 2 * column;
    coarse[row * n + column] = 0.25 * p[0] + 0.125 * (p[-1] + p[1] + p[-wide] + p[wide]) +
                               0.0625 * (p[-wide - 1] + p[-wide + 1] + p[wide - 1] + p[wide + 1]);
}

__global__ void prolonged(const double *coarse, double *fine, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
        wide = 2 * n;
    if (column >= wide - 2 || row >= wide - 2) return;
    const double *p = coarse + row / 2 * n + column / 2;
    int right = column % 2, down = row % 2 * n;
    fine[row * wide + column] += 0.25 * (p[0] + p[right] + p[down] + p[down + right]);
}

/* One step of a gas on a plane: waves between cells by Rusanov, doubles. */
__device__ static void flux_of(const double *u, bool across, double *f, double *speed)
{
    double vx = u[1] / u[0], vy = u[2] / u[0], v = across ? vx : vy,
           p = 0.4 * (u[3] - 0.5 * (u[1] * vx + u[2] * vy));
    f[0] = u[0] * v, f[1] = u[1] * v + (across ? p : 0), f[2] = u[2] * v + (across ? 0 : p);
    f[3] = (u[3] + p) * v;
    *speed = fabs(v) + sqrt(1.4 * p / u[0]);
}

__global__ void gas_rusanov(const double *x, double *y, int n, double step)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
    int at = row * n + column, plane = n * n;
    const int aside[4] = {-1, 1, -n, n};
    double own[4], f[4], sum[4] = {}, fast;
    for (int k = 0; k < 4; k++)
        own[k] = x[k * plane + at] * 0.1 + (k == 0 ? 1.0 : k == 3 ? 2.5 : 0.0);
#pragma unroll
    for (int s = 0; s < 4; s++) {
        double other[4], g[4], speed;
        for (int k = 0; k < 4; k++)
            other[k] = x[k * plane + at + aside[s]] * 0.1 + (k == 0 ? 1.0 : k == 3 ? 2.5 : 0.0);
        flux_of(own, s < 2, f, &fast), flux_of(other, s < 2, g, &speed);
        double most = fmax(fast, speed), sign = s % 2 ? 1.0 : -1.0;
        for (int k = 0; k < 4; k++)
            sum[k] += sign * 0.5 * (f[k] + g[k]) - 0.5 * most * (other[k] - own[k]);
    }
    for (int k = 0; k < 4; k++)
        y[k * plane + at] = own[k] - step * sum[k];
}

/* Heaps of sand: who has four or more gives one to each side. */
__global__ void sand(const int *x, int *y, int n)
{
    __shared__ int s[18][34];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 512) {
        int q = (int)blockIdx.x * 32 + k % 34 - 1, r = (int)blockIdx.y * 16 + k / 34 - 1;
        s[k / 34][k % 34] = q >= 0 && r >= 0 && q < n && r < n ? x[r * n + q] & 7 : 0;
    }
    __syncthreads();
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    y[row * n + column] = (s[ty][tx] & 3) + (s[ty][tx - 1] >> 2) + (s[ty][tx + 1] >> 2) +
                          (s[ty - 1][tx] >> 2) + (s[ty + 1][tx] >> 2);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Triangles of a mesh: each adds its stiffness times its corners' values to them. */
__global__ void triangles_added(const uint32_t *corner, const float2 *place, const float *u,
                                float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int k[3];
    float2 p[3];
    float v[3];
    for (int j = 0; j < 3; j++) {
        k[j] = (i / 2 + (corner[3 * i + j] & 1023)) % 65536;
        p[j] = place[k[j]], v[j] = u[k[j]];
    }
    float bx[3], by[3], area = 0;
    for (int j = 0; j < 3; j++) {
        bx[j] = p[(j + 1) % 3].y - p[(j + 2) % 3].y, by[j] = p[(j + 2) % 3].x - p[(j + 1) % 3].x;
        area += p[j].x * bx[j];
    }
    float scale = 0.5f / (fabsf(area) + 0.01f), gx = 0, gy = 0;
    for (int j = 0; j < 3; j++)
        gx += bx[j] * v[j], gy += by[j] * v[j];
    for (int j = 0; j < 3; j++)
        atomicAdd(&y[k[j]], scale * (bx[j] * gx + by[j] * gy));
}

/* Hexahedra: eight corners gathered, a matrix of doubles from constant memory. */
__constant__ double stiffness[64];

__global__ void hexahedra_times(const int *corner, const double *u, double *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    double v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = u[corner[(size_t)k * n + i]];
#pragma unroll
    for (int r = 0; r < 8; r++) {
        double sum = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += stiffness[r * 8 + k] * v[k];
        y[(size_t)r * n + i] = sum;
    }
}

/* Spectral elements of order seven: derivatives along three directions of 8 x 8 x 8, a block an
 * element, 64 threads that walk up. */
__global__ void __launch_bounds__(64)
    spectral(const float *u, const float *d, const float *weight, float *y)
{
    __shared__ float D[8][9], s[8][9], along[8][9];
    int i = threadIdx.x, j = threadIdx.y;
    size_t from = (size_t)blockIdx.x * 512 + j * 8 + i;
    float column[8], result[8];
    D[j][i] = d[j * 8 + i];
#pragma unroll
    for (int k = 0; k < 8; k++)
        column[k] = u[from + k * 64], result[k] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
        __syncthreads();
        s[j][i] = column[k];
        __syncthreads();
        float x = 0, z = 0, up = 0, w = weight[from + k * 64];
#pragma unroll
        for (int m = 0; m < 8; m++)
            x += D[i][m] * s[j][m], z += D[j][m] * s[m][i], up += D[k][m] * column[m];
        __syncthreads();
        s[j][i] = x * w, along[j][i] = z * w, up *= w;
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 8; m++)
            result[k] += D[m][i] * s[j][m] + D[m][j] * along[m][i], result[m] += D[k][m] * up;
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        y[from + k * 64] = result[k];
}

/* ---- particles, rays, chances ---------------------------------------------------------------- */

/* Two bodies a thread, tiles of 128 others. */
__global__ void __launch_bounds__(128) bodies_pairs(const float4 *x, float4 *y, int n)
{
    __shared__ float4 s[128];
    int one = blockIdx.x * 256 + threadIdx.x, two = one + 128;
    float4 p = x[one], q = x[two], f = make_float4(0, 0, 0, 0), g = f;
    for (int from = 0; from < n; from += 128) {
        __syncthreads();
        s[threadIdx.x] = x[from + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (int k = 0; k < 128; k++) {
            float4 o = s[k];
            float dx = o.x - p.x, dy = o.y - p.y, dz = o.z - p.z,
                  r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), w = o.w * r * r * r;
            f.x += dx * w, f.y += dy * w, f.z += dz * w;
            dx = o.x - q.x, dy = o.y - q.y, dz = o.z - q.z;
            r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), w = o.w * r * r * r;
            g.x += dx * w, g.y += dy * w, g.z += dz * w;
        }
    }
    y[one] = f, y[two] = g;
}

/* Density of a fluid's particles from the 27 cells around: cells of eight on a grid of 24. */
__global__ void fluid_density(const float4 *x, const int *first, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 own = x[i];
    int cx = min((int)(own.x * 24), 23), cy = min((int)(own.y * 24), 23),
        cz = min((int)(own.z * 24), 23);
    const float h = 1.0f / 24;
    float sum = 0;
    for (int k = 0; k < 27; k++) {
        int px = cx + k % 3 - 1, py = cy + k / 3 % 3 - 1, pz = cz + k / 9 - 1;
        if (px < 0 || py < 0 || pz < 0 || px > 23 || py > 23 || pz > 23) continue;
        int cell = (pz * 24 + py) * 24 + px;
        for (int j = first[cell]; j < first[cell + 1]; j++) {
            float4 o = x[j];
            float dx = o.x - own.x, dy = o.y - own.y, dz = o.z - own.z,
                  r = dx * dx + dy * dy + dz * dz;
            if (r < h * h) sum += (h * h - r) * (h * h - r) * (h * h - r);
        }
    }
    y[i] = sum * 1e8f;
}

/* Charges within reach by a list of 32, their real part of Ewald's sum. */
__global__ void charges_near(const float4 *x, const uint32_t *near, float4 *y, int n, float alpha)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 own = x[i], f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 32; k++) {
        float4 o = x[(i + (near[(size_t)k * n + i] & 255)) % n];
        float dx = own.x - o.x, dy = own.y - o.y, dz = own.z - o.z,
              r2 = dx * dx + dy * dy + dz * dz + 1e-4f;
        if (r2 > 1.44f) continue;
        float one = rsqrtf(r2), r = r2 * one, q = own.w * o.w * one, e = erfcf(alpha * r);
        float w = q * (e + 1.128379f * alpha * r * __expf(-alpha * alpha * r2)) * one * one;
        f.x += w * dx, f.y += w * dy, f.z += w * dz, f.w += q * e;
    }
    y[i] = f;
}

/* Rays and 128 spheres in constant memory, one bounce of light. */
__constant__ float4 spheres[128];

__global__ void rays_spheres(float4 *y, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float px = 0, py = 0, pz = -3, dx = (column + 0.5f) / width - 0.5f,
          dy = (row + 0.5f) / height - 0.5f, dz = 1, light = 0, weight = 1;
    float one = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= one, dy *= one, dz *= one;
    for (int bounce = 0; bounce < 2; bounce++) {
        float near = 1e20f;
        int hit = -1;
        for (int k = 0; k < 128; k++) {
            float4 s = spheres[k];
            float ox = px - s.x, oy = py - s.y, oz = pz - s.z, h = ox * dx + oy * dy + oz * dz,
                  d = h * h - (ox * ox + oy * oy + oz * oz - s.w * s.w);
            if (d > 0) {
                float t = -h - sqrtf(d);
                if (t > 1e-3f && t < near) near = t, hit = k;
            }
        }
        if (hit < 0) break;
        float4 s = spheres[hit];
        px += near * dx, py += near * dy, pz += near * dz;
        float nx = (px - s.x) / s.w, ny = (py - s.y) / s.w, nz = (pz - s.z) / s.w,
              along = 2 * (dx * nx + dy * ny + dz * nz);
        light += weight * fmaxf(0.0f, 0.6f * ny - 0.8f * nz), weight *= 0.5f;
        dx -= along * nx, dy -= along * ny, dz -= along * nz;
    }
    y[row * width + column] = make_float4(light, light, light, 1);
}

/* A tree of boxes over 4096 segments of a picture: which a point's box meets, with a stack. */
__global__ void boxes_walked(const float4 *box, const float2 *point, int *y, float reach, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float2 p = point[i];
    p.x = (p.x + 0.84f) * 0.59f, p.y = (p.y + 0.84f) * 0.59f;
    int stack[16], depth = 0, node = 1, count = 0;
    stack[depth++] = 0;
    while (node) {
        float4 v = box[node];
        bool meets =
            p.x + reach >= v.x && p.x - reach <= v.z && p.y + reach >= v.y && p.y - reach <= v.w;
        if (!meets)
            node = stack[--depth];
        else if (node >= 4096)
            count++, node = stack[--depth];
        else
            stack[depth++] = 2 * node + 1, node = 2 * node;
    }
    y[i] = count;
}

/* Philox: four numbers of a counter and a key, ten rounds. */
__device__ static uint4 philox(uint4 c, uint2 k)
{
#pragma unroll
    for (int r = 0; r < 10; r++) {
        uint32_t h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x,
                 h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
    }
    return c;
}

__global__ void philox_floats(float4 *y, uint32_t seed, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint4 v = philox(make_uint4(i, 0, 0, 0), make_uint2(seed, 77));
        y[i] = make_float4(v.x * 2.3283064e-10f, v.y * 2.3283064e-10f, v.z * 2.3283064e-10f,
                           v.w * 2.3283064e-10f);
    }
}

/* Paths of a price with a barrier: who touches it is out. */
__global__ void paths_barrier(float *y, int steps, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float s = 100, step = 1.0f / steps, drift = (0.03f - 0.02f) * step, width = 0.2f * sqrtf(step);
    bool out = false;
    for (int k = 0; k < steps && !out; k += 2) {
        uint4 v = philox(make_uint4(i, k, 5, 0), make_uint2(2024, 7));
        float r = sqrtf(-2.0f * __logf((v.x + 1.0f) * 2.3283064e-10f)), si, co;
        __sincosf(6.2831853f * v.y * 2.3283064e-10f, &si, &co);
        s *= __expf(drift + width * r * co), out = s < 90;
        if (!out) s *= __expf(drift + width * r * si), out = s < 90;
    }
    y[i] = out ? 0 : fmaxf(s - 100.0f, 0.0f);
}

/* A price whose spread wanders, too: Heston's, an XORWOW of each thread. */
__global__ void paths_heston(float *y, int steps, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t x = i * 747796405u + 2891336453u, u = x ^ 362436069u, v = x ^ 521288629u,
             w = x ^ 88675123u, z = x ^ 5783321u, d = 6615241u + i;
    float s = 0, var = 0.04f, step = 1.0f / steps, root = sqrtf(step);
    for (int k = 0; k < steps; k++) {
        float g[2];
        uint32_t draw[2];
        for (int j = 0; j < 2; j++) {
            uint32_t t = x ^ x >> 2;
            x = u, u = v, v = w, w = z, z = z ^ z << 4 ^ t ^ t << 1, d += 362437u;
            draw[j] = z + d;
        }
        float r = sqrtf(-2.0f * logf((draw[0] + 0.5f) * 2.3283064e-10f));
        sincosf(6.2831853f * draw[1] * 2.3283064e-10f, &g[0], &g[1]);
        g[0] *= r, g[1] *= r;
        float spread = sqrtf(fmaxf(var, 0.0f));
        s += -0.5f * spread * spread * step + spread * root * g[0];
        var += 1.5f * (0.04f - fmaxf(var, 0.0f)) * step +
               0.3f * spread * root * (-0.7f * g[0] + 0.714f * g[1]);
    }
    y[i] = expf(s);
}

static void science()
{
    E("streams", "triad-floats", triad<<<20480, 256>>>(a, b, c, 3.0f, 5242880));
    E("streams", "triad-doubles",
      triad<<<5860, 512>>>((double *)a, (double *)b, (double *)c, 3.0, 3000000));
    E("streams", "triad-halves",
      triad_halves<<<264, 1024>>>((__half2 *)halves, (__half2 *)halves + MB, (__half2 *)c, 3.0f,
                                  2500000));
    E("streams", "triad-bytes",
      triad_bytes<<<7813, 256>>>((uchar4 *)keys, (uchar4 *)a, (uchar4 *)c, 2000000));
    E("sums", "rows-by-threads", rows_by_threads<<<64, 128>>>(a, c, 300, 8192));
    E("sums", "rows-by-tiles", rows_by_tiles<<<256, dim3(32, 8)>>>(a, c, 768));
    E("sums", "rows-in-doubles", rows_in_doubles<<<3000, 128>>>((float4 *)a, (double *)c, 640));
    E("sums", "columns-of-bytes",
      columns_of_bytes<<<dim3(4, 66), 256>>>((uchar4 *)keys, zeros, 1000, 2000));
    E("products", "dgemm-shared",
      dgemm_shared<<<dim3(10, 12), 256>>>((double *)a, (double *)b, (double *)c, 640, 512));
    E("products", "dgemm-tensor",
      dgemm_tensor<<<dim3(16, 20), 128>>>((double *)a, (double *)b, (double *)c, 512, 512));
    E("products", "dgemm-tensor-long",
      dgemm_tensor<<<dim3(8, 12), 128>>>((double *)a, (double *)b, (double *)c, 256, 768));
    E("products", "dgemm-tensor-plain",
      dgemm_tensor_plain<<<dim3(16, 16), dim3(128, 4)>>>((double *)a, (double *)b, (double *)c, 512,
                                                         256));
    E("products", "cgemm-tiles",
      cgemm_tiles<<<dim3(20, 24), dim3(16, 16)>>>((float2 *)a, (float2 *)b, (float2 *)c, 320, 384));
    E("products", "gemm-eight-columns", gemm_eight_columns<<<1024, 128, 32768>>>(a, b, c, 1024));
    E("products", "min-plus",
      min_plus<<<dim3(12, 12), dim3(32, 8)>>>((int *)keys, (int *)rising, (int *)c, 384));
    E("systems", "cholesky-lanes", cholesky_lanes<<<600, 128>>>(a, c, 2400));
    E("systems", "lu-threads", lu_threads<<<400, 128>>>(a, c, 51200));
    E("systems", "inverses-four", inverses_four<<<700, 128>>>((double2 *)a, (double2 *)c, 89600));
    E("systems", "tridiagonal-pcr", tridiagonal_pcr<<<2000, 256>>>(a, b, a + MB, b + MB, c));
    E("systems", "tridiagonal-lines",
      tridiagonal_lines<<<128, 64>>>(a, b, a + 3 * MB, b + 3 * MB, c, c + 4 * MB, 128, 8192));
    E("systems", "gram-schmidt", gram_schmidt<<<500, 256>>>(a, c, c + 4 * MB));
    E("sparse", "spmv-hybrid",
      spmv_hybrid<<<470, 256>>>(ell, a, triple_rows, triple_columns, b, a + MB, e, 60000, 60000));
    E("sparse", "spmv-triples-joined",
      spmv_triples_joined<<<118, 256>>>(triple_rows, triple_columns, a, b, e, 2, 60000));
    E("sparse", "spmv-merged",
      spmv_merged<<<(30000 + elements + 1791) / 1792, 256>>>(rows + 1, columns, a, b, e, 30000,
                                                             elements, 7));
    E("grids", "stencil-27-planes",
      stencil_27_planes<<<dim3(4, 16, 8), dim3(32, 8)>>>(a, c, 128, 0.5f, 0.05f, 0.02f, 0.01f));
    E("grids", "stencil-25-queue", stencil_25_queue<<<dim3(7, 28), dim3(32, 8)>>>(a, c, 232, 48));
    E("grids", "red-black", red_black<<<dim3(16, 128), dim3(32, 8)>>>(e, a, 1024, 0, 1.5f));
    E("grids", "restricted",
      restricted<<<dim3(16, 64), dim3(32, 8)>>>((double *)a, (double *)c, 512));
    E("grids", "prolonged",
      prolonged<<<dim3(32, 128), dim3(32, 8)>>>((double *)a, (double *)e, 512));
    E("grids", "gas-rusanov",
      gas_rusanov<<<dim3(12, 48), dim3(32, 8)>>>((double *)a, (double *)c, 384, 0.01));
    E("grids", "sand", sand<<<dim3(40, 80), dim3(32, 16)>>>((int *)keys, (int *)c, 1280));
    E("elements", "triangles-added",
      triangles_added<<<469, 256>>>(keys, (float2 *)a, b, e, 120000));
    E("elements", "hexahedra-times",
      hexahedra_times<<<500, 128>>>(corners, (double *)a, (double *)c, 64000));
    E("elements", "spectral", spectral<<<2000, dim3(8, 8)>>>(a, b, a + 4 * MB, c));
    E("particles", "bodies-pairs", bodies_pairs<<<16, 128>>>((float4 *)a, (float4 *)c, 4096));
    E("particles", "fluid-density", fluid_density<<<432, 256>>>(fluid, cells, c, fluids));
    E("particles", "charges-near",
      charges_near<<<400, 128>>>((float4 *)a, keys, (float4 *)c, 51200, 1.2f));
    E("rays", "rays-spheres", rays_spheres<<<dim3(20, 40), dim3(16, 8)>>>((float4 *)c, 320, 320));
    E("rays", "boxes-walked",
      boxes_walked<<<400, 128>>>(boxes, (float2 *)b, (int *)c, 0.02f, 51200));
    E("chances", "philox-floats", philox_floats<<<660, 256>>>((float4 *)c, 99, 500000));
    E("chances", "paths-barrier", paths_barrier<<<400, 128>>>(c, 64, 51200));
    E("chances", "paths-heston", paths_heston<<<200, 128>>>(c, 64, 25600));
}
