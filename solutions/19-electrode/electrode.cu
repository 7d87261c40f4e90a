/* Lab 19: the network that sorts recordings of a nerve cuff, within 7 ms.  Edit only the TODO
 * regions. */
#include <convlab/electrode.h>
#include <convlab/layers.h>

enum { WARP = 32 };

__host__ __device__ static int pieces(int all, int each)
{
    return (int)((all + each - 1) / each);
}

/* ---- convolution, bias, ReLU and pool in one kernel ------------------------------------------ */

/* A thread owns a spot of 2 x 4 outputs in each of FILTERS filters: every row of inputs that it
 * reads serves both rows of outputs, and a 2 x 2 pool needs nobody else. */
enum { HIGH = 2, WIDE = 4, FILTERS = 4, BLOCK = 640 };

/* How a launch is cut up.  threadIdx.x counts the spots of a tile, y groups of filters, z slices of
 * the maps: all of them work on the tile's outputs. */
typedef struct Tile {
    int high, wide;     /* spots of a tile */
    int down, across;   /* tiles of an image */
    int groups, slices; /* of a block; slices: a power of two */
    int maps;           /* of x that are staged in shared memory at a time */
    int rows, pitch;    /* of a staged map: floats */
    int taps;           /* floats from a staged filter to the next */
    int floats;         /* of all that is staged at a time */
} Tile;

/* The block's warps, numbered across all three of its sides, and this thread's lane. */
__device__ static int warp_of_block(int *warps, int *lane)
{
    int threads = blockDim.x * blockDim.y * blockDim.z;
    int me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    *warps = threads / WARP; /* a last warp that is not full does not help */
    *lane = me % WARP;
    return me / WARP;
}

/* The place i = outer * size + inner, and steps of it without a division each. */
typedef struct Place {
    int outer, inner;
} Place;

__device__ static Place place_of(int i, int size)
{
    return {i / size, i % size};
}

__device__ static Place place_after(Place at, Place step, int size)
{
    Place next = {at.outer + step.outer, at.inner + step.inner};
    if (next.inner >= size) next = {next.outer + 1, next.inner - size};
    return next;
}

/* Has so many bytes copied to shared memory while the thread goes on, or zeros. */
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

/* Whether a map of `size` rows has row i, or one of `size` columns column i. */
__device__ static bool exists(int i, int size)
{
    // TODO(1): Say so; around the map there are zeros, before it and behind it.
    return i >= 0 && i < size;
    // END TODO(1)
}

/* Has the inputs of `maps` maps under the tile copied, and zeros where there are none; a warp a
 * row. */
__device__ static void stage_inputs(const ConvProblem &p, const Tile &t,
                                    const float *__restrict__ x, int maps, int h0, int w0,
                                    float *__restrict__ staged)
{
    int warps, lane, warp = warp_of_block(&warps, &lane), rows = maps * t.rows;
    if (warp == warps) return;
    Place step = place_of(warps, t.rows);
    for (int column = lane; column < t.pitch; column += WARP) {
        bool there = exists(w0 + column, p.W);
        Place at = place_of(warp, t.rows);
#pragma unroll 4
        for (int row = warp; row < rows; row += warps, at = place_after(at, step, t.rows)) {
            int c = at.outer, h = h0 + at.inner;
            bool inside = there & exists(h, p.H);
            copy_or_zero<4>(&staged[row * t.pitch + column],
                            &x[inside ? (c * p.H + h) * p.W + w0 + column : 0], inside);
        }
    }
}

/* And `taps` taps of each of the block's filters, a warp a filter.  Those of all maps lie side by
 * side: where they begin at whole 16 bytes, a lane takes four. */
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

/* Neighbours that are loaded at once. */
template <int COUNT> struct __align__(sizeof(float) * COUNT) Floats
{
    float at[COUNT];
};

/* Adds one map's products to the spot's sums; `in` is the first input under it, `filter` the first
 * tap, `next` the floats to the next filter's. */
template <int R>
__device__ static void add_map(const float *in, int pitch, const float *filter, int next,
                               float sum[FILTERS][HIGH][WIDE])
{
    enum { INPUTS = (WIDE + R - 1 + 3) / 4 * 4, TAPS = R < 4 ? R : 4 };
    float row[HIGH][INPUTS];
    // TODO(2): Load a row of inputs once for both rows of outputs, a tap once for all eight.
    for (int j = 0; j < INPUTS; j += 4)
        *(float4 *)&row[1][j] = *(const float4 *)&in[j];
#pragma unroll(R > 4 ? 2 : R)
    for (int r = 0; r < R; r++) {
        in += pitch;
#pragma unroll
        for (int j = 0; j < INPUTS; j += 4) {
            *(float4 *)&row[0][j] = *(float4 *)&row[1][j];
            *(float4 *)&row[1][j] = *(const float4 *)&in[j];
        }
#pragma unroll
        for (int s = 0; s < R; s += TAPS)
#pragma unroll
            for (int f = 0; f < FILTERS; f++) {
                Floats<TAPS> tap = *(const Floats<TAPS> *)&filter[f * next + r * R + s];
#pragma unroll
                for (int j = 0; j < TAPS; j++)
#pragma unroll
                    for (int i = 0; i < HIGH * WIDE; i++)
                        sum[f][i / WIDE][i % WIDE] += row[i / WIDE][i % WIDE + s + j] * tap.at[j];
            }
    }
    // END TODO(2)
}

/* The sums of all slices of the maps, in the threads of slice 0, always in the same order. */
__device__ static void add_slices(float *shared, float sum[FILTERS][HIGH][WIDE])
{
    int spots = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
    float *own = &sum[0][0][0];
    for (int half = blockDim.z / 2; half; half /= 2) {
        __syncthreads();
        // TODO(3): Slices half .. 2*half-1 leave their sums in `shared`, slices 0 .. half-1
        // add them.
        if (threadIdx.z >= half && threadIdx.z < 2 * half)
#pragma unroll
            for (int i = 0; i < FILTERS * HIGH * WIDE; i++)
                shared[((threadIdx.z - half) * FILTERS * HIGH * WIDE + i) * spots + me] = own[i];
        __syncthreads();
        if (threadIdx.z < half)
#pragma unroll
            for (int i = 0; i < FILTERS * HIGH * WIDE; i++)
                own[i] += shared[(threadIdx.z * FILTERS * HIGH * WIDE + i) * spots + me];
        // END TODO(3)
    }
}

/* What becomes of a spot's sums z in filter k: bias and ReLU where there is a bias, the largest of
 * 2 x 2 where p.pool is 2. */
__device__ static void store_spot(const ConvProblem &p, const float z[HIGH][WIDE], const float *b,
                                  int k, int row, int column, float *y)
{
    float bias = b ? b[k] : 0.0f, least = b ? 0.0f : -INFINITY;
    int P = p.pool ? p.P / p.pool : p.P, Q = p.pool ? p.Q / p.pool : p.Q;
    y += (size_t)k * P * Q;
    // TODO(4): Store the spot's outputs that exist, pooled or not.
    if (p.pool) {
#pragma unroll
        for (int j = 0; j < WIDE; j += 2) {
            float largest = fmaxf(fmaxf(z[0][j], z[0][j + 1]), fmaxf(z[1][j], z[1][j + 1]));
            if (row / 2 < P && (column + j) / 2 < Q)
                y[row / 2 * Q + (column + j) / 2] = fmaxf(largest + bias, least);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < HIGH; i++)
#pragma unroll
        for (int j = 0; j < WIDE; j++)
            if (row + i < P && column + j < Q)
                y[(row + i) * Q + column + j] = fmaxf(z[i][j] + bias, least);
    // END TODO(4)
}

/* All that a block needs of the next maps, from c0 on. */
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

/* y = x * w of stride 1, + b and ReLU where b is given, pooled where p.pool is 2. */
template <int R>
__global__ void __launch_bounds__(BLOCK)
    conv_kernel(ConvProblem p, Tile t, const float *__restrict__ x, const float *__restrict__ w,
                const float *__restrict__ b, float *__restrict__ y)
{
    extern __shared__ float4 memory[];
    float *shared = (float *)memory, *now = shared, *next = shared + t.floats;
    int k0 = blockIdx.y * t.groups * FILTERS;
    int tile = blockIdx.x % (t.down * t.across), n = blockIdx.x / (t.down * t.across);
    int top = tile / t.across * t.high * HIGH, left = tile % t.across * t.wide * WIDE;
    int row = threadIdx.x / t.wide * HIGH, column = threadIdx.x % t.wide * WIDE;
    float sum[FILTERS][HIGH][WIDE] = {};
    x += (size_t)n * p.C * p.H * p.W;
    stage<R>(p, t, x, w, 0, k0, top, left, now);
    for (int c0 = 0; c0 < p.C; c0 += t.maps) {
        copies_wait();
        __syncthreads(); /* these maps are there, and nobody needs the ones before them */
        if (c0 + t.maps < p.C) stage<R>(p, t, x, w, c0 + t.maps, k0, top, left, next);
        const float *filters = now + t.maps * t.rows * t.pitch;
        for (int c = threadIdx.z; c < min(t.maps, p.C - c0); c += t.slices)
            add_map<R>(now + (c * t.rows + row) * t.pitch + column, t.pitch,
                       filters + threadIdx.y * FILTERS * t.taps + c * R * R, t.taps, sum);
        float *other = now;
        now = next;
        next = other;
    }
    add_slices(shared, sum);
    if (threadIdx.z) return;
    int outputs = p.pool ? (p.P / p.pool) * (p.Q / p.pool) : p.P * p.Q;
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
        int k = k0 + threadIdx.y * FILTERS + f;
        if (k < p.K)
            store_spot(p, sum[f], b, k, top + row, left + column, y + (size_t)n * p.K * outputs);
    }
}

/* ---- how a convolution is cut up ------------------------------------------------------------- */

enum { ENOUGH = 30000, SLICES = 16, STAGED = 16384, NARROW = 4 };

/* Slices of the maps until there are threads for all of the card. */
static int slices_of(const ConvProblem &p)
{
    long long spots = (long long)p.N * pieces(p.P, HIGH) * pieces(p.Q, WIDE);
    int slices = 1;
    while (slices < SLICES && 2 * slices <= p.C && spots * pieces(p.K, FILTERS) * slices < ENOUGH)
        slices *= 2;
    return slices;
}

/* Tiles of about `rows` rows of spots, `across` of them beside each other. */
static Tile tile_of(const ConvProblem &p, int rows, int across, int groups, int slices)
{
    Tile t = {};
    int high = pieces(p.P, HIGH), wide = pieces(p.Q, WIDE);
    t.wide = pieces(wide, across);
    t.across = pieces(wide, t.wide);
    t.down = pieces(high, rows);
    t.high = pieces(high, t.down);
    t.rows = t.high * HIGH + p.R - 1;
    t.pitch = (t.wide - 1) * WIDE + (WIDE + p.R - 1 + 3) / 4 * 4;
    t.groups = groups;
    t.slices = slices;
    return t;
}

/* What a map costs the busiest multiprocessor, in taps of a spot, each 32 products.  As measured on
 * an H200 each of its blocks costs START besides, and a warp's copy, of a row of inputs or of 128
 * taps, as much as COPY taps where COPYING threads are there to hide its latency. */
static double cost_of(const ConvProblem &p, const Tile &t, int sms)
{
    enum { START = 10000, COPY = 10, COPYING = 512 };
    int spots = t.high * t.wide, filters = t.groups * FILTERS, taps = p.R * p.S;
    int rounds = pieces(p.N * t.down * t.across * pieces(p.K, filters), sms);
    int threads = spots * t.groups * t.slices, together = threads * min(rounds, BLOCK / threads);
    int copies = t.rows * pieces(t.pitch, WARP) + pieces(filters * taps, 4 * WARP);
    double hidden = fmax(1, (double)COPYING / together);
    return rounds * (START + spots * t.groups * taps + COPY * copies * hidden);
}

/* Large blocks share what they copy, small ones are many: the tile that costs least.  A narrow one
 * would have few lanes copy. */
static Tile best_tile(const ConvProblem &p)
{
    int high = pieces(p.P, HIGH), wide = pieces(p.Q, WIDE), slices = slices_of(p), sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    Tile best = {};
    for (int groups = 1; groups < 2 * pieces(p.K, FILTERS); groups *= 2)
        for (int across = 1; across == 1 || pieces(wide, across) >= NARROW; across *= 2)
            for (int rows = 1; rows <= high; rows++) {
                Tile t = tile_of(p, rows, across, groups, slices);
                if (t.high * t.wide * groups * slices > BLOCK) break;
                if (!best.high || cost_of(p, t, sms) < cost_of(p, best, sms)) best = t;
            }
    return best;
}

/* Floats of shared memory that a block may have. */
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
    int spots = t.high * t.wide, filters = t.groups * FILTERS;
    while (t.slices * t.groups * spots < WARP) /* staging takes a whole warp */
        t.slices *= 2;
    int map = t.rows * t.pitch + R * R * filters;
    int most = min(STAGED, shared_floats() / 2 - 4 * filters) / map / t.slices * t.slices;
    t.maps = min(p.C, max(t.slices, most));
    t.taps = t.maps * R * R + 4; /* filters begin in different banks */
    t.floats = t.maps * t.rows * t.pitch + filters * t.taps;
    int sums = t.slices / 2 * FILTERS * HIGH * WIDE * spots * t.groups;
    size_t bytes = sizeof(float) * max(t.maps < p.C ? 2 * t.floats : t.floats, sums);
    dim3 grid(p.N * t.down * t.across, pieces(p.K, filters)), block(spots, t.groups, t.slices);
    cudaFuncSetAttribute(conv_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    conv_kernel<R><<<grid, block, bytes, stream>>>(p, t, x, w, b, y);
}

/* ---- fully connected layers ------------------------------------------------------------------ */

/* A few images: a warp has OUTPUTS outputs of IMAGES images over one slice of the inputs, and
 * part[n][slice][k] gets the sums. */
enum { FEW = 16, OUTPUTS = 4, ROW_WARPS = 4 };

template <int IMAGES>
__global__ void rows_kernel(FcProblem p, int each, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ part)
{
    int lane = threadIdx.x, k0 = (blockIdx.x * ROW_WARPS + threadIdx.y) * OUTPUTS;
    int slice = blockIdx.y, n0 = blockIdx.z * IMAGES, begin = slice * each;
    int end = min(begin + each, p.C);
    const float *row[OUTPUTS], *image[IMAGES];
    if (k0 >= p.K) return;
    for (int i = 0; i < OUTPUTS; i++) /* beyond the last it is the last once more */
        row[i] = w + (size_t)min(k0 + i, p.K - 1) * p.C;
    for (int i = 0; i < IMAGES; i++)
        image[i] = x + (size_t)min(n0 + i, p.N - 1) * p.C;
    float sum[IMAGES][OUTPUTS] = {};
    // TODO(5): Sum up this slice's products: lanes read neighbours, an input serves all rows, a
    // weight all images.
#pragma unroll(IMAGES > 1 ? 4 : 7)
    for (int c = begin + lane; c < end; c += WARP) {
        float input[IMAGES];
        for (int n = 0; n < IMAGES; n++)
            input[n] = image[n][c];
        for (int i = 0; i < OUTPUTS; i++) {
            float weight = row[i][c];
            for (int n = 0; n < IMAGES; n++)
                sum[n][i] += input[n] * weight;
        }
    }
    for (int step = WARP / 2; step; step /= 2) {
        for (int i = 0; i < IMAGES * OUTPUTS; i++)
            sum[i / OUTPUTS][i % OUTPUTS] +=
                __shfl_xor_sync(0xffffffff, sum[i / OUTPUTS][i % OUTPUTS], step);
    }
    // END TODO(5)
#pragma unroll
    for (int i = 0; i < IMAGES * OUTPUTS; i++) {
        int n = n0 + i / OUTPUTS, k = k0 + i % OUTPUTS;
        if (lane == i && n < p.N && k < p.K)
            part[((size_t)n * gridDim.y + slice) * p.K + k] = sum[i / OUTPUTS][i % OUTPUTS];
    }
}

/* Many images: a block has SIDE outputs of SIDE images over one slice, a thread 8 x 4 of them. */
enum { BATCH = 8, SIDE = 64, DEPTH = 16, PITCH = SIDE + 4, PRODUCT_THREADS = SIDE / 8 * SIDE / 4 };

/* SIDE = BATCH * PRODUCT_THREADS / DEPTH rows of DEPTH neighbours, turned: to[c][row]. */
__device__ static void stage_rows(const float *__restrict__ from, int C, int rows, int c0, int end,
                                  float *__restrict__ to)
{
    float value[BATCH];
    int c = threadIdx.x % DEPTH, first = threadIdx.x / DEPTH, step = PRODUCT_THREADS / DEPTH;
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        int row = first + j * step;
        bool inside = row < rows && c0 + c < end;
        float there = from[inside ? (size_t)row * C + c0 + c : 0];
        value[j] = inside ? there : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < BATCH; j++)
        to[c * PITCH + first + j * step] = value[j];
}

__global__ void product_kernel(FcProblem p, int each, const float *__restrict__ x,
                               const float *__restrict__ w, float *__restrict__ part)
{
    __shared__ float4 xs4[DEPTH * PITCH / 4], ws4[DEPTH * PITCH / 4];
    float *xs = (float *)xs4, *ws = (float *)ws4;
    int k0 = blockIdx.x * SIDE, n0 = blockIdx.z * SIDE, slice = blockIdx.y, begin = slice * each;
    int end = min(begin + each, p.C), a = threadIdx.x % (SIDE / 4) * 4;
    int o = threadIdx.x / (SIDE / 4) * 8; /* its outputs k0 + a ..., its images n0 + o ... */
    float sum[8][4] = {};
    for (int c0 = begin; c0 < end; c0 += DEPTH) {
        __syncthreads();
        stage_rows(w + (size_t)k0 * p.C, p.C, p.K - k0, c0, end, ws);
        stage_rows(x + (size_t)n0 * p.C, p.C, p.N - n0, c0, end, xs);
        __syncthreads();
        // TODO(6): Add the products of the DEPTH staged inputs to the thread's 8 x 4 sums.
#pragma unroll
        for (int c = 0; c < DEPTH; c++) {
            float input[8], weight[4];
            *(float4 *)&input[0] = *(float4 *)&xs[c * PITCH + o];
            *(float4 *)&input[4] = *(float4 *)&xs[c * PITCH + o + 4];
            *(float4 *)weight = *(float4 *)&ws[c * PITCH + a];
#pragma unroll
            for (int i = 0; i < 32; i++)
                sum[i / 4][i % 4] += input[i / 4] * weight[i % 4];
        }
        // END TODO(6)
    }
#pragma unroll
    for (int i = 0; i < 32; i++) {
        int n = n0 + o + i / 4, k = k0 + a + i % 4;
        if (n < p.N && k < p.K) part[((size_t)n * gridDim.y + slice) * p.K + k] = sum[i / 4][i % 4];
    }
}

/* The sums of all slices, in their order. */
__device__ static float sum_of_parts(const float *part, int slices, int K, int k)
{
    float sum = 0.0f;
    // TODO(7): Add output k of every slice, slice 0 first.
#pragma unroll 16
    for (int s = 0; s < slices; s++)
        sum += part[s * K + k];
    // END TODO(7)
    return sum;
}

enum { SUM_THREADS = 256 };

__global__ void sum_kernel(int K, int outputs, int slices, const float *__restrict__ part,
                           float *__restrict__ y)
{
    int i = blockIdx.x * SUM_THREADS + threadIdx.x;
    if (i < outputs) y[i] = sum_of_parts(part + (size_t)(i / K) * slices * K, slices, K, i % K);
}

/* A block an image: FULL's sums, its bias and ReLU, then OUT and the softmax. */
__global__ void out_kernel(int f, int classes, int slices, const float *__restrict__ part,
                           const float *__restrict__ full_b, const float *__restrict__ w,
                           const float *__restrict__ b, float *__restrict__ y)
{
    extern __shared__ float unit[];
    __shared__ float logit[WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    part += (size_t)blockIdx.x * slices * f;
    for (int k = threadIdx.x; k < f; k += SUM_THREADS)
        unit[k] = fmaxf(sum_of_parts(part, slices, f, k) + full_b[k], 0.0f);
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
    // TODO(8): Store the softmax of this image's logits, a lane a class.
    float mine = lane < classes ? logit[lane] : -INFINITY, largest = mine;
    for (int step = WARP / 2; step; step /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    float power = lane < classes ? expf(mine - largest) : 0.0f, sum = power;
    for (int step = WARP / 2; step; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane < classes) y[(size_t)blockIdx.x * classes + lane] = power / sum;
    // END TODO(8)
}

/* How many inputs a slice has. */
static int slice_of(const FcProblem &p)
{
    return 448;
}

template <int IMAGES>
static void launch_rows(const FcProblem &p, int each, const float *x, const float *w, float *part,
                        cudaStream_t stream)
{
    dim3 grid(pieces(p.K, ROW_WARPS * OUTPUTS), pieces(p.C, each), pieces(p.N, IMAGES));
    rows_kernel<IMAGES><<<grid, dim3(WARP, ROW_WARPS), 0, stream>>>(p, each, x, w, part);
}

static void launch_full(const FcProblem &p, const float *x, const float *w, float *part,
                        cudaStream_t stream)
{
    int each = slice_of(p);
    if (p.N == 1) return launch_rows<1>(p, each, x, w, part, stream);
    if (p.N <= FEW) return launch_rows<2>(p, each, x, w, part, stream);
    dim3 grid(pieces(p.K, SIDE), pieces(p.C, each), pieces(p.N, SIDE));
    product_kernel<<<grid, PRODUCT_THREADS, 0, stream>>>(p, each, x, w, part);
}

/* ---- a convolution of any other shape: a thread an output ------------------------------------ */

enum { THREADS = 128 };

__global__ void any_kernel(ConvProblem p, const float *__restrict__ x, const float *__restrict__ w,
                           float *__restrict__ y)
{
    int pool = p.pool ? p.pool : 1, P = p.P / pool, Q = p.Q / pool;
    int i = blockIdx.x * THREADS + threadIdx.x, k = i / Q / P % p.K, n = i / Q / P / p.K;
    if (i >= p.N * p.K * P * Q) return;
    float largest = -INFINITY;
    for (int j = 0; j < pool * pool; j++) {
        int top = (i / Q % P * pool + j / pool) * p.stride_h - p.pad_top;
        int left = (i % Q * pool + j % pool) * p.stride_w - p.pad_left;
        float sum = 0.0f;
        // TODO(9): Add the products of all taps (c, r, s) that meet an input.
        for (int tap = 0; tap < p.C * p.R * p.S; tap++) {
            int c = tap / p.S / p.R, h = top + tap / p.S % p.R, column = left + tap % p.S;
            if (h >= 0 && h < p.H && column >= 0 && column < p.W)
                sum += x[((n * p.C + c) * p.H + h) * p.W + column] * w[k * p.C * p.R * p.S + tap];
        }
        // END TODO(9)
        largest = fmaxf(largest, sum);
    }
    y[i] = largest;
}

/* ---- the entry points ------------------------------------------------------------------------ */

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    bool ours =
        p->R == p->S && p->stride_h == 1 && p->stride_w == 1 && p->pool != 1 && p->pool <= 2;
    int pool = p->pool ? p->pool : 1, outputs = p->N * p->K * (p->P / pool) * (p->Q / pool);
    if (ours && p->R == ELECTRODE_R1)
        launch_conv<ELECTRODE_R1>(*p, x, w, NULL, y, stream);
    else if (ours && p->R == ELECTRODE_R2)
        launch_conv<ELECTRODE_R2>(*p, x, w, NULL, y, stream);
    else if (ours && p->R == ELECTRODE_R3)
        launch_conv<ELECTRODE_R3>(*p, x, w, NULL, y, stream);
    else
        any_kernel<<<pieces(outputs, THREADS), THREADS, 0, stream>>>(*p, x, w, y);
}

extern "C" void fc_forward(const FcProblem *p, const float *x, const float *w, float *y,
                           cudaStream_t stream)
{
    int slices = pieces(p->C, slice_of(*p));
    float *part;
    cudaMalloc(&part, sizeof(float) * p->N * slices * p->K);
    launch_full(*p, x, w, part, stream);
    sum_kernel<<<pieces(p->N * p->K, SUM_THREADS), SUM_THREADS, 0, stream>>>(p->K, p->N * p->K,
                                                                             slices, part, y);
    cudaFree(part); /* waits until nobody needs it */
}

/* A convolution of the network: C maps of H x W to K of the same size, then pooled. */
static ConvProblem same_conv(int N, int C, int H, int W, int K, int R, int pool)
{
    ConvProblem p = {};
    p.N = N, p.C = C, p.H = p.P = H, p.W = p.Q = W, p.K = K, p.R = p.S = R, p.pool = pool;
    p.stride_h = p.stride_w = 1;
    // TODO(10): Say how many zeros stand above and to the left.
    p.pad_top = p.pad_left = (R - 1) / 2;
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
    size_t N = p->N, slices = pieces(full.C, slice_of(full));
    float *one, *two, *three, *part;
    cudaMalloc(&one, sizeof(float) * N * (full.C * 4 + full.C + full.C + slices * p->f));
    two = one + N * full.C * 4;
    three = two + N * full.C;
    part = three + N * full.C;
    if (p->padded) {
        // TODO(11): Say how large x is within CONV1's zeros, and that none are to be added.
        first.H += ELECTRODE_R1 - 1;
        first.W += ELECTRODE_R1 - 1;
        first.pad_top = first.pad_left = 0;
        // END TODO(11)
    }
    // TODO(12): Launch the five kernels one after the other, each with its part of w.
    launch_conv<ELECTRODE_R1>(first, x, w + at[0], w + bias[0], one, stream);
    launch_conv<ELECTRODE_R2>(second, one, w + at[1], w + bias[1], two, stream);
    launch_conv<ELECTRODE_R3>(third, two, w + at[2], w + bias[2], three, stream);
    launch_full(full, three, w + at[3], part, stream);
    out_kernel<<<p->N, SUM_THREADS, sizeof(float) * p->f, stream>>>(
        p->f, p->classes, slices, part, w + bias[3], w + at[4], w + bias[4], y);
    // END TODO(12)
    cudaFree(one);
}
