/* Lab 17: the backward pass of a convolution in three parts: gathered, as matrix products, and by
 * Winograd's algorithm.  The entry points at the end use what is written: a function whose launch
 * is not written returns 0.  Edit only the TODO regions. */
#include <convlab/conv.h>
#include <cuda_pipeline.h>

enum { WARP = 32 };

__host__ __device__ static int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

static int multiprocessors()
{
    int count = 1;
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    return count;
}

/* ==== Part A: gather ========================================================================== */

/* ---- the gradient by its definition ---- */

/* A tensor of which one element is changed: its elements are values[i], or 0 if values is NULL;
 * element `changed` is larger by `by`. */
struct Changed {
    const float *values;
    int changed;
    double by;

    __device__ double operator[](int i) const
    {
        return (values ? values[i] : 0.0) + (i == changed ? by : 0.0);
    }
};

/* The loss E: the sum of dy[o] * y[o] over all outputs o = (n, k, p, q) of the forward pass. */
__device__ double loss(const ConvProblem &p, const float *__restrict__ dy, const Changed &x,
                       const Changed &w)
{
    double sum = 0;
    // TODO(1): Add up the loss.  Every y[n][k][p][q] is a sum over c, r and s; pixels outside of x
    // are 0.
    (void)p, (void)dy, (void)x, (void)w; /* until you use them */
    // END TODO(1)
    return sum;
}

/* gradient[i] = (E(+h) - E(-h)) / 2h, where h is added to element i of x if x is NULL, of w if w is
 * NULL.  E is linear in that tensor: its values do not matter, and zeros are as good as any. */
// TODO(2): Write a kernel with one thread per element of the gradient, and launch it here.
static int difference(const ConvProblem *p, const float *dy, const float *x, const float *w,
                      int elements, float *gradient, cudaStream_t stream)
{
    (void)p, (void)dy, (void)x, (void)w, (void)elements, (void)gradient, (void)stream;
    return 0; /* 1, once it launches a kernel */
}
// END TODO(2)

/* ---- one thread per element: any problem ---- */

/* Gathers dx: each element is the sum over k, r and s. */
// TODO(3): Write a kernel in which a thread owns one pixel of dx, and launch it here.
static int plain_data(const ConvProblem *p, const float *dy, const float *w, float *dx,
                      cudaStream_t stream)
{
    (void)p, (void)dy, (void)w, (void)dx, (void)stream;
    return 0; /* 1, once it launches a kernel */
}
// END TODO(3)

/* Gathers dw: each element is the sum over n, p and q. */
// TODO(4): Write a kernel in which a thread owns one weight of dw, and launch it here.
static int plain_filter(const ConvProblem *p, const float *x, const float *dy, float *dw,
                        cudaStream_t stream)
{
    (void)p, (void)x, (void)dy, (void)dw, (void)stream;
    return 0; /* 1, once it launches a kernel */
}
// END TODO(4)

/* ---- dx in strips of pixels: few channels, stride 1 ---- */

enum {
    STRIP = 4,
    TAPS = 5,
    WINDOW = STRIP + TAPS - 1,
    GATHER_THREADS = 128,
    GATHER_WEIGHTS = 1024
};

/* A strip is STRIP vertically adjacent pixels, in column iw from row h0.  With the taps (r0 ..
 * r0+TAPS-1, s) it needs WINDOW vertically adjacent gradients of map k. */
struct Strip {
    int n, h0, iw; /* image, first row, column */
    int k, s, r0;  /* next window: map, filter column, first filter row */
};

/* Loads window[j], the strip's gradients from top to bottom; zero outside dy. */
__device__ static void window_load(const ConvProblem &p, const Strip &strip,
                                   const float *__restrict__ dy, float (&window)[WINDOW])
{
    // TODO(5): Load the window.  Pixel row h and tap r use row h + pad_top - r of dy; pixel column
    // w and tap s use column w + pad_left - s.
    (void)p, (void)strip, (void)dy, (void)window; /* until you use them */
    // END TODO(5)
}

/* Thread i owns a strip in every channel (C <= CHANNELS):
 *
 *     w = i % W    h = strip*STRIP .. strip*STRIP + STRIP-1    (n, strip) = i / W
 *
 * so that neighbouring threads access neighbouring columns.  `pixel[c][j]` accumulates channel c,
 * row strip*STRIP + j.  Shared memory holds the weights of `held` filters at a time; R is rounded
 * up to a multiple of TAPS with zeros.  The next window is loaded while the current one is used. */
template <int CHANNELS>
__global__ void __launch_bounds__(GATHER_THREADS)
    gather_kernel(const ConvProblem p, const float *__restrict__ dy, const float *__restrict__ w,
                  float *__restrict__ dx)
{
    __shared__ alignas(16) float weights[GATHER_WEIGHTS]; /* [k][s][r][c] */
    const int i = blockIdx.x * GATHER_THREADS + threadIdx.x;
    const int strips = ceiling(p.H, STRIP), rounded = ceiling(p.R, TAPS) * TAPS;
    const int filter = p.S * rounded * CHANNELS, held = GATHER_WEIGHTS / filter;
    Strip strip = {i / p.W / strips, i / p.W % strips * STRIP, i % p.W, 0, 0, 0};
    const bool exists = strip.n < p.N;
    float pixel[CHANNELS][STRIP] = {}, next[WINDOW] = {};

    if (exists) window_load(p, strip, dy, next);
    for (int k0 = 0; k0 < p.K; k0 += held) {
        const int existing = p.K - k0 < held ? p.K - k0 : held;
        __syncthreads();
        for (int j = threadIdx.x; j < existing * filter; j += GATHER_THREADS) {
            const int c = j % CHANNELS, r = j / CHANNELS % rounded;
            const int s = j / CHANNELS / rounded % p.S, k = k0 + j / filter;
            weights[j] = c < p.C && r < p.R ? w[((k * p.C + c) * p.R + r) * p.S + s] : 0.0f;
        }
        __syncthreads();
        if (!exists) continue;
        const float *weight = weights, *const end = weights + existing * filter;
        for (; weight < end; weight += TAPS * CHANNELS) {
            float window[WINDOW];
#pragma unroll
            for (int j = 0; j < WINDOW; j++)
                window[j] = next[j];
            strip.r0 += TAPS;
            if (strip.r0 >= p.R) strip.r0 = 0, strip.s++;
            if (strip.s == p.S) strip.s = 0, strip.k++;
            if (strip.k < p.K) window_load(p, strip, dy, next);
            const int center = TAPS - 1; /* window[center + j] belongs to pixel j and tap r0 */
            // TODO(6): Accumulate TAPS multiply-adds per pixel.  Tap r0+r has weight[r*CHANNELS +
            // c].
            (void)window, (void)center; /* until you use them */
            // END TODO(6)
        }
    }
    if (!exists) return;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
#pragma unroll
        for (int j = 0; j < STRIP; j++)
            if (c < p.C && strip.h0 + j < p.H)
                dx[((strip.n * p.C + c) * p.H + strip.h0 + j) * p.W + strip.iw] = pixel[c][j];
}

/* Gathers dx in strips if gather_kernel is right for this problem and costs less than `product`;
 * otherwise returns 0. */
static int gather(const ConvProblem *p, const float *dy, const float *w, float *dx, float product,
                  cudaStream_t stream)
{
    const int BUSY = 256;
    const int channels = p->C == 1 ? 1 : p->C <= 3 ? 3 : 6; /* CHANNELS of the instance */
    const int taps = p->S * ceiling(p->R, TAPS) * TAPS;
    const int threads = p->N * p->W * ceiling(p->H, STRIP);
    int busiest = ceiling(threads, multiprocessors());
    if (busiest < BUSY) busiest = BUSY;
    if ((float)p->K * taps * channels * STRIP * busiest > product) return 0;
    // TODO(7): If gather_kernel is right for this problem, launch its instance for `channels`, and
    // return 1.
    (void)dy, (void)w, (void)dx, (void)stream;
    // END TODO(7)
    return 0;
}

/* ==== Part B: matrix products ================================================================= */

/* ---- the matrix product ---- */

/* The position of a tap that is outside every map. */
enum { NO_TAP = 0x7fff0000 };

/* Are row and column of `at` (its upper and lower 16 bits) between 0 and those of `last`? Sides
 * must be below 32768, padding included; lab 10 explains the test. */
__device__ bool inside(int at, int last)
{
    return ((at | (last - at)) & 0x80008000) == 0;
}

/* accumulator[m][j] = sum over rows i of left[i][m] * right[i][j].  A block owns M x J accumulators
 * and loads DEPTH rows at a time to shared memory.  A thread owns, for f < PER_THREAD_M and g <
 * PER_THREAD_J,
 *
 *     m = my_m + f/AT_M*GROUP_M + f%AT_M        j = my_j + g/AT_J*GROUP_J + g%AT_J
 *
 * as in lab 10: one load reads AT_M or AT_J neighbours. */
template <int M_, int J_, int DEPTH_, int PER_THREAD_M_, int PER_THREAD_J_> struct BlockTile {
    static constexpr int M = M_, J = J_, DEPTH = DEPTH_, PER_THREAD_M = PER_THREAD_M_,
                         PER_THREAD_J = PER_THREAD_J_;
    static constexpr int DOWN = M / PER_THREAD_M, ACROSS = J / PER_THREAD_J,
                         THREADS = DOWN * ACROSS;
    static constexpr int AT_M = 4, AT_J = PER_THREAD_J < 4 ? PER_THREAD_J : 4;
    static constexpr int GROUP_M = DOWN * AT_M, GROUP_J = ACROSS * AT_J;
    static constexpr int PITCH_M = M + 4, PITCH_J = J + 4;   /* + 4: stores use different banks */
    static constexpr int TABLE = THREADS >= 128 ? 512 : 256; /* rows per table */
    static constexpr int UNROLLED =
        PER_THREAD_M * PER_THREAD_J > 64 ? 8 : DEPTH; /* rows, in multiply() */

    /* First accumulator of thread t: a warp is 4 threads high and 8 wide, or flat if DOWN is 1. */
    static constexpr int WARP_DOWN = DOWN < 4 ? DOWN : 4, WARP_ACROSS = WARP / WARP_DOWN;

    static __device__ int first_m(int t)
    {
        return (t / WARP / (ACROSS / WARP_ACROSS) * WARP_DOWN + t % WARP / WARP_ACROSS) * AT_M;
    }

    static __device__ int first_j(int t)
    {
        return (t / WARP % (ACROSS / WARP_ACROSS) * WARP_ACROSS + t % WARP_ACROSS) * AT_J;
    }

    /* Loads this thread's part of a row of both tiles from shared memory. */
    static __device__ void row_read(const float *left, const float *right, float (&l)[PER_THREAD_M],
                                    float (&r)[PER_THREAD_J])
    {
#pragma unroll
        for (int f = 0; f < PER_THREAD_M; f += AT_M)
            *(float4 *)&l[f] = *(const float4 *)&left[f / AT_M * GROUP_M];
#pragma unroll
        for (int g = 0; g < PER_THREAD_J; g += AT_J)
            if (AT_J == 4)
                *(float4 *)&r[g] = *(const float4 *)&right[g / AT_J * GROUP_J];
            else
                *(float2 *)&r[g] = *(const float2 *)&right[g / AT_J * GROUP_J];
    }

    /* Accumulates the matrix product of two tiles; row i+1 is loaded while row i is used. */
    template <int WIDE_M, int WIDE_J>
    static __device__ void multiply(const float (*left)[WIDE_M], const float (*right)[WIDE_J],
                                    int my_m, int my_j,
                                    float (&accumulator)[PER_THREAD_M][PER_THREAD_J])
    {
        float l[2][PER_THREAD_M], r[2][PER_THREAD_J];
        row_read(&left[0][my_m], &right[0][my_j], l[0], r[0]);
#pragma unroll UNROLLED
        for (int i = 0; i < DEPTH; i++) {
            const int use = i & 1, next = use ^ 1;
            if (i + 1 < DEPTH) row_read(&left[i + 1][my_m], &right[i + 1][my_j], l[next], r[next]);
#pragma unroll
            for (int f = 0; f < PER_THREAD_M; f++)
#pragma unroll
                for (int g = 0; g < PER_THREAD_J; g++)
                    accumulator[f][g] += l[use][f] * r[use][g];
        }
    }
};

/* A Source loads the tiles and stores the results.  Each block has `slice_rows` rows (split-K):
 * block z of the grid has the z-th slice of the rows, and stores its results to the z-th part of
 * sums. */
template <class Source, int RESIDENT>
__global__ void __launch_bounds__(Source::B::THREADS, RESIDENT)
    gemm_kernel(const typename Source::Job job, int slice_rows, const float *__restrict__ left,
                const float *__restrict__ right, float *__restrict__ sums)
{
    typedef typename Source::B B;
    __shared__ alignas(16) float lefts[2][B::DEPTH][B::PITCH_M], rights[2][B::DEPTH][B::PITCH_J];
    __shared__ typename Source::Row table[B::TABLE];
    const int my_m = B::first_m(threadIdx.x), my_j = B::first_j(threadIdx.x);
    Source source(job, left, right, blockIdx.y * B::M, blockIdx.x * B::J);
    const int rows = source.rows, begin = blockIdx.z * slice_rows;
    const int end = rows - begin < slice_rows ? rows : begin + slice_rows;
    if (rows == 0) return;
    float accumulator[B::PER_THREAD_M][B::PER_THREAD_J] = {};
    for (int first = begin; first < end; first += B::TABLE) {
        const int existing = end - first < B::TABLE ? end - first : B::TABLE;
        const int tiles = ceiling(existing, B::DEPTH);
        source.table_fill(job, first, existing, tiles * B::DEPTH, table);
        __syncthreads();
        for (int tile = -1; tile < tiles; tile++) {
            const int current = tile & 1, then = current ^ 1, next = (tile + 1) * B::DEPTH;
            const bool more = tile + 1 < tiles;
            if (more) source.load(job, table + next, first + next);
            if (tile >= 0) B::multiply(lefts[current], rights[current], my_m, my_j, accumulator);
            if (more) source.store(lefts[then], rights[then]);
            __syncthreads();
        }
    }
    source.sums_store(job, blockIdx.y * B::M + my_m, blockIdx.x * B::J + my_j, accumulator,
                      sums + (size_t)blockIdx.z * job.outputs);
}

/* ---- the kernels, their costs, and the choice among them ---- */

template <class Job> struct Tile {
    int m, j, depth, threads, resident;
    float speed; /* relative to the fastest, with all SMs busy; measured on an H200 */
    void (*kernel)(Job, int, const float *, const float *, float *);
};

#define TILE(kernel, source, m, j, d, mine_m, mine_j, resident, speed)                             \
    {                                                                                              \
        m, j, d, (m) / (mine_m) * ((j) / (mine_j)), resident, speed,                               \
            kernel<source<BlockTile<m, j, d, mine_m, mine_j>>, resident>                           \
    }

/* Costs in multiply-adds: a launch that flips the filter, one that transforms tiles or outputs, and
 * one that adds slices. */
static const float FLIP = 3e5f, TRANSFORM = 6e5f, ADD = 5e5f;

/* Cost of adding a value of a slice.  With a stride, a slice stores single values of many sectors.
 */
static const float SUM = 20.0f, SUM_STRIDED = 300.0f;

/* Time of the busiest of `sms` SMs, in multiply-adds, for `products` matrix products at the same
 * time; one with a quarter of the rows counts as a quarter.  An SM has `resident` blocks at a
 * time; fewer blocks take as long, because latency is then exposed.  A block computes whole tiles
 * and starts up for as long as START rows take.  Another kernel adds the slices: ADD in all, `sum`
 * for each value that it loads, and LATE for each slice that a thread waits for.  (ADD, SUM and
 * START are lab 10's, fitted to an H200.) */
template <class Job>
static float cost(const Tile<Job> &tile, float products, int m, int columns, int rows, int slices,
                  int sms, float sum)
{
    const int START = 32;
    const float LATE = 260.0f;
    int blocks = ceilf(products * ceiling(columns, tile.j) * ceiling(m, tile.m) * slices);
    int busiest = ceiling(ceiling(blocks, sms), tile.resident) * tile.resident;
    int deep = ceiling(ceiling(rows, slices), tile.depth) * tile.depth + START;
    float all = (float)tile.m * tile.j * deep * busiest / tile.speed;
    if (slices == 1) return all;
    return all + ADD + (sum * products * columns * m / sms + LATE) * (float)slices;
}

template <class Job> struct Choice {
    const Tile<Job> *tile;
    int slices;
    float cost;
};

/* The tile and the number of slices with the smallest cost, for `products` matrix products of m x
 * columns sums over `rows` rows; see part C. */
template <class Job, int TILES>
static Choice<Job> choose(const Tile<Job> (&tiles)[TILES], float products, int m, int columns,
                          int rows, float sum = SUM);

static int slice_rows_of(int rows, int slices, int depth)
{
    return ceiling(ceiling(rows, slices), depth) * depth;
}

/* ---- the sum of the slices ---- */

enum { ADD_ACROSS = 32, ADD_DOWN = 32 };

/* to[i] = sum over the slices of sums[slice][i], always in the same order.  The threads (tx, ty) of
 * a block share output i = blockIdx.x*ADD_ACROSS + tx: row ty adds up slices ty, ty + blockDim.y
 * ...; then row 0 adds up the rows' partial sums. */
__global__ void add_kernel(int outputs, int slices, const float *__restrict__ sums,
                           float *__restrict__ to)
{
    __shared__ float part[ADD_DOWN][ADD_ACROSS];
    const int i = blockIdx.x * ADD_ACROSS + threadIdx.x, down = blockDim.y;
    float sum = 0.0f;
    // TODO(8): Add up this thread's slices and store the partial sum to `part`; then row 0 adds up
    // the partial sums in order and stores the total.
    (void)sum, (void)i, (void)down, (void)part, (void)slices, (void)sums, (void)to;
    // END TODO(8)
}

static void add_slices(int outputs, int slices, const float *sums, float *to, cudaStream_t stream)
{
    const dim3 block(ADD_ACROSS, slices >= 64 ? ADD_DOWN : slices >= 32 ? 8 : 4);
    add_kernel<<<ceiling(outputs, ADD_ACROSS), block, 0, stream>>>(outputs, slices, sums, to);
}

/* ---- dx as a matrix product ---- */

/* With strides a and b, pixels (first_h + i*a, first_w + j*b) use the taps (tap_h + ..*a, tap_w +
 * ..*b) and no others: one of a*b phases.  Each phase is a convolution of dy at stride 1 with those
 * taps flipped.  Pixel (i, j) uses dy at (i - pad_h + r, j - pad_w + s), r < taps_h, s < taps_w.
 * pad_h may be negative: then the window starts inside dy.  The gradients of a phase without taps
 * are 0. */
struct Phase {
    int first_h, first_w, high, wide; /* high x wide pixels */
    int tap_h, tap_w, taps_h, taps_w, pad_h, pad_w;
};

__device__ static void phase_of(int first, int size, int filter, int stride, int padding,
                                int *pixels, int *tap, int *taps, int *pad)
{
    *pixels = ceiling(size - first, stride);
    *tap = *taps = *pad = 0;
    // TODO(9): Set the first tap that pixel `first` uses, the number of its taps, and the padding
    // of the convolution with the flipped taps.
    (void)first, (void)padding, (void)filter; /* until you use them */
    // END TODO(9)
}

/* The number of phases that have taps. */
static int phases_of(const ConvProblem &p)
{
    return (p.stride_h < p.R ? p.stride_h : p.R) * (p.stride_w < p.S ? p.stride_w : p.S);
}

/* Phase `number` of those that have taps, in the order of their first taps: those with the most
 * taps come first. */
__device__ static Phase phase_find(const ConvProblem &p, int number)
{
    const int across = p.stride_w < p.S ? p.stride_w : p.S;
    Phase f = {};
    f.first_h = (number / across + p.stride_h - p.pad_top % p.stride_h) % p.stride_h;
    f.first_w = (number % across + p.stride_w - p.pad_left % p.stride_w) % p.stride_w;
    phase_of(f.first_h, p.H, p.R, p.stride_h, p.pad_top, &f.high, &f.tap_h, &f.taps_h, &f.pad_h);
    phase_of(f.first_w, p.W, p.S, p.stride_w, p.pad_left, &f.wide, &f.tap_w, &f.taps_w, &f.pad_w);
    return f;
}

/* flipped[row][number][c], rows (k, r, s) of phase `number`: the weight of the gradient at (r, s)
 * of a pixel's window in map k.  Padded with zeros to `deep` rows and `pitch` channels per phase.
 * Thread i owns element i. */
__global__ void flip_kernel(const ConvProblem p, int phases, int deep, int pitch,
                            const float *__restrict__ w, float *__restrict__ flipped)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, c = i % pitch;
    const int row = i / pitch / phases;
    if (row >= deep) return;
    const Phase phase = phase_find(p, i / pitch % phases);
    // TODO(10): Store the element.  The phase's last tap comes first.
    (void)c, (void)w, (void)flipped, (void)phase;
    // END TODO(10)
}

/* Left matrix: flipped.  Right matrix: gathered from dy.  A column is a pixel of the phase, a row
 * is (k, r, s).  A block has channels of one phase. */
struct DataJob {
    ConvProblem p;
    int outputs, phases, pitch;
};

template <class B_> struct DataSource {
    typedef B_ B;
    typedef DataJob Job;

    /* Position of a row relative to a pixel's gradient for tap (0, 0, 0). */
    struct __align__(8) Row
    {
        int input; /* offset in dy, in floats */
        int tap;   /* r*65536 + s */
    };

    /* A thread loads MY_FOURS float4 of `flipped`, and every APART-th row of GATHERED columns. */
    static constexpr int FOURS = B::DEPTH * B::M / 4, MY_FOURS = (FOURS - 1) / B::THREADS + 1;
    static constexpr int GATHERED = B::J > B::THREADS ? B::J / B::THREADS : 1;
    static constexpr int APART = B::J > B::THREADS ? 1 : B::THREADS / B::J;

    Phase phase;                         /* phase of the block */
    int rows;                            /* rows of the phase; 0 if the block has no columns */
    const float *flipped, *dy[GATHERED]; /* address of a column's gradient for tap (0, 0, 0) ... */
    int at[GATHERED];                    /* ... and its position: p*65536 + q */
    float4 weight[MY_FOURS];             /* loaded while the previous tiles are used */
    float input[GATHERED][B::DEPTH / APART];

    __device__ DataSource(const Job &job, const float *left, const float *right, int m0, int j0)
    {
        const Phase f = phase = phase_find(job.p, m0 / job.pitch);
        const int pixels = f.high * f.wide, columns = job.p.N * pixels;
        rows = j0 < columns ? job.p.K * f.taps_h * f.taps_w : 0;
        if (rows == 0) return;
        flipped = left + m0;
        for (int g = 0; g < GATHERED; g++) {
            int column = j0 + threadIdx.x % B::J + g * B::THREADS;
            if (column >= columns) column = columns - 1; /* loaded, but never stored */
            const int n = column / pixels, i = column % pixels / f.wide, j = column % f.wide;
            at[g] = (i - f.pad_h) * 65536 + j - f.pad_w;
            dy[g] = right + (n * job.p.K * job.p.P + i - f.pad_h) * job.p.Q + j - f.pad_w;
            /* Hides dy[g] from the optimiser, which would recompute the address at every load. */
            asm("" : "+l"(dy[g]));
        }
    }

    /* Fills table[i] with row first+i, for `count` rows, of which `existing` exist. */
    __device__ void table_fill(const Job &job, int first, int existing, int count, Row *table)
    {
        for (int i = threadIdx.x; i < count; i += B::THREADS) {
            // TODO(11): Set the offset of row first+i from tap (0, 0, 0); NO_TAP if it does not
            // exist.
            table[i].input = 0;
            table[i].tap = NO_TAP;
            (void)first, (void)existing, (void)phase;
            // END TODO(11)
        }
    }

    /* Loads this thread's part of the tiles that start with row `first`, table[0]. */
    __device__ void load(const Job &job, const Row *table, int first)
    {
        const int t = threadIdx.x, last = (job.p.P - 1) * 65536 + job.p.Q - 1;
#pragma unroll
        for (int e = 0; e < MY_FOURS; e++) {
            const int four = t + e * B::THREADS, row = first + four / (B::M / 4);
            if (FOURS % B::THREADS == 0 || four < FOURS)
                weight[e] = __ldg((const float4 *)(flipped + (size_t)row * job.phases * job.pitch) +
                                  four % (B::M / 4));
        }
#pragma unroll
        for (int i = 0; i < B::DEPTH / APART; i++) {
            const Row row = table[t / B::J % APART + i * APART];
#pragma unroll
            for (int g = 0; g < GATHERED; g++)
                input[g][i] = inside(at[g] + row.tap, last) ? __ldg(dy[g] + row.input) : 0.0f;
        }
    }

    __device__ void store(float (*left)[B::PITCH_M], float (*right)[B::PITCH_J])
    {
        const int t = threadIdx.x;
#pragma unroll
        for (int e = 0; e < MY_FOURS; e++) {
            const int four = t + e * B::THREADS;
            if (FOURS % B::THREADS == 0 || four < FOURS)
                *(float4 *)&left[four / (B::M / 4)][four % (B::M / 4) * 4] = weight[e];
        }
#pragma unroll
        for (int i = 0; i < B::DEPTH / APART; i++)
#pragma unroll
            for (int g = 0; g < GATHERED; g++)
                right[t / B::J % APART + i * APART][t % B::J + g * B::THREADS] = input[g][i];
    }

    /* Stores this thread's results; the first is column my_column, and channel my_m % pitch. */
    __device__ void sums_store(const Job &job, int my_m, int my_column,
                               const float (&accumulator)[B::PER_THREAD_M][B::PER_THREAD_J],
                               float *dx)
    {
        const ConvProblem &p = job.p;
        const Phase &f = phase;
        const int my_c = my_m % job.pitch;
        const int pixels = f.high * f.wide, columns = p.N * pixels, plane = p.H * p.W;
        /* Are the four results of a group neighbours in memory, and aligned? */
        const bool whole = pixels == plane && plane % 4 == 0 && B::AT_J == 4;
#pragma unroll
        for (int g = 0; g < B::PER_THREAD_J; g += B::AT_J) {
            const int column = my_column + g / B::AT_J * B::GROUP_J;
            int n = column / pixels, y = (column - n * pixels) / f.wide;
            int x = column - n * pixels - y * f.wide;
            int to[B::AT_J]; /* offsets of this column and its neighbours in dx; -1: not stored */
#pragma unroll
            for (int i = 0; i < B::AT_J; i++) {
                to[i] = n * p.C * plane + (f.first_h + y * p.stride_h) * p.W + f.first_w +
                        x * p.stride_w;
                if (column + i >= columns) to[i] = -1;
                if (++x == f.wide) x = 0, y++;
                if (y == f.high) y = 0, n++;
            }
#pragma unroll
            for (int e = 0; e < B::PER_THREAD_M; e++) {
                const int c = my_c + e / B::AT_M * B::GROUP_M + e % B::AT_M;
                float *map = dx + c * plane;
                if (c >= p.C) continue;
                if (whole && to[0] >= 0)
                    *(float4 *)&map[to[0]] =
                        make_float4(accumulator[e][g], accumulator[e][g + 1], accumulator[e][g + 2],
                                    accumulator[e][g + 3]);
                else
#pragma unroll
                    for (int i = 0; i < B::AT_J; i++)
                        if (to[i] >= 0) map[to[i]] = accumulator[e][g + i];
            }
        }
    }
};

static const Tile<DataJob> data_tiles[] = {
    TILE(gemm_kernel, DataSource, 128, 128, 16, 8, 16, 2, 1.00f),
    TILE(gemm_kernel, DataSource, 64, 128, 16, 8, 8, 3, 0.96f),
    TILE(gemm_kernel, DataSource, 32, 128, 16, 4, 8, 5, 0.78f),
    TILE(gemm_kernel, DataSource, 32, 32, 32, 4, 4, 8, 0.56f),
    TILE(gemm_kernel, DataSource, 8, 256, 8, 8, 4, 8, 0.45f),
};

/* dx as one matrix product, in which each phase has channels of its own; returns the number of
 * launches. */
static int product_data(const ConvProblem *p, const float *dy, const float *w, float *dx,
                        const Choice<DataJob> &choice, cudaStream_t stream)
{
    const int outputs = p->N * p->C * p->H * p->W, a = p->stride_h, b = p->stride_w;
    const Tile<DataJob> *tile = choice.tile;
    const int phases = phases_of(*p), pitch = ceiling(p->C, tile->m) * tile->m;
    /* Most rows of a phase, without and with zeros, and most columns of a phase. */
    const int rows = p->K * ceiling(p->R, a) * ceiling(p->S, b);
    const int deep = ceiling(rows, tile->depth) * tile->depth;
    const int columns = p->N * ceiling(p->H, a) * ceiling(p->W, b);
    const int slice_rows = slice_rows_of(rows, choice.slices, tile->depth);
    const size_t bytes = sizeof(float) * outputs * choice.slices;
    float *flipped = nullptr, *sums = dx;
    int launches = 0;
    cudaMalloc(&flipped, sizeof(float) * deep * phases * pitch);
    if (choice.slices > 1) cudaMalloc(&sums, bytes);
    if (a > p->R || b > p->S) cudaMemsetAsync(sums, 0, bytes, stream); /* phases without taps */
    // TODO(12): Launch flip_kernel, and then tile->kernel(job, slice_rows, flipped, dy, sums) with
    // blocks for all columns, for all channels of all phases, and for all slices.  Set `launches`.
    (void)dy, (void)w, (void)columns, (void)slice_rows;
    // END TODO(12)
    if (launches && choice.slices > 1) add_slices(outputs, choice.slices, sums, dx, stream);
    if (choice.slices > 1) cudaFree(sums);
    cudaFree(flipped); /* waits until the kernels have finished */
    return launches;
}

/* ---- dw as a matrix product ---- */

/* Left matrix: dy.  Right matrix: gathered from x.  A column is a tap (c, r, s), a row is (n, p,
 * q). */
struct FilterJob {
    ConvProblem p;
    int rows, outputs;
};

template <class B_> struct FilterSource {
    typedef B_ B;
    typedef FilterJob Job;

    /* Position of a row for tap (0, 0, 0) and map 0. */
    struct __align__(16) Row
    {
        int input;    /* offset of its input in x, in floats */
        int at;       /* position of its input: h*65536 + w */
        int gradient; /* offset of its gradient in dy, in floats; -1: the row does not exist */
        int unused;
    };

    /* A thread loads rows t%8, t%8 + 8 ... of a tile (rows are neighbours in memory), of maps or
     * taps t/8, t/8 + EVERY ... */
    static constexpr int EVERY = B::THREADS / 8;

    const float *dy, *x;
    int rows, maps;                              /* `maps`: number of maps from m0 + t/8 */
    int offset[B::J / EVERY], tap[B::J / EVERY]; /* this thread's taps */
    float gradient[B::M / EVERY][B::DEPTH / 8], input[B::J / EVERY][B::DEPTH / 8];

    __device__ FilterSource(const Job &job, const float *left, const float *right, int m0, int j0)
    {
        const ConvProblem &p = job.p;
        const int mine = threadIdx.x / 8;
        dy = left + (m0 + mine) * p.P * p.Q;
        x = right;
        rows = job.rows;
        maps = p.K - m0 - mine;
#pragma unroll
        for (int f = 0; f < B::J / EVERY; f++) {
            const int column = j0 + mine + f * EVERY, s = column % p.S, r = column / p.S % p.R;
            const int c = column / p.S / p.R;
            offset[f] = (c * p.H + r) * p.W + s;
            tap[f] = c < p.C ? r * 65536 + s : NO_TAP;
        }
    }

    __device__ void table_fill(const Job &job, int first, int existing, int count, Row *table)
    {
        const ConvProblem &p = job.p;
        for (int i = threadIdx.x; i < count; i += B::THREADS) {
            // TODO(13): Set the offsets of row first+i in x and dy; NO_TAP and -1 if it does not
            // exist.
            table[i] = {0, NO_TAP, -1, 0};
            (void)p, (void)first, (void)existing;
            // END TODO(13)
        }
    }

    __device__ void load(const Job &job, const Row *table, int first)
    {
        const int pixels = job.p.P * job.p.Q, last = (job.p.H - 1) * 65536 + job.p.W - 1;
        (void)first;
#pragma unroll
        for (int i = 0; i < B::DEPTH / 8; i++) {
            const Row row = table[threadIdx.x % 8 + i * 8];
            // TODO(14): Load gradient[f][i] of map f*EVERY (relative to dy), and input[f][i] of the
            // tap with offset[f] (relative to x); zeros for what does not exist or is outside.
            (void)row, (void)pixels, (void)last; /* until you use them */
            // END TODO(14)
        }
    }

    __device__ void store(float (*left)[B::PITCH_M], float (*right)[B::PITCH_J])
    {
        const int t = threadIdx.x;
#pragma unroll
        for (int i = 0; i < B::DEPTH / 8; i++) {
#pragma unroll
            for (int f = 0; f < B::M / EVERY; f++)
                left[t % 8 + i * 8][t / 8 + f * EVERY] = gradient[f][i];
#pragma unroll
            for (int f = 0; f < B::J / EVERY; f++)
                right[t % 8 + i * 8][t / 8 + f * EVERY] = input[f][i];
        }
    }

    static __device__ void sums_store(const Job &job, int my_k, int my_tap,
                                      const float (&accumulator)[B::PER_THREAD_M][B::PER_THREAD_J],
                                      float *dw)
    {
        const int taps = job.p.C * job.p.R * job.p.S;
#pragma unroll
        for (int e = 0; e < B::PER_THREAD_M; e++) {
            const int k = my_k + e / B::AT_M * B::GROUP_M + e % B::AT_M;
            if (k >= job.p.K) continue;
#pragma unroll
            for (int g = 0; g < B::PER_THREAD_J; g++) {
                const int tap = my_tap + g / B::AT_J * B::GROUP_J + g % B::AT_J;
                if (tap < taps) dw[k * taps + tap] = accumulator[e][g];
            }
        }
    }
};

static const Tile<FilterJob> filter_tiles[] = {
    TILE(gemm_kernel, FilterSource, 128, 128, 16, 8, 16, 2, 1.00f),
    TILE(gemm_kernel, FilterSource, 64, 64, 16, 8, 4, 4, 0.78f),
    TILE(gemm_kernel, FilterSource, 32, 32, 32, 4, 4, 8, 0.56f),
    TILE(gemm_kernel, FilterSource, 16, 64, 32, 4, 4, 8, 0.57f),
    TILE(gemm_kernel, FilterSource, 8, 32, 32, 4, 2, 14, 0.35f),
};

/* dw as one matrix product, split into slices of its rows; returns 0 while it launches nothing. */
static int product_filter(const ConvProblem *p, const float *x, const float *dy, float *dw,
                          const Choice<FilterJob> &choice, cudaStream_t stream)
{
    // TODO(15): Launch choice.tile->kernel(job, slice_rows, dy, x, sums), a block for each tile of
    // dw in each slice.  One slice stores to dw; with more, add_slices adds them up.  Return 1.
    (void)p, (void)x, (void)dy, (void)dw, (void)choice, (void)stream, (void)slice_rows_of;
    return 0;
    // END TODO(15)
}

/* ---- dw gathered in strips: few weights, filters of at most 5x5, stride 1 ---- */

enum { MAPS = 3, FILTER_GATHER_THREADS = 128, FILTER_TAPS = TAPS * TAPS };

/* Warp reduction of EACH*WARP accumulators.  At each step a lane sends half of them to a partner
 * lane and receives the partner's values of the other half.  At the end lane l has the totals of
 * sums EACH*l to EACH*l + EACH-1 in its first elements. */
template <int EACH> __device__ static void warp_reduce(float (&accumulator)[EACH * WARP])
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int half = EACH * WARP / 2; half >= EACH; half /= 2)
#pragma unroll
        for (int i = 0; i < EACH * WARP / 2; i++) {
            if (i >= half) continue;
            const bool upper = lane & half / EACH;
            const float sent = upper ? accumulator[i] : accumulator[half + i];
            accumulator[i] = (upper ? accumulator[half + i] : accumulator[i]) +
                             __shfl_xor_sync(0xffffffff, sent, half / EACH);
        }
}

/* Block (x, y) has the taps of MAPS filters and one channel, x = k0/MAPS*C + c, and every
 * gridDim.y-th group of FILTER_GATHER_THREADS strips.  A strip is STRIP vertically adjacent
 * gradients in column q of image n; it needs WINDOW x TAPS inputs.  A thread loads all of them at
 * once, and uses each up to STRIP*MAPS times. */
__global__ void __launch_bounds__(FILTER_GATHER_THREADS, 3)
    gather_filter_kernel(const ConvProblem p, const float *__restrict__ x,
                         const float *__restrict__ dy, float *__restrict__ sums)
{
    constexpr int WEIGHTS = MAPS * FILTER_TAPS, EACH = (WEIGHTS + WARP - 1) / WARP;
    __shared__ float part[FILTER_GATHER_THREADS / WARP][EACH * WARP];
    const int c = blockIdx.x % p.C, k0 = blockIdx.x / p.C * MAPS, strips = ceiling(p.P, STRIP);
    const int t = threadIdx.x, map = p.P * p.Q, all = p.N * strips * p.Q;
    float accumulator[EACH * WARP] = {};
    for (int i = blockIdx.y * FILTER_GATHER_THREADS + t; i < all;
         i += gridDim.y * FILTER_GATHER_THREADS) {
        const int n = i / p.Q / strips, p0 = i / p.Q % strips * STRIP, q = i % p.Q;
        const int h0 = p0 - p.pad_top, w0 = q - p.pad_left;
        const float *inputs = x + ((n * p.C + c) * p.H + h0) * p.W + w0;
        const float *gradients = dy + (n * p.K + k0) * map + p0 * p.Q + q;
        float input[WINDOW][TAPS], gradient[MAPS][STRIP];
#pragma unroll
        for (int f = 0; f < MAPS; f++) {
            const bool exists = k0 + f < p.K;
#pragma unroll
            for (int j = 0; j < STRIP; j++)
                gradient[f][j] =
                    exists && p0 + j < p.P ? __ldg(gradients + f * map + j * p.Q) : 0.0f;
        }
#pragma unroll
        for (int r = 0; r < WINDOW; r++) {
            const unsigned wide = (unsigned)(h0 + r) < (unsigned)p.H ? p.W : 0;
#pragma unroll
            for (int s = 0; s < TAPS; s++)
                input[r][s] = (unsigned)(w0 + s) < wide ? __ldg(inputs + r * p.W + s) : 0.0f;
        }
        // TODO(16): Accumulate the strip's multiply-adds; tap (r, s) of filter f is
        // accumulator[f*FILTER_TAPS + r*TAPS + s].
        (void)input, (void)gradient; /* until you use them */
        // END TODO(16)
    }
    warp_reduce<EACH>(accumulator);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        part[t / WARP][t % WARP * EACH + i] = accumulator[i];
    __syncthreads();
    const int k = k0 + t / FILTER_TAPS, r = t / TAPS % TAPS, s = t % TAPS;
    if (t >= WEIGHTS || k >= p.K || r >= p.R || s >= p.S) return;
    float total = 0.0f;
    for (int warp = 0; warp < FILTER_GATHER_THREADS / WARP; warp++)
        total += part[warp][t];
    sums[((blockIdx.y * p.K + k) * p.C + c) * p.R * p.S + r * p.S + s] = total;
}

/* Gathers dw in strips if gather_filter_kernel is right for this problem and costs less than
 * `product`; otherwise returns 0.  A thread's warp reduction takes as long as REDUCE strips. */
static int gather_filter(const ConvProblem *p, const float *x, const float *dy, float *dw,
                         float product, cudaStream_t stream)
{
    const int RESIDENT = 3, BUSY = RESIDENT * FILTER_GATHER_THREADS, REDUCE = 2;
    const float SPEED = 0.45f; /* relative to the fastest tile, measured on an H200 */
    const int units = ceiling(p->K, MAPS) * p->C; /* blocks for all weights */
    const int strips = p->N * ceiling(p->P, STRIP) * p->Q, sms = multiprocessors();
    int busiest = ceiling(strips * units, sms), slices = ceiling(strips, FILTER_GATHER_THREADS);
    if (busiest < BUSY) busiest = BUSY;
    if (slices * units > RESIDENT * sms) slices = ceiling(RESIDENT * sms, units);
    busiest += REDUCE * ceiling(slices * units * FILTER_GATHER_THREADS, sms);
    if ((float)busiest * STRIP * MAPS * FILTER_TAPS / SPEED + ADD > product) return 0;
    // TODO(17): If gather_filter_kernel is right for this problem, launch it with `slices` slices,
    // add them up, and return 1.
    (void)x, (void)dy, (void)dw, (void)stream;
    // END TODO(17)
    return 0;
}

/* ==== Part C: the Winograd domain, and the cheapest candidate ================================= */

/* ---- Winograd's algorithm: 3x3 filters at stride 1, many channels ---- */

/* Winograd's algorithm (Lavin and Gray; see the handout).  SIDE inputs and 3 or 4 taps give 4 or 3
 * outputs.  The transforms evaluate polynomials at the points 0, 1, -1, 2, -2 and infinity: SIDE
 * multiplications instead of 12, in two dimensions POINTS instead of 144.
 *
 * dx uses F(4x4,3x3) with tiles of 6x6 gradients, STEP apart, 3x3 taps and 4x4 pixels.  The
 * gradient dw uses F(3x3,4x4) with tiles of 6x6 inputs, 4x4 gradients as taps, and 3x3 weights. */
enum { SIDE = 6, POINTS = SIDE * SIDE, STEP = 4, BLOCK_X = 32, BLOCK_Y = 8 };

/* Input transform of six elements. */
__device__ static void input_transform(const float (&d)[SIDE], float (&v)[SIDE])
{
    const float even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1];
    const float even2 = d[4] - d[2], odd2 = 2 * (d[3] - d[1]);
    v[0] = d[4] - 5 * d[2] + 4 * d[0];
    v[1] = even + odd;
    v[2] = even - odd;
    v[3] = even2 + odd2;
    v[4] = even2 - odd2;
    v[5] = d[5] - 5 * d[3] + 4 * d[1];
}

/* Filter transform of 3 or 4 taps. */
template <int TAPS_>
__device__ static void filter_transform(const float (&g)[TAPS_], float (&v)[SIDE])
{
    const float last = TAPS_ > 3 ? g[TAPS_ - 1] : 0.0f;
    const float even = g[0] + g[2], odd = g[1] + last;
    const float even2 = g[0] + 4 * g[2], odd2 = 2 * g[1] + 8 * last;
    v[0] = g[0] / 4;
    v[1] = (even + odd) / -6;
    v[2] = (even - odd) / -6;
    v[3] = (even2 + odd2) / 24;
    v[4] = (even2 - odd2) / 24;
    v[5] = g[TAPS_ - 1];
}

/* Output transform: 4 or 3 outputs. */
template <int OUTPUTS>
__device__ static void output_transform(const float (&m)[SIDE], float (&y)[OUTPUTS])
{
    const float even = m[1] + m[2], odd = m[1] - m[2];
    const float even2 = m[3] + m[4], odd2 = m[3] - m[4];
    // TODO(18): Compute the outputs: y[i] is the sum of point^i * m over the points; m[5], the
    // value at infinity, belongs to the last output.
    y[0] = y[1] = y[2] = y[OUTPUTS - 1] = 0.0f;
    (void)even, (void)odd, (void)even2, (void)odd2; /* until you use them */
    // END TODO(18)
}

/* Applies a one-dimensional transform to each column, then to each row. */
template <int FROM, int TO, void (*transform)(const float (&)[FROM], float (&)[TO])>
__device__ static void transform_2d(const float (&from)[FROM][FROM], float (&to)[TO][TO])
{
    float half[TO][FROM];
#pragma unroll
    for (int j = 0; j < FROM; j++) {
        float column[FROM], result[TO];
#pragma unroll
        for (int i = 0; i < FROM; i++)
            column[i] = from[i][j];
        transform(column, result);
#pragma unroll
        for (int i = 0; i < TO; i++)
            half[i][j] = result[i];
    }
#pragma unroll
    for (int i = 0; i < TO; i++)
        transform(half[i], to[i]);
}

/* The tiles of N x maps maps of high x wide elements: down x across tiles per map, STEP apart.  The
 * first tile starts `above` rows above and `before` columns to the left of the map. */
struct Tiling {
    int N, maps, high, wide, above, before, down, across;
};

/* Transforms one tile per thread and stores it as to[point][map][tile], or as to[point][tile][map]
 * if MAPS_LAST.  A block has 32 elements of the last dimension and 8 of the other, so that a warp
 * stores 32 neighbours.  It always loads neighbouring tiles; `transpose` transposes them.  Tiles
 * and maps that do not exist are zeros. */
template <int FROM, void (*transform)(const float (&)[FROM], float (&)[SIDE]), bool MAPS_LAST>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    tile_transform_kernel(const Tiling s, const float *__restrict__ from, float *__restrict__ to)
{
    constexpr int WIDE = MAPS_LAST ? BLOCK_Y : BLOCK_X,
                  HIGH = MAPS_LAST ? BLOCK_X : BLOCK_Y; /* tiles, maps */
    __shared__ float transpose[MAPS_LAST ? POINTS : 1][WIDE][HIGH + 4];
    const int t = threadIdx.x, tile = blockIdx.x * WIDE + t % WIDE;
    const int map = blockIdx.y * HIGH + t / WIDE, n = tile / s.across / s.down;
    const int h0 = tile / s.across % s.down * STEP - s.above;
    const int w0 = tile % s.across * STEP - s.before;
    const unsigned high = n < s.N && map < s.maps ? s.high : 0;
    float pixel[FROM][FROM], value[SIDE][SIDE];
    from += ((n * s.maps + map) * s.high + h0) * s.wide + w0;
#pragma unroll
    for (int i = 0; i < FROM; i++)
#pragma unroll
        for (int j = 0; j < FROM; j++)
            pixel[i][j] = (unsigned)(h0 + i) < high && (unsigned)(w0 + j) < (unsigned)s.wide
                              ? __ldg(from + i * s.wide + j)
                              : 0.0f;
    transform_2d<FROM, SIDE, transform>(pixel, value);
    const size_t tiles = gridDim.x * WIDE, maps = gridDim.y * HIGH;
    if (MAPS_LAST) {
#pragma unroll
        for (int i = 0; i < POINTS; i++)
            transpose[i][t % WIDE][t / WIDE] = value[i / SIDE][i % SIDE];
        __syncthreads();
        to += (blockIdx.x * WIDE + t / HIGH) * maps + blockIdx.y * HIGH + t % HIGH;
#pragma unroll
        for (int i = 0; i < POINTS; i++)
            to[i * tiles * maps] = transpose[i][t / HIGH][t % HIGH];
    } else {
#pragma unroll
        for (int i = 0; i < POINTS; i++)
            to[(i * maps + map) * tiles + tile] = value[i / SIDE][i % SIDE];
    }
}

/* Thread (x, y) transforms the flipped filter of map y, channel x: to[point][map][channel]. */
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    filter_transform_kernel(int K, int C, const float *__restrict__ w, float *__restrict__ to)
{
    const int c = blockIdx.x * BLOCK_X + threadIdx.x, k = blockIdx.y * BLOCK_Y + threadIdx.y;
    float tap[3][3], value[SIDE][SIDE];
#pragma unroll
    for (int i = 0; i < 9; i++)
        tap[i / 3][i % 3] = c < C && k < K ? w[(k * C + c) * 9 + 8 - i] : 0.0f;
    transform_2d<3, SIDE, filter_transform<3>>(tap, value);
    const size_t channels = gridDim.x * BLOCK_X, maps = gridDim.y * BLOCK_Y;
#pragma unroll
    for (int i = 0; i < POINTS; i++)
        to[(i * maps + k) * channels + c] = value[i / SIDE][i % SIDE];
}

/* Starts the asynchronous copy of DEPTH rows of WIDE floats, `pitch` floats apart. */
template <int DEPTH, int WIDE, int THREADS>
__device__ static void rows_copy(const float *from, size_t pitch, float (*to)[WIDE])
{
    constexpr int FOURS = DEPTH * WIDE / 4;
#pragma unroll
    for (int first = 0; first < FOURS; first += THREADS) {
        const int four = first + threadIdx.x, row = four / (WIDE / 4), at = four % (WIDE / 4) * 4;
        if (FOURS % THREADS == 0 || four < FOURS)
            __pipeline_memcpy_async(&to[row][at], from + row * pitch + at, 16);
    }
}

struct WinogradJob {
    int rows, slices;
};

template <class B_> struct WinogradSource {
    typedef B_ B;
    typedef WinogradJob Job;
};

/* The matrix product of each point, left[point][row][m] times right[point][row][j], padded to whole
 * tiles.  Block z has slice z % slices of point z / slices; sums[z][m][j].  The next tile is copied
 * while the current one is used. */
template <class Source, int RESIDENT>
__global__ void __launch_bounds__(Source::B::THREADS, RESIDENT)
    winograd_gemm_kernel(const WinogradJob job, int slice_rows, const float *__restrict__ left,
                         const float *__restrict__ right, float *__restrict__ sums)
{
    typedef typename Source::B B;
    __shared__ alignas(16) float lefts[2][B::DEPTH][B::M], rights[2][B::DEPTH][B::J];
    const int my_m = B::first_m(threadIdx.x), my_j = B::first_j(threadIdx.x);
    const size_t wide_m = gridDim.y * B::M, wide_j = gridDim.x * B::J;
    const int begin = blockIdx.z % job.slices * slice_rows;
    const int tiles = (job.rows - begin < slice_rows ? job.rows - begin : slice_rows) / B::DEPTH;
    const size_t first = (size_t)(blockIdx.z / job.slices) * job.rows + begin;
    float accumulator[B::PER_THREAD_M][B::PER_THREAD_J] = {};
    left += first * wide_m + blockIdx.y * B::M;
    right += first * wide_j + blockIdx.x * B::J;
    for (int tile = -1; tile < tiles; tile++) {
        const int current = tile & 1, then = current ^ 1;
        __pipeline_wait_prior(0);
        __syncthreads(); /* tile `current` has arrived; the previous one is no longer needed */
        if (tile + 1 < tiles) {
            rows_copy<B::DEPTH, B::M, B::THREADS>(left, wide_m, lefts[then]);
            rows_copy<B::DEPTH, B::J, B::THREADS>(right, wide_j, rights[then]);
            __pipeline_commit();
            left += B::DEPTH * wide_m;
            right += B::DEPTH * wide_j;
        }
        if (tile >= 0) B::multiply(lefts[current], rights[current], my_m, my_j, accumulator);
    }
    sums += (blockIdx.z * wide_m + blockIdx.y * B::M + my_m) * wide_j + blockIdx.x * B::J + my_j;
#pragma unroll
    for (int f = 0; f < B::PER_THREAD_M; f++)
#pragma unroll
        for (int g = 0; g < B::PER_THREAD_J; g += 4)
            *(float4 *)&sums[(f / B::AT_M * B::GROUP_M + f % B::AT_M) * wide_j +
                             g / B::AT_J * B::GROUP_J] =
                make_float4(accumulator[f][g], accumulator[f][g + 1], accumulator[f][g + 2],
                            accumulator[f][g + 3]);
}

/* Loads the results at all points; each is the sum of its slices, which are `plane` floats apart.
 */
__device__ static void products_read(const float *sums, int slices, size_t plane,
                                     float (&product)[SIDE][SIDE])
{
#pragma unroll
    for (int i = 0; i < POINTS; i++)
        product[i / SIDE][i % SIDE] = 0.0f;
    for (int slice = 0; slice < slices; slice++, sums += plane)
#pragma unroll
        for (int i = 0; i < POINTS; i++)
            product[i / SIDE][i % SIDE] += __ldg(sums + i * slices * plane);
}

/* Thread (x, y) computes the 4x4 pixels of tile x in channel y from sums[..][m][tile]. */
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    dx_output_kernel(const Tiling s, int slices, size_t wide_m, const float *__restrict__ sums,
                     float *__restrict__ dx)
{
    const int tile = blockIdx.x * BLOCK_X + threadIdx.x, c = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int n = tile / s.across / s.down;
    const int h0 = tile / s.across % s.down * STEP, w0 = tile % s.across * STEP;
    const size_t wide_j = gridDim.x * BLOCK_X;
    if (n >= s.N || c >= s.maps) return;
    float product[SIDE][SIDE], pixel[STEP][STEP];
    products_read(sums + c * wide_j + tile, slices, wide_m * wide_j, product);
    transform_2d<SIDE, STEP, output_transform<STEP>>(product, pixel);
    dx += ((n * s.maps + c) * s.high + h0) * s.wide + w0;
#pragma unroll
    for (int i = 0; i < STEP; i++, dx += s.wide) {
        if (h0 + i >= s.high) return;
        if (s.wide % STEP == 0)
            *(float4 *)dx = make_float4(pixel[i][0], pixel[i][1], pixel[i][2], pixel[i][3]);
        else
#pragma unroll
            for (int j = 0; j < STEP; j++)
                if (w0 + j < s.wide) dx[j] = pixel[i][j];
    }
}

/* Thread (x, y) computes the 3x3 weights of channel x in filter y from sums[..][m][c]. */
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    dw_output_kernel(int K, int C, int slices, size_t wide_m, const float *__restrict__ sums,
                     float *__restrict__ dw)
{
    const int c = blockIdx.x * BLOCK_X + threadIdx.x, k = blockIdx.y * BLOCK_Y + threadIdx.y;
    const size_t wide_j = gridDim.x * BLOCK_X;
    if (c >= C || k >= K) return;
    float product[SIDE][SIDE], tap[3][3];
    products_read(sums + k * wide_j + c, slices, wide_m * wide_j, product);
    transform_2d<SIDE, 3, output_transform<3>>(product, tap);
#pragma unroll
    for (int i = 0; i < 9; i++)
        dw[(k * C + c) * 9 + i] = tap[i / 3][i % 3];
}

static const Tile<WinogradJob> winograd_tiles[] = {
    TILE(winograd_gemm_kernel, WinogradSource, 64, 64, 16, 8, 8, 6, 1.00f),
    TILE(winograd_gemm_kernel, WinogradSource, 32, 32, 16, 4, 4, 8, 0.80f),
};

/* The matrix products in the Winograd domain, over `rows` rows: sums[point][slice][m][j]. */
struct WinogradPlan {
    int wide_m, wide_j, rows, slices, slice_rows;
    const Tile<WinogradJob> *tile;
    float *left, *right, *sums;
};

/* Plans the matrix products and allocates their memory, if they cost less than `product` and the
 * memory is available; otherwise .tile is NULL.  Storing and loading a float takes as long as MOVE
 * multiply-adds. */
static WinogradPlan winograd_plan(const ConvProblem *p, int m, int columns, int rows, float product)
{
    const float MOVE = 0.2f;
    WinogradPlan plan = {.rows = ceiling(rows, BLOCK_X) * BLOCK_X};
    if (p->R != 3 || p->S != 3 || p->stride_h != 1 || p->stride_w != 1) return plan;
    const Choice<WinogradJob> choice = choose(winograd_tiles, POINTS, m, columns, plan.rows);
    const int wide_m = ceiling(m, choice.tile->m) * choice.tile->m;
    const int wide_j = ceiling(columns, choice.tile->j) * choice.tile->j;
    const float moved = (float)POINTS * (wide_m + wide_j) * plan.rows;
    if (choice.cost + 3 * TRANSFORM + MOVE * moved > product) return plan;
    plan.wide_m = wide_m;
    plan.wide_j = wide_j;
    plan.slice_rows = slice_rows_of(plan.rows, choice.slices, choice.tile->depth);
    plan.slices = ceiling(plan.rows, plan.slice_rows);
    const size_t left = (size_t)POINTS * plan.rows * wide_m;
    const size_t right = (size_t)POINTS * plan.rows * wide_j;
    const size_t sums = (size_t)POINTS * plan.slices * wide_m * wide_j;
    if (cudaMalloc(&plan.left, sizeof(float) * (left + right + sums)) != cudaSuccess) {
        cudaGetLastError(); /* clears the error */
        return plan;
    }
    plan.tile = choice.tile;
    plan.right = plan.left + left;
    plan.sums = plan.right + right;
    return plan;
}

static void winograd_multiply(const WinogradPlan &plan, cudaStream_t stream)
{
    const Tile<WinogradJob> *tile = plan.tile;
    const dim3 grid(plan.wide_j / tile->j, plan.wide_m / tile->m, POINTS * plan.slices);
    tile->kernel<<<grid, tile->threads, 0, stream>>>({plan.rows, plan.slices}, plan.slice_rows,
                                                     plan.left, plan.right, plan.sums);
}

/* dx by Winograd's algorithm if that costs less than `product`; otherwise returns 0. */
static int data_by_winograd(const ConvProblem *p, const float *dy, const float *w, float *dx,
                            float product, cudaStream_t stream)
{
    const dim3 block(BLOCK_X, BLOCK_Y);
    const int down = ceiling(p->H, STEP), across = ceiling(p->W, STEP);
    const Tiling from = {p->N, p->K, p->P, p->Q, 2 - p->pad_top, 2 - p->pad_left, down, across};
    const Tiling to = {p->N, p->C, p->H, p->W, 0, 0, down, across};
    const WinogradPlan plan = winograd_plan(p, p->C, p->N * down * across, p->K, product);
    int launches = 0;
    if (!plan.tile) return 0;
    // TODO(19): Launch the four kernels: filters to plan.left, tiles of dy to plan.right, the
    // matrix products, and the outputs of dx.  Set `launches`.
    (void)dy, (void)w, (void)dx, (void)stream, (void)block, (void)from, (void)to;
    (void)winograd_multiply;
    // END TODO(19)
    cudaFree(plan.left);
    return launches;
}

/* dw by Winograd's algorithm if that costs less than `product`; otherwise returns 0. */
static int filter_by_winograd(const ConvProblem *p, const float *x, const float *dy, float *dw,
                              float product, cudaStream_t stream)
{
    const dim3 block(BLOCK_X, BLOCK_Y);
    const int down = ceiling(p->P, STEP), across = ceiling(p->Q, STEP);
    const Tiling inputs = {p->N, p->C, p->H, p->W, p->pad_top, p->pad_left, down, across};
    const Tiling gradients = {p->N, p->K, p->P, p->Q, 0, 0, down, across};
    const WinogradPlan plan = winograd_plan(p, p->K, p->C, p->N * down * across, product);
    int launches = 0;
    if (!plan.tile) return 0;
    // TODO(20): Launch the four kernels: tiles of dy to plan.left, tiles of x to plan.right, both
    // with the maps last, the matrix products, and the outputs of dw.  Set `launches`.
    (void)x, (void)dy, (void)dw, (void)stream, (void)block, (void)inputs, (void)gradients;
    (void)winograd_multiply;
    // END TODO(20)
    cudaFree(plan.left);
    return launches;
}

/* ---- the cheapest candidate ---- */

/* The tile and the number of slices with the smallest cost.  Candidates are each*sms/blocks slices,
 * at least one, for each = 0 .. MAX_BLOCKS_PER_SM, where `blocks` is the number of blocks of one
 * slice: an SM then has about `each` blocks.  No slice is smaller than a tile's depth. */
template <class Job, int TILES>
static Choice<Job> choose(const Tile<Job> (&tiles)[TILES], float products, int m, int columns,
                          int rows, float sum)
{
    const int MAX_BLOCKS_PER_SM = 32;
    const int sms = multiprocessors();
    Choice<Job> best = {&tiles[0], 1, cost(tiles[0], products, m, columns, rows, 1, sms, sum)};
    // TODO(21): Compare all candidates.
    (void)sms; /* until you use it */
    // END TODO(21)
    return best;
}

/* ==== The entry points ======================================================================== */

/* Multiply-adds up to which a problem is differentiated numerically, and up to which one launch of
 * a plain kernel is used because it is the fastest. */
static const double BY_DEFINITION = 100, FEW = 1000;

static double multiply_adds(const ConvProblem *p)
{
    return (double)p->N * p->K * p->P * p->Q * p->C * p->R * p->S;
}

extern "C" void conv_backward_data(const ConvProblem *p, const float *dy, const float *w, float *dx,
                                   cudaStream_t stream)
{
    const int elements = p->N * p->C * p->H * p->W, a = p->stride_h, b = p->stride_w;
    const int rows = p->K * ceiling(p->R, a) * ceiling(p->S, b); /* most rows of a phase */
    const double work = multiply_adds(p);
    if (work <= BY_DEFINITION && difference(p, dy, nullptr, w, elements, dx, stream)) return;
    if (work <= FEW && plain_data(p, dy, w, dx, stream)) return;
    const Choice<DataJob> choice =
        choose(data_tiles, (float)p->K * p->R * p->S / rows, p->C,
               p->N * ceiling(p->H, a) * ceiling(p->W, b), rows, a * b == 1 ? SUM : SUM_STRIDED);
    if (data_by_winograd(p, dy, w, dx, choice.cost + FLIP, stream)) return;
    if (gather(p, dy, w, dx, choice.cost + FLIP, stream)) return;
    if (product_data(p, dy, w, dx, choice, stream)) return;
    plain_data(p, dy, w, dx, stream);
}

extern "C" void conv_backward_filter(const ConvProblem *p, const float *x, const float *dy,
                                     float *dw, cudaStream_t stream)
{
    const int columns = p->C * p->R * p->S;
    const double work = multiply_adds(p);
    if (work <= BY_DEFINITION && difference(p, dy, x, nullptr, p->K * columns, dw, stream)) return;
    if (work <= FEW && plain_filter(p, x, dy, dw, stream)) return;
    const Choice<FilterJob> choice = choose(filter_tiles, 1, p->K, columns, p->N * p->P * p->Q);
    if (filter_by_winograd(p, x, dy, dw, choice.cost, stream)) return;
    if (gather_filter(p, x, dy, dw, choice.cost, stream)) return;
    if (product_filter(p, x, dy, dw, choice, stream)) return;
    plain_filter(p, x, dy, dw, stream);
}
