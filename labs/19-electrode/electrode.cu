/* Lab 19: the forward pass of a network that classifies recordings of a nerve cuff, within 7 ms.
 * Edit only the TODO regions. */
#include <convlab/electrode.h>
#include <convlab/layers.h>

enum { WARP = 32 };

__host__ __device__ static int ceil_div(int all, int divisor)
{
    return (int)((all + divisor - 1) / divisor);
}

/* ---- convolution, bias, ReLU and pooling in one kernel --------------------------------------- */

/* A thread owns a patch of PATCH_H x PATCH_W outputs in each of FILTERS filters.  It uses every row
 * of inputs that it loads for both rows of outputs, and 2 x 2 pooling needs no other thread's
 * outputs. */
enum { PATCH_H = 2, PATCH_W = 4, FILTERS = 4, BLOCK = 640 };

/* The tiling of a launch.  In a block, threadIdx.x is the patch in the tile, y the group of
 * filters, z the slice of the maps. */
typedef struct Tile {
    int high, wide;     /* patches per tile */
    int down, across;   /* tiles per image */
    int groups, slices; /* groups of filters and slices per block; slices is a power of two */
    int maps;           /* maps of x in shared memory at a time */
    int rows, pitch;    /* map in shared memory: rows, and floats per row */
    int taps;           /* distance of filters in shared memory, in floats */
    int floats;         /* shared memory for `maps` maps and their taps, in floats */
} Tile;

/* Returns this thread's warp in the block, counted over all three dimensions; sets the number of
 * full warps and this thread's lane. */
__device__ static int warp_of_block(int *warps, int *lane)
{
    int threads = blockDim.x * blockDim.y * blockDim.z;
    int me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    *warps = threads / WARP; /* a last warp that is not full does not copy */
    *lane = me % WARP;
    return me / WARP;
}

/* An index i = outer * size + inner, which can be advanced without a division. */
typedef struct SplitIndex {
    int outer, inner;
} SplitIndex;

__device__ static SplitIndex index_split(int i, int size)
{
    return {i / size, i % size};
}

__device__ static SplitIndex index_advance(SplitIndex at, SplitIndex step, int size)
{
    SplitIndex next = {at.outer + step.outer, at.inner + step.inner};
    if (next.inner >= size) next = {next.outer + 1, next.inner - size};
    return next;
}

/* Starts an asynchronous copy of BYTES bytes to shared memory, or of zeros if not `there`. */
template <int BYTES> __device__ static void copy_or_zero(float *to, const float *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(BYTES),
                   "r"(there ? BYTES : 0));
}

__device__ static void copies_wait(void)
{
    asm volatile("cp.async.wait_all;" : : : "memory");
}

/* Is row or column i inside a map of `size` rows or columns? */
__device__ static bool exists(int i, int size)
{
    // TODO(1): Return whether i is inside; outside the map, on both sides, there are zeros.
    (void)i, (void)size;
    return false;
    // END TODO(1)
}

/* Starts copying the tile's inputs of `maps` maps, with zeros outside the maps; one warp per row.
 */
__device__ static void stage_inputs(const ConvProblem &p, const Tile &t,
                                    const float *__restrict__ x, int maps, int h0, int w0,
                                    float *__restrict__ staged)
{
    int warps, lane, warp = warp_of_block(&warps, &lane), rows = maps * t.rows;
    if (warp == warps) return;
    SplitIndex step = index_split(warps, t.rows);
    for (int column = lane; column < t.pitch; column += WARP) {
        bool there = exists(w0 + column, p.W);
        SplitIndex at = index_split(warp, t.rows);
#pragma unroll 4
        for (int row = warp; row < rows; row += warps, at = index_advance(at, step, t.rows)) {
            int c = at.outer, h = h0 + at.inner;
            bool inside = there & exists(h, p.H);
            copy_or_zero<4>(&staged[row * t.pitch + column],
                            &x[inside ? (c * p.H + h) * p.W + w0 + column : 0], inside);
        }
    }
}

/* Starts copying `taps` taps of each of the block's filters, one warp per filter.  The taps of all
 * maps are neighbours in memory; FLOATS is 4 if they start on a 16-byte boundary. */
template <int FLOATS>
__device__ static void stage_filters(const ConvProblem &p, const Tile &t,
                                     const float *__restrict__ w, int taps, int k0,
                                     float *__restrict__ staged)
{
    int warps, lane, warp = warp_of_block(&warps, &lane), all = p.C * p.R * p.S;
    if (warp == warps) return;
    for (int k = warp; k < t.groups * FILTERS; k += warps)
#pragma unroll 4
        for (int i = lane * FLOATS; i < taps; i += WARP * FLOATS) {
            bool inside = k0 + k < p.K;
            copy_or_zero<FLOATS * 4>(&staged[k * t.taps + i], &w[inside ? k * all + i : 0], inside);
        }
}

/* COUNT neighbouring floats, loaded by one instruction. */
template <int COUNT> struct __align__(sizeof(float) * COUNT) Floats
{
    float at[COUNT];
};

/* Accumulates one map's multiply-adds.  `in` is the patch's first input, `filter` the first tap,
 * `next` the distance to the next filter's taps in floats. */
template <int R>
__device__ static void accumulate_map(const float *in, int pitch, const float *filter, int next,
                                      float accumulator[FILTERS][PATCH_H][PATCH_W])
{
    enum { INPUTS = (PATCH_W + R - 1 + 3) / 4 * 4, TAPS = R < 4 ? R : 4 };
    float row[PATCH_H][INPUTS];
    // TODO(2): Load each row of inputs once for both rows of outputs, and each tap once for all
    // eight outputs.
    (void)in, (void)pitch, (void)filter, (void)next, (void)row, (void)accumulator;
    // END TODO(2)
}

/* Adds up the accumulators of all slices of the maps into slice 0, always in the same order. */
__device__ static void slices_reduce(float *shared, float accumulator[FILTERS][PATCH_H][PATCH_W])
{
    int patches = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
    float *own = &accumulator[0][0][0];
    for (int half = blockDim.z / 2; half; half /= 2) {
        __syncthreads();
        // TODO(3): Slices half .. 2*half-1 store their accumulators to `shared`; then slices
        // 0 .. half-1 add them to their own.
        (void)shared, (void)patches, (void)me, (void)own;
        // END TODO(3)
    }
}

/* Finishes a patch's accumulators z in filter k: bias and ReLU if there is a bias, the maximum of 2
 * x 2 if p.pool is 2. */
__device__ static void store_patch(const ConvProblem &p, const float z[PATCH_H][PATCH_W],
                                   const float *b, int k, int row, int column, float *y)
{
    float bias = b ? b[k] : 0.0f, lower_bound = b ? 0.0f : -INFINITY;
    int P = p.pool ? p.P / p.pool : p.P, Q = p.pool ? p.Q / p.pool : p.Q;
    y += (size_t)k * P * Q;
    // TODO(4): Store the patch's outputs that exist, pooled or not.
    (void)z, (void)row, (void)column, (void)bias, (void)lower_bound, (void)P, (void)Q;
    // END TODO(4)
}

/* Starts copying the inputs and taps that a block needs of the next maps, from map c0. */
template <int R>
__device__ static void stage(const ConvProblem &p, const Tile &t, const float *__restrict__ x,
                             const float *__restrict__ w, int c0, int k0, int top, int left,
                             float *__restrict__ staged)
{
    int maps = min(t.maps, p.C - c0);
    float *filters = staged + t.maps * t.rows * t.pitch;
    x += c0 * p.H * p.W;
    w += (k0 * p.C + c0) * R * R;
    stage_inputs(p, t, x, maps, top - p.pad_top, left - p.pad_left, staged);
    if ((size_t)w % 16 == 0)
        stage_filters<4>(p, t, w, maps * R * R, k0, filters);
    else
        stage_filters<1>(p, t, w, maps * R * R, k0, filters);
}

/* Convolution y = x * w with stride 1, then + b and ReLU if b is given, pooled if p.pool is 2. */
template <int R>
__global__ void __launch_bounds__(BLOCK)
    conv_kernel(ConvProblem p, Tile t, const float *__restrict__ x, const float *__restrict__ w,
                const float *__restrict__ b, float *__restrict__ y)
{
    extern __shared__ float4 memory[];
    float *shared = (float *)memory, *current = shared, *next = shared + t.floats;
    int k0 = blockIdx.y * t.groups * FILTERS;
    int tile = blockIdx.x % (t.down * t.across), n = blockIdx.x / (t.down * t.across);
    int top = tile / t.across * t.high * PATCH_H, left = tile % t.across * t.wide * PATCH_W;
    int row = threadIdx.x / t.wide * PATCH_H, column = threadIdx.x % t.wide * PATCH_W;
    float accumulator[FILTERS][PATCH_H][PATCH_W] = {};
    x += (size_t)n * p.C * p.H * p.W;
    stage<R>(p, t, x, w, 0, k0, top, left, current);
    for (int c0 = 0; c0 < p.C; c0 += t.maps) {
        copies_wait();
        __syncthreads(); /* these maps have arrived; the previous ones are no longer needed */
        if (c0 + t.maps < p.C) stage<R>(p, t, x, w, c0 + t.maps, k0, top, left, next);
        const float *filters = current + t.maps * t.rows * t.pitch;
        for (int c = threadIdx.z; c < min(t.maps, p.C - c0); c += t.slices)
            accumulate_map<R>(current + (c * t.rows + row) * t.pitch + column, t.pitch,
                              filters + threadIdx.y * FILTERS * t.taps + c * R * R, t.taps,
                              accumulator);
        float *other = current;
        current = next;
        next = other;
    }
    slices_reduce(shared, accumulator);
    if (threadIdx.z) return;
    int outputs = p.pool ? (p.P / p.pool) * (p.Q / p.pool) : p.P * p.Q;
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
        int k = k0 + threadIdx.y * FILTERS + f;
        if (k < p.K)
            store_patch(p, accumulator[f], b, k, top + row, left + column,
                        y + (size_t)n * p.K * outputs);
    }
}

/* ---- the choice of a convolution's tiling ---------------------------------------------------- */

enum { ENOUGH_THREADS = 30000, MAX_SLICES = 16, STAGED_FLOATS = 16384, MIN_WIDTH = 4 };

/* The number of slices of the maps: more until there are ENOUGH_THREADS threads for the whole GPU.
 */
static int slices_of(const ConvProblem &p)
{
    long long patches = (long long)p.N * ceil_div(p.P, PATCH_H) * ceil_div(p.Q, PATCH_W);
    int slices = 1;
    while (slices < MAX_SLICES && 2 * slices <= p.C &&
           patches * ceil_div(p.K, FILTERS) * slices < ENOUGH_THREADS)
        slices *= 2;
    return slices;
}

/* Tiles of about `rows` rows of patches, `across` tiles per row of the image. */
static Tile tile_of(const ConvProblem &p, int rows, int across, int groups, int slices)
{
    Tile t = {};
    int high = ceil_div(p.P, PATCH_H), wide = ceil_div(p.Q, PATCH_W);
    t.wide = ceil_div(wide, across);
    t.across = ceil_div(wide, t.wide);
    t.down = ceil_div(high, rows);
    t.high = ceil_div(high, t.down);
    t.rows = t.high * PATCH_H + p.R - 1;
    t.pitch = (t.wide - 1) * PATCH_W + (PATCH_W + p.R - 1 + 3) / 4 * 4;
    t.groups = groups;
    t.slices = slices;
    return t;
}

/* Cost of a map on the busiest SM; the unit is one tap of a patch, that is 32 multiply-adds.
 * Measured on an H200: each block costs START in addition.  A warp's copy, of a row of inputs or of
 * 128 taps, costs COPY if there are COPYING threads to hide its latency. */
static double map_cost(const ConvProblem &p, const Tile &t, int sms)
{
    enum { START = 10000, COPY = 10, COPYING = 512 };
    int patches = t.high * t.wide, filters = t.groups * FILTERS, taps = p.R * p.S;
    int rounds = ceil_div(p.N * t.down * t.across * ceil_div(p.K, filters), sms);
    int threads = patches * t.groups * t.slices, together = threads * min(rounds, BLOCK / threads);
    int copies = t.rows * ceil_div(t.pitch, WARP) + ceil_div(filters * taps, 4 * WARP);
    double hidden = fmax(1, (double)COPYING / together);
    return rounds * (START + patches * t.groups * taps + COPY * copies * hidden);
}

/* The tile with the smallest cost.  Large blocks share their copies, small blocks use more SMs.  In
 * tiles narrower than MIN_WIDTH few lanes would copy. */
static Tile best_tile(const ConvProblem &p)
{
    int high = ceil_div(p.P, PATCH_H), wide = ceil_div(p.Q, PATCH_W), slices = slices_of(p),
        sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    Tile best = {};
    for (int groups = 1; groups < 2 * ceil_div(p.K, FILTERS); groups *= 2)
        for (int across = 1; across == 1 || ceil_div(wide, across) >= MIN_WIDTH; across *= 2)
            for (int rows = 1; rows <= high; rows++) {
                Tile t = tile_of(p, rows, across, groups, slices);
                if (t.high * t.wide * groups * slices > BLOCK) break;
                if (!best.high || map_cost(p, t, sms) < map_cost(p, best, sms)) best = t;
            }
    return best;
}

/* The maximum shared memory of a block, in floats. */
static int shared_floats(void)
{
    int bytes = 0;
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    return bytes / (int)sizeof(float);
}

template <int R>
static void launch_conv(const ConvProblem &p, const float *x, const float *w, const float *b,
                        float *y, cudaStream_t stream)
{
    Tile t = best_tile(p);
    int patches = t.high * t.wide, filters = t.groups * FILTERS;
    while (t.slices * t.groups * patches < WARP) /* the copies need a whole warp */
        t.slices *= 2;
    int map = t.rows * t.pitch + R * R * filters;
    int most = min(STAGED_FLOATS, shared_floats() / 2 - 4 * filters) / map / t.slices * t.slices;
    t.maps = min(p.C, max(t.slices, most));
    t.taps = t.maps * R * R + 4; /* + 4: filters start in different banks */
    t.floats = t.maps * t.rows * t.pitch + filters * t.taps;
    int sums = t.slices / 2 * FILTERS * PATCH_H * PATCH_W * patches * t.groups;
    size_t bytes = sizeof(float) * max(t.maps < p.C ? 2 * t.floats : t.floats, sums);
    dim3 grid(p.N * t.down * t.across, ceil_div(p.K, filters)), block(patches, t.groups, t.slices);
    cudaFuncSetAttribute(conv_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    conv_kernel<R><<<grid, block, bytes, stream>>>(p, t, x, w, b, y);
}

/* ---- fully connected layers ------------------------------------------------------------------ */

/* A few images: a warp has OUTPUTS outputs of IMAGES images over one slice of the inputs and stores
 * the sums to partial[n][slice][k]. */
enum { FEW_IMAGES = 16, OUTPUTS = 4, ROW_WARPS = 4 };

template <int IMAGES>
__global__ void rows_kernel(FcProblem p, int slice_inputs, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ partial)
{
    int lane = threadIdx.x, k0 = (blockIdx.x * ROW_WARPS + threadIdx.y) * OUTPUTS;
    int slice = blockIdx.y, n0 = blockIdx.z * IMAGES, begin = slice * slice_inputs;
    int end = min(begin + slice_inputs, p.C);
    const float *row[OUTPUTS], *image[IMAGES];
    if (k0 >= p.K) return;
    for (int i = 0; i < OUTPUTS; i++) /* outputs beyond the last: the last again */
        row[i] = w + (size_t)min(k0 + i, p.K - 1) * p.C;
    for (int i = 0; i < IMAGES; i++)
        image[i] = x + (size_t)min(n0 + i, p.N - 1) * p.C;
    float accumulator[IMAGES][OUTPUTS] = {};
    // TODO(5): Accumulate this slice's multiply-adds.  Lanes load neighbours; each input is used
    // for all outputs, each weight for all images.  Then add up the lanes' sums.
    (void)lane, (void)begin, (void)end, (void)row, (void)image;
    // END TODO(5)
#pragma unroll
    for (int i = 0; i < IMAGES * OUTPUTS; i++) {
        int n = n0 + i / OUTPUTS, k = k0 + i % OUTPUTS;
        if (lane == i && n < p.N && k < p.K)
            partial[((size_t)n * gridDim.y + slice) * p.K + k] =
                accumulator[i / OUTPUTS][i % OUTPUTS];
    }
}

/* Many images: a block has TILE outputs of TILE images over one slice, a thread has 8 images x 4
 * outputs. */
enum { BATCH = 8, TILE = 64, DEPTH = 16, PITCH = TILE + 4, GEMM_THREADS = TILE / 8 * TILE / 4 };

/* Loads TILE rows of DEPTH neighbours and stores them transposed, to[c][row]; a thread loads BATCH
 * elements. */
__device__ static void stage_rows(const float *__restrict__ from, int C, int rows, int c0, int end,
                                  float *__restrict__ to)
{
    float value[BATCH];
    int c = threadIdx.x % DEPTH, first = threadIdx.x / DEPTH, step = GEMM_THREADS / DEPTH;
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        int row = first + j * step;
        bool inside = row < rows && c0 + c < end;
        float loaded = from[inside ? (size_t)row * C + c0 + c : 0];
        value[j] = inside ? loaded : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < BATCH; j++)
        to[c * PITCH + first + j * step] = value[j];
}

__global__ void gemm_kernel(FcProblem p, int slice_inputs, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ partial)
{
    __shared__ float4 xs4[DEPTH * PITCH / 4], ws4[DEPTH * PITCH / 4];
    float *xs = (float *)xs4, *ws = (float *)ws4;
    int k0 = blockIdx.x * TILE, n0 = blockIdx.z * TILE, slice = blockIdx.y,
        begin = slice * slice_inputs;
    int end = min(begin + slice_inputs, p.C), a = threadIdx.x % (TILE / 4) * 4;
    int o = threadIdx.x / (TILE / 4) * 8; /* this thread's outputs k0 + a ..., images n0 + o ... */
    float accumulator[8][4] = {};
    for (int c0 = begin; c0 < end; c0 += DEPTH) {
        __syncthreads();
        stage_rows(w + (size_t)k0 * p.C, p.C, p.K - k0, c0, end, ws);
        stage_rows(x + (size_t)n0 * p.C, p.C, p.N - n0, c0, end, xs);
        __syncthreads();
        // TODO(6): Accumulate the multiply-adds of the DEPTH inputs in shared memory.
        (void)ws, (void)xs;
        // END TODO(6)
    }
#pragma unroll
    for (int i = 0; i < 32; i++) {
        int n = n0 + o + i / 4, k = k0 + a + i % 4;
        if (n < p.N && k < p.K)
            partial[((size_t)n * gridDim.y + slice) * p.K + k] = accumulator[i / 4][i % 4];
    }
}

/* The sum of output k over all slices, in order. */
__device__ static float sum_of_slices(const float *partial, int slices, int K, int k)
{
    float sum = 0.0f;
    // TODO(7): Add up output k of every slice, slice 0 first.
    (void)partial, (void)slices, (void)K, (void)k;
    // END TODO(7)
    return sum;
}

enum { SUM_THREADS = 256 };

__global__ void sum_kernel(int K, int outputs, int slices, const float *__restrict__ partial,
                           float *__restrict__ y)
{
    int i = blockIdx.x * SUM_THREADS + threadIdx.x;
    if (i < outputs) y[i] = sum_of_slices(partial + (size_t)(i / K) * slices * K, slices, K, i % K);
}

/* One block per image: the sum of FULL's slices, its bias and ReLU, then OUT and the softmax. */
__global__ void out_kernel(int f, int classes, int slices, const float *__restrict__ partial,
                           const float *__restrict__ full_b, const float *__restrict__ w,
                           const float *__restrict__ b, float *__restrict__ y)
{
    extern __shared__ float unit[];
    __shared__ float logit[WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    partial += (size_t)blockIdx.x * slices * f;
    for (int k = threadIdx.x; k < f; k += SUM_THREADS)
        unit[k] = fmaxf(sum_of_slices(partial, slices, f, k) + full_b[k], 0.0f);
    __syncthreads();
    for (int k = warp; k < classes; k += SUM_THREADS / WARP) {
        float sum = 0.0f;
        for (int i = lane; i < f; i += WARP)
            sum += unit[i] * w[k * f + i];
        for (int step = WARP / 2; step; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (lane == 0) logit[k] = sum + b[k];
    }
    __syncthreads();
    if (warp) return;
    // TODO(8): Store the softmax of this image's logits, one lane per class.
    (void)logit, (void)lane, (void)y;
    // END TODO(8)
}

/* Number of inputs per slice. */
static int slice_inputs_of(const FcProblem &p)
{
    return 448;
}

template <int IMAGES>
static void launch_rows(const FcProblem &p, int slice_inputs, const float *x, const float *w,
                        float *partial, cudaStream_t stream)
{
    dim3 grid(ceil_div(p.K, ROW_WARPS * OUTPUTS), ceil_div(p.C, slice_inputs),
              ceil_div(p.N, IMAGES));
    rows_kernel<IMAGES><<<grid, dim3(WARP, ROW_WARPS), 0, stream>>>(p, slice_inputs, x, w, partial);
}

static void launch_full(const FcProblem &p, const float *x, const float *w, float *partial,
                        cudaStream_t stream)
{
    int slice_inputs = slice_inputs_of(p);
    if (p.N == 1) return launch_rows<1>(p, slice_inputs, x, w, partial, stream);
    if (p.N <= FEW_IMAGES) return launch_rows<2>(p, slice_inputs, x, w, partial, stream);
    dim3 grid(ceil_div(p.K, TILE), ceil_div(p.C, slice_inputs), ceil_div(p.N, TILE));
    gemm_kernel<<<grid, GEMM_THREADS, 0, stream>>>(p, slice_inputs, x, w, partial);
}

/* ---- a convolution of any other shape: one thread per output --------------------------------- */

enum { THREADS = 128 };

__global__ void general_conv_kernel(ConvProblem p, const float *__restrict__ x,
                                    const float *__restrict__ w, float *__restrict__ y)
{
    int pool = p.pool ? p.pool : 1, P = p.P / pool, Q = p.Q / pool;
    int i = blockIdx.x * THREADS + threadIdx.x, k = i / Q / P % p.K, n = i / Q / P / p.K;
    if (i >= p.N * p.K * P * Q) return;
    float maximum = -INFINITY;
    for (int j = 0; j < pool * pool; j++) {
        int top = (i / Q % P * pool + j / pool) * p.stride_h - p.pad_top;
        int left = (i % Q * pool + j % pool) * p.stride_w - p.pad_left;
        float sum = 0.0f;
        // TODO(9): Accumulate the multiply-adds of all taps (c, r, s) whose input is inside the
        // map.
        (void)top, (void)left, (void)k, (void)n;
        // END TODO(9)
        maximum = fmaxf(maximum, sum);
    }
    y[i] = maximum;
}

/* ---- the entry points ------------------------------------------------------------------------ */

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    bool is_network_shape =
        p->R == p->S && p->stride_h == 1 && p->stride_w == 1 && p->pool != 1 && p->pool <= 2;
    int pool = p->pool ? p->pool : 1, outputs = p->N * p->K * (p->P / pool) * (p->Q / pool);
    if (is_network_shape && p->R == ELECTRODE_R1)
        launch_conv<ELECTRODE_R1>(*p, x, w, NULL, y, stream);
    else if (is_network_shape && p->R == ELECTRODE_R2)
        launch_conv<ELECTRODE_R2>(*p, x, w, NULL, y, stream);
    else if (is_network_shape && p->R == ELECTRODE_R3)
        launch_conv<ELECTRODE_R3>(*p, x, w, NULL, y, stream);
    else
        general_conv_kernel<<<ceil_div(outputs, THREADS), THREADS, 0, stream>>>(*p, x, w, y);
}

extern "C" void fc_forward(const FcProblem *p, const float *x, const float *w, float *y,
                           cudaStream_t stream)
{
    int slices = ceil_div(p->C, slice_inputs_of(*p));
    float *partial;
    cudaMalloc(&partial, sizeof(float) * p->N * slices * p->K);
    launch_full(*p, x, w, partial, stream);
    sum_kernel<<<ceil_div(p->N * p->K, SUM_THREADS), SUM_THREADS, 0, stream>>>(p->K, p->N * p->K,
                                                                               slices, partial, y);
    cudaFree(partial); /* waits until the kernels have finished */
}

/* A convolution of the network: C maps of H x W to K maps of the same size, then pooling. */
static ConvProblem same_conv(int N, int C, int H, int W, int K, int R, int pool)
{
    ConvProblem p = {};
    p.N = N, p.C = C, p.H = p.P = H, p.W = p.Q = W, p.K = K, p.R = p.S = R, p.pool = pool;
    p.stride_h = p.stride_w = 1;
    // TODO(10): Set the number of zeros above and to the left of the map.
    p.pad_top = p.pad_left = 0;
    // END TODO(10)
    p.pad_bottom = p.pad_right = R - 1 - p.pad_top;
    return p;
}

extern "C" void electrode_forward(const ElectrodeProblem *p, const float *x, const float *w,
                                  float *y, cudaStream_t stream)
{
    const int *at = p->weights, *bias = p->biases;
    ConvProblem first = same_conv(p->N, 1, p->H, p->W, p->c, ELECTRODE_R1, 2);
    ConvProblem second = same_conv(p->N, p->c, p->H / 2, p->W / 2, p->c, ELECTRODE_R2, 2);
    ConvProblem third = same_conv(p->N, p->c, p->H / 4, p->W / 4, p->c, ELECTRODE_R3, 0);
    FcProblem full = {p->N, p->c * (p->H / 4) * (p->W / 4), p->f};
    size_t N = p->N, slices = ceil_div(full.C, slice_inputs_of(full));
    float *one, *two, *three, *partial;
    cudaMalloc(&one, sizeof(float) * N * (full.C * 4 + full.C + full.C + slices * p->f));
    two = one + N * full.C * 4;
    three = two + N * full.C;
    partial = three + N * full.C;
    if (p->padded) {
        // TODO(11): Set the size of x including CONV1's zeros, and a padding of 0.
        (void)first;
        // END TODO(11)
    }
    // TODO(12): Launch the five kernels in order, each with its part of w.
    (void)at, (void)bias, (void)first, (void)second, (void)third, (void)three, (void)partial,
        (void)x, (void)w, (void)y, (void)stream;
    // END TODO(12)
    cudaFree(one);
}
