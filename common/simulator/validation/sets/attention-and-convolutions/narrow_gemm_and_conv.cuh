/* narrow_gemm_and_conv.cuh - matrix products of narrow types, convolutions and pooling,
 * table lookups (part of attention-and-convolutions.cu). */

/* ---- matrix products of narrow types --------------------------------------------------------- */

/* 32 floats per warp to bytes with a scale and their sum. */
struct Eights {
    __half2 scale;
    signed char q[32];
};

__global__ void to_bytes(const float *x, Eights *y)
{
    GLOBAL_I;
    float v = x[i], most = warp_most(fabsf(v)), sum = warp_sum(v), d = most / 127;
    y[i / 32].q[i % 32] = most == 0 ? 0 : (signed char)roundf(v / d);
    if (i % 32 == 0) y[i / 32].scale = __floats2half2_rn(d, sum);
}

/* Four bits a weight, 32 to a scale, times bytes: dp4a, two warps per row. */
struct Fours {
    __half scale;
    unsigned char q[16];
};

__global__ void gemv_dp4a(const Fours *w, const Eights *x, float *y, int blocks)
{
    __shared__ float part[2][4];
    int row = blockIdx.x * 4 + threadIdx.z, lane = threadIdx.x;
    float sum = 0;
    for (int b = (threadIdx.y * 32 + lane) / 2; b < blocks; b += 32) {
        const Fours *f = &w[(size_t)row * blocks + b];
        const Eights *e = &x[b];
        int half = lane % 2 * 2, dot = 0;
        for (int k = 0; k < 2; k++) {
            const unsigned short *p = (const unsigned short *)&f->q[(half + k) * 4];
            int v = p[0] | p[1] << 16;
            const int *left = (const int *)&e->q[(half + k) * 4],
                      *right = (const int *)&e->q[16 + (half + k) * 4];
            dot = __dp4a(v & 0x0f0f0f0f, *left, dot);
            dot = __dp4a(v >> 4 & 0x0f0f0f0f, *right, dot);
        }
        float2 s = __half22float2(e->scale);
        sum += __half2float(f->scale) * (dot * s.x - 4 * s.y);
    }
    sum = warp_sum(sum);
    if (lane == 0) part[threadIdx.y][threadIdx.z] = sum;
    __syncthreads();
    if (lane == 0 && threadIdx.y == 0) y[row] = part[0][threadIdx.z] + part[1][threadIdx.z];
}

/* Bytes on the tensor cores, four warps of 32 x 32 each. */
__global__ void gemm_bytes_tensor(const signed char *A, const signed char *B, int *C, int n, int k)
{
    __shared__ __align__(16) signed char as[64][80], bs[64][80];
    int warp = threadIdx.x / 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum[2][2];
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            wmma::fill_fragment(sum[r][s], 0);
    for (int at = 0; at < k; at += 64) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            int r = i / 4, q = i % 4 * 16;
            *(int4 *)&as[r][q] = *(const int4 *)&A[(size_t)(blockIdx.y * 64 + r) * k + at + q];
            *(int4 *)&bs[r][q] = *(const int4 *)&B[(size_t)(blockIdx.x * 64 + r) * k + at + q];
        }
        __syncthreads();
        for (int q = 0; q < 64; q += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right[2];
            for (int r = 0; r < 2; r++) {
                wmma::load_matrix_sync(left[r], &as[wr + r * 16][q], 80);
                wmma::load_matrix_sync(right[r], &bs[wc + r * 16][q], 80);
            }
            for (int r = 0; r < 2; r++)
                for (int s = 0; s < 2; s++)
                    wmma::mma_sync(sum[r][s], left[r], right[s], sum[r][s]);
        }
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            wmma::store_matrix_sync(C + (size_t)(blockIdx.y * 64 + wr + r * 16) * n +
                                        blockIdx.x * 64 + wc + s * 16,
                                    sum[r][s], n, wmma::mem_row_major);
}

__device__ static void matrix_four(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(p)));
}

__device__ static void matrix_four_turned(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(p)));
}

/* bfloat16: tiles of 128 x 64 x 32, three of them in flight, places mixed by an exclusive or. */
__global__ void __launch_bounds__(128)
    gemm_brain_stages(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int n,
                      int k)
{
    constexpr int STAGES = 3;
    __shared__ __align__(128) __nv_bfloat16 as[STAGES][128 * 32], bs[STAGES][32 * 64];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wr = warp / 2 * 64, wc = warp % 2 * 32;
    const __nv_bfloat16 *left = A + (size_t)blockIdx.y * 128 * k, *right = B + blockIdx.x * 64;
    auto load = [&](int stage, int at) {
        for (int i = t; i < 512; i += 128) {
            int r = i / 4, q = i % 4;
            __pipeline_memcpy_async(&as[stage][r * 32 + (q ^ r / 2 & 3) * 8],
                                    &left[(size_t)r * k + at + q * 8], 16);
        }
        for (int i = t; i < 256; i += 128) {
            int r = i / 8, q = i % 8;
            __pipeline_memcpy_async(&bs[stage][r * 64 + (q ^ r & 7) * 8],
                                    &right[(size_t)(at + r) * n + q * 8], 16);
        }
    };
    float sum[4][4][4] = {};
    for (int s = 0; s < STAGES - 1; s++)
        load(s, s * 32), __pipeline_commit();
    for (int at = 0; at < k; at += 32) {
        int stage = at / 32 % STAGES;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (at + (STAGES - 1) * 32 < k) load((stage + STAGES - 1) % STAGES, at + (STAGES - 1) * 32);
        __pipeline_commit();
#pragma unroll
        for (int q = 0; q < 32; q += 16) {
            uint32_t x[4][4], y[2][4];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                int row = wr + r * 16 + lane % 16, part = q / 8 + lane / 16;
                matrix_four(x[r], &as[stage][row * 32 + (part ^ row / 2 & 3) * 8]);
            }
#pragma unroll
            for (int s = 0; s < 2; s++) {
                int row = q + lane % 16, part = wc / 8 + s * 2 + lane / 16;
                matrix_four_turned(y[s], &bs[stage][row * 64 + (part ^ row & 7) * 8]);
            }
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int s = 0; s < 4; s++) {
                    float *d = sum[r][s];
                    asm volatile(
                        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                        "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                        : "r"(x[r][0]), "r"(x[r][1]), "r"(x[r][2]), "r"(x[r][3]),
                          "r"(y[s / 2][s % 2 * 2]), "r"(y[s / 2][s % 2 * 2 + 1]));
                }
        }
    }
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++)
            for (int h = 0; h < 2; h++) {
                int row = blockIdx.y * 128 + wr + r * 16 + lane / 4 + h * 8,
                    column = blockIdx.x * 64 + wc + s * 8 + lane % 4 * 2;
                *(__nv_bfloat162 *)&C[(size_t)row * n + column] =
                    __floats2bfloat162_rn(sum[r][s][h * 2], sum[r][s][h * 2 + 1]);
            }
}

/* Floats rounded to 19 bits on the tensor cores, one warp per tile, straight from memory. */
__global__ void gemm_tf32_plain(const float *A, const float *B, float *C, int n, int k)
{
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16,
        column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int at = 0; at < k; at += 8) {
        wmma::load_matrix_sync(left, A + (size_t)row * k + at, k);
        wmma::load_matrix_sync(right, B + (size_t)at * n + column, n);
        for (int i = 0; i < left.num_elements; i++)
            left.x[i] = wmma::__float_to_tf32(left.x[i]);
        for (int i = 0; i < right.num_elements; i++)
            right.x[i] = wmma::__float_to_tf32(right.x[i]);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(C + (size_t)row * n + column, sum, n, wmma::mem_row_major);
}

/* Pairs of halves without tensor cores: 32 x 64 a block, two rows and two pairs per thread. */
__global__ void gemm_half_pairs(const __half *A, const __half2 *B, __half2 *C, int n, int k)
{
    __shared__ __half as[32][34];
    __shared__ __half2 bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, column = blockIdx.x * 32;
    __half2 sum[2][2] = {};
    for (int at = 0; at < k; at += 32) {
        for (int r = ty; r < 32; r += 16) {
            as[r][tx] = A[(row + r) * k + at + tx],
            as[r][tx + 16] = A[(row + r) * k + at + tx + 16];
            bs[r][tx] = B[(at + r) * n / 2 + column + tx];
            bs[r][tx + 16] = B[(at + r) * n / 2 + column + tx + 16];
        }
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            __half2 p = __half2half2(as[ty][i]), q = __half2half2(as[ty + 16][i]), u = bs[i][tx],
                    v = bs[i][tx + 16];
            sum[0][0] = __hfma2(p, u, sum[0][0]), sum[0][1] = __hfma2(p, v, sum[0][1]);
            sum[1][0] = __hfma2(q, u, sum[1][0]), sum[1][1] = __hfma2(q, v, sum[1][1]);
        }
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            C[(row + ty + r * 16) * n / 2 + column + tx + s * 16] = sum[r][s];
}

/* ---- convolutions and pools ------------------------------------------------------------------ */

/* 3 x 3 as an implicit GEMM: 64 filters by 64 positions per block. */
__global__ void conv_implicit(const float *x, const float *w, float *y, int channels, int height,
                              int width, int filters)
{
    __shared__ float ws[8][68], xs[8][68];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, depth = channels * 9, places = height * width;
    float sum[4][4] = {};
    for (int at = 0; at < depth; at += 8) {
        for (int i = t; i < 512; i += 256)
            ws[i % 8][i / 8] = w[(blockIdx.y * 64 + i / 8) * depth + at + i % 8];
        for (int i = t; i < 512; i += 256) {
            int q = at + i / 64, p = blockIdx.x * 64 + i % 64, c = q / 9, r = q % 9 / 3, s = q % 3;
            int row = p / width + r - 1, column = p % width + s - 1;
            xs[i / 64][i % 64] =
                p < places && row >= 0 && row < height && column >= 0 && column < width
                    ? x[(blockIdx.z * channels + c) * places + row * width + column]
                    : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 8; q++) {
            float left[4], right[4];
            for (int k = 0; k < 4; k++)
                left[k] = ws[q][ty * 4 + k], right[k] = xs[q][tx * 4 + k];
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 4; s++)
                    sum[r][s] += left[r] * right[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++) {
            int f = blockIdx.y * 64 + ty * 4 + r, p = blockIdx.x * 64 + tx * 4 + s;
            if (p < places) y[(blockIdx.z * filters + f) * places + p] = sum[r][s];
        }
}

/* 7 x 7, stride 2, three channels: a tile of the image in shared memory, 16 filters per thread
 * from constants. */
__constant__ float stem[16 * 3 * 49];

__global__ void conv_stem(const float *x, float *y, int n)
{
    __shared__ float s[3][37][38];
    int half = n / 2, left = blockIdx.x * 32 - 3, top = blockIdx.y * 32 - 3;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 3 * 37 * 37; i += 256) {
        int c = i / 1369, r = i % 1369 / 37, q = i % 37;
        bool in = top + r >= 0 && top + r < n && left + q >= 0 && left + q < n;
        s[c][r][q] = in ? x[(c * n + top + r) * n + left + q] : 0.0f;
    }
    __syncthreads();
    float sum[16] = {};
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 7; r++)
#pragma unroll
            for (int q = 0; q < 7; q++) {
                float v = s[c][threadIdx.y * 2 + r][threadIdx.x * 2 + q];
#pragma unroll
                for (int f = 0; f < 16; f++)
                    sum[f] += v * stem[f * 147 + c * 49 + r * 7 + q];
            }
    for (int f = 0; f < 16; f++)
        y[(f * half + blockIdx.y * 16 + threadIdx.y) * half + blockIdx.x * 16 + threadIdx.x] =
            sum[f];
}

/* 1 x 1, channels last: a block takes 32 places, its threads a filter each. */
__global__ void conv_points(const float *x, const float *w, const float *bias, float *y,
                            int channels, int filters)
{
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < 32 * channels; i += blockDim.x)
        s[i] = x[(size_t)blockIdx.x * 32 * channels + i];
    __syncthreads();
    float sum[32];
    int f = threadIdx.x;
#pragma unroll
    for (int p = 0; p < 32; p++)
        sum[p] = bias[f];
    for (int c = 0; c < channels; c++) {
        float v = w[c * filters + f];
#pragma unroll
        for (int p = 0; p < 32; p++)
            sum[p] += v * s[p * channels + c];
    }
#pragma unroll
    for (int p = 0; p < 32; p++)
        y[((size_t)blockIdx.x * 32 + p) * filters + f] = fmaxf(sum[p], 0.0f);
}

/* 5 x 5 in each channel, channels last, four a thread. */
__global__ void depthwise_last(const float4 *x, const float4 *w, float4 *y, int height, int width,
                               int fours)
{
    int k = threadIdx.x, column = blockIdx.x * blockDim.y + threadIdx.y, row = blockIdx.y;
    if (column >= width) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int r = -2; r <= 2; r++)
        for (int s = -2; s <= 2; s++) {
            if (row + r < 0 || row + r >= height || column + s < 0 || column + s >= width) continue;
            float4 v = x[((row + r) * width + column + s) * fours + k],
                   g = w[((r + 2) * 5 + s + 2) * fours + k];
            sum.x += v.x * g.x, sum.y += v.y * g.y, sum.z += v.z * g.z, sum.w += v.w * g.w;
        }
    y[(row * width + column) * fours + k] = sum;
}

/* Out of Winograd's domain: 4 x 4 to 2 x 2, one thread per tile. */
__global__ void winograd_output(const float *m, float *y, int tiles, int across, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float v[4][4], s[2][4];
#pragma unroll
    for (int k = 0; k < 16; k++)
        v[k / 4][k % 4] = m[k * n + i];
#pragma unroll
    for (int k = 0; k < 4; k++)
        s[0][k] = v[0][k] + v[1][k] + v[2][k], s[1][k] = v[1][k] - v[2][k] - v[3][k];
    int plane = i / tiles, tile = i % tiles, row = tile / across * 2, column = tile % across * 2;
    float *to = y + (size_t)plane * tiles * 4 + row * across * 2 + column;
#pragma unroll
    for (int r = 0; r < 2; r++)
        *(float2 *)&to[r * across * 2] =
            make_float2(s[r][0] + s[r][1] + s[r][2], s[r][1] - s[r][2] - s[r][3]);
}

/* The largest of 3 x 3, two apart, and where it was. */
__global__ void pool_which(const float *x, float *y, int *which, int n, int total)
{
    for (GLOBAL_I; i < total; i += blockDim.x * gridDim.x) {
        int half = n / 2, plane = i / (half * half), row = i / half % half, column = i % half,
            at = -1;
        const float *from = x + (size_t)plane * n * n;
        float most = -FLT_MAX;
        for (int r = max(2 * row - 1, 0); r < min(2 * row + 2, n); r++)
            for (int s = max(2 * column - 1, 0); s < min(2 * column + 2, n); s++)
                if (from[r * n + s] > most) most = from[r * n + s], at = r * n + s;
        y[i] = most, which[i] = at;
    }
}

/* The pooling layer's gradient: each position checks the four windows that may have chosen it. */
__global__ void pool_slope(const float *dy, const int *which, float *dx, int n, int total)
{
    GLOBAL_I;
    if (i >= total) return;
    int half = n / 2, plane = i / (n * n), row = i / n % n, column = i % n;
    float sum = 0;
    for (int r = row / 2; r <= min((row + 1) / 2, half - 1); r++)
        for (int s = column / 2; s <= min((column + 1) / 2, half - 1); s++) {
            int at = (plane * half + r) * half + s;
            if ((which[at] & 4095) == row * n + column) sum += dy[at];
        }
    dx[i] = sum;
}

/* Channels to positions: r x r channels make the pixels of one r x r tile. */
__global__ void pixel_shuffle(const float *x, float *y, int channels, int n, int r, int total)
{
    GLOBAL_I;
    if (i >= total) return;
    int wide = n * r, column = i % wide, row = i / wide % wide, c = i / (wide * wide);
    y[i] = x[((c * r + row % r) * r + column % r) * n * n + row / r * n + column / r];
}

/* An image read at the positions of a field, by the four nearest, all channels. */
__global__ void grid_sampled(const float *x, const float2 *place, float *y, int channels, int n)
{
    GLOBAL_I;
    if (i >= n * n) return;
    float2 p = place[i];
    float u = (p.x * 1.1f + 1.0f) * 0.5f * (n - 1), v = (p.y * 1.1f + 1.0f) * 0.5f * (n - 1);
    int left = (int)floorf(u), top = (int)floorf(v);
    float fu = u - left, fv = v - top;
    for (int c = 0; c < channels; c++) {
        float sum = 0;
        for (int k = 0; k < 4; k++) {
            int row = top + k / 2, column = left + k % 2;
            if (row < 0 || row >= n || column < 0 || column >= n) continue;
            sum += (k / 2 ? fv : 1 - fv) * (k % 2 ? fu : 1 - fu) * x[(c * n + row) * n + column];
        }
        y[c * n * n + i] = sum;
    }
}

/* ---- tables, choices ------------------------------------------------------------------------- */

/* Gradients of a table's rows: each token adds to the row of its word. */
__global__ void table_slope(const uint32_t *word, const float *dy, float *table, int width)
{
    int row = word[blockIdx.x] % 4096;
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        atomicAdd(&table[row * width + k], dy[(size_t)blockIdx.x * width + k]);
}

/* Tokens in the order of their experts, fours of bfloat16. */
__global__ void experts_gathered(const uint4 *x, const uint32_t *from, uint4 *y, int eights)
{
    const uint4 *row = x + (size_t)(from[blockIdx.x] % 2048) * eights;
    for (int k = threadIdx.x; k < eights; k += blockDim.x)
        y[(size_t)blockIdx.x * eights + k] = row[k];
}

/* The k largest of a row, one after another: it lies in shared memory, and who was chosen goes. */
__global__ void top_k(const float *x, float *y, int *which, int width, int k)
{
    extern __shared__ float row[];
    __shared__ float mosts[8];
    __shared__ int places[8], chosen;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        row[i] = x[(size_t)blockIdx.x * width + i];
    __syncthreads();
    for (int turn = 0; turn < k; turn++) {
        float most = -INFINITY;
        int at = 0;
        for (int i = threadIdx.x; i < width; i += blockDim.x)
            if (row[i] > most) most = row[i], at = i;
        for (int o = 16; o > 0; o >>= 1) {
            float v = __shfl_down_sync(~0u, most, o);
            int p = __shfl_down_sync(~0u, at, o);
            if (v > most) most = v, at = p;
        }
        if (threadIdx.x % 32 == 0) mosts[threadIdx.x / 32] = most, places[threadIdx.x / 32] = at;
        __syncthreads();
        if (threadIdx.x == 0) {
            int best = 0;
            for (int w = 1; w < 8; w++)
                if (mosts[w] > mosts[best]) best = w;
            chosen = places[best];
            y[blockIdx.x * k + turn] = mosts[best], which[blockIdx.x * k + turn] = chosen;
            row[chosen] = -INFINITY;
        }
        __syncthreads();
    }
}

/* A word by chance: probabilities are added up 256 at a time until the coin lies below. */
__global__ void word_drawn(const float *p, const float *coin, int *word, int width)
{
    __shared__ float warps[8];
    __shared__ int found;
    float before = 0, goal = (coin[blockIdx.x] + 0.84f) * width * 0.3f;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) found = width;
    __syncthreads();
    for (int at = 0; at < width; at += 256) {
        float v = fabsf(p[(size_t)blockIdx.x * width + at + threadIdx.x]), sum = v;
        for (int o = 1; o < 32; o *= 2) {
            float u = __shfl_up_sync(~0u, sum, o);
            if (lane >= o) sum += u;
        }
        if (lane == 31) warps[warp] = sum;
        __syncthreads();
        float left = before;
        for (int w = 0; w < 8; w++) {
            if (w < warp) left += warps[w];
            before += warps[w];
        }
        if (left + sum >= goal) atomicMin(&found, at + (int)threadIdx.x);
        __syncthreads();
        if (found < width) break;
    }
    if (threadIdx.x == 0) word[blockIdx.x] = found;
}

static Pieces pieces_of(float *x)
{
    static const int LENGTH[] = {1024, 70000, 333, 65536, 4099};
    Pieces pieces = {};
    size_t at = 0;
    int k = 0;
    for (int tensor = 0; tensor < 40; tensor++) {
        pieces.of[tensor] = x + at, pieces.length[tensor] = LENGTH[tensor % 5];
        for (int piece = 0; piece * 8192 < LENGTH[tensor % 5] && k < 320; piece++, k++)
            pieces.tensor[k] = tensor, pieces.piece[k] = piece;
        at += LENGTH[tensor % 5];
    }
    return pieces;
}

static void layers()
{
    E("norms", "welford-1024",
      welford_norm<<<1300, 256>>>((float4 *)a, (float4 *)b, (float4 *)b + 512, (float4 *)c, 256));
    E("norms", "welford-4096",
      welford_norm<<<200, 256>>>((float4 *)a, (float4 *)b, (float4 *)b + 1024, (float4 *)c, 1024));
    E("norms", "rms-halves",
      rms_halves<2048><<<1200, 256>>>(halves, halves + 4 * MB, halves, (__half *)c));
    E("norms", "norm-columns-slope",
      norm_columns_slope<<<dim3(24, 12), dim3(32, 8)>>>(a, b, b + 5 * MB, a + 5 * MB, e, e + 1024,
                                                        2048, 768));
    E("norms", "instance-norm", instance_norm<<<150, 128>>>((float4 *)a, (float4 *)c, 784, 600));
    E("norms", "batch-norm-relu",
      batch_norm_relu<<<528, 256>>>((__half2 *)halves, (__half2 *)halves + 64,
                                    (__half2 *)halves + 512, (__half2 *)c, 96, 2000000));
    E("softmax", "softmax-trees", softmax_trees<<<900, 256, 9024>>>(a, c, 2000));
    E("softmax", "softmax-registers-256",
      softmax_registers<8><<<1024, dim3(32, 4)>>>(halves, (__half *)c, 0.125f, 256, 8192));
    E("softmax", "softmax-registers-1024",
      softmax_registers<32><<<384, dim3(32, 4)>>>(halves, (__half *)c, 0.125f, 1024, 3072));
    E("activations", "bias-gelu-erf",
      bias_gelu_erf<<<660, 192>>>((float4 *)e, (float4 *)b, 768, 500000));
    E("activations", "gate-up", gate_up<<<700, 320>>>((__half2 *)halves, (__half2 *)c, 1376));
    E("activations", "rope-table",
      rope_table<<<512, 256>>>((float2 *)e, (float2 *)e + 600000, (float2 *)a, 12, 32));
    E("optimisers", "adamw-fours",
      adamw_fours<<<700, 512>>>((float4 *)e, (float4 *)a, (float4 *)(c + 4 * MB),
                                (float4 *)(c + 6 * MB), 1e-4f, 0.9f, 0.999f, 0.2f, 0.01f, 0.01f,
                                350000));
    E("optimisers", "lion", lion<<<264, 512>>>(e, brain, e + 2 * MB, 1e-5f, 1700000));
    E("optimisers", "pieces-scaled",
      pieces_scaled<<<160, 512>>>(pieces_of(e), 0.9999f, (int *)zeros + 300000));
    E("gru", "gru-cell", gru_cell<<<600, 256>>>(a, b, a + 7 * MB, e, 640, 153600));
    E("losses", "cross-entropy-warps", cross_entropy_warps<<<300, 128>>>(a, keys, c, 5000, 1200));
    E("losses", "huber", huber<<<240, 256>>>(a, b, (double *)e, 3000000));
    E("losses", "cosine-alike", cosine_alike<<<2000, 128>>>(a, b, c, 768));
    E("attention", "flash-small",
      flash_small<<<dim3(8, 12), 32, 28672>>>(a, b, a + 4 * MB, c + 4 * MB, c + 5 * MB, c, 128,
                                              0.125f));
    E("attention", "flash-tensor",
      cudaFuncSetAttribute(flash_tensor, cudaFuncAttributeMaxDynamicSharedMemorySize, 62464);
      flash_tensor<<<dim3(8, 24), 128, 62464>>>(halves, halves + 2 * MB, halves + 4 * MB,
                                                (__half *)c, 512, 0.125f));
    E("attention", "flash-split",
      flash_split<<<dim3(32, 8), 128>>>((__half2 *)halves, (__half2 *)halves + MB / 2,
                                        (__half2 *)halves + 2 * MB, c, c + 1024, (float2 *)c + 1024,
                                        4000, 512));
    E("attention", "flash-joined", flash_joined<<<2048, 64>>>(a, b, b + MB, c, 12));
    E("attention", "cache-appended",
      cache_appended<<<500, 96>>>((uint4 *)halves, (uint4 *)brain, pages, (uint4 *)c,
                                  (uint4 *)c + MB, 256));
    E("attention", "state-scan",
      state_scan<<<64, 128>>>(a, b, a + 4 * MB, b + 4 * MB, b + 6 * MB, c, 96, 1024));
    E("narrow-types", "to-bytes", to_bytes<<<4000, 256>>>(a, (Eights *)c));
    E("narrow-types", "gemv-dp4a",
      gemv_dp4a<<<1024, dim3(32, 2, 4)>>>((Fours *)halves, (Eights *)brain, c, 96));
    E("narrow-types", "gemm-bytes-tensor",
      gemm_bytes_tensor<<<dim3(16, 12), 128>>>((signed char *)keys, (signed char *)rising, (int *)c,
                                               1024, 2048));
    E("narrow-types", "gemm-brain-stages",
      gemm_brain_stages<<<dim3(20, 9), 128>>>(brain, brain + 2 * MB, (__nv_bfloat16 *)c, 1280,
                                              1024));
    E("narrow-types", "gemm-brain-stages-small",
      gemm_brain_stages<<<dim3(6, 4), 128>>>(brain, brain + 2 * MB, (__nv_bfloat16 *)c, 384, 768));
    E("narrow-types", "gemm-tf32-plain",
      gemm_tf32_plain<<<dim3(8, 16), dim3(128, 2)>>>(a, b, c, 512, 512));
    E("narrow-types", "gemm-half-pairs",
      gemm_half_pairs<<<dim3(12, 20), dim3(16, 16)>>>(halves, (__half2 *)(halves + 2 * MB),
                                                      (__half2 *)c, 768, 448));
    E("convolutions", "conv-implicit",
      conv_implicit<<<dim3(49, 2, 3), 256>>>(a, b, c, 48, 56, 56, 128));
    E("convolutions", "conv-stem", conv_stem<<<dim3(12, 12), dim3(16, 16)>>>(a, c, 384));
    E("convolutions", "conv-points", conv_points<<<392, 128, 12288>>>(a, b, a, c, 96, 128));
    E("convolutions", "depthwise-last",
      depthwise_last<<<dim3(14, 112), dim3(24, 8)>>>((float4 *)a, (float4 *)b, (float4 *)c, 112,
                                                     112, 24));
    E("convolutions", "winograd-output", winograd_output<<<784, 128>>>(a, c, 196, 14, 100352));
    E("pooling", "pool-which", pool_which<<<396, 256>>>(a, c, (int *)c + 4 * MB, 112, 401408));
    E("pooling", "pool-slope", pool_slope<<<3136, 256>>>(a, (int *)keys, c, 56, 802816));
    E("pooling", "pixel-shuffle", pixel_shuffle<<<4000, 288>>>(a, c, 3, 128, 3, 1152000));
    E("pooling", "grid-sampled", grid_sampled<<<400, 256>>>(a, (float2 *)b, c, 8, 320));
    E("lookups", "table-slope", table_slope<<<1500, 128>>>(keys, a, e, 384));
    E("lookups", "experts-gathered",
      experts_gathered<<<3000, 128>>>((uint4 *)brain, keys, (uint4 *)c, 256));
    E("lookups", "top-k", top_k<<<264, 256, 16384>>>(a, c, (int *)c + MB, 4096, 12));
    E("lookups", "word-drawn", word_drawn<<<128, 256>>>(a, b, (int *)c, 32000));
}
