/* norms_and_attention.cuh - norms, elementwise layers, losses, optimisers and attention (part
 * of attention-and-convolutions.cu). */

/* ---- norms and softmax ----------------------------------------------------------------------- */

/* A row's mean and spread in one pass by Welford's sums, which warps put together; fours. */
__global__ void welford_norm(const float4 *x, const float4 *gain, const float4 *bias, float4 *y,
                             int fours)
{
    __shared__ float means[8], squares[8], counts[8];
    const float4 *row = x + (size_t)blockIdx.x * fours;
    float mean = 0, square = 0, count = 0;
    for (int k = threadIdx.x; k < fours; k += blockDim.x) {
        float4 v = row[k];
        float each[4] = {v.x, v.y, v.z, v.w};
        for (int j = 0; j < 4; j++) {
            count += 1.0f;
            float d = each[j] - mean;
            mean += d / count, square += d * (each[j] - mean);
        }
    }
    for (int o = 16; o > 0; o >>= 1) {
        float m = __shfl_down_sync(~0u, mean, o), s = __shfl_down_sync(~0u, square, o),
              n = __shfl_down_sync(~0u, count, o), d = m - mean, both = fmaxf(count + n, 1.0f);
        mean += d * n / both, square += s + d * d * count * n / both, count += n;
    }
    if (threadIdx.x % 32 == 0)
        means[threadIdx.x / 32] = mean, squares[threadIdx.x / 32] = square,
                            counts[threadIdx.x / 32] = count;
    __syncthreads();
    mean = means[0], square = squares[0], count = counts[0];
    for (int w = 1; w < blockDim.x / 32; w++) {
        float d = means[w] - mean, n = counts[w], both = count + n;
        mean += d * n / both, square += squares[w] + d * d * count * n / both, count = both;
    }
    float scale = rsqrtf(square / count + 1e-5f);
    for (int k = threadIdx.x; k < fours; k += blockDim.x) {
        float4 v = row[k], g = gain[k], h = bias[k];
        y[(size_t)blockIdx.x * fours + k] =
            make_float4((v.x - mean) * scale * g.x + h.x, (v.y - mean) * scale * g.y + h.y,
                        (v.z - mean) * scale * g.z + h.z, (v.w - mean) * scale * g.w + h.w);
    }
}

/* Rows of halves without a mean, eight a thread, added to a residual in place. */
template <int WIDTH>
__global__ void rms_halves(const __half *x, __half *residual, const __half *gain, __half *y)
{
    __shared__ float part[WIDTH / 256];
    size_t at = (size_t)blockIdx.x * WIDTH + threadIdx.x * 8;
    uint4 v = *(const uint4 *)&x[at], r = *(const uint4 *)&residual[at];
    __half2 *p = (__half2 *)&v, *q = (__half2 *)&r;
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(p[k]), g = __half22float2(q[k]);
        f.x = 0.5f * (f.x + g.x), f.y = 0.5f * (f.y + g.y);
        q[k] = __float22half2_rn(f);
        sum += f.x * f.x + f.y * f.y;
    }
    *(uint4 *)&residual[at] = r;
    float scale = rsqrtf(block_sum(sum, part) / WIDTH + 1e-6f);
    uint4 w = *(const uint4 *)&gain[threadIdx.x * 8];
    __half2 *g = (__half2 *)&w, s = __float2half2_rn(scale);
    for (int k = 0; k < 4; k++)
        g[k] = __hmul2(__hmul2(q[k], s), g[k]);
    *(uint4 *)&y[at] = w;
}

/* The gradients of gain and bias: 32 columns per block, whose warps process rows round-robin. */
__global__ void norm_columns_slope(const float *dy, const float *x, const float *mean,
                                   const float *scale, float *dgain, float *dbias, int n, int width)
{
    __shared__ float gains[8][33], biases[8][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    float g = 0, h = 0;
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < n; row += gridDim.y * blockDim.y) {
        float d = dy[row * width + column];
        g += d * (x[row * width + column] - mean[row]) * scale[row], h += d;
    }
    gains[threadIdx.y][threadIdx.x] = g, biases[threadIdx.y][threadIdx.x] = h;
    __syncthreads();
    if (threadIdx.y) return;
    for (int k = 1; k < 8; k++)
        g += gains[k][threadIdx.x], h += biases[k][threadIdx.x];
    atomicAdd(&dgain[column], g), atomicAdd(&dbias[column], h);
}

/* Planes of an image, a warp each, fours; what is below zero goes. */
__global__ void instance_norm(const float4 *x, float4 *y, int fours, int planes)
{
    int plane = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (plane >= planes) return;
    const float4 *from = x + (size_t)plane * fours;
    float sum = 0, square = 0;
    for (int k = lane; k < fours; k += 32) {
        float4 v = __ldg(&from[k]);
        sum += v.x + v.y + v.z + v.w;
        square += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    sum = warp_sum(sum), square = warp_sum(square);
    float mean = sum / (4 * fours), scale = rsqrtf(square / (4 * fours) - mean * mean + 1e-5f);
    for (int k = lane; k < fours; k += 32) {
        float4 v = __ldg(&from[k]);
        v.x = fmaxf((v.x - mean) * scale, 0.0f), v.y = fmaxf((v.y - mean) * scale, 0.0f);
        v.z = fmaxf((v.z - mean) * scale, 0.0f), v.w = fmaxf((v.w - mean) * scale, 0.0f);
        y[(size_t)plane * fours + k] = v;
    }
}

/* Channels last, two halves per thread: scale, shift, and nothing below zero. */
__global__ void batch_norm_relu(const __half2 *x, const __half2 *scale, const __half2 *shift,
                                __half2 *y, int channels, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        int k = i % channels;
        y[i] = __hmax2(__hfma2(x[i], scale[k], shift[k]), __float2half2_rn(0.0f));
    }
}

/* Three passes over a row that lies in shared memory, a tree for each. */
__global__ void softmax_trees(const float *x, float *y, int width)
{
    extern __shared__ float s[];
    float *tree = s + width;
    const float *row = x + (size_t)blockIdx.x * width;
    float most = -FLT_MAX, sum = 0;
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        s[k] = row[k], most = fmaxf(most, s[k]);
    tree[threadIdx.x] = most;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            tree[threadIdx.x] = fmaxf(tree[threadIdx.x], tree[threadIdx.x + half]);
        __syncthreads();
    }
    most = tree[0];
    __syncthreads();
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        s[k] = expf(s[k] - most), sum += s[k];
    tree[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    sum = tree[0];
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        y[(size_t)blockIdx.x * width + k] = s[k] / sum;
}

/* A warp takes two rows of at most 32 * EACH halves and keeps them in registers; scaled and
 * causal. */
template <int EACH>
__global__ void softmax_registers(const __half *x, __half *y, float scale, int width, int rows_of)
{
    int first = 2 * (blockIdx.x * blockDim.y + threadIdx.y);
    float v[2][EACH], most[2], sum[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = first + r;
        most[r] = -10000.0f, sum[r] = 0;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            int at = threadIdx.x + 32 * k;
            v[r][k] = row < rows_of && at <= row % width
                          ? scale * __half2float(x[(size_t)row * width + at])
                          : -10000.0f;
            most[r] = fmaxf(most[r], v[r][k]);
        }
        most[r] = warp_most(most[r]);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            v[r][k] = __expf(v[r][k] - most[r]), sum[r] += v[r][k];
        sum[r] = warp_sum(sum[r]);
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (first + r < rows_of)
                y[(size_t)(first + r) * width + threadIdx.x + 32 * k] =
                    __float2half(v[r][k] / sum[r]);
}

/* ---- one or a few elements per thread -------------------------------------------------------- */

/* Fours in a grid's stride: a bias, and a bend by the error function. */
__global__ void bias_gelu_erf(float4 *x, const float4 *bias, int fours, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        float4 v = x[i], h = bias[i % fours];
        float f[4] = {v.x + h.x, v.y + h.y, v.z + h.z, v.w + h.w};
        for (int k = 0; k < 4; k++)
            f[k] = f[k] * 0.5f * (1.0f + erff(f[k] * 0.70710678f));
        x[i] = make_float4(f[0], f[1], f[2], f[3]);
    }
}

/* Both halves of a row, one bent and one that it is multiplied by; two halves per thread. */
__global__ void gate_up(const __half2 *x, __half2 *y, int width)
{
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        float2 g = __half22float2(x[(size_t)blockIdx.x * 2 * width + k]),
               u = __half22float2(x[(size_t)blockIdx.x * 2 * width + width + k]);
        g.x *= u.x / (1.0f + __expf(-g.x)), g.y *= u.y / (1.0f + __expf(-g.y));
        y[(size_t)blockIdx.x * width + k] = __float22half2_rn(g);
    }
}

/* Rotary embedding: neighbours are rotated by an angle from a table; queries and keys of all
 * heads. */
__global__ void rope_table(float2 *q, float2 *k, const float2 *table, int heads, int pairs)
{
    int token = blockIdx.x;
    for (int i = threadIdx.x; i < heads * pairs; i += blockDim.x) {
        float2 t = table[token * pairs + i % pairs];
        size_t at = (size_t)token * heads * pairs + i;
        float2 v = q[at], u = k[at];
        q[at] = make_float2(v.x * t.x - v.y * t.y, v.x * t.y + v.y * t.x);
        k[at] = make_float2(u.x * t.x - u.y * t.y, u.x * t.y + u.y * t.x);
    }
}

/* Adam with decay, fours of everything. */
__global__ void __launch_bounds__(512)
    adamw_fours(float4 *p, const float4 *g, float4 *m, float4 *v, float rate, float b1, float b2,
                float c1, float c2, float decay, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 pp = p[i], gg = g[i], mm = m[i], vv = v[i];
    float *w = &pp.x, *s = &gg.x, *one = &mm.x, *two = &vv.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        one[k] = b1 * one[k] + (1.0f - b1) * s[k];
        two[k] = b2 * fabsf(two[k]) + (1.0f - b2) * s[k] * s[k];
        w[k] -= rate * (one[k] / c1 / (sqrtf(two[k] / c2) + 1e-8f) + decay * w[k]);
    }
    p[i] = pp, m[i] = mm, v[i] = vv;
}

/* A step by the sign alone. */
__global__ void lion(float *p, const __nv_bfloat16 *g, float *m, float rate, int n)
{
    for (GLOBAL_I; i < n; i += blockDim.x * gridDim.x) {
        float s = __bfloat162float(g[i]), old = m[i], u = 0.9f * old + 0.1f * s;
        p[i] = p[i] * (1.0f - rate * 0.1f) - (u > 0 ? rate : u < 0 ? -rate : 0.0f);
        m[i] = 0.99f * old + 0.01f * s;
    }
}

/* Many tensors of odd lengths: a table maps each block to a tensor. */
struct Pieces {
    int tensor[320], piece[320], length[40];
    float *of[40];
};

__global__ void pieces_scaled(Pieces pieces, float scale, int *found)
{
    int tensor = pieces.tensor[blockIdx.x], from = pieces.piece[blockIdx.x] * 8192,
        to = min(pieces.length[tensor], from + 8192);
    float *x = pieces.of[tensor];
    bool odd = false;
    for (int k = from + threadIdx.x; k < to; k += blockDim.x * 4) {
        float r[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            r[j] = k + j * blockDim.x < to ? x[k + j * blockDim.x] : 0;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            odd |= !isfinite(r[j]);
            if (k + j * blockDim.x < to) x[k + j * blockDim.x] = r[j] * scale;
        }
    }
    if (odd) *found = 1;
}

/* A gated recurrent cell after its matrix products, three gates of the input and of the state. */
__global__ void gru_cell(const float *in, const float *was, const float *bias, float *hidden,
                         int width, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int row = i / width, k = i % width;
    const float *p = in + (size_t)row * 3 * width + k, *q = was + (size_t)row * 3 * width + k;
    float r = 1.0f / (1.0f + expf(-(p[0] + q[0] + bias[k]))),
          z = 1.0f / (1.0f + expf(-(p[width] + q[width] + bias[width + k]))),
          h = tanhf(p[2 * width] + bias[2 * width + k] + r * q[2 * width]);
    hidden[i] = (1.0f - z) * h + z * hidden[i];
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* One warp per row: the logarithm of the sum of exponentials, in one pass. */
__global__ void cross_entropy_warps(const float *x, const uint32_t *target, float *loss, int width,
                                    int n)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float most = -INFINITY, sum = 0;
    for (int k = lane; k < width; k += 32) {
        float v = x[(size_t)row * width + k];
        if (v > most) sum *= __expf(most - v), most = v;
        sum += __expf(v - most);
    }
    float all = warp_most(most);
    sum = warp_sum(sum * __expf(most - all));
    if (lane == 0) loss[row] = logf(sum) + all - x[(size_t)row * width + target[row] % width];
}

/* Huber's loss of a million, summed in doubles. */
__global__ void huber(const float *x, const float *z, double *loss, int n)
{
    __shared__ double s[256];
    double sum = 0;
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        float d = fabsf(x[i] - z[i]);
        sum += d < 1.0f ? 0.5f * d * d : d - 0.5f;
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(loss, s[0] / n);
}

/* Cosine similarity of two rows, one block of 128 threads per pair. */
__global__ void cosine_alike(const float *x, const float *z, float *y, int width)
{
    __shared__ float part[3][4];
    float dot = 0, p = 0, q = 0;
    for (int k = threadIdx.x; k < width; k += 128) {
        float u = x[(size_t)blockIdx.x * width + k], v = z[(size_t)blockIdx.x * width + k];
        dot += u * v, p += u * u, q += v * v;
    }
    dot = block_sum(dot, part[0]), p = block_sum(p, part[1]), q = block_sum(q, part[2]);
    if (threadIdx.x == 0) y[blockIdx.x] = dot * rsqrtf(fmaxf(p * q, 1e-16f));
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Flash attention, small: one block per head, one thread per query of a tile of 32, all tiles in
 * shared memory. */
__global__ void flash_small(const float *Q, const float *K, const float *V, float *L, float *M,
                            float *O, int n, float scale)
{
    constexpr int D = 64, T = 32;
    extern __shared__ float s[];
    float *qs = s, *ks = qs + T * D, *vs = ks + T * D, *ss = vs + T * D;
    int t = threadIdx.x;
    size_t head = ((size_t)blockIdx.x * gridDim.y + blockIdx.y) * n;
    for (int j = 0; j < n / T; j++) {
        for (int x = 0; x < D; x++) {
            ks[t * D + x] = K[(head + j * T + t) * D + x];
            vs[t * D + x] = V[(head + j * T + t) * D + x];
        }
        __syncthreads();
        for (int i = 0; i < n / T; i++) {
            for (int x = 0; x < D; x++)
                qs[t * D + x] = Q[(head + i * T + t) * D + x];
            float was = j ? M[head + i * T + t] : -INFINITY, sum_was = j ? L[head + i * T + t] : 0;
            float most = -INFINITY, sum = 0;
            for (int y = 0; y < T; y++) {
                float dot = 0;
                for (int x = 0; x < D; x++)
                    dot += qs[t * D + x] * ks[y * D + x];
                dot *= scale;
                ss[T * t + y] = dot;
                if (dot > most) most = dot;
            }
            for (int y = 0; y < T; y++) {
                ss[T * t + y] = __expf(ss[T * t + y] - most);
                sum += ss[T * t + y];
            }
            float all = max(was, most);
            float total = __expf(was - all) * sum_was + __expf(most - all) * sum;
            for (int x = 0; x < D; x++) {
                float pv = 0;
                for (int y = 0; y < T; y++)
                    pv += ss[T * t + y] * vs[y * D + x];
                float *o = &O[(head + i * T + t) * D + x];
                *o = (1 / total) *
                     (sum_was * __expf(was - all) * (j ? *o : 0.0f) + __expf(most - all) * pv);
            }
            M[head + i * T + t] = all, L[head + i * T + t] = total;
        }
        __syncthreads();
    }
}

/* Flash attention on tensor cores: 64 queries per block, 16 per warp, 64 keys per iteration; scores
 * and results go through shared memory. */
__global__ void __launch_bounds__(128)
    flash_tensor(const __half *Q, const __half *K, const __half *V, __half *O, int n, float scale)
{
    constexpr int D = 64, LD = 72;
    extern __shared__ __align__(16) unsigned char raw[];
    __half *ks = (__half *)raw, *vs = ks + 64 * LD, *ps = vs + 64 * LD;
    float *ss = (float *)(ps + 64 * LD), *os = ss + 64 * 68;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    size_t head = (size_t)blockIdx.y * n * D;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> q[4];
    for (int k = 0; k < 4; k++)
        wmma::load_matrix_sync(q[k], Q + head + (blockIdx.x * 64 + warp * 16) * D + k * 16, D);
    float *own = ss + warp * 16 * 68, *out = os + warp * 16 * 68;
    __half *probable = ps + warp * 16 * LD;
    for (int k = lane; k < 16 * 68; k += 32)
        out[k] = 0;
    int row = lane / 2, side = lane % 2 * 32;
    float most = -INFINITY, sum = 0;
    for (int at = 0; at < n; at += 64) {
        __syncthreads();
        for (int k = threadIdx.x; k < 512; k += 128) {
            *(uint4 *)&ks[k / 8 * LD + k % 8 * 8] = *(const uint4 *)&K[head + at * D + k * 8];
            *(uint4 *)&vs[k / 8 * LD + k % 8 * 8] = *(const uint4 *)&V[head + at * D + k * 8];
        }
        __syncthreads();
        for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
            wmma::fill_fragment(s, 0.0f);
            for (int k = 0; k < 4; k++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> key;
                wmma::load_matrix_sync(key, ks + j * 16 * LD + k * 16, LD);
                wmma::mma_sync(s, q[k], key, s);
            }
            wmma::store_matrix_sync(own + j * 16, s, 68, wmma::mem_row_major);
        }
        __syncwarp();
        float now = -INFINITY, part = 0;
        for (int k = 0; k < 32; k++)
            now = fmaxf(now, own[row * 68 + side + k] * scale);
        now = fmaxf(now, __shfl_xor_sync(~0u, now, 1));
        float all = fmaxf(most, now), less = __expf(most - all);
        for (int k = 0; k < 32; k++) {
            float p = __expf(own[row * 68 + side + k] * scale - all);
            probable[row * LD + side + k] = __float2half(p), part += p;
            out[row * 68 + side + k] *= less;
        }
        part += __shfl_xor_sync(~0u, part, 1);
        sum = sum * less + part, most = all;
        __syncwarp();
        for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> o;
            wmma::load_matrix_sync(o, out + j * 16, 68, wmma::mem_row_major);
            for (int k = 0; k < 4; k++) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> p;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> value;
                wmma::load_matrix_sync(p, probable + k * 16, LD);
                wmma::load_matrix_sync(value, vs + k * 16 * LD + j * 16, LD);
                wmma::mma_sync(o, p, value, o);
            }
            wmma::store_matrix_sync(out + j * 16, o, 68, wmma::mem_row_major);
        }
        __syncwarp();
    }
    for (int k = 0; k < 32; k += 2)
        *(__half2 *)&O[head + (blockIdx.x * 64 + warp * 16 + row) * D + side + k] =
            __floats2half2_rn(out[row * 68 + side + k] / sum, out[row * 68 + side + k + 1] / sum);
}

/* One query against a part of the cached keys, one block per head and part; results are combined
 * later. */
__global__ void flash_split(const __half2 *q, const __half2 *key, const __half2 *value, float *most,
                            float *sum, float2 *part_of, int tokens, int per)
{
    __shared__ float2 outs[4][32];
    __shared__ float mosts[4], sums[4];
    int head = blockIdx.x, split = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float2 left = __half22float2(q[head * 32 + lane]), out = make_float2(0, 0);
    float m = -INFINITY, s = 0;
    int end = min(tokens, (split + 1) * per);
    for (int t = split * per + warp; t < end; t += 4) {
        size_t at = ((size_t)head / 4 * tokens + t) * 32 + lane;
        float2 right = __half22float2(key[at]), v = __half22float2(value[at]);
        float score = warp_sum(left.x * right.x + left.y * right.y) * 0.125f;
        float now = fmaxf(m, score), less = __expf(m - now), p = __expf(score - now);
        out.x = out.x * less + p * v.x, out.y = out.y * less + p * v.y;
        s = s * less + p, m = now;
    }
    outs[warp][lane] = out;
    if (lane == 0) mosts[warp] = m, sums[warp] = s;
    __syncthreads();
    if (warp) return;
    m = fmaxf(fmaxf(mosts[0], mosts[1]), fmaxf(mosts[2], mosts[3])), s = 0, out = make_float2(0, 0);
    for (int w = 0; w < 4; w++) {
        float e = __expf(mosts[w] - m);
        s += sums[w] * e, out.x += outs[w][lane].x * e, out.y += outs[w][lane].y * e;
    }
    int place = head * gridDim.y + split;
    part_of[place * 32 + lane] = out;
    if (lane == 0) most[place] = m, sum[place] = s;
}

__global__ void flash_joined(const float *most, const float *sum, const float *part, float *y,
                             int splits)
{
    float all = -INFINITY, total = 0, out = 0;
    for (int k = 0; k < splits; k++)
        all = fmaxf(all, most[blockIdx.x * splits + k]);
    for (int k = 0; k < splits; k++) {
        float e = expf(most[blockIdx.x * splits + k] - all);
        total += fabsf(sum[blockIdx.x * splits + k]) * e;
        out += e * part[(blockIdx.x * splits + k) * 64 + threadIdx.x];
    }
    y[blockIdx.x * 64 + threadIdx.x] = out / total;
}

/* New keys and values into the cache, at places that a table names. */
__global__ void cache_appended(const uint4 *key, const uint4 *value, const int *slot,
                               uint4 *keys_of, uint4 *values_of, int eights)
{
    int token = blockIdx.x, to = slot[token];
    for (int k = threadIdx.x; k < eights; k += blockDim.x) {
        keys_of[(size_t)to * eights + k] = key[(size_t)token * eights + k];
        values_of[(size_t)to * eights + k] = value[(size_t)token * eights + k];
    }
}

/* A state space model: 16 states of a channel in registers, each thread iterates over time. */
__global__ void state_scan(const float *x, const float *delta, const float *B, const float *C,
                           const float *A, float *y, int steps, int channels)
{
    GLOBAL_I;
    float state[16] = {0}, rate[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        rate[k] = -1.0f - fabsf(A[i % channels * 16 + k]);
    int batch = i / channels, channel = i % channels;
    for (int t = 0; t < steps; t++) {
        size_t row = (size_t)batch * steps + t;
        float u = x[row * channels + channel], d = 0.1f + 0.1f * delta[row * channels + channel],
              sum = 0;
#pragma unroll
        for (int k = 0; k < 16; k++) {
            state[k] = __expf(d * rate[k]) * state[k] + d * B[row * 16 + k] * u;
            sum += state[k] * C[row * 16 + k];
        }
        y[row * channels + channel] = sum;
    }
}
