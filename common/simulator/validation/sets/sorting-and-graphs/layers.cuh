/* layers.cuh - layers of networks (part of sorting-and-graphs.cu). */

/* One query per head against a long past: one block per head of 64, one warp per key. */
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

/* Mean and spread of each channel over images: one block per channel. */
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

/* Loss of one of `width` classes and its gradient, one block per row. */
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

/* Sums down the columns of a matrix: a gradient of a bias. */
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

/* Each image and channel on its own, 3 x 3. */
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

/* Windows of 3 x 3 in the layout of a GEMM (im2col). */
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
    E("bias-gradient", "bias-slope", bias_slope<<<32, dim3(32, 8)>>>(a, c, 2048, 1024));
    E("swiglu", "swiglu", swiglu<<<4096, 256>>>((__half2 *)a, (__half2 *)c, 1408, MB));
    E("depthwise", "depthwise", depthwise<<<dim3(2, 7, 256), dim3(32, 8)>>>(a, b, c, 56, 64));
    E("im2col", "im2col", im2col<<<392, 256>>>(a, c, 32, 56));
    E("upsample", "upsample", upsample<<<dim3(1, 128, 64), 128>>>(a, c, 64));
    E("pointwise", "pointwise", pointwise<<<784, 256, 64 * 32 * sizeof(float)>>>(a, b, c, 64));
    E("top-eight", "top-eight", top_eight<<<512, 256>>>(a, (uint32_t *)c));
}
