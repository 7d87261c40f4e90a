/* Lab 19: the network that sorts recordings of a nerve cuff, within 7 ms.  Edit only the TODO
 * regions. */
#include <convlab/electrode.h>
#include <convlab/layers.h>

enum { WARP = 32 };

static int pieces(long long all, int each)
{
    return (int)((all + each - 1) / each);
}

/* ---- convolution, bias, ReLU and pool in one kernel ------------------------------------------ */

/* A thread owns a spot of 2 x 4 outputs in each of some filters: every row of inputs that it reads
 * serves both rows of outputs, and a 2 x 2 pool needs nobody else. */
enum { HIGH = 2, WIDE = 4 };

/* How a launch is cut up.  threadIdx.x counts spots of the block's tile, y its groups of filters, z
 * its slices of the maps. */
typedef struct Tile {
    int high, wide;   /* spots of a tile */
    int down, across; /* tiles of an image */
    int maps;         /* of x that are staged in shared memory at a time */
    int rows, pitch;  /* of a staged map: floats */
} Tile;

/* The inputs of `maps` maps under the tile, and zeros where there are none. */
__device__ static void stage_inputs(const ConvProblem &p, const Tile &t, const float *x, int c0,
                                    int h0, int w0, float *staged)
{
    int threads = blockDim.x * blockDim.y * blockDim.z;
    int me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int i = me; i < t.maps * t.rows * t.pitch; i += threads) {
        int column = i % t.pitch, row = i / t.pitch % t.rows, c = c0 + i / t.pitch / t.rows;
        // TODO(1): Stage input (c, h0 + row, w0 + column), or the zero that stands there.
        int h = h0 + row, w = w0 + column;
        bool inside = c < p.C && h >= 0 && h < p.H && w >= 0 && w < p.W;
        staged[i] = inside ? x[(c * p.H + h) * p.W + w] : 0.0f;
        // END TODO(1)
    }
}

/* The taps of the block's filters in the same maps, the filters side by side. */
template <int R>
__device__ static void stage_filters(const ConvProblem &p, const Tile &t, const float *w, int c0,
                                     int k0, int filters, float *staged)
{
    int threads = blockDim.x * blockDim.y * blockDim.z;
    int me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int taps = t.maps * R * R;
    for (int i = me; i < taps * filters; i += threads) {
        int tap = i % taps, f = i / taps, k = k0 + f;
        bool there = k < p.K && c0 + tap / (R * R) < p.C;
        staged[tap * filters + f] = there ? w[((size_t)k * p.C + c0) * R * R + tap] : 0.0f;
    }
}

/* Adds one map's products to the spot's sums; `in` is the first input under it, `filter` the first
 * tap. */
template <int R, int FILTERS>
__device__ static void add_map(const float *in, int pitch, const float *filter, int filters,
                               float sum[FILTERS][HIGH][WIDE])
{
    enum { INPUTS = (WIDE + R - 1 + 3) / 4 * 4 };
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
        for (int s = 0; s < R; s++, filter += filters) {
            float tap[FILTERS];
#pragma unroll
            for (int f = 0; f < FILTERS; f += 4)
                *(float4 *)&tap[f] = *(const float4 *)&filter[f];
#pragma unroll
            for (int f = 0; f < FILTERS; f++)
#pragma unroll
                for (int i = 0; i < HIGH * WIDE; i++)
                    sum[f][i / WIDE][i % WIDE] += row[i / WIDE][i % WIDE + s] * tap[f];
        }
    }
    // END TODO(2)
}

/* The sums of all slices of the maps, in the threads of slice 0, always in the same order. */
template <int FILTERS>
__device__ static void add_slices(float *shared, float sum[FILTERS][HIGH][WIDE])
{
    int spots = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
    float *own = &sum[0][0][0];
    for (int half = blockDim.z / 2; half; half /= 2) {
        __syncthreads();
        // TODO(3): Slices half .. 2*half-1 leave their sums in `shared`, slices 0 .. half-1 add them.
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

/* y = x * w, + b and ReLU where b is given, pooled where p.pool is 2.  Filters of R x R, stride 1. */
template <int R, int FILTERS>
__global__ void conv_kernel(ConvProblem p, Tile t, const float *__restrict__ x,
                            const float *__restrict__ w, const float *__restrict__ b,
                            float *__restrict__ y)
{
    extern __shared__ float4 memory[];
    float *inputs = (float *)memory, *filters = inputs + t.maps * t.rows * t.pitch;
    int block_filters = blockDim.y * FILTERS, k0 = blockIdx.y * block_filters;
    int tile = blockIdx.x % (t.down * t.across), n = blockIdx.x / (t.down * t.across);
    int top = tile / t.across * t.high * HIGH, left = tile % t.across * t.wide * WIDE;
    int spot = threadIdx.x < t.high * t.wide ? threadIdx.x : 0; /* the others do spot 0 once more */
    int row = spot / t.wide * HIGH, column = spot % t.wide * WIDE;
    float sum[FILTERS][HIGH][WIDE] = {};
    x += (size_t)n * p.C * p.H * p.W;
    for (int c0 = 0; c0 < p.C; c0 += t.maps) {
        __syncthreads();
        stage_inputs(p, t, x, c0, top - p.pad_top, left - p.pad_left, inputs);
        stage_filters<R>(p, t, w, c0, k0, block_filters, filters);
        __syncthreads();
        for (int c = threadIdx.z; c < t.maps; c += blockDim.z)
            add_map<R, FILTERS>(inputs + (c * t.rows + row) * t.pitch + column, t.pitch,
                                filters + c * R * R * block_filters + threadIdx.y * FILTERS,
                                block_filters, sum);
    }
    add_slices<FILTERS>(inputs, sum);
    if (threadIdx.z || threadIdx.x >= t.high * t.wide) return;
    int outputs = p.pool ? (p.P / p.pool) * (p.Q / p.pool) : p.P * p.Q;
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
        int k = k0 + threadIdx.y * FILTERS + f;
        if (k < p.K)
            store_spot(p, sum[f], b, k, top + row, left + column, y + (size_t)n * p.K * outputs);
    }
}

/* ---- how a convolution is cut up --------------------------------------------------------------- */

typedef struct Cut {
    int warps, groups, slices, filters; /* spots: 32 * warps */
    int floats;                         /* of shared memory, about */
} Cut;

#ifdef TUNE
static Cut tune[3];
extern "C" void electrode_tune(int layer, int warps, int groups, int slices, int filters,
                               int floats)
{
    tune[layer] = {warps, groups, slices, filters, floats};
}
#endif

static Cut cut_of(const ConvProblem &p)
{
#ifdef TUNE
    Cut tuned = tune[p.R == 8 ? 0 : p.R == 4 ? 1 : 2];
    if (tuned.warps) return tuned;
#endif
    long long spots = (long long)p.N * pieces(p.P, HIGH) * pieces(p.Q, WIDE);
    if (spots * p.K < 40000) return {1, 1, p.C < 8 ? 1 : 8, 4, 24576};
    return {3, 2, 1, 8, 8192};
}

template <int R, int FILTERS>
static void launch_cut(const ConvProblem &p, const Cut &cut, const float *x, const float *w,
                       const float *b, float *y, cudaStream_t stream)
{
    Tile t;
    int high = pieces(p.P, HIGH), wide = pieces(p.Q, WIDE), spots = WARP * cut.warps;
    t.across = pieces(wide, spots);
    t.wide = pieces(wide, t.across);
    t.down = pieces(high, min(high, spots / t.wide));
    t.high = pieces(high, t.down);
    t.rows = t.high * HIGH + R - 1;
    t.pitch = t.wide * WIDE + (WIDE + R - 1 + 3) / 4 * 4 - WIDE;
    int filters = cut.groups * FILTERS, map = t.rows * t.pitch + R * R * filters;
    int most = max(cut.slices, cut.floats / map / cut.slices * cut.slices);
    t.maps = min(pieces(p.C, cut.slices) * cut.slices, most);
    int sums = cut.slices / 2 * FILTERS * HIGH * WIDE * spots * cut.groups;
    size_t bytes = sizeof(float) * max(t.maps * map, sums);
    dim3 grid(p.N * t.down * t.across, pieces(p.K, filters)), block(spots, cut.groups, cut.slices);
    cudaFuncSetAttribute(conv_kernel<R, FILTERS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)bytes);
    conv_kernel<R, FILTERS><<<grid, block, bytes, stream>>>(p, t, x, w, b, y);
}

template <int R>
static void launch_conv(const ConvProblem &p, const float *x, const float *w, const float *b,
                        float *y, cudaStream_t stream)
{
    Cut cut = cut_of(p);
    if (cut.filters == 4)
        launch_cut<R, 4>(p, cut, x, w, b, y, stream);
    else
        launch_cut<R, 8>(p, cut, x, w, b, y, stream);
}

/* ---- fully connected layers -------------------------------------------------------------------- */

/* One image, or a few: a warp has OUTPUTS outputs of one image over one slice of its inputs, and
 * part[n][slice][k] gets the sums. */
enum { OUTPUTS = 4, ROW_WARPS = 4 };

__global__ void rows_kernel(FcProblem p, int each, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ part)
{
    int lane = threadIdx.x, k0 = (blockIdx.x * ROW_WARPS + threadIdx.y) * OUTPUTS;
    int slice = blockIdx.y, n = blockIdx.z, begin = slice * each, end = min(begin + each, p.C);
    float sum[OUTPUTS] = {};
    const float *row[OUTPUTS];
    if (k0 >= p.K) return;
    for (int i = 0; i < OUTPUTS; i++)
        row[i] = w + (size_t)min(k0 + i, p.K - 1) * p.C;
    x += (size_t)n * p.C;
#pragma unroll 7
    for (int c = begin + lane; c < end; c += WARP) {
        float input = x[c];
        for (int i = 0; i < OUTPUTS; i++)
            sum[i] += input * row[i][c];
    }
    for (int i = 0; i < OUTPUTS; i++)
        for (int step = WARP / 2; step; step /= 2)
            sum[i] += __shfl_xor_sync(0xffffffff, sum[i], step);
#pragma unroll
    for (int i = 0; i < OUTPUTS; i++)
        if (lane == i && k0 + i < p.K)
            part[((size_t)n * gridDim.y + slice) * p.K + k0 + i] = sum[i];
}

/* Many images: a block has FC_SIDE outputs of IMAGES images over one slice, a thread 4 x 4. */
enum { FC_SIDE = 64, FC_DEPTH = 16 };

template <int IMAGES>
__global__ void product_kernel(FcProblem p, int each, const float *__restrict__ x,
                               const float *__restrict__ w, float *__restrict__ part)
{
    __shared__ float4 xs4[FC_DEPTH * IMAGES / 4], ws4[FC_DEPTH * FC_SIDE / 4];
    float *xs = (float *)xs4, *ws = (float *)ws4;
    int k0 = blockIdx.x * FC_SIDE, n0 = blockIdx.z * IMAGES, slice = blockIdx.y;
    int begin = slice * each, end = min(begin + each, p.C), threads = FC_SIDE / 4 * IMAGES / 4;
    int me = threadIdx.x, a = me % (FC_SIDE / 4) * 4, o = me / (FC_SIDE / 4) * 4;
    float sum[4][4] = {};
    for (int c0 = begin; c0 < end; c0 += FC_DEPTH) {
        __syncthreads();
        for (int i = me; i < FC_DEPTH * FC_SIDE; i += threads) {
            int c = i % FC_DEPTH, k = i / FC_DEPTH;
            ws[c * FC_SIDE + k] =
                k0 + k < p.K && c0 + c < end ? w[(size_t)(k0 + k) * p.C + c0 + c] : 0.0f;
        }
        for (int i = me; i < FC_DEPTH * IMAGES; i += threads) {
            int c = i % FC_DEPTH, n = i / FC_DEPTH;
            xs[c * IMAGES + n] =
                n0 + n < p.N && c0 + c < end ? x[(size_t)(n0 + n) * p.C + c0 + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < FC_DEPTH; c++) {
            float wide[4], high[4];
            *(float4 *)wide = *(float4 *)&ws[c * FC_SIDE + a];
            *(float4 *)high = *(float4 *)&xs[c * IMAGES + o];
#pragma unroll
            for (int i = 0; i < 16; i++)
                sum[i / 4][i % 4] += high[i / 4] * wide[i % 4];
        }
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        int n = n0 + o + i / 4, k = k0 + a + i % 4;
        if (n < p.N && k < p.K) part[((size_t)n * gridDim.y + slice) * p.K + k] = sum[i / 4][i % 4];
    }
}

/* The sums of all slices, in their order. */
__device__ static float sum_of_parts(const float *part, int slices, int K, int k)
{
    float sum = 0.0f;
#pragma unroll 8
    for (int s = 0; s < slices; s++)
        sum += part[s * K + k];
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
    float mine = lane < classes ? logit[lane] : -INFINITY, largest = mine;
    for (int step = WARP / 2; step; step /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    float power = lane < classes ? expf(mine - largest) : 0.0f, sum = power;
    for (int step = WARP / 2; step; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane < classes) y[(size_t)blockIdx.x * classes + lane] = power / sum;
}

#ifdef TUNE
static int tune_each, tune_few = 3;
extern "C" void electrode_tune_full(int each, int few)
{
    tune_each = each;
    tune_few = few;
}
#endif

/* How many inputs a slice has. */
static int slice_of(const FcProblem &p)
{
#ifdef TUNE
    if (tune_each) return tune_each;
#endif
    return p.N < 4 ? 896 : 448;
}

static void launch_full(const FcProblem &p, const float *x, const float *w, float *part,
                        cudaStream_t stream)
{
    int each = slice_of(p), slices = pieces(p.C, each), few = 3;
#ifdef TUNE
    few = tune_few;
#endif
    if (p.N <= few)
        rows_kernel<<<dim3(pieces(p.K, ROW_WARPS * OUTPUTS), slices, p.N), dim3(WARP, ROW_WARPS), 0,
                      stream>>>(p, each, x, w, part);
    else if (p.N <= 16)
        product_kernel<16><<<dim3(pieces(p.K, FC_SIDE), slices, pieces(p.N, 16)), 64, 0, stream>>>(
            p, each, x, w, part);
    else
        product_kernel<64><<<dim3(pieces(p.K, FC_SIDE), slices, pieces(p.N, 64)), 256, 0, stream>>>(
            p, each, x, w, part);
}

/* ---- the entry points ---------------------------------------------------------------------------- */

extern "C" void fc_forward(const FcProblem *p, const float *x, const float *w, float *y,
                           cudaStream_t stream)
{
    int slices = pieces(p->C, slice_of(*p));
    float *part;
    cudaMalloc(&part, sizeof(float) * p->N * slices * p->K);
    launch_full(*p, x, w, part, stream);
    sum_kernel<<<pieces((long long)p->N * p->K, SUM_THREADS), SUM_THREADS, 0, stream>>>(
        p->K, p->N * p->K, slices, part, y);
    cudaFree(part);
}

/* A convolution of the network: C maps of H x W to K of the same size, then pooled. */
static ConvProblem same_conv(int N, int C, int H, int W, int K, int R, int pool)
{
    return {N, C, H, W, K, R, R, H, W, (R - 1) / 2, (R - 1) / 2, R / 2, R / 2, 1, 1, 0, 0, pool, 0};
}

extern "C" void electrode_forward(const ElectrodeProblem *p, const float *x, const float *w,
                                  float *y, cudaStream_t stream)
{
    const int *at = p->weights, *bias = p->biases;
    ConvProblem first = same_conv(p->N, 1, p->H, p->W, p->c, ELECTRODE_R1, 2);
    ConvProblem second = same_conv(p->N, p->c, p->H / 2, p->W / 2, p->c, ELECTRODE_R2, 2);
    ConvProblem third = same_conv(p->N, p->c, p->H / 4, p->W / 4, p->c, ELECTRODE_R3, 0);
    FcProblem full = {p->N, p->c * (p->H / 4) * (p->W / 4), p->f};
    if (p->padded) {
        first.H += ELECTRODE_R1 - 1;
        first.W += ELECTRODE_R1 - 1;
        first.pad_top = first.pad_left = 0;
    }
    int slices = pieces(full.C, slice_of(full));
    size_t N = p->N;
    float *one, *two, *three, *part;
    cudaMalloc(&one, sizeof(float) * N * (full.C * 4 + full.C + full.C + (size_t)slices * p->f));
    two = one + N * full.C * 4;
    three = two + N * full.C;
    part = three + N * full.C;
    launch_conv<ELECTRODE_R1>(first, x, w + at[0], w + bias[0], one, stream);
    launch_conv<ELECTRODE_R2>(second, one, w + at[1], w + bias[1], two, stream);
    launch_conv<ELECTRODE_R3>(third, two, w + at[2], w + bias[2], three, stream);
    launch_full(full, three, w + at[3], part, stream);
    out_kernel<<<p->N, SUM_THREADS, sizeof(float) * p->f, stream>>>(
        p->f, p->classes, slices, part, w + bias[3], w + at[4], w + bias[4], y);
    cudaFree(one);
}
