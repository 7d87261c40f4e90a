/* attention_and_experts.cuh - attention and its gradients, norms over channels, mixtures of
 * experts (part of experts-and-hashes.cu). */

/* ---- attention ------------------------------------------------------------------------------- */

/* Row sums for the gradient of a softmax: outputs times their gradients, one warp per row. */
__global__ void slope_dots(const float *o, const float *slope, float *dot, int n)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= n) return;
    float2 p = ((const float2 *)(o + row * 64))[lane],
           q = ((const float2 *)(slope + row * 64))[lane];
    float sum = warp_sum(p.x * q.x + p.y * q.y);
    if (lane == 0) dot[row] = sum;
}

/* Backward pass of attention: a block has 32 keys and values and iterates over all queries, whose
 * gradients are added up in global memory. */
__global__ void __launch_bounds__(256)
    attention_back(const float *Q, const float *K, const float *V, const float *dO,
                   const float *most, const float *dot, float *dQ, float *dK, float *dV, int n,
                   float scale)
{
    __shared__ float k[32][65], v[32][65], q[32][65], o[32][65], p[32][33], s[32][33];
    int t = threadIdx.x, row = t / 8, part = t % 8;
    size_t head = (size_t)blockIdx.y * n;
    float dk[8] = {}, dv[8] = {};
    for (int i = t; i < 32 * 64; i += 256) {
        size_t at = (head + blockIdx.x * 32) * 64 + i;
        k[i / 64][i % 64] = K[at], v[i / 64][i % 64] = V[at];
    }
    for (int from = 0; from < n; from += 32) {
        __syncthreads();
        for (int i = t; i < 32 * 64; i += 256) {
            size_t at = (head + from) * 64 + i;
            q[i / 64][i % 64] = Q[at], o[i / 64][i % 64] = dO[at];
        }
        __syncthreads();
        float l = most[head + from + row], d = dot[head + from + row];
        for (int j = 0; j < 4; j++) {
            int key = part + 8 * j;
            float score = 0, slope = 0;
            for (int x = 0; x < 64; x++)
                score += q[row][x] * k[key][x], slope += o[row][x] * v[key][x];
            float e = __expf(score * scale - l);
            p[row][key] = e, s[row][key] = e * (slope - d) * scale;
        }
        __syncthreads();
        float dq[8] = {};
        for (int i = 0; i < 32; i++) {
            float e = p[i][row], z = s[i][row], own = s[row][i];
#pragma unroll
            for (int x = 0; x < 8; x++) {
                dv[x] += e * o[i][part + 8 * x], dk[x] += z * q[i][part + 8 * x];
                dq[x] += own * k[i][part + 8 * x];
            }
        }
#pragma unroll
        for (int x = 0; x < 8; x++)
            atomicAdd(&dQ[(head + from + row) * 64 + part + 8 * x], dq[x]);
    }
#pragma unroll
    for (int x = 0; x < 8; x++) {
        size_t at = (head + blockIdx.x * 32 + row) * 64 + part + 8 * x;
        dK[at] = dk[x], dV[at] = dv[x];
    }
}

/* One new query per head against a cache of bytes with one scale per row: one block per head. */
__global__ void __launch_bounds__(128)
    decode_bytes(const float *q, const char4 *K, const char4 *V, const float *k_scale,
                 const float *v_scale, float *o, int n)
{
    __shared__ float scores[1024], part[4], sums[4][128];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t head = (size_t)blockIdx.x * n;
    float4 own = ((const float4 *)(q + blockIdx.x * 128))[lane];
    float most = -FLT_MAX, sum = 0;
    for (int k = warp; k < n; k += 4) {
        char4 w = K[(head + k) * 32 + lane];
        float dot = warp_sum(own.x * w.x + own.y * w.y + own.z * w.z + own.w * w.w);
        dot *= fabsf(k_scale[head + k]) * 0.01f;
        most = fmaxf(most, dot);
        if (lane == 0) scores[k] = dot;
    }
    if (lane == 0) part[warp] = most;
    __syncthreads();
    most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += 128)
        scores[k] = __expf(scores[k] - most), sum += scores[k];
    sum = block_sum(sum, part);
    float4 mine = make_float4(0, 0, 0, 0);
    for (int k = warp; k < n; k += 4) {
        char4 w = V[(head + k) * 32 + lane];
        float p = scores[k] * v_scale[head + k];
        mine.x += p * w.x, mine.y += p * w.y, mine.z += p * w.z, mine.w += p * w.w;
    }
    ((float4 *)sums[warp])[lane] = mine;
    __syncthreads();
    int t = threadIdx.x;
    o[blockIdx.x * 128 + t] = (sums[0][t] + sums[1][t] + sums[2][t] + sums[3][t]) / sum;
}

/* Relative positions: the distance of two tokens selects one of 32 weights per head. */
__global__ void bias_by_distance(const float *table, float *y, int heads, int n)
{
    int key = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y;
    if (key >= n) return;
    int apart = key - query, bucket = apart > 0 ? 16 : 0;
    apart = abs(apart);
    if (apart < 8)
        bucket += apart;
    else
        bucket += min(8 + (int)(__logf(apart / 8.0f) * (8.0f / 2.7725887f)), 15);
    for (int h = 0; h < heads; h++)
        y[((size_t)h * n + query) * n + key] = table[bucket * heads + h];
}

/* A channel's weighted mean of all words before, each counting less the older it is. */
__global__ void wkv(const float *decay, const float *first, const float *k, const float *v,
                    float *y, int words, int channels)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float w = -__expf(decay[c]), u = first[c], top = 0, below = 0, most = -1e38f;
    size_t from = (size_t)blockIdx.y * words * channels + c;
    for (int i = 0; i < words; i++) {
        float kk = k[from + (size_t)i * channels], vv = v[from + (size_t)i * channels];
        float high = fmaxf(most, u + kk), p = __expf(most - high), q = __expf(u + kk - high);
        y[from + (size_t)i * channels] = (p * top + q * vv) / (p * below + q);
        high = fmaxf(w + most, kk), p = __expf(w + most - high), q = __expf(kk - high);
        top = p * top + q * vv, below = p * below + q, most = high;
    }
}

/* ---- norms ----------------------------------------------------------------------------------- */

/* Each pixel's channels, planes apart: one thread per pixel. */
__global__ void norm_channels(const float *x, const float *gain, const float *bias, float *y,
                              int channels, int pixels)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pixels) return;
    const float *from = x + (size_t)blockIdx.y * channels * pixels + p;
    float *to = y + (size_t)blockIdx.y * channels * pixels + p;
    float sum = 0, square = 0;
    for (int k = 0; k < channels; k++) {
        float v = from[(size_t)k * pixels];
        sum += v, square += v * v;
    }
    float mean = sum / channels, scale = rsqrtf(square / channels - mean * mean + 1e-6f);
    for (int k = 0; k < channels; k++)
        to[(size_t)k * pixels] = (from[(size_t)k * pixels] - mean) * scale * gain[k] + bias[k];
}

/* Backward pass of batch norm: one block per channel, two accumulations and a second pass. */
__global__ void __launch_bounds__(256)
    norm_batch_back(const float *x, const float *dy, const float *gain, float *dx, float *dgain,
                    float *dbias, int images, int channels, int pixels)
{
    __shared__ float part[8];
    int c = blockIdx.x, count = images * pixels;
    float sum = 0, square = 0, slope = 0, both = 0;
    for (int i = threadIdx.x; i < count; i += 256) {
        size_t at = ((size_t)(i / pixels) * channels + c) * pixels + i % pixels;
        float v = x[at], d = dy[at];
        sum += v, square += v * v, slope += d, both += d * v;
    }
    sum = block_sum(sum, part), square = block_sum(square, part);
    slope = block_sum(slope, part), both = block_sum(both, part);
    float mean = sum / count, scale = rsqrtf(square / count - mean * mean + 1e-5f),
          turn = (both - mean * slope) * scale;
    if (threadIdx.x == 0) dgain[c] = turn, dbias[c] = slope;
    for (int i = threadIdx.x; i < count; i += 256) {
        size_t at = ((size_t)(i / pixels) * channels + c) * pixels + i % pixels;
        dx[at] = gain[c] * scale * (dy[at] - (slope + (x[at] - mean) * scale * turn) / count);
    }
}

/* A word's row of halves and its place's, added, and their norm: one warp per word. */
__global__ void words_normed(const uint32_t *word, const __half2 *table, const __half2 *place,
                             const float2 *gain, __half2 *y, int pairs, int words)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= words) return;
    const __half2 *row = table + (size_t)(word[i] % 8192) * pairs, *own = place + i % 256 * pairs;
    float2 v[12];
    float sum = 0, square = 0;
#pragma unroll
    for (int k = 0; k < 12; k++) {
        float2 p = __half22float2(row[k * 32 + lane]), q = __half22float2(own[k * 32 + lane]);
        v[k] = make_float2(p.x + q.x, p.y + q.y);
        sum += v[k].x + v[k].y, square += v[k].x * v[k].x + v[k].y * v[k].y;
    }
    sum = warp_sum(sum), square = warp_sum(square);
    float mean = sum / 768, scale = rsqrtf(square / 768 - mean * mean + 1e-12f);
#pragma unroll
    for (int k = 0; k < 12; k++) {
        float2 g = gain[k * 32 + lane];
        y[(size_t)i * pairs + k * 32 + lane] =
            __floats2half2_rn((v[k].x - mean) * scale * g.x, (v[k].y - mean) * scale * g.y);
    }
}

/* The gradient of a softmax's logarithm, one block per row of any width. */
__global__ void log_softmax_back(const float *y, const float *dy, float *dx, int width)
{
    __shared__ float part[8];
    const float *own = y + (size_t)blockIdx.x * width, *slope = dy + (size_t)blockIdx.x * width;
    float sum = 0;
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        sum += slope[k];
    sum = block_sum(sum, part);
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        dx[(size_t)blockIdx.x * width + k] = slope[k] - expf(own[k]) * sum;
}

/* ---- experts --------------------------------------------------------------------------------- */

/* One warp per word: the softmax of 64 scores, its two largest, and their shares. */
__global__ void experts_chosen(const float *score, float2 *share, int2 *which, int words)
{
    int word = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (word >= words) return;
    float v[2] = {score[word * 64 + lane], score[word * 64 + 32 + lane]}, best[2];
    int at[2];
    float top = warp_most(fmaxf(v[0], v[1]));
    v[0] = __expf(v[0] - top), v[1] = __expf(v[1] - top);
    float sum = warp_sum(v[0] + v[1]);
    for (int turn = 0; turn < 2; turn++) {
        float most = fmaxf(v[0], v[1]);
        int place = v[0] >= v[1] ? lane : lane + 32;
        for (int o = 16; o > 0; o >>= 1) {
            float m = __shfl_xor_sync(~0u, most, o);
            int p = __shfl_xor_sync(~0u, place, o);
            if (m > most || m == most && p < place) most = m, place = p;
        }
        best[turn] = most, at[turn] = place;
        if (place % 32 == lane) v[place / 32] = -1.0f;
    }
    if (lane == 0) {
        share[word] = make_float2(best[0] / sum, best[1] / sum);
        which[word] = make_int2(at[0], at[1]);
    }
}

/* Words in the order of their experts, one block: counts of each thread's segment in shared memory,
 * sums over threads and experts, and then every word its place. */
__global__ void __launch_bounds__(256)
    experts_ordered(const uint32_t *expert, int *place, int *ends, int words)
{
    __shared__ int counts[257][16], first[17];
    int t = threadIdx.x, each = (words + 255) / 256;
    for (int k = 0; k < 16; k++)
        counts[t + 1][k] = 0;
    if (t < 16) counts[0][t] = 0;
    for (int i = t * each; i < min((t + 1) * each, words); i++)
        counts[t + 1][expert[i] % 16]++;
    __syncthreads();
    if (t < 16)
        for (int k = 1; k <= 256; k++)
            counts[k][t] += counts[k - 1][t];
    __syncthreads();
    if (t == 0) {
        first[0] = 0;
        for (int k = 0; k < 16; k++)
            first[k + 1] = first[k] + counts[256][k], ends[k] = first[k + 1];
    }
    __syncthreads();
    for (int i = t * each; i < min((t + 1) * each, words); i++) {
        int k = expert[i] % 16;
        place[i] = first[k] + counts[t][k]++;
    }
}

/* Each expert's words times its weights: which expert a tile of 32 words has, a search says. */
__global__ void __launch_bounds__(256)
    experts_products(const float *x, const float *w, const int *ends, float *y, int depth,
                     int width)
{
    __shared__ float left[16][36], right[16][64];
    int from = blockIdx.y * 32, expert = 0, t = threadIdx.x;
    while (expert < 7 && ends[expert] <= from)
        expert++;
    w += (size_t)expert * depth * width + blockIdx.x * 64;
    float sum[2][4] = {};
    int row = t / 16 * 2, column = t % 16 * 4;
    for (int k = 0; k < depth; k += 16) {
        for (int i = t; i < 32 * 16; i += 256)
            left[i % 16][i / 16] = x[(size_t)(from + i / 16) * depth + k + i % 16];
        *(float4 *)&right[t / 16][column] =
            *(const float4 *)&w[(size_t)(k + t / 16) * width + column];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) {
            float4 r = *(const float4 *)&right[j][column];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float l = left[j][row + i];
                sum[i][0] += l * r.x, sum[i][1] += l * r.y;
                sum[i][2] += l * r.z, sum[i][3] += l * r.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        *(float4 *)&y[(size_t)(from + row + i) * width + blockIdx.x * 64 + column] =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

/* Combines the outputs of a token's two experts by their weights; vectors of four. */
__global__ void experts_joined(const float4 *x, const uint32_t *place, const float2 *share,
                               float4 *y, int fours)
{
    float2 s = share[blockIdx.x];
    const float4 *p = x + (size_t)(place[2 * blockIdx.x] % 4096) * fours,
                 *q = x + (size_t)(place[2 * blockIdx.x + 1] % 4096) * fours;
    for (int k = threadIdx.x; k < fours; k += blockDim.x) {
        float4 u = p[k], v = q[k];
        y[(size_t)blockIdx.x * fours + k] =
            make_float4(s.x * u.x + s.y * v.x, s.x * u.y + s.y * v.y, s.x * u.z + s.y * v.z,
                        s.x * u.w + s.y * v.w);
    }
}
