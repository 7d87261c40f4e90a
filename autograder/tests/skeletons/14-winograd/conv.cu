/* Lab 14: convolution at stride 1 with fewer multiplications, by Winograd's algorithms.  They are
 * F(2,3), F(2x2,3x3) and F(4x4,3x3).  conv_forward, at the end, uses the last part that is written.
 * Edit only the TODO regions. */
#include <convlab/conv.h>
#include <cuda_pipeline.h>
#include <stdio.h>

enum { WARP = 32, TAPS = 3 };

__host__ __device__ static int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

/* ---- part 1: one dimension, F(2,3) -------------------------------------------------------- */

/* M outputs of M+2 inputs and 3 taps, with one multiplication per evaluation point, M+2 in all. */
template <int M> struct Winograd;

template <> struct Winograd<2> { /* evaluation points 0, 1, -1 and infinity */
    // TODO(1): Write F(2,3).
    // input() computes v, the input transform of d; filter() computes u, the filter transform of g;
    // output() computes y, the output transform of m = u*v.
    static __device__ void input(const float (&d)[4], float (&v)[4])
    {
        (void)d, (void)v;
    }

    static __device__ void filter(const float (&g)[3], float (&u)[4])
    {
        (void)g, (void)u;
    }

    static __device__ void output(const float (&m)[4], float (&y)[2])
    {
        (void)m, (void)y;
    }
    // END TODO(1)
};

// TODO(2): Write a kernel for filters of R rows of 3 taps, any R, and launch it.
// The kernel computes pairs of neighbouring outputs of a row with F(2,3).  It accumulates all
// channels and filter rows in the Winograd domain.  launch_rows returns true once it launches.
static bool launch_rows(const ConvProblem *p, const float *x, const float *w, float *y,
                        cudaStream_t stream)
{
    (void)p, (void)x, (void)w, (void)y, (void)stream;
    return false;
}
// END TODO(2)

/* ---- part 2: two dimensions, F(2x2,3x3), in one kernel ------------------------------------ */

/* Applies a one-dimensional transform to every column, then to every row: FROM x FROM values become
 * TO x TO. */
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

/* An MxM output tile and its SIDE x SIDE input tile.  Tiles are numbered image by image and row by
 * row.  Neighbouring input tiles overlap by two rows or columns.  At the edge they extend into the
 * padding; the last tile of a row or column may extend beyond the map. */
template <int M> struct OutputTile {
    static constexpr int SIDE = M + TAPS - 1, POINTS = SIDE * SIDE;
    int n, p0, q0; /* image; first output */

    __host__ __device__ static int count(const ConvProblem &p)
    {
        return p.N * ceiling(p.P, M) * ceiling(p.Q, M);
    }

    __device__ static OutputTile at(const ConvProblem &p, int tile)
    {
        const int down = ceiling(p.P, M), across = ceiling(p.Q, M);
        return {tile / across / down, tile / across % down * M, tile % across * M};
    }

    /* Loads the inputs in channel c.  They are zero outside the image, for channels c >= C and for
     * tiles after the last image. */
    __device__ void load(const ConvProblem &p, const float *__restrict__ x, int c,
                         float (&d)[SIDE][SIDE]) const
    {
        // TODO(3): Load the input tile.
        (void)p, (void)x, (void)c, (void)d;
        // END TODO(3)
    }

    /* Stores the outputs that exist: inside map k < K of image n < N. */
    __device__ void store(const ConvProblem &p, int k, const float (&out)[M][M],
                          float *__restrict__ y) const
    {
        // TODO(4): Store the output tile.
        (void)p, (void)k, (void)out, (void)y;
        // END TODO(4)
    }
};

/* Loads the nine taps of channel c of filter k; zeros if there is no such channel or filter. */
__device__ static void filter_load(const ConvProblem &p, const float *__restrict__ w, int k, int c,
                                   float (&g)[TAPS][TAPS])
{
    const float *from = w + (k * p.C + c) * TAPS * TAPS;
#pragma unroll
    for (int i = 0; i < TAPS * TAPS; i++)
        g[i / TAPS][i % TAPS] = k < p.K && c < p.C ? __ldg(from + i) : 0.0f;
}

/* A block computes FILTERS filters of TILES tiles, CHANNELS channels at a time.  Shared memory has
 * the input transform of these channels, v[channel][point*TILES + tile], and their filter
 * transform, u[channel][point*FILTERS + filter].  There are POINTS x FILTERS x TILES accumulators;
 * each thread has PER_THREAD filters x PER_THREAD tiles of one point, in registers. */
namespace fused
{
enum { M = 2, POINTS = 16, TILES = 32, FILTERS = 32, CHANNELS = 8, PER_THREAD = 8 };
enum { FILTERS_PER_PASS = 8, THREADS = 256, RESIDENT = 2 };
enum { PITCH = POINTS * FILTERS + 4 }; /* + 4: a warp's stores use different banks */

__global__ void __launch_bounds__(THREADS, RESIDENT)
    fused_kernel(const ConvProblem p, const float *__restrict__ x, const float *__restrict__ w,
                 float *__restrict__ y)
{
    __shared__ alignas(16) float v[CHANNELS][POINTS * TILES], u[CHANNELS][PITCH];
    float accumulator[PER_THREAD][PER_THREAD] = {};
    // TODO(5): Accumulate all channels.
    // Choose the tiles and filters of this block, and the point, the filters and the tiles of this
    // thread's accumulators.  Process CHANNELS channels at a time.  Each thread transforms one
    // input tile and one filter of one channel.  Then each thread multiplies its filters by its
    // tiles in all of these channels.  Read u and v as float4, without bank conflicts.
    (void)p, (void)x, (void)w, (void)u, (void)accumulator;
    // END TODO(5)
    float(*exchange)[POINTS][TILES] = (float(*)[POINTS][TILES])v; /* [filter][point][tile] */
    // TODO(6): Transform the accumulators and store the outputs.
    // The 16 points of a tile and filter are in the registers of different threads.  Exchange them
    // through `exchange`, which has room for FILTERS_PER_PASS filters, and reuses v.  Each thread
    // then transforms one tile of one filter.
    (void)y, (void)exchange;
    // END TODO(6)
}
} // namespace fused

// TODO(7): Launch the fused kernel.
// fused_grid is its grid; launch_fused returns true once it launches.
static dim3 fused_grid(const ConvProblem *p)
{
    (void)p;
    return dim3(1, 1);
}

static bool launch_fused(const ConvProblem *p, const float *x, const float *w, float *y,
                         cudaStream_t stream)
{
    (void)p, (void)x, (void)w, (void)y, (void)stream;
    return false;
}
// END TODO(7)

/* ---- part 3: the staged version: transforms, matrix products, output transform ------------- */

/* The transform kernels have blocks of BLOCK_X x BLOCK_Y threads.  A thread transforms one pair of
 * filter and channel, tile and channel, or tile and filter.  The numbers of filters, tiles and
 * channels are padded to whole block tiles of the matrix product; BLOCK_X divides the first two,
 * BLOCK_Y the last.  Pairs in the padding are transforms of zeros. */
enum { BLOCK_X = 32, BLOCK_Y = 8 };

/* Filter transform: u[point][c][k] of every filter. */
template <int M>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    filter_transform_kernel(const ConvProblem p, const float *__restrict__ w, float *__restrict__ u)
{
    constexpr int SIDE = OutputTile<M>::SIDE, POINTS = OutputTile<M>::POINTS;
    __shared__ float transpose[BLOCK_Y][BLOCK_X + 1];
    // TODO(8): Transform the filters.
    // Adjacent threads should read adjacent channels of w, and write adjacent filters of u.
    (void)p, (void)w, (void)u, (void)transpose, (void)SIDE, (void)POINTS;
    // END TODO(8)
}

/* Input transform: v[point][c][tile] of every tile. */
template <int M>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    input_transform_kernel(const ConvProblem p, const float *__restrict__ x, float *__restrict__ v)
{
    constexpr int SIDE = OutputTile<M>::SIDE, POINTS = OutputTile<M>::POINTS;
    // TODO(9): Transform the input tiles.
    (void)p, (void)x, (void)v, (void)SIDE, (void)POINTS;
    // END TODO(9)
}

/* Output transform: y from m[point][k][tile]. */
template <int M>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    output_transform_kernel(const ConvProblem p, const float *__restrict__ m, float *__restrict__ y)
{
    constexpr int SIDE = OutputTile<M>::SIDE, POINTS = OutputTile<M>::POINTS;
    // TODO(10): Transform m and store the outputs.
    (void)p, (void)m, (void)y, (void)SIDE, (void)POINTS;
    // END TODO(10)
}

/* m[point][k][tile] = sum over c of u[point][c][k] * v[point][c][tile]: lab 10's matrix product,
 * once per point.  u, v and m are padded to whole block tiles.  Block (bx, by, bz) computes tiles
 * bx*TILES .., filters by*FILTERS .. of point bz.  A thread has 8x8 or 4x4 accumulators in groups
 * of four neighbours; the groups are GROUP_K filters and GROUP_J tiles apart.  The channels are
 * processed in slices of DEPTH; STAGES slices are in shared memory, including the one in use. */
enum { DEPTH = 16, STAGES = 2 };

/* Starts the asynchronous copy of a slice: DEPTH rows of WIDE floats, `pitch` floats apart. */
template <int WIDE, int THREADS>
__device__ static void slice_copy(const float *from, size_t pitch, float (*to)[WIDE])
{
    constexpr int FOURS = DEPTH * WIDE / 4;
    static_assert(FOURS % THREADS == 0, "every thread copies the same number of float4");
#pragma unroll
    for (int first = 0; first < FOURS; first += THREADS) {
        const int four = first + threadIdx.x, row = four / (WIDE / 4), at = four % (WIDE / 4) * 4;
        __pipeline_memcpy_async(&to[row][at], from + row * pitch + at, 16);
    }
}

template <int FILTERS, int TILES, int PER_THREAD, int RESIDENT>
__global__ void __launch_bounds__(FILTERS *TILES / PER_THREAD / PER_THREAD, RESIDENT)
    gemm_kernel(int channels, const float *__restrict__ u, const float *__restrict__ v,
                float *__restrict__ m)
{
    constexpr int DOWN = FILTERS / PER_THREAD, THREADS = DOWN * TILES / PER_THREAD;
    constexpr int GROUP_K = DOWN * 4, GROUP_J = TILES / PER_THREAD * 4,
                  WARPS_ACROSS = TILES / PER_THREAD / 8;
    __shared__ alignas(16) float us[STAGES][DEPTH][FILTERS], vs[STAGES][DEPTH][TILES];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP; /* a warp is 4 x 8 threads */
    const int my_k = (warp / WARPS_ACROSS * 4 + lane / 8) * 4;
    const int my_tile = (warp % WARPS_ACROSS * 8 + lane % 8) * 4;
    const size_t filters = gridDim.y * FILTERS, tiles = gridDim.x * TILES;
    const int k0 = blockIdx.y * FILTERS, j0 = blockIdx.x * TILES, slices = channels / DEPTH;
    u += blockIdx.z * channels * filters + k0;
    v += blockIdx.z * channels * tiles + j0;
    float accumulator[PER_THREAD][PER_THREAD] = {};
    for (int slice = 1 - STAGES; slice < slices; slice++) {
        const int next = slice + STAGES - 1;
        if (slice >= 0) {
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads(); /* the slice has arrived; the previous one is no longer needed */
        }
        if (next < slices) {
            const size_t row = (size_t)next * DEPTH;
            slice_copy<FILTERS, THREADS>(u + row * filters, filters, us[next % STAGES]);
            slice_copy<TILES, THREADS>(v + row * tiles, tiles, vs[next % STAGES]);
        }
        __pipeline_commit();
        if (slice < 0) continue;
        const float(*weights)[FILTERS] = us[slice % STAGES], (*inputs)[TILES] = vs[slice % STAGES];
        /* [0] and [1]: the current and the next channel, alternating */
        float weight[2][PER_THREAD], input[2][PER_THREAD];
#pragma unroll
        for (int c = -1; c < DEPTH; c++) {
            const int use = c & 1, read = use ^ 1;
            if (c + 1 < DEPTH) {
#pragma unroll
                for (int f = 0; f < PER_THREAD; f += 4) {
                    *(float4 *)&weight[read][f] =
                        *(float4 *)&weights[c + 1][my_k + f / 4 * GROUP_K];
                    *(float4 *)&input[read][f] =
                        *(float4 *)&inputs[c + 1][my_tile + f / 4 * GROUP_J];
                }
            }
            if (c >= 0) {
#pragma unroll
                for (int f = 0; f < PER_THREAD; f++)
#pragma unroll
                    for (int g = 0; g < PER_THREAD; g++)
                        accumulator[f][g] += weight[use][f] * input[use][g];
            }
        }
    }
    m += (blockIdx.z * filters + k0 + my_k) * tiles + j0 + my_tile;
#pragma unroll
    for (int f = 0; f < PER_THREAD; f++)
#pragma unroll
        for (int g = 0; g < PER_THREAD; g += 4)
            *(float4 *)&m[(f / 4 * GROUP_K + f % 4) * tiles + g / 4 * GROUP_J] =
                make_float4(accumulator[f][g], accumulator[f][g + 1], accumulator[f][g + 2],
                            accumulator[f][g + 3]);
}

/* The block tiles of the matrix product. */
struct BlockTile {
    int filters, tiles, threads, resident;
    float speed; /* relative to the fastest, with all SMs busy; measured on an H200 */
    void (*kernel)(int, const float *, const float *, float *);
};
#define TILE(k, j, mine, resident, speed)                                                          \
    {                                                                                              \
        k, j, (k) * (j) / (mine) / (mine), resident, speed, gemm_kernel<k, j, mine, resident>      \
    }
static const BlockTile block_tiles[] = {
    TILE(128, 64, 8, 4, 1.00f),
    TILE(64, 64, 8, 6, 0.97f),
    TILE(32, 32, 4, 8, 0.80f),
};
enum { BLOCK_TILES = sizeof block_tiles / sizeof *block_tiles };

/* Returns false if the staged version is not written. */
template <int M>
static bool launch_staged(const ConvProblem *p, const BlockTile *block_tile, const float *x,
                          const float *w, float *y, cudaStream_t stream)
{
    // TODO(11): Allocate u, v and m, launch the four kernels, and return true.
    // Round the numbers of filters and tiles up to whole block tiles, that of channels to DEPTH.
    (void)p, (void)block_tile, (void)x, (void)w, (void)y, (void)stream;
    return false;
    // END TODO(11)
}

/* ---- part 4: the staged version with larger tiles, F(4x4,3x3) ------------------------------ */

// TODO(12): Write F(4,3) and use it.
// STAGED_M is the M of the staged version.
enum { STAGED_M = 2 };
// END TODO(12)

/* ---- part 5: the choice ---------------------------------------------------------------------- */

/* Time of the busiest of `sms` SMs, in multiplications, as in lab 10.  An SM holds `resident`
 * blocks at a time.  Each block starts up for as long as START channels take.  If the SM's last
 * blocks have fewer than BUSY threads, they take as long as BUSY threads would. */
static float gemm_cost(int blocks, int threads, int resident, float products, int channels, int sms)
{
    const int BUSY = 256, START = 8;
    int busiest = ceiling(blocks, sms), last = (busiest - 1) % resident + 1;
    if (last * threads < BUSY) busiest += BUSY / threads - last;
    return products * (channels + START) * busiest;
}

static float fused_cost(const ConvProblem *p, int sms)
{
    const float SPEED = 0.62f; /* relative to the fastest block tile */
    const dim3 grid = fused_grid(p);
    const int blocks = grid.x * grid.y;
    const int channels = ceiling(p->C, fused::CHANNELS) * fused::CHANNELS;
    const float products = (float)fused::POINTS * fused::TILES * fused::FILTERS / SPEED;
    return gemm_cost(blocks, fused::THREADS, fused::RESIDENT, products, channels, sms);
}

/* In addition to the matrix product, the three transform kernels take as long as LAUNCHES
 * multiplications, plus MOVE for each element of u, v and m.  (Fitted to the times of both versions
 * on 18 layers of VGG-19 on an H200.) */
static float staged_cost(const ConvProblem *p, const BlockTile *block_tile, int sms)
{
    const float LAUNCHES = 1.8e6f, MOVE = 35.0f;
    constexpr int POINTS = OutputTile<STAGED_M>::POINTS;
    const int channels = ceiling(p->C, DEPTH) * DEPTH, down = ceiling(p->K, block_tile->filters);
    const int across = ceiling(OutputTile<STAGED_M>::count(*p), block_tile->tiles);
    const float products = block_tile->filters * block_tile->tiles / block_tile->speed;
    const float tiles = (float)across * block_tile->tiles,
                filters = (float)down * block_tile->filters;
    const float moved = POINTS * (tiles * (channels + filters) + channels * filters);
    return gemm_cost(POINTS * down * across, block_tile->threads, block_tile->resident, products,
                     channels, sms) +
           LAUNCHES + MOVE * moved / sms;
}

/* The block tile of the staged version; nullptr: the fused kernel. */
static const BlockTile *choose(const ConvProblem *p, int sms)
{
    /* A simple rule, until TODO(13) replaces it: many channels pay for four launches. */
    const BlockTile *block_tile = p->C >= 100 ? &block_tiles[1] : nullptr;
    // TODO(13): Choose the version and block tile with the smallest cost.
    (void)sms, (void)fused_cost, (void)staged_cost;
    // END TODO(13)
    return block_tile;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    if (p->S != TAPS || p->stride_h != 1 || p->stride_w != 1) {
        fprintf(stderr,
                "lab 14 computes filters of 3 columns at stride 1, not %d at stride %d,%d\n", p->S,
                p->stride_h, p->stride_w);
        return;
    }
    int sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    if (p->R == TAPS) {
        const BlockTile *block_tile = choose(p, sms);
        if (block_tile && launch_staged<STAGED_M>(p, block_tile, x, w, y, stream)) return;
        if (launch_fused(p, x, w, y, stream)) return;
    }
    launch_rows(p, x, w, y, stream);
}
