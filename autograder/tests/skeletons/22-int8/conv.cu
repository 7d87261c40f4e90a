/* Lab 22: quantisation to 8-bit integers, and convolution of these integers with dp4a and with
 * mma.sync.  <convlab/int8.h> defines words, scales and results.  Edit only the TODO regions. */
#include <convlab/int8.h>

enum { WARP = 32, THREADS = 128, ALL_LANES = 0xffffffff };

__host__ __device__ constexpr int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The word whose byte i is value[i], -128 .. 127. */
__device__ int pack_word(const int value[4])
{
    int word = 0;
    // TODO(1): Put the lowest eight bits of value[i] into the bits 8*i .. 8*i + 7.
    // END TODO(1)
    return word;
}

/* ---- quantisation ---------------------------------------------------------------------------- */

/* Block k raises maximum[k], or maximum[0] for per=tensor, to the largest |w| of filter k.  Floats
 * that are not negative have the order of their bits, as ints. */
__global__ void maximum_kernel(const QuantizeProblem p, const float *__restrict__ w, int *maximum)
{
    const int k = blockIdx.x, count = p.R * p.S * p.C;
    float largest = 0.0f;
    int group = 0;
    // TODO(2): Find the largest |w| of this thread's values, which are THREADS apart, and the index
    // of the maximum to raise.
    // END TODO(2)
    atomicMax(&maximum[group], __float_as_int(largest));
}

/* Block k quantises filter k. */
__global__ void quantize_kernel(const QuantizeProblem p, const float *__restrict__ w,
                                const int *__restrict__ maximum, int *__restrict__ y)
{
    const int k = blockIdx.x, taps = p.R * p.S, words = INT8_WORDS(p.C);
    const float largest = __int_as_float(maximum[p.per == INT8_PER_CHANNEL ? k : 0]);
    float scale = 1.0f;
    // TODO(3): Set the scale of one step, so that `largest` becomes 127.
    // END TODO(3)
    float *scales = (float *)&y[(size_t)p.K * taps * words];
    if (threadIdx.x == 0) scales[k] = scale;
    for (int i = threadIdx.x; i < taps * words; i += THREADS) {
        const float *source = &w[(size_t)(k * taps + i / words) * p.C];
        const int c = i % words * 4; /* first channel of the word */
        int value[4] = {};
        // TODO(4): Quantise channels c .. c+3, if they exist: divide, round to nearest even.
        // END TODO(4)
        y[(size_t)k * taps * words + i] = pack_word(value);
    }
}

extern "C" void quantize(const QuantizeProblem *p, const float *w, int *y, cudaStream_t stream)
{
    int *maximum = nullptr;
    cudaMalloc(&maximum, sizeof(int) * p->K);
    cudaMemsetAsync(maximum, 0, sizeof(int) * p->K, stream);
    maximum_kernel<<<p->K, THREADS, 0, stream>>>(*p, w, maximum);
    quantize_kernel<<<p->K, THREADS, 0, stream>>>(*p, w, maximum, y);
    cudaFree(maximum);
}

/* ---- dp4a, for any number of channels -------------------------------------------------------- */

/* The bias and the scale of four adjacent filters; 0 for filters that do not exist. */
struct Channels {
    int bias[4];
    float scale[4];
};

__device__ Channels channels_at(const Int8Problem &p, const int *__restrict__ bias,
                                const float *__restrict__ scale, int k)
{
    Channels channels = {};
    for (int i = 0; i < 4; i++)
        if (k + i < p.K) {
            channels.bias[i] = bias[k + i];
            channels.scale[i] = scale[k + i];
        }
    return channels;
}

/* Stores the sums of filters k .. k+3, k a multiple of 4, of one pixel; those that exist. */
__device__ void store_sums(const Int8Problem &p, const Channels &channels, void *y, int pixel,
                           int k, const int sum[4]);

/* A thread computes filters 4*by .. 4*by+3 of one pixel. */
__global__ void dp4a_kernel(const Int8Problem p, const int *__restrict__ x,
                            const int *__restrict__ w, const int *__restrict__ bias,
                            const float *__restrict__ scale, void *__restrict__ y)
{
    const int pixel = blockIdx.x * THREADS + threadIdx.x, k = 4 * blockIdx.y;
    const int n = pixel / (p.P * p.Q), op = pixel / p.Q % p.P, oq = pixel % p.Q;
    const int words = INT8_WORDS(p.C), filter_words = p.R * p.S * words;
    if (n >= p.N) return;
    int sum[4] = {};
    for (int r = 0; r < p.R; r++)
        for (int s = 0; s < p.S; s++) {
            const int h = op * p.stride_h + r - p.pad_top, v = oq * p.stride_w + s - p.pad_left;
            if (h < 0 || h >= p.H || v < 0 || v >= p.W) continue;
            const int *const x_word = &x[(size_t)((n * p.H + h) * p.W + v) * words];
            const int *const w_word = &w[(size_t)k * filter_words + (r * p.S + s) * words];
            // TODO(5): Multiply this tap's channels, and add to the sums of the filters that
            // exist.  Filter k+i starts filter_words*i after filter k.
            // END TODO(5)
        }
    store_sums(p, channels_at(p, bias, scale, k), y, pixel, k, sum);
}

/* ---- results --------------------------------------------------------------------------------- */

/* Filter k's sum as a real number. */
__device__ float scale_sum(const Int8Problem &p, int sum, int bias, float scale)
{
    const float scaled = (float)(sum + bias) * scale;
    return p.relu ? fmaxf(scaled, 0.0f) : scaled;
}

/* The integer that is stored for a real number. */
__device__ int requantize(float scaled)
{
    int value = 0;
    // TODO(6): Round to the nearest integer, ties to even, and clamp to -128 .. 127.
    // END TODO(6)
    return value;
}

/* The sums of four adjacent filters as a word; 0 for filters that do not exist. */
__device__ int requantize_sums(const Int8Problem &p, const Channels &channels, const int sum[4])
{
    int value[4];
    for (int i = 0; i < 4; i++)
        value[i] = requantize(scale_sum(p, sum[i], channels.bias[i], channels.scale[i]));
    return pack_word(value);
}

__device__ void store_sums(const Int8Problem &p, const Channels &channels, void *y, int pixel,
                           int k, const int sum[4])
{
    if (p.output == INT8_TO_INT8) {
        if (k < p.K)
            ((int *)y)[(size_t)pixel * INT8_WORDS(p.K) + k / 4] = requantize_sums(p, channels, sum);
    } else {
        for (int i = 0; i < 4; i++)
            if (k + i < p.K)
                ((float *)y)[(size_t)pixel * p.K + k + i] =
                    scale_sum(p, sum[i], channels.bias[i], channels.scale[i]);
    }
}

/* ---- mma.sync, for multiples of 16 channels -------------------------------------------------- */

/* A chunk is 16 channels of one pixel, 16 bytes.  The GEMM has a row per output pixel and a column
 * per filter; its depth is the filter's chunks in the order r, s, c. */
enum { CHUNK = 16, CHUNKS = 8, STAGES = 3, WARP_FILTERS = 64, MAX_SLICES = 16 };

/* A tile is [pixel or filter][CHUNKS chunks], 128 bytes per row, with lab 11's swizzle. */
typedef int4 TileRow[CHUNKS];

__device__ int4 *chunk_at(TileRow *tile, int row, int chunk)
{
    return &tile[row][chunk ^ row % CHUNKS];
}

/* Starts an asynchronous copy of a chunk to shared memory; writes zeros if !is_valid. */
__device__ void copy_chunk(int4 *target, const int4 *source, bool is_valid)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(target);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(address), "l"(source), "r"(is_valid ? 16 : 0));
}

/* ldmatrix: loads four matrices of 8 rows with one chunk each.  Lanes 8*i .. 8*i+7 pass the
 * addresses of the rows of matrix i.  Lane l receives word l%4 of row l/4 of each matrix. */
__device__ void load_matrices(int word[4], const int4 *row)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address)
                 : "memory");
}

/* acc += a * b for 16 pixels, 8 filters and two chunks.  With group = lane/4 and i = lane%4 a lane
 * holds
 *
 *     a[0..3]    word i of chunk 0, 0, 1, 1 of pixels group, group+8, group, group+8
 *     b[0..1]    word i of chunk 0, 1 of filter group
 *     acc[0..3]  pixels group, group, group+8, group+8, filters 2*i, 2*i+1, 2*i, 2*i+1
 *
 * (PTX ISA, "Matrix Fragments for mma.m16n8k32".) */
__device__ void mma(int acc[4], const int a[4], const int b[2])
{
    // TODO(7): Issue mma.sync m16n8k32 for signed bytes, with int accumulators.
    // END TODO(7)
}

/* The filter in a row of a tile.  Row 8*g + c of a warp's 64 rows is column c of its fragment g.
 * Lane i of four has columns 2*i and 2*i+1 of each fragment.  This order makes its 16 columns of
 * all fragments adjacent filters, 16*i .. 16*i+15. */
__host__ __device__ constexpr int filter_of(int row)
{
    return row / 64 * 64 + row % 8 / 2 * 16 + row % 64 / 8 * 2 + row % 2;
}

/* Position in the depth of the GEMM. */
struct Depth {
    int r, s, c; /* c in chunks */
};

__device__ void depth_advance(const Int8Problem &p, Depth &depth, int chunks)
{
    for (depth.c += chunks; depth.c >= p.C / CHUNK; depth.c -= p.C / CHUNK)
        if (++depth.s == p.S) {
            depth.s = 0;
            depth.r++;
        }
}

/* An output pixel: its input pixel for tap (0, 0), which may be in the padding. */
struct Pixel {
    const int4 *input; /* first chunk of that pixel */
    int h, w;
};

__device__ Pixel pixel_of(const Int8Problem &p, const int4 *x, int pixel)
{
    const int n = pixel / (p.P * p.Q), op = pixel / p.Q % p.P, oq = pixel % p.Q;
    const int h = op * p.stride_h - p.pad_top, w = oq * p.stride_w - p.pad_left;
    if (n >= p.N) return {x, p.H, p.W}; /* past the last pixel: outside of the image */
    return {x + ((n * p.H + h) * p.W + w) * (p.C / CHUNK), h, w};
}

/* Starts the copy of the pixel's chunk at this depth, zeros outside of the image.  `offset` is the
 * distance of that chunk from the first chunk of tap (0, 0). */
__device__ void copy_pixel(const Int8Problem &p, int4 *target, const Pixel &pixel,
                           const Depth &depth, int offset)
{
    const bool is_inside =
        depth.r < p.R && (unsigned)(pixel.h + depth.r) < p.H && (unsigned)(pixel.w + depth.s) < p.W;
    copy_chunk(target, pixel.input + offset, is_inside);
}

/* Stores the sums of a slice, of filters k .. k+3 of a pixel; those that exist. */
__device__ void store_partials(const Int8Problem &p, int *partials, int pixel, int k,
                               const int sum[4])
{
    int *target = &partials[((size_t)blockIdx.z * p.N * p.P * p.Q + pixel) * p.K + k];
    if (p.K % 4 == 0)
        *(int4 *)target = make_int4(sum[0], sum[1], sum[2], sum[3]);
    else
        for (int i = 0; i < 4; i++)
            if (k + i < p.K) target[i] = sum[i];
}

/* A block stores the sums of its slice, 16 adjacent filters at a time, or four at a time. */
enum Output { SUMS, VECTORS, WORDS };

struct Target {
    const int *bias;
    const float *scale;
    void *y;
    int *partials;
};

/* Stores the accumulators of a warp, whose first pixel is warp_pixel and whose first filter is
 * warp_filter.  A lane has four groups of four adjacent filters: 16 adjacent filters. */
template <Output OUTPUT, int FRAGMENTS>
__device__ void acc_store(const Int8Problem &p, const Target &target,
                          const int (&acc)[FRAGMENTS][8][4], int warp_pixel, int warp_filter);

/* A block computes PIXELS pixels from bx*PIXELS and FILTERS filters from by*FILTERS.  Each warp has
 * WARP_PIXELS x 64 accumulators, as FRAGMENTS x 8 fragments of 16 x 8.  Copies run STAGES-1 tiles
 * ahead.
 *
 * Block bz multiplies slice bz of the tiles of the depth, slice_tiles of them (split-K).  If there
 * are several slices, the blocks store results to partials[slice][pixel][k]. */
template <int PIXELS, int FILTERS, int WARP_PIXELS> struct MmaTile {
    static const int WARPS_J = PIXELS / WARP_PIXELS, FRAGMENTS = WARP_PIXELS / 16;
    static const int THREADS = WARPS_J * (FILTERS / WARP_FILTERS) * WARP;
    static const int SHARED = STAGES * (PIXELS + FILTERS) * (int)sizeof(TileRow);
};

template <int PIXELS, int FILTERS, int WARP_PIXELS>
__global__ void __launch_bounds__(MmaTile<PIXELS, FILTERS, WARP_PIXELS>::THREADS, 2)
    mma_kernel(const Int8Problem p, const int4 *__restrict__ x, const int4 *__restrict__ w,
               const int *__restrict__ bias, const float *__restrict__ scale, void *__restrict__ y,
               int slice_tiles, int *__restrict__ partials)
{
    typedef MmaTile<PIXELS, FILTERS, WARP_PIXELS> Tile;
    constexpr int ROW_STEP = Tile::THREADS / CHUNKS; /* rows between a thread's chunks */
    extern __shared__ __align__(128) unsigned char shared[];
    TileRow(*inputs)[PIXELS] = (TileRow(*)[PIXELS])shared;            /* [STAGES] */
    TileRow(*weights)[FILTERS] = (TileRow(*)[FILTERS])inputs[STAGES]; /* [STAGES] */

    const int t = threadIdx.x, lane = t % WARP, tile_row = t / CHUNKS, chunk = t % CHUNKS;
    const int warp_pixel = t / WARP % Tile::WARPS_J * WARP_PIXELS;
    const int warp_filter = t / WARP / Tile::WARPS_J * WARP_FILTERS;
    const int pixel0 = blockIdx.x * PIXELS, k0 = blockIdx.y * FILTERS;
    const int filter_chunks = p.R * p.S * (p.C / CHUNK), first_tile = blockIdx.z * slice_tiles;
    const int tiles = min(slice_tiles, ceil_div(filter_chunks, CHUNKS) - first_tile);

    const int4 *w_source =
        w + (size_t)(k0 + filter_of(tile_row)) * filter_chunks + first_tile * CHUNKS + chunk;
    Pixel pixel[PIXELS / ROW_STEP];
#pragma unroll
    for (int i = 0; i < PIXELS / ROW_STEP; i++)
        pixel[i] = pixel_of(p, x, pixel0 + tile_row + i * ROW_STEP);
    Depth depth = {0, 0, 0};
    depth_advance(p, depth, first_tile * CHUNKS + chunk);

    int acc[Tile::FRAGMENTS][8][4] = {};
    for (int tile = 1 - STAGES; tile < tiles; tile++) {
        asm volatile("cp.async.wait_group %0;" : : "n"(STAGES - 2));
        __syncthreads(); /* all copies of this tile are complete, the previous tile is free */
        if (tile >= 0) {
            const int stage = tile % STAGES;
#pragma unroll
            for (int i = 0; i < CHUNKS; i += 2) {
                int a[Tile::FRAGMENTS][4], b[8][2];
                // TODO(8): Load chunks i and i+1 of the warp's pixels (inputs, from warp_pixel) and
                // of its 64 filters (weights, from warp_filter); b[g] and b[g + 1] with one
                // load_matrices.
                // END TODO(8)
#pragma unroll
                for (int f = 0; f < Tile::FRAGMENTS; f++)
#pragma unroll
                    for (int g = 0; g < 8; g++)
                        mma(acc[f][g], a[f], b[g]);
            }
        }
        if (tile + STAGES - 1 < tiles) {
            const int stage = (tile + STAGES - 1) % STAGES;
#pragma unroll
            for (int i = 0; i < FILTERS; i += ROW_STEP)
                copy_chunk(chunk_at(&weights[stage][i], tile_row, chunk),
                           w_source + (size_t)filter_of(i) * filter_chunks,
                           depth.r < p.R && k0 + filter_of(tile_row + i) < p.K);
            w_source += CHUNKS;
#pragma unroll
            for (int i = 0; i < PIXELS / ROW_STEP; i++)
                copy_pixel(p, chunk_at(&inputs[stage][i * ROW_STEP], tile_row, chunk), pixel[i],
                           depth, (depth.r * p.W + depth.s) * (p.C / CHUNK) + depth.c);
            depth_advance(p, depth, CHUNKS);
        }
        asm volatile("cp.async.commit_group;");
    }

    const bool is_vector = p.output == INT8_TO_INT8 && p.K % 16 == 0;
    const Target target = {bias, scale, y, partials};
    if (partials)
        acc_store<SUMS>(p, target, acc, pixel0 + warp_pixel, k0 + warp_filter);
    else if (is_vector)
        acc_store<VECTORS>(p, target, acc, pixel0 + warp_pixel, k0 + warp_filter);
    else
        acc_store<WORDS>(p, target, acc, pixel0 + warp_pixel, k0 + warp_filter);
}

template <Output OUTPUT, int FRAGMENTS>
__device__ void acc_store(const Int8Problem &p, const Target &target,
                          const int (&acc)[FRAGMENTS][8][4], int warp_pixel, int warp_filter)
{
    const int lane = threadIdx.x % WARP;
    int k[4] = {};
    Channels channels[4];
#pragma unroll
    for (int g = 0; g < 8; g += 2) {
        // TODO(9): Set k[g / 2] to the first of the four adjacent filters whose sums this lane has
        // in acc[f][g] and acc[f][g + 1].
        // END TODO(9)
        if (OUTPUT != SUMS) channels[g / 2] = channels_at(p, target.bias, target.scale, k[g / 2]);
    }
#pragma unroll
    for (int f = 0; f < FRAGMENTS; f++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int j = 0, word[4];
#pragma unroll
            for (int g = 0; g < 8; g += 2) {
                int sum[4] = {};
                // TODO(10): Find the pixel of row lane/4 + 8*half of fragment f, and copy its sums
                // of these filters.
                // END TODO(10)
                const bool exists = j < p.N * p.P * p.Q && k[g / 2] < p.K;
                if (OUTPUT == SUMS && exists) store_partials(p, target.partials, j, k[g / 2], sum);
                if (OUTPUT == VECTORS) word[g / 2] = requantize_sums(p, channels[g / 2], sum);
                if (OUTPUT == WORDS && exists)
                    store_sums(p, channels[g / 2], target.y, j, k[g / 2], sum);
            }
            if (OUTPUT == VECTORS && j < p.N * p.P * p.Q && k[0] < p.K)
                *(int4 *)&((int *)target.y)[((size_t)j * p.K + k[0]) / 4] =
                    make_int4(word[0], word[1], word[2], word[3]);
        }
}

/* Adds the slices' sums of four filters of one pixel, and completes them. */
__global__ void requantize_kernel(const Int8Problem p, int slices, const int *__restrict__ partials,
                                  const int *__restrict__ bias, const float *__restrict__ scale,
                                  void *__restrict__ y)
{
    const int words = INT8_WORDS(p.K), i = blockIdx.x * THREADS + threadIdx.x;
    const int pixels = p.N * p.P * p.Q, pixel = i / words, k = i % words * 4;
    int sum[4] = {};
    if (pixel >= pixels) return;
    for (int slice = 0; slice < slices; slice++)
        for (int j = 0; j < 4; j++)
            if (k + j < p.K) sum[j] += partials[((size_t)slice * pixels + pixel) * p.K + k + j];
    store_sums(p, channels_at(p, bias, scale, k), y, pixel, k, sum);
}

/* ---- choice of the kernel -------------------------------------------------------------------- */

/* Launches the kernel with `slices` slices, or fewer, because each has whole tiles. */
template <int PIXELS, int FILTERS, int WARP_PIXELS>
static void mma_launch(const Int8Problem *p, const int *x, const int *w, const int *bias,
                       const float *scale, void *y, int slices, cudaStream_t stream)
{
    typedef MmaTile<PIXELS, FILTERS, WARP_PIXELS> Tile;
    void (*const kernel)(Int8Problem, const int4 *, const int4 *, const int *, const float *,
                         void *, int, int *) = mma_kernel<PIXELS, FILTERS, WARP_PIXELS>;
    const int pixels = p->N * p->P * p->Q, tiles = ceil_div(p->R * p->S * (p->C / CHUNK), CHUNKS);
    const int slice_tiles = ceil_div(tiles, slices);
    const dim3 grid(ceil_div(pixels, PIXELS), ceil_div(p->K, FILTERS),
                    ceil_div(tiles, slice_tiles));
    int *partials = nullptr;
    if (grid.z > 1) cudaMalloc(&partials, sizeof(int) * grid.z * pixels * p->K);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::SHARED);
    kernel<<<grid, Tile::THREADS, Tile::SHARED, stream>>>(*p, (const int4 *)x, (const int4 *)w,
                                                          bias, scale, y, slice_tiles, partials);
    if (!partials) return;
    requantize_kernel<<<ceil_div(pixels * INT8_WORDS(p->K), THREADS), THREADS, 0, stream>>>(
        *p, grid.z, partials, bias, scale, y);
    cudaFree(partials); /* waits until the kernels finish */
}

/* The block shapes.  An SM of an H200 holds `resident` blocks at the same time.  If it holds n of
 * them, a tile of the depth takes them max(latency, n*work) microseconds, and the rest `start`. */
struct Shape {
    int pixels, filters, resident;
    float latency, work, start;
    void (*launch)(const Int8Problem *, const int *, const int *, const int *, const float *,
                   void *, int, cudaStream_t);
};
static const Shape shapes[] = {
    {64, 64, 4, 0.52f, 0.2f, 2.9f, mma_launch<64, 64, 32>},
    {128, 128, 2, 0.81f, 0.63f, 3.8f, mma_launch<128, 128, 64>},
};

/* Estimated time of the SM with the most blocks, in microseconds. */
static float estimate_time(const Int8Problem *p, const Shape *shape, int slices, int sms)
{
    const float SECOND_LAUNCH = 4.0f, MEGABYTE = 0.7f; /* for adding the slices' sums */
    const int pixels = p->N * p->P * p->Q, depth = ceil_div(p->R * p->S * (p->C / CHUNK), CHUNKS);
    const int tiles = ceil_div(depth, slices);
    int blocks =
        ceil_div(ceil_div(pixels, shape->pixels) * ceil_div(p->K, shape->filters) * slices, sms);
    float time =
        slices == 1 ? 0 : SECOND_LAUNCH + MEGABYTE * 1e-6f * sizeof(int) * slices * pixels * p->K;
    for (; blocks > 0; blocks -= shape->resident) {
        const int n = blocks < shape->resident ? blocks : shape->resident;
        const float work = n * shape->work;
        time += tiles * (work > shape->latency ? work : shape->latency) + shape->start;
    }
    return time;
}

extern "C" void conv_int8(const Int8Problem *p, const int *x, const int *w, const int *bias,
                          const float *scale, void *y, cudaStream_t stream)
{
    const int pixels = p->N * p->P * p->Q;
    const dim3 grid(ceil_div(pixels, THREADS), INT8_WORDS(p->K));
    bool use_mma = false;
    int sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    // TODO(11): Use mma.sync if a pixel consists of whole chunks.
    // END TODO(11)
    if (!use_mma) dp4a_kernel<<<grid, THREADS, 0, stream>>>(*p, x, w, bias, scale, y);
    if (!use_mma) return;
    const Shape *best = &shapes[0];
    int slices = 1;
    for (const Shape &shape : shapes)
        for (int n = 1; n <= MAX_SLICES; n++)
            if (estimate_time(p, &shape, n, sms) < estimate_time(p, best, slices, sms))
                best = &shape, slices = n;
    best->launch(p, x, w, bias, scale, y, slices, stream);
}
