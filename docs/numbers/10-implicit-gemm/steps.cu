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
    MINE = STEP == 1  ? 1
           : STEP < 4 ? 4
                      : 8,
    VECTOR = STEP >= 3,
    AHEAD = STEP >= 5,
    DEPTH = 16,
    SIDE = TILE / MINE, /* threads of a block across and down: 16 */
    THREADS = SIDE * SIDE,
    EACH = TILE * DEPTH / THREADS, /* what a thread loads of each tile */
    PITCH = TILE + (VECTOR ? 4 : 1),
    OFFSETS = 1024,
    NO_TAP = 0x7fff0000
};

/* Where the i-th of a thread's MINE sums lies along a side: fours of neighbours, or every
 * SIDE-th. */
__device__ int place(int i, int thread)
{
    return VECTOR ? i / 4 * (SIDE * 4) + thread * 4 + i % 4 : i * SIDE + thread;
}

/* Its MINE values of a row of a tile. */
__device__ void take(const float *row, int thread, float *value)
{
#pragma unroll
    for (int i = 0; i < MINE; i += VECTOR ? 4 : 1)
        if (VECTOR)
            *(float4 *)&value[i] = *(const float4 *)&row[place(i, thread)];
        else
            value[i] = row[place(i, thread)];
}

/* Block (bx, by) owns TILE columns and TILE filters, thread t of it MINE x MINE of them: across t %
 * SIDE, down t / SIDE. */
__global__ void __launch_bounds__(THREADS, STEP >= 4 ? 2 : 1)
    product_kernel(const ConvProblem p, const float *__restrict__ w, const float *__restrict__ x,
                   float *__restrict__ y)
{
    __shared__ float4 four[2 * DEPTH * (PITCH + TILE) / 4 + 1];
    __shared__ int2 offset[OFFSETS];
    float(*weights)[DEPTH][PITCH] = (float(*)[DEPTH][PITCH])four;
    float(*inputs)[DEPTH][TILE] = (float(*)[DEPTH][TILE])(&weights[2][0][0]);
    const int t = threadIdx.x, across = t % SIDE, down = t / SIDE;
    const int pixels = p.P * p.Q, columns = p.N * pixels, rows = p.C * p.R * p.S;
    const int k0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE;

    /* This thread gathers column j0 + t % TILE. */
    const int mine = j0 + t % TILE < columns ? j0 + t % TILE : columns - 1;
    const int ih = mine % pixels / p.Q * p.stride_h - p.pad_top,
              iw = mine % p.Q * p.stride_w - p.pad_left;
    const int at = ih * 65536 + iw, last = (p.H - 1) * 65536 + p.W - 1;
    const float *my_x = x + (mine / pixels * p.C * p.H + ih) * p.W + iw;

    float sum[MINE][MINE] = {}, weight[EACH], input[EACH];
    for (int first = 0; first < rows; first += OFFSETS) {
        const int some = rows - first < OFFSETS ? rows - first : OFFSETS,
                  tiles = (some + DEPTH - 1) / DEPTH;
        __syncthreads();
        for (int i = t; i < tiles * DEPTH; i += THREADS) {
            int row = first + i, s = row % p.S, r = row / p.S % p.R, c = row / p.S / p.R;
            offset[i] = make_int2((c * p.H + r) * p.W + s, i < some ? r * 65536 + s : NO_TAP);
        }
        __syncthreads();
        for (int tile = -1; tile < tiles; tile++) {
            const int now = AHEAD ? tile & 1 : 0, then = AHEAD ? now ^ 1 : 0;
            const bool more = tile + 1 < tiles;
            auto load = [&]() {
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    int k = k0 + (t + i * THREADS) / DEPTH, row = (tile + 1) * DEPTH + t % DEPTH;
                    weight[i] = k < p.K && row < some ? w[(size_t)k * rows + first + row] : 0.0f;
                    int2 o = offset[(tile + 1) * DEPTH + (t + i * THREADS) / TILE];
                    bool inside = (((at + o.y) | (last - at - o.y)) & 0x80008000) == 0;
                    input[i] = inside ? my_x[o.x] : 0.0f;
                }
            };
            if (AHEAD && more) load();
            if (tile >= 0) {
#pragma unroll
                for (int i = 0; i < DEPTH; i++) {
                    float a[MINE], b[MINE];
                    take(weights[now][i], down, a);
                    take(inputs[now][i], across, b);
#pragma unroll
                    for (int f = 0; f < MINE; f++)
#pragma unroll
                        for (int g = 0; g < MINE; g++)
                            sum[f][g] += a[f] * b[g];
                }
            }
            if (!AHEAD) __syncthreads();
            if (!AHEAD && more) load();
            if (more) {
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    weights[then][t % DEPTH][(t + i * THREADS) / DEPTH] = weight[i];
                    inputs[then][(t + i * THREADS) / TILE][t % TILE] = input[i];
                }
            }
            __syncthreads();
        }
    }
#pragma unroll
    for (int f = 0; f < MINE; f++)
#pragma unroll
        for (int g = 0; g < MINE; g++) {
            int k = k0 + place(f, down), column = j0 + place(g, across);
            if (k < p.K && column < columns)
                y[(column / pixels * p.K + k) * pixels + column % pixels] = sum[f][g];
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 grid((p->N * p->P * p->Q + TILE - 1) / TILE, (p->K + TILE - 1) / TILE);
    product_kernel<<<grid, THREADS, 0, stream>>>(*p, w, x, y);
}
