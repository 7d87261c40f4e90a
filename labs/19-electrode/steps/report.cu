/* Lab 19: the report's four strategies, each corrected.  An example to read and to time; do not
 * hand it in.  Choose one strategy: */
#ifndef STRATEGY
#define STRATEGY STREAMS /* STREAMS, CHANNELS, SCATTER or IM2COL */
#endif
#include <convlab/electrode.h>
#include <convlab/layers.h>
#include <stdio.h>

enum { STREAMS, CHANNELS, SCATTER, IM2COL };
enum { THREADS = 128, WARP = 32, WARPS = THREADS / WARP };

static int blocks(long long all, int each)
{
    return (int)((all + each - 1) / each);
}

/* One layer of one image: C maps of H x W to K maps of the same size by filters of R x R. */
typedef struct Layer {
    int C, H, W, K, R;
} Layer;

/* Launches the kernel for the filter size R = 8, 4 or 2. */
#define BY_SIDE(R, kernel, ...)                                                                    \
    do {                                                                                           \
        if (R == 8) kernel<8> __VA_ARGS__;                                                         \
        if (R == 4) kernel<4> __VA_ARGS__;                                                         \
        if (R == 2) kernel<2> __VA_ARGS__;                                                         \
    } while (0)

/* ---- constant memory ------------------------------------------------------------------------- */

/* 64 KB: all 64 filters of CONV1 fit, but CONV2's fit only for one input map at a time.  Therefore
 * the report rewrites the constant memory before each kernel. */
enum { TAPS = 64 * 64 };
__constant__ float taps[TAPS];

/* Filters k .. k+count-1 of map c become taps[slot ...], R*R each. */
static void copy_taps(const Layer &l, const float *w, int k, int count, int c, int slot,
                      cudaStream_t stream)
{
    size_t each = sizeof(float) * l.R * l.R;
    void *to;
    cudaGetSymbolAddress(&to, taps);
    cudaMemcpy2DAsync((char *)to + slot * each, each, w + ((size_t)k * l.C + c) * l.R * l.R,
                      each * l.C, each, count, cudaMemcpyDeviceToDevice, stream);
}

/* ---- 1. one stream per output channel -------------------------------------------------------- */

/* Adds one input map's contribution to one output map; one thread per output. */
template <int R>
__global__ void one_map_kernel(Layer l, int slot, int first, const float *__restrict__ x,
                               float *__restrict__ y)
{
    int i = blockIdx.x * THREADS + threadIdx.x, p = i / l.W, q = i % l.W;
    if (i >= l.H * l.W) return;
    float sum = first ? 0.0f : y[i];
    for (int r = 0; r < R; r++)
        for (int s = 0; s < R; s++) {
            int h = p + r - (R - 1) / 2, w = q + s - (R - 1) / 2;
            if (h >= 0 && h < l.H && w >= 0 && w < l.W)
                sum += x[h * l.W + w] * taps[slot * R * R + r * R + s];
        }
    y[i] = sum;
}

enum { LANES = 64 };
static cudaStream_t lane[LANES];
static cudaEvent_t begun, done[LANES];

/* Stream k % LANES computes output map k and has its own part of the constant memory. */
static void conv_streams(const Layer &l, const float *x, const float *w, float *y,
                         cudaStream_t stream)
{
    for (int k = 0; k < LANES && !lane[k]; k++) {
        cudaStreamCreate(&lane[k]);
        cudaEventCreateWithFlags(&done[k], cudaEventDisableTiming);
    }
    if (!begun) cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
    cudaEventRecord(begun, stream);
    for (int k = 0; k < l.K; k++) {
        int at = k % LANES;
        cudaStreamWaitEvent(lane[at], begun, 0);
        for (int c = 0; c < l.C; c++) {
            copy_taps(l, w, k, 1, c, at, lane[at]);
            BY_SIDE(l.R, one_map_kernel,
                    <<<blocks(l.H * l.W, THREADS), THREADS, 0, lane[at]>>>(
                        l, at, c == 0, x + c * l.H * l.W, y + k * l.H * l.W));
        }
        cudaEventRecord(done[at], lane[at]);
        cudaStreamWaitEvent(stream, done[at], 0);
    }
}

/* ---- 2. many channels per kernel ------------------------------------------------------------- */

/* Adds one input map's contribution to `count` output maps; a thread keeps its window in registers.
 */
template <int R>
__global__ void many_maps_kernel(Layer l, int count, int first, const float *__restrict__ x,
                                 float *__restrict__ y)
{
    int i = blockIdx.x * THREADS + threadIdx.x, p = i / l.W, q = i % l.W;
    if (i >= l.H * l.W) return;
    float window[R * R];
#pragma unroll
    for (int t = 0; t < R * R; t++) {
        int h = p + t / R - (R - 1) / 2, w = q + t % R - (R - 1) / 2;
        window[t] = h >= 0 && h < l.H && w >= 0 && w < l.W ? x[h * l.W + w] : 0.0f;
    }
    for (int k = 0; k < count; k++, y += l.H * l.W) {
        float sum = first ? 0.0f : y[i];
#pragma unroll
        for (int t = 0; t < R * R; t++)
            sum += window[t] * taps[k * R * R + t];
        y[i] = sum;
    }
}

static void conv_channels(const Layer &l, const float *x, const float *w, float *y,
                          cudaStream_t stream)
{
    int room = TAPS / (l.R * l.R);
    for (int k = 0; k < l.K; k += room)
        for (int c = 0; c < l.C; c++) {
            int count = min(room, l.K - k);
            copy_taps(l, w, k, count, c, 0, stream);
            BY_SIDE(l.R, many_maps_kernel,
                    <<<blocks(l.H * l.W, THREADS), THREADS, 0, stream>>>(
                        l, count, c == 0, x + c * l.H * l.W, y + k * l.H * l.W));
        }
}

/* ---- 3. scatter ------------------------------------------------------------------------------ */

/* A thread loads one input and adds its contributions to all outputs that use it.  Other threads
 * add to the same outputs: the report's y += value loses contributions, atomicAdd does not. */
template <int R>
__global__ void scatter_kernel(Layer l, const float *__restrict__ x, const float *__restrict__ w,
                               float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x, h = i / l.W, column = i % l.W, c = blockIdx.y;
    if (i >= l.H * l.W) return;
    float value = x[c * l.H * l.W + i];
    for (int k = 0; k < l.K; k++)
        for (int t = 0; t < R * R; t++) {
            int p = h - t / R + (R - 1) / 2, q = column - t % R + (R - 1) / 2;
            if (p >= 0 && p < l.H && q >= 0 && q < l.W)
                atomicAdd(&y[(k * l.H + p) * l.W + q], value * w[(k * l.C + c) * R * R + t]);
        }
}

static void conv_scatter(const Layer &l, const float *x, const float *w, float *y,
                         cudaStream_t stream)
{
    cudaMemsetAsync(y, 0, sizeof(float) * l.K * l.H * l.W, stream);
    BY_SIDE(l.R, scatter_kernel,
            <<<dim3(blocks(l.H * l.W, THREADS), l.C), THREADS, 0, stream>>>(l, x, w, y));
}

/* ---- 4.  im2col and a matrix product -----------------------------------------------------------
 */

/* Row (c, r, s) of the matrix has the inputs of tap (r, s) of map c, one per output. */
template <int R>
__global__ void unroll_kernel(Layer l, const float *__restrict__ x, float *__restrict__ matrix)
{
    int i = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y, c = row / (R * R);
    if (i >= l.H * l.W) return;
    int h = i / l.W + row / R % R - (R - 1) / 2, w = i % l.W + row % R - (R - 1) / 2;
    bool inside = h >= 0 && h < l.H && w >= 0 && w < l.W;
    matrix[(size_t)row * l.H * l.W + i] = inside ? x[(c * l.H + h) * l.W + w] : 0.0f;
}

/* y (K x columns) = w (K x depth) times the matrix, in tiles of SIDE x SIDE; a thread has 4
 * outputs. */
enum { SIDE = 32 };
__global__ void product_kernel(int K, int depth, int columns, const float *__restrict__ w,
                               const float *__restrict__ matrix, float *__restrict__ y)
{
    __shared__ float left[SIDE][SIDE + 1], right[SIDE][SIDE];
    int k0 = blockIdx.y * SIDE, column = blockIdx.x * SIDE + threadIdx.x;
    float sum[4] = {};
    for (int d0 = 0; d0 < depth; d0 += SIDE) {
        __syncthreads();
        for (int i = threadIdx.y; i < SIDE; i += SIDE / 4) {
            int d = d0 + threadIdx.x;
            left[i][threadIdx.x] = k0 + i < K && d < depth ? w[(size_t)(k0 + i) * depth + d] : 0;
            right[i][threadIdx.x] = d0 + i < depth && column < columns
                                        ? matrix[(size_t)(d0 + i) * columns + column]
                                        : 0;
        }
        __syncthreads();
        for (int d = 0; d < SIDE; d++)
            for (int j = 0; j < 4; j++)
                sum[j] += left[threadIdx.y + j * SIDE / 4][d] * right[d][threadIdx.x];
    }
    for (int j = 0; j < 4; j++) {
        int k = k0 + threadIdx.y + j * SIDE / 4;
        if (k < K && column < columns) y[(size_t)k * columns + column] = sum[j];
    }
}

static void conv_im2col(const Layer &l, const float *x, const float *w, float *y, float *matrix,
                        cudaStream_t stream)
{
    int columns = l.H * l.W, depth = l.C * l.R * l.R;
    BY_SIDE(l.R, unroll_kernel,
            <<<dim3(blocks(columns, THREADS), depth), THREADS, 0, stream>>>(l, x, matrix));
    product_kernel<<<dim3(blocks(columns, SIDE), blocks(l.K, SIDE)), dim3(SIDE, SIDE / 4), 0,
                     stream>>>(l.K, depth, columns, w, matrix, y);
}

/* ---- common to all strategies ---------------------------------------------------------------- */

/* y = the maximum of pool x pool of ReLU(x + b), for K maps. */
__global__ void finish_kernel(Layer l, int pool, const float *__restrict__ x,
                              const float *__restrict__ b, float *__restrict__ y)
{
    int i = blockIdx.x * THREADS + threadIdx.x, Q = l.W / pool, P = l.H / pool;
    if (i >= l.K * P * Q) return;
    int k = i / Q / P;
    const float *from = x + (k * l.H + i / Q % P * pool) * l.W + i % Q * pool;
    float maximum = -INFINITY;
    for (int j = 0; j < pool * pool; j++)
        maximum = fmaxf(maximum, from[j / pool * l.W + j % pool]);
    y[i] = fmaxf(maximum + b[k], 0.0f);
}

/* y[k] = sum of x[c] w[k][c] + b[k]; one warp per output, so that lanes load neighbours. */
__global__ void full_kernel(int C, int K, int relu, const float *__restrict__ x,
                            const float *__restrict__ w, const float *__restrict__ b,
                            float *__restrict__ y)
{
    int k = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (k >= K) return;
    float sum = 0.0f;
    for (int c = lane; c < C; c += WARP)
        sum += x[c] * w[(size_t)k * C + c];
    for (int step = WARP / 2; step; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0) y[k] = relu ? fmaxf(sum + b[k], 0.0f) : sum + b[k];
}

__global__ void softmax_kernel(int K, const float *__restrict__ x, float *__restrict__ y)
{
    float maximum = -INFINITY, sum = 0.0f;
    for (int k = 0; k < K; k++)
        maximum = fmaxf(maximum, x[k]);
    for (int k = 0; k < K; k++)
        sum += expf(x[k] - maximum);
    if (threadIdx.x < K) y[threadIdx.x] = expf(x[threadIdx.x] - maximum) / sum;
}

static void convolve(const Layer &l, const float *x, const float *w, float *y, float *matrix,
                     cudaStream_t stream)
{
    if (STRATEGY == STREAMS) conv_streams(l, x, w, y, stream);
    if (STRATEGY == CHANNELS) conv_channels(l, x, w, y, stream);
    if (STRATEGY == SCATTER) conv_scatter(l, x, w, y, stream);
    if (STRATEGY == IM2COL) conv_im2col(l, x, w, y, matrix, stream);
}

/* One image after the other: the report has no batches.  x has no zeros around it. */
extern "C" void electrode_forward(const ElectrodeProblem *p, const float *x, const float *w,
                                  float *y, cudaStream_t stream)
{
    const int *at = p->weights, *bias = p->biases;
    size_t map = p->H * p->W, maps = p->c * map, matrix = max(64 * map, 4 * maps);
    float *sums, *values, *unrolled, *units;
    cudaMalloc(&sums, sizeof(float) * (2 * maps + matrix + p->f + p->classes));
    values = sums + maps;
    unrolled = values + maps;
    units = unrolled + matrix;
    for (int n = 0; n < p->N; n++, x += map, y += p->classes) {
        for (int i = 0; i < 3; i++) {
            int shrink = i ? 2 * i : 1, pool = i < 2 ? 2 : 1;
            Layer l = {i ? p->c : 1, p->H / shrink, p->W / shrink, p->c, 8 >> i};
            convolve(l, i ? values : x, w + at[i], sums, unrolled, stream);
            finish_kernel<<<blocks(l.K * l.H * l.W / pool / pool, THREADS), THREADS, 0, stream>>>(
                l, pool, sums, w + bias[i], values);
        }
        full_kernel<<<blocks(p->f, WARPS), THREADS, 0, stream>>>(maps / 16, p->f, 1, values,
                                                                 w + at[3], w + bias[3], units);
        full_kernel<<<blocks(p->classes, WARPS), THREADS, 0, stream>>>(
            p->f, p->classes, 0, units, w + at[4], w + bias[4], units + p->f);
        softmax_kernel<<<1, WARP, 0, stream>>>(p->classes, units + p->f, y);
    }
    cudaFree(sums);
}

/* The lab's other entry points.  The strategies compute whole networks only. */
extern "C" void conv_forward(const ConvProblem *, const float *, const float *, float *,
                             cudaStream_t)
{
    fprintf(stderr, "report.cu computes electrode_forward only, not conv_forward\n");
}

extern "C" void fc_forward(const FcProblem *, const float *, const float *, float *, cudaStream_t)
{
    fprintf(stderr, "report.cu computes electrode_forward only, not fc_forward\n");
}
