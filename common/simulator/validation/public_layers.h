/* public_layers.h - layers of networks as public repositories have them: norms, losses, optimisers,
 * attention, products of narrow types, convolutions, pools, tables, samples. */

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

/* The slopes of gain and bias: 32 columns a block, its warps take rows in turn. */
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

/* Planes of a picture, a warp each, fours; what is below zero goes. */
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

/* Channels last, two halves a thread: scale, shift, and nothing below zero. */
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

/* ---- an element a thread, or a few ----------------------------------------------------------- */

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

/* Both halves of a row, one bent and one that it is multiplied by; two halves a thread. */
__global__ void gate_up(const __half2 *x, __half2 *y, int width)
{
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        float2 g = __half22float2(x[(size_t)blockIdx.x * 2 * width + k]),
               u = __half22float2(x[(size_t)blockIdx.x * 2 * width + width + k]);
        g.x *= u.x / (1.0f + __expf(-g.x)), g.y *= u.y / (1.0f + __expf(-g.y));
        y[(size_t)blockIdx.x * width + k] = __float22half2_rn(g);
    }
}

/* Neighbours are turned by an angle from a table; queries and keys of all heads. */
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

/* Many tensors of odd lengths: which one a block's piece belongs to stands in a table. */
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

/* A gated cell after its products, three gates of the input and of what was. */
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

/* A warp a row: the logarithm of the sum of exponentials, in one pass. */
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

/* How alike two rows are, a block of 128 a pair. */
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

/* The small flash: a block a head, a thread a query of a tile of 32, all tiles in shared memory. */
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

/* Flash on the tensor cores: 64 queries a block, 16 for each of four warps, 64 keys a turn; scores
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

/* One query against a part of its past, a block a head and part; results are put together later. */
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

/* A state space: 16 states of a channel in registers, a thread walks along time. */
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

/* ---- products of narrow numbers -------------------------------------------------------------- */

/* 32 floats a warp to bytes with a scale and their sum. */
struct Eights {
    __half2 scale;
    signed char q[32];
};

__global__ void to_bytes(const float *x, Eights *y)
{
    GLOBAL_I;
    float v = x[i], most = warp_most(fabsf(v)), sum = warp_sum(v), d = most / 127;
    y[i / 32].q[i % 32] = most == 0 ? 0 : (signed char)roundf(v / d);
    if (i % 32 == 0) y[i / 32].scale = __floats2half2_rn(d, sum);
}

/* Four bits a weight, 32 to a scale, times bytes: dp4a, two warps a row. */
struct Fours {
    __half scale;
    unsigned char q[16];
};

__global__ void gemv_dp4a(const Fours *w, const Eights *x, float *y, int blocks)
{
    __shared__ float part[2][4];
    int row = blockIdx.x * 4 + threadIdx.z, lane = threadIdx.x;
    float sum = 0;
    for (int b = (threadIdx.y * 32 + lane) / 2; b < blocks; b += 32) {
        const Fours *f = &w[(size_t)row * blocks + b];
        const Eights *e = &x[b];
        int half = lane % 2 * 2, dot = 0;
        for (int k = 0; k < 2; k++) {
            const unsigned short *p = (const unsigned short *)&f->q[(half + k) * 4];
            int v = p[0] | p[1] << 16;
            const int *left = (const int *)&e->q[(half + k) * 4],
                      *right = (const int *)&e->q[16 + (half + k) * 4];
            dot = __dp4a(v & 0x0f0f0f0f, *left, dot);
            dot = __dp4a(v >> 4 & 0x0f0f0f0f, *right, dot);
        }
        float2 s = __half22float2(e->scale);
        sum += __half2float(f->scale) * (dot * s.x - 4 * s.y);
    }
    sum = warp_sum(sum);
    if (lane == 0) part[threadIdx.y][threadIdx.z] = sum;
    __syncthreads();
    if (lane == 0 && threadIdx.y == 0) y[row] = part[0][threadIdx.z] + part[1][threadIdx.z];
}

/* Bytes on the tensor cores, four warps of 32 x 32 each. */
__global__ void gemm_bytes_tensor(const signed char *A, const signed char *B, int *C, int n, int k)
{
    __shared__ __align__(16) signed char as[64][80], bs[64][80];
    int warp = threadIdx.x / 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum[2][2];
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            wmma::fill_fragment(sum[r][s], 0);
    for (int at = 0; at < k; at += 64) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            int r = i / 4, q = i % 4 * 16;
            *(int4 *)&as[r][q] = *(const int4 *)&A[(size_t)(blockIdx.y * 64 + r) * k + at + q];
            *(int4 *)&bs[r][q] = *(const int4 *)&B[(size_t)(blockIdx.x * 64 + r) * k + at + q];
        }
        __syncthreads();
        for (int q = 0; q < 64; q += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right[2];
            for (int r = 0; r < 2; r++) {
                wmma::load_matrix_sync(left[r], &as[wr + r * 16][q], 80);
                wmma::load_matrix_sync(right[r], &bs[wc + r * 16][q], 80);
            }
            for (int r = 0; r < 2; r++)
                for (int s = 0; s < 2; s++)
                    wmma::mma_sync(sum[r][s], left[r], right[s], sum[r][s]);
        }
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            wmma::store_matrix_sync(C + (size_t)(blockIdx.y * 64 + wr + r * 16) * n +
                                        blockIdx.x * 64 + wc + s * 16,
                                    sum[r][s], n, wmma::mem_row_major);
}

__device__ static void matrix_four(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(p)));
}

__device__ static void matrix_four_turned(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(p)));
}

/* bfloat16: tiles of 128 x 64 x 32, three of them on their way, places mixed by an exclusive or. */
__global__ void __launch_bounds__(128)
    gemm_brain_stages(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int n,
                      int k)
{
    constexpr int STAGES = 3;
    __shared__ __align__(128) __nv_bfloat16 as[STAGES][128 * 32], bs[STAGES][32 * 64];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wr = warp / 2 * 64, wc = warp % 2 * 32;
    const __nv_bfloat16 *left = A + (size_t)blockIdx.y * 128 * k, *right = B + blockIdx.x * 64;
    auto load = [&](int stage, int at) {
        for (int i = t; i < 512; i += 128) {
            int r = i / 4, q = i % 4;
            __pipeline_memcpy_async(&as[stage][r * 32 + (q ^ r / 2 & 3) * 8],
                                    &left[(size_t)r * k + at + q * 8], 16);
        }
        for (int i = t; i < 256; i += 128) {
            int r = i / 8, q = i % 8;
            __pipeline_memcpy_async(&bs[stage][r * 64 + (q ^ r & 7) * 8],
                                    &right[(size_t)(at + r) * n + q * 8], 16);
        }
    };
    float sum[4][4][4] = {};
    for (int s = 0; s < STAGES - 1; s++)
        load(s, s * 32), __pipeline_commit();
    for (int at = 0; at < k; at += 32) {
        int stage = at / 32 % STAGES;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (at + (STAGES - 1) * 32 < k) load((stage + STAGES - 1) % STAGES, at + (STAGES - 1) * 32);
        __pipeline_commit();
#pragma unroll
        for (int q = 0; q < 32; q += 16) {
            uint32_t x[4][4], y[2][4];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                int row = wr + r * 16 + lane % 16, part = q / 8 + lane / 16;
                matrix_four(x[r], &as[stage][row * 32 + (part ^ row / 2 & 3) * 8]);
            }
#pragma unroll
            for (int s = 0; s < 2; s++) {
                int row = q + lane % 16, part = wc / 8 + s * 2 + lane / 16;
                matrix_four_turned(y[s], &bs[stage][row * 64 + (part ^ row & 7) * 8]);
            }
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int s = 0; s < 4; s++) {
                    float *d = sum[r][s];
                    asm volatile(
                        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                        "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                        : "r"(x[r][0]), "r"(x[r][1]), "r"(x[r][2]), "r"(x[r][3]),
                          "r"(y[s / 2][s % 2 * 2]), "r"(y[s / 2][s % 2 * 2 + 1]));
                }
        }
    }
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++)
            for (int h = 0; h < 2; h++) {
                int row = blockIdx.y * 128 + wr + r * 16 + lane / 4 + h * 8,
                    column = blockIdx.x * 64 + wc + s * 8 + lane % 4 * 2;
                *(__nv_bfloat162 *)&C[(size_t)row * n + column] =
                    __floats2bfloat162_rn(sum[r][s][h * 2], sum[r][s][h * 2 + 1]);
            }
}

/* Floats rounded to 19 bits on the tensor cores, a warp a tile, straight from memory. */
__global__ void gemm_tf32_plain(const float *A, const float *B, float *C, int n, int k)
{
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16,
        column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int at = 0; at < k; at += 8) {
        wmma::load_matrix_sync(left, A + (size_t)row * k + at, k);
        wmma::load_matrix_sync(right, B + (size_t)at * n + column, n);
        for (int i = 0; i < left.num_elements; i++)
            left.x[i] = wmma::__float_to_tf32(left.x[i]);
        for (int i = 0; i < right.num_elements; i++)
            right.x[i] = wmma::__float_to_tf32(right.x[i]);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(C + (size_t)row * n + column, sum, n, wmma::mem_row_major);
}

/* Pairs of halves without tensor cores: 32 x 64 a block, two rows and two pairs a thread. */
__global__ void gemm_half_pairs(const __half *A, const __half2 *B, __half2 *C, int n, int k)
{
    __shared__ __half as[32][34];
    __shared__ __half2 bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, column = blockIdx.x * 32;
    __half2 sum[2][2] = {};
    for (int at = 0; at < k; at += 32) {
        for (int r = ty; r < 32; r += 16) {
            as[r][tx] = A[(row + r) * k + at + tx],
            as[r][tx + 16] = A[(row + r) * k + at + tx + 16];
            bs[r][tx] = B[(at + r) * n / 2 + column + tx];
            bs[r][tx + 16] = B[(at + r) * n / 2 + column + tx + 16];
        }
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            __half2 p = __half2half2(as[ty][i]), q = __half2half2(as[ty + 16][i]), u = bs[i][tx],
                    v = bs[i][tx + 16];
            sum[0][0] = __hfma2(p, u, sum[0][0]), sum[0][1] = __hfma2(p, v, sum[0][1]);
            sum[1][0] = __hfma2(q, u, sum[1][0]), sum[1][1] = __hfma2(q, v, sum[1][1]);
        }
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            C[(row + ty + r * 16) * n / 2 + column + tx + s * 16] = sum[r][s];
}

/* ---- convolutions and pools ------------------------------------------------------------------ */

/* 3 x 3 as a product: 64 filters by 64 places a block, the window is found while it is loaded. */
__global__ void conv_implicit(const float *x, const float *w, float *y, int channels, int height,
                              int width, int filters)
{
    __shared__ float ws[8][68], xs[8][68];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, depth = channels * 9, places = height * width;
    float sum[4][4] = {};
    for (int at = 0; at < depth; at += 8) {
        for (int i = t; i < 512; i += 256)
            ws[i % 8][i / 8] = w[(blockIdx.y * 64 + i / 8) * depth + at + i % 8];
        for (int i = t; i < 512; i += 256) {
            int q = at + i / 64, p = blockIdx.x * 64 + i % 64, c = q / 9, r = q % 9 / 3, s = q % 3;
            int row = p / width + r - 1, column = p % width + s - 1;
            xs[i / 64][i % 64] =
                p < places && row >= 0 && row < height && column >= 0 && column < width
                    ? x[(blockIdx.z * channels + c) * places + row * width + column]
                    : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 8; q++) {
            float left[4], right[4];
            for (int k = 0; k < 4; k++)
                left[k] = ws[q][ty * 4 + k], right[k] = xs[q][tx * 4 + k];
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 4; s++)
                    sum[r][s] += left[r] * right[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++) {
            int f = blockIdx.y * 64 + ty * 4 + r, p = blockIdx.x * 64 + tx * 4 + s;
            if (p < places) y[(blockIdx.z * filters + f) * places + p] = sum[r][s];
        }
}

/* 7 x 7, every second place, three channels: a piece of the picture in shared memory, 16 filters a
 * thread from constants. */
__constant__ float stem[16 * 3 * 49];

__global__ void conv_stem(const float *x, float *y, int n)
{
    __shared__ float s[3][37][38];
    int half = n / 2, left = blockIdx.x * 32 - 3, top = blockIdx.y * 32 - 3;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 3 * 37 * 37; i += 256) {
        int c = i / 1369, r = i % 1369 / 37, q = i % 37;
        bool in = top + r >= 0 && top + r < n && left + q >= 0 && left + q < n;
        s[c][r][q] = in ? x[(c * n + top + r) * n + left + q] : 0.0f;
    }
    __syncthreads();
    float sum[16] = {};
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 7; r++)
#pragma unroll
            for (int q = 0; q < 7; q++) {
                float v = s[c][threadIdx.y * 2 + r][threadIdx.x * 2 + q];
#pragma unroll
                for (int f = 0; f < 16; f++)
                    sum[f] += v * stem[f * 147 + c * 49 + r * 7 + q];
            }
    for (int f = 0; f < 16; f++)
        y[(f * half + blockIdx.y * 16 + threadIdx.y) * half + blockIdx.x * 16 + threadIdx.x] =
            sum[f];
}

/* 1 x 1, channels last: a block takes 32 places, its threads a filter each. */
__global__ void conv_points(const float *x, const float *w, const float *bias, float *y,
                            int channels, int filters)
{
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < 32 * channels; i += blockDim.x)
        s[i] = x[(size_t)blockIdx.x * 32 * channels + i];
    __syncthreads();
    float sum[32];
    int f = threadIdx.x;
#pragma unroll
    for (int p = 0; p < 32; p++)
        sum[p] = bias[f];
    for (int c = 0; c < channels; c++) {
        float v = w[c * filters + f];
#pragma unroll
        for (int p = 0; p < 32; p++)
            sum[p] += v * s[p * channels + c];
    }
#pragma unroll
    for (int p = 0; p < 32; p++)
        y[((size_t)blockIdx.x * 32 + p) * filters + f] = fmaxf(sum[p], 0.0f);
}

/* 5 x 5 in each channel, channels last, four a thread. */
__global__ void depthwise_last(const float4 *x, const float4 *w, float4 *y, int height, int width,
                               int fours)
{
    int k = threadIdx.x, column = blockIdx.x * blockDim.y + threadIdx.y, row = blockIdx.y;
    if (column >= width) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int r = -2; r <= 2; r++)
        for (int s = -2; s <= 2; s++) {
            if (row + r < 0 || row + r >= height || column + s < 0 || column + s >= width) continue;
            float4 v = x[((row + r) * width + column + s) * fours + k],
                   g = w[((r + 2) * 5 + s + 2) * fours + k];
            sum.x += v.x * g.x, sum.y += v.y * g.y, sum.z += v.z * g.z, sum.w += v.w * g.w;
        }
    y[(row * width + column) * fours + k] = sum;
}

/* Out of Winograd's domain: 4 x 4 to 2 x 2, a thread a tile. */
__global__ void winograd_output(const float *m, float *y, int tiles, int across, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float v[4][4], s[2][4];
#pragma unroll
    for (int k = 0; k < 16; k++)
        v[k / 4][k % 4] = m[k * n + i];
#pragma unroll
    for (int k = 0; k < 4; k++)
        s[0][k] = v[0][k] + v[1][k] + v[2][k], s[1][k] = v[1][k] - v[2][k] - v[3][k];
    int plane = i / tiles, tile = i % tiles, row = tile / across * 2, column = tile % across * 2;
    float *to = y + (size_t)plane * tiles * 4 + row * across * 2 + column;
#pragma unroll
    for (int r = 0; r < 2; r++)
        *(float2 *)&to[r * across * 2] =
            make_float2(s[r][0] + s[r][1] + s[r][2], s[r][1] - s[r][2] - s[r][3]);
}

/* The largest of 3 x 3, two apart, and where it was. */
__global__ void pool_which(const float *x, float *y, int *which, int n, int total)
{
    for (GLOBAL_I; i < total; i += blockDim.x * gridDim.x) {
        int half = n / 2, plane = i / (half * half), row = i / half % half, column = i % half,
            at = -1;
        const float *from = x + (size_t)plane * n * n;
        float most = -FLT_MAX;
        for (int r = max(2 * row - 1, 0); r < min(2 * row + 2, n); r++)
            for (int s = max(2 * column - 1, 0); s < min(2 * column + 2, n); s++)
                if (from[r * n + s] > most) most = from[r * n + s], at = r * n + s;
        y[i] = most, which[i] = at;
    }
}

/* Its slope: each place asks the four that may have chosen it. */
__global__ void pool_slope(const float *dy, const int *which, float *dx, int n, int total)
{
    GLOBAL_I;
    if (i >= total) return;
    int half = n / 2, plane = i / (n * n), row = i / n % n, column = i % n;
    float sum = 0;
    for (int r = row / 2; r <= min((row + 1) / 2, half - 1); r++)
        for (int s = column / 2; s <= min((column + 1) / 2, half - 1); s++) {
            int at = (plane * half + r) * half + s;
            if ((which[at] & 4095) == row * n + column) sum += dy[at];
        }
    dx[i] = sum;
}

/* Channels to places: r x r of them make each pixel's square. */
__global__ void pixel_shuffle(const float *x, float *y, int channels, int n, int r, int total)
{
    GLOBAL_I;
    if (i >= total) return;
    int wide = n * r, column = i % wide, row = i / wide % wide, c = i / (wide * wide);
    y[i] = x[((c * r + row % r) * r + column % r) * n * n + row / r * n + column / r];
}

/* A picture read where a field of places says, by the four nearest, all channels. */
__global__ void grid_sampled(const float *x, const float2 *place, float *y, int channels, int n)
{
    GLOBAL_I;
    if (i >= n * n) return;
    float2 p = place[i];
    float u = (p.x * 1.1f + 1.0f) * 0.5f * (n - 1), v = (p.y * 1.1f + 1.0f) * 0.5f * (n - 1);
    int left = (int)floorf(u), top = (int)floorf(v);
    float fu = u - left, fv = v - top;
    for (int c = 0; c < channels; c++) {
        float sum = 0;
        for (int k = 0; k < 4; k++) {
            int row = top + k / 2, column = left + k % 2;
            if (row < 0 || row >= n || column < 0 || column >= n) continue;
            sum += (k / 2 ? fv : 1 - fv) * (k % 2 ? fu : 1 - fu) * x[(c * n + row) * n + column];
        }
        y[c * n * n + i] = sum;
    }
}

/* ---- tables, choices ------------------------------------------------------------------------- */

/* Slopes of a table's rows: each token adds to the row of its word. */
__global__ void table_slope(const uint32_t *word, const float *dy, float *table, int width)
{
    int row = word[blockIdx.x] % 4096;
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        atomicAdd(&table[row * width + k], dy[(size_t)blockIdx.x * width + k]);
}

/* Tokens in the order of their experts, fours of bfloat16. */
__global__ void experts_gathered(const uint4 *x, const uint32_t *from, uint4 *y, int eights)
{
    const uint4 *row = x + (size_t)(from[blockIdx.x] % 2048) * eights;
    for (int k = threadIdx.x; k < eights; k += blockDim.x)
        y[(size_t)blockIdx.x * eights + k] = row[k];
}

/* The k largest of a row, one after another: it lies in shared memory, and who was chosen goes. */
__global__ void top_k(const float *x, float *y, int *which, int width, int k)
{
    extern __shared__ float row[];
    __shared__ float mosts[8];
    __shared__ int places[8], chosen;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        row[i] = x[(size_t)blockIdx.x * width + i];
    __syncthreads();
    for (int turn = 0; turn < k; turn++) {
        float most = -INFINITY;
        int at = 0;
        for (int i = threadIdx.x; i < width; i += blockDim.x)
            if (row[i] > most) most = row[i], at = i;
        for (int o = 16; o > 0; o >>= 1) {
            float v = __shfl_down_sync(~0u, most, o);
            int p = __shfl_down_sync(~0u, at, o);
            if (v > most) most = v, at = p;
        }
        if (threadIdx.x % 32 == 0) mosts[threadIdx.x / 32] = most, places[threadIdx.x / 32] = at;
        __syncthreads();
        if (threadIdx.x == 0) {
            int best = 0;
            for (int w = 1; w < 8; w++)
                if (mosts[w] > mosts[best]) best = w;
            chosen = places[best];
            y[blockIdx.x * k + turn] = mosts[best], which[blockIdx.x * k + turn] = chosen;
            row[chosen] = -INFINITY;
        }
        __syncthreads();
    }
}

/* A word by chance: probabilities are added up 256 at a time until the coin lies below. */
__global__ void word_drawn(const float *p, const float *coin, int *word, int width)
{
    __shared__ float warps[8];
    __shared__ int found;
    float before = 0, goal = (coin[blockIdx.x] + 0.84f) * width * 0.3f;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) found = width;
    __syncthreads();
    for (int at = 0; at < width; at += 256) {
        float v = fabsf(p[(size_t)blockIdx.x * width + at + threadIdx.x]), sum = v;
        for (int o = 1; o < 32; o *= 2) {
            float u = __shfl_up_sync(~0u, sum, o);
            if (lane >= o) sum += u;
        }
        if (lane == 31) warps[warp] = sum;
        __syncthreads();
        float left = before;
        for (int w = 0; w < 8; w++) {
            if (w < warp) left += warps[w];
            before += warps[w];
        }
        if (left + sum >= goal) atomicMin(&found, at + (int)threadIdx.x);
        __syncthreads();
        if (found < width) break;
    }
    if (threadIdx.x == 0) word[blockIdx.x] = found;
}

static Pieces pieces_of(float *x)
{
    static const int LENGTH[] = {1024, 70000, 333, 65536, 4099};
    Pieces pieces = {};
    size_t at = 0;
    int k = 0;
    for (int tensor = 0; tensor < 40; tensor++) {
        pieces.of[tensor] = x + at, pieces.length[tensor] = LENGTH[tensor % 5];
        for (int piece = 0; piece * 8192 < LENGTH[tensor % 5] && k < 320; piece++, k++)
            pieces.tensor[k] = tensor, pieces.piece[k] = piece;
        at += LENGTH[tensor % 5];
    }
    return pieces;
}

static void layers()
{
    E("norms", "welford-1024",
      welford_norm<<<1300, 256>>>((float4 *)a, (float4 *)b, (float4 *)b + 512, (float4 *)c, 256));
    E("norms", "welford-4096",
      welford_norm<<<200, 256>>>((float4 *)a, (float4 *)b, (float4 *)b + 1024, (float4 *)c, 1024));
    E("norms", "rms-halves",
      rms_halves<2048><<<1200, 256>>>(halves, halves + 4 * MB, halves, (__half *)c));
    E("norms", "norm-columns-slope",
      norm_columns_slope<<<dim3(24, 12), dim3(32, 8)>>>(a, b, b + 5 * MB, a + 5 * MB, e, e + 1024,
                                                        2048, 768));
    E("norms", "instance-norm", instance_norm<<<150, 128>>>((float4 *)a, (float4 *)c, 784, 600));
    E("norms", "batch-norm-relu",
      batch_norm_relu<<<528, 256>>>((__half2 *)halves, (__half2 *)halves + 64,
                                    (__half2 *)halves + 512, (__half2 *)c, 96, 2000000));
    E("softmaxes", "softmax-trees", softmax_trees<<<900, 256, 9024>>>(a, c, 2000));
    E("softmaxes", "softmax-registers-256",
      softmax_registers<8><<<1024, dim3(32, 4)>>>(halves, (__half *)c, 0.125f, 256, 8192));
    E("softmaxes", "softmax-registers-1024",
      softmax_registers<32><<<384, dim3(32, 4)>>>(halves, (__half *)c, 0.125f, 1024, 3072));
    E("bends", "bias-gelu-erf", bias_gelu_erf<<<660, 192>>>((float4 *)e, (float4 *)b, 768, 500000));
    E("bends", "gate-up", gate_up<<<700, 320>>>((__half2 *)halves, (__half2 *)c, 1376));
    E("bends", "rope-table",
      rope_table<<<512, 256>>>((float2 *)e, (float2 *)e + 600000, (float2 *)a, 12, 32));
    E("steps", "adamw-fours",
      adamw_fours<<<700, 512>>>((float4 *)e, (float4 *)a, (float4 *)(c + 4 * MB),
                                (float4 *)(c + 6 * MB), 1e-4f, 0.9f, 0.999f, 0.2f, 0.01f, 0.01f,
                                350000));
    E("steps", "lion", lion<<<264, 512>>>(e, brain, e + 2 * MB, 1e-5f, 1700000));
    E("steps", "pieces-scaled",
      pieces_scaled<<<160, 512>>>(pieces_of(e), 0.9999f, (int *)zeros + 300000));
    E("cells", "gru-cell", gru_cell<<<600, 256>>>(a, b, a + 7 * MB, e, 640, 153600));
    E("losses", "cross-entropy-warps", cross_entropy_warps<<<300, 128>>>(a, keys, c, 5000, 1200));
    E("losses", "huber", huber<<<240, 256>>>(a, b, (double *)e, 3000000));
    E("losses", "cosine-alike", cosine_alike<<<2000, 128>>>(a, b, c, 768));
    E("attention", "flash-small",
      flash_small<<<dim3(8, 12), 32, 28672>>>(a, b, a + 4 * MB, c + 4 * MB, c + 5 * MB, c, 128,
                                              0.125f));
    E("attention", "flash-tensor",
      cudaFuncSetAttribute(flash_tensor, cudaFuncAttributeMaxDynamicSharedMemorySize, 62464);
      flash_tensor<<<dim3(8, 24), 128, 62464>>>(halves, halves + 2 * MB, halves + 4 * MB,
                                                (__half *)c, 512, 0.125f));
    E("attention", "flash-split",
      flash_split<<<dim3(32, 8), 128>>>((__half2 *)halves, (__half2 *)halves + MB / 2,
                                        (__half2 *)halves + 2 * MB, c, c + 1024, (float2 *)c + 1024,
                                        4000, 512));
    E("attention", "flash-joined", flash_joined<<<2048, 64>>>(a, b, b + MB, c, 12));
    E("attention", "cache-appended",
      cache_appended<<<500, 96>>>((uint4 *)halves, (uint4 *)brain, pages, (uint4 *)c,
                                  (uint4 *)c + MB, 256));
    E("attention", "state-scan",
      state_scan<<<64, 128>>>(a, b, a + 4 * MB, b + 4 * MB, b + 6 * MB, c, 96, 1024));
    E("narrow", "to-bytes", to_bytes<<<4000, 256>>>(a, (Eights *)c));
    E("narrow", "gemv-dp4a",
      gemv_dp4a<<<1024, dim3(32, 2, 4)>>>((Fours *)halves, (Eights *)brain, c, 96));
    E("narrow", "gemm-bytes-tensor",
      gemm_bytes_tensor<<<dim3(16, 12), 128>>>((signed char *)keys, (signed char *)rising, (int *)c,
                                               1024, 2048));
    E("narrow", "gemm-brain-stages",
      gemm_brain_stages<<<dim3(20, 9), 128>>>(brain, brain + 2 * MB, (__nv_bfloat16 *)c, 1280,
                                              1024));
    E("narrow", "gemm-brain-stages-small",
      gemm_brain_stages<<<dim3(6, 4), 128>>>(brain, brain + 2 * MB, (__nv_bfloat16 *)c, 384, 768));
    E("narrow", "gemm-tf32-plain",
      gemm_tf32_plain<<<dim3(8, 16), dim3(128, 2)>>>(a, b, c, 512, 512));
    E("narrow", "gemm-half-pairs",
      gemm_half_pairs<<<dim3(12, 20), dim3(16, 16)>>>(halves, (__half2 *)(halves + 2 * MB),
                                                      (__half2 *)c, 768, 448));
    E("convolutions", "conv-implicit",
      conv_implicit<<<dim3(49, 2, 3), 256>>>(a, b, c, 48, 56, 56, 128));
    E("convolutions", "conv-stem", conv_stem<<<dim3(12, 12), dim3(16, 16)>>>(a, c, 384));
    E("convolutions", "conv-points", conv_points<<<392, 128, 12288>>>(a, b, a, c, 96, 128));
    E("convolutions", "depthwise-last",
      depthwise_last<<<dim3(14, 112), dim3(24, 8)>>>((float4 *)a, (float4 *)b, (float4 *)c, 112,
                                                     112, 24));
    E("convolutions", "winograd-output", winograd_output<<<784, 128>>>(a, c, 196, 14, 100352));
    E("pools", "pool-which", pool_which<<<396, 256>>>(a, c, (int *)c + 4 * MB, 112, 401408));
    E("pools", "pool-slope", pool_slope<<<3136, 256>>>(a, (int *)keys, c, 56, 802816));
    E("pools", "pixel-shuffle", pixel_shuffle<<<4000, 288>>>(a, c, 3, 128, 3, 1152000));
    E("pools", "grid-sampled", grid_sampled<<<400, 256>>>(a, (float2 *)b, c, 8, 320));
    E("choices", "table-slope", table_slope<<<1500, 128>>>(keys, a, e, 384));
    E("choices", "experts-gathered",
      experts_gathered<<<3000, 128>>>((uint4 *)brain, keys, (uint4 *)c, 256));
    E("choices", "top-k", top_k<<<264, 256, 16384>>>(a, c, (int *)c + MB, 4096, 12));
    E("choices", "word-drawn", word_drawn<<<128, 256>>>(a, b, (int *)c, 32000));
}
