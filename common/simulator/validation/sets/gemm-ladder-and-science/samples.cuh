/* samples.cuh - samples: scans, sorting networks, filters, random numbers, options, particles
 * (part of gemm-ladder-and-science.cu). */

/* Tiles of 32 transposed, blocks renamed along diagonals. */
__global__ void turn_diagonal(const float *x, float *y, int n)
{
    __shared__ float s[32][33];
    int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
    int from = (by * 32 + threadIdx.y) * n + bx * 32 + threadIdx.x,
        to = (bx * 32 + threadIdx.y) * n + by * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 16)
        s[threadIdx.y + k][threadIdx.x] = x[from + k * n];
    __syncthreads();
    for (int k = 0; k < 32; k += 16)
        y[to + k * n] = s[threadIdx.x][threadIdx.y + k];
}

/* Transposed within a tile only: the result is written to the same tile. */
__global__ void turn_within(const float *x, float *y, int n)
{
    __shared__ float s[16][16];
    int at = (blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x;
    s[threadIdx.y][threadIdx.x] = x[at];
    __syncthreads();
    y[at] = s[threadIdx.x][threadIdx.y];
}

/* Reduction by groups: warps of a block, one grid-wide loop of pairs. */
__global__ void reduce_groups(const float *x, float *y, int n)
{
    extern __shared__ float s[];
    cg::thread_block block = cg::this_thread_block();
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x * 2 + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x * 2) {
        sum += x[i];
        if (i + blockDim.x < n) sum += x[i + blockDim.x];
    }
    s[threadIdx.x] = sum;
    cg::sync(block);
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    s[threadIdx.x] = cg::reduce(tile, s[threadIdx.x], cg::plus<float>());
    cg::sync(block);
    if (block.thread_rank() == 0) {
        sum = 0;
        for (int k = 0; k < blockDim.x; k += 32)
            sum += s[k];
        y[blockIdx.x] = sum;
    }
}

/* A group of those whose number is odd adds up theirs, the others theirs. */
__global__ void odd_and_even(const uint32_t *x, int *y, uint32_t *sums, int n)
{
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        int v = x[i] & 1023;
        bool odd = v & 1;
        cg::coalesced_group part = cg::binary_partition(tile, odd);
        int sum = cg::reduce(part, v, cg::plus<int>());
        if (part.thread_rank() == 0) atomicAdd(&sums[odd], sum);
        if (odd) y[i] = part.size();
    }
}

/* Prefix sums, four words per thread, twice the block in shared memory: each step reads what lies
 * before; the lower half is zero. */
__global__ void scan_fours(const uint4 *x, uint4 *y)
{
    __shared__ uint32_t s[512];
    uint4 v = x[blockIdx.x * 256 + threadIdx.x];
    v.y += v.x, v.z += v.y, v.w += v.z;
    int at = 256 + threadIdx.x;
    s[threadIdx.x] = 0, s[at] = v.w;
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        uint32_t sum = s[at] + s[at - step];
        __syncthreads();
        s[at] = sum;
    }
    uint32_t before = s[at] - v.w;
    y[blockIdx.x * 256 + threadIdx.x] =
        make_uint4(before, v.x + before, v.y + before, v.z + before);
}

/* Adds the sum of all earlier blocks to a block. */
__global__ void scan_added(uint4 *x, const uint32_t *before)
{
    __shared__ uint32_t own;
    if (threadIdx.x == 0) own = before[blockIdx.x];
    __syncthreads();
    uint4 v = x[blockIdx.x * 256 + threadIdx.x];
    v.x += own, v.y += own, v.z += own, v.w += own;
    x[blockIdx.x * 256 + threadIdx.x] = v;
}

/* Sums along the rows of an image of bytes: 16 a thread, then a warp's scan. */
__global__ void integral_rows(const uint4 *x, uint4 *y, int width)
{
    __shared__ uint32_t warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, at = blockIdx.x * width + threadIdx.x;
    uint4 v = x[at];
    const unsigned char *e = (const unsigned char *)&v;
    uint32_t sum[16], all = 0;
    for (int k = 0; k < 16; k++)
        sum[k] = all += e[k];
    uint32_t before = all;
    for (int o = 1; o < 32; o *= 2) {
        uint32_t left = __shfl_up_sync(0xffffffff, before, o);
        if (lane >= o) before += left;
    }
    if (lane == 31) warps[warp] = before;
    __syncthreads();
    if (warp == 0) {
        uint32_t own = lane < blockDim.x / 32 ? warps[lane] : 0;
        for (int o = 1; o < 32; o *= 2) {
            uint32_t left = __shfl_up_sync(0xffffffff, own, o);
            if (lane >= o) own += left;
        }
        warps[lane] = own;
    }
    __syncthreads();
    before += (warp ? warps[warp - 1] : 0) - all;
    for (int k = 0; k < 4; k++)
        y[at * 4 + k] = make_uint4(sum[4 * k] + before, sum[4 * k + 1] + before,
                                   sum[4 * k + 2] + before, sum[4 * k + 3] + before);
}

/* 64 bins of bytes for each thread, laid out so that a warp's lie in banks of their own. */
__global__ void histogram_bytes(const uint4 *x, uint32_t *part, int n)
{
    __shared__ unsigned char s[64 * 64];
    int t = threadIdx.x, place = (t & ~63) | (t & 15) << 2 | (t & 48) >> 4;
    for (int k = t; k < 1024; k += 64)
        ((uint32_t *)s)[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) {
        uint4 v = x[i];
        uint32_t word[4] = {v.x, v.y, v.z, v.w};
        for (int j = 0; j < 4; j++)
            for (int shift = 2; shift < 32; shift += 8)
                s[place + (word[j] >> shift & 63) * 64]++;
    }
    __syncthreads();
    uint32_t sum = 0;
    for (int k = 0; k < 64; k++)
        sum += s[t * 64 + (k + 4 * (t & 15)) % 64];
    part[blockIdx.x * 64 + t] = sum;
}

/* One block per bin: adds up what all blocks found. */
__global__ void histogram_merged(const uint32_t *part, uint32_t *y, int count)
{
    __shared__ uint32_t s[256];
    uint32_t sum = 0;
    for (int k = threadIdx.x; k < count; k += 256)
        sum += part[blockIdx.x + k * 64];
    s[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}

__device__ static void swap_pairs(uint32_t *k, uint32_t *v, int p, int q, bool up)
{
    if ((k[p] > k[q]) != up) return;
    uint32_t key = k[p], value = v[p];
    k[p] = k[q], v[p] = v[q], k[q] = key, v[q] = value;
}

/* 1024 keys and their values in shared memory: bitonic. */
__global__ void sort_bitonic(const uint32_t *key, const uint32_t *value, uint32_t *y, uint32_t *z)
{
    __shared__ uint32_t k[1024], v[1024];
    int t = threadIdx.x, at = blockIdx.x * 1024 + t;
    k[t] = key[at], k[t + 512] = key[at + 512], v[t] = value[at], v[t + 512] = value[at + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int p = 2 * t - (t & (step - 1));
            swap_pairs(k, v, p, p + step, (t & (size / 2)) == 0 || size == 1024);
        }
    __syncthreads();
    y[at] = k[t], y[at + 512] = k[t + 512], z[at] = v[t], z[at + 512] = v[t + 512];
}

/* The same by merges of odd and even. */
__global__ void sort_merging(const uint32_t *key, const uint32_t *value, uint32_t *y, uint32_t *z)
{
    __shared__ uint32_t k[1024], v[1024];
    int t = threadIdx.x, at = blockIdx.x * 1024 + t;
    k[t] = key[at], k[t + 512] = key[at + 512], v[t] = value[at], v[t + 512] = value[at + 512];
    for (int size = 2; size <= 1024; size *= 2) {
        int step = size / 2, within = t & (step - 1);
        __syncthreads();
        int p = 2 * t - (t & (step - 1));
        swap_pairs(k, v, p, p + step, true);
        for (step /= 2; step > 0; step /= 2) {
            __syncthreads();
            p = 2 * t - (t & (step - 1));
            if (within >= step) swap_pairs(k, v, p - step, p, true);
        }
    }
    __syncthreads();
    y[at] = k[t], y[at + 512] = k[t + 512], z[at] = v[t], z[at + 512] = v[t + 512];
}

/* A radius of eight, weights in constants: along rows, eight results per thread. */
__constant__ float taps[17];

__global__ void separable_rows(const float *x, float *y, int n)
{
    __shared__ float s[4][10 * 16];
    int column = blockIdx.x * 128 - 16 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    for (int k = 0; k < 10; k++) {
        int at = column + k * 16;
        s[threadIdx.y][threadIdx.x + k * 16] = at >= 0 && at < n ? x[row * n + at] : 0;
    }
    __syncthreads();
    for (int k = 1; k < 9; k++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++)
            sum += taps[8 - j] * s[threadIdx.y][threadIdx.x + k * 16 + j];
        y[row * n + column + k * 16] = sum;
    }
}

__global__ void separable_columns(const float *x, float *y, int n)
{
    __shared__ float s[16][10 * 8 + 1];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 64 - 8 + threadIdx.y;
    for (int k = 0; k < 10; k++) {
        int at = row + k * 8;
        s[threadIdx.x][threadIdx.y + k * 8] = at >= 0 && at < n ? x[at * n + column] : 0;
    }
    __syncthreads();
    for (int k = 1; k < 9; k++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++)
            sum += taps[8 - j] * s[threadIdx.x][threadIdx.y + k * 8 + j];
        y[(row + k * 8) * n + column] = sum;
    }
}

/* A twister of 19 words for each thread, in local memory; uniform numbers. */
__global__ void twister(float *y, int each)
{
    GLOBAL_I;
    uint32_t state[19], seed = i * 2 + 1;
    for (int k = 0; k < 19; k++)
        state[k] = seed, seed = 1812433253u * (seed ^ seed >> 30) + k + 1;
    int now = 0;
    uint32_t first = state[0];
    for (int k = 0; k < each; k++) {
        int next = now == 18 ? 0 : now + 1, far = now + 9 < 19 ? now + 9 : now - 10;
        uint32_t second = state[next], v = (first & 0xfffffffeu) | (second & 1u);
        v = state[far] ^ v >> 1 ^ (v & 1 ? 0xa1b2c3d5u + i : 0);
        state[now] = v, first = second, now = next;
        v ^= v >> 12, v ^= v << 7 & 0x9d2c5680u, v ^= v << 15 & 0xefc60000u, v ^= v >> 18;
        y[k * gridDim.x * blockDim.x + i] = (v + 1.0f) * 2.3283064e-10f;
    }
}

/* Pairs of uniform numbers to pairs of normal ones, in place. */
__global__ void box_muller(float *x, int n)
{
    for (GLOBAL_I; i < n / 2; i += gridDim.x * blockDim.x) {
        float u = fminf(fabsf(x[i]) * 0.9f + 0.01f, 0.999f), v = x[i + n / 2];
        float r = sqrtf(-2.0f * logf(u)), s, co;
        sincosf(6.2831853f * v, &s, &co);
        x[i] = r * co, x[i + n / 2] = r * s;
    }
}

/* Numbers of low discrepancy: a table of 31 words for each of three dimensions. */
__constant__ uint32_t directions[3][31];

__global__ void quasirandom(float *y, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint32_t v = 0;
#pragma unroll
        for (int bit = 0; bit < 31; bit++)
            if (i >> bit & 1) v ^= directions[threadIdx.y][bit];
        y[threadIdx.y * n + i] = (v + 1) * 4.6566129e-10f;
    }
}

/* The inverse of the normal distribution, by quotients of polynomials. */
__global__ void inverse_normal(const float *x, float *y, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        float p = fminf(fmaxf(0.5f + 0.58f * x[i], 1e-4f), 0.9999f), q = p - 0.5f, r;
        if (fabsf(q) < 0.42f) {
            r = q * q;
            r = q * (((-25.44106f * r + 41.391197f) * r - 18.615f) * r + 2.5066283f) /
                ((((3.1308291f * r - 21.06224f) * r + 23.083367f) * r - 8.4735109f) * r + 1.0f);
        } else {
            float t = logf(-logf(q > 0 ? 1.0f - p : p));
            r = 0.33747548f +
                t * (0.97616902f +
                     t * (0.16079797f +
                          t * (0.02764388f +
                               t * (0.00384057f + t * (0.00039519f + t * 0.00003218f)))));
            if (q < 0) r = -r;
        }
        y[i] = r;
    }
}

/* Bodies, each shared by four threads that take every fourth tile. */
__global__ void bodies_split(const float4 *x, float4 *y, int n)
{
    __shared__ float4 s[4][64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 own = x[i];
    float fx = 0, fy = 0, fz = 0;
    for (int tile = threadIdx.y; tile < n / 64; tile += 4) {
        s[threadIdx.y][threadIdx.x] = x[tile * 64 + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 64; k++) {
            float4 p = s[threadIdx.y][k];
            float dx = p.x - own.x, dy = p.y - own.y, dz = p.z - own.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = p.w * r * r * r;
            fx += f * dx, fy += f * dy, fz += f * dz;
        }
        __syncthreads();
    }
    s[threadIdx.y][threadIdx.x] = make_float4(fx, fy, fz, 0);
    __syncthreads();
    if (threadIdx.y) return;
    for (int k = 1; k < 4; k++)
        fx += s[k][threadIdx.x].x, fy += s[k][threadIdx.x].y, fz += s[k][threadIdx.x].z;
    y[i] = make_float4(own.x + 0.01f * fx, own.y + 0.01f * fy, own.z + 0.01f * fz, own.w);
}

/* One block per option: paths from numbers that all options share. */
__global__ void options_by_paths(const float *chance, float2 *y, int paths)
{
    __shared__ float part[8];
    float start = 20.0f + blockIdx.x % 50, strike = 22.0f + blockIdx.x % 37, sum = 0, square = 0;
    for (int k = threadIdx.x; k < paths; k += 256) {
        float end = fmaxf(start * __expf(0.02f + 0.3f * chance[k]) - strike, 0.0f);
        sum += end, square += end * end;
    }
    sum = block_sum(sum, part), square = block_sum(square, part);
    if (threadIdx.x == 0) y[blockIdx.x] = make_float2(sum / paths, square / paths - sum * sum);
}

/* Eigenvalues of tridiagonal matrices by bisection: each thread counts the smaller eigenvalues and
 * finds one. */
__global__ void eigenvalues(const float *diagonal, const float *side, float *y, int n)
{
    extern __shared__ float s[];
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        s[k] = diagonal[k], s[n + k] = side[k] * side[k];
    __syncthreads();
    GLOBAL_I;
    float low = -3.0f, high = 3.0f;
    for (int turn = 0; turn < 12; turn++) {
        float middle = 0.5f * (low + high), delta = 1.0f;
        int less = 0;
        for (int k = 0; k < n; k++) {
            delta = s[k] - middle - (k ? s[n + k] / delta : 0.0f);
            less += delta < 0;
            if (delta == 0) delta = 1e-7f;
        }
        if (less > i)
            high = middle;
        else
            low = middle;
    }
    y[i] = low;
}

/* Dot products of pairs of vectors: 1024 partial sums in shared memory, then a tree. */
__global__ void scalar_products(const float *x, const float *z, float *y, int pairs, int n)
{
    __shared__ float s[1024];
    for (int v = blockIdx.x; v < pairs; v += gridDim.x) {
        for (int place = threadIdx.x; place < 1024; place += blockDim.x) {
            float sum = 0;
            for (int k = v * n + place; k < v * n + n; k += 1024)
                sum += x[k] * z[k];
            s[place] = sum;
        }
        for (int half = 512; half > 0; half /= 2) {
            __syncthreads();
            for (int place = threadIdx.x; place < half; place += blockDim.x)
                s[place] += s[place + half];
        }
        __syncthreads();
        if (threadIdx.x == 0) y[v] = s[0];
    }
}

/* Structs that are copied whole: three words, and eight words that are aligned. */
struct Colour {
    float r, g, b;
};
struct alignas(16) Wide {
    float4 left, right;
};

template <class T> __global__ void structs_copied(const T *x, T *y, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i];
}

/* Every kind of atomic on a few words. */
__global__ void atomics_all(uint32_t *y)
{
    GLOBAL_I;
    int *z = (int *)y;
    atomicAdd(&z[0], 10), atomicSub(&z[1], 10), atomicExch(&z[2], i), atomicMax(&z[3], i);
    atomicMin(&z[4], i), atomicInc(&y[5], 17), atomicDec(&y[6], 137);
    atomicCAS(&z[7], i - 1, i), atomicAnd(&z[8], 2 * i + 7), atomicOr(&z[9], 1 << i % 31);
    atomicXor(&z[10], i);
}

/* Conjugate gradients of a tridiagonal matrix: the grid synchronises after each sum. */
__global__ void gradients(float *x, float *r, float *p, float *q, double *dots, int n, int turns)
{
    cg::grid_group grid = cg::this_grid();
    __shared__ float part[8];
    int first = grid.thread_rank(), step = grid.size();
    for (int i = first; i < n; i += step)
        x[i] = 0, p[i] = r[i] = 1.0f / (1 + i % 13);
    if (first < 2 * turns) dots[first] = 0;
    grid.sync();
    for (int turn = 0; turn < turns; turn++) {
        float pq = 0, rr = 0;
        for (int i = first; i < n; i += step) {
            float v = 4 * p[i] - (i ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
            q[i] = v, pq += p[i] * v, rr += r[i] * r[i];
        }
        pq = block_sum(pq, part), rr = block_sum(rr, part);
        if (threadIdx.x == 0)
            atomicAdd(&dots[2 * turn], (double)pq), atomicAdd(&dots[2 * turn + 1], (double)rr);
        grid.sync();
        float alpha = (float)(dots[2 * turn + 1] / dots[2 * turn]);
        for (int i = first; i < n; i += step)
            x[i] += alpha * p[i], r[i] -= alpha * q[i], p[i] = r[i] + 0.2f * p[i];
        grid.sync();
    }
}

/* A stencil of radius four in 3D: planes in shared memory, what is before and after in registers.
 */
__global__ void planes_25(const float *x, float *y, int nx, int ny, int nz)
{
    __shared__ float s[16 + 8][32 + 8];
    int i = blockIdx.x * 32 + threadIdx.x + 4, j = blockIdx.y * 16 + threadIdx.y + 4;
    int wide = nx + 8, plane = wide * (ny + 8), at = j * wide + i, tx = threadIdx.x + 4,
        ty = threadIdx.y + 4;
    float behind[4], front[4], now;
    for (int k = 0; k < 4; k++)
        behind[3 - k] = x[at + k * plane];
    now = x[at + 4 * plane];
    for (int k = 0; k < 4; k++)
        front[k] = x[at + (5 + k) * plane];
    for (int k = 4; k < nz + 4; k++) {
        if (k > 4) {
            behind[3] = behind[2], behind[2] = behind[1], behind[1] = behind[0], behind[0] = now;
            now = front[0], front[0] = front[1], front[1] = front[2], front[2] = front[3];
            front[3] = x[at + (k + 4) * plane];
        }
        __syncthreads();
        const float *own = x + at + k * plane;
        if (threadIdx.y < 4) s[threadIdx.y][tx] = own[-4 * wide], s[ty + 16][tx] = own[16 * wide];
        if (threadIdx.x < 4) s[ty][threadIdx.x] = own[-4], s[ty][tx + 32] = own[32];
        s[ty][tx] = now;
        __syncthreads();
        float v = 0.25f * now;
        for (int e = 1; e <= 4; e++)
            v += 0.02f * (front[e - 1] + behind[e - 1] + s[ty - e][tx] + s[ty + e][tx] +
                          s[ty][tx - e] + s[ty][tx + e]);
        y[at + k * plane] = v;
    }
}

/* Numbers in Sobol's order: a block a dimension, leaps from one to the next. */
__global__ void sobol(const uint32_t *vector, float *y, int n)
{
    __shared__ uint32_t v[32];
    vector += blockIdx.y * 32, y += (size_t)blockIdx.y * n;
    if (threadIdx.x < 32) v[threadIdx.x] = vector[threadIdx.x];
    __syncthreads();
    GLOBAL_I;
    int step = gridDim.x * blockDim.x, steps = __ffs(step) - 1;
    uint32_t own = 0, gray = i ^ i >> 1;
    for (int bit = 0; bit < steps; bit++)
        own ^= (gray >> bit & 1) * v[bit];
    if (i < n) y[i] = own * 2.3283064e-10f;
    for (i += step; i < n; i += step) {
        own ^= v[steps - 1] ^ v[__ffs(~((i - step) | (step - 1))) - 1];
        y[i] = own * 2.3283064e-10f;
    }
}

/* Noise taken off by weights of alike surroundings: 7 x 7 places, 3 x 3 pixels each. */
__global__ void denoise(const float *x, float *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 4 || row < 4 || column >= n - 4 || row >= n - 4) return;
    float sum = 0, weights = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            float apart = 0;
#pragma unroll
            for (int j = -1; j <= 1; j++)
#pragma unroll
                for (int k = -1; k <= 1; k++) {
                    float e =
                        x[(row + j) * n + column + k] - x[(row + dy + j) * n + column + dx + k];
                    apart += e * e;
                }
            float w = __expf(-4.0f * apart - 0.05f * (dx * dx + dy * dy));
            sum += w * x[(row + dy) * n + column + dx], weights += w;
        }
    y[row * n + column] = sum / weights;
}

/* Four by four by cubic weights. */
__global__ void bicubic(const float *x, float *y, int n, int wide, float scale)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float u = column * scale + 1.3f, v = row * scale + 1.7f, fu = floorf(u), fv = floorf(v);
    int i = (int)fv, j = (int)fu;
    u -= fu, v -= fv;
    float wu[4] = {(1 - u) * (1 - u) * (1 - u) / 6, (4 - 6 * u * u + 3 * u * u * u) / 6,
                   (1 + 3 * u + 3 * u * u - 3 * u * u * u) / 6, u * u * u / 6};
    float wv[4] = {(1 - v) * (1 - v) * (1 - v) / 6, (4 - 6 * v * v + 3 * v * v * v) / 6,
                   (1 + 3 * v + 3 * v * v - 3 * v * v * v) / 6, v * v * v / 6};
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float *from = x + min(i + k - 1, n - 1) * n;
        float line = 0;
#pragma unroll
        for (int e = 0; e < 4; e++)
            line += wu[e] * from[min(j + e - 1, n - 1)];
        sum += wv[k] * line;
    }
    y[row * wide + column] = sum;
}

/* Depth from two images of four bytes a pixel: the shift with the least difference. */
__global__ void stereo(const uint32_t *left, const uint32_t *right, uint32_t *y, int n)
{
    __shared__ uint32_t s[16][32];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    uint32_t best = 0xffffffff, at = 0;
    for (int shift = 0; shift < 12; shift++) {
        for (int half = 0; half < 2; half++) {
            int line = min(row + half * 8, n - 1);
            uint32_t p = left[line * n + column], q = right[line * n + max(column - shift, 0)];
            s[threadIdx.y + half * 8][threadIdx.x] = __vsadu4(p, q);
        }
        __syncthreads();
        uint32_t cost = 0;
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 8; k++)
                cost += s[threadIdx.y + j][(threadIdx.x + k) % 32];
        if (cost < best) best = cost, at = shift;
        __syncthreads();
    }
    y[row * n + column] = at;
}

/* Particles that push each other off, in cells of a grid that lists name. */
__global__ void particles_push(const float4 *place, const float4 *speed, const int2 *cell,
                               float4 *y, int across, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 p = place[i], v = speed[i];
    int cx = i / 4 % across, cy = i / 4 / across % across, cz = i / 4 / across / across;
    float fx = 0, fy = 0, fz = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int ux = (cx + dx + across) % across, uy = (cy + dy + across) % across,
                    uz = (cz + dz + across) % across;
                int2 range = cell[(uz * across + uy) * across + ux];
                for (int k = range.x; k < range.y; k++) {
                    if (k == i) continue;
                    float4 q = place[k], w = speed[k];
                    float rx = q.x - p.x, ry = q.y - p.y, rz = q.z - p.z;
                    float r = sqrtf(rx * rx + ry * ry + rz * rz);
                    if (r >= 0.9f) continue;
                    float push = -0.5f * (0.9f - r) / (r + 1e-6f);
                    fx += push * rx + 0.02f * (w.x - v.x), fy += push * ry + 0.02f * (w.y - v.y);
                    fz += push * rz + 0.02f * (w.z - v.z);
                }
            }
    y[i] = make_float4(v.x + fx, v.y + fy, v.z + fz, 0);
}

/* Blocks of 4 x 4 pixels to two colours and 16 choices, 16 lanes each. */
__global__ void colours_packed(const uint32_t *x, uint2 *y, int n)
{
    __shared__ float3 s[4][16];
    int lane = threadIdx.x % 16, own = threadIdx.x / 16, at = blockIdx.x * 4 + own;
    int row = at / (n / 4) * 4 + lane / 4, column = at % (n / 4) * 4 + lane % 4;
    uint32_t pixel = x[row * n + column];
    s[own][lane] = make_float3((pixel & 255) / 255.0f, (pixel >> 8 & 255) / 255.0f,
                               (pixel >> 16 & 255) / 255.0f);
    __syncwarp();
    float3 low = s[own][0], high = low;
    for (int k = 1; k < 16; k++) {
        float3 p = s[own][k];
        low = make_float3(fminf(low.x, p.x), fminf(low.y, p.y), fminf(low.z, p.z));
        high = make_float3(fmaxf(high.x, p.x), fmaxf(high.y, p.y), fmaxf(high.z, p.z));
    }
    float3 p = s[own][lane];
    float best = 1e9f;
    uint32_t choice = 0;
    for (int k = 0; k < 4; k++) {
        float w = k / 3.0f, dx = low.x + w * (high.x - low.x) - p.x,
              dy = low.y + w * (high.y - low.y) - p.y, dz = low.z + w * (high.z - low.z) - p.z;
        float apart = dx * dx + dy * dy + dz * dz;
        if (apart < best) best = apart, choice = k;
    }
    choice <<= 2 * lane;
    for (int o = 8; o > 0; o /= 2)
        choice |= __shfl_xor_sync(0xffffffff, choice, o, 16);
    if (lane) return;
    uint32_t first =
        (uint32_t)(high.x * 31) << 11 | (uint32_t)(high.y * 63) << 5 | (uint32_t)(high.z * 31);
    uint32_t second =
        (uint32_t)(low.x * 31) << 11 | (uint32_t)(low.y * 63) << 5 | (uint32_t)(low.z * 31);
    y[at] = make_uint2(first | second << 16, choice);
}

static void gradients_launch(void *)
{
    static float *x = c, *r = c + MB, *p = c + 2 * MB, *q = c + 3 * MB;
    static double *dots = (double *)(c + 4 * MB);
    static int n = 200000, turns = 6;
    void *arguments[] = {&x, &r, &p, &q, &dots, &n, &turns};
    cudaLaunchCooperativeKernel((const void *)gradients, 264, 256, arguments, 0, 0);
}

static void samples()
{
    E("transpose", "turn-diagonal", turn_diagonal<<<dim3(32, 32), dim3(32, 16)>>>(a, c, 1024));
    E("transpose", "turn-within", turn_within<<<dim3(64, 64), dim3(16, 16)>>>(a, c, 1024));
    E("groups", "reduce-groups", reduce_groups<<<264, 256, 1024>>>(a, c, 2 * MB));
    E("groups", "odd-and-even", odd_and_even<<<264, 256>>>(keys, (int *)c, zeros, 600000));
    E("scans", "scan-fours", scan_fours<<<1024, 256>>>((uint4 *)keys, (uint4 *)c));
    E("scans", "scan-added", scan_added<<<1024, 256>>>((uint4 *)c, keys));
    E("scans", "integral-rows", integral_rows<<<1000, 128>>>((uint4 *)keys, (uint4 *)c, 128));
    E("histograms", "histogram-bytes",
      histogram_bytes<<<1024, 64>>>((uint4 *)keys, (uint32_t *)c, 512 << 10));
    E("histograms", "histogram-merged", histogram_merged<<<64, 256>>>(keys, (uint32_t *)c, 8192));
    E("sorting-networks", "sort-bitonic",
      sort_bitonic<<<256, 512>>>(keys, rising, (uint32_t *)c, (uint32_t *)c + MB));
    E("sorting-networks", "sort-merging",
      sort_merging<<<256, 512>>>(keys, rising, (uint32_t *)c, (uint32_t *)c + MB));
    E("separable", "separable-rows", separable_rows<<<dim3(8, 256), dim3(16, 4)>>>(a, c, 1024));
    E("separable", "separable-columns",
      separable_columns<<<dim3(64, 16), dim3(16, 8)>>>(a, c, 1024));
    E("random-numbers", "twister", twister<<<32, 128>>>(c, 200));
    E("random-numbers", "box-muller", box_muller<<<128, 256>>>(e, 800000));
    E("random-numbers", "quasirandom", quasirandom<<<128, dim3(128, 3)>>>(c, 300000));
    E("random-numbers", "inverse-normal", inverse_normal<<<256, 256>>>(a, c, 900000));
    E("random-numbers", "sobol", sobol<<<dim3(32, 20), 64>>>(keys, c, 50000));
    E("bodies", "bodies-split", bodies_split<<<64, dim3(64, 4)>>>((float4 *)a, (float4 *)c, 4096));
    E("options", "options-by-paths", options_by_paths<<<256, 256>>>(a, (float2 *)c, 20000));
    E("eigenvalues", "eigenvalues", eigenvalues<<<4, 64, 2048>>>(a, b, c, 256));
    E("dot-products", "scalar-products", scalar_products<<<128, 256>>>(a, b, c, 256, 4096));
    E("structs", "structs-12", structs_copied<<<256, 256>>>((Colour *)a, (Colour *)c, 500000));
    E("structs", "structs-32", structs_copied<<<256, 256>>>((Wide *)a, (Wide *)c, 250000));
    E("atomics", "atomics-all", atomics_all<<<64, 256>>>(zeros + 64));
    measure_entry(REGRESSION, "gradients", "gradients", gradients_launch, 0);
    E("stencils", "planes-25", planes_25<<<dim3(6, 12), dim3(32, 16)>>>(a, c, 192, 192, 48));
    E("images", "denoise", denoise<<<dim3(24, 48), dim3(16, 8)>>>(a, c, 384));
    E("images", "bicubic", bicubic<<<dim3(64, 64), dim3(16, 16)>>>(a, c, 640, 1024, 0.62f));
    E("images", "stereo",
      stereo<<<dim3(15, 60), dim3(32, 8)>>>(keys, keys + 5, (uint32_t *)c, 480));
    E("images", "colours-packed", colours_packed<<<4096, 64>>>(keys, (uint2 *)c, 512));
    E("particles", "particles-push",
      particles_push<<<216, 256>>>((float4 *)a, (float4 *)b, cells, (float4 *)c, 24, 55296));
}
