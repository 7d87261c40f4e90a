/* sorting.cuh - sorting, scans, compaction, hash tables (part of sorting-and-graphs.cu). */

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

/* One pass over all: 2048 elements per block of 256. */
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

/* Compaction by a threshold with ballots: one atomic per block. */
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

/* 1024 keys per block of 512, sorted in shared memory. */
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
