/* Lab 13: sparse convolution, which skips multiplications by zero.  x has many zeros (p->zeros
 * percent), and w may have some.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum { WARP = 32 };

static __host__ __device__ int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* ---- one channel: the format of Xu, Fan et al. ----------------------------------------------- */

enum { WINDOWS = 32, TAPS = 64 }; /* windows per block; most taps per window */

/* Block (bx, by, bz) computes outputs q = q0 .. q0+31 of row p, filter by, image bz; thread t
 * processes the window of q = q0 + t.  F_data holds the nonzero values of the window, K_data the
 * filter taps by which they are multiplied.  ptr is the index after the last entry, or -1 if there
 * are none. */
__global__ void window_kernel(const ConvProblem p, const float *__restrict__ x,
                              const float *__restrict__ w, float *__restrict__ y)
{
    __shared__ float F_data[WINDOWS * TAPS], K_data[WINDOWS * TAPS];
    __shared__ int ptr[WINDOWS];
    const int t = threadIdx.x, taps = p.R * p.S, k = blockIdx.y, n = blockIdx.z;
    const int blocks_per_row = ceil_div(p.Q, WINDOWS);
    const int op = blockIdx.x / blocks_per_row, oq = blockIdx.x % blocks_per_row * WINDOWS + t;
    const float *map = x + (size_t)n * p.H * p.W, *filter = w + k * taps;

    // TODO(1): Algorithm 1: write the window's nonzero values to F_data from index t * taps on,
    // their taps to K_data, and ptr[t].
    // END TODO(1)

    float acc = 0.0f;
    // TODO(2): Algorithm 2: multiply F_data by K_data for this window and add to acc.
    // END TODO(2)
    if (oq < p.Q) y[(((size_t)n * p.K + k) * p.P + op) * p.Q + oq] = acc;
}

/* ---- many channels --------------------------------------------------------------------------- */

/* LANE_FILTERS and FILTERS: filters per lane and per warp.  LANE_ROWS and ROWS: rows of X_unroll
 * that a lane and a warp check per iteration.  UNROLL: list entries in flight at a time.  WARPS:
 * warps per block. */
enum {
    LANE_FILTERS = 4,
    FILTERS = WARP * LANE_FILTERS,
    LANE_ROWS = 4,
    ROWS = WARP * LANE_ROWS,
    UNROLL = 4,
    WARPS = 8
};

/* w_transposed[row][k] = w[k][row], with filters padded by zeros to padded_k.  Block (bx, by)
 * transposes 32 rows and 32 filters; thread (tx, ty) reads row tx and writes filter tx. */
__global__ void transpose_kernel(int filters, int padded_k, int rows, const float *__restrict__ w,
                                 float *__restrict__ w_transposed)
{
    __shared__ float tile[32][32 + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.x * 32, k0 = blockIdx.y * 32;
    for (int k = ty; k < 32; k += 8)
        tile[k][tx] =
            k0 + k < filters && row0 + tx < rows ? w[(size_t)(k0 + k) * rows + row0 + tx] : 0.0f;
    __syncthreads();
    for (int i = ty; i < 32; i += 8)
        if (row0 + i < rows) w_transposed[(size_t)(row0 + i) * padded_k + k0 + tx] = tile[tx][i];
}

/* Row (c, r, s) of X_unroll. */
struct Row {
    int c, r, s;
};

__device__ Row row_of(const ConvProblem &p, int row)
{
    return {row / (p.R * p.S), row / p.S % p.R, row % p.S};
}

/* Advances by `step` rows without a division. */
__device__ void row_advance(const ConvProblem &p, Row &row, const Row &step)
{
    row.s += step.s;
    row.r += step.r + (row.s >= p.S);
    row.s -= row.s >= p.S ? p.S : 0;
    row.c += step.c + (row.r >= p.R);
    row.r -= row.r >= p.R ? p.R : 0;
}

/* The inputs in a row of X_unroll for the four outputs (0,0), (0,1), (1,0) and (1,1) of a 2 x 2
 * output tile.  (h, w) is the input of output (0,0) for tap (0, 0). */
__device__ float4 tile_inputs(const ConvProblem &p, const float *image, int h, int w, Row row)
{
    const float *channel = image + (size_t)row.c * p.H * p.W;
    float value[4] = {};
    // TODO(3): Load the four inputs; use 0 outside the image and for channels from C on.
    // END TODO(3)
    return make_float4(value[0], value[1], value[2], value[3]);
}

/* A warp computes a 2 x 2 output tile for FILTERS filters from by*FILTERS; its lane l computes
 * filters k0 .. k0+3, k0 = by*FILTERS + 4*l.  `slices` adjacent warps split the rows of a tile:
 * each processes every slices-th group of ROWS rows, and the first warp adds the results.  Rows
 * that are zero in all four columns are skipped: the other rows are compacted into the list `value`
 * and `row_index`, then multiplied.  With pool = 2 the maximum of the tile is stored, otherwise all
 * four outputs. */
__global__ void __launch_bounds__(WARPS *WARP, 4)
    sparse_kernel(const ConvProblem p, int slices, int padded_k,
                  const float *__restrict__ w_transposed, const float *__restrict__ x,
                  float *__restrict__ y)
{
    __shared__ float4 value[WARPS][ROWS + UNROLL];
    __shared__ int row_index[WARPS][ROWS + UNROLL];
    __shared__ float partial[WARPS][4][LANE_FILTERS][WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, slice = warp % slices;
    const int tile = (blockIdx.x * WARPS + warp) / slices;
    const int tiles_p = ceil_div(p.P, 2), tiles_q = ceil_div(p.Q, 2),
              n = tile / (tiles_p * tiles_q);
    const int tile_p = tile / tiles_q % tiles_p, tile_q = tile % tiles_q;
    const int h = tile_p * 2 * p.stride_h - p.pad_top, w = tile_q * 2 * p.stride_w - p.pad_left;
    const int k0 = blockIdx.y * FILTERS + lane * LANE_FILTERS, rows = p.C * p.R * p.S;
    const float *image = x + (size_t)n * p.C * p.H * p.W;

    float acc[4][LANE_FILTERS] = {}; /* output i of the tile, filter k0 + f */
    Row row = row_of(p, slice * ROWS + lane);
    const Row lane_step = row_of(p, WARP), step = row_of(p, (slices - 1) * ROWS);
    for (int row0 = slice * ROWS; n < p.N && row0 < rows; row0 += slices * ROWS) {
        float4 candidate[LANE_ROWS]; /* rows row0 + lane, row0 + lane + 32 ... */
#pragma unroll
        for (int i = 0; i < LANE_ROWS; i++) {
            candidate[i] = tile_inputs(p, image, h, w, row);
            row_advance(p, row, lane_step);
        }
        row_advance(p, row, step);
        int count = 0;
        // TODO(4): Compact the warp's ROWS rows that have a nonzero value into value[warp] and
        // row_index[warp]; count them.
        // END TODO(4)
        if (lane < UNROLL) { /* zeros for the last iteration */
            value[warp][count + lane] = make_float4(0, 0, 0, 0);
            row_index[warp][count + lane] = row0;
        }
        __syncwarp();
        for (int e = 0; e < count; e += UNROLL)
#pragma unroll
            for (int a = e; a < e + UNROLL; a++) {
                // TODO(5): Multiply entry a's four inputs by this lane's four weights; add to acc.
                // END TODO(5)
            }
        __syncwarp(); /* all lanes have finished reading the list */
    }

#pragma unroll
    for (int i = 0; i < 4 * LANE_FILTERS; i++)
        partial[warp][i / LANE_FILTERS][i % LANE_FILTERS][lane] =
            acc[i / LANE_FILTERS][i % LANE_FILTERS];
    __syncthreads();
    if (slice || n >= p.N) return;
    for (int f = 0; f < LANE_FILTERS && k0 + f < p.K; f++) {
        float output[4];
        for (int i = 0; i < 4; i++) {
            output[i] = partial[warp][i][f][lane];
            for (int other = 1; other < slices; other++)
                output[i] += partial[warp + other][i][f][lane];
        }
        const size_t map = (size_t)n * p.K + k0 + f;
        // TODO(6): Store the outputs that exist to y[map][p][q]: output i is (2*tile_p + i/2,
        // 2*tile_q + i%2).  With pool = 2 store only the maximum, to y[map][tile_p][tile_q].
        // END TODO(6)
    }
}

/* Pooling with any other size.  Thread t of block b computes pooled output b*blockDim.x + t. */
__global__ void pool_kernel(const ConvProblem p, const float *__restrict__ y,
                            float *__restrict__ pooled)
{
    const int P = p.P / p.pool, Q = p.Q / p.pool;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, map = i / Q / P;
    if (map >= p.N * p.K) return;
    const float *window = y + ((size_t)map * p.P + i / Q % P * p.pool) * p.Q + i % Q * p.pool;
    float maximum = window[0];
    for (int j = 1; j < p.pool * p.pool; j++)
        maximum = fmaxf(maximum, window[j / p.pool * p.Q + j % p.pool]);
    pooled[i] = maximum;
}

static void sparse_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                           cudaStream_t stream)
{
    const int rows = p->C * p->R * p->S, padded_k = ceil_div(p->K, FILTERS) * FILTERS;
    const int tiles = p->N * ceil_div(p->P, 2) * ceil_div(p->Q, 2);
    /* Enough warps per tile for 32 warps per SM, if there are enough rows. */
    int slices = 1, sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    while (slices < WARPS && tiles * (padded_k / FILTERS) * slices < 32 * sms &&
           slices * 2 * ROWS <= rows)
        slices *= 2;
    const dim3 grid(ceil_div(tiles * slices, WARPS), padded_k / FILTERS);
    float *w_transposed = nullptr;
    cudaMalloc(&w_transposed, sizeof(float) * rows * padded_k);
    transpose_kernel<<<dim3(ceil_div(rows, 32), padded_k / 32), dim3(32, 8), 0, stream>>>(
        p->K, padded_k, rows, w, w_transposed);
    sparse_kernel<<<grid, WARPS * WARP, 0, stream>>>(*p, slices, padded_k, w_transposed, x, y);
    cudaFree(w_transposed); /* waits until the kernels finish */
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    if (p->pool > 0 && p->pool != 2) {
        const int outputs = p->N * p->K * (p->P / p->pool) * (p->Q / p->pool);
        ConvProblem without_pool = *p;
        float *unpooled = nullptr;
        without_pool.pool = 0;
        cudaMalloc(&unpooled, sizeof(float) * p->N * p->K * p->P * p->Q);
        sparse_forward(&without_pool, x, w, unpooled, stream);
        pool_kernel<<<ceil_div(outputs, 256), 256, 0, stream>>>(*p, unpooled, y);
        cudaFree(unpooled);
    } else if (p->C == 1 && p->pool == 0 && p->R * p->S <= TAPS) {
        const dim3 grid(p->P * ceil_div(p->Q, WINDOWS), p->K, p->N);
        window_kernel<<<grid, WINDOWS, 0, stream>>>(*p, x, w, y);
    } else {
        sparse_forward(p, x, w, y, stream);
    }
}
