/* blind.cu - 92 more launches of kernels as strangers have them, none like those in strangers.cu
 * and unseen.cu: a transformer's way forward and back, products of many shapes, classic benchmarks,
 * integers and tables, pictures, small systems.
 *
 * All of them are held out: what the simulator says of them was kept before any was measured; no
 * constant may be chosen by looking at them. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <algorithm>

#include "common/simulator/validation/entries.h"

static float *a, *b, *c;    /* 16 M floats each */
static float *d;            /* 4 M zeros */
static uint32_t *keys;      /* 4 M, in no order */
static uint32_t *rising;    /* 1 M, in order */
static uint32_t *zeros;     /* 1 M */
static int *rows, *columns; /* a graph: 16385 and up to 12 * 16384; each row's columns rise */

#define E(family, name, ...) ENTER(HELD_OUT, family, name, __VA_ARGS__)

__device__ static float warp_sum(float v)
{
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, o);
    return v;
}

/* ---- a transformer, forward and back --------------------------------------------------------- */

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

/* A warp a row of which only the first elements count; from the last row to the first. */
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

/* A thread a query and head; the sums lie in memory. */
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

/* A warp a query, a lane a key: keys and values by tiles of 32 in shared memory. */
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

/* The slope of the values: all queries that saw the key. */
__global__ void values_slope(const float *score, const float *dy, float *dv, int t)
{
    int e = threadIdx.x, key = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y;
    float sum = 0;
    for (int query = key; query < t; query++)
        sum +=
            score[((size_t)head * t + query) * t + key] * dy[((size_t)head * t + query) * 64 + e];
    dv[((size_t)head * t + key) * 64 + e] = sum;
}

/* The slope through a softmax, a block a row. */
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

/* A warp a row, by cooperative groups. */
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

/* Its slopes: those of gain and bias are added up in shared memory. */
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

/* The slope of a loss over `width` classes, a thread each. */
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

/* Halves: the first 32 of a head's 64 turn with the last 32; cosines from a table. */
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

/* The likeliest of a vocabulary, a block a row. */
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
    E("values-slope", "values-slope", values_slope<<<dim3(64, 8), dim3(64, 4)>>>(a, b, c, 256));
    E("softmax-slope", "softmax-slope", softmax_slope<<<2048, 128>>>(a, b, c, 300));
    E("layernorm-group", "layernorm-group",
      layernorm_group<<<512, 128>>>(a, b, b + 1024, c, 2048, 384));
    E("layernorm-slope", "layernorm-slope",
      layernorm_slope<<<128, 256, 2048>>>(a, b, b + MB, c, d, d + 1024, 256));
    E("gelu-slope", "gelu-slope", gelu_slope<<<6144, 128>>>(a, b, c, 768 << 10));
    E("loss-slope", "loss-slope", loss_slope<<<4704, 256>>>(a, keys, c, 5003, 240 * 5003));
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

/* ---- products -------------------------------------------------------------------------------- */

/* Any size: a line of threads makes a square of 32. */
__global__ void gemm_any(const float *A, const float *B, float *C, int n, float alpha, float beta)
{
    int row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = alpha * sum + beta * C[row * n + column];
}

/* 128 x 128 a block of 128: a warp has 64 x 64 as four of 32 x 32, a thread 8 x 4 of each. */
__global__ void __launch_bounds__(128) gemm_warps(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[16][128], Bs[16][128];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wr = warp / 2 * 64, wc = warp % 2 * 64,
        tr = lane / 8 * 8, tc = lane % 8 * 4;
    A += blockIdx.y * 128 * n, B += blockIdx.x * 128;
    float sum[2][8][2][4] = {}, l[2][8], r[2][4];
    for (int k = 0; k < n; k += 16) {
        for (int row = t / 4; row < 128; row += 32) {
            float4 v = *(const float4 *)&A[row * n + k + t % 4 * 4];
            As[t % 4 * 4][row] = v.x, As[t % 4 * 4 + 1][row] = v.y;
            As[t % 4 * 4 + 2][row] = v.z, As[t % 4 * 4 + 3][row] = v.w;
        }
        for (int row = t / 32; row < 16; row += 4)
            *(float4 *)&Bs[row][lane * 4] = *(const float4 *)&B[(k + row) * n + lane * 4];
        __syncthreads();
        for (int e = 0; e < 16; e++) {
#pragma unroll
            for (int p = 0; p < 2; p++) {
#pragma unroll
                for (int i = 0; i < 8; i++)
                    l[p][i] = As[e][wr + p * 32 + tr + i];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    r[p][j] = Bs[e][wc + p * 32 + tc + j];
            }
#pragma unroll
            for (int p = 0; p < 2; p++)
#pragma unroll
                for (int i = 0; i < 8; i++)
#pragma unroll
                    for (int q = 0; q < 2; q++)
#pragma unroll
                        for (int j = 0; j < 4; j++)
                            sum[p][i][q][j] += l[p][i] * r[q][j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int q = 0; q < 2; q++)
                *(float4 *)&C[(blockIdx.y * 128 + wr + p * 32 + tr + i) * n + blockIdx.x * 128 +
                              wc + q * 32 + tc] =
                    make_float4(sum[p][i][q][0], sum[p][i][q][1], sum[p][i][q][2], sum[p][i][q][3]);
}

/* Many rows, 16 columns; the narrow factor in shared memory. */
__global__ void gemm_tall(const float *A, const float *B, float *C, int depth)
{
    extern __shared__ float s[];
    for (int k = threadIdx.x; k < depth * 16; k += 256)
        s[k] = B[k];
    __syncthreads();
    int row = blockIdx.x * 16 + threadIdx.x / 16, column = threadIdx.x % 16;
    const float *from = A + (size_t)row * depth;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < depth; k++)
        sum += from[k] * s[k * 16 + column];
    C[row * 16 + column] = sum;
}

/* Small squares, a block each. */
__global__ void batched_16(const float *A, const float *B, float *C)
{
    __shared__ float x[16][17], z[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, at = blockIdx.x * 256 + ty * 16 + tx;
    x[ty][tx] = A[at], z[ty][tx] = B[at];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += x[ty][k] * z[k][tx];
    C[at] = sum;
}

/* Smaller ones, a thread each: vectors of a homogeneous transformation. */
__global__ void batched_4(const float4 *A, const float4 *B, float4 *C, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 r[4];
    for (int k = 0; k < 4; k++)
        r[k] = B[i * 4 + k];
    for (int k = 0; k < 4; k++) {
        float4 l = A[i * 4 + k];
        C[i * 4 + k] = make_float4(l.x * r[0].x + l.y * r[1].x + l.z * r[2].x + l.w * r[3].x,
                                   l.x * r[0].y + l.y * r[1].y + l.z * r[2].y + l.w * r[3].y,
                                   l.x * r[0].z + l.y * r[1].z + l.z * r[2].z + l.w * r[3].z,
                                   l.x * r[0].w + l.y * r[1].w + l.z * r[2].w + l.w * r[3].w);
    }
}

/* Bytes, four to a word: 64 x 64 a block of 256, 4 x 4 a thread; sums are made bytes again. */
__global__ void gemm_quarters(const int *A, const int *B, signed char *C, int n, float scale)
{
    __shared__ int As[8][65], Bs[8][65];
    int t = threadIdx.x, tr = t / 16 * 4, tc = t % 16 * 4, sum[4][4] = {};
    for (int k = 0; k < n / 4; k += 8) {
        for (int e = t; e < 512; e += 256) {
            As[e % 8][e / 8] = A[(blockIdx.y * 64 + e / 8) * (n / 4) + k + e % 8];
            Bs[e % 8][e / 8] = B[(blockIdx.x * 64 + e / 8) * (n / 4) + k + e % 8];
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 8; e++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] = __dp4a(As[e][tr + i], Bs[e][tc + j], sum[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            C[(blockIdx.y * 64 + tr + i) * n + blockIdx.x * 64 + tc + j] =
                (signed char)max(-127, min(127, __float2int_rn((float)sum[i][j] * scale)));
}

/* mma.sync on halves: 128 x 128 a block of eight warps, three stages of 32 in the background. */
__global__ void __launch_bounds__(256) gemm_mma(const __half *A, const __half *B, float *C, int n)
{
    extern __shared__ __half space[];
    const int stage = 128 * 40 + 32 * 136;
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wr = warp / 4 * 64, wc = warp % 4 * 32;
    A += (size_t)blockIdx.y * 128 * n, B += blockIdx.x * 128;
    auto fetch = [&](int k, __half *to) {
        for (int e = t; e < 512; e += 256) {
            __pipeline_memcpy_async(to + e / 4 * 40 + e % 4 * 8,
                                    A + (size_t)(e / 4) * n + k + e % 4 * 8, 16);
            __pipeline_memcpy_async(to + 128 * 40 + e / 16 * 136 + e % 16 * 8,
                                    B + (size_t)(k + e / 16) * n + e % 16 * 8, 16);
        }
    };
    float sum[4][4][4] = {};
    for (int k = 0; k < 2; k++)
        fetch(k * 32, space + k * stage), __pipeline_commit();
    for (int k = 0, at = 0; k < n; k += 32, at = at == 2 ? 0 : at + 1) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (k + 64 < n) fetch(k + 64, space + (at == 0 ? 2 : at - 1) * stage);
        __pipeline_commit();
        const __half *As = space + at * stage, *Bs = As + 128 * 40;
#pragma unroll
        for (int e = 0; e < 32; e += 16) {
            uint32_t x[4][4], z[4][2];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t from = (uint32_t)__cvta_generic_to_shared(
                    As + (wr + i * 16 + lane % 16) * 40 + e + lane / 16 * 8);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                             : "r"(from));
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t from =
                    (uint32_t)__cvta_generic_to_shared(Bs + (e + lane % 16) * 136 + wc + j * 8);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                             : "=r"(z[j][0]), "=r"(z[j][1])
                             : "r"(from));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]),
                                   "+f"(sum[i][j][3])
                                 : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]),
                                   "r"(z[j][0]), "r"(z[j][1]));
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float *to = C + (size_t)(blockIdx.y * 128 + wr + i * 16 + lane / 4) * n +
                        blockIdx.x * 128 + wc + j * 8 + lane % 4 * 2;
            *(float2 *)to = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)(to + 8 * (size_t)n) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}

static void gemm_mma_launch(int n)
{
    int bytes = 3 * (128 * 40 + 32 * 136) * 2;
    cudaFuncSetAttribute(gemm_mma, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    gemm_mma<<<dim3(n / 128, n / 128), 256, bytes>>>((__half *)a, (__half *)b, c, n);
}

/* Two columns of halves a thread. */
__global__ void gemm_pairs(const __half *A, const __half2 *B, __half2 *C, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 sum = __float2half2_rn(0);
    for (int k = 0; k < n; k++)
        sum = __hfma2(__half2half2(A[row * n + k]), B[k * n / 2 + column], sum);
    C[row * n / 2 + column] = sum;
}

/* A warp a row of halves, eight a lane at a time. */
__global__ void gemv_half(const uint4 *w, const float4 *x, float *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < n / 8; k += 32) {
        union {
            uint4 all;
            __half2 two[4];
        } v;
        v.all = w[(size_t)row * (n / 8) + k];
        float4 p = x[2 * k], q = x[2 * k + 1];
        float2 f0 = __half22float2(v.two[0]), f1 = __half22float2(v.two[1]),
               f2 = __half22float2(v.two[2]), f3 = __half22float2(v.two[3]);
        sum += f0.x * p.x + f0.y * p.y + f1.x * p.z + f1.y * p.w;
        sum += f2.x * q.x + f2.y * q.y + f3.x * q.z + f3.y * q.w;
    }
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

/* Two matrices times one vector, a thread a row. */
__global__ void gesummv(const float *A, const float *B, const float *x, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float left = 0, right = 0;
    for (int k = 0; k < n; k++)
        left += A[i * n + k] * x[k], right += B[i * n + k] * x[k];
    y[i] = 1.5f * left + 1.2f * right;
}

/* A matrix by its own rows; the sums lie in memory. */
__global__ void syrk(const float *A, float *C, int n, int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    C[i * n + j] *= 0.5f;
    for (int k = 0; k < m; k++)
        C[i * n + j] += 0.1f * A[i * m + k] * A[j * m + k];
}

/* A thread a column, all later columns one by one. */
__global__ void covariance(const float *x, float *y, int m, int n)
{
    GLOBAL_I;
    if (i >= m) return;
    for (int j = i; j < m; j++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += x[k * m + i] * x[k * m + j];
        y[i * m + j] = sum, y[j * m + i] = sum;
    }
}

/* A triangle of n, a right side a thread. */
__global__ void solve_lower(const float *L, const float *right, float *x, int n, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    for (int r = 0; r < n; r++) {
        float sum = right[r * count + i];
        for (int k = 0; k < r; k++)
            sum -= L[r * n + k] * x[k * count + i];
        x[r * count + i] = sum / (2.0f + L[r * n + r]);
    }
}

__global__ void outer_add(float *A, const float *x, const float *y, int width)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    A[(size_t)row * width + column] += 0.01f * x[row] * y[column];
}

static void products()
{
    E("gemm-any", "gemm-any-333", gemm_any<<<dim3(11, 11), 1024>>>(a, b, c, 333, 0.5f, 0.25f));
    E("gemm-warps", "gemm-warps-768", gemm_warps<<<dim3(6, 6), 128>>>(a, b, c, 768));
    E("gemm-tall", "gemm-tall", gemm_tall<<<1024, 256, 128 * 64>>>(a, b, c, 128));
    E("batched", "batched-16", batched_16<<<2500, dim3(16, 16)>>>(a, b, c));
    E("batched", "batched-4",
      batched_4<<<500, 192>>>((float4 *)a, (float4 *)b, (float4 *)c, 96000));
    E("gemm-quarters", "gemm-quarters-768",
      gemm_quarters<<<dim3(12, 12), 256>>>((int *)a, (int *)b, (signed char *)c, 768, 1e-4f));
    E("gemm-mma", "gemm-mma-1024", gemm_mma_launch(1024));
    E("gemm-mma", "gemm-mma-2048", gemm_mma_launch(2048));
    E("gemm-pairs", "gemm-pairs-384",
      gemm_pairs<<<dim3(6, 48), dim3(32, 8)>>>((__half *)a, (__half2 *)b, (__half2 *)c, 384));
    E("gemv-half", "gemv-half", gemv_half<<<1024, 128>>>((uint4 *)a, (float4 *)b, c, 4096));
    E("gesummv", "gesummv-1000", gesummv<<<8, 128>>>(a, b, b + 4 * MB, c, 1000));
    E("syrk", "syrk-200", syrk<<<dim3(7, 25), dim3(32, 8)>>>(a, c, 200, 200));
    E("covariance", "covariance", covariance<<<1, 192>>>(a, c, 192, 128));
    E("solve-lower", "solve-lower", solve_lower<<<32, 128>>>(a, b, c, 96, 4096));
    E("outer-add", "outer-add", outer_add<<<dim3(4, 1500), 256>>>(c, a, b, 1024));
}

/* ---- layers of convolutional networks -------------------------------------------------------- */

/* A long signal of many channels: nine taps, all channels. */
__global__ void conv_1d(const float *x, const float *w, float *y, int channels, int n)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    float sum = 0;
    for (int ch = 0; ch < channels; ch++)
        for (int r = 0; r < 9; r++) {
            int from = at + r - 4;
            if (from >= 0 && from < n) sum += x[ch * n + from] * w[(k * channels + ch) * 9 + r];
        }
    y[k * n + at] = sum;
}

/* Twice as large, by 4 x 4 weights: each output asks which inputs reach it. */
__global__ void conv_transposed(const float *x, const float *w, float *y, int channels, int n)
{
    int column = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y, k = blockIdx.y;
    float sum = 0;
    for (int ch = 0; ch < channels; ch++)
        for (int r = 0; r < 4; r++)
            for (int s = 0; s < 4; s++) {
                int p = row + 1 - r, q = column + 1 - s;
                if ((p | q) & 1) continue;
                p /= 2, q /= 2;
                if (p < 0 || q < 0 || p >= n || q >= n) continue;
                sum += x[(ch * n + p) * n + q] * w[((ch * gridDim.y + k) * 4 + r) * 4 + s];
            }
    y[(k * 2 * n + row) * 2 * n + column] = sum;
}

/* The slope of one 3 x 3 filter plane a block. */
__global__ void weight_slope(const float *x, const float *dy, float *dw, int pictures, int channels,
                             int n)
{
    __shared__ float part[4];
    int ch = blockIdx.x, k = blockIdx.y;
    float sum[9] = {};
    for (int e = threadIdx.x; e < pictures * n * n; e += 128) {
        int column = e % n, row = e / n % n, p = e / n / n;
        float slope = dy[((p * gridDim.y + k) * n + row) * n + column];
#pragma unroll
        for (int f = 0; f < 9; f++) {
            int i = row + f / 3 - 1, j = column + f % 3 - 1;
            if (i >= 0 && i < n && j >= 0 && j < n)
                sum[f] += slope * x[((p * channels + ch) * n + i) * n + j];
        }
    }
#pragma unroll
    for (int f = 0; f < 9; f++) {
        float all = warp_sum(sum[f]);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = all;
        __syncthreads();
        if (threadIdx.x == 0)
            dw[(k * channels + ch) * 9 + f] = part[0] + part[1] + part[2] + part[3];
        __syncthreads();
    }
}

/* Means of 7 x 7, a warp a plane. */
__global__ void mean_planes(const float *x, float *y, int n)
{
    int plane = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (plane >= n) return;
    float sum = x[plane * 49 + lane] + (lane < 17 ? x[plane * 49 + lane + 32] : 0);
    sum = warp_sum(sum);
    if (lane == 0) y[plane] = sum / 49;
}

/* 3 x 3 windows two apart, with the place of the largest. */
__global__ void pool_places(const float *x, float *y, int *place, int n, int m, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    int column = i % m, row = i / m % m, plane = i / m / m, at = 0;
    float most = -1e30f;
    for (int r = row * 2; r < min(row * 2 + 3, n); r++)
        for (int s = column * 2; s < min(column * 2 + 3, n); s++) {
            float v = x[(plane * n + r) * n + s];
            if (v > most) most = v, at = r * n + s;
        }
    y[i] = most, place[i] = at;
}

/* Tiles of 4 x 4, two apart, into Winograd's domain. */
__global__ void winograd_input(const float *x, float *y, int n, int tiles, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    int column = i % tiles * 2, row = i / tiles % tiles * 2, plane = i / tiles / tiles;
    float v[4][4], u[4][4];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int s = 0; s < 4; s++)
            v[r][s] = row + r < n && column + s < n ? x[(plane * n + row + r) * n + column + s] : 0;
#pragma unroll
    for (int s = 0; s < 4; s++)
        u[0][s] = v[0][s] - v[2][s], u[1][s] = v[1][s] + v[2][s], u[2][s] = v[2][s] - v[1][s],
        u[3][s] = v[1][s] - v[3][s];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        y[(r * 4 + 0) * count + i] = u[r][0] - u[r][2];
        y[(r * 4 + 1) * count + i] = u[r][1] + u[r][2];
        y[(r * 4 + 2) * count + i] = u[r][2] - u[r][1];
        y[(r * 4 + 3) * count + i] = u[r][1] - u[r][3];
    }
}

static void convolutions()
{
    E("conv-1d", "conv-1d", conv_1d<<<dim3(16, 32), 256>>>(a, b, c, 16, 4096));
    E("conv-transposed", "conv-transposed",
      conv_transposed<<<dim3(14, 32), dim3(56, 4)>>>(a, b, c, 16, 28));
    E("weight-slope", "weight-slope", weight_slope<<<dim3(32, 32), 128>>>(a, b, c, 4, 32, 14));
    E("mean-planes", "mean-planes", mean_planes<<<2048, 256>>>(a, c, 16384));
    E("pool-places", "pool-places",
      pool_places<<<784, 256>>>(a, c, (int *)(c + MB), 112, 56, 64 * 56 * 56));
    E("winograd", "winograd-input", winograd_input<<<196, 256>>>(a, c, 56, 28, 64 * 28 * 28));
}

/* ---- classic benchmarks ---------------------------------------------------------------------- */

/* A layer's first half: products of 16 inputs with 16 weights each, a tree down the column. */
__global__ void layer_forward(const float *x, float *w, float *part, int width)
{
    __shared__ float in[16], m[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, at = (blockIdx.y * 16 + ty + 1) * (width + 1) + tx + 1;
    if (tx == 0) in[ty] = x[blockIdx.y * 16 + ty + 1];
    __syncthreads();
    m[ty][tx] = w[at];
    __syncthreads();
    m[ty][tx] *= in[ty];
    __syncthreads();
    for (int k = 1; k <= 4; k++) {
        int step = 1 << k;
        if (ty % step == 0) m[ty][tx] += m[ty + step / 2][tx];
        __syncthreads();
    }
    w[at] = m[ty][tx];
    if (tx == 0) part[blockIdx.y * width + ty] = m[tx][ty];
}

/* Speckles: the four slopes and a coefficient of each pixel, by lists of neighbours. */
__global__ void speckle(const float *x, const int *side, float *y, float *slope, int n, float q0)
{
    GLOBAL_I;
    if (i >= n * n) return;
    int row = i % n, column = i / n;
    float own = fabsf(x[i]) + 0.5f, up = fabsf(x[side[row] + n * column]) + 0.5f - own,
          down = fabsf(x[side[n + row] + n * column]) + 0.5f - own,
          west = fabsf(x[row + n * side[column]]) + 0.5f - own,
          east = fabsf(x[row + n * side[n + column]]) + 0.5f - own;
    float g2 = (up * up + down * down + west * west + east * east) / (own * own),
          l = (up + down + west + east) / own, num = 0.5f * g2 - 1.0f / 16.0f * (l * l),
          den = 1 + 0.25f * l, q = num / (den * den);
    den = (q - q0) / (q0 * (1 + q0));
    float v = 1.0f / (1.0f + den);
    slope[i] = up, slope[n * n + i] = down, slope[2 * n * n + i] = west,
    slope[3 * n * n + i] = east;
    y[i] = v < 0 ? 0 : v > 1 ? 1 : v;
}

/* Heat of a chip of eight layers: a thread a column of it. */
__global__ void hotspot_3d(const float *power, const float *x, float *y, int n, int layers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
        at = i + j * n, plane = n * n;
    int west = i == 0 ? at : at - 1, east = i == n - 1 ? at : at + 1, north = j == 0 ? at : at - n,
        south = j == n - 1 ? at : at + n;
    float below = x[at], own = x[at], above = x[at + plane];
    for (int k = 0; k < layers; k++) {
        y[at] = 0.4f * own + 0.1f * (x[west] + x[east] + x[north] + x[south]) + 0.05f * below +
                0.1f * above + 0.02f * power[at] + 0.3f;
        at += plane, west += plane, east += plane, north += plane, south += plane;
        below = own, own = above;
        if (k < layers - 2) above = x[at + plane];
    }
}

/* Gas in cells: fluxes over four sides of five values each. */
__global__ void flux(const uint32_t *side, const float *normal, const float *v, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float rho = 1.0f + 0.1f * v[i], mx = v[n + i], my = v[2 * n + i], mz = v[3 * n + i],
          e = 3.0f + v[4 * n + i];
    float vx = mx / rho, vy = my / rho, vz = mz / rho, speed2 = vx * vx + vy * vy + vz * vz,
          p = 0.4f * (e - 0.5f * rho * speed2), sound = sqrtf(1.4f * fabsf(p) / rho);
    float f[5] = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int to = side[k * n + i] % n;
        float nx = normal[(k * 3) * n + i], ny = normal[(k * 3 + 1) * n + i],
              nz = normal[(k * 3 + 2) * n + i];
        float other = 1.0f + 0.1f * v[to], ox = v[n + to], oy = v[2 * n + to], oz = v[3 * n + to],
              oe = 3.0f + v[4 * n + to];
        float ux = ox / other, uy = oy / other, uz = oz / other, s2 = ux * ux + uy * uy + uz * uz,
              op = 0.4f * (oe - 0.5f * other * s2), os = sqrtf(1.4f * fabsf(op) / other);
        float factor =
            -sqrtf(nx * nx + ny * ny + nz * nz) * 0.1f * (sound + os + sqrtf(speed2) + sqrtf(s2));
        f[0] += factor * (rho - other) + 0.5f * (nx * (mx + ox) + ny * (my + oy) + nz * (mz + oz));
        f[1] += factor * (mx - ox) + 0.5f * nx * (p + op + vx * mx + ux * ox);
        f[2] += factor * (my - oy) + 0.5f * ny * (p + op + vy * my + uy * oy);
        f[3] += factor * (mz - oz) + 0.5f * nz * (p + op + vz * mz + uz * oz);
        f[4] += factor * (e - oe) + 0.5f * nx * ((e + p) * vx + (oe + op) * ux);
    }
#pragma unroll
    for (int k = 0; k < 5; k++)
        y[k * n + i] = f[k];
}

/* What a point gains by another centre: its coordinates lie by columns. */
__global__ void gain(const float *x, const float *cost, float *y, int n, int width, int centre)
{
    extern __shared__ float s[];
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        s[k] = x[k * n + centre];
    __syncthreads();
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < width; k++)
        sum += (x[k * n + i] - s[k]) * (x[k * n + i] - s[k]);
    y[i] = fminf(sum - fabsf(cost[i]), 0.0f);
}

/* Forces of particles in a box and its six neighbours: a block a box, 100 particles each. */
__global__ void boxes(const float4 *x, const float *charge, float4 *y, int across)
{
    __shared__ float4 own[100], other[100];
    __shared__ float q[100];
    const int step[7][3] = {{0, 0, 0},  {1, 0, 0}, {-1, 0, 0}, {0, 1, 0},
                            {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    int box = blockIdx.x, bx = box % across, by = box / across % across, bz = box / across / across,
        t = threadIdx.x;
    if (t < 100) own[t] = x[box * 100 + t];
    float4 f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 7; k++) {
        int nx = bx + step[k][0], ny = by + step[k][1], nz = bz + step[k][2];
        if (min(nx, min(ny, nz)) < 0 || max(nx, max(ny, nz)) >= across) continue;
        int next = (nz * across + ny) * across + nx;
        __syncthreads();
        if (t < 100) other[t] = x[next * 100 + t], q[t] = charge[next * 100 + t];
        __syncthreads();
        if (t < 100)
            for (int j = 0; j < 100; j++) {
                float r2 = own[t].w + other[j].w - own[t].x * other[j].x - own[t].y * other[j].y -
                           own[t].z * other[j].z,
                      v = expf(-0.5f * r2), fs = 2.0f * v, dx = own[t].x - other[j].x,
                      dy = own[t].y - other[j].y, dz = own[t].z - other[j].z;
                f.x += q[j] * fs * dx, f.y += q[j] * fs * dy, f.z += q[j] * fs * dz,
                    f.w += q[j] * v;
            }
    }
    if (t < 100) y[box * 100 + t] = f;
}

/* Resampling of particles: each looks through the sums from the beginning. */
__global__ void resample(const uint32_t *sums, const uint32_t *u, int *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t own = u[i];
    int at = -1;
    for (int k = 0; k < n; k++)
        if (sums[k] >= own) {
            at = k;
            break;
        }
    y[i] = at < 0 ? n - 1 : at;
}

/* Haar: 1024 elements a block of 512, ten levels. */
__global__ void wavelet(const float *x, float *y)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    const float *from = x + blockIdx.x * 1024;
    float *to = y + blockIdx.x * 1024;
    s[t] = from[t], s[t + 512] = from[t + 512];
    for (int n = 512; n > 0; n >>= 1) {
        __syncthreads();
        float p = 0, q = 0;
        if (t < n) p = s[2 * t], q = s[2 * t + 1];
        __syncthreads();
        if (t < n) s[t] = (p + q) * 0.70710678f, to[n + t] = (p - q) * 0.70710678f;
    }
    if (t == 0) to[0] = s[0];
}

/* Into which of 256 ranges each key falls, and how many keys each range has. */
__global__ void buckets(const uint32_t *x, const uint32_t *limit, uint32_t *y, uint32_t *count,
                        int n)
{
    __shared__ uint32_t s[256], found[256];
    s[threadIdx.x] = limit[threadIdx.x * 4096], found[threadIdx.x] = 0;
    __syncthreads();
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint32_t key = x[i];
        int low = 0, high = 255;
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (s[middle] <= key)
                low = middle;
            else
                high = middle - 1;
        }
        y[i] = (uint32_t)low << 24 | atomicAdd(&found[low], 1u);
    }
    __syncthreads();
    atomicAdd(&count[threadIdx.x], found[threadIdx.x]);
}

__constant__ float4 waves[512];

/* Magnetic resonance: a voxel's sum over all places in the other space. */
__global__ void resonance(const float *x, const float *y, const float *z, float2 *q, int count)
{
    GLOBAL_I;
    float px = x[i], py = y[i], pz = z[i], re = 0, im = 0;
    for (int k = 0; k < count; k++) {
        float4 w = waves[k];
        float angle = 6.2831853f * (w.x * px + w.y * py + w.z * pz);
        re += w.w * __cosf(angle), im += w.w * __sinf(angle);
    }
    q[i] = make_float2(re, im);
}

/* The potential of atoms on a plane of a lattice, with a cutoff. */
__global__ void potential(float *y, float step, float z, float cut, int count)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float px = step * column, py = step * row, sum = 0;
    for (int k = 0; k < count; k++) {
        float4 atom = waves[k];
        float dx = px - atom.x, dy = py - atom.y,
              r2 = dx * dx + dy * dy + (z - atom.z) * (z - atom.z);
        if (r2 < cut) {
            float s = 1.0f - r2 / cut;
            sum += atom.w * rsqrtf(r2) * s * s;
        }
    }
    y[row * gridDim.x * blockDim.x + column] += sum;
}

/* How far 4 x 4 bytes are from each of 64 places around them. */
__global__ void differences(const uint32_t *now, const uint32_t *before, unsigned short *y,
                            int pitch)
{
    __shared__ uint32_t s[4];
    int t = threadIdx.x, column = blockIdx.x, row = blockIdx.y * 4;
    if (t < 4) s[t] = now[(row + t) * pitch + column];
    __syncthreads();
    int dx = t % 8, dy = t / 8;
    unsigned sum = 0;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const uint32_t *from = before + (row + r + dy) * pitch + column + dx / 4;
        sum += __vsadu4(s[r], __funnelshift_r(from[0], from[1], dx % 4 * 8));
    }
    y[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + t] = (unsigned short)sum;
}

/* Angles between all pairs of points, counted by a search among limits. */
__global__ void angles(const float4 *x, const float4 *z, uint32_t *bins, int n)
{
    __shared__ uint32_t found[32];
    __shared__ float4 s[128];
    if (threadIdx.x < 32) found[threadIdx.x] = 0;
    GLOBAL_I;
    float4 own = x[i];
    for (int tile = 0; tile < n; tile += 128) {
        __syncthreads();
        s[threadIdx.x] = z[tile + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            float dot = own.x * s[k].x + own.y * s[k].y + own.z * s[k].z;
            int low = 0, high = 31;
            while (high > low + 1) {
                int middle = (low + high) / 2;
                if (dot >= 1.0f - (float)middle * 0.0625f)
                    high = middle;
                else
                    low = middle;
            }
            atomicAdd(&found[low], 1u);
        }
    }
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], found[threadIdx.x]);
}

/* Seven points in 3D, a thread walks down; what is above and below stays in registers. */
__global__ void seven_points(const float *x, float *y, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    size_t plane = (size_t)nx * ny, at = (size_t)j * nx + i;
    float below = x[at], own = x[at + plane];
    for (int k = 1; k < nz - 1; k++) {
        at += plane;
        float above = x[at + plane];
        y[at] =
            (above + below + x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx]) * 0.16f - own * 0.9f;
        below = own, own = above;
    }
}

/* All 27, a thread a point. */
__global__ void all_points(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
        k = blockIdx.z + 1;
    if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1) return;
    float sum[4] = {};
#pragma unroll
    for (int dz = -1; dz <= 1; dz++)
#pragma unroll
        for (int dy = -1; dy <= 1; dy++)
#pragma unroll
            for (int dx = -1; dx <= 1; dx++)
                sum[dx * dx + dy * dy + dz * dz] += x[((k + dz) * n + j + dy) * n + i + dx];
    y[(k * n + j) * n + i] = 0.4f * sum[0] + 0.06f * sum[1] + 0.015f * sum[2] + 0.0075f * sum[3];
}

/* A wave of light: one field by the slope of another. */
__global__ void light(const float *hz, float *ex, float *ey, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float own = hz[row * n + column];
    if (row > 0) ey[row * n + column] -= 0.5f * (own - hz[(row - 1) * n + column]);
    if (column > 0) ex[row * n + column] -= 0.5f * (own - hz[row * n + column - 1]);
}

/* Eleven points of 3D with weights, a thread walks down the slowest axis. */
__global__ void eleven_points(const float *x, float *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < 1 || k < 1 || j >= n - 1 || k >= n - 1) return;
    for (int i = 1; i < n - 1; i++) {
        const float *p = x + ((i - 1) * n + j) * n + k, *q = p + n * n, *r = q + n * n;
        y[(i * n + j) * n + k] = 2 * p[-n - 1] + 4 * r[-n - 1] + 5 * p[-n] + 7 * r[-n] -
                                 8 * p[n - 1] + 10 * r[n - 1] - 3 * q[-n] + 6 * q[0] - 9 * q[n] +
                                 2 * p[n + 1] + 4 * r[n + 1];
    }
}

static void classics()
{
    E("layer-forward", "layer-forward",
      layer_forward<<<dim3(1, 4096), dim3(16, 16)>>>(a, c, c + 8 * MB, 16));
    E("speckle", "speckle", speckle<<<900, 256>>>(a, columns, c, c + MB, 480, 0.05f));
    E("hotspot-3d", "hotspot-3d", hotspot_3d<<<dim3(8, 128), dim3(64, 4)>>>(b, a, c, 512, 8));
    E("flux", "flux", flux<<<506, 192>>>(keys, b, a, c, 97046));
    E("gain", "gain", gain<<<128, 512, 256>>>(a, b, c, 65536, 64, 17));
    E("boxes", "boxes", boxes<<<343, 128>>>((float4 *)a, b, (float4 *)c, 7));
    E("resample", "resample", resample<<<8, 128>>>(rising, keys, (int *)c, 1000));
    E("wavelet", "wavelet", wavelet<<<512, 512>>>(a, c));
    E("buckets", "buckets",
      buckets<<<264, 256>>>(keys, rising, (uint32_t *)c, zeros + 1024, 512 << 10));
    E("resonance", "resonance", resonance<<<128, 256>>>(a, b, b + MB, (float2 *)c, 512));
    E("potential", "potential",
      potential<<<dim3(16, 32), dim3(16, 8)>>>(c, 0.01f, 0.3f, 0.5f, 512));
    E("differences", "differences",
      differences<<<dim3(120, 68), 64>>>(keys, keys + MB, (unsigned short *)c, 160));
    E("angles", "angles", angles<<<16, 128>>>((float4 *)a, (float4 *)b, zeros + 2048, 2048));
    E("seven-points", "seven-points",
      seven_points<<<dim3(4, 32), dim3(32, 4)>>>(a, c, 128, 128, 64));
    E("all-points", "all-points", all_points<<<dim3(4, 16, 126), dim3(32, 8)>>>(a, c, 128));
    E("light", "light", light<<<dim3(32, 125), dim3(32, 8)>>>(a, c, c + MB, 1000));
    E("eleven-points", "eleven-points", eleven_points<<<dim3(3, 12), dim3(32, 8)>>>(a, c, 96));
}

/* ---- graphs, trees and tables ---------------------------------------------------------------- */

/* Rank of a page: a warp's quarter pulls over one vertex's neighbours. */
__global__ void page_rank(const int *row, const int *column, const float *rank, float *y, int n)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (v >= n) return;
    float sum = 0;
    for (int k = row[v] + lane; k < row[v + 1]; k += 8) {
        int u = column[k];
        sum += rank[u] / (float)(row[u + 1] - row[u]);
    }
    for (int o = 4; o > 0; o >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, o, 8);
    if (lane == 0) y[v] = 0.15f / (float)n + 0.85f * sum;
}

/* Triangles: common neighbours of the two ends of an edge, by merging. */
__global__ void triangles(const int *row, const int *column, const int *from, uint32_t *count,
                          int edges)
{
    GLOBAL_I;
    uint32_t found = 0;
    if (i < edges) {
        int u = from[i] & 16383, v = column[i], p = row[u], q = row[v], pe = row[u + 1],
            qe = row[v + 1];
        while (p < pe && q < qe) {
            int x = column[p], z = column[q];
            found += x == z, p += x <= z, q += z <= x;
        }
    }
    found = __reduce_add_sync(0xffffffff, found);
    if (threadIdx.x % 32 == 0 && found) atomicAdd(count, found);
}

/* Colours: who is greater than all its neighbours takes this one. */
__global__ void colour(const int *row, const int *column, const uint32_t *weight, int *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t own = weight[i];
    for (int k = row[i]; k < row[i + 1]; k++)
        if (weight[column[k]] > own) return;
    y[i] = 1;
}

/* A forest of 16 trees of depth 10, a thread a sample of 32 features. */
__global__ void forest(const float *x, const float2 *node, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int tree = 0; tree < 16; tree++) {
        int at = 0;
        for (int level = 0; level < 10; level++) {
            float2 one = node[tree * 1024 + at];
            int feature = __float_as_int(one.y) & 31;
            at = 2 * at + 1 + (x[i * 32 + feature] > one.x * 0.1f);
        }
        sum += node[tree * 1024 + (at & 1023)].x;
    }
    y[i] = sum;
}

/* Four questions to a filter of bits. */
__global__ void bloom(const uint32_t *x, const uint32_t *bits, unsigned char *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t h = x[i] * 2654435761u, step = x[i] * 2246822519u | 1;
    bool in = true;
    for (int k = 0; k < 4 && in; k++, h += step)
        in = bits[h >> 12] >> (h & 31) & 1;
    y[i] = in;
}

/* Where each key belongs among a million. */
__global__ void lower_bound(const uint32_t *x, const uint32_t *from, int *y, int n, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    uint32_t key = x[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (from[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    y[i] = low;
}

/* Seven diagonals of a matrix. */
__global__ void diagonals(const float *v, const float *x, float *y, int n, int width)
{
    const int offset[7] = {-width * width, -width, -1, 0, 1, width, width * width};
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 7; k++) {
        int column = i + offset[k];
        if (column >= 0 && column < n) sum += v[k * n + i] * x[column];
    }
    y[i] = sum;
}

static void tables()
{
    E("page-rank", "page-rank", page_rank<<<512, 256>>>(rows, columns, a, c, 16384));
    E("triangles", "triangles",
      triangles<<<384, 256>>>(rows, columns, (int *)keys, zeros + 4096, 98304));
    E("colour", "colour", colour<<<128, 128>>>(rows, columns, keys, (int *)c, 16384));
    E("forest", "forest", forest<<<250, 128>>>(a, (float2 *)b, c, 32000));
    E("bloom", "bloom", bloom<<<4096, 256>>>(keys, keys + MB, (unsigned char *)c, MB));
    E("lower-bound", "lower-bound", lower_bound<<<782, 256>>>(keys, rising, (int *)c, MB, 200000));
    E("diagonals", "diagonals", diagonals<<<1563, 160>>>(a, b, c, 250000, 63));
}

/* ---- integers, texts, random numbers --------------------------------------------------------- */

/* MD5 of one block of eight letters a thread. */
__global__ void md5(const uint2 *x, uint4 *y, const uint32_t *table)
{
    __shared__ uint32_t sine[64];
    if (threadIdx.x < 64) sine[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    GLOBAL_I;
    const int turn[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
    uint2 text = x[i];
    uint32_t m[16] = {text.x, text.y, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0};
    uint32_t p = 0x67452301, q = 0xefcdab89, r = 0x98badcfe, s = 0x10325476;
#pragma unroll
    for (int k = 0; k < 64; k++) {
        uint32_t f;
        int g;
        if (k < 16)
            f = (q & r) | (~q & s), g = k;
        else if (k < 32)
            f = (s & q) | (~s & r), g = (5 * k + 1) & 15;
        else if (k < 48)
            f = q ^ r ^ s, g = (3 * k + 5) & 15;
        else
            f = r ^ (q | ~s), g = (7 * k) & 15;
        f += p + sine[k] + m[g];
        p = s, s = r, r = q;
        q += __funnelshift_l(f, f, turn[k / 16 * 4 + k % 4]);
    }
    y[i] = make_uint4(p, q, r, s);
}

/* A cipher by four tables in shared memory, ten rounds. */
__global__ void cipher_tables(const uint4 *x, const uint32_t *table, uint4 *y, int n)
{
    __shared__ uint32_t t0[256], t1[256], t2[256], t3[256];
    uint32_t own = table[threadIdx.x];
    t0[threadIdx.x] = own, t1[threadIdx.x] = __funnelshift_l(own, own, 8);
    t2[threadIdx.x] = __funnelshift_l(own, own, 16),
    t3[threadIdx.x] = __funnelshift_l(own, own, 24);
    __syncthreads();
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint4 s = x[i];
        for (int round = 1; round <= 10; round++) {
            uint32_t k = round * 0x9e3779b9u;
            uint4 u;
            u.x = t0[s.x >> 24] ^ t1[s.y >> 16 & 255] ^ t2[s.z >> 8 & 255] ^ t3[s.w & 255] ^ k;
            u.y = t0[s.y >> 24] ^ t1[s.z >> 16 & 255] ^ t2[s.w >> 8 & 255] ^ t3[s.x & 255] ^ ~k;
            u.z = t0[s.z >> 24] ^ t1[s.w >> 16 & 255] ^ t2[s.x >> 8 & 255] ^ t3[s.y & 255] ^ k * 3;
            u.w = t0[s.w >> 24] ^ t1[s.x >> 16 & 255] ^ t2[s.y >> 8 & 255] ^ t3[s.z & 255] ^ k * 5;
            s = u;
        }
        y[i] = s;
    }
}

/* Which odd numbers are primes, by division. */
__global__ void primes(uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v = 2 * i + 3;
    bool prime = true;
    for (uint32_t k = 3; k * k <= v; k += 2)
        if (v % k == 0) {
            prime = false;
            break;
        }
    y[i] = prime;
}

/* Euclid. */
__global__ void divisor(const uint32_t *x, const uint32_t *z, uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t p = x[i], q = z[i];
    while (q) {
        uint32_t r = p % q;
        p = q, q = r;
    }
    y[i] = p;
}

/* Numbers of 256 bits: schoolbook products, the lower half. */
__global__ void product_256(const unsigned long long *x, const unsigned long long *z,
                            unsigned long long *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    unsigned long long p[4], q[4], r[4] = {};
#pragma unroll
    for (int k = 0; k < 4; k++)
        p[k] = x[k * n + i], q[k] = z[k * n + i];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned long long carry = 0;
#pragma unroll
        for (int k = 0; k + j < 4; k++) {
            unsigned long long low = p[k] * q[j], high = __umul64hi(p[k], q[j]);
            low += carry, high += low < carry;
            r[k + j] += low, high += r[k + j] < low;
            carry = high;
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[k * n + i] = r[k];
}

/* How many letters must change: words of 24 bytes, a row of the table in local memory. */
__global__ void levenshtein(const unsigned char *x, const unsigned char *z, int *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    unsigned char row[25];
    for (int k = 0; k <= 24; k++)
        row[k] = (unsigned char)k;
    for (int j = 0; j < 24; j++) {
        int before = row[0], letter = z[j * n + i] & 3;
        row[0] = (unsigned char)(j + 1);
        for (int k = 0; k < 24; k++) {
            int up = row[k + 1], cost = before + ((x[k * n + i] & 3) != letter);
            row[k + 1] = (unsigned char)min(cost, min(up, (int)row[k]) + 1);
            before = up;
        }
    }
    y[i] = row[24];
}

/* Queens on a board of ten: the first two rows by the thread, the others by its own stack. */
__global__ void queens(uint32_t *y, int n)
{
    GLOBAL_I;
    uint32_t all = (1u << n) - 1, found = 0;
    if (i < n * n) {
        uint32_t column[12], left[12], right[12], free[12], one = 1u << i % n, two = 1u << i / n;
        int at = 0;
        column[0] = one | two, left[0] = (one << 1 | two) << 1, right[0] = (one >> 1 | two) >> 1;
        free[0] = all & ~(column[0] | left[0] | right[0]);
        if (two & (one | one << 1 | one >> 1)) at = -1;
        while (at >= 0) {
            uint32_t bit = free[at] & -free[at];
            if (!bit) {
                at--;
                continue;
            }
            free[at] ^= bit;
            if (at == n - 3) {
                found++;
                continue;
            }
            column[at + 1] = column[at] | bit, left[at + 1] = (left[at] | bit) << 1,
                        right[at + 1] = (right[at] | bit) >> 1, at++;
            free[at] = all & ~(column[at] | left[at] | right[at]);
        }
        y[i] = found;
    }
}

/* Words in a text: where a letter follows none. */
__global__ void words(const unsigned char *x, uint32_t *y, int n)
{
    __shared__ uint32_t total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    GLOBAL_I;
    bool letter = i < n && (x[i] & 7), before = i > 0 && i < n && (x[i - 1] & 7);
    int found = __syncthreads_count(letter && !before);
    if (threadIdx.x == 0) total = found, atomicAdd(y, total);
}

/* Life on a board of bits, 32 cells a word. */
__global__ void life_bits(const uint32_t *x, uint32_t *y, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    uint32_t ones = 0, twos = 0, fours = 0, own = 0;
#pragma unroll
    for (int r = -1; r <= 1; r++) {
        const uint32_t *line = x + (row + r + height) % height * width;
        uint32_t middle = line[column], west = line[(column + width - 1) % width],
                 east = line[(column + 1) % width], shifted[3];
        shifted[0] = middle << 1 | west >> 31, shifted[1] = middle,
        shifted[2] = middle >> 1 | east << 31;
        if (r == 0) own = middle;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            if (r == 0 && k == 1) continue;
            uint32_t carry = ones & shifted[k];
            ones ^= shifted[k], fours |= twos & carry, twos ^= carry;
        }
    }
    y[row * width + column] = twos & ~fours & (ones | own);
}

/* A generator with five words of state each, as simulations keep it. */
__global__ void random_states(uint32_t *state, float *y, int n, int turns)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v[5], count = 0;
#pragma unroll
    for (int k = 0; k < 5; k++)
        v[k] = state[i * 5 + k] | 1;
    float sum = 0;
    for (int turn = 0; turn < turns; turn++) {
        uint32_t t = v[0] ^ v[0] >> 2;
        v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
        v[4] = v[4] ^ v[4] << 4 ^ (t ^ t << 1), count += 362437;
        sum += (float)(v[4] + count) * 2.3283064e-10f;
    }
#pragma unroll
    for (int k = 0; k < 5; k++)
        state[i * 5 + k] = v[k];
    y[i] = sum;
}

static void integers()
{
    E("md5", "md5", md5<<<512, 128>>>((uint2 *)keys, (uint4 *)c, rising));
    E("cipher-tables", "cipher-tables",
      cipher_tables<<<264, 256>>>((uint4 *)keys, keys, (uint4 *)c, 128 << 10));
    E("primes", "primes", primes<<<196, 256>>>((uint32_t *)c, 50000));
    E("divisor", "divisor", divisor<<<512, 256>>>(keys, keys + MB, (uint32_t *)c, 128 << 10));
    E("product-256", "product-256",
      product_256<<<1024, 128>>>((unsigned long long *)keys, (unsigned long long *)keys + MB,
                                 (unsigned long long *)c, 128 << 10));
    E("levenshtein", "levenshtein",
      levenshtein<<<160, 128>>>((unsigned char *)keys, (unsigned char *)(keys + MB), (int *)c,
                                20480));
    E("queens", "queens-10", queens<<<4, 32>>>((uint32_t *)c, 10));
    E("words", "words", words<<<2048, 512>>>((unsigned char *)keys, zeros + 8192, MB));
    E("life-bits", "life-bits", life_bits<<<dim3(1, 4096), 128>>>(keys, (uint32_t *)c, 128, 4096));
    E("random-states", "random-states",
      random_states<<<256, 256>>>((uint32_t *)c + 8 * MB, c, 65536, 100));
}

/* ---- pictures, small systems, sums ----------------------------------------------------------- */

/* Three bytes a pixel to luminance and two colours by planes. */
__global__ void planes(const uchar3 *x, unsigned char *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uchar3 p = x[i];
    int r = p.x, g = p.y, bl = p.z;
    y[i] = (unsigned char)((66 * r + 129 * g + 25 * bl + 128) / 256 + 16);
    y[n + i] = (unsigned char)((-38 * r - 74 * g + 112 * bl + 128) / 256 + 128);
    y[2 * n + i] = (unsigned char)((112 * r - 94 * g - 18 * bl + 128) / 256 + 128);
}

/* Turned by an angle, by the four nearest. */
__global__ void rotate(const float *x, float *y, int n, float co, float si)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (column - n / 2) * co - (row - n / 2) * si + n / 2,
          v = (column - n / 2) * si + (row - n / 2) * co + n / 2, fu = floorf(u), fv = floorf(v);
    int i = (int)fv, j = (int)fu;
    float sum = 0;
    u -= fu, v -= fv;
    if (i >= 0 && j >= 0 && i < n - 1 && j < n - 1)
        sum = (1 - v) * ((1 - u) * x[i * n + j] + u * x[i * n + j + 1]) +
              v * ((1 - u) * x[(i + 1) * n + j] + u * x[(i + 1) * n + j + 1]);
    y[row * n + column] = sum;
}

/* 8 x 8 cosines, eight of them a block. */
__global__ void cosines(const float *x, float *y, int n)
{
    __shared__ float s[8][8][9], table[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int at = (blockIdx.y * 8 + ty) * n + (blockIdx.x * 8 + tz) * 8 + tx;
    if (tz == 0)
        table[ty][tx] = (ty ? 0.5f : 0.35355339f) * __cosf((2 * tx + 1) * ty * 0.19634954f);
    s[tz][ty][tx] = x[at];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += table[ty][k] * s[tz][k][tx];
    __syncthreads();
    s[tz][ty][tx] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += s[tz][ty][k] * table[tx][k];
    y[at] = sum;
}

/* The least of 7 x 7 bytes, along the row and then along the column. */
__global__ void erode(const unsigned char *x, unsigned char *y, int n)
{
    __shared__ unsigned char s[22][40], r[22][32];
    for (int k = threadIdx.y; k < 22; k += 16)
        for (int j = threadIdx.x; j < 38; j += 32)
            s[k][j] = x[min(max((int)blockIdx.y * 16 + k - 3, 0), n - 1) * n +
                        min(max((int)blockIdx.x * 32 + j - 3, 0), n - 1)];
    __syncthreads();
    for (int k = threadIdx.y; k < 22; k += 16) {
        int least = 255;
        for (int j = 0; j < 7; j++)
            least = min(least, (int)s[k][threadIdx.x + j]);
        r[k][threadIdx.x] = (unsigned char)least;
    }
    __syncthreads();
    int least = 255;
    for (int k = 0; k < 7; k++)
        least = min(least, (int)r[threadIdx.y + k][threadIdx.x]);
    y[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x] = (unsigned char)least;
}

/* A fractal solid: steps along a ray by the distance that is free. */
__global__ void march(uchar4 *image, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float dx = (column - n / 2) * (1.4f / n), dy = (row - n / 2) * (1.4f / n), dz = 1.0f,
          scale = rsqrtf(dx * dx + dy * dy + dz * dz), at = 0;
    dx *= scale, dy *= scale, dz *= scale;
    int step = 0;
    for (; step < 48 && at < 6.0f; step++) {
        float x = dx * at, y = dy * at, z = dz * at - 3.0f;
        float ball = sqrtf(x * x + y * y + z * z) - 1.0f,
              waves_of = 0.1f * __sinf(8 * x) * __sinf(8 * y) * __sinf(8 * z);
        float free = ball + waves_of;
        if (free < 0.002f) break;
        at += 0.7f * free;
    }
    unsigned char shade = (unsigned char)(255 - step * 5);
    image[row * n + column] = make_uchar4(shade, shade, (unsigned char)(at * 40), 255);
}

/* Julia's set in doubles. */
__global__ void julia(unsigned char *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
        k = 0;
    double p = 3.0 * column / n - 1.5, q = 3.0 * row / n - 1.5;
    for (; k < 100 && p * p + q * q < 4; k++) {
        double next = p * p - q * q - 0.8;
        q = 2 * p * q + 0.156, p = next;
    }
    y[row * n + column] = (unsigned char)k;
}

/* The eight nearest of 1024 points, kept in order. */
__global__ void nearest_eight(const float4 *x, const float4 *z, int *y, int n)
{
    GLOBAL_I;
    float4 own = x[i];
    float best[8];
    int at[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        best[k] = 1e30f, at[k] = -1;
    for (int j = 0; j < n; j++) {
        float4 p = z[j];
        float dx = p.x - own.x, dy = p.y - own.y, dz = p.z - own.z, r = dx * dx + dy * dy + dz * dz;
        if (r >= best[7]) continue;
        best[7] = r, at[7] = j;
#pragma unroll
        for (int k = 7; k > 0; k--)
            if (best[k] < best[k - 1]) {
                float f = best[k];
                int m = at[k];
                best[k] = best[k - 1], at[k] = at[k - 1], best[k - 1] = f, at[k - 1] = m;
            }
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        y[k * gridDim.x * blockDim.x + i] = at[k];
}

/* Three diagonals by cyclic reduction: a block a system of 256. */
__global__ void cyclic(const float *right, float *y)
{
    __shared__ float lo[256], di[256], up[256], r[256];
    int t = threadIdx.x;
    lo[t] = t ? -1 : 0, di[t] = 4, up[t] = t < 255 ? -1 : 0, r[t] = right[blockIdx.x * 256 + t];
    for (int s = 1; s < 256; s *= 2) {
        __syncthreads();
        int p = max(t - s, 0), q = min(t + s, 255);
        float k1 = t >= s ? lo[t] / di[p] : 0, k2 = t + s < 256 ? up[t] / di[q] : 0;
        float nl = -lo[p] * k1, nd = di[t] - up[p] * k1 - lo[q] * k2, nu = -up[q] * k2,
              nr = r[t] - r[p] * k1 - r[q] * k2;
        __syncthreads();
        lo[t] = nl, di[t] = nd, up[t] = nu, r[t] = nr;
    }
    y[blockIdx.x * 256 + t] = r[t] / di[t];
}

/* A symmetric matrix of 32 into a triangle and its mirror, a warp each. */
__global__ void cholesky(const float *x, float *y)
{
    __shared__ float s[32][33];
    int t = threadIdx.x;
    for (int k = 0; k < 32; k++)
        s[k][t] = x[blockIdx.x * 1024 + k * 32 + t] * 0.1f + (k == t ? 8.0f : 0.0f);
    __syncwarp();
    for (int k = 0; k < 32; k++) {
        float root = sqrtf(s[k][k]);
        __syncwarp();
        if (t >= k) s[t][k] /= root;
        __syncwarp();
        for (int j = k + 1; j <= t; j++)
            s[t][j] -= s[t][k] * s[j][k];
        __syncwarp();
    }
    for (int k = 0; k < 32; k++)
        y[blockIdx.x * 1024 + k * 32 + t] = t <= k ? s[k][t] : 0;
}

/* A filter with memory, a thread a channel. */
__global__ void recursive_filter(const float *x, float *y, int channels, int n)
{
    GLOBAL_I;
    if (i >= channels) return;
    float p = 0, q = 0;
    for (int k = 0; k < n; k++) {
        float in = x[(size_t)k * channels + i], out = 0.2f * in + 1.2f * p - 0.5f * q;
        y[(size_t)k * channels + i] = out, q = p, p = out;
    }
}

/* The last block to come adds up what all left. */
__global__ void sum_last(const float *x, volatile float *part, float *y, uint32_t *come, int n)
{
    __shared__ float s[8];
    __shared__ bool last;
    float sum = 0;
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    for (int turn = 0; turn < 2; turn++) {
        sum = warp_sum(sum);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x < 32) sum = warp_sum(threadIdx.x < 8 ? s[threadIdx.x] : 0);
        if (turn == 1) break;
        if (threadIdx.x == 0) {
            part[blockIdx.x] = sum;
            __threadfence();
            last = atomicInc(come, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!last) return;
        sum = 0;
        for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x)
            sum += part[k];
    }
    if (threadIdx.x == 0) *y = sum;
}

/* Twice 33 columns: a tile turned with all its elements in one bank, and without. */
template <int PAD> __global__ void turn_tile(const float *x, float *y, int width, int height)
{
    __shared__ float s[32][32 + PAD];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        s[threadIdx.y + k][threadIdx.x] = x[(row + k) * width + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        y[(row + k) * height + column] = s[threadIdx.x][threadIdx.y + k];
}

/* Sums of segments that flags begin, by a warp's scan. */
__global__ void segments(const float *x, const uint32_t *flag, float *y, int n)
{
    GLOBAL_I;
    int lane = threadIdx.x % 32;
    float v = x[i];
    bool head = lane == 0 || flag[i] % 8 == 0;
    for (int o = 1; o < 32; o *= 2) {
        float left = __shfl_up_sync(0xffffffff, v, o);
        bool other = __shfl_up_sync(0xffffffff, head, o);
        if (lane >= o && !head) v += left, head = other;
    }
    y[i] = v;
}

/* One block, a hundred rounds of ten words in turn. */
__global__ void rounds(uint32_t *y, int turns)
{
    __shared__ uint32_t s[640];
    s[threadIdx.x] = threadIdx.x;
    for (int k = 0; k < turns; k++) {
        __syncthreads();
        uint32_t v = s[(threadIdx.x + 1) % 640] * 3 + k;
        __syncthreads();
        s[threadIdx.x] ^= v;
    }
    y[threadIdx.x] = s[threadIdx.x];
}

/* Arrays of structs of three to three arrays. */
__global__ void unzip(const float3 *x, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float3 v = x[i];
    y[i] = v.x, y[n + i] = v.y, y[2 * n + i] = v.z;
}

static void rest()
{
    E("planes", "planes", planes<<<3600, 256>>>((uchar3 *)keys, (unsigned char *)c, 1280 * 720));
    E("rotate", "rotate", rotate<<<dim3(64, 64), dim3(16, 16)>>>(a, c, 1024, 0.866f, 0.5f));
    E("cosines", "cosines", cosines<<<dim3(16, 128), dim3(8, 8, 8)>>>(a, c, 1024));
    E("erode", "erode",
      erode<<<dim3(32, 64), dim3(32, 16)>>>((unsigned char *)keys, (unsigned char *)c, 1024));
    E("march", "march", march<<<dim3(32, 64), dim3(16, 8)>>>((uchar4 *)c, 512));
    E("julia", "julia", julia<<<dim3(24, 24), dim3(16, 16)>>>((unsigned char *)c, 384));
    E("nearest-eight", "nearest-eight",
      nearest_eight<<<64, 128>>>((float4 *)a, (float4 *)b, (int *)c, 1024));
    E("cyclic", "cyclic", cyclic<<<1024, 256>>>(a, c));
    E("cholesky", "cholesky", cholesky<<<600, 32>>>(a, c));
    E("recursive", "recursive-filter", recursive_filter<<<16, 64>>>(a, c, 1024, 500));
    E("sum-last", "sum-last", sum_last<<<200, 256>>>(a, c, c + MB, zeros + 16384, 3000000));
    E("turn-tile", "turn-tile-0", turn_tile<0><<<dim3(48, 32), dim3(32, 8)>>>(a, c, 1536, 1024));
    E("turn-tile", "turn-tile-1", turn_tile<1><<<dim3(48, 32), dim3(32, 8)>>>(a, c, 1536, 1024));
    E("segments", "segments", segments<<<2048, 256>>>(a, keys, c, 512 << 10));
    E("rounds", "rounds", rounds<<<1, 640>>>((uint32_t *)c, 100));
    E("unzip", "unzip", unzip<<<2344, 256>>>((float3 *)a, c, 600000));
}

/* ---- data ------------------------------------------------------------------------------------ */

static void integers_make()
{
    std::vector<uint32_t> value(4 * MB);
    uint32_t s = 99991;
    for (uint32_t &v : value)
        v = (s ^= s << 13, s ^= s >> 17, s ^= s << 5);
    keys = copy_of(value);
    value.resize(MB);
    std::sort(value.begin(), value.end());
    rising = copy_of(value);
    cudaMalloc(&zeros, MB * sizeof *zeros);
    cudaMemset(zeros, 0, MB * sizeof *zeros);
    cudaMalloc(&d, 4 * MB * sizeof *d);
    cudaMemset(d, 0, 4 * MB * sizeof *d);
}

/* 16384 vertices with 3 to 11 neighbours each, in order. */
static void graph_make()
{
    std::vector<int> row(16385), column(12 * 16384);
    uint32_t s = 815;
    for (int i = 0; i < 16384; i++) {
        s = s * 1664525u + 1013904223u;
        row[i + 1] = row[i] + 3 + (int)(s >> 16) % 9;
        for (int k = row[i]; k < row[i + 1]; k++) {
            s = s * 1664525u + 1013904223u;
            column[k] = (int)(s >> 18);
        }
        std::sort(column.begin() + row[i], column.begin() + row[i + 1]);
    }
    rows = copy_of(row), columns = copy_of(column);
}

static void constants_make()
{
    float4 wave[512];
    for (int k = 0; k < 512; k++)
        wave[k] = make_float4((float)(k * 37 % 101) * 0.02f, (float)(k * 53 % 97) * 0.02f,
                              (float)(k * 29 % 89) * 0.02f, 0.5f + (float)(k % 7) * 0.1f);
    cudaMemcpyToSymbol(waves, wave, sizeof wave);
}

__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    ENTER(HELD_OUT, "empty", "empty", empty_kernel<<<1, 32>>>());
    a = array_make(16 * MB), b = array_make(16 * MB), c = array_make(16 * MB);
    integers_make();
    graph_make();
    constants_make();
    transformer();
    products();
    convolutions();
    classics();
    tables();
    integers();
    rest();
    return measure_close();
}
