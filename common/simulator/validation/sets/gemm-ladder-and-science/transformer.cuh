/* transformer.cuh - layers of a small transformer, forward and backward pass (part of
 * gemm-ladder-and-science.cu). */

/* One sum for each row: a block of threads and a tree in shared memory. */
__global__ void row_means(const float *x, float *mean, int width)
{
    extern __shared__ float s[];
    float sum = 0;
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        sum += x[(size_t)blockIdx.x * width + k];
    s[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0) mean[blockIdx.x] = s[0] / width;
}

/* One thread per element; what belongs to its row lies in arrays. */
__global__ void rows_normal(const float *x, const float *mean, const float *scale,
                            const float *gain, const float *bias, float *y, int width, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int row = i / width, k = i % width;
    y[i] = (x[i] - mean[row]) * scale[row] * gain[k] + bias[k];
}

/* One warp per row, read as vectors of four and kept in shared memory. */
__global__ void residual_norm(const float4 *x, const float4 *z, const float4 *gain,
                              const float4 *bias, float4 *sum, float4 *y, int width, int n)
{
    extern __shared__ float4 kept[];
    float4 *gains = kept, *biases = kept + width, *own = kept + (2 + threadIdx.y) * width;
    int lane = threadIdx.x;
    for (int k = threadIdx.y * 32 + lane; k < width; k += 32 * blockDim.y)
        gains[k] = gain[k], biases[k] = bias[k];
    __syncthreads();
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n) return;
    float all = 0, square = 0;
    for (int k = lane; k < width; k += 32) {
        float4 p = __ldcs(&x[row * width + k]), q = __ldcs(&z[row * width + k]);
        p = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
        all += p.x + p.y + p.z + p.w;
        own[k] = p, __stcs(&sum[row * width + k], p);
    }
    float mean = warp_sum(all) / (4 * width);
    for (int k = lane; k < width; k += 32) {
        float4 p = own[k];
        float e = p.x - mean, f = p.y - mean, g = p.z - mean, h = p.w - mean;
        square += e * e + f * f + g * g + h * h;
    }
    float scale = rsqrtf(warp_sum(square) / (4 * width) + 1e-5f);
    for (int k = lane; k < width; k += 32) {
        float4 p = own[k], g = gains[k], h = biases[k];
        __stcs(&y[row * width + k],
               make_float4((p.x - mean) * scale * g.x + h.x, (p.y - mean) * scale * g.y + h.y,
                           (p.z - mean) * scale * g.z + h.z, (p.w - mean) * scale * g.w + h.w));
    }
}

/* Gradients of a norm: a block iterates over rows, keeps the columns' sums in shared memory and
 * leaves in a row of its own for the next kernel. */
__global__ void norm_slope_rows(const __nv_bfloat162 *dy, const __nv_bfloat162 *x,
                                const float2 *gain, const float *mean, const float *scale,
                                __nv_bfloat162 *dx, float *part, int width, int n)
{
    extern __shared__ float s[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int k = threadIdx.x; k < 4 * width; k += blockDim.x)
        s[k] = 0;
    __syncthreads();
    for (int row = blockIdx.x * warps + warp; row < n; row += gridDim.x * warps) {
        float one = 0, two = 0, m = mean[row] * 0.01f, r = scale[row] + 1.5f;
        for (int k = lane; k < width; k += 32) {
            float2 g = gain[k], v = __bfloat1622float2(x[row * width + k]),
                   u = __bfloat1622float2(dy[row * width + k]);
            one += g.x * u.x + g.y * u.y;
            two += g.x * u.x * (v.x - m) * r + g.y * u.y * (v.y - m) * r;
        }
        one = warp_sum(one) / (2 * width), two = warp_sum(two) / (2 * width);
        for (int k = lane; k < width; k += 32) {
            float2 g = gain[k], v = __bfloat1622float2(x[row * width + k]),
                   u = __bfloat1622float2(dy[row * width + k]);
            float p = (v.x - m) * r, q = (v.y - m) * r;
            atomicAdd(&s[2 * k], u.x * p), atomicAdd(&s[2 * k + 1], u.y * q);
            atomicAdd(&s[2 * (width + k)], u.x), atomicAdd(&s[2 * (width + k) + 1], u.y);
            dx[row * width + k] = __floats2bfloat162_rn(r * (g.x * u.x - one - p * two),
                                                        r * (g.y * u.y - one - q * two));
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 4 * width; k += blockDim.x)
        part[blockIdx.x * 4 * width + k] = s[k];
}

/* heads, T, 64 back to T, heads * 64; and its backward pass. */
template <bool BACK> __global__ void heads_joined(const float *x, float *y, int t, int heads, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int e = i % 64, at = i / 64 % t, head = i / 64 / t % heads, batch = i / 64 / t / heads;
    int other = ((batch * t + at) * heads + head) * 64 + e;
    if (BACK)
        y[i] = x[other];
    else
        y[other] = x[i];
}

/* Scaled scores; those of keys that are ahead never count. */
__global__ void scores_masked(float *x, float scale, int t, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int key = i % t, query = i / t % t;
    if (key > query)
        x[i] = -INFINITY;
    else
        x[i] *= scale;
}

/* Causal softmax in one pass, vectors of four, one warp per row. */
__global__ void softmax_online(const float *x, float *y, int t, int n)
{
    int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, own = row % t,
        quarters = own / 4;
    if (row >= n) return;
    const float *from = x + (size_t)row * t;
    float most = -3e38f, sum = 0;
    for (int k = lane; k < quarters; k += 32) {
        float4 v = ((const float4 *)from)[k];
        float old = most;
        most = fmaxf(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), most);
        sum *= expf(old - most);
        sum += expf(v.x - most) + expf(v.y - most) + expf(v.z - most) + expf(v.w - most);
    }
    if (4 * quarters + lane <= own) {
        float v = from[4 * quarters + lane], old = most;
        most = fmaxf(most, v);
        sum = sum * expf(old - most) + expf(v - most);
    }
    float all = warp_most(most);
    sum *= expf(most - all);
    float scale = 1.0f / warp_sum(sum);
    for (int k = lane; k <= own; k += 32)
        __stcs(&y[(size_t)row * t + k], expf(__ldcs(&from[k]) - all) * scale);
}

/* Gradients of a causal softmax, four rows per block, the last first. */
__global__ void softmax_back(const float *dp, const float *p, float *dx, int t, float scale)
{
    __shared__ float part[8];
    size_t head = (size_t)blockIdx.y * t * t;
    int first = t - 1 - 4 * blockIdx.x;
    for (int query = first; query > first - 4; query--) {
        const float *slope = dp + head + (size_t)query * t, *own = p + head + (size_t)query * t;
        float sum = 0;
        for (int k = threadIdx.x; k <= query; k += blockDim.x)
            sum += own[k] * slope[k];
        sum = block_sum(sum, part);
        for (int k = threadIdx.x; k <= query; k += blockDim.x)
            __stcs(&dx[head + (size_t)query * t + k],
                   scale * __ldcs(&own[k]) * (__ldcs(&slope[k]) - sum));
    }
}

/* The last layer's softmax, its loss, and its gradient in place of the scores: one block per
 * token. */
__global__ void classifier_fused(__nv_bfloat16 *x, float *loss, const uint32_t *target, int classes,
                                 int padded)
{
    __shared__ float part[16];
    __nv_bfloat16 *row = x + (size_t)blockIdx.x * padded;
    uint4 *eight = (uint4 *)row;
    float most = -3e38f, sum = 0;
    for (int k = classes / 8 - 1 - (int)threadIdx.x; k >= 0; k -= blockDim.x) {
        uint4 v = eight[k];
        const __nv_bfloat16 *e = (const __nv_bfloat16 *)&v;
        for (int j = 0; j < 8; j++) {
            float f = __bfloat162float(e[j]), old = most;
            most = fmaxf(most, f);
            sum = sum * expf(old - most) + expf(f - most);
        }
    }
    float all = warp_most(most);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = all;
    __syncthreads();
    all = warp_most(threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : -3e38f);
    float scale = 1.0f / block_sum(sum * expf(most - all), part);
    int own = target[blockIdx.x] % classes;
    if (threadIdx.x == 0)
        loss[blockIdx.x] = -logf(expf(__bfloat162float(row[own]) - all) * scale + 1e-30f);
    __syncthreads();
    for (int k = threadIdx.x; k < classes / 8; k += blockDim.x) {
        uint4 v = eight[k];
        __nv_bfloat16 *e = (__nv_bfloat16 *)&v;
        for (int j = 0; j < 8; j++) {
            float p = expf(__bfloat162float(e[j]) - all) * scale;
            e[j] = __float2bfloat16((p - (8 * k + j == own ? 1.0f : 0.0f)) * 0.01f);
        }
        __stcs(&eight[k], v);
    }
}

/* Adam with decay on weights of two precisions; the narrow ones are rounded by chance. */
__global__ void adam_rounded(__nv_bfloat16 *narrow, float *wide, const __nv_bfloat16 *slope,
                             float *m, float *v, float rate, float one, float two, uint32_t seed,
                             int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float g = __bfloat162float(slope[i]), p = m[i], q = fabsf(v[i]);
    p = fmaf(one, p, fmaf(-one, g, g)), m[i] = p;
    q = fmaf(two, q, fmaf(-two, g * g, g * g)), v[i] = q;
    float old = wide[i], next = old - rate * (p * 1.1f / (sqrtf(q * 1.01f) + 1e-8f) + 0.01f * old);
    uint32_t noise = i * 0x9E3779B1u ^ seed, bits = __float_as_uint(next);
    noise = (noise ^ noise >> 15) * 0x85EBCA77u, noise ^= noise >> 13;
    narrow[i] = __float2bfloat16_rz(__uint_as_float(bits + (noise & 0xffff)));
    wide[i] = next;
}

/* The places' gradients: every thread adds up over the batch, one after another. */
__global__ void places_slope(const float *dy, float *dplace, int batch, int t, int width)
{
    GLOBAL_I;
    if (i >= t * width) return;
    float sum = 0;
    for (int k = 0; k < batch; k++)
        sum += dy[(size_t)k * t * width + i];
    dplace[i] += sum;
}

/* Gradients of a bias: warps of a block process rows round-robin and add up in shared memory. */
__global__ void bias_meet(const float *dy, float *dbias, int n, int width)
{
    __shared__ float s[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int row = threadIdx.y; row < n; row += blockDim.y)
        sum += dy[(size_t)row * width + column];
    s[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = warp_sum(s[threadIdx.x][threadIdx.y]);
    if (threadIdx.x == 0) dbias[blockIdx.x * 32 + threadIdx.y] += sum;
}

/* The same over parts of the rows, bfloat16 in eights, and atomics. */
__global__ void bias_parts(const uint4 *dy, float *dbias, int n, int eights)
{
    __shared__ float s[8][32 * 8 + 8];
    int at = blockIdx.x * 32 + threadIdx.x;
    float sum[8] = {0};
    for (int row = blockIdx.y * 8 + threadIdx.y; row < n; row += gridDim.y * 8) {
        uint4 v = dy[(size_t)row * eights + at];
        const __nv_bfloat16 *e = (const __nv_bfloat16 *)&v;
        for (int j = 0; j < 8; j++)
            sum[j] += __bfloat162float(e[j]);
    }
    for (int j = 0; j < 8; j++)
        s[threadIdx.y][threadIdx.x + 32 * j] = sum[j];
    __syncthreads();
    float all = 0;
    for (int r = 0; r < 8; r++)
        all += s[r][threadIdx.x + 32 * threadIdx.y];
    atomicAdd(&dbias[at * 8 + threadIdx.y], all);
}

/* Eight bfloat16 at once: a bend, and a sum. */
__global__ void gelu_eights(const uint4 *x, uint4 *y)
{
    GLOBAL_I;
    uint4 v = __ldcs(&x[i]), out;
    const __nv_bfloat16 *from = (const __nv_bfloat16 *)&v;
    __nv_bfloat16 *to = (__nv_bfloat16 *)&out;
    for (int j = 0; j < 8; j++) {
        float f = __bfloat162float(from[j]);
        to[j] =
            __float2bfloat16(0.5f * f * (1.0f + tanhf(0.79788456f * (f + 0.044715f * f * f * f))));
    }
    y[i] = out;
}

__global__ void residual_eights(const uint4 *x, const uint4 *z, uint4 *y)
{
    GLOBAL_I;
    uint4 v = __ldcs(&x[i]), u = __ldcs(&z[i]), out;
    const __nv_bfloat162 *p = (const __nv_bfloat162 *)&v, *q = (const __nv_bfloat162 *)&u;
    __nv_bfloat162 *to = (__nv_bfloat162 *)&out;
    for (int j = 0; j < 4; j++)
        to[j] = __hadd2(p[j], q[j]);
    y[i] = out;
}

/* One new token looks back; keys and values lie in pages of 16 tokens that a table names. */
__global__ void attention_paged(const __half *q, const __half *key, const __half *value,
                                const int *page, float *y, int tokens, int heads)
{
    extern __shared__ float p[];
    __shared__ float part[4];
    int head = blockIdx.x, sequence = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int *own = page + sequence * (tokens / 16);
    float2 left = __half22float2(((const __half2 *)q)[(sequence * heads + head) * 32 + lane]);
    float most = -1e30f, sum = 0;
    for (int k = warp; k < tokens; k += 4) {
        size_t at = ((size_t)own[k / 16] * 16 + k % 16) * heads + head;
        float2 right = __half22float2(((const __half2 *)key)[at * 32 + lane]);
        float s = warp_sum(left.x * right.x + left.y * right.y) * 0.125f;
        if (lane == 0) p[k] = s;
        most = fmaxf(most, s);
    }
    if (lane == 0) part[warp] = most;
    __syncthreads();
    most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    for (int k = threadIdx.x; k < tokens; k += 128)
        p[k] = __expf(p[k] - most), sum += p[k];
    sum = block_sum(sum, part);
    float out = 0;
    int e = threadIdx.x % 64;
    for (int k = threadIdx.x / 64; k < tokens; k += 2)
        out += p[k] *
               __half2float(value[(((size_t)own[k / 16] * 16 + k % 16) * heads + head) * 64 + e]);
    __syncthreads();
    p[threadIdx.x] = out;
    __syncthreads();
    if (threadIdx.x < 64)
        y[(sequence * heads + head) * 64 + e] = (p[e] + p[e + 64]) / (sum + 1e-20f);
}

/* One token through a layer of bytes with a scale for each row; one warp per row. */
__global__ void gemv_bytes(const int4 *w, const float *scale, const float4 *x, float *y, int width)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < width / 16; k += 32) {
        int4 v = w[(size_t)row * (width / 16) + k];
        const signed char *e = (const signed char *)&v;
        for (int j = 0; j < 4; j++) {
            float4 f = x[4 * k + j];
            sum += e[4 * j] * f.x + e[4 * j + 1] * f.y + e[4 * j + 2] * f.z + e[4 * j + 3] * f.w;
        }
    }
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum * scale[row];
}

/* Gradients of a norm without a mean, one block per row that stays in registers. */
__global__ void rms_slope(const float4 *dy, const float4 *x, const float4 *gain, float4 *dx)
{
    __shared__ float part[8];
    size_t at = (size_t)blockIdx.x * 256 + threadIdx.x;
    float4 u = dy[at], v = x[at], g = gain[threadIdx.x];
    float square = block_sum(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, part),
          r = rsqrtf(square / 1024 + 1e-6f);
    u = make_float4(u.x * g.x, u.y * g.y, u.z * g.z, u.w * g.w);
    float dot = block_sum(u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w, part) * r * r / 1024;
    dx[at] = make_float4(r * (u.x - v.x * dot), r * (u.y - v.y * dot), r * (u.z - v.z * dot),
                         r * (u.w - v.w * dot));
}

/* A recurrent cell with four gates after its matrix products. */
__global__ void lstm_cell(const float *gate, const float *bias, float *cell, float *hidden, int n,
                          int width)
{
    GLOBAL_I;
    if (i >= n) return;
    int k = i % width, at = i / width * 4 * width + k;
    float f[4];
    for (int j = 0; j < 4; j++)
        f[j] = gate[at + j * width] + bias[j * width + k];
    float in = 1.0f / (1.0f + expf(-f[0])), forget = 1.0f / (1.0f + expf(-f[1])),
          out = 1.0f / (1.0f + expf(-f[3])), next = forget * cell[i] + in * tanhf(f[2]);
    cell[i] = next, hidden[i] = out * tanhf(next);
}

/* Groups of channels of an image, a block each, two passes and a third that writes. */
__global__ void group_norm(const float *x, const float *gain, float *y, int size, int plane)
{
    __shared__ float part[16];
    const float *from = x + (size_t)blockIdx.x * size;
    float sum = 0, square = 0;
    for (int k = threadIdx.x; k < size; k += blockDim.x)
        sum += from[k], square += from[k] * from[k];
    float mean = block_sum(sum, part) / size;
    float scale = rsqrtf(block_sum(square, part) / size - mean * mean + 1e-5f);
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
        float v = (from[k] - mean) * scale * (1.0f + 0.1f * gain[blockIdx.x % 8 * 16 + k / plane]);
        y[(size_t)blockIdx.x * size + k] = v / (1.0f + __expf(-v));
    }
}

static void transformer()
{
    E("layernorm", "layernorm-means", row_means<<<1200, 256, 1024>>>(a, c, 768));
    E("layernorm", "layernorm-elements",
      rows_normal<<<6000, 256>>>(a, b, b + 4096, b + 8192, b + 9216, c, 768, 1536000));
    E("layernorm", "residual-norm",
      residual_norm<<<256, dim3(32, 4), 6 * 3072>>>((float4 *)a, (float4 *)b, (float4 *)a,
                                                    (float4 *)b, (float4 *)c,
                                                    (float4 *)(c + 4 * MB), 192, 1024));
    E("layernorm", "norm-slope-rows",
      norm_slope_rows<<<64, 512, 6144>>>((__nv_bfloat162 *)brain, (__nv_bfloat162 *)brain + MB,
                                         (float2 *)a, b, b + 4096, (__nv_bfloat162 *)c, c + 4 * MB,
                                         384, 2048));
    E("permute", "join-heads", heads_joined<false><<<4096, 256>>>(a, c, 256, 8, MB));
    E("permute", "join-heads-back", heads_joined<true><<<4096, 256>>>(a, c, 256, 8, MB));
    E("scale", "scores-masked", scores_masked<<<8192, 256>>>(c + 2 * MB, 0.999f, 512, 2 * MB));
    E("softmax", "softmax-online", softmax_online<<<512, 256>>>(a, c, 512, 4096));
    E("softmax", "softmax-back", softmax_back<<<dim3(128, 6), 256>>>(a, b, c, 512, 0.125f));
    E("classifier", "classifier-fused",
      classifier_fused<<<160, 512>>>(brain + 6 * MB, c, keys, 12568, 12672));
    E("adamw", "adam-rounded",
      adam_rounded<<<4000, 256>>>((__nv_bfloat16 *)c, e, brain, e + MB, e + 2 * MB, 1e-4f, 0.9f,
                                  0.95f, 77, 1000000));
    E("encoder", "places-slope", places_slope<<<384, 256>>>(a, c, 16, 128, 768));
    E("bias", "bias-meet", bias_meet<<<24, dim3(32, 32)>>>(a, c, 1024, 768));
    E("bias", "bias-parts",
      bias_parts<<<dim3(12, 16), dim3(32, 8)>>>((uint4 *)brain, d, 1024, 384));
    E("gelu", "gelu-eights", gelu_eights<<<800, 256>>>((uint4 *)brain, (uint4 *)c));
    E("residual", "residual-eights",
      residual_eights<<<768, 512>>>((uint4 *)brain, (uint4 *)(brain + 3 * MB), (uint4 *)c));
    E("paged", "attention-paged",
      attention_paged<<<dim3(6, 16), 128, 2048>>>(halves, halves, halves + 3 * MB + 3000, pages, c,
                                                  512, 6));
    E("gemv-bytes", "gemv-bytes", gemv_bytes<<<512, 256>>>((int4 *)keys, b, (float4 *)a, c, 2048));
    E("rms-gradient", "rms-slope",
      rms_slope<<<1500, 256>>>((float4 *)a, (float4 *)b, (float4 *)a, (float4 *)c));
    E("lstm", "lstm-cell", lstm_cell<<<512, 256>>>(a, b, e + 3 * MB, c, 131072, 512));
    E("group-norm", "group-norm", group_norm<<<264, 512>>>(a, b, c, 16384, 1024));
}
