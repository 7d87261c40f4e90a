/* single-instructions.cu - single instructions that no other launch has alone: the latency in a
 * chain of one warp, and the throughput of an SM.
 *
 * The model may be corrected from these launches. Some show effects that it does not have yet. */
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "common/simulator/validation/sets/entries.cuh"

static float *source, *target; /* 16 M and 32 M floats */
static uint32_t *table;        /* 4 M, of zeros */

enum Form {
    MATCH,
    BALLOT,
    LOP,
    MAD,
    DADD,
    DDIV,
    DSQRT,
    FDIV,
    SINCOSPI,
    HALVES,
    BYTES,
    REMAINDER,
    SHUFFLE_SCAN,
    SHARED_STORE,
    SHARED_BYTES,
    SYNCWARP,
    BARRIER,
    DIVERGE,
    SELECT,
    HALF_ADD,
    BRANCH,
    EITHER,
    FOUR_WAYS,
    TRIPS,
    LEAVE,
    DADD_ONLY,
    FRCP,
    FSQRT,
    TO_INT,
    TO_DOUBLE,
    SHIFT_WIDE,
};

/* Each step needs the one before it. */
template <int FORM>
__global__ void form_kernel(float *__restrict__ y, uint32_t mask, float a, double e, int steps)
{
    __shared__ volatile uint32_t s[1024];
    __shared__ volatile unsigned char few[1024];
    uint32_t u = threadIdx.x * 77u + 5u, t = threadIdx.x, lane = t % 32;
    float p = (float)t * 0.01f + 1.5f, q = a;
    double r = (double)t * 0.01 + 1.5;
    __half h = __float2half(p), g = __float2half(a);
    unsigned long long wide = u;
    if (FORM == BRANCH) u = 5;
    if (FORM == LEAVE) u = lane;
    s[t] = u, few[t] = (unsigned char)u;
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < steps; i++) {
        if (FORM == MATCH) u = __match_any_sync(0xffffffffu, u & mask) + u;
        if (FORM == BALLOT) u += __popc(__ballot_sync(0xffffffffu, u & mask) & (1u << lane) - 1);
        if (FORM == LOP) u = (u << 4 ^ u >> 5) + u ^ mask;
        if (FORM == MAD) u = u * mask + 12345u;
        if (FORM == DADD) r = r * e + 0.25;
        if (FORM == DDIV) r = e / r + 1.0;
        if (FORM == DSQRT) r = sqrt(r) + e;
        if (FORM == FDIV) p = q / p + 1.0f;
        if (FORM == SINCOSPI) {
            float si, co;
            sincospif(p, &si, &co);
            p = si * q + co;
        }
        if (FORM == HALVES) p = __half2float(__float2half(p * q)) + 1.0f;
        if (FORM == BYTES) u = __byte_perm(u, mask, 0x3120) + (u & 0xff);
        if (FORM == REMAINDER) u = u % (mask + 8) + 77u * u;
        if (FORM == SHUFFLE_SCAN) {
            uint32_t left = __shfl_up_sync(0xffffffffu, u, 1 << (i & 3));
            if (lane >= 1 << (i & 3)) u += left;
        }
        if (FORM == SHARED_STORE) s[t] = u, u = s[t ^ 1] + 1;
        if (FORM == SHARED_BYTES) few[t] = (unsigned char)u, u = few[t ^ 1] + 1;
        if (FORM == SYNCWARP) {
            s[t] = u;
            __syncwarp();
            u = s[t ^ 1] + 1;
            __syncwarp();
        }
        if (FORM == BARRIER) {
            s[t] = u;
            __syncthreads();
            u = s[t ^ 1] + 1;
            __syncthreads();
        }
        if (FORM == DIVERGE) {
            if (u & 1 << lane % 4)
                for (uint32_t k = 0; k < (lane & 3); k++)
                    p = p * q + 1.0f;
            u = u * 5u + 1u;
        }
        if (FORM == SELECT) p = p > q ? p * 0.5f : p + q;
        if (FORM == HALF_ADD) h = __hadd(h, g);
        if (FORM == BRANCH) { /* all lanes the same way, now this, now that */
            if (u & 1)
                p = p * q + 1.0f, few[t] = 1;
            else
                p = p * q + 2.0f, s[t] = 1;
            u = u * 5u + 2u * mask + 1u;
        }
        if (FORM == EITHER) { /* half of the lanes each */
            if (u + lane & 1)
                p = p * q + 1.0f, few[t] = 1;
            else
                p = p * q + 2.0f, s[t] = 1;
            u += 2;
        }
        if (FORM == FOUR_WAYS) switch (lane & 3) {
            case 0:
                s[t] = 1, p = p * q + 1.0f;
                break;
            case 1:
                few[t] = 1, p = p * q + 2.0f;
                break;
            case 2:
                s[t ^ 1] = 2, p = p + q;
                break;
            default:
                few[t ^ 1] = 3, p = p - q;
            }
        if (FORM == TRIPS) /* each lane as often as it says, 1 to 4 times */
#pragma unroll 1
            for (uint32_t k = 0; k <= (lane & 3); k++)
                p = p * q + 1.0f;
        if (FORM == LEAVE) { /* each lane leaves somewhere else, 1 to 4 iterations */
            uint32_t k = u;
#pragma unroll 1
            while (true) {
                p = p * q + 1.0f;
                if ((k & 3) == 3) break;
                k++;
            }
            u += 4;
        }
        if (FORM == DADD_ONLY) r = r + e;
        if (FORM == FRCP) p = __frcp_rn(p) + q;
        if (FORM == FSQRT) p = __fsqrt_rn(p) + q;
        if (FORM == TO_INT) p = (float)__float2int_rn(p) + q;
        if (FORM == TO_DOUBLE) r = (double)(float)r + e;
        if (FORM == SHIFT_WIDE) wide = (wide << 5 ^ wide >> 7) + mask;
    }
    y[blockIdx.x * blockDim.x + t] = p + (float)u + (float)r + __half2float(h) + (float)wide;
}

template <int FORM> static void form(const char *alone, const char *full)
{
    static bool wide;
    wide = false;
    auto launch = [](void *) {
        if (wide)
            form_kernel<FORM><<<SMS * 8, 256>>>(target, 0x1fu, 0.5f, 0.75, 64);
        else
            form_kernel<FORM><<<1, 32>>>(target, 0x1fu, 0.5f, 0.75, 512);
    };
    measure_entry(FIT, "latency", alone, launch, 0);
    wide = true;
    measure_entry(FIT, "throughput", full, launch, 0);
}

static void forms()
{
#define FORM(kind, name) form<kind>(name "-alone", name "-full")
    FORM(MATCH, "match");
    FORM(BALLOT, "ballot");
    FORM(LOP, "lop");
    FORM(MAD, "mad");
    FORM(DADD, "double-fma");
    FORM(DDIV, "double-div");
    FORM(DSQRT, "double-sqrt");
    FORM(FDIV, "float-div");
    FORM(SINCOSPI, "sincospi");
    FORM(HALVES, "halves");
    FORM(BYTES, "bytes");
    FORM(REMAINDER, "remainder");
    FORM(SHUFFLE_SCAN, "shuffle-scan");
    FORM(SHARED_STORE, "shared-store");
    FORM(SHARED_BYTES, "shared-bytes");
    FORM(SYNCWARP, "syncwarp");
    FORM(BARRIER, "barrier");
    FORM(DIVERGE, "diverge");
    FORM(SELECT, "select");
    FORM(HALF_ADD, "half-add");
    FORM(BRANCH, "branch");
    FORM(EITHER, "either");
    FORM(FOUR_WAYS, "four-ways");
    FORM(TRIPS, "trips-1-4");
    FORM(LEAVE, "leave");
    FORM(DADD_ONLY, "double-add");
    FORM(FRCP, "float-rcp");
    FORM(FSQRT, "float-sqrt");
    FORM(TO_INT, "to-int");
    FORM(TO_DOUBLE, "to-double");
    FORM(SHIFT_WIDE, "shift-wide");
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A thread's, a warp's or a block's own walk through memory, nothing needs what was loaded before.
 */
__global__ void stream_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[(size_t)blockIdx.x * n + i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* The same, and the loaded value decides whether the loop continues. */
__global__ void stream_until_kernel(const float *__restrict__ x, float *__restrict__ y, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[(size_t)blockIdx.x * n + i];
        if (v > 2.0f) break;
        sum += v;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

enum Change { CAS, EXCH, ADD, MIN, ADD_FLOAT, CAS_LOOP };

/* One atomic per lane on any of `words` words; `wait`: its result is used. */
template <int CHANGE, bool WAIT>
__global__ void change_kernel(uint32_t *__restrict__ x, float *__restrict__ y, uint32_t words)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, got = 0,
             at = (i * 2654435761u >> 4) % words;
    if (CHANGE == CAS) got = atomicCAS(&x[at], 0u, 0u);
    if (CHANGE == EXCH) got = atomicExch(&x[at], 0u);
    if (CHANGE == ADD) got = atomicAdd(&x[at], 0u);
    if (CHANGE == MIN) got = atomicMin(&x[at], i | 1u << 31);
    if (CHANGE == ADD_FLOAT) got = __float_as_uint(atomicAdd((float *)&x[at], 0.0f));
    if (CHANGE == CAS_LOOP)
        for (int k = 0; k < 4; k++)
            if (atomicCAS(&x[(at + k) % words], 1u, 2u) == 1u) break;
    if (WAIT || CHANGE == CAS_LOOP) y[i] = (float)got;
}

__global__ void grid_kernel(float *y, int turns)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int i = 0; i < turns; i++)
        grid.sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

static void grid_launch(int blocks, int threads, int turns)
{
    void *arguments[] = {&target, &turns};
    cudaLaunchCooperativeKernel((const void *)grid_kernel, blocks, threads, arguments, 0, 0);
}

/* Copies in the background: each step waits for its own, or for the one before. */
template <int AHEAD>
__global__ void copies_kernel(const float4 *__restrict__ x, float4 *__restrict__ y, int turns)
{
    __shared__ float4 s[AHEAD + 1][256];
    float sum = 0;
    const float4 *from = x + (size_t)blockIdx.x * turns * 256 + threadIdx.x;
    for (int k = 0; k < AHEAD; k++) {
        __pipeline_memcpy_async(&s[k][threadIdx.x], from + k * 256, 16);
        __pipeline_commit();
    }
    for (int k = 0; k < turns; k++) {
        if (k + AHEAD < turns)
            __pipeline_memcpy_async(&s[(k + AHEAD) % (AHEAD + 1)][threadIdx.x],
                                    from + (k + AHEAD) * 256, 16);
        __pipeline_commit();
        __pipeline_wait_prior(AHEAD);
        __syncthreads();
        float4 v = s[k % (AHEAD + 1)][threadIdx.x ^ 33];
        sum += v.x + v.y + v.z + v.w;
        __syncthreads();
    }
    y[blockIdx.x * 256 + threadIdx.x] = make_float4(sum, sum, sum, sum);
}

/* Any sector of a large array, one a lane and one after the other. */
template <class T>
__global__ void far_kernel(const T *__restrict__ x, T *__restrict__ y, uint32_t words, int turns)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    T sum = x[i];
    for (int k = 0; k < turns; k++)
        *(float *)&sum += *(const float *)&x[((i + k * 7919u) * 2654435761u >> 3) % words];
    y[i] = sum;
}

/* Match: lanes with an equal value, among all lanes or among lanes with a few equal bits. */
__global__ void match_kernel(const uint32_t *__restrict__ x, float *__restrict__ y, uint32_t mask,
                             int steps)
{
    uint32_t u = x[threadIdx.x] + threadIdx.x, sum = 0;
    for (int i = 0; i < steps; i++)
        sum += __match_any_sync(0xffffffffu, u & mask), u = u + sum % 2 * 32;
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)sum;
}

/* Steps through the L2 or to other SMs, each after the one before. */
enum Far { FENCE, FENCE_STORE, ATOMIC, ATOMIC_FENCE, LOAD, STORE_LOAD, BLOCK_FENCE };
template <int FAR> __global__ void step_kernel(volatile uint32_t *x, float *y, int steps)
{
    uint32_t u = 0;
    volatile uint32_t *at = x + blockIdx.x * 1024 + threadIdx.x;
    for (int i = 0; i < steps; i++) {
        if (FAR == FENCE_STORE || FAR == STORE_LOAD) at[u & 1] = u;
        if (FAR == ATOMIC || FAR == ATOMIC_FENCE) u += atomicAdd((uint32_t *)at + (u & 1), 0u);
        if (FAR == LOAD || FAR == STORE_LOAD) u += at[u & 1];
        if (FAR == FENCE || FAR == FENCE_STORE || FAR == ATOMIC_FENCE) __threadfence();
        if (FAR == BLOCK_FENCE) at[0] = u, __threadfence_block();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)u;
}

/* A token goes through all blocks: each waits for the one before it. */
__global__ void token_kernel(volatile uint32_t *flag, float *y, uint32_t turn)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0)
            while (flag[(blockIdx.x - 1) * 32] < turn)
                ;
        __threadfence();
        flag[blockIdx.x * 32] = turn;
    }
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* Words of a size to places of their own, in any order. */
template <class T> __global__ void spread_kernel(const T *__restrict__ x, T *y, uint32_t mask)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i * 2654435769u & mask] = x[i];
}

/* Records of some words, read or written a word at a time. */
template <int WORDS, bool READ, bool WRITE> __global__ void record_kernel(float *x, float *y)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[WORDS], sum = 0;
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        v[k] = READ ? x[(size_t)i * WORDS + k] : (float)i;
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        if (WRITE)
            x[(size_t)i * WORDS + k] = v[k] + 1.0f;
        else
            sum += v[k];
    if (!WRITE) y[i] = sum;
}

/* One warp per row of `words` each lane, rows after each other: sums by shuffles. */
template <int WARPS>
__global__ void dots_kernel(const float2 *__restrict__ x, float *__restrict__ y, int rows)
{
    __shared__ float s[4096];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2 own = x[lane];
    for (int j = warp; j < rows; j += WARPS) {
        float2 v = x[((size_t)blockIdx.x * rows + j) * 32 + lane];
        float sum = own.x * v.x + own.y * v.y;
        for (int o = 16; o > 0; o >>= 1)
            sum += __shfl_xor_sync(0xffffffff, sum, o);
        if (lane == 0) s[j] = sum;
    }
    __syncthreads();
    for (int j = threadIdx.x; j < rows; j += WARPS * 32)
        y[blockIdx.x * rows + j] = s[j];
}

/* The same rows, each lane adds up its own. */
template <int WARPS>
__global__ void sums_kernel(const float2 *__restrict__ x, float2 *__restrict__ y, int rows)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2 sum = make_float2(0, 0);
    for (int j = warp; j < rows; j += WARPS) {
        float2 v = x[((size_t)blockIdx.x * rows + j) * 32 + lane];
        sum.x += v.x, sum.y += v.y;
    }
    y[blockIdx.x * WARPS * 32 + threadIdx.x] = sum;
}

/* A GEMM of 32 x 32 outputs per block, `part` deep, whose blocks end in stores or in atomics. */
template <bool ATOMICS>
__global__ void part_kernel(const float *__restrict__ a, const float *__restrict__ b, float *c,
                            int n, int k, int part)
{
    __shared__ float l[32][33], r[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum[4] = {};
    for (int at = blockIdx.z * part; at < (blockIdx.z + 1) * part; at += 32) {
        for (int i = ty; i < 32; i += 8) {
            l[i][tx] = a[(blockIdx.y * 32 + i) * k + at + tx];
            r[i][tx] = b[(at + i) * n + blockIdx.x * 32 + tx];
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 32; e++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[i] += l[ty + 8 * i][e] * r[e][tx];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        float *to = &c[(blockIdx.y * 32 + ty + 8 * i) * n + blockIdx.x * 32 + tx];
        if (ATOMICS)
            atomicAdd(to, sum[i]);
        else
            to[(size_t)blockIdx.z * n * n] = sum[i];
    }
}

/* Atomics on floats in rows: each of `words` words is added to by gridDim / words * 256 blocks. */
__global__ void add_rows_kernel(float *x, uint32_t words)
{
    atomicAdd(&x[(blockIdx.x * blockDim.x + threadIdx.x) % words], 1.0f);
}

static void others()
{
#define F(family, name, ...) ENTER(FIT, family, name, __VA_ARGS__)
#define D(family, name, ...) ENTER(COUNTERS_ONLY, family, name, __VA_ARGS__)
    static uint32_t turn;
    F("match", "match-1", match_kernel<<<SMS * 8, 256>>>(table, target, 0, 32));
    F("match", "match-2", match_kernel<<<SMS * 8, 256>>>(table, target, 1, 32));
    F("match", "match-8", match_kernel<<<SMS * 8, 256>>>(table, target, 7, 32));
    F("match", "match-32", match_kernel<<<SMS * 8, 256>>>(table, target, 31, 32));
    F("dependent-access", "fence", step_kernel<FENCE><<<1, 32>>>(table, target, 64));
    F("dependent-access", "fence-store", step_kernel<FENCE_STORE><<<1, 32>>>(table, target, 64));
    F("dependent-access", "fence-store-132",
      step_kernel<FENCE_STORE><<<132, 256>>>(table, target, 64));
    F("dependent-access", "fence-block", step_kernel<BLOCK_FENCE><<<1, 32>>>(table, target, 64));
    F("dependent-access", "step-atomic", step_kernel<ATOMIC><<<1, 32>>>(table, target, 64));
    F("dependent-access", "step-atomic-132", step_kernel<ATOMIC><<<132, 32>>>(table, target, 64));
    F("dependent-access", "atomic-fence", step_kernel<ATOMIC_FENCE><<<1, 32>>>(table, target, 64));
    F("dependent-access", "step-load", step_kernel<LOAD><<<1, 32>>>(table, target, 64));
    F("dependent-access", "step-store-load", step_kernel<STORE_LOAD><<<1, 32>>>(table, target, 64));
    F("token-ring", "token-8", token_kernel<<<8, 32>>>(table + 2 * MB, target, ++turn));
    F("token-ring", "token-132", token_kernel<<<132, 32>>>(table + 2 * MB, target, ++turn));
    F("token-ring", "token-528", token_kernel<<<528, 32>>>(table + 2 * MB, target, ++turn));
    D("random-reads", "spread-4-4MB", spread_kernel<<<4096, 256>>>(source, target, MB - 1));
    D("random-reads", "spread-4-32MB", spread_kernel<<<4096, 256>>>(source, target, 8 * MB - 1));
    D("random-reads", "spread-4-64MB", spread_kernel<<<4096, 256>>>(source, target, 16 * MB - 1));
    D("random-reads", "spread-8-4MB",
      spread_kernel<<<2048, 256>>>((float2 *)source, (float2 *)target, MB / 2 - 1));
    D("random-reads", "spread-8-32MB",
      spread_kernel<<<4096, 256>>>((float2 *)source, (float2 *)target, 4 * MB - 1));
    D("random-reads", "spread-16-32MB",
      spread_kernel<<<2048, 256>>>((float4 *)source, (float4 *)target, 2 * MB - 1));
    D("strided-records", "records-read-3",
      record_kernel<3, true, false><<<2048, 256>>>(source, target));
    D("strided-records", "records-read-8",
      record_kernel<8, true, false><<<2048, 256>>>(source, target));
    D("strided-records", "records-write-3",
      record_kernel<3, false, true><<<2048, 256>>>(target, target));
    D("strided-records", "records-write-5",
      record_kernel<5, false, true><<<2048, 256>>>(target, target));
    D("strided-records", "records-write-8",
      record_kernel<8, false, true><<<2048, 256>>>(target, target));
    D("strided-records", "records-both-5",
      record_kernel<5, true, true><<<2048, 256>>>(target, target));
    F("dot-products", "dots-48", dots_kernel<8><<<48, 256>>>((float2 *)source, target, 1024));
    F("dot-products", "dots-132", dots_kernel<8><<<132, 256>>>((float2 *)source, target, 512));
    F("dot-products", "dots-16-warps",
      dots_kernel<16><<<66, 512>>>((float2 *)source, target, 1024));
    F("dot-products", "sums-48",
      sums_kernel<8><<<48, 256>>>((float2 *)source, (float2 *)target, 1024));
    F("dot-products", "sums-132",
      sums_kernel<8><<<132, 256>>>((float2 *)source, (float2 *)target, 512));
    F("split-k", "part-stores",
      part_kernel<false>
      <<<dim3(4, 8, 8), dim3(32, 8)>>>(source, source + 8 * MB, target, 128, 2048, 256));
    F("split-k", "part-atomics",
      part_kernel<true>
      <<<dim3(4, 8, 8), dim3(32, 8)>>>(source, source + 8 * MB, target, 128, 2048, 256));
    F("split-k", "part-stores-66",
      part_kernel<false>
      <<<dim3(4, 8, 2), dim3(32, 8)>>>(source, source + 8 * MB, target, 128, 2048, 256));
    F("split-k", "part-atomics-66",
      part_kernel<true>
      <<<dim3(4, 8, 2), dim3(32, 8)>>>(source, source + 8 * MB, target, 128, 2048, 256));
    F("split-k", "part-atomics-512",
      part_kernel<true>
      <<<dim3(4, 4, 32), dim3(32, 8)>>>(source, source + 8 * MB, target, 128, 2048, 64));
    F("split-k", "add-rows-16k", add_rows_kernel<<<1024, 256>>>(target, 16384));
    F("split-k", "add-rows-64k", add_rows_kernel<<<1024, 256>>>(target, 65536));
    F("split-k", "add-rows-1M", add_rows_kernel<<<4096, 256>>>(target, MB));
}

static void memory()
{
    F("stream", "stream-1x1", stream_kernel<<<1, 1>>>(source, target, 2048));
    F("stream", "stream-1x32", stream_kernel<<<1, 32>>>(source, target, 32768));
    F("stream", "stream-1x1024", stream_kernel<<<1, 1024>>>(source, target, 256 << 10));
    F("stream", "stream-32x256", stream_kernel<<<32, 256>>>(source, target, 65536));
    F("stream", "stream-132x128", stream_kernel<<<132, 128>>>(source, target, 16384));
    F("stream", "stream-264x256", stream_kernel<<<264, 256>>>(source, target, 16384));
    F("stream", "stream-until-1x32", stream_until_kernel<<<1, 32>>>(source, target, 4096));
    F("stream", "stream-until-132x128", stream_until_kernel<<<132, 128>>>(source, target, 4096));
    F("random-atomics", "cas-64k", change_kernel<CAS, true><<<1024, 256>>>(table, target, 65536));
    F("random-atomics", "cas-4M", change_kernel<CAS, true><<<1024, 256>>>(table, target, 4 * MB));
    F("random-atomics", "exch-4M", change_kernel<EXCH, true><<<1024, 256>>>(table, target, 4 * MB));
    F("random-atomics", "add-4M", change_kernel<ADD, false><<<1024, 256>>>(table, target, 4 * MB));
    F("random-atomics", "add-back-4M",
      change_kernel<ADD, true><<<1024, 256>>>(table, target, 4 * MB));
    F("random-atomics", "min-64k", change_kernel<MIN, false><<<1024, 256>>>(table, target, 65536));
    F("random-atomics", "min-4M", change_kernel<MIN, false><<<1024, 256>>>(table, target, 4 * MB));
    F("random-atomics", "float-64k",
      change_kernel<ADD_FLOAT, false><<<1024, 256>>>(table, target, 65536));
    F("random-atomics", "float-4M",
      change_kernel<ADD_FLOAT, false><<<1024, 256>>>(table, target, 4 * MB));
    F("random-atomics", "cas-loop",
      change_kernel<CAS_LOOP, true><<<1024, 256>>>(table, target, 4 * MB));
    F("grid-barrier", "grid-132-1", grid_launch(132, 256, 1));
    F("grid-barrier", "grid-132-8", grid_launch(132, 256, 8));
    F("grid-barrier", "grid-1056-8", grid_launch(1056, 256, 8));
    F("grid-barrier", "grid-8-8", grid_launch(8, 64, 8));
#define X ((const float4 *)source)
#define Y ((float4 *)target)
    F("copies", "copies-0", copies_kernel<0><<<132, 256>>>(X, Y, 32));
    F("copies", "copies-1", copies_kernel<1><<<132, 256>>>(X, Y, 32));
    F("copies", "copies-2", copies_kernel<2><<<132, 256>>>(X, Y, 32));
    F("copies", "copies-1-many", copies_kernel<1><<<528, 256>>>(X, Y, 16));
    F("l2-far", "far-4MB", far_kernel<float><<<1024, 256>>>(source, target, MB, 4));
    F("l2-far", "far-64MB", far_kernel<float><<<1024, 256>>>(source, target, 16 * MB, 4));
    F("l2-far", "far-128MB", far_kernel<float><<<1024, 256>>>(target, source, 32 * MB, 4));
    F("l2-far", "far-float4", far_kernel<float4><<<1024, 256>>>(X, Y, 4 * MB, 4));
}

__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    ENTER(FIT, "empty", "empty", empty_kernel<<<1, 32>>>());
    source = array_make(16 * MB), target = array_make(32 * MB);
    cudaMalloc(&table, 4 * MB * sizeof *table);
    cudaMemset(table, 0, 4 * MB * sizeof *table);
    forms();
    others();
    memory();
    return measure_close();
}
