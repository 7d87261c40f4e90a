/* Lab 15: filters of any size at stride 1 with far fewer products, by Fourier transforms of tiles.
 * Edit only the TODO regions. */
#include <convlab/conv.h>
#include <cuda_pipeline.h>
#include <limits.h>
#include <stdio.h>

enum { WARP = 32 };

static __host__ __device__ int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

struct alignas(8) Complex {
    float re, im;
};

/* ---- a line: the transform of N numbers -------------------------------------------------- */

/* e^(-2 pi i k/n) for k < n/2: cosines of 64ths of a circle, each rounded once from its exact
 * value.  The compiler knows every k and n here, so of the table only the numbers are left. */
static __device__ __forceinline__ Complex root(int k, int n)
{
    static constexpr float COS[] = {
        1.0f,         0.995184727f, 0.98078528f,  0.956940336f,  0.923879533f, 0.881921264f,
        0.831469612f, 0.773010453f, 0.707106781f, 0.634393284f,  0.555570233f, 0.471396737f,
        0.382683432f, 0.290284677f, 0.195090322f, 0.0980171403f, 0.0f};
    const int at = k * (64 / n);
    return at <= 16 ? Complex{COS[at], -COS[16 - at]} : Complex{-COS[32 - at], -COS[at - 16]};
}

/* z becomes e + w o, and its partner half a line further on e - w o; w = e^(-2 pi i k/N). */
template <int N>
static __device__ __forceinline__ void butterfly(int k, Complex e, Complex o, Complex &z,
                                                 Complex &partner)
{
    // TODO(1): Set z and partner.
    // Without a product where w is 1 (k = 0) or -i (4k = N).
    z = e, partner = o;
    (void)k, (void)root;
    // END TODO(1)
}

/* z is a row of lines of 2*HALF numbers.  The halves of each are the transforms E and O of its even
 * and of its odd numbers, and become its own; then the lines twice as long, up to all of z. */
template <int HALF, int N> static __device__ __forceinline__ void lines_join(Complex (&z)[N])
{
    if constexpr (HALF < N) {
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            const int k = i % HALF, at = 2 * i - k; /* k of E, HALF before k of O */
            butterfly<2 * HALF>(k, z[at], z[at + HALF], z[at], z[at + HALF]);
        }
        lines_join<2 * HALF>(z);
    }
}

/* z becomes its transform: Z[k] = the sum over j of z[j] * e^(-2 pi i jk/N).  All in registers: the
 * loops are unrolled, so every index is known.  Even numbers first and odd ones behind them, again
 * in each half, and so on to lines of one number: number j then stands where the bits of j, read
 * from the other end, say. */
template <int N> static __device__ __forceinline__ void transform(Complex (&z)[N])
{
    Complex line[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        line[__brev(j) / (UINT_MAX / N + 1)] = z[j];
#pragma unroll
    for (int i = 0; i < N; i++)
        z[i] = line[i];
    lines_join<1>(z);
}

/* z is the transform of a + ib, a and b real.  A and B become theirs, up to N/2: those beyond are
 * conjugates, A[N-k] = conj(A[k]). */
template <int N>
static __device__ __forceinline__ void apart(const Complex (&z)[N], Complex (&a)[N / 2 + 1],
                                             Complex (&b)[N / 2 + 1])
{
#pragma unroll
    for (int k = 0; k <= N / 2; k++) {
        const Complex here = z[k], there = z[(N - k) % N];
        // TODO(2): Set a[k] and b[k].
        a[k] = here, b[k] = there;
        // END TODO(2)
    }
}

/* And back: z = A + iB, of all N. */
template <int N>
static __device__ __forceinline__ void together(const Complex (&a)[N / 2 + 1],
                                                const Complex (&b)[N / 2 + 1], Complex (&z)[N])
{
#pragma unroll
    for (int k = 0; k <= N / 2; k++) {
        z[k] = {a[k].re - b[k].im, a[k].im + b[k].re};
        if (k > 0 && 2 * k < N) z[N - k] = {a[k].re + b[k].im, b[k].re - a[k].im};
    }
}

/* ---- a tile ------------------------------------------------------------------------------ */

/* Maps in memory, [maps][channels][height][width], and how each is cut into tiles.  A filter is a
 * map, too: its one tile begins at tap (0, 0), and beyond the last tap are zeros. */
struct Cut {
    int maps, channels, height, width;
    int down, across;   /* tiles of a map */
    int step_h, step_w; /* from one to the next: the outputs that a tile makes */
    int pad_top, pad_left;
};

/* Where a tile begins: in map `map`, at row h0 and column w0, which may lie in the padding. */
struct Place {
    int map, h0, w0;
};

/* A tile is ROWS x COLS real numbers, and its transform as many points as it takes: column j of the
 * transform for 0 < j < COLS/2, whole, and of columns 0 and COLS/2 rows 0 .. ROWS/2.  All others
 * are conjugates of these.
 *
 * A block has TILES tiles of one channel in its shared memory.  Row r of tile t is line r*TILES + t
 * there, and thread i owns lines i and i + THREADS, which are rows of one tile if it has several.
 */
template <int ROWS_, int COLS_> struct Tile {
    static constexpr int ROWS = ROWS_, COLS = COLS_, HALF = COLS / 2;
    static constexpr int POINTS = ROWS * HALF + (ROWS > 1 ? 2 : 1);
    static constexpr int TILES = ROWS > 1 ? 8192 / (ROWS * COLS) : 2 * COLS;
    static constexpr int LINES = TILES * ROWS, THREADS = LINES / 2;
    static constexpr int PITCH = COLS + (WARP / TILES | 1); /* a warp's lines in different banks */
    static constexpr int LINES_APART = THREADS / COLS, AT_ONCE = 16; /* as they are loaded */
    typedef float Lines[LINES][PITCH];

    /* The points of column j are i*HALF + j.  So are those of column 0, as far as it goes: behind
     * them is room for the rows of column HALF, the last first, but for its rows 0 and ROWS/2. */
    static __device__ int point_middle(int i)
    {
        return i == 0 ? ROWS * HALF : 2 * i == ROWS ? ROWS * HALF + 1 : (ROWS - i) * HALF;
    }

    static __device__ void places_find(const Cut &cut, Place (&place)[TILES])
    {
        for (int t = threadIdx.x; t < TILES; t += THREADS) {
            const int tile = blockIdx.x * TILES + t;
            place[t] = {tile / cut.across / cut.down,
                        tile / cut.across % cut.down * cut.step_h - cut.pad_top,
                        tile % cut.across * cut.step_w - cut.pad_left};
        }
    }

    /* Loads the tiles of this block's channel; zeros outside of the maps and beyond the last. */
    static __device__ void lines_load(const Cut &cut, const Place (&place)[TILES],
                                      const float *__restrict__ from, Lines &line)
    {
        const int j = threadIdx.x % COLS;
        for (int first = threadIdx.x / COLS; first < LINES; first += AT_ONCE * LINES_APART) {
            float value[AT_ONCE]; /* all on their way before the first is stored */
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                const int l = first + i * LINES_APART;
                const Place at = place[l % TILES];
                // TODO(3): Load column j of row l/TILES of that tile into value[i], for line[l][j].
                (void)at, (void)from;
                value[i] = 0;
                // END TODO(3)
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                line[first + i * LINES_APART][j] = value[i];
        }
    }

    /* Stores what is right of the tiles of this block's filter, as far as the maps go. */
    static __device__ void lines_store(const Cut &cut, const Place (&place)[TILES],
                                       const Lines &line, float *__restrict__ to)
    {
        const int j = threadIdx.x % COLS;
#pragma unroll 16
        for (int i = 0; i < LINES / LINES_APART; i++) {
            const int l = threadIdx.x / COLS + i * LINES_APART;
            const Place at = place[l % TILES];
            // TODO(4): Store line[l][j] to its place, if it is an output.
            (void)at, (void)j, (void)to;
            // END TODO(4)
        }
    }

    /* This thread's two lines, by one transform. */
    static __device__ void lines_transform(const Lines &line, Complex (&a)[HALF + 1],
                                           Complex (&b)[HALF + 1])
    {
        Complex z[COLS];
#pragma unroll
        for (int j = 0; j < COLS; j++)
            z[j] = {line[threadIdx.x][j], line[threadIdx.x + THREADS][j]};
        transform(z);
        apart(z, a, b);
    }

    static __device__ void lines_back(const Complex (&a)[HALF + 1], const Complex (&b)[HALF + 1],
                                      Lines &line)
    {
        Complex z[COLS];
        together(a, b, z);
        transform(z);
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            line[threadIdx.x][j] = z[j].re / (ROWS * COLS);
            line[threadIdx.x + THREADS][j] = z[j].im / (ROWS * COLS);
        }
    }

    /* A transformed line: the real parts of its first COLS/2 numbers, then the imaginary parts;
     * where number 0 has none stands number COLS/2, which is real as well. */
    static __device__ void line_put(const Complex (&a)[HALF + 1], float *to)
    {
#pragma unroll
        for (int j = 0; j < HALF; j++) {
            to[j] = a[j].re;
            to[HALF + j] = j > 0 ? a[j].im : a[HALF].re;
        }
    }

    static __device__ void line_get(const float *from, Complex (&a)[HALF + 1])
    {
        a[0] = {from[0], 0};
        a[HALF] = {from[HALF], 0};
#pragma unroll
        for (int j = 1; j < HALF; j++)
            a[j] = {from[j], from[HALF + j]};
    }

    /* Column j of tile t to its points, `apart_by` from one to the next.  Columns 0 and HALF are
     * real so far: as two lines were, they are transformed as one. */
    static __device__ void column_transform(const Lines &line, int t, int j, size_t apart_by,
                                            Complex *__restrict__ to)
    {
        Complex z[ROWS], a[ROWS / 2 + 1], b[ROWS / 2 + 1];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            z[i] = {line[i * TILES + t][j], line[i * TILES + t][HALF + j]};
        transform(z);
        if (j > 0) {
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                to[(i * HALF + j) * apart_by] = z[i];
            return;
        }
        apart(z, a, b);
#pragma unroll
        for (int i = 0; i <= ROWS / 2; i++) {
            to[i * HALF * apart_by] = a[i];
            to[point_middle(i) * apart_by] = b[i];
        }
    }

    static __device__ void column_back(const Complex *__restrict__ from, size_t apart_by, int t,
                                       int j, Lines &line)
    {
        Complex z[ROWS], a[ROWS / 2 + 1], b[ROWS / 2 + 1];
        if (j > 0) {
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                z[i] = from[(i * HALF + j) * apart_by];
        } else {
#pragma unroll
            for (int i = 0; i <= ROWS / 2; i++) {
                a[i] = from[i * HALF * apart_by];
                b[i] = from[point_middle(i) * apart_by];
            }
            together(a, b, z);
        }
        transform(z);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            line[i * TILES + t][j] = z[i].re;
            line[i * TILES + t][HALF + j] = z[i].im;
        }
    }
};

/* to[point][channel][tile], the transforms of all tiles.  Block (bx, by) owns tiles bx*TILES .. of
 * channel by; a thread of it two lines, and then a column of one tile. */
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    points_kernel(const Cut cut, const float *__restrict__ from, Complex *__restrict__ to)
{
    __shared__ typename T::Lines line;
    __shared__ Place place[T::TILES];
    const size_t tiles = gridDim.x * T::TILES, apart_by = cut.channels * tiles;
    const int i = threadIdx.x, t = i % T::TILES, j = i / T::TILES;
    Complex a[T::HALF + 1], b[T::HALF + 1];
    to += blockIdx.y * tiles + blockIdx.x * T::TILES;
    T::places_find(cut, place);
    __syncthreads();
    T::lines_load(cut, place, from, line);
    __syncthreads();
    T::lines_transform(line, a, b);
    if constexpr (T::ROWS > 1) {
        T::line_put(a, line[i]); /* nobody else needs these two lines before */
        T::line_put(b, line[i + T::THREADS]);
        __syncthreads();
        T::column_transform(line, t, j, apart_by, to + t);
    } else {
#pragma unroll
        for (int point = 0; point < T::POINTS; point++) {
            to[point * apart_by + i] = a[point];
            to[point * apart_by + i + T::THREADS] = b[point];
        }
    }
}

/* y of m[point][filter][tile], `filters` of them.  Block (bx, by) owns tiles bx*TILES .. of map by;
 * a thread of it a column of one tile, and then two lines.
 *
 * m holds the conjugates of y's transform.  y is real, so the same transform leads back: the
 * conjugate of sum(Y e^(2 pi i ..)) is sum(conj(Y) e^(-2 pi i ..)). */
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    outputs_kernel(const Cut cut, int filters, const Complex *__restrict__ m, float *__restrict__ y)
{
    __shared__ typename T::Lines line;
    __shared__ Place place[T::TILES];
    const size_t tiles = gridDim.x * T::TILES, apart_by = filters * tiles;
    const int i = threadIdx.x, t = i % T::TILES, j = i / T::TILES;
    Complex a[T::HALF + 1], b[T::HALF + 1];
    m += blockIdx.y * tiles + blockIdx.x * T::TILES;
    T::places_find(cut, place);
    if constexpr (T::ROWS > 1) {
        T::column_back(m + t, apart_by, t, j, line);
        __syncthreads();
        T::line_get(line[i], a);
        T::line_get(line[i + T::THREADS], b);
    } else {
#pragma unroll
        for (int point = 0; point < T::POINTS; point++) {
            a[point] = m[point * apart_by + i];
            b[point] = m[point * apart_by + i + T::THREADS];
        }
    }
    T::lines_back(a, b, line);
    __syncthreads();
    T::lines_store(cut, place, line, y);
}

/* ---- a product at every point ------------------------------------------------------------ */

/* m[point][k][tile] = the sum over c of u[point][c][k] * conj(v[point][c][tile]): lab 14's product,
 * with complex numbers.  Block (bx, by, bz) owns tiles bx*WIDE .., filters by*WIDE .. and point bz;
 * a thread of it MINE x MINE products, in pairs of neighbours, APART filters and APART tiles apart.
 * DEPTH channels are on their way while DEPTH others are multiplied. */
enum { WIDE = 32, MINE = 4, APART = WIDE / MINE * 2, PRODUCERS = WIDE / MINE * (WIDE / MINE) };
enum { DEPTH = 16, RESIDENT = 8 };

/* Copies DEPTH rows of WIDE numbers, which lie `pitch` apart, without registers in between.  Rows
 * from `rows` on do not exist: zeros. */
static __device__ void rows_copy(const Complex *from, size_t pitch, int rows, Complex (*to)[WIDE])
{
#pragma unroll
    for (int pair = threadIdx.x; pair < DEPTH * WIDE / 2; pair += PRODUCERS) {
        const int row = pair / (WIDE / 2), at = pair % (WIDE / 2) * 2;
        const bool exists = row < rows;
        __pipeline_memcpy_async(&to[row][at], from + (exists ? row : 0) * pitch + at, 16,
                                exists ? 0 : 16);
    }
}

__global__ void __launch_bounds__(PRODUCERS, RESIDENT)
    product_kernel(int channels, const Complex *__restrict__ u, const Complex *__restrict__ v,
                   Complex *__restrict__ m)
{
    __shared__ alignas(16) Complex us[2][DEPTH][WIDE], vs[2][DEPTH][WIDE];
    const int my_k = threadIdx.x / (WIDE / MINE) * 2, my_tile = threadIdx.x % (WIDE / MINE) * 2;
    const size_t filters = gridDim.y * WIDE, tiles = gridDim.x * WIDE;
    const int k0 = blockIdx.y * WIDE, t0 = blockIdx.x * WIDE, rounds = ceiling(channels, DEPTH);
    u += blockIdx.z * channels * filters + k0;
    v += blockIdx.z * channels * tiles + t0;
    Complex sum[MINE][MINE] = {};
    for (int round = -1; round < rounds; round++) {
        const int now = round & 1, then = now ^ 1, c0 = (round + 1) * DEPTH;
        __pipeline_wait_prior(0);
        __syncthreads(); /* the channels `now` are there, and nobody needs `then` any more */
        if (c0 < channels) {
            rows_copy(u + c0 * filters, filters, channels - c0, us[then]);
            rows_copy(v + c0 * tiles, tiles, channels - c0, vs[then]);
        }
        __pipeline_commit();
        if (round < 0) continue;
#pragma unroll 4
        for (int c = 0; c < DEPTH; c++) {
            Complex a[MINE], b[MINE];
#pragma unroll
            for (int f = 0; f < MINE; f += 2) {
                *(float4 *)&a[f] = *(float4 *)&us[now][c][my_k + f / 2 * APART];
                *(float4 *)&b[f] = *(float4 *)&vs[now][c][my_tile + f / 2 * APART];
            }
#pragma unroll
            for (int f = 0; f < MINE; f++)
#pragma unroll
                for (int g = 0; g < MINE; g++) {
                    // TODO(5): Add a[f] * conj(b[g]) to sum[f][g].
                    (void)a, (void)b;
                    // END TODO(5)
                }
        }
    }
    m += (blockIdx.z * filters + k0 + my_k) * tiles + t0 + my_tile;
#pragma unroll
    for (int f = 0; f < MINE; f++)
#pragma unroll
        for (int g = 0; g < MINE; g += 2)
            *(float4 *)&m[(f / 2 * APART + f % 2) * tiles + g / 2 * APART] =
                make_float4(sum[f][g].re, sum[f][g].im, sum[f][g + 1].re, sum[f][g + 1].im);
}

/* ---- all of it --------------------------------------------------------------------------- */

/* How a problem's output is cut, where tiles are rows x cols. */
static Cut outputs_cut(const ConvProblem *p, int rows, int cols)
{
    // TODO(6): How many outputs does a tile make, down and across?
    const int step_h = rows, step_w = cols;
    // END TODO(6)
    const int down = ceiling(p->P, step_h), across = ceiling(p->Q, step_w);
    return {p->N, p->K, p->P, p->Q, down, across, step_h, step_w, 0, 0};
}

/* `count` filled up to whole blocks of the product and of the transforms, both powers of two. */
static int whole(int count, int tiles)
{
    const int block = tiles > WIDE ? tiles : WIDE;
    return ceiling(count, block) * block;
}

template <class T>
static void convolve(const ConvProblem *p, const float *x, const float *w, float *y,
                     cudaStream_t stream)
{
    const Cut of_y = outputs_cut(p, T::ROWS, T::COLS);
    const Cut of_x = {p->N,        p->C,        p->H,        p->W,       of_y.down,
                      of_y.across, of_y.step_h, of_y.step_w, p->pad_top, p->pad_left};
    const Cut of_w = {p->K, p->C, p->R, p->S, 1, 1, 0, 0, 0, 0};
    const int filters = whole(p->K, T::TILES);
    const int tiles = whole(p->N * of_y.down * of_y.across, T::TILES);
    const size_t for_u = (size_t)T::POINTS * p->C * filters;
    const size_t for_v = (size_t)T::POINTS * p->C * tiles;
    const size_t for_m = (size_t)T::POINTS * filters * tiles;
    const size_t bytes = sizeof(Complex) * (for_u + for_v + for_m);
    Complex *u = nullptr;
    if (cudaMalloc(&u, bytes) != cudaSuccess) {
        fprintf(stderr, "lab 15 needs %.1f GB for transforms here, and has no room\n",
                bytes * 1e-9);
        return;
    }
    Complex *v = u + for_u, *m = v + for_v;
    const dim3 of_filters(filters / T::TILES, p->C), of_inputs(tiles / T::TILES, p->C);
    const dim3 of_products(tiles / WIDE, filters / WIDE, T::POINTS);
    const dim3 of_outputs(tiles / T::TILES, p->K);
    points_kernel<T><<<of_filters, T::THREADS, 0, stream>>>(of_w, w, u);
    points_kernel<T><<<of_inputs, T::THREADS, 0, stream>>>(of_x, x, v);
    product_kernel<<<of_products, PRODUCERS, 0, stream>>>(p->C, u, v, m);
    outputs_kernel<T><<<of_outputs, T::THREADS, 0, stream>>>(of_y, filters, m, y);
    cudaFree(u); /* waits until nobody needs it */
}

/* The tiles that there are. */
struct Choice {
    int rows, cols, points, together; /* tiles of a block that transforms */
    float move; /* for a number of u, v or m, in products of real numbers; measured on an H200 */
    void (*convolve)(const ConvProblem *, const float *, const float *, float *, cudaStream_t);
};
#define TILE(rows, cols, move)                                                                     \
    {                                                                                              \
        rows, cols, Tile<rows, cols>::POINTS, Tile<rows, cols>::TILES, move,                       \
            convolve<Tile<rows, cols>>                                                             \
    }
static const Choice choices[] = {
    TILE(16, 16, 70.0f), TILE(32, 32, 80.0f), TILE(64, 64, 330.0f),
    TILE(1, 32, 120.0f), TILE(1, 64, 120.0f),
};
enum { CHOICES = sizeof choices / sizeof *choices, MOST = 64, MOST_MAPS = 65535 /* of a grid */ };

/* Can tiles of this kind do the problem?  A tile of one row knows no filter of several. */
static bool fits(const ConvProblem *p, const Choice *choice)
{
    return p->R <= choice->rows && p->S <= choice->cols;
}

/* How long the busiest of `sms` multiprocessors is at it, in products of real numbers.  A block of
 * the product takes as long as START channels to get going, and FEWEST blocks as long as one; the
 * transforms take `move` for each number that they store or load.  (Fitted to what every tile took
 * on 30 layers on an H200; on 17 others it chose the fastest each time.) */
static float cost(const ConvProblem *p, const Choice *choice, int sms)
{
    const int START = 4, FEWEST = 4;
    const Cut cut = outputs_cut(p, choice->rows, choice->cols);
    const int filters = whole(p->K, choice->together), channels = ceiling(p->C, DEPTH) * DEPTH;
    const int tiles = whole(p->N * cut.down * cut.across, choice->together);
    const float blocks = (float)choice->points * (filters / WIDE) * (tiles / WIDE);
    const float busiest = fmaxf(ceilf(blocks / sms), FEWEST);
    const float moved = choice->points * ((float)tiles * (p->C + p->K) + (float)p->C * filters);
    return 4.0f * WIDE * WIDE * (channels + START) * busiest + choice->move * moved / sms;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    if (p->R > MOST || p->S > MOST || p->stride_h != 1 || p->stride_w != 1) {
        fprintf(stderr, "lab 15 does filters up to %dx%d at stride 1, not %dx%d at stride %d,%d\n",
                MOST, MOST, p->R, p->S, p->stride_h, p->stride_w);
        return;
    }
    if (p->C > MOST_MAPS || p->K > MOST_MAPS) {
        fprintf(stderr, "lab 15 does up to %d channels and filters, not %d and %d\n", MOST_MAPS,
                p->C, p->K);
        return;
    }
    int sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    const Choice *choice = choices;
    while (!fits(p, choice)) /* 64x64 fits any */
        choice++;
    // TODO(7): Of the tiles that fit choose the one that costs least.
    (void)sms, (void)choices, (void)fits, (void)cost;
    // END TODO(7)
    choice->convolve(p, x, w, y, stream);
}
