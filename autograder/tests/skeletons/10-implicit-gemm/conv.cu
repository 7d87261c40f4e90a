/* Lab 10: convolution as a matrix product whose right-hand matrix is never written down: its tiles
 * are gathered from x when they are needed.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum { WARP = 32, OFFSETS = 1024 }; /* the offsets of so many rows are worked out at a time */

/* Row (c, r, s) of X_unroll, seen from the input under a column's tap (0, 0, 0). */
struct __align__(8) Offset
{
    int input; /* so many floats further */
    int tap;   /* r*65536 + s */
};

/* A tap that lies outside of every input, for rows beyond the last. */
enum { NO_TAP = 0x7fff0000 };

/* Are both halves of `at`, h and w, in 0 .. those of `last`?  A negative half shows in its highest
 * bit, so that two subtractions do for four comparisons.  (Sides below 32768, padding included.) */
__device__ bool inside(int at, int last)
{
    return ((at | (last - at)) & 0x80008000) == 0;
}

/* sums[n][k][pq] = sum over some rows of w[k][row] * X_unroll[row][column], column = n*P*Q + pq.
 * Block (bx, by, bz) owns columns j0 = bx*COLUMNS .., filters k0 = by*FILTERS .. and rows bz*slice
 * .. (bz+1)*slice-1; piece bz of the sums begins at sums + bz*N*K*P*Q.  A thread of it owns, for
 * f < MINE_K and g < MINE_J,
 *
 *     k = k0 + my_k + f/4*GROUP_K + f%4        column = j0 + my_column + g/4*GROUP_J + g%4
 *
 * fours of neighbours, because a float4 holds four; GROUP_K filters and GROUP_J columns apart,
 * because then the fours of a warp lie side by side in shared memory.
 *
 * Here is what follows from a block's shape, then what its threads do, step by step;
 * product_kernel, below, puts the steps together. */
template <int FILTERS, int COLUMNS, int DEPTH, int MINE_K, int MINE_J> struct Block {
    static constexpr int DOWN = FILTERS / MINE_K, ACROSS = COLUMNS / MINE_J;
    static constexpr int THREADS = DOWN * ACROSS, GROUP_K = DOWN * 4, GROUP_J = ACROSS * 4;
    static constexpr int PITCH = FILTERS + 4; /* a warp's stores fall into different banks */

    /* What a thread loads of w: row t%8 of a tile and every 8th after it (rows are neighbours in
     * memory), of filter k0 + t/8 and every EVERYth after it. */
    static constexpr int EVERY = THREADS / 8;

    /* And of X_unroll: GATHERED columns, and of these every APARTth row. */
    static constexpr int GATHERED = COLUMNS > THREADS ? COLUMNS / THREADS : 1;
    static constexpr int APART = COLUMNS > THREADS ? 1 : THREADS / COLUMNS;

    /* Where a thread loads from. */
    struct Source {
        const float *w;           /* its first row of the next tile, of its first filter */
        const float *x[GATHERED]; /* the input under tap (0, 0, 0) of a column ... */
        int at[GATHERED];         /* ... and where it lies: h*65536 + w */
    };

    /* A thread's part of the next tiles.  It waits in registers. */
    struct Next {
        float weight[FILTERS / EVERY][DEPTH / 8], input[GATHERED][DEPTH / APART];
    };

    static __device__ Source source_find(const ConvProblem &p, const float *w, const float *x,
                                         int k0, int j0, int begin)
    {
        const int t = threadIdx.x, pixels = p.P * p.Q, columns = p.N * pixels;
        Source from;
        from.w = w + (size_t)(k0 + t / 8) * (p.C * p.R * p.S) + begin + t % 8;
        for (int g = 0; g < GATHERED; g++) {
            int column = j0 + t % COLUMNS + g * THREADS;
            if (column >= columns) column = columns - 1; /* gathered, but never stored */
            int n = column / pixels, op = column % pixels / p.Q, oq = column % p.Q;
            int ih = op * p.stride_h - p.pad_top, iw = oq * p.stride_w - p.pad_left;
            from.at[g] = ih * 65536 + iw;
            from.x[g] = x + (n * p.C * p.H + ih) * p.W + iw;
            /* "You do not know how x[g] came about": or it is worked out at every load. */
            asm("" : "+l"(from.x[g]));
        }
        return from;
    }

    /* offset[i] becomes that of row first+i, for `count` rows; only `some` of them exist. */
    static __device__ void offsets_find(const ConvProblem &p, int first, int some, int count,
                                        Offset *offset)
    {
        // TODO(1): Work out the offsets, all threads together; NO_TAP for rows that do not exist.
        // END TODO(1)
    }

    /* Loads this thread's part of the tiles whose first row is offset[row].  Rows from `some` on do
     * not exist, nor do filters from K on. */
    static __device__ void next_load(const ConvProblem &p, int k0, const Offset *offset, int row,
                                     int some, Source &from, Next &next)
    {
        const int t = threadIdx.x, rows = p.C * p.R * p.S;
        const int last = (p.H - 1) * 65536 + p.W - 1;
        // TODO(2): Load `next`, zeros for what does not exist, and move from.w on by a tile.
        // END TODO(2)
    }

    /* Adds the products of a tile of weights and a tile of inputs to this thread's sums.  While a
     * row is multiplied, the next one is read. */
    static __device__ void tiles_multiply(const float (*weights)[PITCH],
                                          const float (*inputs)[COLUMNS], int my_k, int my_column,
                                          float (&sum)[MINE_K][MINE_J])
    {
        float weight[2][MINE_K], input[2][MINE_J]; /* of the row in use and of the next */
#pragma unroll
        for (int i = -1; i < DEPTH; i++) {
            const int use = i & 1, read = use ^ 1;
            // TODO(3): Read this thread's weights and inputs of row i+1, if there is one, four at
            // a time; add the products of row i, if there is one, to the sums.
            // END TODO(3)
        }
    }

    /* Stores this thread's part of the next tiles. */
    static __device__ void next_store(const Next &next, float (*weights)[PITCH],
                                      float (*inputs)[COLUMNS])
    {
        const int t = threadIdx.x;
        // TODO(4): Store `next` to where TODO(3) will read it: [row][filter], [row][column].
        // END TODO(4)
    }

    /* Stores this thread's sums, the first of which is filter `my_k`, column `my_column` of all. */
    static __device__ void sums_store(const ConvProblem &p, int my_k, int my_column,
                                      const float (&sum)[MINE_K][MINE_J], float *sums)
    {
        const int pixels = p.P * p.Q, columns = p.N * pixels;
        const bool whole = pixels % 4 == 0; /* then the four of a group lie in one image, aligned */
        for (int g = 0; g < MINE_J; g += 4) {
            const int column = my_column + g / 4 * GROUP_J;
            float *to[4]; /* filter 0 of this column and its three neighbours */
            for (int i = 0; i < 4; i++) {
                const int n = (column + i) / pixels;
                to[i] = sums + n * (p.K - 1) * pixels + column + i;
            }
            for (int f = 0; f < MINE_K; f++) {
                const int k = my_k + f / 4 * GROUP_K + f % 4;
                if (k >= p.K) continue;
                // TODO(5): Store sum[f][g] to sum[f][g+3] where their columns exist; as a float4
                // if whole.
                // END TODO(5)
            }
        }
    }
};

template <int FILTERS, int COLUMNS, int DEPTH, int MINE_K, int MINE_J, int RESIDENT>
__global__ void __launch_bounds__(FILTERS / MINE_K * (COLUMNS / MINE_J), RESIDENT)
    product_kernel(const ConvProblem p, int slice, const float *__restrict__ w,
                   const float *__restrict__ x, float *__restrict__ sums)
{
    typedef Block<FILTERS, COLUMNS, DEPTH, MINE_K, MINE_J> B;
    __shared__ alignas(16) float weights[2][DEPTH][B::PITCH], inputs[2][DEPTH][COLUMNS];
    __shared__ Offset offset[OFFSETS];

    /* Where this thread stands: a warp is 4 threads deep and 8 wide, or flat where DOWN is 1. */
    constexpr int WARP_DOWN = B::DOWN < 4 ? B::DOWN : 4, WARP_ACROSS = WARP / WARP_DOWN;
    const int t = threadIdx.x, lane = t % WARP, warp = t / WARP;
    const int across = warp % (B::ACROSS / WARP_ACROSS) * WARP_ACROSS + lane % WARP_ACROSS;
    const int down = warp / (B::ACROSS / WARP_ACROSS) * WARP_DOWN + lane / WARP_ACROSS;
    const int my_k = down * 4, my_column = across * 4;

    const int rows = p.C * p.R * p.S, k0 = blockIdx.y * FILTERS, j0 = blockIdx.x * COLUMNS;
    const int begin = blockIdx.z * slice, end = begin + slice < rows ? begin + slice : rows;
    typename B::Source from = B::source_find(p, w, x, k0, j0, begin);
    float sum[MINE_K][MINE_J] = {};
    for (int first = begin; first < end; first += OFFSETS) {
        const int some = end - first < OFFSETS ? end - first : OFFSETS;
        const int tiles = (some + DEPTH - 1) / DEPTH;
        B::offsets_find(p, first, some, tiles * DEPTH, offset);
        __syncthreads();
        for (int tile = -1; tile < tiles; tile++) {
            const int now = tile & 1, then = now ^ 1;
            typename B::Next next;
            // TODO(6): In this order: load the next tiles, if there are any; multiply the tiles
            // `now`, but not in round -1; store the next tiles as `then`; wait for all threads.
            // END TODO(6)
        }
    }
    sums += (size_t)blockIdx.z * p.N * p.K * p.P * p.Q;
    B::sums_store(p, k0 + my_k, j0 + my_column, sum, sums);
}

/* y[i] = the sum of `pieces` sums.  Thread t of block b owns i = b*blockDim.x + t. */
__global__ void add_kernel(int outputs, int pieces, const float *__restrict__ sums,
                           float *__restrict__ y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    float sum = 0.0f;
    for (int piece = 0; piece < pieces; piece++)
        sum += sums[(size_t)piece * outputs + i];
    y[i] = sum;
}

/* The shapes that a block can have. */
struct Tile {
    int filters, columns, depth, threads, resident;
    float speed; /* beside the fastest where all are busy, measured on an H200 */
    void (*kernel)(ConvProblem, int, const float *, const float *, float *);
};
#define TILE(f, c, d, k, j, resident, speed)                                                       \
    {                                                                                              \
        f, c, d, (f) / (k) * ((c) / (j)), resident, speed, product_kernel<f, c, d, k, j, resident> \
    }
static const Tile tiles[] = {
    TILE(128, 128, 16, 8, 16, 2, 1.00f), TILE(64, 128, 16, 8, 8, 3, 0.96f),
    TILE(64, 64, 32, 8, 4, 4, 0.78f),    TILE(32, 128, 16, 4, 8, 5, 0.78f),
    TILE(32, 32, 32, 4, 4, 8, 0.56f),    TILE(16, 64, 32, 4, 4, 8, 0.57f),
    TILE(8, 256, 8, 8, 4, 8, 0.45f),
};
enum { TILES = sizeof tiles / sizeof *tiles, MOST_PIECES = 32 };

static int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

/* How long the busiest of `sms` multiprocessors is at it, in products.  It has `resident` blocks at
 * a time; where the last of them are fewer than BUSY threads, it is as slow as with so many.  A
 * block computes whole tiles, and takes as long as START rows to get going.  Pieces are added up by
 * another kernel, which takes as long as ADD products, and SUM for each sum that it reads.  (Fitted
 * to what every tile and many numbers of pieces took on 26 layers on an H200: the choice is within
 * 1.5 % of the best on average, within 15 % always.) */
static float cost(const ConvProblem *p, const Tile *tile, int pieces, int sms)
{
    const int BUSY = 256, START = 32;
    const float ADD = 5e5f, SUM = 20.0f;
    const int columns = p->N * p->P * p->Q;
    int blocks = ceiling(columns, tile->columns) * ceiling(p->K, tile->filters) * pieces;
    int busiest = ceiling(blocks, sms), last = (busiest - 1) % tile->resident + 1;
    if (last * tile->threads < BUSY) busiest += BUSY / tile->threads - last;
    int rows = ceiling(ceiling(p->C * p->R * p->S, pieces), tile->depth) * tile->depth + START;
    float products = (float)tile->filters * tile->columns * rows * busiest / tile->speed;
    return pieces == 1 ? products : products + ADD + SUM * columns * p->K * pieces / sms;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const int rows = p->C * p->R * p->S, columns = p->N * p->P * p->Q, outputs = columns * p->K;
    const Tile *tile = &tiles[0];
    int pieces = 1, sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    // TODO(7): Choose the tile and the number of pieces that cost least.  Where there are several
    // pieces, none is smaller than a tile's depth.
    // END TODO(7)

    int slice = ceiling(ceiling(rows, pieces), tile->depth) * tile->depth;
    pieces = ceiling(rows, slice);
    dim3 grid(ceiling(columns, tile->columns), ceiling(p->K, tile->filters), pieces);
    if (pieces == 1) {
        tile->kernel<<<grid, tile->threads, 0, stream>>>(*p, slice, w, x, y);
        return;
    }
    float *sums = nullptr;
    cudaMalloc(&sums, sizeof(float) * outputs * pieces);
    tile->kernel<<<grid, tile->threads, 0, stream>>>(*p, slice, w, x, sums);
    add_kernel<<<ceiling(outputs, 256), 256, 0, stream>>>(outputs, pieces, sums, y);
    cudaFree(sums); /* waits until nobody needs it */
}
