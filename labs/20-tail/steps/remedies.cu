/* remedies.cu - one tiled convolution with four ways to distribute its work over blocks (section
 * Remedies of the handout): change REMEDY, and run it in place of lab 10's source.
 *
 * The work is tiles of 64 filters by 64 outputs.  Each tile has `chunks` of 16 rows to accumulate.
 * The units of work are numbered tile by tile and chunk by chunk.  Block b of `blocks` has the
 * units
 *
 *     total*b/blocks .. total*(b+1)/blocks - 1,
 *
 * so the number of blocks decides.  One block per tile is the plain kernel; PIECES blocks per tile
 * are split-K; the number of blocks that the GPU holds at a time gives stream-K.  There every block
 * has the same share of at least LEAST chunks, and a share may end in the middle of a tile.  A
 * block stores the partial sums of an incomplete tile to memory, and a second kernel adds the
 * partial sums up, in order. */
#include <convlab/conv.h>

enum { PLAIN, SPLIT_K, PERSISTENT, STREAM_K };
#ifndef REMEDY
#define REMEDY PLAIN
#endif
enum { PIECES = 4, LEAST = 8, TILE = 64, DEPTH = 16, MINE = 4, THREADS = 256, PITCH = TILE + 4 };

struct Work {
    int across, tiles, chunks; /* tiles along the outputs, in all; chunks of a tile */
    int blocks;
};

__host__ __device__ int work_begin(const Work &work, int b)
{
    return (int)((long long)work.tiles * work.chunks * b / work.blocks);
}

/* The block whose share contains this unit. */
__device__ int work_owner(const Work &work, int unit)
{
    return (int)(((long long)(unit + 1) * work.blocks - 1) / ((long long)work.tiles * work.chunks));
}

/* A block has memory for two partial tiles: number 1 for the tile that starts in its share, number
 * 0 for one that started before. */
__device__ float *part_of(const Work &work, float *parts, int b, int tile)
{
    const int which = tile * work.chunks >= work_begin(work, b);
    return parts + (size_t)(b * 2 + which) * TILE * TILE;
}

/* Accumulates chunks begin .. end-1 of a tile: filters k0 + t/16*4 + f, columns j0 + t%16*4 + g.
 * Thread t loads element t of each chunk. */
__device__ void chunks_add(const ConvProblem &p, int k0, int j0, int begin, int end,
                           const float *__restrict__ w, const float *__restrict__ x,
                           float (&sum)[MINE][MINE])
{
    __shared__ float weights[DEPTH][PITCH], inputs[DEPTH][TILE];
    const int t = threadIdx.x, rows = p.C * p.R * p.S, pixels = p.P * p.Q;
    const int column = j0 + t % TILE, n = column / pixels;
    const int ih = column % pixels / p.Q * p.stride_h - p.pad_top;
    const int iw = column % p.Q * p.stride_w - p.pad_left;
    for (int first = begin * DEPTH; first < end * DEPTH; first += DEPTH) {
        for (int i = t; i < DEPTH * TILE; i += THREADS) {
            int k = k0 + i / DEPTH, row = first + i % DEPTH;
            weights[i % DEPTH][i / DEPTH] = k < p.K && row < rows ? w[k * rows + row] : 0.0f;
        }
        for (int i = t / TILE; i < DEPTH; i += THREADS / TILE) {
            int row = first + i, c = row / (p.R * p.S), r = row / p.S % p.R, s = row % p.S;
            bool inside =
                row < rows && n < p.N && ih + r >= 0 && ih + r < p.H && iw + s >= 0 && iw + s < p.W;
            inputs[i][t % TILE] = inside ? x[((n * p.C + c) * p.H + ih + r) * p.W + iw + s] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; i++)
            for (int f = 0; f < MINE; f++)
                for (int g = 0; g < MINE; g++)
                    sum[f][g] += weights[i][t / 16 * MINE + f] * inputs[i][t % 16 * MINE + g];
        __syncthreads();
    }
}

/* Stores element (f, g) of a tile to y, if it exists. */
__device__ void output_store(const ConvProblem &p, int k, int column, float value, float *y)
{
    const int pixels = p.P * p.Q;
    if (k < p.K && column < p.N * pixels)
        y[(column / pixels * p.K + k) * pixels + column % pixels] = value;
}

/* Chunks begin .. end-1 of a tile: to y if they are all of it, else to the block's parts. */
__device__ void tile_do(const ConvProblem &p, const Work &work, int tile, int begin, int end,
                        const float *w, const float *x, float *y, float *parts)
{
    const int k0 = tile / work.across * TILE, j0 = tile % work.across * TILE;
    const int my_k = threadIdx.x / 16 * MINE, my_column = threadIdx.x % 16 * MINE;
    const bool whole = begin == 0 && end == work.chunks;
    float sum[MINE][MINE] = {};
    chunks_add(p, k0, j0, begin, end, w, x, sum);
    float *part = whole ? nullptr : part_of(work, parts, blockIdx.x, tile);
    for (int f = 0; f < MINE; f++)
        for (int g = 0; g < MINE; g++)
            if (whole)
                output_store(p, k0 + my_k + f, j0 + my_column + g, sum[f][g], y);
            else
                part[(my_k + f) * TILE + my_column + g] = sum[f][g];
}

/* A block's share, a tile after the other. */
__global__ void __launch_bounds__(THREADS)
    share_kernel(const ConvProblem p, const Work work, const float *__restrict__ w,
                 const float *__restrict__ x, float *__restrict__ y, float *__restrict__ parts)
{
    const int end = work_begin(work, blockIdx.x + 1);
    for (int unit = work_begin(work, blockIdx.x); unit < end;) {
        const int tile = unit / work.chunks, last = (tile + 1) * work.chunks;
        const int stop = last < end ? last : end;
        tile_do(p, work, tile, unit - tile * work.chunks, stop - tile * work.chunks, w, x, y,
                parts);
        unit = stop;
    }
}

/* As many blocks as the GPU holds; each takes every gridDim.x-th tile. */
__global__ void __launch_bounds__(THREADS)
    persistent_kernel(const ConvProblem p, const Work work, const float *__restrict__ w,
                      const float *__restrict__ x, float *__restrict__ y)
{
    for (int tile = blockIdx.x; tile < work.tiles; tile += gridDim.x)
        tile_do(p, work, tile, 0, work.chunks, w, x, y, nullptr);
}

/* Adds the parts of each tile that was not done whole.  Block b owns tile b, a thread 16 of its
 * outputs. */
__global__ void parts_add_kernel(const ConvProblem p, const Work work, float *__restrict__ parts,
                                 float *__restrict__ y)
{
    const int tile = blockIdx.x;
    const int from = work_owner(work, tile * work.chunks);
    const int to = work_owner(work, (tile + 1) * work.chunks - 1);
    if (from == to) return;
    for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
        float sum = 0.0f;
        for (int b = from; b <= to; b++)
            sum += part_of(work, parts, b, tile)[i];
        output_store(p, tile / work.across * TILE + i / TILE, tile % work.across * TILE + i % TILE,
                     sum, y);
    }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    int sms = 1, resident = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, share_kernel, THREADS, 0);
    Work work;
    work.across = (p->N * p->P * p->Q + TILE - 1) / TILE;
    work.tiles = work.across * ((p->K + TILE - 1) / TILE);
    work.chunks = (p->C * p->R * p->S + DEPTH - 1) / DEPTH;
    work.blocks = REMEDY == SPLIT_K    ? work.tiles * PIECES
                  : REMEDY == STREAM_K ? sms * resident
                                       : work.tiles;
    const int units = work.tiles * work.chunks, least = REMEDY == STREAM_K ? LEAST : 1;
    if (work.blocks > units / least) work.blocks = units > least ? units / least : 1;
    if (REMEDY == PERSISTENT) {
        const int blocks = sms * resident < work.tiles ? sms * resident : work.tiles;
        persistent_kernel<<<blocks, THREADS, 0, stream>>>(*p, work, w, x, y);
        return;
    }
    if (work.blocks == work.tiles) {
        share_kernel<<<work.blocks, THREADS, 0, stream>>>(*p, work, w, x, y, nullptr);
        return;
    }
    float *parts = nullptr;
    cudaMalloc(&parts, sizeof(float) * 2 * TILE * TILE * work.blocks);
    share_kernel<<<work.blocks, THREADS, 0, stream>>>(*p, work, w, x, y, parts);
    parts_add_kernel<<<work.tiles, THREADS, 0, stream>>>(*p, work, parts, y);
    cudaFree(parts); /* waits until nobody needs it */
}
