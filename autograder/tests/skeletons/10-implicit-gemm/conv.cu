/* Lab 10: implicit GEMM.  The convolution is a matrix product, but the unrolled input is never
 * stored: each block gathers its tiles from x.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum { WARP = 32, OFFSETS = 1024 }; /* OFFSETS: rows per offset table */

/* Position of row (c, r, s) of X_unroll, relative to the column's input for tap (0, 0, 0). */
struct __align__(8) Offset
{
    int input; /* distance in x, in floats */
    int tap;   /* r*65536 + s */
};

/* A tap outside every input, for rows past the last one. */
enum { NO_TAP = 0x7fff0000 };

/* True if both halves of `position`, h and w, are in the range 0 .. the same half of `last`.  The
 * sign bit of a half is set if the half is negative, so two subtractions replace four comparisons.
 * Limit: height and width including padding must be below 32768. */
__device__ bool is_inside(int position, int last)
{
    return ((position | (last - position)) & 0x80008000) == 0;
}

/* partials[n][k][pq] = sum over a slice's rows of w[k][row] * X_unroll[row][column], for
 * column = n*P*Q + pq.  Block (bx, by, bz) computes the columns from column0 = bx*COLUMNS and the
 * filters from k0 = by*FILTERS, with rows bz*slice_rows .. (bz+1)*slice_rows-1.  The results of
 * slice bz start at partials + bz*N*K*P*Q.  A thread computes, for f < THREAD_K and g < THREAD_J,
 *
 *     k      = k0 + thread_k + f/4*GROUP_K + f%4
 *     column = column0 + thread_column + g/4*GROUP_J + g%4
 *
 * Groups of four are adjacent, so that one float4 holds them.  The groups of a thread are GROUP_K
 * filters and GROUP_J columns apart, so that the groups of a warp are adjacent in shared memory.
 *
 * Block contains the constants that follow from the shape of a block, and one function per step.
 * gemm_kernel below combines the steps. */
template <int FILTERS, int COLUMNS, int DEPTH, int THREAD_K, int THREAD_J> struct Block {
    static constexpr int THREADS_K = FILTERS / THREAD_K, THREADS_J = COLUMNS / THREAD_J;
    static constexpr int THREADS = THREADS_K * THREADS_J, GROUP_K = THREADS_K * 4,
                         GROUP_J = THREADS_J * 4;
    static constexpr int PITCH = FILTERS + 4; /* spreads a warp's stores over the banks */

    /* From w a thread loads row t%8 of a tile and every 8th row after it (rows are adjacent in
     * memory), for filter k0 + t/8 and every FILTER_STEP-th filter after it. */
    static constexpr int FILTER_STEP = THREADS / 8;

    /* From X_unroll it gathers GATHER_COLUMNS columns, and every ROW_STEP-th row of them. */
    static constexpr int GATHER_COLUMNS = COLUMNS > THREADS ? COLUMNS / THREADS : 1;
    static constexpr int ROW_STEP = COLUMNS > THREADS ? 1 : THREADS / COLUMNS;

    /* Addresses from which a thread loads. */
    struct Source {
        const float *w;                 /* first row of the next tile, first filter */
        const float *x[GATHER_COLUMNS]; /* input for tap (0, 0, 0), per column */
        int position[GATHER_COLUMNS];   /* position of that input: h*65536 + w */
    };

    /* A thread's part of the next tiles, in registers. */
    struct Next {
        float weight[FILTERS / FILTER_STEP][DEPTH / 8], input[GATHER_COLUMNS][DEPTH / ROW_STEP];
    };

    static __device__ Source source_compute(const ConvProblem &p, const float *w, const float *x,
                                            int k0, int column0, int begin)
    {
        const int t = threadIdx.x, pixels = p.P * p.Q, columns = p.N * pixels;
        Source source;
        source.w = w + (size_t)(k0 + t / 8) * (p.C * p.R * p.S) + begin + t % 8;
        for (int g = 0; g < GATHER_COLUMNS; g++) {
            int column = column0 + t % COLUMNS + g * THREADS;
            if (column >= columns) column = columns - 1; /* gathered but never stored */
            int n = column / pixels, op = column % pixels / p.Q, oq = column % p.Q;
            int ih = op * p.stride_h - p.pad_top, iw = oq * p.stride_w - p.pad_left;
            source.position[g] = ih * 65536 + iw;
            source.x[g] = x + (n * p.C * p.H + ih) * p.W + iw;
            /* Hides the computation of x[g]: otherwise nvcc repeats it for each load. */
            asm("" : "+l"(source.x[g]));
        }
        return source;
    }

    /* Fills offset[i] for row row0+i, i < count; only the first `valid_rows` of them exist. */
    static __device__ void offsets_compute(const ConvProblem &p, int row0, int valid_rows,
                                           int count, Offset *offset)
    {
        // TODO(1): Compute the offsets with all threads; use NO_TAP for rows that do not exist.
        // END TODO(1)
    }

    /* Loads this thread's part of the tiles whose first row is offset[row].  Rows from `valid_rows`
     * on and filters from K on do not exist. */
    static __device__ void next_load(const ConvProblem &p, int k0, const Offset *offset, int row,
                                     int valid_rows, Source &source, Next &next)
    {
        const int t = threadIdx.x, rows = p.C * p.R * p.S;
        const int last = (p.H - 1) * 65536 + p.W - 1;
        // TODO(2): Load `next`, 0 for missing elements; advance source.w by one tile.
        // END TODO(2)
    }

    /* Multiplies a tile of weights by a tile of inputs and adds to this thread's accumulators.
     * Reads row i+1 into registers while it multiplies row i. */
    static __device__ void tiles_multiply(const float (*weights)[PITCH],
                                          const float (*inputs)[COLUMNS], int thread_k,
                                          int thread_column, float (&acc)[THREAD_K][THREAD_J])
    {
        float weight[2][THREAD_K], input[2][THREAD_J]; /* current row and row ahead */
#pragma unroll
        for (int i = -1; i < DEPTH; i++) {
            const int current = i & 1, ahead = current ^ 1;
            // TODO(3): Read this thread's weights and inputs of row i+1 (if it exists) as float4;
            // multiply row i (if it exists) and add to acc.
            // END TODO(3)
        }
    }

    /* Stores this thread's part of the next tiles to shared memory. */
    static __device__ void next_store(const Next &next, float (*weights)[PITCH],
                                      float (*inputs)[COLUMNS])
    {
        const int t = threadIdx.x;
        // TODO(4): Store `next` to the places that TODO(3) reads: [row][filter], [row][column].
        // END TODO(4)
    }

    /* Stores the accumulators; acc[0][0] is filter `thread_k`, column `thread_column` of y. */
    static __device__ void acc_store(const ConvProblem &p, int thread_k, int thread_column,
                                     const float (&acc)[THREAD_K][THREAD_J], float *partials)
    {
        const int pixels = p.P * p.Q, columns = p.N * pixels;
        const bool is_aligned = pixels % 4 == 0; /* a group: one image, 16-byte aligned */
        for (int g = 0; g < THREAD_J; g += 4) {
            const int column = thread_column + g / 4 * GROUP_J;
            float *out[4]; /* filter 0 of the group's four columns */
            for (int i = 0; i < 4; i++) {
                const int n = (column + i) / pixels;
                out[i] = partials + n * (p.K - 1) * pixels + column + i;
            }
            for (int f = 0; f < THREAD_K; f++) {
                const int k = thread_k + f / 4 * GROUP_K + f % 4;
                if (k >= p.K) continue;
                // TODO(5): Store acc[f][g] to acc[f][g+3] for columns that exist, as a float4 if
                // is_aligned.
                // END TODO(5)
            }
        }
    }
};

template <int FILTERS, int COLUMNS, int DEPTH, int THREAD_K, int THREAD_J, int RESIDENT>
__global__ void __launch_bounds__(FILTERS / THREAD_K * (COLUMNS / THREAD_J), RESIDENT)
    gemm_kernel(const ConvProblem p, int slice_rows, const float *__restrict__ w,
                const float *__restrict__ x, float *__restrict__ partials)
{
    typedef Block<FILTERS, COLUMNS, DEPTH, THREAD_K, THREAD_J> B;
    __shared__ alignas(16) float weights[2][DEPTH][B::PITCH], inputs[2][DEPTH][COLUMNS];
    __shared__ Offset offset[OFFSETS];

    /* A warp is 4 x 8 threads (filters x columns), or 1 x 32 if THREADS_K is 1. */
    constexpr int WARP_K = B::THREADS_K < 4 ? B::THREADS_K : 4, WARP_J = WARP / WARP_K;
    const int t = threadIdx.x, lane = t % WARP, warp = t / WARP;
    const int index_j = warp % (B::THREADS_J / WARP_J) * WARP_J + lane % WARP_J;
    const int index_k = warp / (B::THREADS_J / WARP_J) * WARP_K + lane / WARP_J;
    const int thread_k = index_k * 4, thread_column = index_j * 4;

    const int rows = p.C * p.R * p.S, k0 = blockIdx.y * FILTERS, column0 = blockIdx.x * COLUMNS;
    const int begin = blockIdx.z * slice_rows,
              end = begin + slice_rows < rows ? begin + slice_rows : rows;
    typename B::Source source = B::source_compute(p, w, x, k0, column0, begin);
    float acc[THREAD_K][THREAD_J] = {};
    for (int row0 = begin; row0 < end; row0 += OFFSETS) {
        const int valid_rows = end - row0 < OFFSETS ? end - row0 : OFFSETS;
        const int tiles = (valid_rows + DEPTH - 1) / DEPTH;
        B::offsets_compute(p, row0, valid_rows, tiles * DEPTH, offset);
        __syncthreads();
        for (int tile = -1; tile < tiles; tile++) {
            const int current = tile & 1, other = current ^ 1;
            typename B::Next next;
            // TODO(6): In this order: load the next tiles, if any; multiply the tiles in buffer
            // `current`, except in iteration -1; store the next tiles to buffer `other`;
            // synchronize all threads.
            // END TODO(6)
        }
    }
    partials += (size_t)blockIdx.z * p.N * p.K * p.P * p.Q;
    B::acc_store(p, k0 + thread_k, column0 + thread_column, acc, partials);
}

/* y[i] = the sum of `slices` partial results, for i = blockIdx.x*blockDim.x + threadIdx.x. */
__global__ void reduce_kernel(int outputs, int slices, const float *__restrict__ partials,
                              float *__restrict__ y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    float acc = 0.0f;
    for (int z = 0; z < slices; z++)
        acc += partials[(size_t)z * outputs + i];
    y[i] = acc;
}

/* The available block shapes. */
struct Tile {
    int filters, columns, depth, threads, resident;
    float speed; /* relative to the fastest tile with all SMs busy, measured on an H200 */
    void (*kernel)(ConvProblem, int, const float *, const float *, float *);
};
#define TILE(f, c, d, k, j, resident, speed)                                                       \
    {                                                                                              \
        f, c, d, (f) / (k) * ((c) / (j)), resident, speed, gemm_kernel<f, c, d, k, j, resident>    \
    }
static const Tile tiles[] = {
    TILE(128, 128, 16, 8, 16, 2, 1.00f), TILE(64, 128, 16, 8, 8, 3, 0.96f),
    TILE(64, 64, 32, 8, 4, 4, 0.78f),    TILE(32, 128, 16, 4, 8, 5, 0.78f),
    TILE(32, 32, 32, 4, 4, 8, 0.56f),    TILE(16, 64, 32, 4, 4, 8, 0.57f),
    TILE(8, 256, 8, 8, 4, 8, 0.45f),
};
enum { TILES = sizeof tiles / sizeof *tiles, MAX_SLICES = 32 };

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* Estimated time of the SM with the most blocks, in multiply-adds (MACs) of the fastest tile.  An
 * SM holds `resident` blocks at a time.  If the last of them have fewer than MIN_THREADS threads,
 * they take as long as MIN_THREADS threads.  A block computes complete tiles, and its start takes
 * as long as START rows.  Adding the slices takes as long as ADD MACs, plus SUM MACs per partial
 * result that an SM reads.  (Fitted to the times of all tiles and many numbers of slices for 26
 * layers on an H200.  The choice is within 1.5 % of the best on average and within 15 % always.) */
static float estimate_cost(const ConvProblem *p, const Tile *tile, int slices, int sms)
{
    const int MIN_THREADS = 256, START = 32;
    const float ADD = 5e5f, SUM = 20.0f;
    const int columns = p->N * p->P * p->Q;
    int blocks = ceil_div(columns, tile->columns) * ceil_div(p->K, tile->filters) * slices;
    int blocks_per_sm = ceil_div(blocks, sms), last = (blocks_per_sm - 1) % tile->resident + 1;
    if (last * tile->threads < MIN_THREADS) blocks_per_sm += MIN_THREADS / tile->threads - last;
    int rows = ceil_div(ceil_div(p->C * p->R * p->S, slices), tile->depth) * tile->depth + START;
    float macs = (float)tile->filters * tile->columns * rows * blocks_per_sm / tile->speed;
    return slices == 1 ? macs : macs + ADD + SUM * columns * p->K * slices / sms;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const int rows = p->C * p->R * p->S, columns = p->N * p->P * p->Q, outputs = columns * p->K;
    const Tile *tile = &tiles[0];
    int slices = 1, sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    // TODO(7): Choose the tile and the number of slices with the lowest estimated cost.  With
    // several slices, each has at least as many rows as the tile's depth.
    // END TODO(7)

    int slice_rows = ceil_div(ceil_div(rows, slices), tile->depth) * tile->depth;
    slices = ceil_div(rows, slice_rows);
    dim3 grid(ceil_div(columns, tile->columns), ceil_div(p->K, tile->filters), slices);
    if (slices == 1) {
        tile->kernel<<<grid, tile->threads, 0, stream>>>(*p, slice_rows, w, x, y);
        return;
    }
    float *partials = nullptr;
    cudaMalloc(&partials, sizeof(float) * outputs * slices);
    tile->kernel<<<grid, tile->threads, 0, stream>>>(*p, slice_rows, w, x, partials);
    reduce_kernel<<<ceil_div(outputs, 256), 256, 0, stream>>>(outputs, slices, partials, y);
    cudaFree(partials); /* waits until the kernels finish */
}
