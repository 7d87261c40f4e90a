/* steps.cu - lab 10's matrix product in five steps, for the table in its handout: -DSTEP=1 to 5.
 *
 *   1  16x16 tiles in shared memory, one accumulator per thread
 *   2  64x64 tiles, 4x4 accumulators per thread in registers
 *   3  the tiles read as float4
 *   4  128x128 tiles, 8x8 accumulators per thread
 *   5  the next tiles prefetched: two buffers, one barrier per tile
 *
 * All steps gather X_unroll from x with a table of offsets, as lab 10 does.  Lab 10 adds tiles of
 * several sizes, split-K, and float4 stores. */
#include <convlab/conv.h>

#ifndef STEP
#define STEP 5
#endif
enum {
    TILE = STEP == 1  ? 16
           : STEP < 4 ? 64
                      : 128,
    THREAD_TILE = STEP == 1  ? 1
                  : STEP < 4 ? 4
                             : 8,
    VECTOR = STEP >= 3,
    PREFETCH = STEP >= 5,
    DEPTH = 16,
    SIDE = TILE / THREAD_TILE, /* threads per block side: 16 */
    THREADS = SIDE * SIDE,
    THREAD_LOADS = TILE * DEPTH / THREADS, /* elements per thread and tile */
    PITCH = TILE + (VECTOR ? 4 : 1),
    OFFSETS = 1024,
    NO_TAP = 0x7fff0000
};

/* Index along a side of a thread's i-th accumulator: groups of four, or every SIDE-th element. */
__device__ int element_index(int i, int thread)
{
    return VECTOR ? i / 4 * (SIDE * 4) + thread * 4 + i % 4 : i * SIDE + thread;
}

/* Reads a thread's THREAD_TILE values of a tile row. */
__device__ void tile_read(const float *row, int thread, float *value)
{
#pragma unroll
    for (int i = 0; i < THREAD_TILE; i += VECTOR ? 4 : 1)
        if (VECTOR)
            *(float4 *)&value[i] = *(const float4 *)&row[element_index(i, thread)];
        else
            value[i] = row[element_index(i, thread)];
}

/* Block (bx, by) computes TILE columns and TILE filters; thread (t % SIDE, t / SIDE) computes
 * THREAD_TILE x THREAD_TILE of them. */
__global__ void __launch_bounds__(THREADS, STEP >= 4 ? 2 : 1)
    gemm_kernel(const ConvProblem p, const float *__restrict__ w, const float *__restrict__ x,
                float *__restrict__ y)
{
    __shared__ float4 storage[2 * DEPTH * (PITCH + TILE) / 4 + 1];
    __shared__ int2 offset[OFFSETS];
    float(*weights)[DEPTH][PITCH] = (float(*)[DEPTH][PITCH])storage;
    float(*inputs)[DEPTH][TILE] = (float(*)[DEPTH][TILE])(&weights[2][0][0]);
    const int t = threadIdx.x, thread_j = t % SIDE, thread_k = t / SIDE;
    const int pixels = p.P * p.Q, columns = p.N * pixels, rows = p.C * p.R * p.S;
    const int k0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;

    /* This thread gathers column column0 + t % TILE. */
    const int gather_column = column0 + t % TILE < columns ? column0 + t % TILE : columns - 1;
    const int ih = gather_column % pixels / p.Q * p.stride_h - p.pad_top,
              iw = gather_column % p.Q * p.stride_w - p.pad_left;
    const int position = ih * 65536 + iw, last = (p.H - 1) * 65536 + p.W - 1;
    const float *column_x = x + (gather_column / pixels * p.C * p.H + ih) * p.W + iw;

    float acc[THREAD_TILE][THREAD_TILE] = {}, weight[THREAD_LOADS], input[THREAD_LOADS];
    for (int row0 = 0; row0 < rows; row0 += OFFSETS) {
        const int valid_rows = rows - row0 < OFFSETS ? rows - row0 : OFFSETS,
                  tiles = (valid_rows + DEPTH - 1) / DEPTH;
        __syncthreads();
        for (int i = t; i < tiles * DEPTH; i += THREADS) {
            int row = row0 + i, s = row % p.S, r = row / p.S % p.R, c = row / p.S / p.R;
            offset[i] = make_int2((c * p.H + r) * p.W + s, i < valid_rows ? r * 65536 + s : NO_TAP);
        }
        __syncthreads();
        for (int tile = -1; tile < tiles; tile++) {
            const int current = PREFETCH ? tile & 1 : 0, other = PREFETCH ? current ^ 1 : 0;
            const bool has_next = tile + 1 < tiles;
            auto load = [&]() {
#pragma unroll
                for (int i = 0; i < THREAD_LOADS; i++) {
                    int k = k0 + (t + i * THREADS) / DEPTH, row = (tile + 1) * DEPTH + t % DEPTH;
                    weight[i] =
                        k < p.K && row < valid_rows ? w[(size_t)k * rows + row0 + row] : 0.0f;
                    int2 o = offset[(tile + 1) * DEPTH + (t + i * THREADS) / TILE];
                    bool is_inside =
                        (((position + o.y) | (last - position - o.y)) & 0x80008000) == 0;
                    input[i] = is_inside ? column_x[o.x] : 0.0f;
                }
            };
            if (PREFETCH && has_next) load();
            if (tile >= 0) {
#pragma unroll
                for (int i = 0; i < DEPTH; i++) {
                    float a[THREAD_TILE], b[THREAD_TILE];
                    tile_read(weights[current][i], thread_k, a);
                    tile_read(inputs[current][i], thread_j, b);
#pragma unroll
                    for (int f = 0; f < THREAD_TILE; f++)
#pragma unroll
                        for (int g = 0; g < THREAD_TILE; g++)
                            acc[f][g] += a[f] * b[g];
                }
            }
            if (!PREFETCH) __syncthreads();
            if (!PREFETCH && has_next) load();
            if (has_next) {
#pragma unroll
                for (int i = 0; i < THREAD_LOADS; i++) {
                    weights[other][t % DEPTH][(t + i * THREADS) / DEPTH] = weight[i];
                    inputs[other][(t + i * THREADS) / TILE][t % TILE] = input[i];
                }
            }
            __syncthreads();
        }
    }
#pragma unroll
    for (int f = 0; f < THREAD_TILE; f++)
#pragma unroll
        for (int g = 0; g < THREAD_TILE; g++) {
            int k = k0 + element_index(f, thread_k), column = column0 + element_index(g, thread_j);
            if (k < p.K && column < columns)
                y[(column / pixels * p.K + k) * pixels + column % pixels] = acc[f][g];
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 grid((p->N * p->P * p->Q + TILE - 1) / TILE, (p->K + TILE - 1) / TILE);
    gemm_kernel<<<grid, THREADS, 0, stream>>>(*p, w, x, y);
}
