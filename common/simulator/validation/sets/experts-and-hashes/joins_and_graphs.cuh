/* joins_and_graphs.cuh - sorts, joins, segmented sums and graphs (part of
 * experts-and-hashes.cu). */

/* ---- sorts, joins, sums ---------------------------------------------------------------------- */

/* Two sorted halves of 1024, many pairs: each key's rank in the other by a search. */
__global__ void merge_ranks(const uint32_t *x, uint32_t *y, int half)
{
    GLOBAL_I;
    int from = i / (2 * half) * (2 * half), at = i - from;
    bool right = at >= half;
    const uint32_t *other = x + from + (right ? 0 : half);
    uint32_t key = x[i];
    int low = 0, high = half;
    while (low < high) {
        int middle = (low + high) / 2;
        if (right ? other[middle] <= key : other[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    y[from + (right ? at - half : at) + low] = key;
}

/* 32 keys of each warp in order by a network of shuffles, four such a lane. */
__global__ void sort_lanes(const uint4 *x, uint4 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int lane = threadIdx.x % 32;
    uint4 v = x[i];
    for (int size = 2; size <= 32; size *= 2)
        for (int o = size / 2; o > 0; o /= 2) {
            bool low = ((lane & size) == 0) == ((lane & o) == 0);
            uint32_t p = __shfl_xor_sync(~0u, v.x, o), q = __shfl_xor_sync(~0u, v.y, o),
                     r = __shfl_xor_sync(~0u, v.z, o), s = __shfl_xor_sync(~0u, v.w, o);
            v.x = low ? min(v.x, p) : max(v.x, p), v.y = low ? min(v.y, q) : max(v.y, q);
            v.z = low ? min(v.z, r) : max(v.z, r), v.w = low ? min(v.w, s) : max(v.w, s);
        }
    y[i] = v;
}

/* 1024 pairs per block by Batcher's odd and even merges in shared memory. */
__global__ void __launch_bounds__(512)
    sort_batcher(const uint32_t *key, const uint32_t *value, uint32_t *key_to, uint32_t *value_to)
{
    __shared__ uint32_t k[1024], v[1024];
    int from = blockIdx.x * 1024, t = threadIdx.x;
    k[t] = key[from + t], k[t + 512] = key[from + t + 512];
    v[t] = value[from + t], v[t + 512] = value[from + t + 512];
    for (int size = 2; size <= 1024; size *= 2) {
        int step = size / 2, offset = t & (step - 1);
        __syncthreads();
        int at = 2 * t - (t & (step - 1));
        if (k[at] > k[at + step]) {
            uint32_t u = k[at];
            k[at] = k[at + step], k[at + step] = u;
            u = v[at], v[at] = v[at + step], v[at + step] = u;
        }
        for (step /= 2; step > 0; step /= 2) {
            __syncthreads();
            at = 2 * t - (t & (step - 1));
            if (offset >= step && k[at - step] > k[at]) {
                uint32_t u = k[at];
                k[at] = k[at - step], k[at - step] = u;
                u = v[at], v[at] = v[at - step], v[at - step] = u;
            }
        }
    }
    __syncthreads();
    key_to[from + t] = k[t], key_to[from + t + 512] = k[t + 512];
    value_to[from + t] = v[t], value_to[from + t + 512] = v[t + 512];
}

/* Pairs to 64 parts: a block counts in shared memory, takes room in each, and writes. */
__global__ void __launch_bounds__(256)
    parts_by_key(const uint2 *x, uint2 *y, uint32_t *room, int each)
{
    __shared__ uint32_t count[64], place[64];
    if (threadIdx.x < 64) count[threadIdx.x] = 0;
    __syncthreads();
    const uint2 *own = x + (size_t)blockIdx.x * each;
    for (int k = threadIdx.x; k < each; k += 256)
        atomicAdd(&count[own[k].x >> 7 & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64) {
        place[threadIdx.x] = atomicAdd(&room[threadIdx.x], count[threadIdx.x]);
        count[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < each; k += 256) {
        uint2 v = own[k];
        int part = v.x >> 7 & 63;
        uint32_t at = place[part] + atomicAdd(&count[part], 1);
        y[(size_t)part * 16384 + (at & 16383)] = v;
    }
}

/* Rows to chains of a table: what was first before is the next. */
__global__ void join_built(const uint32_t *key, uint32_t *head, uint32_t *next, int n)
{
    GLOBAL_I;
    if (i < n) next[i] = atomicExch(&head[key[i] * 2654435761u >> 16], (uint32_t)i);
}

/* And asked: each row goes along its chain and adds what it finds. */
__global__ void join_asked(const uint32_t *question, const uint32_t *key, const uint32_t *head,
                           const uint32_t *next, const uint32_t *value, uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t q = question[i] >> 14, sum = 0;
    for (uint32_t k = head[q * 2654435761u >> 16]; k != ~0u; k = next[k])
        if (key[k] == q) sum += value[k];
    y[i] = sum;
}

/* Keys with two places each, four keys a place. */
__global__ void cuckoo_asked(const uint32_t *question, const uint4 *table, uint32_t *y, int mask,
                             int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t q = question[i], h = q * 2654435761u;
    uint4 v = table[h >> 8 & mask];
    bool found = v.x == q || v.y == q || v.z == q || v.w == q;
    if (!found) {
        v = table[(h ^ q >> 15) * 2246822519u >> 9 & mask];
        found = v.x == q || v.y == q || v.z == q || v.w == q;
    }
    y[i] = found;
}

/* A tree with sixteen keys per node: sixteen lanes ask it together. */
__global__ void tree_asked(const uint32_t *key, const uint32_t *question, uint32_t *y, int levels_,
                           int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    if (i >= n) return;
    uint32_t q = question[i], node = 0, first = 0, size = 1;
    for (int k = 0; k < levels_; k++) {
        uint32_t own = key[(first + node) * 16 + lane];
        uint32_t below = __ballot_sync(~0u, own <= q) >> (threadIdx.x & 16) & 0xffff;
        int child = max(__popc(below) - 1, 0);
        first += size, size *= 16, node = node * 16 + child;
    }
    if (lane == 0) y[i] = node;
}

/* Sums of segments that flags begin: 1024 a block, pairs scanned by shuffles. */
__global__ void __launch_bounds__(256)
    pieces_summed(const int4 *x, const uint32_t *flags, int4 *y, int2 *ends)
{
    __shared__ int sums[8], begun[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, at = blockIdx.x * 256 + t;
    int4 v = x[at];
    uint32_t f = flags[at / 8] >> at % 8 * 4 & 15;
    if (!(f & 2)) v.y += v.x;
    if (!(f & 4)) v.z += v.y;
    if (!(f & 8)) v.w += v.z;
    int sum = v.w, any = f != 0;
    for (int o = 1; o < 32; o *= 2) {
        int s = __shfl_up_sync(~0u, sum, o), b = __shfl_up_sync(~0u, any, o);
        if (lane >= o) {
            if (!any) sum += s;
            any |= b;
        }
    }
    if (lane == 31) sums[warp] = sum, begun[warp] = any;
    int before = __shfl_up_sync(~0u, sum, 1), open = !__shfl_up_sync(~0u, any, 1);
    if (lane == 0) before = 0, open = 1;
    __syncthreads();
    int left = 0;
    for (int w = 0; w < warp; w++)
        left = begun[w] ? sums[w] : left + sums[w];
    if (open) before += left;
    if (!(f & 1)) {
        v.x += before;
        if (!(f & 2)) {
            v.y += before;
            if (!(f & 4)) {
                v.z += before;
                if (!(f & 8)) v.w += before;
            }
        }
    }
    y[at] = v;
    if (t == 255) ends[blockIdx.x] = make_int2(v.w, 0);
}

/* 64 bins, a byte of each for every thread of a block, put together at its end. */
__global__ void __launch_bounds__(64) histogram_64(const uint4 *x, uint32_t *y, int each)
{
    __shared__ unsigned char s[64 * 64];
    int t = threadIdx.x, place = t & ~63 | (t & 15) << 2 | (t & 48) >> 4;
    for (int k = 0; k < 16; k++)
        ((uint32_t *)s)[t + k * 64] = 0;
    __syncthreads();
    for (int k = 0; k < each; k++) {
        uint4 v = x[((size_t)blockIdx.x * each + k) * 64 + t];
        uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            s[place + (w[j] >> 2 & 63) * 64]++, s[place + (w[j] >> 10 & 63) * 64]++;
            s[place + (w[j] >> 18 & 63) * 64]++, s[place + (w[j] >> 26) * 64]++;
        }
    }
    __syncthreads();
    uint32_t sum = 0;
    for (int k = 0, at = (t & 15) * 4; k < 16; k++, at = at + 4 & 63) {
        uint32_t v = *(uint32_t *)&s[t * 64 + at];
        sum += (v & 255) + (v >> 8 & 255) + (v >> 16 & 255) + (v >> 24);
    }
    atomicAdd(&y[t], sum);
}

/* Bits of planes: which of 32 numbers of twelve bits lie between two, a word of each plane. */
__global__ void planes_between(const uint32_t *plane, uint32_t *y, uint32_t low, uint32_t high,
                               int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t less = 0, more = 0, equal_low = ~0u, equal_high = ~0u;
#pragma unroll
    for (int k = 11; k >= 0; k--) {
        uint32_t v = plane[(size_t)k * n + i], l = low >> k & 1 ? ~0u : 0,
                 h = high >> k & 1 ? ~0u : 0;
        less |= equal_low & l & ~v, equal_low &= ~(l ^ v);
        more |= equal_high & v & ~h, equal_high &= ~(h ^ v);
    }
    y[i] = ~(less | more);
}

/* Population count of long rows by carry-save adders: sixteen words per iteration, one warp per
 * row. */
__device__ static void carry_save(uint32_t &high, uint32_t &low, uint32_t p, uint32_t q, uint32_t r)
{
    uint32_t u = p ^ q;
    high = p & q | u & r, low = u ^ r;
}

__global__ void bits_saved(const uint32_t *x, uint32_t *y, int words, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const uint32_t *own = x + (size_t)row * words;
    uint32_t ones = 0, twos = 0, fours = 0, count = 0;
    for (int k = lane; k < words; k += 256) {
        uint32_t t0, t1, f0, f1, e;
        carry_save(t0, ones, ones, own[k], own[k + 32]);
        carry_save(t1, ones, ones, own[k + 64], own[k + 96]);
        carry_save(f0, twos, twos, t0, t1);
        carry_save(t0, ones, ones, own[k + 128], own[k + 160]);
        carry_save(t1, ones, ones, own[k + 192], own[k + 224]);
        carry_save(f1, twos, twos, t0, t1);
        carry_save(e, fours, fours, f0, f1);
        count += __popc(e);
    }
    count = 8 * count + 4 * __popc(fours) + 2 * __popc(twos) + __popc(ones);
    count = __reduce_add_sync(~0u, count);
    if (lane == 0) y[row] = count;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A colour that no neighbour has, of 64, guessed by all at once. */
__global__ void colours_guessed(const int *row, const int *column, const uint32_t *colour,
                                uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint64_t taken = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
        taken |= 1ull << (colour[column[k]] & 63);
    y[i] = __ffsll(~taken) - 1;
}

/* k-core: a vertex with fewer than k neighbours is removed, withone off each of them. */
__global__ void core_peeled(const int *row, const int *column, const int *degree, int *left, int k,
                            int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (i >= n || degree[i] >= k) return;
    for (int j = row[i] + lane; j < row[i + 1]; j += 8) {
        int other = column[j];
        if (degree[other] >= k) atomicSub(&left[other], 1);
    }
}

/* Connected components within tiles of an image: roots merged in shared memory. */
__global__ void __launch_bounds__(512) tiles_joined(const unsigned char *x, int *y, int n)
{
    __shared__ int label[512];
    __shared__ unsigned char s[512];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx;
    int column = blockIdx.x * 32 + tx, row = blockIdx.y * 16 + ty;
    s[t] = x[row * n + column] > 110, label[t] = t;
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        int other = k ? t - 32 : t - 1;
        if (k ? ty > 0 : tx > 0)
            if (s[t] == s[other]) {
                int p = t, q = other;
                while (true) {
                    while (label[p] != p)
                        p = label[p];
                    while (label[q] != q)
                        q = label[q];
                    if (p == q) break;
                    if (p < q) {
                        int u = p;
                        p = q, q = u;
                    }
                    int old = atomicMin(&label[p], q);
                    if (old == p) break;
                    p = old;
                }
            }
    }
    __syncthreads();
    int root = t;
    while (label[root] != root)
        root = label[root];
    y[row * n + column] = (blockIdx.y * 16 + root / 32) * n + blockIdx.x * 32 + root % 32;
}

/* Triangle counts: common neighbours by searches in the longer list, one warp per edge. */
__global__ void lists_crossed(const int *row, const int *column, const int2 *edge, int *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    int2 e = edge[i];
    int p = row[e.x], p_end = row[e.x + 1], q = row[e.y], q_end = row[e.y + 1], count = 0;
    for (int k = p + lane; k < p_end; k += 32) {
        int v = column[k], low = q, high = q_end;
        while (low < high) {
            int middle = (low + high) / 2;
            if (column[middle] < v)
                low = middle + 1;
            else
                high = middle;
        }
        count += low < q_end && column[low] == v;
    }
    count = __reduce_add_sync(~0u, count);
    if (lane == 0) y[i] = count;
}
