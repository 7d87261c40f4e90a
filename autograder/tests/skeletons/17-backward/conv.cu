/* Lab 17: the gradients of a convolution, dx gathered and both as products of matrices.  Edit only
 * the TODO regions. */
#include <convlab/conv.h>

enum { WARP = 32 };

__host__ __device__ static int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

/* A tap that lies outside of every map. */
enum { NO_TAP = 0x7fff0000 };

/* Are both halves of `at`, row and column, in 0 .. those of `last`?  (Sides below 32768, padding
 * included; lab 10 says how this works.) */
__device__ bool inside(int at, int last)
{
    return ((at | (last - at)) & 0x80008000) == 0;
}

/* ---- dx, gathered: few channels, stride 1 ------------------------------------------------ */

enum {
    STRIP = 4,
    TAPS = 5,
    WINDOW = STRIP + TAPS - 1,
    GATHER_THREADS = 128,
    GATHER_WEIGHTS = 1024
};

/* A strip is STRIP pixels below each other, in column iw from row h0 on.  Through the taps (r0 ..
 * r0+TAPS-1, s) it meets WINDOW gradients of map k, which lie below each other, too. */
struct Strip {
    int n, h0, iw; /* where it is */
    int k, s, r0;  /* which window is next */
};

/* window[j] = the gradients that the strip meets, from above; zero outside of dy. */
__device__ static void window_load(const ConvProblem &p, const Strip &strip,
                                   const float *__restrict__ dy, float (&window)[WINDOW])
{
    // TODO(1): Load it.  Tap r of row h meets row h + pad_top - r of dy, tap s of column w meets
    // column w + pad_left - s.
    (void)p, (void)strip, (void)dy, (void)window; /* until you use them */
    // END TODO(1)
}

/* Thread i owns a strip in every channel (C <= CHANNELS):
 *
 *     w = i % W    h = strip*STRIP .. strip*STRIP + STRIP-1    (n, strip) = i / W
 *
 * so that neighbouring threads read and write neighbours in a row.  `pixel[c][j]` is its sum for
 * channel c, row strip*STRIP + j.  The weights of `held` filters at a time wait in shared memory;
 * R is rounded up to whole TAPS with zeros.  While a window is used the next one is loaded. */
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
        const int some = p.K - k0 < held ? p.K - k0 : held;
        __syncthreads();
        for (int j = threadIdx.x; j < some * filter; j += GATHER_THREADS) {
            const int c = j % CHANNELS, r = j / CHANNELS % rounded;
            const int s = j / CHANNELS / rounded % p.S, k = k0 + j / filter;
            weights[j] = c < p.C && r < p.R ? w[((k * p.C + c) * p.R + r) * p.S + s] : 0.0f;
        }
        __syncthreads();
        if (!exists) continue;
        const float *weight = weights, *const end = weights + some * filter;
        for (; weight < end; weight += TAPS * CHANNELS) {
            float window[WINDOW];
#pragma unroll
            for (int j = 0; j < WINDOW; j++)
                window[j] = next[j];
            strip.r0 += TAPS;
            if (strip.r0 >= p.R) strip.r0 = 0, strip.s++;
            if (strip.s == p.S) strip.s = 0, strip.k++;
            if (strip.k < p.K) window_load(p, strip, dy, next);
            const int under = TAPS - 1; /* window[under + j] lies under pixel j's tap r0 */
            // TODO(2): Add each pixel's TAPS products.  Tap r0+r has weight[r*CHANNELS + c].
            (void)window, (void)under; /* until you use them */
            // END TODO(2)
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

/* ---- a product of two matrices, in tiles ------------------------------------------------- */

/* sum[m][j] = the sum over rows i of left[i][m] * right[i][j].  A block owns M x J sums, and takes
 * DEPTH rows at a time into shared memory.  A thread of it owns, for f < MINE_M and g < MINE_J,
 *
 *     m = my_m + f/AT_M*GROUP_M + f%AT_M        j = my_j + g/AT_J*GROUP_J + g%AT_J
 *
 * as in lab 10: neighbours that one load brings, groups that lie side by side. */
template <int M_, int J_, int DEPTH_, int MINE_M_, int MINE_J_> struct Block {
    static constexpr int M = M_, J = J_, DEPTH = DEPTH_, MINE_M = MINE_M_, MINE_J = MINE_J_;
    static constexpr int DOWN = M / MINE_M, ACROSS = J / MINE_J, THREADS = DOWN * ACROSS;
    static constexpr int AT_M = 4, AT_J = MINE_J < 4 ? MINE_J : 4;
    static constexpr int GROUP_M = DOWN * AT_M, GROUP_J = ACROSS * AT_J;
    static constexpr int PITCH_M = M + 4, PITCH_J = J + 4;   /* stores fall into different banks */
    static constexpr int TABLE = THREADS >= 128 ? 512 : 256; /* rows that are looked up at a time */

    static __device__ void read_four(float *to, const float *from)
    {
        *(float4 *)to = *(const float4 *)from;
    }

    static __device__ void read_right(float *to, const float *from)
    {
        if (AT_J == 4)
            *(float4 *)to = *(const float4 *)from;
        else
            *(float2 *)to = *(const float2 *)from;
    }

    /* Adds the products of two tiles to this thread's sums; row i+1 is read while i is used. */
    static __device__ void multiply(const float (*left)[PITCH_M], const float (*right)[PITCH_J],
                                    int my_m, int my_j, float (&sum)[MINE_M][MINE_J])
    {
        float l[2][MINE_M], r[2][MINE_J];
#pragma unroll
        for (int i = -1; i < DEPTH; i++) {
            const int use = i & 1, next = use ^ 1;
            if (i + 1 < DEPTH) {
                for (int f = 0; f < MINE_M; f += AT_M)
                    read_four(&l[next][f], &left[i + 1][my_m + f / AT_M * GROUP_M]);
                for (int g = 0; g < MINE_J; g += AT_J)
                    read_right(&r[next][g], &right[i + 1][my_j + g / AT_J * GROUP_J]);
            }
            if (i >= 0) {
                for (int f = 0; f < MINE_M; f++)
                    for (int g = 0; g < MINE_J; g++)
                        sum[f][g] += l[use][f] * r[use][g];
            }
        }
    }
};

/* Where the tiles come from and where the sums go is the business of a Source.  `slice` rows are a
 * block's; block z of the grid has the z-th of these, and its sums a place of their own. */
template <class Source, int RESIDENT>
__global__ void __launch_bounds__(Source::B::THREADS, RESIDENT)
    product_kernel(const typename Source::Job job, int slice, const float *__restrict__ left,
                   const float *__restrict__ right, float *__restrict__ sums)
{
    typedef typename Source::B B;
    __shared__ alignas(16) float lefts[2][B::DEPTH][B::PITCH_M], rights[2][B::DEPTH][B::PITCH_J];
    __shared__ typename Source::Row table[B::TABLE];

    /* Where this thread stands: a warp is 4 threads deep and 8 wide, or flat where DOWN is 1. */
    constexpr int WARP_DOWN = B::DOWN < 4 ? B::DOWN : 4, WARP_ACROSS = WARP / WARP_DOWN;
    const int t = threadIdx.x, lane = t % WARP, warp = t / WARP;
    const int across = warp % (B::ACROSS / WARP_ACROSS) * WARP_ACROSS + lane % WARP_ACROSS;
    const int down = warp / (B::ACROSS / WARP_ACROSS) * WARP_DOWN + lane / WARP_ACROSS;
    const int my_m = down * B::AT_M, my_j = across * B::AT_J;

    const int rows = job.rows, begin = blockIdx.z * slice;
    const int end = rows - begin < slice ? rows : begin + slice;
    Source source(job, left, right, blockIdx.y * B::M, blockIdx.x * B::J);
    float sum[B::MINE_M][B::MINE_J] = {};
    for (int first = begin; first < end; first += B::TABLE) {
        const int some = end - first < B::TABLE ? end - first : B::TABLE;
        const int tiles = ceiling(some, B::DEPTH);
        source.look_up(job, first, some, tiles * B::DEPTH, table);
        __syncthreads();
        for (int tile = -1; tile < tiles; tile++) {
            const int now = tile & 1, then = now ^ 1, next = (tile + 1) * B::DEPTH;
            const bool more = tile + 1 < tiles;
            if (more) source.load(job, table + next, first + next);
            if (tile >= 0) B::multiply(lefts[now], rights[now], my_m, my_j, sum);
            if (more) source.store(lefts[then], rights[then]);
            __syncthreads();
        }
    }
    source.put(job, blockIdx.y * B::M + my_m, blockIdx.x * B::J + my_j, sum,
               sums + (size_t)blockIdx.z * job.outputs);
}

/* ---- dx as a product --------------------------------------------------------------------- */

/* With strides a and b, pixels (first_h + i*a, first_w + j*b) meet the taps (tap_h + ..*a, tap_w +
 * ..*b) and no others: one of a*b phases.  Each is a convolution of dy at stride 1 with those taps
 * turned round: pixel (i, j) meets dy at (i - pad_h + r, j - pad_w + s), r < taps_h, s < taps_w.
 * pad_h may be negative: then the window begins further on. */
struct Phase {
    int first_h, first_w, high, wide; /* high x wide pixels */
    int tap_h, tap_w, taps_h, taps_w, pad_h, pad_w;
};

static void phase_of(int first, int size, int filter, int stride, int padding, int *pixels,
                     int *tap, int *taps, int *pad)
{
    *pixels = ceiling(size - first, stride);
    *tap = *taps = *pad = 0;
    // TODO(3): The first tap that meets pixel `first`, how many taps do, and the padding that the
    // turned taps need.
    (void)first, (void)padding, (void)filter; /* until you use them */
    // END TODO(3)
}

/* turned[row][c], rows (k, r, s) of a phase: the weight through which a pixel meets the gradient at
 * (r, s) of its window in map k.  Zeros fill it up to `deep` rows of `pitch` floats.  Thread i owns
 * element i. */
__global__ void turn_kernel(const ConvProblem p, const Phase phase, int deep, int pitch,
                            const float *__restrict__ w, float *__restrict__ turned)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / pitch, c = i % pitch;
    if (row >= deep) return;
    float weight = 0.0f;
    if (c < p.C && row < p.K * phase.taps_h * phase.taps_w) {
        // TODO(4): Find the weight.  The last of the phase's taps comes first.
        (void)w;
        // END TODO(4)
    }
    turned[i] = weight;
}

/* left is turned, right is gathered from dy; a column is a pixel of the phase, a row (k, r, s). */
struct DataJob {
    ConvProblem p;
    Phase phase;
    int rows, outputs, pitch;
};

template <class B_> struct DataSource {
    typedef B_ B;
    typedef DataJob Job;

    /* A row, seen from the gradient under a pixel's tap (0, 0, 0). */
    struct __align__(8) Row
    {
        int input; /* so many floats further */
        int tap;   /* r*65536 + s */
    };

    /* What a thread loads: some fours of `turned`, and GATHERED columns, of these every APARTth
     * row. */
    static constexpr int FOURS = B::DEPTH * B::M / 4, MY_FOURS = (FOURS - 1) / B::THREADS + 1;
    static constexpr int GATHERED = B::J > B::THREADS ? B::J / B::THREADS : 1;
    static constexpr int APART = B::J > B::THREADS ? 1 : B::THREADS / B::J;

    const float *turned, *dy[GATHERED]; /* dy under tap (0, 0, 0) of a column ... */
    int at[GATHERED];                   /* ... and where it lies: p*65536 + q */
    float4 weight[MY_FOURS];            /* they wait here while others are multiplied */
    float input[GATHERED][B::DEPTH / APART];

    __device__ DataSource(const Job &job, const float *left, const float *right, int m0, int j0)
    {
        const Phase &f = job.phase;
        const int pixels = f.high * f.wide, columns = job.p.N * pixels;
        turned = left + m0;
        for (int g = 0; g < GATHERED; g++) {
            int column = j0 + threadIdx.x % B::J + g * B::THREADS;
            if (column >= columns) column = columns - 1; /* gathered, but never stored */
            const int n = column / pixels, i = column % pixels / f.wide, j = column % f.wide;
            at[g] = (i - f.pad_h) * 65536 + j - f.pad_w;
            dy[g] = right + (n * job.p.K * job.p.P + i - f.pad_h) * job.p.Q + j - f.pad_w;
            /* "You do not know how dy[g] came about": or it is worked out at every load. */
            asm("" : "+l"(dy[g]));
        }
    }

    /* table[i] becomes row first+i, for `count` rows; only `some` of them exist. */
    __device__ void look_up(const Job &job, int first, int some, int count, Row *table)
    {
        for (int i = threadIdx.x; i < count; i += B::THREADS) {
            // TODO(5): How far row first+i lies from tap (0, 0, 0); NO_TAP if it does not exist.
            table[i].input = 0;
            table[i].tap = NO_TAP;
            (void)job, (void)first, (void)some;
            // END TODO(5)
        }
    }

    /* Loads this thread's part of the tiles that begin with row `first`, table[0]. */
    __device__ void load(const Job &job, const Row *table, int first)
    {
        const int t = threadIdx.x, last = (job.p.P - 1) * 65536 + job.p.Q - 1;
#pragma unroll
        for (int e = 0; e < MY_FOURS; e++) {
            const int four = t + e * B::THREADS, row = first + four / (B::M / 4);
            if (FOURS % B::THREADS == 0 || four < FOURS)
                weight[e] =
                    __ldg((const float4 *)(turned + (size_t)row * job.pitch) + four % (B::M / 4));
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

    /* Stores this thread's sums, the first of which is channel my_c, column my_column of all. */
    static __device__ void put(const Job &job, int my_c, int my_column,
                               const float (&sum)[B::MINE_M][B::MINE_J], float *dx)
    {
        const ConvProblem &p = job.p;
        const Phase &f = job.phase;
        const int pixels = f.high * f.wide, columns = p.N * pixels, plane = p.H * p.W;
        /* Do the four of a group lie side by side, aligned? */
        const bool whole = pixels == plane && plane % 4 == 0 && B::AT_J == 4;
#pragma unroll
        for (int g = 0; g < B::MINE_J; g += B::AT_J) {
            const int column = my_column + g / B::AT_J * B::GROUP_J;
            float *to[B::AT_J]; /* channel 0 of this column and its neighbours */
#pragma unroll
            for (int i = 0; i < B::AT_J; i++) {
                const int n = (column + i) / pixels, y = (column + i) % pixels / f.wide;
                const int x = (column + i) % f.wide;
                to[i] = dx + n * p.C * plane + (f.first_h + y * p.stride_h) * p.W + f.first_w +
                        x * p.stride_w;
            }
#pragma unroll
            for (int e = 0; e < B::MINE_M; e++) {
                const int c = my_c + e / B::AT_M * B::GROUP_M + e % B::AT_M;
                if (c >= p.C) continue;
                if (whole && column < columns)
                    *(float4 *)&to[0][c * plane] =
                        make_float4(sum[e][g], sum[e][g + 1], sum[e][g + 2], sum[e][g + 3]);
                else
#pragma unroll
                    for (int i = 0; i < B::AT_J; i++)
                        if (column + i < columns) to[i][c * plane] = sum[e][g + i];
            }
        }
    }
};

/* ---- dw as a product --------------------------------------------------------------------- */

/* left is dy, right is gathered from x; a column is a tap (c, r, s), a row (n, p, q). */
struct FilterJob {
    ConvProblem p;
    int rows, outputs;
};

template <class B_> struct FilterSource {
    typedef B_ B;
    typedef FilterJob Job;

    /* A row, seen from tap (0, 0, 0) and from map 0. */
    struct __align__(16) Row
    {
        int input; /* its input lies so many floats further in x */
        int at;    /* and there in the image: h*65536 + w */
        int slope; /* its gradient lies so many floats further in dy; -1: it does not exist */
        int unused;
    };

    /* What a thread loads of either: row t%8 of a tile and every 8th after it (rows are neighbours
     * in memory), of map or tap t/8 and every EVERYth after it. */
    static constexpr int EVERY = B::THREADS / 8;

    const float *dy, *x;
    int maps;                                    /* so many exist from m0 + t/8 on */
    int offset[B::J / EVERY], tap[B::J / EVERY]; /* of my taps */
    float slope[B::M / EVERY][B::DEPTH / 8], input[B::J / EVERY][B::DEPTH / 8];

    __device__ FilterSource(const Job &job, const float *left, const float *right, int m0, int j0)
    {
        const ConvProblem &p = job.p;
        const int mine = threadIdx.x / 8;
        dy = left + (m0 + mine) * p.P * p.Q;
        x = right;
        maps = p.K - m0 - mine;
#pragma unroll
        for (int f = 0; f < B::J / EVERY; f++) {
            const int column = j0 + mine + f * EVERY, s = column % p.S, r = column / p.S % p.R;
            const int c = column / p.S / p.R;
            offset[f] = (c * p.H + r) * p.W + s;
            tap[f] = c < p.C ? r * 65536 + s : NO_TAP;
        }
    }

    __device__ void look_up(const Job &job, int first, int some, int count, Row *table)
    {
        const ConvProblem &p = job.p;
        for (int i = threadIdx.x; i < count; i += B::THREADS) {
            // TODO(6): Where row first+i lies in x and in dy; NO_TAP and -1 if it does not exist.
            table[i] = {0, NO_TAP, -1, 0};
            (void)p, (void)first, (void)some;
            // END TODO(6)
        }
    }

    __device__ void load(const Job &job, const Row *table, int first)
    {
        const int pixels = job.p.P * job.p.Q, last = (job.p.H - 1) * 65536 + job.p.W - 1;
        (void)first;
#pragma unroll
        for (int i = 0; i < B::DEPTH / 8; i++) {
            const Row row = table[threadIdx.x % 8 + i * 8];
            // TODO(7): Load row `row` of `slope`, maps f*EVERY from dy on, and of `input`, taps
            // `offset[f]` from x on: zeros for what does not exist or lies outside.
            (void)row, (void)pixels, (void)last; /* until you use them */
            // END TODO(7)
        }
    }

    __device__ void store(float (*left)[B::PITCH_M], float (*right)[B::PITCH_J])
    {
        const int t = threadIdx.x;
#pragma unroll
        for (int i = 0; i < B::DEPTH / 8; i++) {
#pragma unroll
            for (int f = 0; f < B::M / EVERY; f++)
                left[t % 8 + i * 8][t / 8 + f * EVERY] = slope[f][i];
#pragma unroll
            for (int f = 0; f < B::J / EVERY; f++)
                right[t % 8 + i * 8][t / 8 + f * EVERY] = input[f][i];
        }
    }

    static __device__ void put(const Job &job, int my_k, int my_tap,
                               const float (&sum)[B::MINE_M][B::MINE_J], float *dw)
    {
        const int taps = job.p.C * job.p.R * job.p.S;
#pragma unroll
        for (int e = 0; e < B::MINE_M; e++) {
            const int k = my_k + e / B::AT_M * B::GROUP_M + e % B::AT_M;
            if (k >= job.p.K) continue;
#pragma unroll
            for (int g = 0; g < B::MINE_J; g++) {
                const int tap = my_tap + g / B::AT_J * B::GROUP_J + g % B::AT_J;
                if (tap < taps) dw[k * taps + tap] = sum[e][g];
            }
        }
    }
};

/* ---- the pieces' sums -------------------------------------------------------------------- */

enum { ADD_ACROSS = 32, ADD_DOWN = 32 };

/* to[i] = the sum over `pieces` of sums[piece][i], always in the same order.  Threads (tx, ty) of a
 * block own output i = blockIdx.x*ADD_ACROSS + tx together: ty adds up pieces ty, ty + blockDim.y
 * ..., and row 0 adds up what they have. */
__global__ void add_kernel(int outputs, int pieces, const float *__restrict__ sums,
                           float *__restrict__ to)
{
    __shared__ float part[ADD_DOWN][ADD_ACROSS];
    const int i = blockIdx.x * ADD_ACROSS + threadIdx.x, down = blockDim.y;
    float sum = 0.0f;
    // TODO(8): Add up this thread's pieces, leave the sum in `part`, and let the threads of row 0
    // add up theirs in order and store it.
    (void)sum, (void)i, (void)down, (void)part, (void)pieces, (void)sums, (void)to;
    // END TODO(8)
}

static void add_pieces(int outputs, int pieces, const float *sums, float *to, cudaStream_t stream)
{
    const dim3 block(ADD_ACROSS, pieces >= 64 ? ADD_DOWN : pieces >= 32 ? 8 : 4);
    add_kernel<<<ceiling(outputs, ADD_ACROSS), block, 0, stream>>>(outputs, pieces, sums, to);
}

/* ---- which tile, how many pieces --------------------------------------------------------- */

template <class Job> struct Tile {
    int m, j, depth, threads, resident;
    float speed; /* beside the fastest where all are busy, measured on an H200 */
    void (*kernel)(Job, int, const float *, const float *, float *);
};

#define TILE(source, m, j, d, mine_m, mine_j, resident, speed)                                     \
    {                                                                                              \
        m, j, d, (m) / (mine_m) * ((j) / (mine_j)), resident, speed,                               \
            product_kernel<source<Block<m, j, d, mine_m, mine_j>>, resident>                       \
    }

static const Tile<DataJob> data_tiles[] = {
    TILE(DataSource, 128, 128, 16, 8, 16, 2, 1.00f), TILE(DataSource, 64, 128, 16, 8, 8, 3, 0.96f),
    TILE(DataSource, 32, 128, 16, 4, 8, 5, 0.78f),   TILE(DataSource, 32, 32, 32, 4, 4, 8, 0.56f),
    TILE(DataSource, 8, 256, 8, 8, 4, 8, 0.45f),
};
static const Tile<FilterJob> filter_tiles[] = {
    TILE(FilterSource, 128, 128, 16, 8, 16, 2, 1.00f),
    TILE(FilterSource, 64, 64, 16, 8, 4, 4, 0.78f),
    TILE(FilterSource, 32, 32, 32, 4, 4, 8, 0.56f),
    TILE(FilterSource, 16, 64, 32, 4, 4, 8, 0.57f),
    TILE(FilterSource, 8, 32, 32, 4, 2, 14, 0.35f),
};

static int multiprocessors()
{
    int count = 1;
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    return count;
}

/* Turning the filter is a launch of its own: so many products. */
static const float TURN = 3e5f;

/* How long the busiest of `sms` multiprocessors is at it, in products.  It has `resident` blocks at
 * a time, and is as slow with fewer, for then it waits.  A block computes whole tiles, and takes as
 * long as START rows to get going.  Pieces are added up by another kernel: ADD products, SUM for
 * each sum that it reads, and LATE for each piece that a thread waits for.  (ADD, SUM and START are
 * lab 10's, fitted to an H200.) */
template <class Job>
static float cost(const Tile<Job> &tile, int m, int columns, int rows, int pieces, int sms)
{
    const int START = 32;
    const float ADD = 5e5f, SUM = 20.0f, LATE = 260.0f;
    int blocks = ceiling(columns, tile.j) * ceiling(m, tile.m) * pieces;
    int busiest = ceiling(ceiling(blocks, sms), tile.resident) * tile.resident;
    int deep = ceiling(ceiling(rows, pieces), tile.depth) * tile.depth + START;
    float products = (float)tile.m * tile.j * deep * busiest / tile.speed;
    return pieces == 1 ? products
                       : products + ADD + (SUM * columns * m / sms + LATE) * (float)pieces;
}

template <class Job> struct Choice {
    const Tile<Job> *tile;
    int pieces;
    float cost;
};

/* The tile and the number of pieces that cost least.  Tried are those numbers that give each
 * multiprocessor about 1, 2, ... MOST blocks; no piece is smaller than a tile's depth. */
template <class Job, int TILES>
static Choice<Job> choose(const Tile<Job> (&tiles)[TILES], int m, int columns, int rows)
{
    const int MOST = 32;
    const int sms = multiprocessors();
    Choice<Job> best = {&tiles[0], 1, cost(tiles[0], m, columns, rows, 1, sms)};
    // TODO(9): Try them all.
    (void)sms; /* until you use it */
    // END TODO(9)
    return best;
}

static int slice_of(int rows, int pieces, int depth)
{
    return ceiling(ceiling(rows, pieces), depth) * depth;
}

/* ---- the entry points -------------------------------------------------------------------- */

/* Gathers dx where that is possible and costs less than `product`; else 0. */
static int gather(const ConvProblem *p, const float *dy, const float *w, float *dx, float product,
                  cudaStream_t stream)
{
    const int BUSY = 256;
    const int channels = p->C == 1 ? 1 : p->C <= 3 ? 3 : 6;
    const int taps = p->S * ceiling(p->R, TAPS) * TAPS;
    const int threads = p->N * p->W * ceiling(p->H, STRIP);
    const int blocks = ceiling(threads, GATHER_THREADS);
    int busiest = ceiling(threads, multiprocessors());
    if (busiest < BUSY) busiest = BUSY;
    if (p->stride_h != 1 || p->stride_w != 1 || p->C > 6) return 0;
    if (taps * channels > GATHER_WEIGHTS) return 0;
    if ((float)p->K * taps * channels * STRIP * busiest > product) return 0;
    (channels == 1   ? gather_kernel<1>
     : channels == 3 ? gather_kernel<3>
                     : gather_kernel<6>)<<<blocks, GATHER_THREADS, 0, stream>>>(*p, dy, w, dx);
    return 1;
}

static Phase phase_find(const ConvProblem *p, int down, int across)
{
    Phase f = {.first_h = down, .first_w = across};
    phase_of(down, p->H, p->R, p->stride_h, p->pad_top, &f.high, &f.tap_h, &f.taps_h, &f.pad_h);
    phase_of(across, p->W, p->S, p->stride_w, p->pad_left, &f.wide, &f.tap_w, &f.taps_w, &f.pad_w);
    return f;
}

extern "C" void conv_backward_data(const ConvProblem *p, const float *dy, const float *w, float *dx,
                                   cudaStream_t stream)
{
    const int outputs = p->N * p->C * p->H * p->W, a = p->stride_h, b = p->stride_w;
    const Choice<DataJob> choice =
        choose(data_tiles, p->C, p->N * ceiling(p->H, a) * ceiling(p->W, b),
               p->K * ceiling(p->R, a) * ceiling(p->S, b));
    if (gather(p, dy, w, dx, choice.cost + TURN, stream)) return;
    const Tile<DataJob> *tile = choice.tile;
    const int pitch = ceiling(p->C, tile->m) * tile->m;
    /* Rows of all phases together, each phase's rounded up to whole tiles. */
    const int phases = (a < p->R ? a : p->R) * (b < p->S ? b : p->S);
    const size_t deepest = (size_t)p->K * p->R * p->S + (size_t)phases * tile->depth;
    const size_t bytes = sizeof(float) * outputs * choice.pieces;
    float *turned = nullptr, *sums = dx;
    cudaMalloc(&turned, sizeof(float) * deepest * pitch);
    if (choice.pieces > 1) cudaMalloc(&sums, bytes);
    if (a > p->R || b > p->S) cudaMemsetAsync(sums, 0, bytes, stream); /* gaps between windows */
    float *next = turned;
    for (int y = 0; y < a && y < p->H; y++)
        for (int x = 0; x < b && x < p->W; x++) {
            DataJob job = {*p, phase_find(p, y, x), 0, outputs, pitch};
            job.rows = p->K * job.phase.taps_h * job.phase.taps_w;
            if (job.rows == 0) continue;
            const int deep = ceiling(job.rows, tile->depth) * tile->depth;
            const int columns = p->N * job.phase.high * job.phase.wide;
            const int slice = slice_of(job.rows, choice.pieces, tile->depth);
            const dim3 grid(ceiling(columns, tile->j), pitch / tile->m, choice.pieces);
            turn_kernel<<<ceiling(deep * pitch, 256), 256, 0, stream>>>(*p, job.phase, deep, pitch,
                                                                        w, next);
            tile->kernel<<<grid, tile->threads, 0, stream>>>(job, slice, next, dy, sums);
            next += (size_t)deep * pitch;
        }
    if (choice.pieces > 1) {
        add_pieces(outputs, choice.pieces, sums, dx, stream);
        cudaFree(sums);
    }
    cudaFree(turned); /* waits until nobody needs it */
}

extern "C" void conv_backward_filter(const ConvProblem *p, const float *x, const float *dy,
                                     float *dw, cudaStream_t stream)
{
    const int columns = p->C * p->R * p->S, outputs = p->K * columns;
    const FilterJob job = {*p, p->N * p->P * p->Q, outputs};
    const Choice<FilterJob> choice = choose(filter_tiles, p->K, columns, job.rows);
    const Tile<FilterJob> *tile = choice.tile;
    const int slice = slice_of(job.rows, choice.pieces, tile->depth);
    const int pieces = ceiling(job.rows, slice);
    float *sums = dw;
    if (pieces > 1) cudaMalloc(&sums, sizeof(float) * outputs * pieces);
    dim3 grid(ceiling(columns, tile->j), ceiling(p->K, tile->m), pieces);
    tile->kernel<<<grid, tile->threads, 0, stream>>>(job, slice, dy, x, sums);
    if (pieces == 1) return;
    add_pieces(outputs, pieces, sums, dw, stream);
    cudaFree(sums);
}
