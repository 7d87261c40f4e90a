/* narrow_weights_and_losses.cuh - narrow weights, sampling of tokens, losses, optimiser steps,
 * convolutions of volumes (part of experts-and-hashes.cu). */

/* ---- narrow weights -------------------------------------------------------------------------- */

/* Rows of bytes with a scale each, times floats: sixteen bytes per lane, made floats one by one. */
__global__ void gemv_bytes_floats(const uint4 *w, const float *scale, const float *x, float *y,
                                  int sixteens, int n)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n) return;
    float sum = 0;
    for (int k = threadIdx.x; k < sixteens; k += 32) {
        uint4 v = w[(size_t)row * sixteens + k];
        const signed char *p = (const signed char *)&v;
        const float4 *z = (const float4 *)(x + k * 16);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float4 u = z[j];
            sum += p[4 * j] * u.x + p[4 * j + 1] * u.y + p[4 * j + 2] * u.z + p[4 * j + 3] * u.w;
        }
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) y[row] = sum * scale[row];
}

/* Four bits each that name one of sixteen values, a scale for 64 of them: a table in shared
 * memory, halves times halves. */
__global__ void gemv_table_four(const uint32_t *w, const __half *scale, const __half2 *x, float *y,
                                int eights, int n)
{
    __shared__ float table[16];
    if (threadIdx.y == 0 && threadIdx.x < 16) {
        float v = (threadIdx.x - 7.5f) / 7.5f;
        table[threadIdx.x] = v * (0.6f + 0.4f * v * v);
    }
    __syncthreads();
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n) return;
    float sum = 0;
    for (int k = threadIdx.x; k < eights; k += 32) {
        uint32_t v = w[(size_t)row * eights + k];
        float own = 0;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 u = __half22float2(x[k * 4 + j]);
            own += table[v >> 8 * j & 15] * u.x + table[v >> (8 * j + 4) & 15] * u.y;
        }
        sum += own * __half2float(scale[((size_t)row * eights + k) / 8]);
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) y[row] = sum;
}

/* Blocks of 32 floats made bytes with a scale of their own: one warp per block. */
struct BlockOf32 {
    __half scale;
    signed char q[32];
};

__global__ void blocks_quantised(const float *x, BlockOf32 *y, int n)
{
    int block = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (block >= n) return;
    float v = x[(size_t)block * 32 + lane], most = warp_most(fabsf(v)), d = most / 127.0f;
    y[block].q[lane] = (signed char)(d == 0 ? 0 : __float2int_rn(v / d));
    if (lane == 0) y[block].scale = __float2half(d);
}

/* Such blocks times such a vector: bytes by twos, for a block is 34 bytes. */
__global__ void blocks_times(const BlockOf32 *w, const BlockOf32 *x, float *y, int blocks, int n)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = lane / 4; k < blocks; k += 8) {
        const BlockOf32 *p = w + (size_t)row * blocks + k, *q = x + k;
        const uint16_t *u = (const uint16_t *)p->q, *v = (const uint16_t *)q->q;
        int dot = 0;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int at = 2 * (lane % 4 + 4 * j);
            dot = __dp4a((int)(u[at] | u[at + 1] << 16), (int)(v[at] | v[at + 1] << 16), dot);
        }
        sum += dot * __half2float(p->scale) * __half2float(q->scale);
    }
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

/* 256 weights of four bits in eight parts, each with a scale and a least of six bits: unpacked. */
__global__ void nibbles_unpacked(const unsigned char *x, float *y)
{
    const unsigned char *block = x + (size_t)blockIdx.x * 144;
    int part = threadIdx.x / 8, at = threadIdx.x % 8;
    float d = __half2float(*(const __half *)block),
          low = __half2float(*(const __half *)(block + 2));
    const unsigned char *s = block + 4, *q = block + 16 + part * 32 + at * 4;
    float scale[2], least[2];
    for (int k = 0; k < 2; k++) {
        int j = 2 * part + k, u, v;
        if (j < 4)
            u = s[j] & 63, v = s[j + 4] & 63;
        else
            u = s[j + 4] & 15 | s[j - 4] >> 6 << 4, v = s[j + 4] >> 4 | s[j] >> 6 << 4;
        scale[k] = d * u, least[k] = low * v;
    }
    float *to = y + (size_t)blockIdx.x * 256 + part * 64 + at * 4;
    for (int k = 0; k < 4; k++) {
        to[k] = scale[0] * (q[k] & 15) - least[0];
        to[32 + k] = scale[1] * (q[k] >> 4) - least[1];
    }
}

/* ---- choices --------------------------------------------------------------------------------- */

/* The k-th largest of a row by its digits from above: one block per row, 256 bins per
 * iteration. */
__global__ void __launch_bounds__(256)
    select_digits(const uint32_t *x, uint32_t *y, int width, int k)
{
    __shared__ int bins[256];
    __shared__ uint32_t chosen;
    __shared__ int left;
    const uint32_t *row = x + (size_t)blockIdx.x * width;
    if (threadIdx.x == 0) chosen = 0, left = k;
    uint32_t mask = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        bins[threadIdx.x] = 0;
        __syncthreads();
        uint32_t prefix = chosen;
        for (int i = threadIdx.x; i < width; i += 256) {
            uint32_t v = row[i];
            if ((v & mask) == prefix) atomicAdd(&bins[v >> shift & 255], 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int digit = 255, rest = left;
            while (rest > bins[digit])
                rest -= bins[digit--];
            chosen |= (uint32_t)digit << shift, left = rest;
        }
        mask |= 255u << shift;
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = chosen;
}

/* Beams: of four rows of a batch the best eight together. Each thread keeps its own eight in
 * order, and threads are merged two by two. */
__global__ void __launch_bounds__(128)
    beams_best(const float *score, const float *so_far, float *y, int *which, int width)
{
    __shared__ float values[128][8];
    __shared__ int places[128][8];
    float v[8];
    int p[8], t = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = -FLT_MAX, p[k] = -1;
    for (int i = t; i < 4 * width; i += 128) {
        float x = score[(size_t)blockIdx.x * 4 * width + i] + so_far[blockIdx.x * 4 + i / width];
        if (x > v[7]) {
            v[7] = x, p[7] = i;
#pragma unroll
            for (int k = 7; k > 0; k--)
                if (v[k] > v[k - 1]) {
                    float f = v[k];
                    int q = p[k];
                    v[k] = v[k - 1], v[k - 1] = f, p[k] = p[k - 1], p[k - 1] = q;
                }
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        values[t][k] = v[k], places[t][k] = p[k];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t >= half) continue;
        float out[8];
        int from[8], i = 0, j = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            bool own = values[t][i] >= values[t + half][j];
            out[k] = own ? values[t][i] : values[t + half][j];
            from[k] = own ? places[t][i++] : places[t + half][j++];
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            values[t][k] = out[k], places[t][k] = from[k];
    }
    if (t < 8) y[blockIdx.x * 8 + t] = values[0][t], which[blockIdx.x * 8 + t] = places[0][t];
}

/* Repetition penalty: one block per row, one thread per earlier token. */
__global__ void penalties(const float *x, const uint32_t *said, float *y, int width, float penalty)
{
    size_t row = (size_t)blockIdx.x * width;
    for (int k = threadIdx.x; k < width / 4; k += blockDim.x)
        ((float4 *)(y + row))[k] = ((const float4 *)(x + row))[k];
    __syncthreads();
    uint32_t word = said[blockIdx.x * blockDim.x + threadIdx.x] % width;
    float v = x[row + word];
    y[row + word] = v < 0 ? v * penalty : v / penalty;
}

/* ---- losses, steps --------------------------------------------------------------------------- */

/* Focal loss of what is there or not, and its sum. */
__global__ void focal(const float *x, const uint32_t *there, float *loss, int n)
{
    __shared__ float part[8];
    float sum = 0;
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        float v = 4.0f * x[i], p = 1.0f / (1.0f + expf(-v));
        bool is = there[i] >> 28 == 0;
        float own = is ? p : 1.0f - p, weight = is ? 0.25f : 0.75f;
        sum -= weight * (1.0f - own) * (1.0f - own) * logf(fmaxf(own, 1e-7f));
    }
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) atomicAdd(loss, sum);
}

/* CTC loss, forward: one block per text, letters with blanks between. */
__global__ void ctc_forward(const float *p, const uint32_t *letter, float *y, int times,
                            int letters, int alphabet)
{
    __shared__ float s[2][257];
    int t = threadIdx.x, states = 2 * letters + 1;
    const float *row = p + (size_t)blockIdx.x * times * alphabet;
    int own = t % 2 ? 1 + letter[blockIdx.x * letters + t / 2] % (alphabet - 1) : 0;
    int before = t % 2 && t > 1 ? 1 + letter[blockIdx.x * letters + t / 2 - 1] % (alphabet - 1) : 0;
    bool skips = t % 2 && t > 1 && own != before;
    float v = t < 2 ? row[own] : -INFINITY;
    for (int k = 1; k < times; k++) {
        float *at = s[k % 2];
        at[t] = v;
        __syncthreads();
        float one = t > 0 ? at[t - 1] : -INFINITY, two = skips ? at[t - 2] : -INFINITY;
        float most = fmaxf(v, fmaxf(one, two));
        if (most > -INFINITY)
            v = most + __logf(__expf(v - most) + __expf(one - most) + __expf(two - most)) +
                row[(size_t)k * alphabet + own];
    }
    if (t < states) y[blockIdx.x * blockDim.x + t] = v;
}

/* Lamb's two lengths of each tensor's segment: weights' and steps'. */
__global__ void __launch_bounds__(256)
    lamb_lengths(const float4 *p, const float4 *m, const float4 *v, float4 *step, float *lengths,
                 int n)
{
    __shared__ float part[8];
    float own = 0, far = 0;
    for (int k = threadIdx.x; k < 1024; k += 256) {
        size_t i = (size_t)blockIdx.x * 1024 + k;
        if (i >= n) break;
        float4 w = p[i], x = m[i], z = v[i], s;
        s.x = x.x * rsqrtf(fabsf(z.x) + 1e-6f) + 0.01f * w.x;
        s.y = x.y * rsqrtf(fabsf(z.y) + 1e-6f) + 0.01f * w.y;
        s.z = x.z * rsqrtf(fabsf(z.z) + 1e-6f) + 0.01f * w.z;
        s.w = x.w * rsqrtf(fabsf(z.w) + 1e-6f) + 0.01f * w.w;
        step[i] = s;
        own += w.x * w.x + w.y * w.y + w.z * w.z + w.w * w.w;
        far += s.x * s.x + s.y * s.y + s.z * s.z + s.w * s.w;
    }
    own = block_sum(own, part), far = block_sum(far, part);
    if (threadIdx.x == 0)
        lengths[2 * blockIdx.x] = sqrtf(own), lengths[2 * blockIdx.x + 1] = sqrtf(far);
}

/* Backward pass of a gate: halves as vectors of eight. */
__global__ void gate_back(const uint4 *x, const uint4 *dy, uint4 *dx, int eights, int rows_of)
{
    GLOBAL_I;
    if (i >= eights * rows_of) return;
    size_t at = (size_t)(i / eights) * 2 * eights + i % eights;
    uint4 one = x[at], two = x[at + eights], slope = dy[i], left, right;
    const __half2 *p = (const __half2 *)&one, *q = (const __half2 *)&two,
                  *d = (const __half2 *)&slope;
    for (int k = 0; k < 4; k++) {
        float2 u = __half22float2(p[k]), g = __half22float2(q[k]), s = __half22float2(d[k]);
        float gx = 1.0f / (1.0f + __expf(-g.x)), gy = 1.0f / (1.0f + __expf(-g.y));
        ((__half2 *)&left)[k] = __floats2half2_rn(s.x * gx, s.y * gy);
        ((__half2 *)&right)[k] =
            __floats2half2_rn(s.x * u.x * gx * (1.0f - gx), s.y * u.y * gy * (1.0f - gy));
    }
    dx[at] = left, dx[at + eights] = right;
}

/* ---- convolutions ---------------------------------------------------------------------------- */

/* A volume of eight channels, 3 x 3 x 3, one thread per result of all filters of its block. */
__global__ void conv_volume(const float *x, const float *w, float *y, int channels, int n)
{
    extern __shared__ float weights[];
    for (int k = threadIdx.y * 32 + threadIdx.x; k < channels * 27 * 4; k += 128)
        weights[k] = w[(size_t)blockIdx.z / n * channels * 108 + k];
    __syncthreads();
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y,
        layer = blockIdx.z % n, group = blockIdx.z / n;
    if (column >= n || row >= n) return;
    float sum[4] = {};
    for (int c = 0; c < channels; c++)
        for (int k = 0; k < 27; k++) {
            int z = layer + k / 9 - 1, r = row + k / 3 % 3 - 1, q = column + k % 3 - 1;
            if (z < 0 || r < 0 || q < 0 || z >= n || r >= n || q >= n) continue;
            float v = x[((c * n + z) * n + r) * n + q];
#pragma unroll
            for (int f = 0; f < 4; f++)
                sum[f] += v * weights[(c * 27 + k) * 4 + f];
        }
    for (int f = 0; f < 4; f++)
        y[(((group * 4 + f) * n + layer) * n + row) * n + column] = sum[f];
}

/* One channel of a volume, 5 x 5 x 5, the tile and its rim in shared memory. */
__constant__ float cube[125];

__global__ void conv_cube(const float *x, float *y, int n)
{
    __shared__ float s[12][12][12];
    int t = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
    int left = blockIdx.x * 8 - 2, top = blockIdx.y * 8 - 2, front = blockIdx.z * 8 - 2;
    for (int k = t; k < 12 * 12 * 12; k += 512) {
        int q = left + k % 12, r = top + k / 12 % 12, z = front + k / 144;
        bool in = q >= 0 && r >= 0 && z >= 0 && q < n && r < n && z < n;
        s[k / 144][k / 12 % 12][k % 12] = in ? x[(z * n + r) * n + q] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int z = 0; z < 5; z++)
#pragma unroll
        for (int r = 0; r < 5; r++)
#pragma unroll
            for (int q = 0; q < 5; q++)
                sum += s[threadIdx.z + z][threadIdx.y + r][threadIdx.x + q] *
                       cube[(z * 5 + r) * 5 + q];
    y[((front + 2 + threadIdx.z) * n + top + 2 + threadIdx.y) * n + left + 2 + threadIdx.x] = sum;
}

/* Causal convolution over four tokens of each channel with an activation: 64 tokens per thread. */
__global__ void conv_causal(const float *x, const float4 *w, const float *bias, float *y,
                            int channels, int words)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * 64;
    if (c >= channels) return;
    float4 g = w[c];
    float h = bias[c], p = 0, q = 0, r = 0;
    if (from > 0) {
        p = x[(size_t)(from - 3) * channels + c], q = x[(size_t)(from - 2) * channels + c];
        r = x[(size_t)(from - 1) * channels + c];
    }
    for (int i = from; i < min(from + 64, words); i++) {
        float s = x[(size_t)i * channels + c], v = h + g.x * p + g.y * q + g.z * r + g.w * s;
        y[(size_t)i * channels + c] = v / (1.0f + __expf(-v));
        p = q, q = r, r = s;
    }
}

/* The gradients of a depthwise 3 x 3: one block per channel sums nine multiplications over its
 * plane. */
__global__ void __launch_bounds__(256)
    depthwise_slope(const float *x, const float *dy, float *dw, int n)
{
    __shared__ float part[8];
    const float *plane = x + (size_t)blockIdx.x * n * n, *slope = dy + (size_t)blockIdx.x * n * n;
    float sum[9] = {};
    for (int i = threadIdx.x; i < n * n; i += 256) {
        int row = i / n, column = i % n;
        float d = slope[i];
#pragma unroll
        for (int k = 0; k < 9; k++) {
            int r = row + k / 3 - 1, q = column + k % 3 - 1;
            if (r >= 0 && q >= 0 && r < n && q < n) sum[k] += d * plane[r * n + q];
        }
    }
    for (int k = 0; k < 9; k++) {
        float all = block_sum(sum[k], part);
        if (threadIdx.x == 0) dw[blockIdx.x * 9 + k] = all;
    }
}

/* Regions of an image, 7 x 7 each, four samples a place between pixels. */
__global__ void regions_aligned(const float *x, const float4 *region, float *y, int channels, int n,
                                int total)
{
    GLOBAL_I;
    if (i >= total) return;
    int column = i % 7, row = i / 7 % 7, c = i / 49 % channels, k = i / 49 / channels;
    float4 box = region[k];
    float left = (box.x + 0.85f) * 20, top = (box.y + 0.85f) * 20,
          wide = (fabsf(box.z) * 30 + 2) / 7, high = (fabsf(box.w) * 30 + 2) / 7, sum = 0;
    const float *plane = x + (size_t)c * n * n;
    for (int s = 0; s < 4; s++) {
        float u = left + (column + (s % 2 + 0.5f) / 2) * wide,
              v = top + (row + (s / 2 + 0.5f) / 2) * high;
        u = fminf(fmaxf(u, 0.0f), n - 1.0f), v = fminf(fmaxf(v, 0.0f), n - 1.0f);
        int p = (int)u, q = (int)v, p1 = min(p + 1, n - 1), q1 = min(q + 1, n - 1);
        float fu = u - p, fv = v - q;
        sum += (1 - fv) * ((1 - fu) * plane[q * n + p] + fu * plane[q * n + p1]) +
               fv * ((1 - fu) * plane[q1 * n + p] + fu * plane[q1 * n + p1]);
    }
    y[i] = 0.25f * sum;
}

/* Twice as large in three directions, between eight neighbours. */
__global__ void volume_doubled(const float *x, float *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, layer = blockIdx.z,
        wide = 2 * n;
    if (column >= wide) return;
    float u = fmaxf((column + 0.5f) * 0.5f - 0.5f, 0.0f),
          v = fmaxf((row + 0.5f) * 0.5f - 0.5f, 0.0f),
          w = fmaxf((layer + 0.5f) * 0.5f - 0.5f, 0.0f);
    int p = (int)u, q = (int)v, z = (int)w, dp = p < n - 1, dq = q < n - 1 ? n : 0,
        dz = z < n - 1 ? n * n : 0;
    float fu = u - p, fv = v - q, fw = w - z;
    const float *from = x + (z * n + q) * n + p;
    float one = (1 - fv) * ((1 - fu) * from[0] + fu * from[dp]) +
                fv * ((1 - fu) * from[dq] + fu * from[dq + dp]),
          two = (1 - fv) * ((1 - fu) * from[dz] + fu * from[dz + dp]) +
                fv * ((1 - fu) * from[dz + dq] + fu * from[dz + dq + dp]);
    y[((size_t)layer * wide + row) * wide + column] = (1 - fw) * one + fw * two;
}

static void layers()
{
    E("attention", "slope-dots", slope_dots<<<3072, dim3(32, 4)>>>(a, b, c, 12288));
    E("attention", "attention-back",
      attention_back<<<dim3(8, 16), 256>>>(a, b, a + MB, b + MB, a + 2 * MB, b + 2 * MB, e, c,
                                           c + MB, 256, 0.125f));
    E("attention", "decode-bytes",
      decode_bytes<<<128, 128>>>(a, (char4 *)keys, (char4 *)halves, a + MB, b + MB, c, 448));
    E("attention", "bias-by-distance", bias_by_distance<<<dim3(2, 384), 192>>>(a, c, 12, 384));
    E("attention", "wkv", wkv<<<dim3(24, 4), 32>>>(a, b, a + 4096, b + 4096, c, 128, 768));
    E("norms", "norm-channels", norm_channels<<<dim3(13, 8), 256>>>(a, b, b + 512, c, 96, 3136));
    E("norms", "norm-batch-back",
      norm_batch_back<<<160, 256>>>(a, b, a + 7 * MB, c, c + 7 * MB, c + 7 * MB + 512, 16, 160,
                                    784));
    E("norms", "words-normed",
      words_normed<<<1024, 128>>>(keys, (__half2 *)halves, (__half2 *)halves + 3 * MB, (float2 *)a,
                                  (__half2 *)c, 384, 4096));
    E("norms", "log-softmax-back", log_softmax_back<<<700, 256>>>(a, b, c, 3001));
    E("experts", "experts-chosen",
      experts_chosen<<<2048, 128>>>(a, (float2 *)c, (int2 *)c + MB, 8192));
    E("experts", "experts-ordered",
      experts_ordered<<<1, 256>>>(keys, (int *)c, (int *)c + MB, 8192));
    E("experts", "experts-products",
      experts_products<<<dim3(8, 32), 256>>>(a, b, ends, c, 384, 512));
    E("experts", "experts-joined",
      experts_joined<<<2048, 128>>>((float4 *)a, keys, (float2 *)b, (float4 *)c, 256));
    E("narrow-weights", "gemv-bytes-floats",
      gemv_bytes_floats<<<1024, dim3(32, 4)>>>((uint4 *)halves, a, b, c, 256, 4096));
    E("narrow-weights", "gemv-table-four",
      gemv_table_four<<<1376, dim3(32, 8)>>>(keys, halves, (__half2 *)halves + MB, c, 160, 11008));
    E("narrow-weights", "blocks-quantised",
      blocks_quantised<<<12500, 256>>>(a, (BlockOf32 *)c, 100000));
    E("narrow-weights", "blocks-times",
      blocks_times<<<640, dim3(32, 4)>>>(quantised, quantised + 7, c, 80, 2560));
    E("narrow-weights", "nibbles-unpacked",
      nibbles_unpacked<<<20000, 32>>>((unsigned char *)halves, c));
    E("token-sampling", "select-digits",
      select_digits<<<200, 256>>>(keys, (uint32_t *)c, 8000, 50));
    E("token-sampling", "beams-best", beams_best<<<64, 128>>>(a, b, c, (int *)c + MB, 6000));
    E("token-sampling", "penalties", penalties<<<160, 256>>>(a, keys, c, 32000, 1.3f));
    E("losses", "focal", focal<<<396, 256>>>(a, keys, e, 1500000));
    E("losses", "ctc-forward", ctc_forward<<<128, 128>>>(a, keys, c, 150, 60, 40));
    E("optimisers", "lamb-lengths",
      lamb_lengths<<<400, 256>>>((float4 *)a, (float4 *)b, (float4 *)a + MB, (float4 *)c,
                                 c + 4 * MB, 409600));
    E("optimisers", "gate-back",
      gate_back<<<1344, 256>>>((uint4 *)halves, (uint4 *)halves + MB / 2, (uint4 *)c, 344, 1000));
    E("convolutions", "conv-volume",
      conv_volume<<<dim3(1, 8, 96), dim3(32, 4), 8 * 27 * 16>>>(a, b, c, 8, 32));
    E("convolutions", "conv-cube", conv_cube<<<dim3(12, 12, 12), dim3(8, 8, 8)>>>(a, c, 96));
    E("convolutions", "conv-causal",
      conv_causal<<<dim3(12, 32), 128>>>(a, (float4 *)b, b + MB, c, 1536, 2048));
    E("convolutions", "depthwise-slope", depthwise_slope<<<384, 256>>>(a, b, c, 56));
    E("convolutions", "regions-aligned",
      regions_aligned<<<1225, 256>>>(a, (float4 *)b, c, 64, 64, 313600));
    E("convolutions", "volume-doubled", volume_doubled<<<dim3(1, 96, 96), 96>>>(a, c, 48));
}
