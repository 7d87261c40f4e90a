/* unseen.cu - more kernels as strangers have them, none like those in strangers.cu: sorting,
 * graphs, dynamic programming, signals, products with copies in the background, grids, layers.
 *
 * All of them are held out: they were written after the cycle model was finished, and what the
 * simulator says of them was kept, before any was measured; no constant may be chosen by looking
 * at them. */
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <algorithm>

#include "common/simulator/validation/entries.h"

static float *a, *b, *c, *d; /* 16 M floats each but the last: 4 M */
static float *far_away;      /* 50 M floats */
static uint32_t *keys;       /* 4 M, in no order */
static uint32_t *rising;     /* 4 M, in order */
static uint32_t *order;      /* 4 M indices of `far_away`, each another one */
static uint32_t *zeros;      /* 4 M */
static int *rows, *columns;  /* a graph: 65537 and up to 16 * 65536, few rows much longer */

#define E(family, name, ...) ENTER(HELD_OUT, family, name, __VA_ARGS__)

/* ---- sorting, scans, compaction, tables ------------------------------------------------------ */

__device__ static uint32_t warp_scan(uint32_t v)
{
    for (int o = 1; o < 32; o *= 2) {
        uint32_t left = __shfl_up_sync(0xffffffff, v, o);
        if (threadIdx.x % 32 >= o) v += left;
    }
    return v;
}

/* The sum of all tiles before `tile`: each publishes its own sum, then that of all up to it. */
__device__ static uint32_t look_back(volatile unsigned long long *state, int tile, uint32_t own,
                                     uint32_t turn)
{
    unsigned long long mine = 2 * turn + 1, all = 2 * turn + 2;
    uint32_t before = 0;
    if (tile > 0) state[tile] = mine << 32 | own;
    for (int k = tile - 1; k >= 0; k--) {
        unsigned long long seen;
        do
            seen = state[k];
        while (seen >> 32 < mine);
        before += (uint32_t)seen;
        if (seen >> 32 == all) break;
    }
    state[tile] = all << 32 | (before + own);
    return before;
}

/* One pass over all: 2048 elements a block of 256. */
__global__ void scan_lookback(const uint4 *x, uint4 *y, unsigned long long *state, uint32_t *ticket,
                              uint32_t turn)
{
    __shared__ uint32_t part[8], tile, before;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u) - turn * gridDim.x;
    __syncthreads();
    size_t at = (size_t)tile * 512 + threadIdx.x * 2;
    uint4 p = x[at], q = x[at + 1];
    p.y += p.x, p.z += p.y, p.w += p.z, q.x += p.w, q.y += q.x, q.z += q.y, q.w += q.z;
    uint32_t sum = warp_scan(q.w), warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 31) part[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t all = 0;
        for (int k = 0; k < 8; k++) {
            uint32_t one = part[k];
            part[k] = all, all += one;
        }
        before = look_back(state, tile, all, turn);
    }
    __syncthreads();
    uint32_t add = before + part[warp] + sum - q.w;
    y[at] = make_uint4(p.x + add, p.y + add, p.z + add, p.w + add);
    y[at + 1] = make_uint4(q.x + add, q.y + add, q.z + add, q.w + add);
}

/* What is over a threshold, by ballots: one atomic a block. */
__global__ void compact_ballot(const float *x, float *y, uint32_t *count, int n)
{
    __shared__ uint32_t part[8], base;
    GLOBAL_I;
    float v = i < n ? x[i] : 0;
    uint32_t vote = __ballot_sync(0xffffffff, v > 0.1f), lane = threadIdx.x % 32;
    if (lane == 0) part[threadIdx.x / 32] = __popc(vote);
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (int k = 0; k < 8; k++) {
            uint32_t one = part[k];
            part[k] = sum, sum += one;
        }
        base = atomicAdd(count, sum) & (8 * MB - 1);
    }
    __syncthreads();
    if (v > 0.1f) y[base + part[threadIdx.x / 32] + __popc(vote & ((1u << lane) - 1))] = v;
}

/* Two rising rows of n: each thread finds where its eight begin, and merges them. */
__global__ void merge_path(const uint32_t *x, const uint32_t *z, uint32_t *y, int n)
{
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int low = max(0, diagonal - n), high = min(diagonal, n);
    while (low < high) {
        int middle = (low + high) / 2;
        if (x[middle] <= z[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    int i = low, j = diagonal - low;
    for (int k = 0; k < 8; k++) {
        bool left = j >= n || (i < n && x[i] <= z[j]);
        y[diagonal + k] = left ? x[i++] : z[j++];
    }
}

/* Rows of 32 keys, each sorted by a warp in its registers. */
__global__ void sort_rows(const uint32_t *x, uint32_t *y)
{
    GLOBAL_I;
    uint32_t lane = threadIdx.x % 32, v = x[i];
    for (uint32_t k = 2; k <= 32; k *= 2)
        for (uint32_t j = k / 2; j > 0; j /= 2) {
            uint32_t other = __shfl_xor_sync(0xffffffff, v, j);
            v = ((lane & j) == 0) == ((lane & k) == 0) ? min(v, other) : max(v, other);
        }
    y[i] = v;
}

/* 1024 keys a block of 512, sorted in shared memory. */
__global__ void sort_blocks(const uint32_t *x, uint32_t *y)
{
    __shared__ uint32_t s[1024];
    const uint32_t *from = x + blockIdx.x * 1024;
    s[threadIdx.x] = from[threadIdx.x], s[threadIdx.x + 512] = from[threadIdx.x + 512];
    for (uint32_t size = 2; size <= 1024; size <<= 1)
        for (uint32_t stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint32_t pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            bool up = (threadIdx.x & (size / 2)) == 0;
            uint32_t p = s[pos], q = s[pos + stride];
            if ((p > q) == up) s[pos] = q, s[pos + stride] = p;
        }
    __syncthreads();
    y[blockIdx.x * 1024 + threadIdx.x] = s[threadIdx.x];
    y[blockIdx.x * 1024 + threadIdx.x + 512] = s[threadIdx.x + 512];
}

/* A pass of a radix sort: ranks of 4 bits in a block by matches of a warp, then to their places. */
__global__ void radix_scatter(const uint32_t *x, uint32_t *y, int shift)
{
    __shared__ uint32_t count[16][8];
    uint32_t t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t < 128) count[t / 8][t % 8] = 0;
    __syncthreads();
    uint32_t key = x[blockIdx.x * 256 + t], digit = key >> shift & 15;
    uint32_t peers = __match_any_sync(0xffffffff, digit), rank = __popc(peers & ((1u << lane) - 1));
    if (rank == 0) count[digit][warp] = __popc(peers);
    __syncthreads();
    if (t < 16) {
        uint32_t sum = 0;
        for (int k = 0; k < 8; k++) {
            uint32_t one = count[t][k];
            count[t][k] = sum, sum += one;
        }
    }
    __syncthreads();
    y[(digit * gridDim.x + blockIdx.x) * 16 + count[digit][warp] + rank] = key;
}

/* Bins of each warp of its own, added up at the end. */
__global__ void histogram_warps(const uint32_t *x, uint32_t *bins, int n)
{
    __shared__ uint32_t s[8][256];
    for (int k = threadIdx.x; k < 8 * 256; k += 256)
        s[k / 256][k % 256] = 0;
    __syncthreads();
    uint32_t *own = s[threadIdx.x / 32];
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint32_t v = x[i];
        atomicAdd(own + (v & 255), 1u), atomicAdd(own + (v >> 8 & 255), 1u);
        atomicAdd(own + (v >> 16 & 255), 1u), atomicAdd(own + (v >> 24), 1u);
    }
    __syncthreads();
    uint32_t sum = 0;
    for (int k = 0; k < 8; k++)
        sum += s[k][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
}

__device__ static uint32_t hash_of(uint32_t k)
{
    k ^= k >> 16, k *= 0x85ebca6b, k ^= k >> 13, k *= 0xc2b2ae35;
    return k ^ k >> 16;
}

/* Open addressing; a key that is there already stays. */
__global__ void hash_insert(const uint32_t *x, uint32_t *table, uint32_t mask, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t key = x[i] | 1, slot = hash_of(key) & mask;
    while (true) {
        uint32_t old = atomicCAS(&table[slot], 0u, key);
        if (old == 0 || old == key) return;
        slot = (slot + 1) & mask;
    }
}

__global__ void hash_find(const uint32_t *x, const uint32_t *table, uint32_t *y, uint32_t mask,
                          int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t key = x[i] | 1, slot = hash_of(key) & mask, found = 0xffffffff;
    for (uint32_t old; (old = table[slot]) != 0; slot = (slot + 1) & mask)
        if (old == key) {
            found = slot;
            break;
        }
    y[i] = found;
}

__global__ void prefix_most(const float *x, float *y)
{
    __shared__ float s[32];
    GLOBAL_I;
    float v = x[i];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int o = 1; o < 32; o *= 2) {
        float left = __shfl_up_sync(0xffffffff, v, o);
        if (lane >= o) v = fmaxf(v, left);
    }
    if (lane == 31) s[warp] = v;
    __syncthreads();
    if (warp == 0) {
        float w = s[lane];
        for (int o = 1; o < 32; o *= 2) {
            float left = __shfl_up_sync(0xffffffff, w, o);
            if (lane >= o) w = fmaxf(w, left);
        }
        s[lane] = w;
    }
    __syncthreads();
    y[i] = warp > 0 ? fmaxf(v, s[warp - 1]) : v;
}

/* All blocks at once: sums of a part each, a barrier of all, and the first adds those up. */
__global__ void sum_grid(const float *x, float *y, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    __shared__ float s[256];
    float sum = 0;
    for (GLOBAL_I; i < n; i += gridDim.x * 256)
        sum += x[i];
    for (int round = 0; round < 2; round++) {
        s[threadIdx.x] = sum;
        __syncthreads();
        for (int k = 128; k > 0; k >>= 1) {
            if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
            __syncthreads();
        }
        if (threadIdx.x == 0) y[round ? 1024 : blockIdx.x] = s[0];
        if (round || blockIdx.x > 0) break;
        sum = 0;
        grid.sync();
        for (int k = threadIdx.x; k < gridDim.x; k += 256)
            sum += y[k];
    }
    if (blockIdx.x > 0) grid.sync();
}

static void sum_grid_launch(int blocks, int n)
{
    void *arguments[] = {&a, &d, &n};
    cudaLaunchCooperativeKernel((const void *)sum_grid, blocks, 256, arguments, 0, 0);
}

static void sorting()
{
    static uint32_t turn;
    E("lookback", "lookback-1M",
      scan_lookback<<<512, 256>>>((uint4 *)keys, (uint4 *)c, (unsigned long long *)zeros,
                                  zeros + MB, turn++));
    E("compact-ballot", "compact-ballot",
      compact_ballot<<<8192, 256>>>(a, c, zeros + 2 * MB, 2 * MB));
    E("merge", "merge-path",
      merge_path<<<512, 256>>>(rising, rising + 2 * MB, (uint32_t *)c, 512 << 10));
    E("sort-rows", "sort-rows", sort_rows<<<4096, 256>>>(keys, (uint32_t *)c));
    E("sort-blocks", "sort-blocks", sort_blocks<<<264, 512>>>(keys, (uint32_t *)c));
    E("radix-scatter", "radix-scatter", radix_scatter<<<4096, 256>>>(keys, (uint32_t *)c, 12));
    E("histogram-warps", "histogram-warps", histogram_warps<<<264, 256>>>(keys, zeros, MB));
    E("hash", "hash-insert",
      hash_insert<<<1024, 256>>>(keys, (uint32_t *)d, (1 << 20) - 1, 256 << 10));
    E("hash", "hash-find",
      hash_find<<<2048, 256>>>(keys, (uint32_t *)d, (uint32_t *)c, (1 << 20) - 1, 512 << 10));
    E("prefix-most", "prefix-most", prefix_most<<<1024, 1024>>>(a, c));
    E("sum-grid", "sum-grid", sum_grid_launch(264, 4 * MB));
}

/* ---- graphs and sparse matrices -------------------------------------------------------------- */

/* Rows of any length, a thread each. */
__global__ void spmv_rows(const int *row, const int *column, const float *v, const float *x,
                          float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i], end = row[i + 1]; k < end; k++)
        sum += v[k] * x[column[k]];
    y[i] = sum;
}

/* All rows as long as the longest, by columns. */
__global__ void spmv_ell(const int *column, const float *v, const float *x, float *y, int n,
                         int width)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int at = column[k * n + i];
        if (at >= 0) sum += v[k * n + i] * x[at];
    }
    y[i] = sum;
}

/* One thread an element, sums by atomics. */
__global__ void spmv_triples(const uint32_t *where, const int *column, const float *v,
                             const float *x, float *y, int n)
{
    GLOBAL_I;
    if (i < n) atomicAdd(&y[where[i] & 0xffff], v[i] * x[column[i]]);
}

/* Neighbours of a queue's vertices that no one saw before enter the next one. */
__global__ void bfs_queue(const int *row, const int *column, uint32_t *seen,
                          const uint32_t *frontier, uint32_t *next, uint32_t *count, int n,
                          uint32_t turn)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v = frontier[i] & 0xffff;
    for (int k = row[v]; k < row[v + 1]; k++) {
        uint32_t w = column[k];
        if (seen[w] != turn && atomicExch(&seen[w], turn) != turn)
            next[atomicAdd(count, 1u) & 0xffff] = w;
    }
}

/* Shortest paths: all edges of a vertex try to shorten what they lead to. */
__global__ void relax(const int *row, const int *column, const uint32_t *weight,
                      const uint32_t *now, uint32_t *next, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t own = now[i] >> 16;
    for (int k = row[i]; k < row[i + 1]; k++)
        atomicMin(&next[column[k]], own + (weight[k] & 255));
}

/* Which tree is mine: up to the root. */
__global__ void find_roots(const uint32_t *parent, uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t at = i, up = hash_of(at) % (at + 1);
    while (up != at)
        at = up, up = parent[at] % (at + 1);
    y[i] = at;
}

/* A warp a vertex: mean of its neighbours' features, 64 each. */
__global__ void gather_mean(const int *row, const int *column, const float2 *x, float2 *y, int n)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= n) return;
    int from = row[v], to = row[v + 1];
    float2 sum = make_float2(0, 0);
    for (int k = from; k < to; k++) {
        float2 one = x[column[k] * 32 + lane];
        sum.x += one.x, sum.y += one.y;
    }
    float scale = 1.0f / (float)max(to - from, 1);
    y[v * 32 + lane] = make_float2(sum.x * scale, sum.y * scale);
}

static void graphs()
{
    static uint32_t turn = 1;
    E("spmv-rows", "spmv-rows", spmv_rows<<<256, 256>>>(rows, columns, a, b, c, 65536));
    E("spmv-ell", "spmv-ell", spmv_ell<<<512, 128>>>(columns, a, b, c, 65536, 10));
    E("spmv-triples", "spmv-triples",
      spmv_triples<<<2048, 256>>>(keys, columns, a, b, d, 512 << 10));
    E("bfs-queue", "bfs-queue",
      bfs_queue<<<64, 256>>>(rows, columns, zeros, keys, (uint32_t *)c, zeros + MB + 64, 16384,
                             turn++));
    E("relax", "relax", relax<<<256, 256>>>(rows, columns, keys, keys + MB, (uint32_t *)c, 65536));
    E("roots", "find-roots", find_roots<<<1024, 256>>>(keys, (uint32_t *)c, 256 << 10));
    E("gather-mean", "gather-mean",
      gather_mean<<<2048, 256>>>(rows, columns, (const float2 *)a, (float2 *)c, 16384));
}

/* ---- dynamic programming, elimination, simulations ------------------------------------------- */

/* Needleman and Wunsch: a tile of 32 x 32 a warp, diagonal after diagonal in shared memory. */
__global__ void align_tiles(const uint32_t *left, const uint32_t *top, int *score, int pitch,
                            int across)
{
    __shared__ int s[33][33];
    int t = threadIdx.x, tile_row = blockIdx.x, tile_column = across - 1 - (int)blockIdx.x;
    int *at = score + tile_row * 32 * pitch + tile_column * 32;
    s[0][t + 1] = at[t + 1], s[t + 1][0] = at[(t + 1) * pitch];
    if (t == 0) s[0][0] = at[0];
    uint32_t own = left[tile_row * 32 + t] & 3;
    __syncthreads();
    for (int step = 0; step < 63; step++) {
        int column = step - t;
        if (column >= 0 && column < 32) {
            int same = own == (top[tile_column * 32 + column] & 3) ? 3 : -2;
            s[t + 1][column + 1] =
                max(s[t][column] + same, max(s[t][column + 1], s[t + 1][column]) - 4);
        }
        __syncthreads();
    }
    for (int k = 0; k < 32; k++)
        at[(k + 1) * pitch + t + 1] = s[k + 1][t + 1];
}

/* The cheapest way down: rows at a time, what is at the borders is lost in each. */
__global__ void path_rows(const uint32_t *wall, const int *now, int *next, int width, int turns)
{
    __shared__ int before[256], after[256];
    int t = threadIdx.x, inner = 256 - 2 * turns, column = (int)blockIdx.x * inner - turns + t;
    bool inside = column >= 0 && column < width;
    before[t] = inside ? now[column] & 0xff : 0x7fffffff;
    __syncthreads();
    for (int turn = 0; turn < turns; turn++) {
        if (t > turn && t < 255 - turn && inside)
            after[t] = min(before[t], min(before[t - 1], before[t + 1])) +
                       (int)(wall[turn * width + column] & 15);
        __syncthreads();
        if (t > turn && t < 255 - turn) before[t] = after[t];
        __syncthreads();
    }
    if (t >= turns && t < 256 - turns && inside) next[column] = before[t];
}

/* A matrix's inner tile, less the product of two others of its row and its column. */
__global__ void lud_inner(float *m, int n, int offset)
{
    __shared__ float up[16][16], left[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = offset + (blockIdx.y + 1) * 16,
        column = offset + (blockIdx.x + 1) * 16;
    up[ty][tx] = m[(offset + ty) * n + column + tx];
    left[ty][tx] = m[(row + ty) * n + offset + tx];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += left[ty][k] * up[k][tx];
    m[(row + ty) * n + column + tx] -= sum;
}

/* The tile on the diagonal: one block of 16. */
__global__ void lud_diagonal(float *m, int n)
{
    __shared__ float s[16][16];
    int t = threadIdx.x;
    for (int k = 0; k < 16; k++)
        s[k][t] = m[k * n + t] + (k == t ? 20.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (t > k) {
            for (int j = 0; j < k; j++)
                s[t][k] -= s[t][j] * s[j][k];
            s[t][k] /= s[k][k];
        }
        __syncthreads();
        if (t > k)
            for (int j = 0; j < k + 1; j++)
                s[k + 1][t] -= s[k + 1][j] * s[j][t];
        __syncthreads();
    }
    for (int k = 1; k < 16; k++)
        m[MB + k * n + t] = s[k][t];
}

/* Gauss: one column of multipliers, the rest of the matrix. */
__global__ void eliminate(const float *m, float *y, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n - 1 - k || column >= n - k) return;
    row += k + 1, column += k;
    y[row * n + column] = m[row * n + column] - m[row * n + k] / m[k * n + k] * m[k * n + column];
}

/* A system of three diagonals a thread, 32 unknowns each, interleaved. */
__global__ void thomas(const double *low, const double *up, const double *right, double *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    double cs[32], ds[32];
    cs[0] = up[i] / 4.0, ds[0] = right[i] / 4.0;
#pragma unroll
    for (int k = 1; k < 32; k++) {
        double m = 1.0 / (4.0 - low[k * n + i] * cs[k - 1]);
        cs[k] = up[k * n + i] * m, ds[k] = (right[k * n + i] - low[k * n + i] * ds[k - 1]) * m;
    }
    double v = ds[31];
    y[31 * n + i] = v;
#pragma unroll
    for (int k = 30; k >= 0; k--)
        v = ds[k] - cs[k] * v, y[k * n + i] = v;
}

/* An option's tree, backwards in shared memory: one block an option. */
__global__ void binomial(const float *price, float *y, int steps)
{
    __shared__ float s[257];
    int t = threadIdx.x;
    float own = 20.0f + fabsf(price[blockIdx.x]), up = 1.01f;
    s[t] = fmaxf(own * __powf(up, (float)(2 * t - steps)) - 20.0f, 0.0f);
    for (int k = steps; k > 0; k--) {
        __syncthreads();
        float v = t < k ? 0.499f * s[t] + 0.5f * s[t + 1] : 0;
        __syncthreads();
        if (t < k) s[t] = v;
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

__device__ static uint32_t shift_xor(uint32_t &s)
{
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    return s;
}

/* Paths of a price with normal steps. */
__global__ void asian_paths(float *y, int steps)
{
    GLOBAL_I;
    uint32_t s = (uint32_t)i * 747796405u + 2891336453u;
    float price = 100, mean = 0;
    for (int k = 0; k < steps; k++) {
        float u = ((float)(shift_xor(s) >> 8) + 1) * (1.0f / 16777217.0f),
              v = (float)(shift_xor(s) >> 8) * (1.0f / 16777216.0f);
        float z = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
        price *= expf(0.0001f + 0.01f * z), mean += price;
    }
    y[i] = fmaxf(mean / (float)steps - 100.0f, 0.0f);
}

/* Spins of one colour of a board, by their neighbours' sums. */
__global__ void ising(const signed char *other, signed char *y, const float *chance, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    int up = row ? row - 1 : n - 1, down = row < n - 1 ? row + 1 : 0,
        side = row & 1 ? (column < n - 1 ? column + 1 : 0) : (column ? column - 1 : n - 1);
    int sum = (other[up * n + column] & 1) + (other[down * n + column] & 1) +
              (other[row * n + column] & 1) + (other[row * n + side] & 1);
    float least = __expf(-0.8f * (float)(2 * sum - 4));
    y[row * n + column] = fabsf(chance[row * n + column]) < least ? 1 : -1;
}

/* Forces between near atoms: a list of neighbours for each, by columns. */
__global__ void lennard_jones(const float4 *x, const uint32_t *list, float4 *y, int n, int most)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 own = x[i], f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < most; k++) {
        float4 p = x[(i + (list[k * n + i] & 1023)) % n];
        float dx = own.x - p.x, dy = own.y - p.y, dz = own.z - p.z,
              r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 1.0f && r2 > 0) {
            float r = 1.0f / r2, r6 = r * r * r, force = r * r6 * (1.5f * r6 - 2.0f);
            f.x += dx * force, f.y += dy * force, f.z += dz * force;
        }
    }
    y[i] = f;
}

static void simulations()
{
    E("align", "align-tiles", align_tiles<<<64, 32>>>(keys, keys + 65536, (int *)c, 2080, 64));
    E("path", "path-rows", path_rows<<<1093, 256>>>(keys, (int *)rising, (int *)c, 262144, 8));
    E("lud", "lud-inner", lud_inner<<<dim3(63, 63), dim3(16, 16)>>>(c, 1024, 0));
    E("lud", "lud-diagonal", lud_diagonal<<<1, 16>>>(c, 1024));
    E("eliminate", "eliminate", eliminate<<<dim3(64, 256), dim3(16, 4)>>>(a, c, 1024, 3));
    E("thomas", "thomas-double",
      thomas<<<128, 128>>>((double *)a, (double *)b, (double *)a + MB, (double *)c, 16384));
    E("binomial", "binomial", binomial<<<264, 256>>>(a, c, 255));
    E("asian", "asian-paths", asian_paths<<<256, 256>>>(c, 64));
    E("ising", "ising",
      ising<<<dim3(8, 1024), 128>>>((signed char *)keys, (signed char *)c, a, 1024));
    E("lennard-jones", "lennard-jones",
      lennard_jones<<<256, 128>>>((const float4 *)a, keys, (float4 *)c, 32768, 40));
}

/* ---- signals and pictures -------------------------------------------------------------------- */

/* Stockham: one pass over all of a long transform. */
__global__ void fft_pass(const float2 *x, float2 *y, int n, int p)
{
    GLOBAL_I;
    int k = i & (p - 1), to = ((i - k) << 1) + k;
    float2 u = x[i], v = x[i + n / 2];
    float si, co;
    sincospif(-(float)k / (float)p, &si, &co);
    float2 w = make_float2(v.x * co - v.y * si, v.x * si + v.y * co);
    y[to] = make_float2(u.x + w.x, u.y + w.y), y[to + p] = make_float2(u.x - w.x, u.y - w.y);
}

/* Walsh: 2048 elements a block of 512, radix 4 in shared memory. */
__global__ void walsh(const float *x, float *y)
{
    __shared__ float s[2048];
    for (int k = threadIdx.x; k < 2048; k += 512)
        s[k] = x[blockIdx.x * 2048 + k];
    for (int stride = 512; stride > 0; stride >>= 2) {
        int low = threadIdx.x & (stride - 1), i = ((threadIdx.x - low) << 2) + low;
        __syncthreads();
        float p = s[i], q = s[i + stride], r = s[i + 2 * stride], t = s[i + 3 * stride];
        float pr = p + r, pm = p - r, qt = q + t, qm = q - t;
        s[i] = pr + qt, s[i + stride] = pr - qt, s[i + 2 * stride] = pm + qm,
        s[i + 3 * stride] = pm - qm;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 2048; k += 512)
        y[blockIdx.x * 2048 + k] = s[k];
}

__constant__ float taps[17];

/* A row's filter of 17 taps: 8 outputs a thread, halos in shared memory. */
__global__ void filter_rows(const float *x, float *y, int pitch)
{
    __shared__ float s[4][(8 + 2) * 16];
    int base = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    const float *from = x + row * pitch + base;
#pragma unroll
    for (int k = 0; k < 10; k++)
        s[threadIdx.y][threadIdx.x + k * 16] =
            base + k * 16 >= 0 && base + k * 16 < pitch ? from[k * 16] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 1; k < 9; k++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++)
            sum += taps[8 - j] * s[threadIdx.y][threadIdx.x + k * 16 + j];
        y[row * pitch + base + k * 16] = sum;
    }
}

/* A running mean down each column, a thread a column. */
__global__ void box_columns(const float *x, float *y, int width, int height, int radius)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float scale = 1.0f / (float)(2 * radius + 1), sum = x[column] * (float)radius;
    for (int row = 0; row < radius + 1; row++)
        sum += x[row * width + column];
    for (int row = 0; row < height; row++) {
        y[row * width + column] = sum * scale;
        sum += x[min(row + radius + 1, height - 1) * width + column];
        sum -= x[max(row - radius, 0) * width + column];
    }
}

__device__ static void order_two(int &p, int &q)
{
    int less = min(p, q);
    q = max(p, q), p = less;
}

/* The middle one of nine bytes. */
__global__ void median_bytes(const unsigned char *x, unsigned char *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int r = min(max(row + k / 3 - 1, 0), n - 1), s = min(max(column + k % 3 - 1, 0), n - 1);
        v[k] = x[r * n + s];
    }
#pragma unroll
    for (int k = 0; k < 5; k++)
#pragma unroll
        for (int j = k + 1; j < 9; j++)
            order_two(v[k], v[j]);
    y[row * n + column] = (unsigned char)v[4];
}

/* Edges of bytes: a tile with its border in shared memory. */
__global__ void sobel(const unsigned char *x, unsigned char *y, int n)
{
    __shared__ unsigned char s[18][34];
    int t = threadIdx.y * 32 + threadIdx.x;
    for (int k = t; k < 18 * 34; k += 512) {
        int r = min(max((int)blockIdx.y * 16 + k / 34 - 1, 0), n - 1),
            q = min(max((int)blockIdx.x * 32 + k % 34 - 1, 0), n - 1);
        s[k / 34][k % 34] = x[r * n + q];
    }
    __syncthreads();
    const unsigned char *u = &s[threadIdx.y][threadIdx.x], *v = u + 34, *w = v + 34;
    int across = u[2] + 2 * v[2] + w[2] - u[0] - 2 * v[0] - w[0],
        down = w[0] + 2 * w[1] + w[2] - u[0] - 2 * u[1] - u[2];
    y[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x] =
        (unsigned char)min(abs(across) + abs(down), 255);
}

/* Near in place and in value. */
__global__ void bilateral(const float *x, float *y, int n, int radius)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float own = x[row * n + column], sum = 0, weight = 0;
    for (int r = -radius; r <= radius; r++)
        for (int s = -radius; s <= radius; s++) {
            int i = min(max(row + r, 0), n - 1), j = min(max(column + s, 0), n - 1);
            float v = x[i * n + j],
                  w = __expf(-(float)(r * r + s * s) * 0.05f - (v - own) * (v - own) * 4.0f);
            sum += v * w, weight += w;
        }
    y[row * n + column] = sum / weight;
}

struct Sphere {
    float x, y, z, radius;
};
__constant__ Sphere spheres[16];

/* Rays into a scene, with a bounce where they hit. */
__global__ void trace(uchar4 *image, int w, int h)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float ox = 0, oy = 0, oz = 0, dx = (float)(px - w / 2) / (float)w,
          dy = (float)(py - h / 2) / (float)w, dz = 1, light = 0, left = 1;
    float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale, dy *= scale, dz *= scale;
    for (int bounce = 0; bounce < 3; bounce++) {
        float best = 1e30f;
        int hit = -1;
        for (int k = 0; k < 16; k++) {
            float cx = spheres[k].x - ox, cy = spheres[k].y - oy, cz = spheres[k].z - oz,
                  along = cx * dx + cy * dy + cz * dz,
                  inside = along * along - (cx * cx + cy * cy + cz * cz) +
                           spheres[k].radius * spheres[k].radius;
            if (inside < 0) continue;
            float at = along - sqrtf(inside);
            if (at > 1e-3f && at < best) best = at, hit = k;
        }
        if (hit < 0) {
            light += left * (0.5f + 0.5f * dy);
            break;
        }
        ox += dx * best, oy += dy * best, oz += dz * best;
        float nx = (ox - spheres[hit].x) / spheres[hit].radius,
              ny = (oy - spheres[hit].y) / spheres[hit].radius,
              nz = (oz - spheres[hit].z) / spheres[hit].radius,
              back = 2 * (dx * nx + dy * ny + dz * nz);
        dx -= back * nx, dy -= back * ny, dz -= back * nz;
        light += left * 0.3f * fmaxf(-ny, 0.0f), left *= 0.5f;
    }
    unsigned char grey = (unsigned char)(255.0f * __saturatef(light));
    image[py * w + px] = make_uchar4(grey, grey, grey, 255);
}

/* Where a word of eight letters begins in a text. */
__global__ void search_text(const unsigned char *text, uint32_t *y, int n)
{
    __shared__ unsigned char word[8];
    if (threadIdx.x < 8) word[threadIdx.x] = "abcdefgh"[threadIdx.x];
    __syncthreads();
    for (GLOBAL_I; i < n - 8; i += gridDim.x * blockDim.x) {
        int k = 0;
        while (k < 8 && (text[i + k] & 0x61) == (word[k] & 0x61))
            k++;
        if (k == 8) atomicAdd(y, 1u);
    }
}

/* XTEA: 64 rounds of shifts and sums on two words. */
__global__ void cipher(const uint2 *x, uint2 *y, uint4 key)
{
    GLOBAL_I;
    uint2 v = x[i];
    uint32_t sum = 0, k[4] = {key.x, key.y, key.z, key.w};
#pragma unroll
    for (int round = 0; round < 32; round++) {
        v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + k[sum & 3]);
        sum += 0x9e3779b9;
        v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + k[sum >> 11 & 3]);
    }
    y[i] = v;
}

/* CRC of 64 bytes a thread, by a table in shared memory. */
__global__ void crc_rows(const uint32_t *x, const uint32_t *table, uint32_t *y)
{
    __shared__ uint32_t s[256];
    s[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    GLOBAL_I;
    uint32_t crc = 0xffffffff;
    for (int k = 0; k < 16; k++) {
        uint32_t word = x[i * 16 + k];
        for (int j = 0; j < 4; j++, word >>= 8)
            crc = crc >> 8 ^ s[(crc ^ word) & 255];
    }
    y[i] = ~crc;
}

static void pictures()
{
    E("fft-pass", "fft-pass", fft_pass<<<2048, 256>>>((float2 *)a, (float2 *)c, MB, 1024));
    E("walsh", "walsh", walsh<<<528, 512>>>(a, c));
    E("filter-rows", "filter-rows", filter_rows<<<dim3(8, 256), dim3(16, 4)>>>(a, c, 1024));
    E("box", "box-columns", box_columns<<<32, 64>>>(a, c, 2048, 256, 7));
    E("median", "median-bytes",
      median_bytes<<<dim3(16, 64), dim3(32, 8)>>>((unsigned char *)keys, (unsigned char *)c, 512));
    E("sobel", "sobel",
      sobel<<<dim3(32, 64), dim3(32, 16)>>>((unsigned char *)keys, (unsigned char *)c, 1024));
    E("bilateral", "bilateral", bilateral<<<dim3(32, 32), dim3(16, 16)>>>(a, c, 512, 3));
    E("trace", "trace", trace<<<dim3(32, 64), dim3(16, 8)>>>((uchar4 *)c, 512, 512));
    E("search", "search-text",
      search_text<<<1056, 256>>>((unsigned char *)keys, zeros + MB + 128, 2 * MB));
    E("cipher", "cipher",
      cipher<<<1024, 256>>>((uint2 *)keys, (uint2 *)c, make_uint4(1, 22, 333, 4444)));
    E("crc", "crc-rows", crc_rows<<<256, 256>>>(keys, keys + MB, (uint32_t *)c));
}

/* ---- products -------------------------------------------------------------------------------- */

/* T x T outputs a block of 256, T / 16 squared a thread; the next tile is copied meanwhile. */
template <int T>
__global__ void __launch_bounds__(256) gemm_async(const float *A, const float *B, float *C, int n)
{
    const int R = T / 16;
    __shared__ float As[2][T][16], Bs[2][16][T];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float sum[R][R] = {};
    auto load = [&](int k, int at) {
        for (int i = t; i < T * 4; i += 256) {
            __pipeline_memcpy_async(&As[at][i / 4][i % 4 * 4],
                                    &A[(blockIdx.y * T + i / 4) * n + k + i % 4 * 4], 16);
            __pipeline_memcpy_async(&Bs[at][i / (T / 4)][i % (T / 4) * 4],
                                    &B[(k + i / (T / 4)) * n + blockIdx.x * T + i % (T / 4) * 4],
                                    16);
        }
        __pipeline_commit();
    };
    load(0, 0);
    for (int k = 0, at = 0; k < n; k += 16, at ^= 1) {
        if (k + 16 < n) load(k + 16, at ^ 1);
        __pipeline_wait_prior(k + 16 < n);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 16; e++) {
            float l[R], r[R];
#pragma unroll
            for (int i = 0; i < R; i++)
                l[i] = As[at][ty * R + i][e], r[i] = Bs[at][e][tx + 16 * i];
#pragma unroll
            for (int i = 0; i < R; i++)
#pragma unroll
                for (int j = 0; j < R; j++)
                    sum[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++)
            C[(blockIdx.y * T + ty * R + i) * n + blockIdx.x * T + tx + 16 * j] = sum[i][j];
}

/* A part of the depth a block, sums by atomics. */
__global__ void gemm_split(const float *A, const float *B, float *C, int m, int n, int k, int part)
{
    __shared__ float As[32][33], Bs[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum[4] = {};
    for (int at = blockIdx.z * part; at < (blockIdx.z + 1) * part; at += 32) {
        for (int r = ty; r < 32; r += 8) {
            As[r][tx] = A[(blockIdx.y * 32 + r) * k + at + tx];
            Bs[r][tx] = B[(at + r) * n + blockIdx.x * 32 + tx];
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 32; e++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                sum[r] += As[ty + 8 * r][e] * Bs[e][tx];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        atomicAdd(&C[(blockIdx.y * 32 + ty + 8 * r) * n + blockIdx.x * 32 + tx], sum[r]);
}

/* Halves on the tensor cores, tiles of 64 x 64 x 32 by way of shared memory, four warps. */
__global__ void gemm_wmma(const __half *A, const __half *B, float *C, int n)
{
    using namespace nvcuda::wmma;
    __shared__ __half As[64][40], Bs[32][72];
    int warp = threadIdx.x / 32;
    fragment<accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 32) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            *(uint4 *)&As[i / 4][i % 4 * 8] =
                *(const uint4 *)&A[(blockIdx.y * 64 + i / 4) * n + k + i % 4 * 8];
            *(uint4 *)&Bs[i / 8][i % 8 * 8] =
                *(const uint4 *)&B[(k + i / 8) * n + blockIdx.x * 64 + i % 8 * 8];
        }
        __syncthreads();
        for (int e = 0; e < 32; e += 16) {
            fragment<matrix_a, 16, 16, 16, __half, row_major> l[2];
            fragment<matrix_b, 16, 16, 16, __half, row_major> r[2];
            for (int i = 0; i < 2; i++) {
                load_matrix_sync(l[i], &As[warp / 2 * 32 + i * 16][e], 40);
                load_matrix_sync(r[i], &Bs[e][warp % 2 * 32 + i * 16], 72);
            }
            for (int i = 0; i < 4; i++)
                mma_sync(sum[i / 2][i % 2], l[i / 2], r[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(&C[(blockIdx.y * 64 + warp / 2 * 32 + i / 2 * 16) * n + blockIdx.x * 64 +
                             warp % 2 * 32 + i % 2 * 16],
                          sum[i / 2][i % 2], n, mem_row_major);
}

__global__ void gemm_double(const double *A, const double *B, double *C, int n)
{
    __shared__ double As[16][16], Bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        As[threadIdx.y][threadIdx.x] = A[row * n + k + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * n + col];
        __syncthreads();
        for (int e = 0; e < 16; e++)
            sum += As[threadIdx.y][e] * Bs[e][threadIdx.x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

/* Four-bit weights with a scale for each 32: a warp a row, as a language model's decoder. */
__global__ void gemv_nibbles(const uint4 *w, const __half *scale, const float *x, float *y,
                             int depth)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < depth / 32; k += 32) {
        uint4 v = w[(size_t)row * depth / 32 + k];
        const uint32_t word[4] = {v.x, v.y, v.z, v.w};
        float part = 0;
#pragma unroll
        for (int j = 0; j < 32; j++)
            part += (float)((int)(word[j / 8] >> j % 8 * 4 & 15) - 8) * x[k * 32 + j];
        sum += part * __half2float(scale[(size_t)row * depth / 32 + k]);
    }
    for (int o = 16; o > 0; o >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, o);
    if (lane == 0) y[row] = sum;
}

static void products()
{
    E("gemm-async", "gemm-async-64", gemm_async<64><<<dim3(8, 8), 256>>>(a, b, c, 512));
    E("gemm-async", "gemm-async-128", gemm_async<128><<<dim3(6, 6), 256>>>(a, b, c, 768));
    E("gemm-split", "gemm-split",
      gemm_split<<<dim3(4, 4, 16), dim3(32, 8)>>>(a, b, c, 128, 128, 4096, 256));
    E("gemm-wmma", "gemm-wmma-768",
      gemm_wmma<<<dim3(12, 12), 128>>>((__half *)a, (__half *)b, c, 768));
    E("gemm-double", "gemm-double-384",
      gemm_double<<<dim3(24, 24), dim3(16, 16)>>>((double *)a, (double *)b, (double *)c, 384));
    E("gemv-nibbles", "gemv-nibbles",
      gemv_nibbles<<<512, 256>>>((uint4 *)keys, (__half *)a, b, c, 4096));
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* One query a head against a long past: a block a head of 64, a warp a key. */
__global__ void attention_decode(const float2 *q, const float2 *k, const float2 *v, float2 *y,
                                 int past)
{
    extern __shared__ float score[];
    __shared__ float part[8];
    __shared__ float2 out[8][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t head = (size_t)blockIdx.x * past * 32;
    float2 own = q[blockIdx.x * 32 + lane], sum = make_float2(0, 0);
    float most = -1e30f, all = 0;
    for (int j = warp; j < past; j += 8) {
        float2 key = k[head + j * 32 + lane];
        float s = own.x * key.x + own.y * key.y;
        for (int o = 16; o > 0; o >>= 1)
            s += __shfl_xor_sync(0xffffffff, s, o);
        s *= 0.125f, most = fmaxf(most, s);
        if (lane == 0) score[j] = s;
    }
    if (lane == 0) part[warp] = most;
    __syncthreads();
    for (int j = 0; j < 8; j++)
        most = fmaxf(most, part[j]);
    for (int j = warp; j < past; j += 8) {
        float p = __expf(score[j] - most);
        float2 value = v[head + j * 32 + lane];
        all += p, sum.x += p * value.x, sum.y += p * value.y;
    }
    out[warp][lane] = sum;
    __syncthreads();
    if (lane == 0) part[warp] = all;
    __syncthreads();
    if (warp > 0) return;
    sum = make_float2(0, 0), all = 0;
    for (int j = 0; j < 8; j++)
        sum.x += out[j][lane].x, sum.y += out[j][lane].y, all += part[j];
    y[blockIdx.x * 32 + lane] = make_float2(sum.x / all, sum.y / all);
}

__device__ static float2 block_sums(float2 v)
{
    __shared__ float2 space[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int o = 16; o > 0; o >>= 1)
        v.x += __shfl_xor_sync(0xffffffff, v.x, o), v.y += __shfl_xor_sync(0xffffffff, v.y, o);
    if (lane == 0) space[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? space[lane] : make_float2(0, 0);
    for (int o = 16; o > 0; o >>= 1)
        v.x += __shfl_xor_sync(0xffffffff, v.x, o), v.y += __shfl_xor_sync(0xffffffff, v.y, o);
    return v;
}

/* Mean and spread of each channel over pictures: a block a channel. */
__global__ void batch_statistics(const float *x, float2 *y, int pictures, int channels, int area)
{
    float2 sum = make_float2(0, 0);
    for (int p = 0; p < pictures; p++) {
        const float *plane = x + ((size_t)p * channels + blockIdx.x) * area;
        for (int i = threadIdx.x; i < area; i += blockDim.x) {
            float v = plane[i];
            sum.x += v, sum.y += v * v;
        }
    }
    sum = block_sums(sum);
    float count = (float)(pictures * area), mean = sum.x / count;
    if (threadIdx.x == 0)
        y[blockIdx.x] = make_float2(mean, rsqrtf(sum.y / count - mean * mean + 1e-5f));
}

/* Loss of one of `width` classes and its slope, a block a row. */
__global__ void cross_entropy(const float *x, const uint32_t *target, float *loss, float *slope,
                              int width)
{
    __shared__ float most_of[32];
    const float *row = x + (size_t)blockIdx.x * width;
    int lane = threadIdx.x % 32, right = target[blockIdx.x] % width;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        most = fmaxf(most, row[i]);
    for (int o = 16; o > 0; o >>= 1)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, o));
    if (lane == 0) most_of[threadIdx.x / 32] = most;
    __syncthreads();
    for (int k = 0; k < blockDim.x / 32; k++)
        most = fmaxf(most, most_of[k]);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        sum += __expf(row[i] - most);
    sum = block_sums(make_float2(sum, 0)).x;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        slope[(size_t)blockIdx.x * width + i] =
            __expf(row[i] - most) / sum - (i == right ? 1.0f : 0.0f);
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + most - row[right];
}

__global__ void adam(float *w, const float *slope, float *m, float *v, float rate, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float g = slope[i], first = 0.9f * m[i] + 0.1f * g, second = 0.999f * v[i] + 0.001f * g * g;
    m[i] = first, v[i] = second;
    w[i] -= rate * (first / 0.1f / (sqrtf(fabsf(second) / 0.001f) + 1e-8f) + 0.01f * w[i]);
}

/* Sums down the columns of a matrix: a slope of a bias. */
__global__ void bias_slope(const float *x, float *y, int height, int width)
{
    __shared__ float s[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int row = threadIdx.y; row < height; row += 8)
        sum += x[(size_t)row * width + column];
    s[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0) return;
    for (int k = 1; k < 8; k++)
        sum += s[k][threadIdx.x];
    y[column] = sum;
}

__global__ void swiglu(const __half2 *x, __half2 *y, int width, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int row = i / width, column = i % width;
    float2 gate = __half22float2(x[(size_t)row * 2 * width + column]),
           up = __half22float2(x[(size_t)row * 2 * width + width + column]);
    y[i] = __floats2half2_rn(gate.x / (1.0f + __expf(-gate.x)) * up.x,
                             gate.y / (1.0f + __expf(-gate.y)) * up.y);
}

/* Each picture and channel on its own, 3 x 3. */
__global__ void depthwise(const float *x, const float *w, float *y, int n, int channels)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
        plane = blockIdx.z;
    if (column >= n || row >= n) return;
    const float *own = w + plane % channels * 9, *from = x + (size_t)plane * n * n;
    float sum = 0;
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int s = 0; s < 3; s++) {
            int i = row + r - 1, j = column + s - 1;
            if (i >= 0 && i < n && j >= 0 && j < n) sum += from[i * n + j] * own[r * 3 + s];
        }
    y[(size_t)plane * n * n + row * n + column] = sum;
}

/* Windows of 3 x 3 side by side, as a product wants them. */
__global__ void im2col(const float *x, float *y, int channels, int n)
{
    GLOBAL_I;
    if (i >= channels * n * n) return;
    int column = i % n, row = i / n % n, ch = i / n / n;
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++) {
            int p = row + r - 1, q = column + s - 1;
            y[((ch * 3 + r) * 3 + s) * n * n + row * n + column] =
                p >= 0 && p < n && q >= 0 && q < n ? x[(ch * n + p) * n + q] : 0;
        }
}

/* Twice as large, by the four nearest. */
__global__ void upsample(const float *x, float *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    const float *plane = x + (size_t)blockIdx.z * n * n;
    float fy = fmaxf((float)row * 0.5f - 0.25f, 0.0f),
          fx = fmaxf((float)column * 0.5f - 0.25f, 0.0f);
    int i = (int)fy, j = (int)fx, down = min(i + 1, n - 1), side = min(j + 1, n - 1);
    float v = fy - (float)i, u = fx - (float)j;
    y[((size_t)blockIdx.z * 2 * n + row) * 2 * n + column] =
        (1 - v) * ((1 - u) * plane[i * n + j] + u * plane[i * n + side]) +
        v * ((1 - u) * plane[down * n + j] + u * plane[down * n + side]);
}

/* 1 x 1, channels last, a block of pixels with its weights in shared memory. */
__global__ void pointwise(const float *x, const float *w, float *y, int channels)
{
    extern __shared__ float s[];
    for (int k = threadIdx.x; k < channels * 32; k += blockDim.x)
        s[k] = w[k];
    __syncthreads();
    int pixel = blockIdx.x * 8 + threadIdx.x / 32, out = threadIdx.x % 32;
    float sum = 0;
    for (int k = 0; k < channels; k++)
        sum += x[pixel * channels + k] * s[k * 32 + out];
    y[pixel * 32 + out] = fmaxf(sum, 0.0f);
}

/* Which eight of a row are the largest: eight rounds of a warp. */
__global__ void top_eight(const float *x, uint32_t *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = x[row * 256 + k * 32 + lane];
    for (int round = 0; round < 8; round++) {
        float best = v[0];
        int at = lane;
#pragma unroll
        for (int k = 1; k < 8; k++)
            if (v[k] > best) best = v[k], at = k * 32 + lane;
        for (int o = 16; o > 0; o >>= 1) {
            float other = __shfl_xor_sync(0xffffffff, best, o);
            int where = __shfl_xor_sync(0xffffffff, at, o);
            if (other > best || (other == best && where < at)) best = other, at = where;
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (at == k * 32 + lane) v[k] = -1e30f;
        if (lane == 0) y[row * 8 + round] = at;
    }
}

static void layers()
{
    E("attention-decode", "attention-decode",
      attention_decode<<<64, 256, 1024 * sizeof(float)>>>((float2 *)d, (float2 *)a, (float2 *)b,
                                                          (float2 *)c, 1024));
    E("batch-statistics", "batch-statistics",
      batch_statistics<<<64, 512>>>(a, (float2 *)c, 16, 64, 3136));
    E("cross-entropy", "cross-entropy", cross_entropy<<<128, 512>>>(a, keys, d, c, 16000));
    E("adam", "adam", adam<<<4096, 256>>>(c, a, b + 8 * MB, c + 8 * MB, 1e-4f, MB));
    E("bias-slope", "bias-slope", bias_slope<<<32, dim3(32, 8)>>>(a, c, 2048, 1024));
    E("swiglu", "swiglu", swiglu<<<4096, 256>>>((__half2 *)a, (__half2 *)c, 1408, MB));
    E("depthwise", "depthwise", depthwise<<<dim3(2, 7, 256), dim3(32, 8)>>>(a, b, c, 56, 64));
    E("im2col", "im2col", im2col<<<392, 256>>>(a, c, 32, 56));
    E("upsample", "upsample", upsample<<<dim3(1, 128, 64), 128>>>(a, c, 64));
    E("pointwise", "pointwise", pointwise<<<784, 256, 64 * 32 * sizeof(float)>>>(a, b, c, 64));
    E("top-eight", "top-eight", top_eight<<<512, 256>>>(a, (uint32_t *)c));
}

/* ---- grids, permutations, shapes of launches ------------------------------------------------- */

__global__ void heat_double(const double *x, double *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < 1 || column < 1 || row >= n - 1 || column >= n - 1) return;
    int at = row * n + column;
    y[at] = x[at] + 0.1 * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] - 4.0 * x[at]);
}

/* Gray and Scott: two fields, borders that wrap. */
__global__ void reaction(const float *u, const float *v, float *nu, float *nv, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int up = (row + n - 1) % n * n, down = (row + 1) % n * n, left = (column + n - 1) % n,
        right = (column + 1) % n, at = row * n + column;
    float p = u[at], q = v[at], pqq = p * q * q;
    float lp = u[up + column] + u[down + column] + u[row * n + left] + u[row * n + right] - 4 * p,
          lq = v[up + column] + v[down + column] + v[row * n + left] + v[row * n + right] - 4 * q;
    nu[at] = p + 0.16f * lp - pqq + 0.035f * (1 - p);
    nv[at] = q + 0.08f * lq + pqq - 0.1f * q;
}

/* Waves in 3D: a plane in shared memory, what is above and below in registers; radius 4. */
__global__ void wave_3d(const float *x, float *y, int n)
{
    __shared__ float s[16 + 8][16 + 8];
    int i = blockIdx.x * 16 + threadIdx.x + 4, j = blockIdx.y * 16 + threadIdx.y + 4,
        tx = threadIdx.x + 4, ty = threadIdx.y + 4;
    size_t plane = (size_t)n * n, at = (size_t)j * n + i;
    float column[9];
#pragma unroll
    for (int k = 0; k < 9; k++)
        column[k] = x[at + k * plane];
    for (int z = 4; z < n - 4; z++) {
        const float *now = x + z * plane + at;
        __syncthreads();
        if (threadIdx.y < 4) s[ty - 4][tx] = now[-4 * n], s[ty + 16][tx] = now[16 * n];
        if (threadIdx.x < 4) s[ty][tx - 4] = now[-4], s[ty][tx + 16] = now[16];
        s[ty][tx] = column[4];
        __syncthreads();
        float sum = 0.7f * column[4];
#pragma unroll
        for (int k = 1; k < 5; k++)
            sum += 0.05f / (float)k *
                   (column[4 - k] + column[4 + k] + s[ty - k][tx] + s[ty + k][tx] + s[ty][tx - k] +
                    s[ty][tx + k]);
        y[z * plane + at] = sum;
#pragma unroll
        for (int k = 0; k < 8; k++)
            column[k] = column[k + 1];
        if (z + 5 < n) column[8] = x[at + (z + 5) * plane];
    }
}

/* Lattice Boltzmann, nine directions: each pulls, then collides. */
__global__ void boltzmann(const float *x, float *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float f[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int from = ((row - ey[k] + n) & (n - 1)) * n + ((column - ex[k] + n) & (n - 1));
        f[k] = 1.0f + 0.1f * x[k * n * n + from];
        rho += f[k], ux += f[k] * (float)ex[k], uy += f[k] * (float)ey[k];
    }
    ux /= rho, uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float eu = 3.0f * ((float)ex[k] * ux + (float)ey[k] * uy), w = k == 0  ? 4.0f / 9
                                                                       : k < 5 ? 1.0f / 9
                                                                               : 1.0f / 36;
        y[k * n * n + row * n + column] =
            f[k] + 1.2f * (w * rho * (1.0f + eu + 0.5f * eu * eu - square) - f[k]);
    }
}

__global__ void permute(const float *x, const uint32_t *from, float *y, int n, uint32_t limit)
{
    GLOBAL_I;
    if (i < n) y[i] = x[from[i] % limit];
}

__global__ void scatter_pairs(const float2 *x, const uint32_t *to, float2 *y, int n, uint32_t limit)
{
    GLOBAL_I;
    if (i < n) y[to[i] % limit] = x[i];
}

/* Records of six floats: as arrays of structs have them. */
struct Record {
    float x, y, z, vx, vy, vz;
};
__global__ void move_records(Record *r, float step, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    Record own = r[i];
    own.x += own.vx * step, own.y += own.vy * step, own.z += own.vz * step;
    if (own.x < 0 || own.x > 1) own.vx = -own.vx;
    if (own.y < 0 || own.y > 1) own.vy = -own.vy;
    if (own.z < 0 || own.z > 1) own.vz = -own.vz;
    r[i] = own;
}

__global__ void turn_bytes(const unsigned char *x, unsigned char *y, int n)
{
    __shared__ unsigned char s[32][33];
    for (int k = threadIdx.y; k < 32; k += 8)
        s[k][threadIdx.x] = x[(blockIdx.y * 32 + k) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        y[(blockIdx.x * 32 + k) * n + blockIdx.y * 32 + threadIdx.x] = s[threadIdx.x][k];
}

/* One thread does it all: a sum in a row. */
__global__ void sum_alone(const float *x, float *y, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    *y = sqrtf(sum);
}

/* One block of a whole multiprocessor: the best of a small array and its place. */
__global__ void best_of_all(const float *x, uint32_t *y, int n)
{
    __shared__ float best[1024];
    __shared__ int at[1024];
    int t = threadIdx.x, where = t;
    float most = -1e30f;
    for (int i = t; i < n; i += 1024)
        if (x[i] > most) most = x[i], where = i;
    best[t] = most, at[t] = where;
    __syncthreads();
    for (int k = 512; k > 0; k >>= 1) {
        if (t < k && best[t + k] > best[t]) best[t] = best[t + k], at[t] = at[t + k];
        __syncthreads();
    }
    if (t == 0) *y = at[0];
}

/* A short block for each few elements. */
__global__ void clamp_few(const float *x, float *y)
{
    GLOBAL_I;
    y[i] = fminf(fmaxf(x[i], -0.25f), 0.25f);
}

static void grids()
{
    E("heat-double", "heat-double",
      heat_double<<<dim3(32, 128), dim3(32, 8)>>>((double *)a, (double *)c, 1024));
    E("reaction", "reaction", reaction<<<dim3(64, 64), dim3(16, 16)>>>(a, b, c, c + 4 * MB, 1024));
    E("wave", "wave-3d", wave_3d<<<dim3(7, 7), dim3(16, 16)>>>(a, c, 120));
    E("boltzmann", "boltzmann", boltzmann<<<dim3(4, 512), 128>>>(a, c, 512));
    E("permute", "permute-1MB", permute<<<1024, 256>>>(far_away, order, c, 256 << 10, 256 << 10));
    E("permute", "permute-32MB", permute<<<4096, 256>>>(far_away, order, c, MB, 8 * MB));
    E("permute", "permute-200MB", permute<<<4096, 256>>>(far_away, order, c, MB, 50000000));
    E("scatter-pairs", "scatter-pairs-16MB",
      scatter_pairs<<<4096, 256>>>((float2 *)a, order, (float2 *)far_away, MB, 2 * MB));
    E("records", "move-records", move_records<<<2048, 256>>>((Record *)c, 0.01f, 512 << 10));
    E("turn-bytes", "turn-bytes",
      turn_bytes<<<dim3(64, 64), dim3(32, 8)>>>((unsigned char *)keys, (unsigned char *)c, 2048));
    E("alone", "sum-alone", sum_alone<<<1, 1>>>(a, c, 2000));
    E("alone", "best-of-all", best_of_all<<<1, 1024>>>(a, (uint32_t *)c, 65536));
    E("short", "clamp-32", clamp_few<<<32768, 32>>>(a, c));
    E("short", "clamp-64", clamp_few<<<16384, 64>>>(a, c));
}

/* ---- data ------------------------------------------------------------------------------------ */

static void integers_make()
{
    std::vector<uint32_t> value(4 * MB);
    uint32_t s = 12345;
    for (uint32_t &v : value)
        v = (s ^= s << 13, s ^= s >> 17, s ^= s << 5);
    keys = copy_of(value);
    std::sort(value.begin(), value.begin() + 2 * MB);
    std::sort(value.begin() + 2 * MB, value.end());
    rising = copy_of(value);
    for (size_t i = 0; i < value.size(); i++) /* 32452843 is a prime, and no divisor of 50 M */
        value[i] = (uint32_t)(i * 32452843u % 50000000u);
    order = copy_of(value);
    cudaMalloc(&zeros, 4 * MB * sizeof *zeros);
    cudaMemset(zeros, 0, 4 * MB * sizeof *zeros);
}

/* Few vertices have many edges, most have few: 2 to 12, each 64th four times as many. */
static void graph_make()
{
    std::vector<int> row(65537), column(16 * 65536);
    uint32_t s = 4711;
    for (int i = 0; i < 65536; i++) {
        s = s * 1664525u + 1013904223u;
        row[i + 1] = row[i] + (2 + (int)(s >> 16) % 11) * (i % 64 ? 1 : 4);
    }
    for (int &at : column) {
        s = s * 1664525u + 1013904223u;
        at = (int)(s >> 16);
    }
    rows = copy_of(row), columns = copy_of(column);
}

static void constants_make()
{
    float weight[17];
    Sphere ball[16];
    for (int k = 0; k < 17; k++)
        weight[k] = 1.0f / (float)(k + 9);
    for (int k = 0; k < 16; k++)
        ball[k] = {(float)(k % 4) - 1.5f, (float)(k / 4) * 0.5f - 1.0f, 3.0f + (float)(k * 7 % 5),
                   0.4f + 0.05f * (float)(k % 3)};
    cudaMemcpyToSymbol(taps, weight, sizeof weight);
    cudaMemcpyToSymbol(spheres, ball, sizeof ball);
}

__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    ENTER(HELD_OUT, "empty", "empty", empty_kernel<<<1, 32>>>());
    a = array_make(16 * MB), b = array_make(16 * MB), c = array_make(16 * MB),
    d = array_make(4 * MB), far_away = array_make(50000000);
    cudaMemset(d, 0, MB * sizeof *d);
    integers_make();
    graph_make();
    constants_make();
    sorting();
    graphs();
    simulations();
    pictures();
    products();
    layers();
    grids();
    return measure_close();
}
