/* Lab 13: products with a zero are left out.  x has many zeros (p->zeros percent), and w may
 * have some.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum { WARP = 32 };

static __host__ __device__ int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

/* ---- one channel: the format of Xu, Fan et al. ----------------------------------------------- */

enum { WINDOWS = 32, TAPS = 64 }; /* of a block; of a window, at most */

/* Block (bx, by, bz) owns outputs q = q0 .. q0+31 of row p, filter by, image bz; thread t the
 * window of q = q0 + t.  The window's values that are not zero, F_data, and the filter's taps that
 * they meet, K_data, are written side by side; ptr says where they end, or -1 if there are none. */
__global__ void window_kernel(const ConvProblem p, const float *__restrict__ x,
                              const float *__restrict__ w, float *__restrict__ y)
{
    __shared__ float F_data[WINDOWS * TAPS], K_data[WINDOWS * TAPS];
    __shared__ int ptr[WINDOWS];
    const int t = threadIdx.x, taps = p.R * p.S, k = blockIdx.y, n = blockIdx.z;
    const int pieces = ceiling(p.Q, WINDOWS);
    const int op = blockIdx.x / pieces, oq = blockIdx.x % pieces * WINDOWS + t;
    const float *map = x + (size_t)n * p.H * p.W, *filter = w + k * taps;

    // TODO(1): Algorithm 1: write the window's non-zeros from F_data[t * taps] on, their taps
    // beside them, and ptr[t].
    // END TODO(1)

    float sum = 0.0f;
    // TODO(2): Algorithm 2: add up the products of this window.
    // END TODO(2)
    if (oq < p.Q) y[(((size_t)n * p.K + k) * p.P + op) * p.Q + oq] = sum;
}

/* ---- many channels --------------------------------------------------------------------------- */

/* Filters of a lane and of a warp; rows of X_unroll that a warp looks through at a time, and a
 * lane; entries of its list that are under way at a time; warps of a block. */
enum { MINE = 4, FILTERS = WARP * MINE, LOOKS = 4, ROWS = WARP * LOOKS, AHEAD = 4, WARPS = 8 };

/* turned[row][k] = w[k][row], filters filled up with zeros to `padded`.  Block (bx, by) turns 32
 * rows and 32 filters round; thread (tx, ty) reads row tx and writes filter tx. */
__global__ void turn_kernel(int filters, int padded, int rows, const float *__restrict__ w,
                            float *__restrict__ turned)
{
    __shared__ float tile[32][32 + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.x * 32, k0 = blockIdx.y * 32;
    for (int k = ty; k < 32; k += 8)
        tile[k][tx] =
            k0 + k < filters && row0 + tx < rows ? w[(size_t)(k0 + k) * rows + row0 + tx] : 0.0f;
    __syncthreads();
    for (int i = ty; i < 32; i += 8)
        if (row0 + i < rows) turned[(size_t)(row0 + i) * padded + k0 + tx] = tile[tx][i];
}

/* Row (c, r, s) of X_unroll. */
struct Row {
    int c, r, s;
};

__device__ Row row_of(const ConvProblem &p, int row)
{
    return {row / (p.R * p.S), row / p.S % p.R, row % p.S};
}

/* Moves on by `step` rows, without dividing. */
__device__ void row_advance(const ConvProblem &p, Row &row, const Row &step)
{
    row.s += step.s;
    row.r += step.r + (row.s >= p.S);
    row.s -= row.s >= p.S ? p.S : 0;
    row.c += step.c + (row.r >= p.R);
    row.r -= row.r >= p.R ? p.R : 0;
}

/* A row in the columns of a patch of 2 x 2 outputs, (0,0), (0,1), (1,0) and (1,1), whose first
 * input under tap (0, 0) is (h, w). */
__device__ float4 patch_row(const ConvProblem &p, const float *image, int h, int w, Row row)
{
    const float *channel = image + (size_t)row.c * p.H * p.W;
    float value[4] = {};
    // TODO(3): Load the four inputs, zero where there is none and for channels from C on.
    // END TODO(3)
    return make_float4(value[0], value[1], value[2], value[3]);
}

/* A warp owns a patch and FILTERS filters from by*FILTERS; lane l of it filters k0 .. k0+3 from k0
 * = by*FILTERS + 4*l.  `shares` warps side by side share a patch: each takes every shares-th ROWS
 * rows, and the first adds up.  Of ROWS rows those that are zero in all four columns are left out:
 * compressed into `value` and `place`, then multiplied.  With pool = 2 the patch's largest is
 * stored, else all four. */
__global__ void __launch_bounds__(WARPS *WARP, 4)
    sparse_kernel(const ConvProblem p, int shares, int padded, const float *__restrict__ turned,
                  const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float4 value[WARPS][ROWS + AHEAD];
    __shared__ int place[WARPS][ROWS + AHEAD];
    __shared__ float partial[WARPS][4][MINE][WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, share = warp % shares;
    const int patch = (blockIdx.x * WARPS + warp) / shares;
    const int down = ceiling(p.P, 2), across = ceiling(p.Q, 2), n = patch / (down * across);
    const int patch_p = patch / across % down, patch_q = patch % across;
    const int h = patch_p * 2 * p.stride_h - p.pad_top, w = patch_q * 2 * p.stride_w - p.pad_left;
    const int k0 = blockIdx.y * FILTERS + lane * MINE, rows = p.C * p.R * p.S;
    const float *image = x + (size_t)n * p.C * p.H * p.W;

    float sum[4][MINE] = {}; /* of output i of the patch and filter k0 + f */
    Row row = row_of(p, share * ROWS + lane);
    const Row look = row_of(p, WARP), step = row_of(p, (shares - 1) * ROWS);
    for (int first = share * ROWS; n < p.N && first < rows; first += shares * ROWS) {
        float4 mine[LOOKS]; /* rows first + lane, first + lane + 32 ... */
#pragma unroll
        for (int i = 0; i < LOOKS; i++) {
            mine[i] = patch_row(p, image, h, w, row);
            row_advance(p, row, look);
        }
        row_advance(p, row, step);
        int count = 0;
        // TODO(4): Write those of the warp's ROWS rows that are not all zero side by side into
        // value[warp] and place[warp]; count them.
        // END TODO(4)
        if (lane < AHEAD) { /* zeros to fill the last round up */
            value[warp][count + lane] = make_float4(0, 0, 0, 0);
            place[warp][count + lane] = first;
        }
        __syncwarp();
        for (int e = 0; e < count; e += AHEAD)
#pragma unroll
            for (int a = e; a < e + AHEAD; a++) {
                // TODO(5): Add the products of entry a's four inputs and this lane's four weights.
                // END TODO(5)
            }
        __syncwarp(); /* nobody reads the lists any more */
    }

#pragma unroll
    for (int i = 0; i < 4 * MINE; i++)
        partial[warp][i / MINE][i % MINE][lane] = sum[i / MINE][i % MINE];
    __syncthreads();
    if (share || n >= p.N) return;
    for (int f = 0; f < MINE && k0 + f < p.K; f++) {
        float output[4];
        for (int i = 0; i < 4; i++) {
            output[i] = partial[warp][i][f][lane];
            for (int other = 1; other < shares; other++)
                output[i] += partial[warp + other][i][f][lane];
        }
        const size_t map = (size_t)n * p.K + k0 + f;
        // TODO(6): Store the outputs that exist into y[map][p][q]: output i is (2*patch_p + i/2,
        // 2*patch_q + i%2).  With pool = 2 only the largest, into y[map][patch_p][patch_q].
        // END TODO(6)
    }
}

/* Any other pooling.  Thread t of block b owns pooled output b*blockDim.x + t. */
__global__ void pool_kernel(const ConvProblem p, const float *__restrict__ y,
                            float *__restrict__ pooled)
{
    const int P = p.P / p.pool, Q = p.Q / p.pool;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, map = i / Q / P;
    if (map >= p.N * p.K) return;
    const float *window = y + ((size_t)map * p.P + i / Q % P * p.pool) * p.Q + i % Q * p.pool;
    float most = window[0];
    for (int j = 1; j < p.pool * p.pool; j++)
        most = fmaxf(most, window[j / p.pool * p.Q + j % p.pool]);
    pooled[i] = most;
}

static void sparse_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                           cudaStream_t stream)
{
    const int rows = p->C * p->R * p->S, padded = ceiling(p->K, FILTERS) * FILTERS;
    const int patches = p->N * ceiling(p->P, 2) * ceiling(p->Q, 2);
    /* As many warps to a patch as it takes to give every multiprocessor 32, if there are rows. */
    int shares = 1, sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    while (shares < WARPS && patches * (padded / FILTERS) * shares < 32 * sms &&
           shares * 2 * ROWS <= rows)
        shares *= 2;
    const dim3 grid(ceiling(patches * shares, WARPS), padded / FILTERS);
    float *turned = nullptr;
    cudaMalloc(&turned, sizeof(float) * rows * padded);
    turn_kernel<<<dim3(ceiling(rows, 32), padded / 32), dim3(32, 8), 0, stream>>>(p->K, padded,
                                                                                  rows, w, turned);
    sparse_kernel<<<grid, WARPS * WARP, 0, stream>>>(*p, shares, padded, turned, x, y);
    cudaFree(turned); /* waits until nobody needs it */
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    if (p->pool > 0 && p->pool != 2) {
        const int outputs = p->N * p->K * (p->P / p->pool) * (p->Q / p->pool);
        ConvProblem plain = *p;
        float *whole = nullptr;
        plain.pool = 0;
        cudaMalloc(&whole, sizeof(float) * p->N * p->K * p->P * p->Q);
        sparse_forward(&plain, x, w, whole, stream);
        pool_kernel<<<ceiling(outputs, 256), 256, 0, stream>>>(*p, whole, y);
        cudaFree(whole);
    } else if (p->C == 1 && p->pool == 0 && p->R * p->S <= TAPS) {
        const dim3 grid(p->P * ceiling(p->Q, WINDOWS), p->K, p->N);
        window_kernel<<<grid, WINDOWS, 0, stream>>>(*p, x, w, y);
    } else {
        sparse_forward(p, x, w, y, stream);
    }
}
