/* samples.cuh - first kernels of courses, samples and benchmarks: reductions, sorting, images,
 * grids, graphs, numbers (part of common-kernels.cu). */

/* Sums of 2048 values per block: two a thread, then halves of the block. */
__global__ void sum_halving(const float *x, float *y)
{
    __shared__ float s[1024];
    int t = threadIdx.x, i = blockIdx.x * 2048 + t;
    s[t] = x[i] + x[i + 1024];
    for (int d = 512; d; d /= 2) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];
    }
    if (!t) y[blockIdx.x] = s[0];
}

/* A whole grid goes over all values; blocks add theirs up by an atomic. */
__global__ void sum_striding(const float4 *x, float *y, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i].x + x[i].y + x[i].z + x[i].w;
    sum = block_sum(sum);
    if (!threadIdx.x) atomicAdd(y, sum);
}

__global__ void dot_blocks(const float *x, const float *z, float *y, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * z[i];
    sum = block_sum(sum);
    if (!threadIdx.x) y[blockIdx.x] = sum;
}

/* Prefix sums of a block's 512 values, in steps of doubled distance. */
__global__ void running_sums(const float *x, float *y, float *last)
{
    __shared__ float s[2][512];
    int t = threadIdx.x, now = 0;
    s[0][t] = x[blockIdx.x * 512 + t];
    for (int d = 1; d < 512; d *= 2, now ^= 1) {
        __syncthreads();
        s[now ^ 1][t] = t >= d ? s[now][t] + s[now][t - d] : s[now][t];
    }
    __syncthreads();
    y[blockIdx.x * 512 + t] = s[now][t];
    if (t == 511) last[blockIdx.x] = s[now][t];
}

/* The same up and down a tree, two values per thread. */
__global__ void running_tree(const float *x, float *y)
{
    __shared__ float s[1024];
    int t = threadIdx.x, base = blockIdx.x * 1024, step = 1;
    s[2 * t] = x[base + 2 * t], s[2 * t + 1] = x[base + 2 * t + 1];
    for (int d = 512; d; d /= 2, step *= 2) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
    }
    if (!t) s[1023] = 0;
    for (int d = 1; d < 1024; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            int i = step * (2 * t + 1) - 1, j = step * (2 * t + 2) - 1;
            float v = s[i];
            s[i] = s[j], s[j] += v;
        }
    }
    __syncthreads();
    y[base + 2 * t] = s[2 * t], y[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void counts_256(const unsigned *x, unsigned *count, int n)
{
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        unsigned v = x[i];
        atomicAdd(&s[v & 255], 1), atomicAdd(&s[v >> 8 & 255], 1);
        atomicAdd(&s[v >> 16 & 255], 1), atomicAdd(&s[v >> 24], 1);
    }
    __syncthreads();
    atomicAdd(&count[threadIdx.x], s[threadIdx.x]);
}

__global__ void counts_direct(const unsigned *x, unsigned *count, int n)
{
    GLOBAL_I;
    if (i < n) atomicAdd(&count[x[i] % 1000], 1);
}

__global__ void turn_simple(const float *x, float *y, int rows, int cols)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
}

__global__ void turn_padded(const float *x, float *y, int rows, int cols)
{
    __shared__ float s[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (row + j < rows && col < cols)
            s[threadIdx.y + j][threadIdx.x] = x[(row + j) * cols + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (row + j < cols && col < rows)
            y[(row + j) * rows + col] = s[threadIdx.x][threadIdx.y + j];
}

__global__ void triad(const float *x, const float *z, float *y, float s, int n)
{
    GLOBAL_I;
    if (i < n) y[i] = x[i] + s * z[i];
}

__global__ void triad_strided(const float *x, float *y, int stride, int n)
{
    GLOBAL_I;
    if (i * stride < n) y[i * stride] = 2 * x[i * stride];
}

__global__ void gathered(const float *x, const unsigned *at, float *y, int n)
{
    GLOBAL_I;
    if (i < n) y[i] = x[at[i] & (4 * MB - 1)];
}

/* 1024 values per block in order, by exchanges. */
__global__ void sort_1024(const unsigned *x, unsigned *y)
{
    __shared__ unsigned s[1024];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 1024 + t];
    for (int size = 2; size <= 1024; size *= 2)
        for (int d = size / 2; d; d /= 2) {
            __syncthreads();
            int other = t ^ d;
            unsigned u = s[t], v = s[other];
            bool up = (t & size) == 0, first = t < other;
            __syncthreads();
            s[t] = (first == up) == (u < v) ? u : v;
        }
    y[blockIdx.x * 1024 + t] = s[t];
}

/* A step of a merge sort: each value finds its place in the other run by halving. */
__global__ void merge_step(const unsigned *x, unsigned *y, int run, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int pair = i / (2 * run) * 2 * run, first = pair + run, mine = i - pair;
    bool second = i >= first;
    int low = second ? pair : first, high = low + run;
    unsigned v = x[i];
    int begin = low;
    while (low < high) {
        int middle = (low + high) / 2;
        if (second ? x[middle] <= v : x[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    y[pair + (second ? mine - run : mine) + low - begin] = v;
}

/* Collects what is large: places by one atomic per warp. */
__global__ void kept_large(const unsigned *x, unsigned *y, unsigned *count, int n)
{
    GLOBAL_I;
    unsigned v = i < n ? x[i] : 0;
    bool keep = v > 0xc0000000u;
    unsigned all = __ballot_sync(~0u, keep), place = 0;
    int lane = threadIdx.x % 32;
    if (!lane && all) place = atomicAdd(count, __popc(all));
    place = __shfl_sync(~0u, place, 0);
    if (keep) y[(place + __popc(all & ((1u << lane) - 1))) & (MB - 1)] = v;
}

__global__ void fractal(unsigned char *y, int width, int height, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = 3.0f * px / width - 2.2f, cy = 2.4f * py / height - 1.2f, x = 0, y_ = 0;
    int k = 0;
    while (k < limit && x * x + y_ * y_ < 4) {
        float next = x * x - y_ * y_ + cx;
        y_ = 2 * x * y_ + cy, x = next, k++;
    }
    y[py * width + px] = (unsigned char)(k * 255 / limit);
}

__global__ void bodies(const float4 *p, float4 *f, int n)
{
    __shared__ float4 s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 own = p[i];
    float3 sum = make_float3(0, 0, 0);
    for (int tile = 0; tile < n; tile += 128) {
        s[threadIdx.x] = p[tile + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float dx = s[j].x - own.x, dy = s[j].y - own.y, dz = s[j].z - own.z,
                  r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), w = s[j].w * r * r * r;
            sum.x += w * dx, sum.y += w * dy, sum.z += w * dz;
        }
        __syncthreads();
    }
    f[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

__global__ void circle_hits(unsigned *hits, int turns)
{
    GLOBAL_I;
    unsigned s = i * 2654435761u + 12345, in = 0;
    for (int k = 0; k < turns; k++) {
        s = s * 1664525u + 1013904223u;
        float x = (s >> 8) * 5.9604645e-8f;
        s = s * 1664525u + 1013904223u;
        float y = (s >> 8) * 5.9604645e-8f;
        in += x * x + y * y < 1;
    }
    in = __reduce_add_sync(~0u, in);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, in);
}

__global__ void prices(const float *spot, const float *strike, float *call, float *put, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float s = fabsf(spot[i]) + 1, x = fabsf(strike[i]) + 1, t = 0.5f, root = sqrtf(t);
    float d = (logf(s / x) + (0.02f + 0.045f) * t) / (0.3f * root), e = d - 0.3f * root;
    float left = x * expf(-0.02f * t);
    call[i] = s * normcdff(d) - left * normcdff(e);
    put[i] = left * normcdff(-e) - s * normcdff(-d);
}

__constant__ float kernel_17[17];

__global__ void blur_rows(const float *x, float *y, int width)
{
    __shared__ float s[128 + 16];
    int t = threadIdx.x, col = blockIdx.x * 128 + t, row = blockIdx.y * width;
    s[t + 8] = x[row + col];
    if (t < 8) {
        s[t] = col >= 8 ? x[row + col - 8] : 0;
        s[t + 136] = col + 128 < width ? x[row + col + 128] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 17; i++)
        sum += s[t + i] * kernel_17[i];
    y[row + col] = sum;
}

__global__ void blur_5x5(const float *x, float *y, int width, int height)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (col >= width || row >= height) return;
    float sum = 0;
    for (int r = -2; r <= 2; r++)
        for (int s = -2; s <= 2; s++) {
            int i = min(max(row + r, 0), height - 1), j = min(max(col + s, 0), width - 1);
            sum += x[i * width + j] * kernel_17[(r + 2) * 3 + s + 2];
        }
    y[row * width + col] = sum;
}

__global__ void edges_3x3(const unsigned char *x, unsigned char *y, int width, int height)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (col < 1 || row < 1 || col >= width - 1 || row >= height - 1) return;
    const unsigned char *up = x + (row - 1) * width + col, *mid = up + width, *down = mid + width;
    int gx = up[1] - up[-1] + 2 * (mid[1] - mid[-1]) + down[1] - down[-1];
    int gy = down[-1] - up[-1] + 2 * (down[0] - up[0]) + down[1] - up[1];
    y[row * width + col] = (unsigned char)min(255, (int)sqrtf((float)(gx * gx + gy * gy)));
}

__global__ void to_grey(const uchar4 *x, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uchar4 p = x[i];
    y[i] = 0.299f * p.x + 0.587f * p.y + 0.114f * p.z;
}

__global__ void life_step(const int *x, int *y, int n)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    int left = (col + n - 1) % n, right = (col + 1) % n, up = (row + n - 1) % n * n,
        down = (row + 1) % n * n;
    row *= n;
    int alive = (x[up + left] & 1) + (x[up + col] & 1) + (x[up + right] & 1) + (x[row + left] & 1) +
                (x[row + right] & 1) + (x[down + left] & 1) + (x[down + col] & 1) +
                (x[down + right] & 1);
    y[row + col] = alive == 3 || (alive == 2 && x[row + col] & 1);
}

__global__ void heat_2d(const float *x, float *y, int n, float rate)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (col < 1 || row < 1 || col >= n - 1 || row >= n - 1) return;
    int i = row * n + col;
    y[i] = x[i] + rate * (x[i - 1] + x[i + 1] + x[i - n] + x[i + n] - 4 * x[i]);
}

__global__ void laplace_3d(const float *x, float *y, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y,
        k = blockIdx.z * 2 + threadIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= n - 1 || j >= n - 1 || k >= n - 1) return;
    int at = (k * n + j) * n + i;
    y[at] =
        x[at - 1] + x[at + 1] + x[at - n] + x[at + n] + x[at - n * n] + x[at + n * n] - 6 * x[at];
}

__global__ void wave_2d(const float *now, const float *before, float *next, int n)
{
    __shared__ float s[18][34];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 32 + tx, row = blockIdx.y * 16 + ty,
        i = row * n + col;
    s[ty + 1][tx + 1] = now[i];
    if (!tx) s[ty + 1][0] = col ? now[i - 1] : 0;
    if (tx == 31) s[ty + 1][33] = col < n - 1 ? now[i + 1] : 0;
    if (!ty) s[0][tx + 1] = row ? now[i - n] : 0;
    if (ty == 15) s[17][tx + 1] = row < n - 1 ? now[i + n] : 0;
    __syncthreads();
    float mid = s[ty + 1][tx + 1];
    next[i] =
        2 * mid - before[i] +
        0.2f * (s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2] - 4 * mid);
}

/* A step of elimination below row k. */
__global__ void eliminated(float *m, int n, int k)
{
    int col = k + 1 + blockIdx.x * 32 + threadIdx.x, row = k + 1 + blockIdx.y * 8 + threadIdx.y;
    if (row >= n || col >= n) return;
    m[row * n + col] -= m[row * n + k] / 3.5f * m[k * n + col];
}

__global__ void paths_shorter(const int *d, int *to, int n, int k)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= n || col >= n) return;
    to[row * n + col] = min(d[row * n + col], (d[row * n + k] >> 2) + (d[k * n + col] >> 2));
}

__global__ void sparse_rows(const int *row, const int *col, const float *v, const float *x,
                            float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
        sum += v[k] * x[col[k]];
    y[i] = sum;
}

__global__ void sparse_rows_by_warps(const int *row, const int *col, const float *v, const float *x,
                                     float *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i] + lane; k < row[i + 1]; k += 32)
        sum += v[k] * x[col[k]];
    sum = warp_sum(sum);
    if (!lane) y[i] = sum;
}

/* A level of a breadth first search from all vertices that have it. */
__global__ void next_level(const int *row, const int *col, const unsigned *start, int *level, int n)
{
    GLOBAL_I;
    if (i >= n || start[i] % 8) return;
    for (int k = row[i]; k < row[i + 1]; k++)
        if (start[col[k]] % 8) level[col[k]] = 1;
}

/* Ranks flow along edges. */
__global__ void ranks_flow(const int *row, const int *col, const float *rank, float *next, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int begin = row[i], count = row[i + 1] - begin;
    float share = count ? 0.85f * rank[i] / count : 0;
    for (int k = 0; k < count; k++)
        atomicAdd(&next[col[begin + k]], share);
}

/* Which of 24 means is nearest, in 8 dimensions. */
__global__ void nearest_mean(const float *x, const float *mean, int *which, int n)
{
    __shared__ float m[24 * 8];
    if (threadIdx.x < 192) m[threadIdx.x] = mean[threadIdx.x];
    __syncthreads();
    GLOBAL_I;
    if (i >= n) return;
    float own[8], best = 3e38f;
    for (int d = 0; d < 8; d++)
        own[d] = x[d * n + i];
    int at = 0;
    for (int k = 0; k < 24; k++) {
        float sum = 0;
        for (int d = 0; d < 8; d++)
            sum += (own[d] - m[k * 8 + d]) * (own[d] - m[k * 8 + d]);
        if (sum < best) best = sum, at = k;
    }
    which[i] = at;
}

/* Rows of costs, the cheapest way down: 6 rows at a time in shared memory. */
__global__ void cheapest_way(const int *cost, const int *from, int *to, int cols, int row)
{
    __shared__ int s[2][256];
    int t = threadIdx.x, col = blockIdx.x * 244 + t - 6, now = 0;
    bool inside = col >= 0 && col < cols;
    s[0][t] = inside ? from[col] >> 8 : 0x3fffffff;
    for (int r = 0; r < 6; r++, now ^= 1) {
        __syncthreads();
        int best = s[now][t];
        if (t > 0) best = min(best, s[now][t - 1]);
        if (t < 255) best = min(best, s[now][t + 1]);
        s[now ^ 1][t] = inside ? best + (cost[(row + r) * cols + col] >> 8) : 0x3fffffff;
    }
    if (inside && t >= 6 && t < 250) to[col] = s[now][t];
}

__global__ void primes_tested(const unsigned *x, unsigned char *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    unsigned v = (x[i] >> 18) | 1;
    bool prime = v > 2;
    for (unsigned d = 3; prime && d * d <= v; d += 2)
        prime = v % d != 0;
    y[i] = prime;
}

__global__ void hashed(const uint4 *x, unsigned *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint4 v = x[i];
    unsigned h = 2166136261u, w[4] = {v.x, v.y, v.z, v.w};
    for (int k = 0; k < 4; k++)
        for (int b = 0; b < 32; b += 8)
            h = (h ^ (w[k] >> b & 255)) * 16777619u;
    y[i] = h;
}

/* The positions of a word of eight letters in a text. */
__global__ void found_word(const unsigned char *text, unsigned *count, int n)
{
    __shared__ unsigned char s[256 + 8];
    int t = threadIdx.x, base = blockIdx.x * 256;
    s[t] = text[base + t];
    if (t < 8) s[256 + t] = text[base + 256 + t];
    __syncthreads();
    int k = 0;
    while (k < 8 && (s[t + k] & 3) == (k * 5 & 3))
        k++;
    if (k == 8) atomicAdd(count, 1);
}

__global__ void doubles_step(const double *x, double *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    double v = x[i], p = 1;
    for (int k = 12; k > 0; k--)
        p = 1 + p * v * 1e-3 / k;
    y[i] = p / (1 + p);
}

/* Transforms of 256 values by radix 4, one a thread of 64, in shared memory. */
__global__ void fourier_256(const float2 *x, float2 *y)
{
    __shared__ float2 s[256];
    int t = threadIdx.x;
    float2 v[4];
    for (int k = 0; k < 4; k++)
        v[k] = x[blockIdx.x * 256 + t + 64 * k];
    for (int size = 1; size < 256; size *= 4) {
        int j = t % size;
        for (int k = 1; k < 4; k++) {
            float sn, cs;
            __sincosf(-6.2831853f * j * k / (4 * size), &sn, &cs);
            v[k] = make_float2(v[k].x * cs - v[k].y * sn, v[k].x * sn + v[k].y * cs);
        }
        float2 p = make_float2(v[0].x + v[2].x, v[0].y + v[2].y),
               q = make_float2(v[0].x - v[2].x, v[0].y - v[2].y),
               u = make_float2(v[1].x + v[3].x, v[1].y + v[3].y),
               w = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
        int to = (t - j) * 4 + j;
        __syncthreads();
        s[to] = make_float2(p.x + u.x, p.y + u.y), s[to + size] = make_float2(q.x + w.x, q.y + w.y);
        s[to + 2 * size] = make_float2(p.x - u.x, p.y - u.y),
                   s[to + 3 * size] = make_float2(q.x - w.x, q.y - w.y);
        __syncthreads();
        for (int k = 0; k < 4; k++)
            v[k] = s[t + 64 * k];
    }
    for (int k = 0; k < 4; k++)
        y[blockIdx.x * 256 + t + 64 * k] = v[k];
}

static void samples()
{
    static const unsigned char *bytes = (const unsigned char *)keys;
    E("sum", "sum-halving", sum_halving<<<2000, 1024>>>(a, c));
    E("sum", "sum-striding", sum_striding<<<264, 512>>>((const float4 *)a, c, 2 * MB));
    E("sum", "dot-blocks", dot_blocks<<<528, 256>>>(a, b, c, 5000000));
    E("scan", "running-sums", running_sums<<<4000, 512>>>(a, c, e));
    E("scan", "running-tree", running_tree<<<2000, 512>>>(a, c));
    E("histogram", "counts-256", counts_256<<<264, 256>>>(keys, (unsigned *)c, 2 * MB));
    E("histogram", "counts-direct", counts_direct<<<4000, 256>>>(keys, (unsigned *)c, 1024000));
    E("transpose", "turn-simple-1500",
      turn_simple<<<dim3(47, 188), dim3(32, 8)>>>(a, c, 1500, 1500));
    E("transpose", "turn-padded-1500",
      turn_padded<<<dim3(47, 47), dim3(32, 8)>>>(a, c, 1500, 1500));
    E("transpose", "turn-padded-2048",
      turn_padded<<<dim3(64, 64), dim3(32, 8)>>>(a, c, 2048, 2048));
    E("stream", "triad-3M", triad<<<11719, 256>>>(a, b, c, 3.0f, 3000000));
    E("stream", "triad-100k", triad<<<391, 256>>>(a, b, c, 3.0f, 100000));
    E("stream", "strided-4", triad_strided<<<4096, 256>>>(a, c, 4, 4 * MB));
    E("stream", "strided-32", triad_strided<<<1024, 256>>>(a, c, 32, 8 * MB));
    E("stream", "gathered", gathered<<<4096, 256>>>(a, keys, c, MB));
    E("sort", "sort-1024", sort_1024<<<500, 1024>>>(keys, (unsigned *)c));
    E("sort", "merge-step", merge_step<<<2048, 256>>>(runs, (unsigned *)c, 4096, 512 << 10));
    E("sort", "kept-large", kept_large<<<8192, 256>>>(keys, (unsigned *)c, (unsigned *)e, 2 * MB));
    E("numbers", "fractal",
      fractal<<<dim3(50, 75), dim3(16, 8)>>>((unsigned char *)c, 800, 600, 200));
    E("numbers", "bodies-6144", bodies<<<48, 128>>>((const float4 *)a, (float4 *)c, 6144));
    E("numbers", "bodies-20480", bodies<<<160, 128>>>((const float4 *)a, (float4 *)c, 4096));
    E("numbers", "circle-hits", circle_hits<<<528, 128>>>((unsigned *)c, 500));
    E("numbers", "prices", prices<<<3000, 256>>>(a, b, c, c + MB, 768000));
    E("image", "blur-rows", blur_rows<<<dim3(12, 1000), 128>>>(a, c, 1536));
    E("image", "blur-5x5", blur_5x5<<<dim3(40, 90), dim3(32, 8)>>>(a, c, 1280, 720));
    E("image", "edges-3x3",
      edges_3x3<<<dim3(60, 135), dim3(32, 8)>>>(bytes, (unsigned char *)c, 1920, 1080));
    E("image", "to-grey", to_grey<<<8100, 256>>>((const uchar4 *)keys, c, 2073600));
    E("grid", "life-step",
      life_step<<<dim3(44, 176), dim3(32, 8)>>>((const int *)keys, (int *)c, 1408));
    E("grid", "heat-2d-2000", heat_2d<<<dim3(63, 250), dim3(32, 8)>>>(a, c, 2000, 0.2f));
    E("grid", "heat-2d-300", heat_2d<<<dim3(10, 38), dim3(32, 8)>>>(a, c, 300, 0.2f));
    E("grid", "laplace-3d", laplace_3d<<<dim3(4, 32, 64), dim3(32, 4, 2)>>>(a, c, 128));
    E("grid", "wave-2d", wave_2d<<<dim3(40, 80), dim3(32, 16)>>>(a, b, c, 1280));
    E("algebra", "eliminated", eliminated<<<dim3(32, 128), dim3(32, 8)>>>(e, 1024, 5));
    E("graph", "paths-shorter",
      paths_shorter<<<dim3(50, 50), dim3(16, 16)>>>((const int *)a, (int *)c, 800, 77));
    E("sparse", "sparse-rows", sparse_rows<<<196, 256>>>(rows, columns, a, b, c, 50000));
    E("sparse", "sparse-warps", sparse_rows_by_warps<<<6250, 256>>>(rows, columns, a, b, c, 50000));
    E("graph", "next-level", next_level<<<196, 256>>>(rows, columns, keys, (int *)c, 50000));
    E("graph", "ranks-flow", ranks_flow<<<196, 256>>>(rows, columns, b, c, 50000));
    E("data", "nearest-mean", nearest_mean<<<782, 256>>>(a, b, (int *)c, 200000));
    E("data", "cheapest-way",
      cheapest_way<<<410, 256>>>((const int *)a, (const int *)b, (int *)c, 100000, 10));
    E("numbers", "primes-tested", primes_tested<<<1000, 256>>>(keys, (unsigned char *)c, 256000));
    E("numbers", "hashed", hashed<<<2000, 256>>>((const uint4 *)keys, (unsigned *)c, 512000));
    E("text", "found-word", found_word<<<16000, 256>>>(bytes, (unsigned *)c, 4096000));
    E("numbers", "doubles-step",
      doubles_step<<<4000, 256>>>((const double *)a, (double *)c, 1000000));
    E("numbers", "fourier-256", fourier_256<<<4000, 64>>>((const float2 *)a, (float2 *)c));
}
