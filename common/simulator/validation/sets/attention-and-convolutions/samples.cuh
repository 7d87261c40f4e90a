/* samples.cuh - samples: scans, sorts, histograms, signals, images, numbers, codes (part of
 * attention-and-convolutions.cu). */

/* ---- scans, sorts, histograms ---------------------------------------------------------------- */

/* A block's prefix sums as in libraries: sixteen per thread, transposed through shared memory,
 * warps by shuffles. */
template <int EACH> __global__ void __launch_bounds__(128) scan_block(const int *x, int *y)
{
    __shared__ int s[128 * EACH + 128 * EACH / 32], warps[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, from = blockIdx.x * 128 * EACH, v[EACH],
        sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int at = warp * 32 * EACH + k * 32 + lane;
        s[at + at / 32] = x[from + at];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int at = t * EACH + k;
        v[k] = s[at + at / 32], sum += v[k];
    }
    int before = sum;
#pragma unroll
    for (int o = 1; o < 32; o *= 2) {
        int u = __shfl_up_sync(~0u, before, o);
        if (lane >= o) before += u;
    }
    if (lane == 31) warps[warp] = before;
    __syncthreads();
    before -= sum;
    for (int w = 0; w < warp; w++)
        before += warps[w];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int at = t * EACH + k;
        s[at + at / 32] = before, before += v[k];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int at = warp * 32 * EACH + k * 32 + lane;
        y[from + at] = s[at + at / 32];
    }
}

/* A sum of all by shuffles and one atomic per block: vectors of four, a grid's stride. */
template <class T> __global__ void reduce_fours(const int4 *x, T *y, int n)
{
    T sum = 0;
    for (GLOBAL_I; i < n; i += blockDim.x * gridDim.x) {
        int4 v = x[i];
        sum += (T)v.x + v.y + v.z + v.w;
    }
    for (int o = 16; o > 0; o /= 2)
        sum += __shfl_down_sync(~0u, sum, o);
    if ((threadIdx.x & 31) == 0) atomicAdd(y, sum);
}

/* A radix sort's ranks: lanes with the same digit find each other, counters of each warp. */
__global__ void __launch_bounds__(256)
    radix_ranks(const uint32_t *key, uint16_t *rank, uint32_t *counts, int shift)
{
    __shared__ uint32_t counters[8][256];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int k = lane; k < 256; k += 32)
        counters[warp][k] = 0;
    __syncwarp();
    const uint32_t *from = key + blockIdx.x * 4096 + warp * 512;
    uint32_t digit[16], own[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        digit[k] = from[k * 32 + lane] >> shift & 255;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        uint32_t alike = ~0u;
        for (int b = 0; b < 8; b++) {
            uint32_t votes = __ballot_sync(~0u, digit[k] >> b & 1);
            alike &= digit[k] >> b & 1 ? votes : ~votes;
        }
        uint32_t less = alike & ((1u << lane) - 1), before = counters[warp][digit[k]];
        __syncwarp();
        if (!less) counters[warp][digit[k]] = before + __popc(alike);
        __syncwarp();
        own[k] = before + __popc(less);
    }
    __syncthreads();
    uint32_t sum = 0;
    for (int w = 0; w < 8; w++) {
        uint32_t v = counters[w][threadIdx.x];
        counters[w][threadIdx.x] = sum, sum += v;
    }
    counts[threadIdx.x * gridDim.x + blockIdx.x] = sum;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
        rank[blockIdx.x * 4096 + warp * 512 + k * 32 + lane] = own[k] + counters[warp][digit[k]];
}

/* Segments of 1024 keys sorted by merges in shared memory: each thread finds its four by a search
 * along a diagonal. */
__global__ void merge_sorted(const uint32_t *x, uint32_t *y)
{
    __shared__ uint32_t s[1024];
    int t = threadIdx.x;
    uint32_t v[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = x[blockIdx.x * 1024 + t * 4 + k];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int k = r & 1; k < 3; k += 2)
            if (v[k] > v[k + 1]) {
                uint32_t u = v[k];
                v[k] = v[k + 1], v[k + 1] = u;
            }
    for (int half = 4; half < 1024; half *= 2) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 4; k++)
            s[t * 4 + k] = v[k];
        __syncthreads();
        int start = t * 4 & ~(2 * half - 1), diagonal = t * 4 - start;
        int low = max(0, diagonal - half), high = min(diagonal, half);
        while (low < high) {
            int middle = (low + high) / 2;
            if (s[start + middle] <= s[start + half + diagonal - 1 - middle])
                low = middle + 1;
            else
                high = middle;
        }
        int p = start + low, q = start + half + diagonal - low, p_end = start + half,
            q_end = start + 2 * half;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            bool left = q >= q_end || p < p_end && s[p] <= s[q];
            v[k] = left ? s[p++] : s[q++];
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[blockIdx.x * 1024 + t * 4 + k] = v[k];
}

/* Four channels of an image counted at once, 256 bins each, a block's own in shared memory. */
__global__ void histogram_channels(const uchar4 *x, uint32_t *part, int n)
{
    __shared__ uint32_t s[3 * 257];
    for (int k = threadIdx.x; k < 3 * 257; k += blockDim.x)
        s[k] = 0;
    __syncthreads();
    for (GLOBAL_I; i < n; i += blockDim.x * gridDim.x) {
        uchar4 v = x[i];
        atomicAdd(&s[v.x], 1), atomicAdd(&s[257 + v.y], 1), atomicAdd(&s[514 + v.z], 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        for (int c = 0; c < 3; c++)
            part[(blockIdx.x * 3 + c) * 256 + k] = s[c * 257 + k];
}

/* Compaction: the lanes that pass elect one that adds for all. */
__global__ void filter_elected(const int *x, int *y, int *count, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int v = x[i];
    if (v % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int at = 0;
        if (active.thread_rank() == 0) at = atomicAdd(count, active.size());
        y[(active.shfl(at, 0) + active.thread_rank()) & 0x3fffff] = v;
    }
}

/* Runs of alike words: how long each is, at the place of its first. */
__global__ void run_lengths(const uint32_t *x, uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v = x[i] >> 14;
    if (i > 0 && x[i - 1] >> 14 == v) return;
    int end = i + 1;
    while (end < n && x[end] >> 14 == v)
        end++;
    y[i] = end - i;
}

/* ---- signals, numbers, prices ---------------------------------------------------------------- */

/* European options, pairs of them a thread. */
__device__ static float normal_below(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d)),
          v = 0.3989423f * __expf(-0.5f * d * d) *
              (k * (0.3193815f +
                    k * (-0.3565638f + k * (1.7814779f + k * (-1.8212560f + k * 1.3302744f)))));
    return d > 0 ? 1.0f - v : v;
}

__global__ void __launch_bounds__(128)
    options_pairs(float2 *call, float2 *put, const float2 *price, const float2 *strike,
                  const float2 *years, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float2 c, p, s = price[i], x = strike[i], t = years[i];
    for (int k = 0; k < 2; k++) {
        float S = 20.0f + 10.0f * (&s.x)[k], X = 20.0f + 15.0f * (&x.x)[k], T = 1.0f + (&t.x)[k];
        float root = __fsqrt_rn(T),
              d1 = (__logf(S / X) + (0.02f + 0.5f * 0.09f) * T) / (0.3f * root),
              n1 = normal_below(d1), n2 = normal_below(d1 - 0.3f * root), e = __expf(-0.02f * T);
        (&c.x)[k] = S * n1 - X * e * n2, (&p.x)[k] = X * e * (1.0f - n2) - S * (1.0f - n1);
    }
    call[i] = c, put[i] = p;
}

/* Random points in [0, 1] x [0, 1], one generator per thread: the number in the circle. */
__global__ void circle_points(uint32_t *y, int turns)
{
    __shared__ uint32_t warps[8];
    uint32_t s = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345u, count = 0;
    for (int k = 0; k < turns; k++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float u = (s & 0xffff) * (1.0f / 65536), v = (s >> 16) * (1.0f / 65536);
        count += u * u + v * v < 1.0f;
    }
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = count;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            count += warps[w];
        atomicAdd(y, count);
    }
}

/* Spectra multiplied point by point and scaled, in place. */
__global__ void spectra_times(float2 *x, const float2 *filter, int n, float scale)
{
    for (GLOBAL_I; i < n; i += blockDim.x * gridDim.x) {
        float2 p = x[i], q = filter[i];
        x[i] = make_float2(scale * (p.x * q.x - p.y * q.y), scale * (p.x * q.y + p.y * q.x));
    }
}

/* Fourier in doubles, 256 points per block of 64: radix 4, by sincospi. */
__global__ void fft_doubles(const double2 *x, double2 *y)
{
    __shared__ double2 s[256];
    int t = threadIdx.x;
    double2 v[4];
    for (int k = 0; k < 4; k++)
        v[k] = x[blockIdx.x * 256 + t + 64 * k];
    for (int span = 1; span < 256; span *= 4) {
        int low = t % span;
        for (int k = 1; k < 4; k++) {
            double si, co;
            sincospi(-2.0 * k * low / (4 * span), &si, &co);
            v[k] = make_double2(v[k].x * co - v[k].y * si, v[k].x * si + v[k].y * co);
        }
        double2 p = {v[0].x + v[2].x, v[0].y + v[2].y}, q = {v[0].x - v[2].x, v[0].y - v[2].y},
                u = {v[1].x + v[3].x, v[1].y + v[3].y}, w = {v[1].y - v[3].y, v[3].x - v[1].x};
        int to = (t - low) * 4 + low;
        __syncthreads();
        s[to] = make_double2(p.x + u.x, p.y + u.y),
        s[to + span] = make_double2(q.x + w.x, q.y + w.y);
        s[to + 2 * span] = make_double2(p.x - u.x, p.y - u.y);
        s[to + 3 * span] = make_double2(q.x - w.x, q.y - w.y);
        __syncthreads();
        for (int k = 0; k < 4; k++)
            v[k] = s[t + 64 * k];
    }
    for (int k = 0; k < 4; k++)
        y[blockIdx.x * 256 + t + 64 * k] = v[k];
}

/* Matrices of doubles transposed, in padded tiles of 16. */
__global__ void turn_doubles(const double *x, double *y, int width, int height)
{
    __shared__ double s[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (column < width && row < height) s[threadIdx.y][threadIdx.x] = x[row * width + column];
    __syncthreads();
    column = blockIdx.y * 16 + threadIdx.x, row = blockIdx.x * 16 + threadIdx.y;
    if (column < height && row < width) y[row * height + column] = s[threadIdx.x][threadIdx.y];
}

/* Perlin's noise of four octaves; a table of 512 bytes in shared memory. */
__global__ void noise(const uint32_t *table, float *y, int n)
{
    __shared__ unsigned char p[512];
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 512; k += 256)
        p[k] = table[k] & 255;
    __syncthreads();
    int x = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0, weight = 0.5f, step = 0.03f;
    for (int o = 0; o < 4; o++, weight *= 0.5f, step *= 2) {
        float u = x * step, v = row * step, fu = u - floorf(u), fv = v - floorf(v), g[4];
        int X = (int)floorf(u) & 255, Y = (int)floorf(v) & 255;
        for (int k = 0; k < 4; k++) {
            int h = p[p[(X + k % 2) & 255] + ((Y + k / 2) & 255)];
            float gx = fu - k % 2, gy = fv - k / 2;
            g[k] = (h & 1 ? gx : -gx) + (h & 2 ? gy : -gy);
        }
        float su = fu * fu * fu * (fu * (fu * 6 - 15) + 10),
              sv = fv * fv * fv * (fv * (fv * 6 - 15) + 10);
        float low = g[0] + su * (g[1] - g[0]), high = g[2] + su * (g[3] - g[2]);
        sum += weight * (low + sv * (high - low));
    }
    y[row * n + x] = sum;
}

/* ---- images -------------------------------------------------------------------------------- */

/* Cosines of 8 x 8 blocks, eight threads each, rows and then columns in shared memory. */
__device__ static void cosines_eight(float *v, int step)
{
    float p[4], q[4];
    for (int k = 0; k < 4; k++)
        p[k] = v[k * step] + v[(7 - k) * step], q[k] = v[k * step] - v[(7 - k) * step];
    float u = p[0] + p[3], w = p[1] + p[2], r = p[0] - p[3], s = p[1] - p[2];
    v[0] = 0.3535534f * (u + w), v[4 * step] = 0.3535534f * (u - w);
    v[2 * step] = 0.4619398f * r + 0.1913417f * s, v[6 * step] = 0.1913417f * r - 0.4619398f * s;
    v[step] = 0.4903926f * q[0] + 0.4157348f * q[1] + 0.2777851f * q[2] + 0.0975452f * q[3];
    v[3 * step] = 0.4157348f * q[0] - 0.0975452f * q[1] - 0.4903926f * q[2] - 0.2777851f * q[3];
    v[5 * step] = 0.2777851f * q[0] - 0.4903926f * q[1] + 0.0975452f * q[2] + 0.4157348f * q[3];
    v[7 * step] = 0.0975452f * q[0] - 0.2777851f * q[1] + 0.4157348f * q[2] - 0.4903926f * q[3];
}

__global__ void cosines_shared(const float *x, float *y, int n)
{
    __shared__ float s[16 * 33];
    int tx = threadIdx.y * 8 + threadIdx.x, ty = threadIdx.z * 8;
    int at = (blockIdx.y * 16 + ty) * n + blockIdx.x * 32 + tx;
    for (int k = 0; k < 8; k++)
        s[(ty + k) * 33 + tx] = x[at + k * n];
    __syncwarp();
    cosines_eight(&s[(ty + threadIdx.x) * 33 + threadIdx.y * 8], 1);
    __syncwarp();
    cosines_eight(&s[ty * 33 + tx], 33);
    for (int k = 0; k < 8; k++)
        y[at + k * n] = s[(ty + k) * 33 + tx];
}

/* Sharper by what differs from 25 neighbours; bytes in a tile with two more at each side. */
__global__ void sharpen(const unsigned char *x, unsigned char *y, int n)
{
    __shared__ unsigned char s[20][36];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    for (int r = threadIdx.y; r < 20; r += 16)
        for (int q = threadIdx.x; q < 36; q += 32) {
            int Y = min(max((int)blockIdx.y * 16 + r - 2, 0), n - 1),
                X = min(max((int)blockIdx.x * 32 + q - 2, 0), n - 1);
            s[r][q] = x[Y * n + X];
        }
    __syncthreads();
    int sum = 0;
#pragma unroll
    for (int r = 0; r < 5; r++)
#pragma unroll
        for (int q = 0; q < 5; q++)
            sum += s[threadIdx.y + r][threadIdx.x + q];
    int own = s[threadIdx.y + 2][threadIdx.x + 2], v = own + (25 * own - sum) / 16;
    y[row * n + column] = v < 0 ? 0 : v > 255 ? 255 : v;
}

/* Bayer's mosaic to colours. */
__global__ void demosaic(const unsigned char *x, uchar4 *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
#define P(r, s) (int)x[(row + r) * n + column + s]
    int cross = (P(-1, 0) + P(1, 0) + P(0, -1) + P(0, 1)) / 4,
        skew = (P(-1, -1) + P(-1, 1) + P(1, -1) + P(1, 1)) / 4, across = (P(0, -1) + P(0, 1)) / 2,
        down = (P(-1, 0) + P(1, 0)) / 2, own = P(0, 0), r, g, b_of;
#undef P
    if (row & 1) {
        if (column & 1)
            r = skew, g = cross, b_of = own;
        else
            r = down, g = own, b_of = across;
    } else {
        if (column & 1)
            r = across, g = own, b_of = down;
        else
            r = own, g = cross, b_of = skew;
    }
    y[row * n + column] = make_uchar4(r, g, b_of, 255);
}

/* Colours to hue, saturation, value. */
__global__ void hues(const uchar4 *x, float4 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uchar4 v = x[i];
    float r = v.x / 255.0f, g = v.y / 255.0f, q = v.z / 255.0f, most = fmaxf(r, fmaxf(g, q)),
          d = most - fminf(r, fminf(g, q)), hue = 0;
    if (d > 0) {
        if (most == r)
            hue = fmodf((g - q) / d, 6.0f);
        else if (most == g)
            hue = (q - r) / d + 2.0f;
        else
            hue = (r - g) / d + 4.0f;
        hue *= 60.0f;
        if (hue < 0) hue += 360.0f;
    }
    y[i] = make_float4(hue, most == 0 ? 0 : d / most, most, v.w);
}

/* Lines through points: each edge pixel votes for 90 angles in shared memory, a block an angle's
 * part. */
__global__ void hough(const uint32_t *point, int *votes, int points, int reach)
{
    extern __shared__ int ballots[];
    for (int k = threadIdx.x; k < 2 * reach; k += blockDim.x)
        ballots[k] = 0;
    __syncthreads();
    float si, co;
    sincosf(blockIdx.x * 3.14159265f / gridDim.x, &si, &co);
    for (int k = threadIdx.x; k < points; k += blockDim.x) {
        uint32_t p = point[k];
        int rho = (int)rintf((p & 511) * co + (p >> 9 & 511) * si) + reach;
        atomicAdd(&ballots[rho], 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 2 * reach; k += blockDim.x)
        votes[blockIdx.x * 2 * reach + k] = ballots[k];
}

/* Thin edges: a pixel stays if it is larger than both neighbours along its gradient. */
__global__ void edges_thinned(const float *gx, const float *gy, unsigned char *y, int n, float low)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
    int at = row * n + column, step;
    float u = gx[at], v = gy[at], m = hypotf(u, v), angle = atan2f(v, u) * 57.29578f;
    if (angle < 0) angle += 180;
    if (angle < 22.5f || angle >= 157.5f)
        step = 1;
    else if (angle < 67.5f)
        step = n + 1;
    else if (angle < 112.5f)
        step = n;
    else
        step = n - 1;
    float p = hypotf(gx[at + step], gy[at + step]), q = hypotf(gx[at - step], gy[at - step]);
    y[at] = m >= p && m >= q && m > low ? 255 : 0;
}

/* Semi-Lagrangian advection of colours: bilinear reads backwards along the flow. */
__global__ void advected(const float2 *flow, const float4 *x, float4 *y, int n, float dt)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= n) return;
    float2 f = flow[row * n + column];
    float u = fminf(fmaxf(column - dt * f.x, 0.0f), n - 1.001f),
          v = fminf(fmaxf(row - dt * f.y, 0.0f), n - 1.001f);
    int left = (int)u, top = (int)v;
    float fu = u - left, fv = v - top;
    float4 p = x[top * n + left], q = x[top * n + left + 1], r = x[(top + 1) * n + left],
           s = x[(top + 1) * n + left + 1];
#define MIXED(e) ((p.e * (1 - fu) + q.e * fu) * (1 - fv) + (r.e * (1 - fu) + s.e * fu) * fv)
    y[row * n + column] = make_float4(MIXED(x), MIXED(y), MIXED(z), MIXED(w));
#undef MIXED
}

/* A volume seen from before: rays of 96 steps, values looked up and put over each other until
 * little shines through. */
__global__ void volume_seen(const float *volume, float4 *y, int n, int across)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float4 sum = make_float4(0, 0, 0, 0);
    float px = (float)column / across * (n - 2), py = (float)row / across * (n - 2), pz = 0;
    for (int k = 0; k < 96; k++) {
        int X = (int)px, Y = (int)py, Z = (int)pz;
        float v = fabsf(volume[(Z * n + Y) * n + X]), opacity = 0.05f * v;
        sum.x += (1 - sum.w) * opacity * v, sum.y += (1 - sum.w) * opacity * (1 - v);
        sum.z += (1 - sum.w) * opacity * 0.5f, sum.w += (1 - sum.w) * opacity;
        if (sum.w > 0.95f) break;
        pz += (n - 1.0f) / 97, px = fminf(px + 0.05f, n - 2.0f), py = fminf(py + 0.03f, n - 2.0f);
    }
    y[row * across + column] = sum;
}

/* Mandelbrot in doubles, four points per thread, one after another. */
__global__ void mandelbrot_doubles(int *y, int width, int turns)
{
    for (GLOBAL_I; i < width * width; i += blockDim.x * gridDim.x) {
        double u = -0.75 + (i % width - width / 2) * 2.4 / width,
               v = (i / width - width / 2) * 2.4 / width, p = 0, q = 0;
        int k = 0;
        for (; k < turns && p * p + q * q < 4.0; k++) {
            double r = p * p - q * q + u;
            q = 2 * p * q + v, p = r;
        }
        y[i] = k;
    }
}

/* ---- codes, bits ----------------------------------------------------------------------------- */

/* A stream cipher's block of 64 bytes per thread: 20 rounds on sixteen words. */
__global__ void chacha(const uint32_t *key, uint4 *y)
{
    GLOBAL_I;
    uint32_t s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, w[16];
    for (int k = 0; k < 8; k++)
        s[4 + k] = key[k];
    s[12] = i, s[13] = 0, s[14] = 7, s[15] = 9;
    for (int k = 0; k < 16; k++)
        w[k] = s[k];
#define QUARTER(p, q, r, u)                                                                        \
    w[p] += w[q], w[u] = __funnelshift_l(w[u] ^ w[p], w[u] ^ w[p], 16), w[r] += w[u],              \
                  w[q] = __funnelshift_l(w[q] ^ w[r], w[q] ^ w[r], 12), w[p] += w[q],              \
                  w[u] = __funnelshift_l(w[u] ^ w[p], w[u] ^ w[p], 8), w[r] += w[u],               \
                  w[q] = __funnelshift_l(w[q] ^ w[r], w[q] ^ w[r], 7)
#pragma unroll
    for (int k = 0; k < 10; k++) {
        QUARTER(0, 4, 8, 12), QUARTER(1, 5, 9, 13), QUARTER(2, 6, 10, 14), QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15), QUARTER(1, 6, 11, 12), QUARTER(2, 7, 8, 13), QUARTER(3, 4, 9, 14);
    }
#undef QUARTER
    for (int k = 0; k < 4; k++)
        y[i * 4 + k] = make_uint4(w[4 * k] + s[4 * k], w[4 * k + 1] + s[4 * k + 1],
                                  w[4 * k + 2] + s[4 * k + 2], w[4 * k + 3] + s[4 * k + 3]);
}

/* Hamming distances of 256 queries to many words of 256 bits. */
__global__ void hamming(const uint4 *question, const uint4 *word, uint32_t *y, int words)
{
    __shared__ uint4 s[2][32];
    if (threadIdx.x < 64)
        s[threadIdx.x % 2][threadIdx.x / 2] = question[blockIdx.y * 64 + threadIdx.x];
    __syncthreads();
    GLOBAL_I;
    if (i >= words) return;
    uint4 p = word[2 * i], q = word[2 * i + 1];
    uint32_t least = ~0u;
    for (int k = 0; k < 32; k++) {
        uint4 u = s[0][k], v = s[1][k];
        uint32_t d = __popc(p.x ^ u.x) + __popc(p.y ^ u.y) + __popc(p.z ^ u.z) + __popc(p.w ^ u.w) +
                     __popc(q.x ^ v.x) + __popc(q.y ^ v.y) + __popc(q.z ^ v.z) + __popc(q.w ^ v.w);
        least = min(least, d << 8 | k);
    }
    y[blockIdx.y * words + i] = least;
}

/* Powers of a number modulo another, 64 bits. */
__global__ void powers(const uint32_t *x, uint32_t *y, uint32_t modulus)
{
    GLOBAL_I;
    uint64_t base = x[2 * i] % modulus, result = 1;
    for (uint32_t e = x[2 * i + 1] & 0xffff; e; e >>= 1) {
        if (e & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    y[i] = (uint32_t)result;
}

/* Morton's order of points of three coordinates. */
__device__ static uint32_t spread(uint32_t v)
{
    v = (v | v << 16) & 0x030000ff, v = (v | v << 8) & 0x0300f00f, v = (v | v << 4) & 0x030c30c3;
    return (v | v << 2) & 0x09249249;
}

__global__ void morton(const float *x, const float *y, const float *z, uint32_t *code, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t p = (uint32_t)fminf(fmaxf((x[i] + 1.0f) * 512, 0.0f), 1023.0f),
             q = (uint32_t)fminf(fmaxf((y[i] + 1.0f) * 512, 0.0f), 1023.0f),
             r = (uint32_t)fminf(fmaxf((z[i] + 1.0f) * 512, 0.0f), 1023.0f);
    code[i] = spread(p) << 2 | spread(q) << 1 | spread(r);
}

static void samples()
{
    E("scans", "scan-block-16", scan_block<16><<<700, 128>>>((int *)keys, (int *)c));
    E("scans", "scan-block-7", scan_block<7><<<256, 128>>>((int *)keys, (int *)c));
    E("scans", "reduce-fours",
      reduce_fours<int><<<264, 256>>>((int4 *)keys, (int *)zeros + 99, 524288));
    E("scans", "reduce-fours-long",
      reduce_fours<unsigned long long>
      <<<100, 1024>>>((int4 *)a, (unsigned long long *)zeros + 120, 1500000));
    E("sorting", "radix-ranks",
      radix_ranks<<<400, 256>>>(keys, (uint16_t *)c, (uint32_t *)c + 2 * MB, 8));
    E("sorting", "merge-sorted", merge_sorted<<<600, 256>>>(keys, (uint32_t *)c));
    E("counting", "histogram-channels",
      histogram_channels<<<240, 256>>>((uchar4 *)keys, (uint32_t *)c, 1900000));
    E("counting", "filter-elected",
      filter_elected<<<4000, 256>>>((int *)keys, (int *)c, (int *)zeros + 55, 1024000));
    E("counting", "run-lengths", run_lengths<<<1954, 512>>>(rising, (uint32_t *)c, 1000000));
    E("options", "options-pairs",
      options_pairs<<<3500, 128>>>((float2 *)c, (float2 *)c + MB, (float2 *)a, (float2 *)b,
                                   (float2 *)a + MB, 448000));
    E("options", "circle-points", circle_points<<<300, 256>>>(zeros + 77, 300));
    E("signals", "spectra-times",
      spectra_times<<<528, 256>>>((float2 *)e, (float2 *)a, 1900000, 0.9f));
    E("signals", "fft-doubles", fft_doubles<<<2000, 64>>>((double2 *)a, (double2 *)c));
    E("signals", "turn-doubles",
      turn_doubles<<<dim3(70, 50), dim3(16, 16)>>>((double *)a, (double *)c, 1111, 799));
    E("signals", "noise", noise<<<dim3(24, 64), dim3(32, 8)>>>(keys, c, 768));
    E("filters", "cosines-shared", cosines_shared<<<dim3(32, 64), dim3(8, 4, 2)>>>(a, c, 1024));
    E("filters", "sharpen",
      sharpen<<<dim3(40, 80), dim3(32, 16)>>>((unsigned char *)keys, (unsigned char *)c, 1280));
    E("filters", "demosaic",
      demosaic<<<dim3(80, 80), dim3(16, 16)>>>((unsigned char *)keys, (uchar4 *)c, 1280));
    E("filters", "hues", hues<<<4000, 192>>>((uchar4 *)keys, (float4 *)c, 768000));
    E("filters", "hough", hough<<<180, 256, 5800>>>(keys, (int *)c, 12000, 725));
    E("filters", "edges-thinned",
      edges_thinned<<<dim3(60, 60), dim3(16, 16)>>>(a, b, (unsigned char *)c, 960, 0.3f));
    E("fluids", "advected",
      advected<<<dim3(20, 80), dim3(32, 8)>>>((float2 *)a, (float4 *)b, (float4 *)c, 640, 3.0f));
    E("fluids", "volume-seen",
      volume_seen<<<dim3(16, 16), dim3(16, 16)>>>(a, (float4 *)c, 160, 256));
    E("fluids", "mandelbrot-doubles", mandelbrot_doubles<<<264, 128>>>((int *)c, 320, 200));
    E("bits", "chacha", chacha<<<400, 256>>>(keys, (uint4 *)c));
    E("bits", "hamming",
      hamming<<<dim3(160, 4), 192>>>((uint4 *)rising, (uint4 *)keys, (uint32_t *)c, 30000));
    E("bits", "powers", powers<<<256, 128>>>(keys, (uint32_t *)c, 1000000007u));
    E("bits", "morton", morton<<<5900, 128>>>(a, b, a + MB, (uint32_t *)c, 750000));
}
