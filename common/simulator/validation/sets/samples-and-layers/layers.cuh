/* layers.cuh - layers of a transformer (part of samples-and-layers.cu). */

__device__ static float block_sum(float v, float *space)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffff, v, o);
    if (lane == 0) space[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? space[lane] : 0;
    if (warp == 0)
        for (int o = 16; o > 0; o >>= 1)
            v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x == 0) space[0] = v;
    __syncthreads();
    v = space[0];
    __syncthreads();
    return v;
}

__global__ void layernorm(const float *x, const float *gain, const float *bias, float *y, int n)
{
    __shared__ float space[32];
    const float *row = x + (size_t)blockIdx.x * n;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += row[i];
    float mean = block_sum(s, space) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float e = row[i] - mean;
        q += e * e;
    }
    float scale = rsqrtf(block_sum(q, space) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(size_t)blockIdx.x * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

/* One thread per row. */
__global__ void layernorm_naive(const float *x, const float *gain, const float *bias, float *y,
                                int n, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    const float *row = x + (size_t)i * n;
    float mean = 0, v = 0;
    for (int k = 0; k < n; k++)
        mean += row[k];
    mean /= n;
    for (int k = 0; k < n; k++)
        v += (row[k] - mean) * (row[k] - mean);
    float scale = 1.0f / sqrtf(v / n + 1e-5f);
    for (int k = 0; k < n; k++)
        y[(size_t)i * n + k] = (row[k] - mean) * scale * gain[k] + bias[k];
}

__global__ void rmsnorm(const float4 *x, const float4 *gain, float4 *y, int n)
{
    __shared__ float space[32];
    float4 v = x[(size_t)blockIdx.x * n + threadIdx.x], g = gain[threadIdx.x];
    float scale =
        rsqrtf(block_sum(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, space) / (4 * n) + 1e-6f);
    y[(size_t)blockIdx.x * n + threadIdx.x] =
        make_float4(v.x * scale * g.x, v.y * scale * g.y, v.z * scale * g.z, v.w * scale * g.w);
}

__global__ void softmax_naive(const float *x, float *y, int n, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    const float *row = x + (size_t)i * n;
    float most = -1e30f, sum = 0;
    for (int k = 0; k < n; k++)
        most = fmaxf(most, row[k]);
    for (int k = 0; k < n; k++)
        sum += expf(row[k] - most);
    for (int k = 0; k < n; k++)
        y[(size_t)i * n + k] = expf(row[k] - most) / sum;
}

__global__ void softmax_block(const float *x, float *y, int n)
{
    __shared__ float space[256];
    const float *row = x + (size_t)blockIdx.x * n;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        most = fmaxf(most, row[i]);
    space[threadIdx.x] = most;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) space[threadIdx.x] = fmaxf(space[threadIdx.x], space[threadIdx.x + s]);
        __syncthreads();
    }
    most = space[0];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256)
        sum += expf(row[i] - most);
    space[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) space[threadIdx.x] += space[threadIdx.x + s];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += 256)
        y[(size_t)blockIdx.x * n + i] = expf(row[i] - most) / space[0];
}

/* One warp per row, online: maximum and sum in one pass. */
__global__ void softmax_warp(const float *x, float *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float most = -1e30f, sum = 0;
    for (int i = lane; i < n; i += 32) {
        float v = x[(size_t)row * n + i], next = fmaxf(most, v);
        sum = sum * __expf(most - next) + __expf(v - next), most = next;
    }
    for (int o = 16; o > 0; o >>= 1) {
        float m = __shfl_xor_sync(0xffffffff, most, o), s = __shfl_xor_sync(0xffffffff, sum, o),
              next = fmaxf(most, m);
        sum = sum * __expf(most - next) + s * __expf(m - next), most = next;
    }
    for (int i = lane; i < n; i += 32)
        y[(size_t)row * n + i] = __expf(x[(size_t)row * n + i] - most) / sum;
}

__global__ void gelu(const float *x, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}

__global__ void bias_relu(float *x, const float *bias, int n, int width)
{
    GLOBAL_I;
    if (i < n) x[i] = fmaxf(x[i] + bias[i % width], 0.0f);
}

__global__ void embed(const float *tokens, const float *table, float *y, int width)
{
    uint32_t token = ((const uint32_t *)tokens)[blockIdx.x] % 4096;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        y[(size_t)blockIdx.x * width + i] = table[(size_t)token * width + i];
}

__global__ void rope(float2 *x, int heads, int half, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    int k = i % half, position = i / half / heads;
    float s, co, angle = position * powf(10000.0f, -(float)k / half);
    sincosf(angle, &s, &co);
    float2 v = x[i];
    x[i] = make_float2(v.x * co - v.y * s, v.x * s + v.y * co);
}

/* Scores of one head: all queries with all keys, D = 64. */
__global__ void attention_scores(const float *q, const float *k, float *s, int t)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int e = 0; e < 64; e++)
        sum += q[row * 64 + e] * k[column * 64 + e];
    s[row * t + column] = sum * 0.125f;
}

/* One thread per query: online softmax over keys and values that lie in shared memory, D = 32. */
__global__ void attention_tiled(const float *q, const float *k, const float *v, float *y, int t)
{
    __shared__ float ks[64][32], vs[64][32];
    int row = blockIdx.x * 64 + threadIdx.x;
    size_t head = (size_t)blockIdx.y * t * 32;
    float own[32], sum[32] = {}, most = -1e30f, all = 0;
#pragma unroll
    for (int e = 0; e < 32; e++)
        own[e] = q[head + row * 32 + e];
    for (int tile = 0; tile < t; tile += 64) {
        for (int i = threadIdx.x; i < 64 * 32; i += 64)
            ks[i / 32][i % 32] = k[head + tile * 32 + i],
                           vs[i / 32][i % 32] = v[head + tile * 32 + i];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float s = 0;
#pragma unroll
            for (int e = 0; e < 32; e++)
                s += own[e] * ks[j][e];
            float next = fmaxf(most, s), old = __expf(most - next), p = __expf(s - next);
            all = all * old + p, most = next;
#pragma unroll
            for (int e = 0; e < 32; e++)
                sum[e] = sum[e] * old + p * vs[j][e];
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < 32; e++)
        y[head + row * 32 + e] = sum[e] / all;
}

__global__ void quantise(const float4 *x, char4 *y, float scale, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 v = x[i];
    y[i] = make_char4((char)__float2int_rn(v.x * scale), (char)__float2int_rn(v.y * scale),
                      (char)__float2int_rn(v.z * scale), (char)__float2int_rn(v.w * scale));
}

__global__ void half_axpy(const __half2 *x, __half2 *y, float alpha, int n)
{
    GLOBAL_I;
    if (i < n) y[i] = __hfma2(__float2half2_rn(alpha), x[i], y[i]);
}

static void layers()
{
    E("layernorm", "layernorm-768", layernorm<<<1024, 256>>>(a, b, d, c, 768));
    E("layernorm", "layernorm-4096", layernorm<<<256, 512>>>(a, b, d, c, 4096));
    E("layernorm-naive", "layernorm-naive", layernorm_naive<<<16, 128>>>(a, b, d, c, 384, 2048));
    E("rmsnorm", "rmsnorm",
      rmsnorm<<<2048, 256>>>((const float4 *)a, (const float4 *)b, (float4 *)c, 256));
    E("softmax-naive", "softmax-naive-128", softmax_naive<<<32, 256>>>(a, c, 128, 8192));
    E("softmax-naive", "softmax-naive-512", softmax_naive<<<8, 128>>>(a, c, 512, 1024));
    E("softmax-block", "softmax-block-1024", softmax_block<<<1024, 256>>>(a, c, 1024));
    E("softmax-warp", "softmax-warp-256", softmax_warp<<<2048, 128>>>(a, c, 256));
    E("softmax-block", "softmax-block-8192", softmax_block<<<128, 256>>>(a, c, 8192));
    E("softmax-warp", "softmax-warp-1024", softmax_warp<<<512, 256>>>(a, c, 1024));
    E("gelu", "gelu-2M", gelu<<<8192, 256>>>(a, c, 2 * MB));
    E("bias", "bias-relu", bias_relu<<<4096, 512>>>(c, b, 2 * MB, 768));
    E("embed", "embed-768", embed<<<2048, 192>>>(a, b, c, 768));
    E("rope", "rope", rope<<<2048, 256>>>((float2 *)c, 8, 64, 512 << 10));
    E("attention", "attention-scores-512",
      attention_scores<<<dim3(32, 32), dim3(16, 16)>>>(a, b, c, 512));
    E("attention", "attention-tiled", attention_tiled<<<dim3(4, 16), 64>>>(a, b, d, c, 256));
    E("quantise", "quantise", quantise<<<4096, 256>>>((const float4 *)a, (char4 *)c, 20.0f, MB));
    E("half", "half-axpy",
      half_axpy<<<8192, 256>>>((const __half2 *)a, (__half2 *)c, 2.0f, 2 * MB));
}
