/* Lab 15: convolution at stride 1 by fast Fourier transforms of tiles (overlap-save), for filters
 * of up to 64x64.  Edit only the TODO regions. */
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

/* ---- one-dimensional FFT ------------------------------------------------------------------ */

/* The twiddle factor e^(-2 pi i k/n) for k < n/2.  The table has the cosines of multiples
 * of 2 pi/64, rounded from their exact values.  k and n are compile-time constants, so the table
 * disappears. */
static __device__ __forceinline__ Complex twiddle(int k, int n)
{
    static constexpr float COS[] = {
        1.0f,         0.995184727f, 0.98078528f,  0.956940336f,  0.923879533f, 0.881921264f,
        0.831469612f, 0.773010453f, 0.707106781f, 0.634393284f,  0.555570233f, 0.471396737f,
        0.382683432f, 0.290284677f, 0.195090322f, 0.0980171403f, 0.0f};
    const int at = k * (64 / n);
    return at <= 16 ? Complex{COS[at], -COS[16 - at]} : Complex{-COS[32 - at], -COS[at - 16]};
}

/* One butterfly: z = e + w o and partner = e - w o, where w = e^(-2 pi i k/N). */
template <int N>
static __device__ __forceinline__ void butterfly(int k, Complex e, Complex o, Complex &z,
                                                 Complex &partner)
{
    // TODO(1): Set z and partner.
    // Do not multiply where w is 1 (k = 0) or -i (4k = N).
    const Complex w = twiddle(k, N);
    Complex twiddled = o;
    if (4 * k == N)
        twiddled = {o.im, -o.re};
    else if (k > 0)
        twiddled = {fmaf(o.im, -w.im, o.re * w.re), fmaf(o.im, w.re, o.re * w.im)};
    z = {e.re + twiddled.re, e.im + twiddled.im};
    partner = {e.re - twiddled.re, e.im - twiddled.im};
    // END TODO(1)
}

/* The FFT's stages from rows of 2*HALF elements up to N.  The two halves of each row are the DFTs E
 * and O of its even and of its odd elements; the stage replaces them by the row's DFT, in place. */
template <int HALF, int N> static __device__ __forceinline__ void fft_stages(Complex (&z)[N])
{
    if constexpr (HALF < N) {
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            const int k = i % HALF, at = 2 * i - k; /* index of E[k]; O[k] is HALF further on */
            butterfly<2 * HALF>(k, z[at], z[at + HALF], z[at], z[at + HALF]);
        }
        fft_stages<2 * HALF>(z);
    }
}

/* Replaces z by its DFT: Z[k] = sum over j of z[j] * e^(-2 pi i jk/N).  The loops are unrolled, so
 * every index is a constant and all values are in registers.  First the elements are put into
 * bit-reversed order, then the stages combine them. */
template <int N> static __device__ __forceinline__ void fft(Complex (&z)[N])
{
    Complex line[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        line[__brev(j) / (UINT_MAX / N + 1)] = z[j];
#pragma unroll
    for (int i = 0; i < N; i++)
        z[i] = line[i];
    fft_stages<1>(z);
}

/* z is the DFT of a + ib, where a and b are real.  Computes their DFTs A and B for frequencies 0 to
 * N/2; the others are conjugates, A[N-k] = conj(A[k]). */
template <int N>
static __device__ __forceinline__ void
split_real_pair(const Complex (&z)[N], Complex (&a)[N / 2 + 1], Complex (&b)[N / 2 + 1])
{
#pragma unroll
    for (int k = 0; k <= N / 2; k++) {
        const Complex zk = z[k], zn = z[(N - k) % N];
        // TODO(2): Set a[k] and b[k].
        a[k] = {(zk.re + zn.re) / 2, (zk.im - zn.im) / 2};
        b[k] = {(zk.im + zn.im) / 2, (zn.re - zk.re) / 2};
        // END TODO(2)
    }
}

/* The inverse of split_real_pair: z = A + iB for all N frequencies. */
template <int N>
static __device__ __forceinline__ void
merge_real_pair(const Complex (&a)[N / 2 + 1], const Complex (&b)[N / 2 + 1], Complex (&z)[N])
{
#pragma unroll
    for (int k = 0; k <= N / 2; k++) {
        z[k] = {a[k].re - b[k].im, a[k].im + b[k].re};
        if (k > 0 && 2 * k < N) z[N - k] = {a[k].re + b[k].im, b[k].re - a[k].im};
    }
}

/* ---- tiles and two-dimensional transforms ------------------------------------------------ */

/* Maps in memory, [maps][channels][height][width], and their tiles.  A filter is a map with one
 * tile, which starts at tap (0, 0); there are zeros after the last tap. */
struct Tiling {
    int maps, channels, height, width;
    int down, across;   /* tiles per map, vertically and horizontally */
    int step_h, step_w; /* distance between tiles = right outputs per tile */
    int pad_top, pad_left;
};

/* First element of a tile: row h0 and column w0 of map `map`; both may lie in the padding. */
struct TileOrigin {
    int map, h0, w0;
};

/* A tile of ROWS x COLS real numbers.  Its transform has FREQUENCIES complex numbers: columns j
 * with 0 < j < COLS/2, and rows 0 .. ROWS/2 of columns 0 and COLS/2.  All others are their
 * conjugates.
 *
 * A block has TILES tiles of one channel in shared memory.  Row r of tile t is line r*TILES + t.
 * Thread i owns lines i and i + THREADS. */
template <int ROWS_, int COLS_> struct Tile {
    static constexpr int ROWS = ROWS_, COLS = COLS_, HALF = COLS / 2;
    static constexpr int FREQUENCIES = ROWS * HALF + (ROWS > 1 ? 2 : 1);
    static constexpr int TILES = ROWS > 1 ? 8192 / (ROWS * COLS) : 2 * COLS;
    static constexpr int LINES = TILES * ROWS, THREADS = LINES / 2;
    static constexpr int PITCH = COLS + (WARP / TILES | 1); /* a warp's lines use different banks */
    static constexpr int LINE_STEP = THREADS / COLS, LOADS_IN_FLIGHT = 16;
    typedef float Lines[LINES][PITCH];

    /* Frequency (i, j) has index i*HALF + j.  Column 0 needs only rows 0 .. ROWS/2; its unused
     * indices hold the rows of column HALF in reverse order, except rows 0 and ROWS/2, which are at
     * the end. */
    static __device__ int middle_column_index(int i)
    {
        return i == 0 ? ROWS * HALF : 2 * i == ROWS ? ROWS * HALF + 1 : (ROWS - i) * HALF;
    }

    static __device__ void origins_compute(const Tiling &tiling, TileOrigin (&origin)[TILES])
    {
        for (int t = threadIdx.x; t < TILES; t += THREADS) {
            const int tile = blockIdx.x * TILES + t;
            origin[t] = {tile / tiling.across / tiling.down,
                         tile / tiling.across % tiling.down * tiling.step_h - tiling.pad_top,
                         tile % tiling.across * tiling.step_w - tiling.pad_left};
        }
    }

    /* Loads the tiles of this block's channel; zeros outside the maps and after the last tile. */
    static __device__ void lines_load(const Tiling &tiling, const TileOrigin (&origin)[TILES],
                                      const float *__restrict__ from, Lines &line)
    {
        const int j = threadIdx.x % COLS;
        for (int first = threadIdx.x / COLS; first < LINES; first += LOADS_IN_FLIGHT * LINE_STEP) {
            float value[LOADS_IN_FLIGHT]; /* all loads are in flight before the first store */
#pragma unroll
            for (int i = 0; i < LOADS_IN_FLIGHT; i++) {
                const int l = first + i * LINE_STEP;
                const TileOrigin at = origin[l % TILES];
                // TODO(3): Load column j of row l/TILES of that tile into value[i], for line[l][j].
                const int h = at.h0 + l / TILES, w = at.w0 + j;
                const bool inside = at.map < tiling.maps && (unsigned)h < (unsigned)tiling.height &&
                                    (unsigned)w < (unsigned)tiling.width;
                const int row = (at.map * tiling.channels + blockIdx.y) * tiling.height + h;
                value[i] = inside ? __ldg(from + row * tiling.width + w) : 0.0f;
                // END TODO(3)
            }
#pragma unroll
            for (int i = 0; i < LOADS_IN_FLIGHT; i++)
                line[first + i * LINE_STEP][j] = value[i];
        }
    }

    /* Stores the right outputs of this block's tiles, except those beyond the maps. */
    static __device__ void lines_store(const Tiling &tiling, const TileOrigin (&origin)[TILES],
                                       const Lines &line, float *__restrict__ to)
    {
        const int j = threadIdx.x % COLS;
#pragma unroll 16
        for (int i = 0; i < LINES / LINE_STEP; i++) {
            const int l = threadIdx.x / COLS + i * LINE_STEP;
            const TileOrigin at = origin[l % TILES];
            // TODO(4): Store line[l][j] to y if it is a right output that exists.
            const int p = at.h0 + l / TILES, q = at.w0 + j;
            const bool right = l / TILES < tiling.step_h && j < tiling.step_w;
            const int row = (at.map * tiling.channels + blockIdx.y) * tiling.height + p;
            if (right && at.map < tiling.maps && p < tiling.height && q < tiling.width)
                to[row * tiling.width + q] = line[l][j];
            // END TODO(4)
        }
    }

    /* Transforms this thread's two real lines with one FFT. */
    static __device__ void lines_transform(const Lines &line, Complex (&a)[HALF + 1],
                                           Complex (&b)[HALF + 1])
    {
        Complex z[COLS];
#pragma unroll
        for (int j = 0; j < COLS; j++)
            z[j] = {line[threadIdx.x][j], line[threadIdx.x + THREADS][j]};
        fft(z);
        split_real_pair(z, a, b);
    }

    static __device__ void lines_inverse(const Complex (&a)[HALF + 1], const Complex (&b)[HALF + 1],
                                         Lines &line)
    {
        Complex z[COLS];
        merge_real_pair(a, b, z);
        fft(z);
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            line[threadIdx.x][j] = z[j].re / (ROWS * COLS);
            line[threadIdx.x + THREADS][j] = z[j].im / (ROWS * COLS);
        }
    }

    /* Stores a transformed line: the real parts of frequencies 0 .. COLS/2-1, then the imaginary
     * parts.  Frequency 0 is real, so its second place holds frequency COLS/2, which is
     * real, too. */
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

    /* Transforms column j of tile t and stores it; frequencies are `frequency_stride` elements
     * apart.  Columns 0 and HALF are real before this step, so one FFT transforms both. */
    static __device__ void column_transform(const Lines &line, int t, int j,
                                            size_t frequency_stride, Complex *__restrict__ to)
    {
        Complex z[ROWS], a[ROWS / 2 + 1], b[ROWS / 2 + 1];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            z[i] = {line[i * TILES + t][j], line[i * TILES + t][HALF + j]};
        fft(z);
        if (j > 0) {
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                to[(i * HALF + j) * frequency_stride] = z[i];
            return;
        }
        split_real_pair(z, a, b);
#pragma unroll
        for (int i = 0; i <= ROWS / 2; i++) {
            to[i * HALF * frequency_stride] = a[i];
            to[middle_column_index(i) * frequency_stride] = b[i];
        }
    }

    static __device__ void column_inverse(const Complex *__restrict__ from, size_t frequency_stride,
                                          int t, int j, Lines &line)
    {
        Complex z[ROWS], a[ROWS / 2 + 1], b[ROWS / 2 + 1];
        if (j > 0) {
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                z[i] = from[(i * HALF + j) * frequency_stride];
        } else {
#pragma unroll
            for (int i = 0; i <= ROWS / 2; i++) {
                a[i] = from[i * HALF * frequency_stride];
                b[i] = from[middle_column_index(i) * frequency_stride];
            }
            merge_real_pair(a, b, z);
        }
        fft(z);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            line[i * TILES + t][j] = z[i].re;
            line[i * TILES + t][HALF + j] = z[i].im;
        }
    }
};

/* Forward transform: to[frequency][channel][tile] of all tiles.  Block (bx, by) has tiles bx*TILES
 * .. of channel by.  A thread transforms two lines, and then one column of one tile. */
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    forward_fft_kernel(const Tiling tiling, const float *__restrict__ from,
                       Complex *__restrict__ to)
{
    __shared__ typename T::Lines line;
    __shared__ TileOrigin origin[T::TILES];
    const size_t tiles = gridDim.x * T::TILES, frequency_stride = tiling.channels * tiles;
    const int i = threadIdx.x, t = i % T::TILES, j = i / T::TILES;
    Complex a[T::HALF + 1], b[T::HALF + 1];
    to += blockIdx.y * tiles + blockIdx.x * T::TILES;
    T::origins_compute(tiling, origin);
    __syncthreads();
    T::lines_load(tiling, origin, from, line);
    __syncthreads();
    T::lines_transform(line, a, b);
    if constexpr (T::ROWS > 1) {
        T::line_put(a, line[i]); /* no other thread uses these two lines */
        T::line_put(b, line[i + T::THREADS]);
        __syncthreads();
        T::column_transform(line, t, j, frequency_stride, to + t);
    } else {
#pragma unroll
        for (int frequency = 0; frequency < T::FREQUENCIES; frequency++) {
            to[frequency * frequency_stride + i] = a[frequency];
            to[frequency * frequency_stride + i + T::THREADS] = b[frequency];
        }
    }
}

/* Inverse transform: y from m[frequency][filter][tile].  Block (bx, by) has tiles bx*TILES .. of
 * map by.  A thread transforms one column of one tile, and then two lines.
 *
 * m holds the conjugates of y's transform.  y is real, so the forward transform is also the
 * inverse: the conjugate of sum(Y e^(2 pi i ..)) is sum(conj(Y) e^(-2 pi i ..)). */
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    inverse_fft_kernel(const Tiling tiling, int filters, const Complex *__restrict__ m,
                       float *__restrict__ y)
{
    __shared__ typename T::Lines line;
    __shared__ TileOrigin origin[T::TILES];
    const size_t tiles = gridDim.x * T::TILES, frequency_stride = filters * tiles;
    const int i = threadIdx.x, t = i % T::TILES, j = i / T::TILES;
    Complex a[T::HALF + 1], b[T::HALF + 1];
    m += blockIdx.y * tiles + blockIdx.x * T::TILES;
    T::origins_compute(tiling, origin);
    if constexpr (T::ROWS > 1) {
        T::column_inverse(m + t, frequency_stride, t, j, line);
        __syncthreads();
        T::line_get(line[i], a);
        T::line_get(line[i + T::THREADS], b);
    } else {
#pragma unroll
        for (int frequency = 0; frequency < T::FREQUENCIES; frequency++) {
            a[frequency] = m[frequency * frequency_stride + i];
            b[frequency] = m[frequency * frequency_stride + i + T::THREADS];
        }
    }
    T::lines_inverse(a, b, line);
    __syncthreads();
    T::lines_store(tiling, origin, line, y);
}

/* ---- matrix products in the frequency domain ---------------------------------------------- */

/* m[frequency][k][tile] = sum over c of u[frequency][c][k] * conj(v[frequency][c][tile]): lab 14's
 * matrix product with complex numbers.  Block (bx, by, bz) computes tiles bx*BLOCK_TILE .., filters
 * by*BLOCK_TILE .. of frequency bz.  A thread has PER_THREAD x PER_THREAD accumulators in pairs of
 * neighbours; the pairs are PAIR_STEP apart.  While one slice of DEPTH channels is multiplied, the
 * next slice is being copied. */
enum {
    BLOCK_TILE = 32,
    PER_THREAD = 4,
    PAIR_STEP = BLOCK_TILE / PER_THREAD * 2,
    GEMM_THREADS = BLOCK_TILE / PER_THREAD * (BLOCK_TILE / PER_THREAD)
};
enum { DEPTH = 16, RESIDENT = 8 };

/* Starts the asynchronous copy of a slice: DEPTH rows of BLOCK_TILE complex numbers, `pitch` apart.
 * Rows >= `rows` do not exist and are filled with zeros. */
static __device__ void slice_copy(const Complex *from, size_t pitch, int rows,
                                  Complex (*to)[BLOCK_TILE])
{
#pragma unroll
    for (int pair = threadIdx.x; pair < DEPTH * BLOCK_TILE / 2; pair += GEMM_THREADS) {
        const int row = pair / (BLOCK_TILE / 2), at = pair % (BLOCK_TILE / 2) * 2;
        const bool exists = row < rows;
        __pipeline_memcpy_async(&to[row][at], from + (exists ? row : 0) * pitch + at, 16,
                                exists ? 0 : 16);
    }
}

__global__ void __launch_bounds__(GEMM_THREADS, RESIDENT)
    gemm_kernel(int channels, const Complex *__restrict__ u, const Complex *__restrict__ v,
                Complex *__restrict__ m)
{
    __shared__ alignas(16) Complex us[2][DEPTH][BLOCK_TILE], vs[2][DEPTH][BLOCK_TILE];
    const int my_k = threadIdx.x / (BLOCK_TILE / PER_THREAD) * 2,
              my_tile = threadIdx.x % (BLOCK_TILE / PER_THREAD) * 2;
    const size_t filters = gridDim.y * BLOCK_TILE, tiles = gridDim.x * BLOCK_TILE;
    const int k0 = blockIdx.y * BLOCK_TILE, t0 = blockIdx.x * BLOCK_TILE,
              slices = ceiling(channels, DEPTH);
    u += blockIdx.z * channels * filters + k0;
    v += blockIdx.z * channels * tiles + t0;
    Complex accumulator[PER_THREAD][PER_THREAD] = {};
    for (int slice = -1; slice < slices; slice++) {
        const int current = slice & 1, next = current ^ 1, c0 = (slice + 1) * DEPTH;
        __pipeline_wait_prior(0);
        __syncthreads(); /* slice `current` has arrived; buffer `next` is no longer needed */
        if (c0 < channels) {
            slice_copy(u + c0 * filters, filters, channels - c0, us[next]);
            slice_copy(v + c0 * tiles, tiles, channels - c0, vs[next]);
        }
        __pipeline_commit();
        if (slice < 0) continue;
#pragma unroll 4
        for (int c = 0; c < DEPTH; c++) {
            Complex a[PER_THREAD], b[PER_THREAD];
#pragma unroll
            for (int f = 0; f < PER_THREAD; f += 2) {
                *(float4 *)&a[f] = *(float4 *)&us[current][c][my_k + f / 2 * PAIR_STEP];
                *(float4 *)&b[f] = *(float4 *)&vs[current][c][my_tile + f / 2 * PAIR_STEP];
            }
#pragma unroll
            for (int f = 0; f < PER_THREAD; f++)
#pragma unroll
                for (int g = 0; g < PER_THREAD; g++) {
                    // TODO(5): Add a[f] * conj(b[g]) to accumulator[f][g].
                    accumulator[f][g].re += a[f].re * b[g].re;
                    accumulator[f][g].re += a[f].im * b[g].im;
                    accumulator[f][g].im += a[f].im * b[g].re;
                    accumulator[f][g].im = fmaf(a[f].re, -b[g].im, accumulator[f][g].im);
                    // END TODO(5)
                }
        }
    }
    m += (blockIdx.z * filters + k0 + my_k) * tiles + t0 + my_tile;
#pragma unroll
    for (int f = 0; f < PER_THREAD; f++)
#pragma unroll
        for (int g = 0; g < PER_THREAD; g += 2)
            *(float4 *)&m[(f / 2 * PAIR_STEP + f % 2) * tiles + g / 2 * PAIR_STEP] =
                make_float4(accumulator[f][g].re, accumulator[f][g].im, accumulator[f][g + 1].re,
                            accumulator[f][g + 1].im);
}

/* ---- the launches and the choice of the tile size ------------------------------------------ */

/* The tiles of a problem's output, for tiles of rows x cols inputs. */
static Tiling output_tiling(const ConvProblem *p, int rows, int cols)
{
    // TODO(6): How many rows and columns of right outputs does a tile have?
    const int step_h = rows - p->R + 1, step_w = cols - p->S + 1;
    // END TODO(6)
    const int down = ceiling(p->P, step_h), across = ceiling(p->Q, step_w);
    return {p->N, p->K, p->P, p->Q, down, across, step_h, step_w, 0, 0};
}

/* `count` rounded up to whole blocks of the matrix product and of the transforms (powers of two).
 *
 * */
static int round_up(int count, int tiles)
{
    const int block = tiles > BLOCK_TILE ? tiles : BLOCK_TILE;
    return ceiling(count, block) * block;
}

template <class T>
static void convolve(const ConvProblem *p, const float *x, const float *w, float *y,
                     cudaStream_t stream)
{
    const Tiling y_tiling = output_tiling(p, T::ROWS, T::COLS);
    const Tiling x_tiling = {p->N,
                             p->C,
                             p->H,
                             p->W,
                             y_tiling.down,
                             y_tiling.across,
                             y_tiling.step_h,
                             y_tiling.step_w,
                             p->pad_top,
                             p->pad_left};
    const Tiling w_tiling = {p->K, p->C, p->R, p->S, 1, 1, 0, 0, 0, 0};
    const int filters = round_up(p->K, T::TILES);
    const int tiles = round_up(p->N * y_tiling.down * y_tiling.across, T::TILES);
    const size_t u_numbers = (size_t)T::FREQUENCIES * p->C * filters;
    const size_t v_numbers = (size_t)T::FREQUENCIES * p->C * tiles;
    const size_t m_numbers = (size_t)T::FREQUENCIES * filters * tiles;
    const size_t bytes = sizeof(Complex) * (u_numbers + v_numbers + m_numbers);
    Complex *u = nullptr;
    if (cudaMalloc(&u, bytes) != cudaSuccess) {
        fprintf(stderr, "lab 15 needs %.1f GB for the transforms; cudaMalloc failed\n",
                bytes * 1e-9);
        return;
    }
    Complex *v = u + u_numbers, *m = v + v_numbers;
    const dim3 filter_grid(filters / T::TILES, p->C), input_grid(tiles / T::TILES, p->C);
    const dim3 gemm_grid(tiles / BLOCK_TILE, filters / BLOCK_TILE, T::FREQUENCIES);
    const dim3 output_grid(tiles / T::TILES, p->K);
    forward_fft_kernel<T><<<filter_grid, T::THREADS, 0, stream>>>(w_tiling, w, u);
    forward_fft_kernel<T><<<input_grid, T::THREADS, 0, stream>>>(x_tiling, x, v);
    gemm_kernel<<<gemm_grid, GEMM_THREADS, 0, stream>>>(p->C, u, v, m);
    inverse_fft_kernel<T><<<output_grid, T::THREADS, 0, stream>>>(y_tiling, filters, m, y);
    cudaFree(u); /* waits until the kernels have finished */
}

/* The tile sizes to choose from. */
struct Choice {
    int rows, cols, frequencies, tiles_per_block; /* tiles per block of the transform kernels */
    float transfer_cost; /* per element of u, v or m; unit: real multiplications, on an H200 */
    void (*convolve)(const ConvProblem *, const float *, const float *, float *, cudaStream_t);
};
#define TILE(rows, cols, transfer_cost)                                                            \
    {                                                                                              \
        rows, cols, Tile<rows, cols>::FREQUENCIES, Tile<rows, cols>::TILES, transfer_cost,         \
            convolve<Tile<rows, cols>>                                                             \
    }
static const Choice choices[] = {
    TILE(16, 16, 70.0f), TILE(32, 32, 80.0f), TILE(64, 64, 330.0f),
    TILE(1, 32, 120.0f), TILE(1, 64, 120.0f),
};
enum { CHOICES = sizeof choices / sizeof *choices, MAX_SIDE = 64, MAX_MAPS = 65535 };

/* Is the filter no larger than the tile? */
static bool fits(const ConvProblem *p, const Choice *choice)
{
    return p->R <= choice->rows && p->S <= choice->cols;
}

/* Time of the busiest of `sms` SMs, in real multiplications.  A block of the matrix product starts
 * up for as long as START channels take; fewer than FEWEST blocks take as long as FEWEST.  The
 * transforms take `transfer_cost` for each element that they store or load.  (Fitted to the times
 * of every tile size on 30 layers on an H200; on 17 other layers it chose the fastest each time.)
 *
 * */
static float cost(const ConvProblem *p, const Choice *choice, int sms)
{
    const int START = 4, FEWEST = 4;
    const Tiling tiling = output_tiling(p, choice->rows, choice->cols);
    const int filters = round_up(p->K, choice->tiles_per_block),
              channels = ceiling(p->C, DEPTH) * DEPTH;
    const int tiles = round_up(p->N * tiling.down * tiling.across, choice->tiles_per_block);
    const float blocks = (float)choice->frequencies * (filters / BLOCK_TILE) * (tiles / BLOCK_TILE);
    const float busiest = fmaxf(ceilf(blocks / sms), FEWEST);
    const float moved =
        choice->frequencies * ((float)tiles * (p->C + p->K) + (float)p->C * filters);
    return 4.0f * BLOCK_TILE * BLOCK_TILE * (channels + START) * busiest +
           choice->transfer_cost * moved / sms;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    if (p->R > MAX_SIDE || p->S > MAX_SIDE || p->stride_h != 1 || p->stride_w != 1) {
        fprintf(stderr,
                "lab 15 computes filters up to %dx%d at stride 1, not %dx%d at stride %d,%d\n",
                MAX_SIDE, MAX_SIDE, p->R, p->S, p->stride_h, p->stride_w);
        return;
    }
    if (p->C > MAX_MAPS || p->K > MAX_MAPS) {
        fprintf(stderr, "lab 15 computes up to %d channels and filters, not %d and %d\n", MAX_MAPS,
                p->C, p->K);
        return;
    }
    int sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    const Choice *choice = choices;
    while (!fits(p, choice)) /* 64x64 fits every filter */
        choice++;
    // TODO(7): Among the tile sizes that fit, choose the one with the smallest cost.
    for (int i = 0; i < CHOICES; i++)
        if (fits(p, &choices[i]) && cost(p, &choices[i], sms) < cost(p, choice, sms))
            choice = &choices[i];
    // END TODO(7)
    choice->convolve(p, x, w, y, stream);
}
