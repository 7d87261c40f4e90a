/* Lab 17: the gradients of a convolution, gathered, as products of matrices, and with a quarter of
 * the products.  Edit only the TODO regions. */
#include <convlab/conv.h>
#include <cuda_pipeline.h>

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
    const int oq = strip.iw + p.pad_left - strip.s;
    const int p0 = strip.h0 + p.pad_top - strip.r0 - (TAPS - 1);
    const unsigned rows = oq >= 0 && oq < p.Q ? p.P : 0; /* none, if the column lies outside */
    int at = ((strip.n * p.K + strip.k) * p.P + p0) * p.Q + oq;
#pragma unroll
    for (int j = 0; j < WINDOW; j++, at += p.Q)
        window[j] = (unsigned)(p0 + j) < rows ? __ldg(dy + at) : 0.0f;
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
#pragma unroll
            for (int r = 0; r < TAPS; r++)
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
#pragma unroll
                    for (int j = 0; j < STRIP; j++)
                        pixel[c][j] += window[under + j - r] * weight[r * CHANNELS + c];
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
    static constexpr int UNROLLED = MINE_M * MINE_J > 64 ? 8 : DEPTH; /* rows, in multiply() */

    /* Where thread t's sums begin: a warp is 4 threads deep and 8 wide, or flat where DOWN is 1. */
    static constexpr int WARP_DOWN = DOWN < 4 ? DOWN : 4, WARP_ACROSS = WARP / WARP_DOWN;

    static __device__ int first_m(int t)
    {
        return (t / WARP / (ACROSS / WARP_ACROSS) * WARP_DOWN + t % WARP / WARP_ACROSS) * AT_M;
    }

    static __device__ int first_j(int t)
    {
        return (t / WARP % (ACROSS / WARP_ACROSS) * WARP_ACROSS + t % WARP_ACROSS) * AT_J;
    }

    /* This thread's part of a row of both tiles. */
    static __device__ void row_read(const float *left, const float *right, float (&l)[MINE_M],
                                    float (&r)[MINE_J])
    {
#pragma unroll
        for (int f = 0; f < MINE_M; f += AT_M)
            *(float4 *)&l[f] = *(const float4 *)&left[f / AT_M * GROUP_M];
#pragma unroll
        for (int g = 0; g < MINE_J; g += AT_J)
            if (AT_J == 4)
                *(float4 *)&r[g] = *(const float4 *)&right[g / AT_J * GROUP_J];
            else
                *(float2 *)&r[g] = *(const float2 *)&right[g / AT_J * GROUP_J];
    }

    /* Adds the products of two tiles to this thread's sums; row i+1 is read while i is used. */
    template <int WIDE_M, int WIDE_J>
    static __device__ void multiply(const float (*left)[WIDE_M], const float (*right)[WIDE_J],
                                    int my_m, int my_j, float (&sum)[MINE_M][MINE_J])
    {
        float l[2][MINE_M], r[2][MINE_J];
        row_read(&left[0][my_m], &right[0][my_j], l[0], r[0]);
#pragma unroll UNROLLED
        for (int i = 0; i < DEPTH; i++) {
            const int use = i & 1, next = use ^ 1;
            if (i + 1 < DEPTH) row_read(&left[i + 1][my_m], &right[i + 1][my_j], l[next], r[next]);
#pragma unroll
            for (int f = 0; f < MINE_M; f++)
#pragma unroll
                for (int g = 0; g < MINE_J; g++)
                    sum[f][g] += l[use][f] * r[use][g];
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
    const int my_m = B::first_m(threadIdx.x), my_j = B::first_j(threadIdx.x);
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
    *tap = (first + padding) % stride;
    *taps = *tap < filter ? ceiling(filter - *tap, stride) : 0;
    *pad = *taps - 1 - (first + padding) / stride;
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
        const int s = row % phase.taps_w, r = row / phase.taps_w % phase.taps_h;
        const int k = row / phase.taps_w / phase.taps_h;
        const int tap_r = phase.tap_h + (phase.taps_h - 1 - r) * p.stride_h;
        const int tap_s = phase.tap_w + (phase.taps_w - 1 - s) * p.stride_w;
        weight = w[((k * p.C + c) * p.R + tap_r) * p.S + tap_s];
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
            const int row = first + i, s = row % job.phase.taps_w;
            const int r = row / job.phase.taps_w % job.phase.taps_h;
            const int k = row / job.phase.taps_w / job.phase.taps_h;
            table[i].input = (k * job.p.P + r) * job.p.Q + s;
            table[i].tap = i < some ? r * 65536 + s : NO_TAP;
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
            int n = column / pixels, y = (column - n * pixels) / f.wide;
            int x = column - n * pixels - y * f.wide;
            int to[B::AT_J]; /* where this column and its neighbours are stored; -1: nowhere */
#pragma unroll
            for (int i = 0; i < B::AT_J; i++) {
                to[i] = n * p.C * plane + (f.first_h + y * p.stride_h) * p.W + f.first_w +
                        x * p.stride_w;
                if (column + i >= columns) to[i] = -1;
                if (++x == f.wide) x = 0, y++;
                if (y == f.high) y = 0, n++;
            }
#pragma unroll
            for (int e = 0; e < B::MINE_M; e++) {
                const int c = my_c + e / B::AT_M * B::GROUP_M + e % B::AT_M;
                float *map = dx + c * plane;
                if (c >= p.C) continue;
                if (whole && to[0] >= 0)
                    *(float4 *)&map[to[0]] =
                        make_float4(sum[e][g], sum[e][g + 1], sum[e][g + 2], sum[e][g + 3]);
                else
#pragma unroll
                    for (int i = 0; i < B::AT_J; i++)
                        if (to[i] >= 0) map[to[i]] = sum[e][g + i];
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
            const int row = first + i, oq = row % p.Q, op = row / p.Q % p.P, n = row / p.Q / p.P;
            const int ih = op * p.stride_h - p.pad_top, iw = oq * p.stride_w - p.pad_left;
            table[i] = {(n * p.C * p.H + ih) * p.W + iw, i < some ? ih * 65536 + iw : NO_TAP,
                        i < some ? (n * p.K * p.P + op) * p.Q + oq : -1, 0};
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
#pragma unroll
            for (int f = 0; f < B::M / EVERY; f++)
                slope[f][i] = row.slope >= 0 && f * EVERY < maps
                                  ? __ldg(dy + row.slope + f * EVERY * pixels)
                                  : 0.0f;
#pragma unroll
            for (int f = 0; f < B::J / EVERY; f++)
                input[f][i] =
                    inside(row.at + tap[f], last) ? __ldg(x + row.input + offset[f]) : 0.0f;
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

/* ---- dw, gathered: few sums, filters of at most 5x5, stride 1 ------------------------------ */

enum { MAPS = 3, SLOPE_THREADS = 128, SQUARE = TAPS * TAPS };

/* The totals of a warp's lanes, EACH sums for every lane: at each step a lane gives half of what it
 * has to a partner, and gets the partner's part of the other half.  Lane l is left with the totals
 * of sums EACH*l to EACH*l + EACH-1, in its first places. */
template <int EACH> __device__ static void fold(float (&sum)[EACH * WARP])
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int half = EACH * WARP / 2; half >= EACH; half /= 2)
#pragma unroll
        for (int i = 0; i < EACH * WARP / 2; i++) {
            if (i >= half) continue;
            const bool upper = lane & half / EACH;
            const float give = upper ? sum[i] : sum[half + i];
            sum[i] =
                (upper ? sum[half + i] : sum[i]) + __shfl_xor_sync(0xffffffff, give, half / EACH);
        }
}

/* Block (x, y) has the taps of MAPS filters of one channel, x = k0/MAPS*C + c, and every
 * gridDim.y-th SLOPE_THREADS of the strips.  A strip is STRIP gradients below each other in column
 * q of image n; under them lie WINDOW x TAPS inputs.  A thread loads all of them at once, and uses
 * each up to STRIP*MAPS times. */
__global__ void __launch_bounds__(SLOPE_THREADS, 3)
    gather_filter_kernel(const ConvProblem p, const float *__restrict__ x,
                         const float *__restrict__ dy, float *__restrict__ sums)
{
    constexpr int WEIGHTS = MAPS * SQUARE, EACH = (WEIGHTS + WARP - 1) / WARP;
    __shared__ float part[SLOPE_THREADS / WARP][EACH * WARP];
    const int c = blockIdx.x % p.C, k0 = blockIdx.x / p.C * MAPS, strips = ceiling(p.P, STRIP);
    const int t = threadIdx.x, map = p.P * p.Q, all = p.N * strips * p.Q;
    float sum[EACH * WARP] = {};
    for (int i = blockIdx.y * SLOPE_THREADS + t; i < all; i += gridDim.y * SLOPE_THREADS) {
        const int n = i / p.Q / strips, p0 = i / p.Q % strips * STRIP, q = i % p.Q;
        const int h0 = p0 - p.pad_top, w0 = q - p.pad_left;
        const float *inputs = x + ((n * p.C + c) * p.H + h0) * p.W + w0;
        const float *slopes = dy + (n * p.K + k0) * map + p0 * p.Q + q;
        float input[WINDOW][TAPS], slope[MAPS][STRIP];
#pragma unroll
        for (int f = 0; f < MAPS; f++) {
            const bool exists = k0 + f < p.K;
#pragma unroll
            for (int j = 0; j < STRIP; j++)
                slope[f][j] = exists && p0 + j < p.P ? __ldg(slopes + f * map + j * p.Q) : 0.0f;
        }
#pragma unroll
        for (int r = 0; r < WINDOW; r++) {
            const unsigned wide = (unsigned)(h0 + r) < (unsigned)p.H ? p.W : 0;
#pragma unroll
            for (int s = 0; s < TAPS; s++)
                input[r][s] = (unsigned)(w0 + s) < wide ? __ldg(inputs + r * p.W + s) : 0.0f;
        }
        // TODO(8): Add the strip's products: sum[f*SQUARE + r*TAPS + s] is tap (r, s) of filter f.
#pragma unroll
        for (int j = 0; j < STRIP; j++)
#pragma unroll
            for (int f = 0; f < MAPS; f++)
#pragma unroll
                for (int tap = 0; tap < SQUARE; tap++)
                    sum[f * SQUARE + tap] += slope[f][j] * input[j + tap / TAPS][tap % TAPS];
        // END TODO(8)
    }
    fold<EACH>(sum);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        part[t / WARP][t % WARP * EACH + i] = sum[i];
    __syncthreads();
    const int k = k0 + t / SQUARE, r = t / TAPS % TAPS, s = t % TAPS;
    if (t >= WEIGHTS || k >= p.K || r >= p.R || s >= p.S) return;
    float total = 0.0f;
    for (int warp = 0; warp < SLOPE_THREADS / WARP; warp++)
        total += part[warp][t];
    sums[((blockIdx.y * p.K + k) * p.C + c) * p.R * p.S + r * p.S + s] = total;
}

/* ---- 3x3 filters at stride 1, many channels: a quarter of the products ------------------- */

/* Winograd's way, as Lavin and Gray have it (the handout says how it works).  SIDE numbers and 3 or
 * 4 taps make 4 or 3 sums of products.  Both are taken as polynomials; what they are worth at SIDE
 * points, 0, 1, -1, 2, -2 and infinity, is multiplied point by point, and what comes out is worth
 * the sums: SIDE products for 12.  In both directions it is POINTS for 144.
 *
 * dx has squares of 6x6 gradients, STEP apart, 3x3 taps and 4x4 pixels of each; dw has squares of
 * 6x6 inputs, 4x4 gradients for taps, and 3x3 weights. */
enum { SIDE = 6, POINTS = SIDE * SIDE, STEP = 4, ACROSS = 32, DEEP = 8 };

/* A line's numbers at the points. */
__device__ static void line_points(const float (&d)[SIDE], float (&v)[SIDE])
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

/* A line of 3 or 4 taps at the points. */
template <int TAPS_> __device__ static void tap_points(const float (&g)[TAPS_], float (&v)[SIDE])
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

/* What the products at the points are worth: 4 or 3 sums. */
template <int SUMS> __device__ static void line_sums(const float (&m)[SIDE], float (&y)[SUMS])
{
    const float even = m[1] + m[2], odd = m[1] - m[2];
    const float even2 = m[3] + m[4], odd2 = m[3] - m[4];
    // TODO(9): Make the sums: y[i] is that of point^i * m over the points; m[5], infinity's,
    // belongs to the last.
    y[0] = m[0] + even + even2;
    y[1] = odd + 2 * odd2;
    y[2] = even + 4 * even2;
    if (SUMS > 3) y[SUMS - 1] = odd + 8 * odd2;
    y[SUMS - 1] += m[5];
    // END TODO(9)
}

/* `line` of each column, then of each row. */
template <int FROM, int TO, void (*line)(const float (&)[FROM], float (&)[TO])>
__device__ static void both_ways(const float (&from)[FROM][FROM], float (&to)[TO][TO])
{
    float half[TO][FROM];
#pragma unroll
    for (int j = 0; j < FROM; j++) {
        float column[FROM], made[TO];
#pragma unroll
        for (int i = 0; i < FROM; i++)
            column[i] = from[i][j];
        line(column, made);
#pragma unroll
        for (int i = 0; i < TO; i++)
            half[i][j] = made[i];
    }
#pragma unroll
    for (int i = 0; i < TO; i++)
        line(half[i], to[i]);
}

/* Squares of N x maps maps of high x wide: down x across of each map, STEP apart, the first of them
 * `above` rows above and `before` columns before the map. */
struct Squares {
    int N, maps, high, wide, above, before, down, across;
};

/* A thread takes a square of a map, counted over all images, and stores it at the points:
 * to[point][map][square], or to[point][square][map] if the maps come LAST.  A block has 32 of what
 * comes last and 8 of the other, so that a warp stores 32 neighbours; it loads neighbouring squares
 * in either case, and `shelf` turns them.  Squares and maps that do not exist are zeros. */
template <int FROM, void (*line)(const float (&)[FROM], float (&)[SIDE]), bool LAST>
__global__ void __launch_bounds__(ACROSS *DEEP)
    squares_kernel(const Squares s, const float *__restrict__ from, float *__restrict__ to)
{
    constexpr int WIDE = LAST ? DEEP : ACROSS, HIGH = LAST ? ACROSS : DEEP; /* squares, maps */
    __shared__ float shelf[LAST ? POINTS : 1][WIDE][HIGH + 4];
    const int t = threadIdx.x, square = blockIdx.x * WIDE + t % WIDE;
    const int map = blockIdx.y * HIGH + t / WIDE, n = square / s.across / s.down;
    const int h0 = square / s.across % s.down * STEP - s.above;
    const int w0 = square % s.across * STEP - s.before;
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
    both_ways<FROM, SIDE, line>(pixel, value);
    const size_t squares = gridDim.x * WIDE, maps = gridDim.y * HIGH;
    if (LAST) {
#pragma unroll
        for (int i = 0; i < POINTS; i++)
            shelf[i][t % WIDE][t / WIDE] = value[i / SIDE][i % SIDE];
        __syncthreads();
        to += (blockIdx.x * WIDE + t / HIGH) * maps + blockIdx.y * HIGH + t % HIGH;
#pragma unroll
        for (int i = 0; i < POINTS; i++)
            to[i * squares * maps] = shelf[i][t / HIGH][t % HIGH];
    } else {
#pragma unroll
        for (int i = 0; i < POINTS; i++)
            to[(i * maps + map) * squares + square] = value[i / SIDE][i % SIDE];
    }
}

/* Thread (x, y) takes the filter of map y, channel x, turned round: to[point][map][channel]. */
__global__ void __launch_bounds__(ACROSS *DEEP)
    filters_kernel(int K, int C, const float *__restrict__ w, float *__restrict__ to)
{
    const int c = blockIdx.x * ACROSS + threadIdx.x, k = blockIdx.y * DEEP + threadIdx.y;
    float tap[3][3], value[SIDE][SIDE];
#pragma unroll
    for (int i = 0; i < 9; i++)
        tap[i / 3][i % 3] = c < C && k < K ? w[(k * C + c) * 9 + 8 - i] : 0.0f;
    both_ways<3, SIDE, tap_points<3>>(tap, value);
    const size_t channels = gridDim.x * ACROSS, maps = gridDim.y * DEEP;
#pragma unroll
    for (int i = 0; i < POINTS; i++)
        to[(i * maps + k) * channels + c] = value[i / SIDE][i % SIDE];
}

/* Copies DEPTH rows of WIDE floats, which lie `pitch` apart, without registers in between. */
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

struct PointsJob {
    int rows, pieces;
};

template <class B_> struct PointsSource {
    typedef B_ B;
    typedef PointsJob Job;
};

/* The product of each point, left[point][row][m] and right[point][row][j], in whole tiles.  Block z
 * has piece z % pieces of point z / pieces; sums[z][m][j].  While a tile is multiplied, the next is
 * on its way. */
template <class Source, int RESIDENT>
__global__ void __launch_bounds__(Source::B::THREADS, RESIDENT)
    points_kernel(const PointsJob job, int slice, const float *__restrict__ left,
                  const float *__restrict__ right, float *__restrict__ sums)
{
    typedef typename Source::B B;
    __shared__ alignas(16) float lefts[2][B::DEPTH][B::M], rights[2][B::DEPTH][B::J];
    const int my_m = B::first_m(threadIdx.x), my_j = B::first_j(threadIdx.x);
    const size_t wide_m = gridDim.y * B::M, wide_j = gridDim.x * B::J;
    const int begin = blockIdx.z % job.pieces * slice;
    const int tiles = (job.rows - begin < slice ? job.rows - begin : slice) / B::DEPTH;
    const size_t first = (size_t)(blockIdx.z / job.pieces) * job.rows + begin;
    float sum[B::MINE_M][B::MINE_J] = {};
    left += first * wide_m + blockIdx.y * B::M;
    right += first * wide_j + blockIdx.x * B::J;
    for (int tile = -1; tile < tiles; tile++) {
        const int now = tile & 1, then = now ^ 1;
        __pipeline_wait_prior(0);
        __syncthreads(); /* tile `now` is there, and nobody needs the one before */
        if (tile + 1 < tiles) {
            rows_copy<B::DEPTH, B::M, B::THREADS>(left, wide_m, lefts[then]);
            rows_copy<B::DEPTH, B::J, B::THREADS>(right, wide_j, rights[then]);
            __pipeline_commit();
            left += B::DEPTH * wide_m;
            right += B::DEPTH * wide_j;
        }
        if (tile >= 0) B::multiply(lefts[now], rights[now], my_m, my_j, sum);
    }
    sums += (blockIdx.z * wide_m + blockIdx.y * B::M + my_m) * wide_j + blockIdx.x * B::J + my_j;
#pragma unroll
    for (int f = 0; f < B::MINE_M; f++)
#pragma unroll
        for (int g = 0; g < B::MINE_J; g += 4)
            *(float4 *)&sums[(f / B::AT_M * B::GROUP_M + f % B::AT_M) * wide_j +
                             g / B::AT_J * B::GROUP_J] =
                make_float4(sum[f][g], sum[f][g + 1], sum[f][g + 2], sum[f][g + 3]);
}

/* The products at all points, each the sum of its pieces, `plane` floats apart. */
__device__ static void products_read(const float *sums, int pieces, size_t plane,
                                     float (&product)[SIDE][SIDE])
{
#pragma unroll
    for (int i = 0; i < POINTS; i++)
        product[i / SIDE][i % SIDE] = 0.0f;
    for (int piece = 0; piece < pieces; piece++, sums += plane)
#pragma unroll
        for (int i = 0; i < POINTS; i++)
            product[i / SIDE][i % SIDE] += __ldg(sums + i * pieces * plane);
}

/* Thread (x, y) makes the 4x4 pixels of square x in channel y; sums[..][m][square]. */
__global__ void __launch_bounds__(ACROSS *DEEP)
    pixels_kernel(const Squares s, int pieces, size_t wide_m, const float *__restrict__ sums,
                  float *__restrict__ dx)
{
    const int square = blockIdx.x * ACROSS + threadIdx.x, c = blockIdx.y * DEEP + threadIdx.y;
    const int n = square / s.across / s.down;
    const int h0 = square / s.across % s.down * STEP, w0 = square % s.across * STEP;
    const size_t wide_j = gridDim.x * ACROSS;
    if (n >= s.N || c >= s.maps) return;
    float product[SIDE][SIDE], pixel[STEP][STEP];
    products_read(sums + c * wide_j + square, pieces, wide_m * wide_j, product);
    both_ways<SIDE, STEP, line_sums<STEP>>(product, pixel);
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

/* Thread (x, y) makes the 3x3 weights of channel x in filter y; sums[..][m][c]. */
__global__ void __launch_bounds__(ACROSS *DEEP)
    weights_kernel(int K, int C, int pieces, size_t wide_m, const float *__restrict__ sums,
                   float *__restrict__ dw)
{
    const int c = blockIdx.x * ACROSS + threadIdx.x, k = blockIdx.y * DEEP + threadIdx.y;
    const size_t wide_j = gridDim.x * ACROSS;
    if (c >= C || k >= K) return;
    float product[SIDE][SIDE], tap[3][3];
    products_read(sums + k * wide_j + c, pieces, wide_m * wide_j, product);
    both_ways<SIDE, 3, line_sums<3>>(product, tap);
#pragma unroll
    for (int i = 0; i < 9; i++)
        dw[(k * C + c) * 9 + i] = tap[i / 3][i % 3];
}

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
    // TODO(10): Add up this thread's pieces, leave the sum in `part`, and let the threads of row 0
    // add up theirs in order and store it.
    if (i < outputs)
        for (int piece = threadIdx.y; piece < pieces; piece += down)
            sum += sums[(size_t)piece * outputs + i];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || i >= outputs) return;
    for (int other = 1; other < down; other++)
        sum += part[other][threadIdx.x];
    to[i] = sum;
    // END TODO(10)
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

#define TILE(kernel, source, m, j, d, mine_m, mine_j, resident, speed)                             \
    {                                                                                              \
        m, j, d, (m) / (mine_m) * ((j) / (mine_j)), resident, speed,                               \
            kernel<source<Block<m, j, d, mine_m, mine_j>>, resident>                               \
    }

static const Tile<DataJob> data_tiles[] = {
    TILE(product_kernel, DataSource, 128, 128, 16, 8, 16, 2, 1.00f),
    TILE(product_kernel, DataSource, 64, 128, 16, 8, 8, 3, 0.96f),
    TILE(product_kernel, DataSource, 32, 128, 16, 4, 8, 5, 0.78f),
    TILE(product_kernel, DataSource, 32, 32, 32, 4, 4, 8, 0.56f),
    TILE(product_kernel, DataSource, 8, 256, 8, 8, 4, 8, 0.45f),
};
static const Tile<FilterJob> filter_tiles[] = {
    TILE(product_kernel, FilterSource, 128, 128, 16, 8, 16, 2, 1.00f),
    TILE(product_kernel, FilterSource, 64, 64, 16, 8, 4, 4, 0.78f),
    TILE(product_kernel, FilterSource, 32, 32, 32, 4, 4, 8, 0.56f),
    TILE(product_kernel, FilterSource, 16, 64, 32, 4, 4, 8, 0.57f),
    TILE(product_kernel, FilterSource, 8, 32, 32, 4, 2, 14, 0.35f),
};
static const Tile<PointsJob> points_tiles[] = {
    TILE(points_kernel, PointsSource, 64, 64, 16, 8, 8, 6, 1.00f),
    TILE(points_kernel, PointsSource, 32, 32, 16, 4, 4, 8, 0.80f),
};

static int multiprocessors()
{
    int count = 1;
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    return count;
}

/* In products: a launch that turns the filter, one that makes squares or sums of them, and one that
 * adds pieces. */
static const float TURN = 3e5f, SQUARES = 6e5f, ADD = 5e5f;

/* How long the busiest of `sms` multiprocessors is at it, in products.  It has `resident` blocks at
 * a time, and is as slow with fewer, for then it waits.  A block computes whole tiles, and takes as
 * long as START rows to get going.  Pieces are added up by another kernel: ADD products, SUM for
 * each sum that it reads, and LATE for each piece that a thread waits for.  (ADD, SUM and START are
 * lab 10's, fitted to an H200.)  There are `products` of these at the same time. */
template <class Job>
static float cost(const Tile<Job> &tile, int products, int m, int columns, int rows, int pieces,
                  int sms)
{
    const int START = 32;
    const float SUM = 20.0f, LATE = 260.0f;
    int blocks = products * ceiling(columns, tile.j) * ceiling(m, tile.m) * pieces;
    int busiest = ceiling(ceiling(blocks, sms), tile.resident) * tile.resident;
    int deep = ceiling(ceiling(rows, pieces), tile.depth) * tile.depth + START;
    float all = (float)tile.m * tile.j * deep * busiest / tile.speed;
    if (pieces == 1) return all;
    return all + ADD + (SUM * products * columns * m / sms + LATE) * (float)pieces;
}

template <class Job> struct Choice {
    const Tile<Job> *tile;
    int pieces;
    float cost;
};

/* The tile and the number of pieces that cost least.  Tried are each*sms/blocks pieces, at least
 * one, for each = 0 .. MOST, where `blocks` is how many blocks one piece has: so a multiprocessor
 * has about `each` of them.  No piece is smaller than a tile's depth. */
template <class Job, int TILES>
static Choice<Job> choose(const Tile<Job> (&tiles)[TILES], int products, int m, int columns,
                          int rows)
{
    const int MOST = 32;
    const int sms = multiprocessors();
    Choice<Job> best = {&tiles[0], 1, cost(tiles[0], products, m, columns, rows, 1, sms)};
    // TODO(11): Try them all.
    for (int i = 0; i < TILES; i++)
        for (int each = 0; each <= MOST; each++) {
            int blocks = products * ceiling(columns, tiles[i].j) * ceiling(m, tiles[i].m);
            int pieces = each * sms / blocks > 1 ? each * sms / blocks : 1;
            if (pieces > 1 && pieces * tiles[i].depth > rows) break;
            float needs = cost(tiles[i], products, m, columns, rows, pieces, sms);
            if (needs < best.cost) best = {&tiles[i], pieces, needs};
        }
    // END TODO(11)
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

/* Gathers dw where that is possible and costs less than `product`; else 0.  A thread's fold takes
 * as long as FOLD strips. */
static int gather_filter(const ConvProblem *p, const float *x, const float *dy, float *dw,
                         float product, cudaStream_t stream)
{
    const int RESIDENT = 3, BUSY = RESIDENT * SLOPE_THREADS, FOLD = 2;
    const float SPEED = 0.45f; /* beside the fastest tile, measured on an H200 */
    const int outputs = p->K * p->C * p->R * p->S, units = ceiling(p->K, MAPS) * p->C;
    const int strips = p->N * ceiling(p->P, STRIP) * p->Q, sms = multiprocessors();
    int busiest = ceiling(strips * units, sms), pieces = ceiling(strips, SLOPE_THREADS);
    if (busiest < BUSY) busiest = BUSY;
    if (pieces * units > RESIDENT * sms) pieces = ceiling(RESIDENT * sms, units);
    busiest += FOLD * ceiling(pieces * units * SLOPE_THREADS, sms);
    if (p->stride_h != 1 || p->stride_w != 1 || p->R > TAPS || p->S > TAPS) return 0;
    if ((float)busiest * STRIP * MAPS * SQUARE / SPEED + ADD > product) return 0;
    float *sums = nullptr;
    cudaMalloc(&sums, sizeof(float) * outputs * pieces);
    gather_filter_kernel<<<dim3(units, pieces), SLOPE_THREADS, 0, stream>>>(*p, x, dy, sums);
    add_pieces(outputs, pieces, sums, dw, stream);
    cudaFree(sums);
    return 1;
}

/* The products of `rows` values at all points: sums[point][piece][m][j]. */
struct Points {
    int wide_m, wide_j, rows, pieces, slice;
    const Tile<PointsJob> *tile;
    float *left, *right, *sums;
};

/* Lays them out, and takes the memory, where that costs less than `product` and there is so much;
 * else .tile is NULL.  A float's way to memory and back takes as long as MOVE products. */
static Points points_plan(const ConvProblem *p, int m, int columns, int rows, float product)
{
    const float MOVE = 0.2f;
    Points plan = {.rows = ceiling(rows, ACROSS) * ACROSS};
    if (p->R != 3 || p->S != 3 || p->stride_h != 1 || p->stride_w != 1) return plan;
    const Choice<PointsJob> choice = choose(points_tiles, POINTS, m, columns, plan.rows);
    const int wide_m = ceiling(m, choice.tile->m) * choice.tile->m;
    const int wide_j = ceiling(columns, choice.tile->j) * choice.tile->j;
    const float moved = (float)POINTS * (wide_m + wide_j) * plan.rows;
    if (choice.cost + 3 * SQUARES + MOVE * moved > product) return plan;
    plan.wide_m = wide_m;
    plan.wide_j = wide_j;
    plan.slice = slice_of(plan.rows, choice.pieces, choice.tile->depth);
    plan.pieces = ceiling(plan.rows, plan.slice);
    const size_t left = (size_t)POINTS * plan.rows * wide_m;
    const size_t right = (size_t)POINTS * plan.rows * wide_j;
    const size_t sums = (size_t)POINTS * plan.pieces * wide_m * wide_j;
    if (cudaMalloc(&plan.left, sizeof(float) * (left + right + sums)) != cudaSuccess) {
        cudaGetLastError(); /* nobody else's business */
        return plan;
    }
    plan.tile = choice.tile;
    plan.right = plan.left + left;
    plan.sums = plan.right + right;
    return plan;
}

static void points_multiply(const Points &plan, cudaStream_t stream)
{
    const Tile<PointsJob> *tile = plan.tile;
    const dim3 grid(plan.wide_j / tile->j, plan.wide_m / tile->m, POINTS * plan.pieces);
    tile->kernel<<<grid, tile->threads, 0, stream>>>({plan.rows, plan.pieces}, plan.slice,
                                                     plan.left, plan.right, plan.sums);
}

/* dx by points, if that costs less than `product`; else 0. */
static int data_by_points(const ConvProblem *p, const float *dy, const float *w, float *dx,
                          float product, cudaStream_t stream)
{
    const dim3 block(ACROSS, DEEP);
    const int down = ceiling(p->H, STEP), across = ceiling(p->W, STEP);
    const Squares from = {p->N, p->K, p->P, p->Q, 2 - p->pad_top, 2 - p->pad_left, down, across};
    const Squares to = {p->N, p->C, p->H, p->W, 0, 0, down, across};
    const Points plan = points_plan(p, p->C, p->N * down * across, p->K, product);
    if (!plan.tile) return 0;
    const int x = plan.wide_j / ACROSS, y = plan.rows / DEEP;
    filters_kernel<<<dim3(plan.wide_m / ACROSS, y), block, 0, stream>>>(p->K, p->C, w, plan.left);
    squares_kernel<SIDE, line_points, false>
        <<<dim3(x, y), ACROSS * DEEP, 0, stream>>>(from, dy, plan.right);
    points_multiply(plan, stream);
    pixels_kernel<<<dim3(x, ceiling(p->C, DEEP)), block, 0, stream>>>(to, plan.pieces, plan.wide_m,
                                                                      plan.sums, dx);
    cudaFree(plan.left);
    return 1;
}

/* dw by points, if that costs less than `product`; else 0. */
static int filter_by_points(const ConvProblem *p, const float *x, const float *dy, float *dw,
                            float product, cudaStream_t stream)
{
    const dim3 block(ACROSS, DEEP);
    const int down = ceiling(p->P, STEP), across = ceiling(p->Q, STEP);
    const Squares inputs = {p->N, p->C, p->H, p->W, p->pad_top, p->pad_left, down, across};
    const Squares slopes = {p->N, p->K, p->P, p->Q, 0, 0, down, across};
    const Points plan = points_plan(p, p->K, p->C, p->N * down * across, product);
    if (!plan.tile) return 0;
    const int squares = plan.rows / DEEP;
    squares_kernel<STEP, tap_points<STEP>, true>
        <<<dim3(squares, plan.wide_m / ACROSS), ACROSS * DEEP, 0, stream>>>(slopes, dy, plan.left);
    squares_kernel<SIDE, line_points, true>
        <<<dim3(squares, plan.wide_j / ACROSS), ACROSS * DEEP, 0, stream>>>(inputs, x, plan.right);
    points_multiply(plan, stream);
    weights_kernel<<<dim3(plan.wide_j / ACROSS, ceiling(p->K, DEEP)), block, 0, stream>>>(
        p->K, p->C, plan.pieces, plan.wide_m, plan.sums, dw);
    cudaFree(plan.left);
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
        choose(data_tiles, 1, p->C, p->N * ceiling(p->H, a) * ceiling(p->W, b),
               p->K * ceiling(p->R, a) * ceiling(p->S, b));
    if (data_by_points(p, dy, w, dx, choice.cost + TURN, stream)) return;
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
    const Choice<FilterJob> choice = choose(filter_tiles, 1, p->K, columns, job.rows);
    if (filter_by_points(p, x, dy, dw, choice.cost, stream)) return;
    if (gather_filter(p, x, dy, dw, choice.cost, stream)) return;
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
