/* layers.cuh - layers of networks, forward and backward pass, as in a first implementation (part of
 * common-kernels.cu). */

__inline__ __device__ float warp_sum(float v)
{
    for (int o = 16; o; o /= 2)
        v += __shfl_xor_sync(~0u, v, o);
    return v;
}

__inline__ __device__ float warp_most(float v)
{
    for (int o = 16; o; o /= 2)
        v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
    return v;
}

/* Over all threads of the block; all get it. */
__inline__ __device__ float block_sum(float v)
{
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    v = warp_sum(v);
    __syncthreads();
    if (!lane) part[warp] = v;
    __syncthreads();
    return warp_sum(lane < warps ? part[lane] : 0.0f);
}

/* One row per block, in three passes. */
__global__ void softmax_rows(const float *x, float *y, int n)
{
    __shared__ float best;
    const float *from = x + blockIdx.x * n;
    float most = -3e38f, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        most = fmaxf(most, from[i]);
    most = warp_most(most);
    if (!threadIdx.x) best = -3e38f;
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicMax((int *)&best, __float_as_int(fmaxf(most, 0.0f)));
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += __expf(from[i] - best);
    sum = block_sum(sum);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = __expf(from[i] - best) / sum;
}

/* A row of 64 a warp, two values per lane. */
__global__ void softmax_64(const float2 *x, float2 *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, at = row * 32 + threadIdx.x % 32;
    if (row >= rows) return;
    float2 v = x[at];
    float most = warp_most(fmaxf(v.x, v.y));
    v.x = expf(v.x - most), v.y = expf(v.y - most);
    float sum = warp_sum(v.x + v.y);
    y[at] = make_float2(v.x / sum, v.y / sum);
}

__global__ void layer_norm(const float *x, const float *g, const float *h, float *y, int n)
{
    const float *from = x + blockIdx.x * n;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += from[i];
    float mean = block_sum(sum) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        square += (from[i] - mean) * (from[i] - mean);
    float scale = rsqrtf(block_sum(square) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = (from[i] - mean) * scale * g[i] + h[i];
}

/* The same with a row of 1024 in registers, one vector per thread. */
__global__ void layer_norm_fours(const float4 *x, const float4 *g, float4 *y)
{
    float4 v = x[blockIdx.x * 256 + threadIdx.x], w = g[threadIdx.x];
    float mean = block_sum(v.x + v.y + v.z + v.w) / 1024;
    v.x -= mean, v.y -= mean, v.z -= mean, v.w -= mean;
    float s = rsqrtf(block_sum(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w) / 1024 + 1e-5f);
    y[blockIdx.x * 256 + threadIdx.x] =
        make_float4(v.x * s * w.x, v.y * s * w.y, v.z * s * w.z, v.w * s * w.w);
}

__global__ void rms_norm_halves(const __half2 *x, const __half2 *g, __half2 *y, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float2 v = __half22float2(x[blockIdx.x * n + i]);
        sum += v.x * v.x + v.y * v.y;
    }
    float scale = rsqrtf(block_sum(sum) / (2 * n) + 1e-6f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float2 v = __half22float2(x[blockIdx.x * n + i]), w = __half22float2(g[i]);
        y[blockIdx.x * n + i] = __floats2half2_rn(v.x * scale * w.x, v.y * scale * w.y);
    }
}

__global__ void gelu_halves(const __half2 *x, __half2 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float2 v = __half22float2(x[i]);
    v.x = 0.5f * v.x * (1 + tanhf(0.79788456f * (v.x + 0.044715f * v.x * v.x * v.x)));
    v.y = 0.5f * v.y * (1 + tanhf(0.79788456f * (v.y + 0.044715f * v.y * v.y * v.y)));
    y[i] = __floats2half2_rn(v.x, v.y);
}

__global__ void silu_times(const float4 *gate, const float4 *up, float4 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 g = gate[i], u = up[i];
    y[i] = make_float4(u.x * g.x / (1 + __expf(-g.x)), u.y * g.y / (1 + __expf(-g.y)),
                       u.z * g.z / (1 + __expf(-g.z)), u.w * g.w / (1 + __expf(-g.w)));
}

__global__ void bias_and_residual(const float *x, const float *bias, const float *r, float *y,
                                  int n, int width)
{
    GLOBAL_I;
    if (i < n) y[i] = x[i] + bias[i % width] + r[i];
}

/* Words and places: one row per block. */
__global__ void embedded(const unsigned *word, const float *table, const float *place, float *y,
                         int width)
{
    int id = word[blockIdx.x] % 5000;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        y[blockIdx.x * width + i] = table[id * width + i] + place[blockIdx.x % 512 * width + i];
}

/* q k^T / 8 of heads of 64, of keys up to the query's own place; others get -infinity. */
__global__ void scores_causal(const float *q, const float *k, float *s, int t)
{
    __shared__ float qs[16][65], ks[16][65];
    int head = blockIdx.z, tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty,
        col = blockIdx.x * 16 + tx;
    float *to = s + ((size_t)head * t + row) * t + col;
    if (blockIdx.x > blockIdx.y) {
        *to = -INFINITY;
        return;
    }
    for (int i = tx; i < 64; i += 16) {
        qs[ty][i] = q[(head * t + row) * 64 + i];
        ks[ty][i] = k[(head * t + blockIdx.x * 16 + ty) * 64 + i];
    }
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 64; i++)
        sum += qs[ty][i] * ks[tx][i];
    *to = col <= row ? sum * 0.125f : -INFINITY;
}

/* One query of each head against all keys of a cache: one block per head, one warp per key. */
__global__ void decode(const float *q, const float *k, const float *v, float *y, int t)
{
    extern __shared__ float score[];
    int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32,
        warps = blockDim.x / 32;
    const float *keys = k + (size_t)head * t * 64, *values = v + (size_t)head * t * 64;
    float2 own = ((const float2 *)q)[head * 32 + lane];
    float sum = 0;
    for (int i = warp; i < t; i += warps) {
        float2 other = ((const float2 *)(keys + i * 64))[lane];
        float dot = warp_sum(own.x * other.x + own.y * other.y);
        if (!lane) score[i] = __expf(dot * 0.125f);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < t; i += blockDim.x)
        sum += score[i];
    sum = block_sum(sum);
    if (threadIdx.x < 64) {
        float out = 0;
        for (int i = 0; i < t; i++)
            out += score[i] * values[i * 64 + threadIdx.x];
        y[head * 64 + threadIdx.x] = out / sum;
    }
}

/* Attention with keys and values by tiles of 32 in shared memory, one query per thread. */
__global__ void attention_tiles(const float *q, const float *k, const float *v, float *y, int t)
{
    __shared__ float ks[32][32], vs[32][32];
    int head = blockIdx.y, row = blockIdx.x * 64 + threadIdx.x;
    const float *base_k = k + head * t * 32, *base_v = v + head * t * 32;
    float own[32], out[32], most = -1e30f, sum = 0;
    for (int i = 0; i < 32; i++)
        own[i] = q[(head * t + row) * 32 + i] * 0.176776695f, out[i] = 0;
    for (int tile = 0; tile < t; tile += 32) {
        for (int i = threadIdx.x; i < 1024; i += 64)
            ks[i / 32][i % 32] = base_k[tile * 32 + i], vs[i / 32][i % 32] = base_v[tile * 32 + i];
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float dot = 0;
#pragma unroll
            for (int i = 0; i < 32; i++)
                dot += own[i] * ks[j][i];
            float now = fmaxf(most, dot), fade = __expf(most - now), weight = __expf(dot - now);
            sum = sum * fade + weight, most = now;
#pragma unroll
            for (int i = 0; i < 32; i++)
                out[i] = out[i] * fade + weight * vs[j][i];
        }
        __syncthreads();
    }
    for (int i = 0; i < 32; i++)
        y[(head * t + row) * 32 + i] = out[i] / sum;
}

__global__ void rotary(float2 *x, int heads, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int pair = i % 32, place = i / 32 / heads;
    float angle = place * exp2f(-13.2877f * pair / 32), s, c;
    sincosf(angle, &s, &c);
    float2 v = x[i];
    x[i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

/* Places in a batch, heads and words change order: N T H D to N H T D. */
__global__ void heads_apart(const float *x, float *y, int t, int h, int d, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int j = i % d, head = i / d % h, place = i / d / h % t, batch = i / d / h / t;
    y[((batch * h + head) * t + place) * d + j] = x[i];
}

__global__ void loss_rows(const float *x, const unsigned *label, float *loss, int n)
{
    const float *from = x + blockIdx.x * n;
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += expf(from[i]);
    sum = block_sum(sum);
    if (!threadIdx.x) loss[blockIdx.x] = logf(sum) - from[label[blockIdx.x] % n];
}

__global__ void adam_step(float *w, const float *g, float *m, float *v, int n, float rate)
{
    GLOBAL_I;
    if (i >= n) return;
    float d = g[i], mean = 0.9f * m[i] + 0.1f * d, square = 0.999f * v[i] + 0.001f * d * d;
    m[i] = mean, v[i] = square;
    w[i] -= rate * (mean / 0.1f / (sqrtf(square / 0.001f) + 1e-8f) + 0.01f * w[i]);
}

/* 3 x 3 windows, N C H W, one output per thread. */
__global__ void conv_simple(const float *x, const float *w, float *y, int c, int h, int k)
{
    int q = blockIdx.x * 16 + threadIdx.x, p = blockIdx.y * 16 + threadIdx.y, to = blockIdx.z % k,
        n = blockIdx.z / k;
    if (p >= h || q >= h) return;
    float sum = 0;
    for (int from = 0; from < c; from++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int row = p + r - 1, col = q + s - 1;
                if (row >= 0 && row < h && col >= 0 && col < h)
                    sum += x[((n * c + from) * h + row) * h + col] *
                           w[((to * c + from) * 3 + r) * 3 + s];
            }
    y[((n * k + to) * h + p) * h + q] = sum;
}

/* The same, four channels of the output a thread, windows in shared memory. */
__global__ void conv_shared(const float *x, const float *w, float *y, int c, int h, int k)
{
    __shared__ float xs[18][18], ws[4][9];
    int tx = threadIdx.x, ty = threadIdx.y, id = ty * 16 + tx, q = blockIdx.x * 16,
        p = blockIdx.y * 16, to = blockIdx.z * 4;
    float sum[4] = {};
    for (int from = 0; from < c; from++) {
        for (int i = id; i < 324; i += 256) {
            int row = p + i / 18 - 1, col = q + i % 18 - 1;
            xs[i / 18][i % 18] =
                row >= 0 && row < h && col >= 0 && col < h ? x[(from * h + row) * h + col] : 0;
        }
        if (id < 36) ws[id / 9][id % 9] = w[((to + id / 9) * c + from) * 9 + id % 9];
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 3; r++)
#pragma unroll
            for (int s = 0; s < 3; s++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[j] += xs[ty + r][tx + s] * ws[j][r * 3 + s];
        __syncthreads();
    }
    if (p + ty < h && q + tx < h)
        for (int j = 0; j < 4; j++)
            y[((to + j) * h + p + ty) * h + q + tx] = sum[j];
}

__global__ void depthwise_3(const float *x, const float *w, float *y, int h)
{
    int q = blockIdx.x * 32 + threadIdx.x, p = blockIdx.y * 8 + threadIdx.y, c = blockIdx.z;
    if (p >= h || q >= h) return;
    float sum = 0;
    for (int r = -1; r <= 1; r++)
        for (int s = -1; s <= 1; s++)
            if (p + r >= 0 && p + r < h && q + s >= 0 && q + s < h)
                sum += x[(c * h + p + r) * h + q + s] * w[c * 9 + r * 3 + s + 4];
    y[(c * h + p) * h + q] = fmaxf(sum, 0);
}

__global__ void batch_norm_given(const float *x, const float *mean, const float *var,
                                 const float *g, const float *h, float *y, int plane, int channels,
                                 int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int c = i / plane % channels;
    y[i] = fmaxf((x[i] - mean[c]) * rsqrtf(fabsf(var[c]) + 1e-5f) * g[c] + h[c], 0);
}

/* Means and variances of channels: each block iterates over all images. */
__global__ void batch_norm_found(const float *x, float *mean, float *var, int pictures,
                                 int channels, int plane)
{
    float sum = 0, square = 0;
    for (int n = 0; n < pictures; n++)
        for (int i = threadIdx.x; i < plane; i += blockDim.x) {
            float v = x[(n * channels + blockIdx.x) * plane + i];
            sum += v, square += v * v;
        }
    sum = block_sum(sum), square = block_sum(square);
    if (!threadIdx.x) {
        float m = sum / pictures / plane;
        mean[blockIdx.x] = m, var[blockIdx.x] = square / pictures / plane - m * m;
    }
}

__global__ void pool_2x2(const float *x, float *y, int h, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int half = h / 2, q = i % half, p = i / half % half, c = i / half / half;
    const float *from = x + (c * h + 2 * p) * h + 2 * q;
    y[i] = fmaxf(fmaxf(from[0], from[1]), fmaxf(from[h], from[h + 1]));
}

/* A plane's mean: a warp each. */
__global__ void pool_planes(const float *x, float *y, int plane, int planes)
{
    int c = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (c >= planes) return;
    float sum = 0;
    for (int i = lane; i < plane; i += 32)
        sum += x[c * plane + i];
    sum = warp_sum(sum);
    if (!lane) y[c] = sum / plane;
}

/* A layer's gradient by its biases: columns of rows, a block a strip of 32. */
__global__ void bias_back(const float *d, float *y, int rows, int width)
{
    __shared__ float part[8][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int r = threadIdx.y; r < rows; r += 8)
        sum += d[r * width + col];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y) return;
    for (int r = 1; r < 8; r++)
        sum += part[r][threadIdx.x];
    y[col] = sum;
}

__global__ void relu_back(const float *x, const float *d, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i] > 0 ? d[i] : 0;
}

__global__ void dropped(const float *x, float *y, int n, unsigned seed)
{
    GLOBAL_I;
    if (i >= n) return;
    unsigned h = i * 747796405u + seed;
    h = ((h >> ((h >> 28) + 4)) ^ h) * 277803737u;
    h = (h >> 22) ^ h;
    y[i] = h < 0x19999999u ? 0 : x[i] * 1.1111111f;
}

static void layers()
{
    E("softmax", "softmax-1000", softmax_rows<<<1024, 256>>>(a, c, 1000));
    E("softmax", "softmax-30000", softmax_rows<<<64, 512>>>(a, c, 30000));
    E("softmax", "softmax-64", softmax_64<<<2500, 256>>>((const float2 *)a, (float2 *)c, 20000));
    E("norm", "layer-norm-640", layer_norm<<<2048, 128>>>(a, b, b + 4096, c, 640));
    E("norm", "layer-norm-3072", layer_norm<<<500, 256>>>(a, b, b + 4096, c, 3072));
    E("norm", "layer-norm-fours",
      layer_norm_fours<<<3000, 256>>>((const float4 *)a, (const float4 *)b, (float4 *)c));
    E("norm", "rms-norm-halves",
      rms_norm_halves<<<1500, 256>>>((const __half2 *)halves, (const __half2 *)halves + MB,
                                     (__half2 *)c, 1024));
    E("pointwise", "gelu-halves",
      gelu_halves<<<6000, 256>>>((const __half2 *)halves, (__half2 *)c, 1536000));
    E("pointwise", "silu-times",
      silu_times<<<3000, 256>>>((const float4 *)a, (const float4 *)b, (float4 *)c, 768000));
    E("pointwise", "bias-residual", bias_and_residual<<<6000, 512>>>(a, b, e, c, 3072000, 768));
    E("embedded", "embedded-640", embedded<<<4000, 160>>>(keys, a, b, c, 640));
    E("attention", "scores-causal",
      scores_causal<<<dim3(24, 24, 12), dim3(16, 16)>>>(a, b, c, 384));
    E("attention", "decode-1500", decode<<<96, 256, 6000>>>(a, a + 8192, b, c, 1200));
    E("attention", "attention-tiles", attention_tiles<<<dim3(8, 12), 64>>>(a, b, b + MB, c, 512));
    E("pointwise", "rotary", rotary<<<4000, 256>>>((float2 *)e, 12, 1024000));
    E("order", "heads-apart", heads_apart<<<8000, 256>>>(a, c, 256, 8, 64, 2048000));
    E("loss", "loss-10000", loss_rows<<<512, 256>>>(a, keys, c, 10000));
    E("optimiser", "adam", adam_step<<<7000, 256>>>(e, a, b, c, 1750000, 1e-3f));
    E("conv", "conv-simple-56", conv_simple<<<dim3(4, 4, 64), dim3(16, 16)>>>(a, b, c, 32, 56, 64));
    E("conv", "conv-simple-14",
      conv_simple<<<dim3(1, 1, 1024), dim3(16, 16)>>>(a, b, c, 64, 14, 128));
    E("conv", "conv-shared-64",
      conv_shared<<<dim3(4, 4, 32), dim3(16, 16)>>>(a, b, c, 48, 64, 128));
    E("conv", "depthwise-96", depthwise_3<<<dim3(3, 12, 144), dim3(32, 8)>>>(a, b, c, 96));
    E("norm", "batch-norm-given",
      batch_norm_given<<<7840, 256>>>(a, b, b + 64, b + 128, b + 192, c, 784, 64, 2007040));
    E("norm", "batch-norm-found", batch_norm_found<<<64, 256>>>(a, c, c + 64, 32, 64, 784));
    E("pool", "pool-2x2", pool_2x2<<<3136, 256>>>(a, c, 112, 802816));
    E("pool", "pool-planes", pool_planes<<<2048, 128>>>(a, c, 49 * 4, 8192));
    E("backward", "bias-back", bias_back<<<32, dim3(32, 8)>>>(a, c, 2000, 1024));
    E("backward", "relu-back", relu_back<<<1056, 256>>>(a, b, c, 4000000));
    E("pointwise", "dropped", dropped<<<10000, 256>>>(a, c, 2560000, 7));
}
