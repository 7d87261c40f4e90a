/* transformer.cuh - a transformer, forward and backward pass (part of
 * transformer-and-images.cu). */

/* Scores of all heads, a thread each pair; keys that are ahead stay out.  x: T, 3, heads, 64. */
__global__ void causal_scores(const float *x, float *y, int t, int heads)
{
    GLOBAL_I;
    if (i >= heads * t * t) return;
    int key = i % t, query = i / t % t, head = i / t / t;
    if (key > query) {
        y[i] = -1e30f;
        return;
    }
    const float *q = x + (query * 3 * heads + head) * 64,
                *k = x + ((key * 3 + 1) * heads + head) * 64;
    float sum = 0;
    for (int e = 0; e < 64; e++)
        sum += q[e] * k[e];
    y[i] = sum * 0.125f;
}

/* One warp per row of which only the first elements count; from the last row to the first. */
__global__ void causal_softmax(const float *x, float *y, int t, int n)
{
    int row = gridDim.x * blockDim.x / 32 - 1 - (blockIdx.x * blockDim.x + threadIdx.x) / 32,
        lane = threadIdx.x % 32, own = row % t;
    if (row >= n) return;
    const float *from = x + (size_t)row * t;
    float most = -1e30f, sum = 0;
    for (int k = lane; k <= own; k += 32)
        most = fmaxf(most, from[k]);
    for (int o = 16; o > 0; o >>= 1)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, o));
    for (int k = lane; k <= own; k += 32)
        sum += expf(from[k] - most);
    float scale = 1.0f / warp_sum(sum);
    for (int k = lane; k < t; k += 32)
        y[(size_t)row * t + k] = k <= own ? expf(from[k] - most) * scale : 0.0f;
}

/* One thread per query and head; the sums lie in memory. */
__global__ void values_naive(const float *score, const float *x, float *y, int t, int heads)
{
    GLOBAL_I;
    if (i >= t * heads) return;
    int head = i % heads, query = i / heads;
    const float *s = score + ((size_t)head * t + query) * t;
    float *out = y + (query * heads + head) * 64;
    for (int e = 0; e < 64; e++)
        out[e] = 0;
    for (int key = 0; key <= query; key++) {
        const float *v = x + ((key * 3 + 2) * heads + head) * 64;
        float p = s[key];
        for (int e = 0; e < 64; e++)
            out[e] += p * v[e];
    }
}

/* One warp per query, one lane per key: keys and values by tiles of 32 in shared memory. */
__global__ void flash_warp(const float *q, const float *k, const float *v, float *y, int t)
{
    __shared__ float ks[32][65], vs[32][64];
    int lane = threadIdx.x, warp = threadIdx.y;
    size_t head = (size_t)blockIdx.y * t * 64;
    const float *own = q + head + (blockIdx.x * 8 + warp) * 64;
    float left = own[lane], right = own[lane + 32], x = 0, z = 0, most = -1e30f, all = 0;
    for (int tile = 0; tile < t; tile += 32) {
        for (int r = warp; r < 32; r += 8) {
            const float *row = k + head + (tile + r) * 64, *other = v + head + (tile + r) * 64;
            ks[r][lane] = row[lane], ks[r][lane + 32] = row[lane + 32];
            vs[r][lane] = other[lane], vs[r][lane + 32] = other[lane + 32];
        }
        __syncthreads();
        float s = 0;
        for (int e = 0; e < 32; e++) {
            s += __shfl_sync(0xffffffff, left, e) * ks[lane][e];
            s += __shfl_sync(0xffffffff, right, e) * ks[lane][e + 32];
        }
        float next = s;
        for (int o = 16; o > 0; o >>= 1)
            next = fmaxf(next, __shfl_xor_sync(0xffffffff, next, o));
        next = fmaxf(next, most);
        float old = __expf(most - next), p = __expf(s - next);
        all = all * old + warp_sum(p), x *= old, z *= old, most = next;
        for (int j = 0; j < 32; j++) {
            float w = __shfl_sync(0xffffffff, p, j);
            x += w * vs[j][lane], z += w * vs[j][lane + 32];
        }
        __syncthreads();
    }
    float *out = y + head + (blockIdx.x * 8 + warp) * 64;
    out[lane] = x / all, out[lane + 32] = z / all;
}

/* The gradient of the values: all queries that saw the key. */
__global__ void values_slope(const float *score, const float *dy, float *dv, int t)
{
    int e = threadIdx.x, key = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y;
    float sum = 0;
    for (int query = key; query < t; query++)
        sum +=
            score[((size_t)head * t + query) * t + key] * dy[((size_t)head * t + query) * 64 + e];
    dv[((size_t)head * t + key) * 64 + e] = sum;
}

/* The gradient through a softmax, one block per row. */
__global__ void softmax_slope(const float *p, const float *dp, float *dx, int n)
{
    __shared__ float part[4];
    const float *row = p + (size_t)blockIdx.x * n, *slope = dp + (size_t)blockIdx.x * n;
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += 128)
        sum += row[k] * slope[k];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = part[0] + part[1] + part[2] + part[3];
    for (int k = threadIdx.x; k < n; k += 128)
        dx[(size_t)blockIdx.x * n + k] = row[k] * (slope[k] - sum);
}

/* One warp per row, by cooperative groups. */
__global__ void layernorm_group(const float *x, const float *gain, const float *bias, float *y,
                                int n, int width)
{
    namespace cg = cooperative_groups;
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= n) return;
    const float *from = x + (size_t)row * width;
    float sum = 0;
    for (int k = warp.thread_rank(); k < width; k += 32)
        sum += from[k];
    float mean = cg::reduce(warp, sum, cg::plus<float>{}) / width, square = 0;
    for (int k = warp.thread_rank(); k < width; k += 32)
        square += (from[k] - mean) * (from[k] - mean);
    float scale = rsqrtf(cg::reduce(warp, square, cg::plus<float>{}) / width + 1e-5f);
    for (int k = warp.thread_rank(); k < width; k += 32)
        __stcs(y + (size_t)row * width + k, (__ldcs(from + k) - mean) * scale * gain[k] + bias[k]);
}

/* Its gradients: those of gain and bias are added up in shared memory. */
__global__ void layernorm_slope(const float *dy, const float *x, const float *gain, float *dx,
                                float *dgain, float *dbias, int width)
{
    extern __shared__ float s[];
    for (int k = threadIdx.x; k < 2 * width; k += blockDim.x)
        s[k] = 0;
    __syncthreads();
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *from = x + (size_t)row * width, *slope = dy + (size_t)row * width;
    float one = 0, two = 0;
    for (int k = lane; k < width; k += 32)
        one += gain[k] * slope[k], two += gain[k] * slope[k] * from[k];
    one = warp_sum(one) / width, two = warp_sum(two) / width;
    for (int k = lane; k < width; k += 32) {
        atomicAdd(&s[k], slope[k]), atomicAdd(&s[width + k], slope[k] * from[k]);
        dx[(size_t)row * width + k] = gain[k] * slope[k] - one - from[k] * two;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        atomicAdd(&dbias[k], s[k]), atomicAdd(&dgain[k], s[width + k]);
}

__global__ void gelu_slope(const float *x, const float *dy, float *dx, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float v = x[i], inner = 0.79788456f * (v + 0.044715f * v * v * v), t = tanhf(inner),
          ch = coshf(inner), sech = 1.0f / (ch * ch);
    dx[i] =
        (0.5f * (1.0f + t) + v * 0.5f * sech * 0.79788456f * (1.0f + 0.134145f * v * v)) * dy[i];
}

/* The gradient of a loss over `width` classes, a thread each. */
__global__ void loss_slope(const float *p, const uint32_t *target, float *dx, int width, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int row = i / width, k = i % width;
    dx[i] = (p[i] - (target[row] % width == k ? 1.0f : 0.0f)) * (1.0f / 256);
}

__global__ void encode(const uint32_t *token, const float4 *word, const float4 *place, float4 *y,
                       int width, int t, int n)
{
    GLOBAL_I;
    if (i >= n * width) return;
    int at = i / width, k = i % width;
    float4 p = word[(token[at] & 8191) * width + k], q = place[at % t * width + k];
    y[i] = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
}

__global__ void encode_slope(const uint32_t *token, const float *dy, float *dword, float *dplace,
                             int width, int t, int n)
{
    GLOBAL_I;
    if (i >= n * width) return;
    int at = i / width, k = i % width;
    atomicAdd(&dword[(token[at] & 2047) * width + k], dy[i]);
    atomicAdd(&dplace[at % t * width + k], dy[i]);
}

/* T, 3, heads, 64 to three of heads, T, 64. */
__global__ void split_heads(const float *x, float *q, float *k, float *v, int t, int heads)
{
    GLOBAL_I;
    if (i >= t * heads * 64) return;
    int e = i % 64, at = i / 64 % t, head = i / 64 / t, from = at * 3 * heads * 64 + head * 64 + e;
    q[i] = x[from], k[i] = x[from + heads * 64], v[i] = x[from + 2 * heads * 64];
}

/* Philox: ten rounds for four words, one for each element. */
__global__ void dropout(const float4 *x, float4 *y, uint32_t seed, float keep, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint4 r = make_uint4(i, 0, seed, 0);
    uint32_t k0 = seed, k1 = 0x5eed;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint32_t high0 = __umulhi(0xD2511F53, r.x), low0 = 0xD2511F53 * r.x,
                 high1 = __umulhi(0xCD9E8D57, r.z), low1 = 0xCD9E8D57 * r.z;
        r = make_uint4(high1 ^ r.y ^ k0, low1, high0 ^ r.w ^ k1, low0);
        k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
    float4 v = x[i];
    uint32_t limit = (uint32_t)(keep * 4294967040.0f);
    float scale = 1.0f / keep;
    y[i] = make_float4(r.x < limit ? v.x * scale : 0, r.y < limit ? v.y * scale : 0,
                       r.z < limit ? v.z * scale : 0, r.w < limit ? v.w * scale : 0);
}

__global__ void momentum(float *w, float *v, const float *g, float rate, float decay, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        float next = 0.9f * v[i] + g[i] + decay * w[i];
        v[i] = next, w[i] -= rate * next;
    }
}

__global__ void gradient_norm(const float *g, float *y, size_t n)
{
    __shared__ float part[16];
    float sum = 0;
    for (size_t k = blockIdx.x * 512 + threadIdx.x; k < n; k += (size_t)gridDim.x * 512)
        sum += g[k] * g[k];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < 16 ? part[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(y, sum);
    }
}

/* Halves: the first 32 values of a head are rotated with the last 32; cosines from a table. */
__global__ void rope_half(__half *x, const float *cosine, const float *sine, int heads)
{
    __half *own = x + ((size_t)blockIdx.x * heads + threadIdx.y) * 64;
    int k = threadIdx.x;
    float p = __half2float(own[k]), q = __half2float(own[k + 32]), u = cosine[blockIdx.x * 32 + k],
          v = sine[blockIdx.x * 32 + k];
    own[k] = __float2half(p * u - q * v), own[k + 32] = __float2half(q * u + p * v);
}

/* Rows of 1024 halves, eight a thread. */
__global__ void norm_half(const uint4 *x, const uint4 *gain, uint4 *y)
{
    __shared__ float part[4];
    union Eight {
        uint4 all;
        __half2 two[4];
    } v, g;
    v.all = x[blockIdx.x * 128 + threadIdx.x], g.all = gain[threadIdx.x];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(v.two[k]);
        sum += f.x * f.x + f.y * f.y;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    float scale = rsqrtf((part[0] + part[1] + part[2] + part[3]) / 1024 + 1e-6f);
#pragma unroll
    for (int k = 0; k < 4; k++)
        v.two[k] = __hmul2(__hmul2(v.two[k], __float2half2_rn(scale)), g.two[k]);
    y[blockIdx.x * 128 + threadIdx.x] = v.all;
}

/* Two of eight experts for each token, and how many tokens each has. */
__global__ void route(const float *x, int2 *choice, float2 *share, uint32_t *load, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float v[8];
    for (int k = 0; k < 8; k++)
        v[k] = x[i * 8 + k];
    int first = 0, second = -1;
    for (int k = 1; k < 8; k++)
        if (v[k] > v[first]) first = k;
    for (int k = 0; k < 8; k++)
        if (k != first && (second < 0 || v[k] > v[second])) second = k;
    float e = expf(v[second] - v[first]);
    choice[i] = make_int2(first, second), share[i] = make_float2(1 / (1 + e), e / (1 + e));
    atomicAdd(&load[first], 1u), atomicAdd(&load[second], 1u);
}

/* The likeliest of a vocabulary, one block per row. */
__global__ void greedy(const float *x, int *y, int n)
{
    __shared__ float best[32];
    __shared__ int place[32];
    float most = -1e30f;
    int at = 0;
    for (int k = threadIdx.x; k < n; k += 1024) {
        float v = x[(size_t)blockIdx.x * n + k];
        if (v > most) most = v, at = k;
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int o = 16; o > 0; o >>= 1) {
            float other = __shfl_down_sync(0xffffffff, most, o);
            int where = __shfl_down_sync(0xffffffff, at, o);
            if (other > most) most = other, at = where;
        }
        if (turn == 1) break;
        if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = most, place[threadIdx.x / 32] = at;
        __syncthreads();
        if (threadIdx.x >= 32) return;
        most = best[threadIdx.x], at = place[threadIdx.x];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = at;
}

/* All outputs of a layer, a thread each: both factors by rows. */
__global__ void linear_naive(const float *x, const float *w, const float *bias, float *y, int n,
                             int depth, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= width) return;
    float sum = bias[column];
    for (int k = 0; k < depth; k++)
        sum += x[row * depth + k] * w[column * depth + k];
    y[row * width + column] = sum;
}

static void transformer()
{
    E("causal", "causal-scores", causal_scores<<<2048, 256>>>(a, c, 256, 8));
    E("causal", "causal-softmax", causal_softmax<<<512, 128>>>(a, c, 256, 2048));
    E("values-naive", "values-naive", values_naive<<<12, 64>>>(b, a, c, 96, 8));
    E("flash", "flash-warp", flash_warp<<<dim3(32, 8), dim3(32, 8)>>>(a, b, b + MB, c, 256));
    E("values-gradient", "values-slope", values_slope<<<dim3(64, 8), dim3(64, 4)>>>(a, b, c, 256));
    E("softmax-gradient", "softmax-slope", softmax_slope<<<2048, 128>>>(a, b, c, 300));
    E("layernorm-group", "layernorm-group",
      layernorm_group<<<512, 128>>>(a, b, b + 1024, c, 2048, 384));
    E("layernorm-gradient", "layernorm-slope",
      layernorm_slope<<<128, 256, 2048>>>(a, b, b + MB, c, d, d + 1024, 256));
    E("gelu-gradient", "gelu-slope", gelu_slope<<<6144, 128>>>(a, b, c, 768 << 10));
    E("loss-gradient", "loss-slope", loss_slope<<<4704, 256>>>(a, keys, c, 5003, 240 * 5003));
    E("encode", "encode",
      encode<<<768, 512>>>(keys, (float4 *)a, (float4 *)b, (float4 *)c, 192, 256, 2048));
    E("encode", "encode-slope", encode_slope<<<1536, 256>>>(keys, a, c, d + MB, 384, 256, 1024));
    E("split-heads", "split-heads", split_heads<<<3072, 256>>>(a, c, c + MB, c + 2 * MB, 1024, 12));
    E("dropout", "dropout",
      dropout<<<1024, 256>>>((float4 *)a, (float4 *)c, 1337, 0.9f, 256 << 10));
    E("momentum", "momentum", momentum<<<528, 256>>>(c, c + 4 * MB, a, 1e-4f, 0.01f, 1500000));
    E("gradient-norm", "gradient-norm", gradient_norm<<<264, 512>>>(a, d, 6 * MB));
    E("rope-half", "rope-half", rope_half<<<1024, dim3(32, 12)>>>((__half *)c, a, b, 12));
    E("norm-half", "norm-half", norm_half<<<3000, 128>>>((uint4 *)a, (uint4 *)b, (uint4 *)c));
    E("route", "route", route<<<128, 128>>>(a, (int2 *)c, (float2 *)c + MB, zeros, 16384));
    E("greedy", "greedy", greedy<<<8, 1024>>>(a, (int *)c, 50257));
    E("linear-naive", "linear-naive",
      linear_naive<<<dim3(16, 24), dim3(16, 16)>>>(a, b, b + MB, c, 256, 256, 384));
}
