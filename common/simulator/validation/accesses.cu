/* accesses.cu - launches whose counts are compared with a card's, not their times: one way each in
 * which the lanes of a warp reach memory.
 *
 * Strides, odd beginnings, vectors, lanes that take no part, fragments and matrices, asynchronous
 * copies, atomics, arrays in local memory, the read-only ways.  Each kernel repeats its access a
 * few times, so that every count is far above what a few bytes of parameters add. */
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "common/simulator/validation/entries.h"

enum { THREADS = 256, TURNS = 8, APART = 49152 /* bytes */ };

static float *source, *target; /* 4 M floats each */

static __device__ uint32_t thread_number()
{
    return blockIdx.x * THREADS + threadIdx.x;
}

static __device__ bool takes_part(uint32_t lanes)
{
    return lanes >> threadIdx.x % 32 & 1;
}

/* What was read must be used; what is made of it is seldom stored. */
static __device__ float of(float x)
{
    return x;
}
static __device__ float of(double x)
{
    return (float)x;
}
static __device__ float of(unsigned char x)
{
    return x;
}
static __device__ float of(unsigned short x)
{
    return x;
}
static __device__ float of(float2 x)
{
    return x.x + x.y;
}
static __device__ float of(double2 x)
{
    return (float)(x.x + x.y);
}
static __device__ float of(float4 x)
{
    return x.x + x.y + x.z + x.w;
}

template <class T> static __device__ T from(float x);
template <> __device__ float from<float>(float x)
{
    return x;
}
template <> __device__ double from<double>(float x)
{
    return x;
}
template <> __device__ unsigned char from<unsigned char>(float x)
{
    return (unsigned char)x;
}
template <> __device__ unsigned short from<unsigned short>(float x)
{
    return (unsigned short)x;
}
template <> __device__ float2 from<float2>(float x)
{
    return make_float2(x, x);
}
template <> __device__ float4 from<float4>(float x)
{
    return make_float4(x, x, x, x);
}

/* ---- global memory --------------------------------------------------------------------------- */

/* Lanes lie `stride` apart, the first at `begin`; turns lie one launch apart. */
template <class T>
__global__ void load_kernel(const T *__restrict__ x, float *y, int stride, int begin,
                            uint32_t lanes)
{
    float sum = 0;
    if (takes_part(lanes))
        for (int turn = 0; turn < TURNS; turn++)
            sum += of(x[(thread_number() + turn * gridDim.x * THREADS) * stride + begin]);
    y[thread_number()] = sum;
}

template <class T> __global__ void store_kernel(T *y, int stride, int begin, uint32_t lanes)
{
    if (takes_part(lanes))
        for (int turn = 0; turn < TURNS; turn++)
            y[(thread_number() + turn * gridDim.x * THREADS) * stride + begin] = from<T>(turn);
}

/* The lanes' order turned around, or exchanged by `flip`. */
__global__ void flipped_kernel(const float *__restrict__ x, float *y, int flip)
{
    float sum = 0;
    for (int turn = 0; turn < TURNS; turn++)
        sum += x[(thread_number() ^ flip) * 3 + turn * 65536];
    y[thread_number() ^ flip] = sum;
}

/* All lanes of `group` neighbours want one word, groups lie `apart` words apart. */
template <class T>
__global__ void groups_kernel(const T *__restrict__ x, float *y, int group, int apart)
{
    float sum = 0;
    for (int turn = 0; turn < TURNS; turn++)
        sum += of(x[thread_number() / group * apart + turn * 8192]);
    y[thread_number()] = sum;
}

/* By a table of places: rows of a matrix in any order. */
__global__ void gather_kernel(const uint32_t *__restrict__ x, const float *__restrict__ table,
                              float *y, int range)
{
    float sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t hash = (thread_number() + turn * 40503u) * 2654435761u;
        sum += table[(hash >> 8) % range];
    }
    y[thread_number()] = sum + x[0];
}

struct Body {
    float x, y, z;
};
struct Cell {
    double weight;
    int next;
    short kind;
    char flag;
};

__global__ void bodies_kernel(const Body *__restrict__ b, Body *y)
{
    Body one = b[thread_number()];
    y[thread_number()] = {one.y, one.z, one.x};
}

__global__ void cells_kernel(const Cell *__restrict__ c, Cell *y)
{
    Cell one = c[thread_number()];
    one.weight *= 2, one.kind++, one.flag ^= 1;
    y[thread_number()] = one;
}

enum Way { LDG, CACHED_L2, STREAMED, VOLATILE_READ, CONSTANT };
__constant__ float table[4096];

template <int WAY> __global__ void way_kernel(const float *x, float *y, int stride)
{
    float sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t at = thread_number() * stride + turn * 65536;
        if (WAY == LDG) sum += __ldg(x + at);
        if (WAY == CACHED_L2) sum += __ldcg(x + at);
        if (WAY == STREAMED) sum += __ldcs(x + at);
        if (WAY == VOLATILE_READ) sum += *(volatile const float *)(x + at);
        if (WAY == CONSTANT) sum += table[at % 4096];
    }
    y[thread_number()] = sum;
}

static void globals()
{
#define L(name, ...) ENTER(COUNTED, "load", name, load_kernel < __VA_ARGS__)
    const uint32_t all = ~0u;
    (void)all;
    L("load-3", float > <<<64, THREADS>>>(source, target, 3, 0, ~0u));
    L("load-7", float > <<<64, THREADS>>>(source, target, 7, 0, ~0u));
    L("load-33", float > <<<32, THREADS>>>(source, target, 33, 0, ~0u));
    L("load-begin-1", float > <<<64, THREADS>>>(source, target, 1, 1, ~0u));
    L("load-begin-13", float > <<<64, THREADS>>>(source, target, 1, 13, ~0u));
    L("load-odd-lanes", float > <<<64, THREADS>>>(source, target, 1, 0, 0xaaaaaaaa));
    L("load-half-warp", float > <<<64, THREADS>>>(source, target, 2, 0, 0x0000ffff));
    L("load-few-lanes", float > <<<64, THREADS>>>(source, target, 5, 0, 0x80010204));
    L("load-byte", unsigned char > <<<64, THREADS>>>((unsigned char *)source, target, 1, 0, ~0u));
    L("load-byte-9", unsigned char > <<<64, THREADS>>>((unsigned char *)source, target, 9, 5, ~0u));
    L("load-short-3",
      unsigned short > <<<64, THREADS>>>((unsigned short *)source, target, 3, 1, ~0u));
    L("load-double-1", double > <<<64, THREADS>>>((double *)source, target, 1, 1, ~0u));
    L("load-double-5", double > <<<64, THREADS>>>((double *)source, target, 5, 0, ~0u));
    L("load-float2-3", float2 > <<<64, THREADS>>>((float2 *)source, target, 3, 1, 0x0f0f0f0f));
    L("load-float4-1", float4 > <<<64, THREADS>>>((float4 *)source, target, 1, 1, ~0u));
    L("load-float4-2", float4 > <<<64, THREADS>>>((float4 *)source, target, 2, 0, ~0u));
    L("load-double2-3", double2 > <<<32, THREADS>>>((double2 *)source, target, 3, 1, 0xfff0ffff));
#undef L
#define S(name, ...) ENTER(COUNTED, "store", name, store_kernel < __VA_ARGS__)
    S("store-3", float > <<<64, THREADS>>>(target, 3, 0, ~0u));
    S("store-begin-5", float > <<<64, THREADS>>>(target, 1, 5, ~0u));
    S("store-even-lanes", float > <<<64, THREADS>>>(target, 1, 0, 0x55555555));
    S("store-byte", unsigned char > <<<64, THREADS>>>((unsigned char *)target, 1, 3, ~0u));
    S("store-short-5", unsigned short > <<<64, THREADS>>>((unsigned short *)target, 5, 1, ~0u));
    S("store-double-3", double > <<<64, THREADS>>>((double *)target, 3, 1, ~0u));
    S("store-float2-1", float2 > <<<64, THREADS>>>((float2 *)target, 1, 3, 0x7fffffff));
    S("store-float4-3", float4 > <<<64, THREADS>>>((float4 *)target, 3, 1, ~0u));
    S("store-float4-quarter", float4 > <<<64, THREADS>>>((float4 *)target, 1, 1, 0x00ff0000));
#undef S
#define G(name, ...) ENTER(COUNTED, "order", name, __VA_ARGS__)
    G("flipped-31", flipped_kernel<<<64, THREADS>>>(source, target, 31));
    G("flipped-5", flipped_kernel<<<64, THREADS>>>(source, target, 5));
    G("groups-2", groups_kernel<<<64, THREADS>>>(source, target, 2, 3));
    G("groups-8-float4", groups_kernel<<<64, THREADS>>>((const float4 *)source, target, 8, 5));
    G("groups-32", groups_kernel<<<64, THREADS>>>(source, target, 32, 1));
    G("gather-1000", gather_kernel<<<64, THREADS>>>((uint32_t *)source, source, target, 1000));
    G("gather-1000000",
      gather_kernel<<<64, THREADS>>>((uint32_t *)source, source, target, 1000000));
    G("bodies", bodies_kernel<<<64, THREADS>>>((Body *)source, (Body *)target));
    G("cells", cells_kernel<<<64, THREADS>>>((Cell *)source, (Cell *)target));
    G("ldg-2", way_kernel<LDG><<<64, THREADS>>>(source, target, 2));
    G("ldcg-3", way_kernel<CACHED_L2><<<64, THREADS>>>(source, target, 3));
    G("ldcs-5", way_kernel<STREAMED><<<64, THREADS>>>(source, target, 5));
    G("volatile-2", way_kernel<VOLATILE_READ><<<64, THREADS>>>(source, target, 2));
    G("constant-0", way_kernel<CONSTANT><<<64, THREADS>>>(source, target, 0));
    G("constant-3", way_kernel<CONSTANT><<<64, THREADS>>>(source, target, 3));
#undef G
}

/* ---- shared memory --------------------------------------------------------------------------- */

/* Lanes lie `stride` elements apart, the first at `begin`. */
template <class T> __global__ void shared_kernel(float *y, int stride, int begin, uint32_t lanes)
{
    __shared__ __align__(16) unsigned char bytes[32768];
    T *s = (T *)bytes;
    const int most = 32768 / sizeof(T);
    float sum = 0;
    int at = (threadIdx.x % 32 * stride + threadIdx.x / 32 * 64 + begin) % most;
    if (takes_part(lanes)) s[at] = from<T>(threadIdx.x);
    __syncthreads();
    if (takes_part(lanes))
        for (int turn = 0; turn < TURNS; turn++)
            sum += of(*(volatile T *)&s[at]);
    y[thread_number()] = sum;
}

/* As above, of vectors: these cannot be volatile, so each turn reads another row. */
template <class T>
__global__ void vectors_kernel(float *y, int stride, int begin, int row, uint32_t lanes)
{
    __shared__ T s[2048];
    float sum = 0;
    for (int i = threadIdx.x; i < 2048; i += THREADS)
        s[i] = from<T>(i);
    __syncthreads();
    if (takes_part(lanes))
#pragma unroll 1
        for (int turn = 0; turn < TURNS; turn++)
            sum += of(s[(threadIdx.x * stride + begin + turn * row) % 2048]);
    y[thread_number()] = sum;
}

/* All lanes of `group` neighbours want one element. */
template <class T> __global__ void shared_groups_kernel(float *y, int group, int apart)
{
    __shared__ T s[2048];
    float sum = 0;
    for (int i = threadIdx.x; i < 2048; i += THREADS)
        s[i] = from<T>(i);
    __syncthreads();
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++)
        sum += of(s[(threadIdx.x / group * apart + turn * 7) % 2048]);
    y[thread_number()] = sum;
}

__global__ void bodies_shared_kernel(float *y)
{
    __shared__ Body s[THREADS];
    s[threadIdx.x] = {1.0f, 2.0f, (float)threadIdx.x};
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int i = 1; i < TURNS; i++) {
        Body b = s[(threadIdx.x + i) % THREADS];
        sum += b.x * b.y + b.z;
    }
    y[thread_number()] = sum;
}

__global__ void chars_shared_kernel(float *y, int pitch)
{
    __shared__ unsigned char s[64 * 68];
    for (int i = threadIdx.x; i < 64 * 68; i += THREADS)
        s[i] = (unsigned char)i;
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < TURNS; i++)
        sum += s[threadIdx.x % 64 * pitch + i * 3 + threadIdx.x / 64];
    y[thread_number()] = sum;
}

/* Fragments of matrices: rows of 16 bytes, `pitch` bytes apart. */
template <int PARTS, bool TURNED> __global__ void fragments_kernel(float *y, int pitch)
{
    __shared__ __align__(16) unsigned char s[16384];
    for (int i = threadIdx.x; i < 16384 / 4; i += THREADS)
        ((uint32_t *)s)[i] = i;
    __syncthreads();
    uint32_t a = 0, b = 0, c = 0, d = 0, sum = 0;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(s + threadIdx.x % 32 * pitch);
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++, at += 16) {
        if (PARTS == 1 && !TURNED)
            asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                         : "=r"(a)
                         : "r"(at));
        if (PARTS == 2 && TURNED)
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                         : "=r"(a), "=r"(b)
                         : "r"(at));
        if (PARTS == 4 && !TURNED)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                         : "r"(at));
        sum += a ^ b ^ c ^ d;
    }
    y[thread_number()] = sum;
}

template <int PARTS> __global__ void fragments_store_kernel(float *y, int pitch)
{
    __shared__ __align__(16) unsigned char s[16384];
    uint32_t at = (uint32_t)__cvta_generic_to_shared(s + threadIdx.x % 32 * pitch);
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++, at += 16) {
        if (PARTS == 1)
            asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(turn)
                         : "memory");
        if (PARTS == 4)
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(at),
                         "r"(turn)
                         : "memory");
    }
    __syncthreads();
    y[thread_number()] = ((float *)s)[threadIdx.x];
}

/* Copies past the registers, BYTES a lane; the lanes' places in shared memory `pitch` bytes apart,
 * their sources `stride` bytes. */
template <int BYTES>
__global__ void copies_kernel(const char *x, float *y, int pitch, int stride, uint32_t lanes)
{
    __shared__ __align__(16) unsigned char s[32768];
    if (takes_part(lanes))
#pragma unroll 1
        for (int turn = 0; turn < TURNS; turn++)
            __pipeline_memcpy_async(
                s + (threadIdx.x % 64 * pitch + threadIdx.x / 64 * BYTES) % 32768,
                x + (thread_number() + turn * gridDim.x * THREADS) * stride, BYTES);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[thread_number()] = ((float *)s)[threadIdx.x];
}

/* Copies that overtake each other: each turn's go to where those of the turn before may still be on
 * their way. What such a program does PTX leaves open. */
static void raced_copies()
{
#define R(name, BYTES, pitch, stride, lanes)                                                       \
    ENTER(RACED, "copies", name,                                                                   \
          copies_kernel<BYTES><<<64, THREADS>>>((char *)source, target, pitch, stride, lanes))
    R("copies-4", 4, 4, 4, ~0u);
    R("copies-4-apart", 4, 132, 12, 0xf0f0f0f0);
    R("copies-8", 8, 40, 8, ~0u);
    R("copies-16", 16, 64, 16, ~0u);
    R("copies-16-dense", 16, 16, 16, ~0u);
    R("copies-16-80", 16, 80, 16, ~0u);
    R("copies-16-144", 16, 144, 16, ~0u);
    R("copies-16-32", 16, 32, 16, ~0u);
    R("copies-16-48", 16, 48, 16, ~0u);
    R("copies-16-256", 16, 256, 16, ~0u);
    R("copies-16-dense-from-32", 16, 16, 32, ~0u);
    R("copies-16-dense-from-48", 16, 16, 48, ~0u);
    R("copies-16-80-from-64", 16, 80, 64, ~0u);
    R("copies-16-64-from-64", 16, 64, 64, ~0u);
    R("copies-16-few", 16, 16, 16, 0x00ff0103);
    R("copies-8-64", 8, 64, 16, ~0u);
    R("copies-8-few", 8, 24, 8, 0x11110000);
    R("copies-16-conflicts", 16, 128, 48, ~0u);
#undef R
}

/* Copies of 16 bytes past the L1 that wait for each other, each group of 64 threads after the one
 * before: nothing is copied to where something is on its way.  Of a lane only `there` bytes are
 * really there, and of those of `ignored` none. */
template <bool IGNORES>
__global__ void waiting_copies_kernel(const char *x, float *y, int pitch, int begin, int stride,
                                      int there, uint32_t ignored, uint32_t lanes)
{
    __shared__ __align__(128) unsigned char s[32768];
    int ignore = ignored >> threadIdx.x % 32 & 1, bytes = ignore ? 0 : there;
    uint32_t to =
        (uint32_t)__cvta_generic_to_shared(s) + (threadIdx.x % 64 * pitch + begin) % (32768 - 16);
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++)
#pragma unroll 1
        for (int group = 0; group < THREADS / 64; group++) {
            const char *from = x + (thread_number() + turn * gridDim.x * THREADS) * stride;
            if (threadIdx.x / 64 == group && takes_part(lanes)) {
                if (IGNORES)
                    asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0;\n"
                                 "cp.async.cg.shared.global [%0], [%1], 16, p;}" ::"r"(to),
                                 "l"(from), "r"(ignore)
                                 : "memory");
                else
                    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                                 "l"(from), "r"(bytes)
                                 : "memory");
            }
            asm volatile("cp.async.wait_all;" ::: "memory");
            __syncthreads();
        }
    y[thread_number()] = ((float *)s)[threadIdx.x];
}

static void waiting_copies()
{
#define E(name, pitch, begin, stride, there, ignored, lanes)                                       \
    ENTER(COUNTED, "copies", name,                                                                 \
          waiting_copies_kernel<false>                                                             \
          <<<64, THREADS>>>((char *)source, target, pitch, begin, stride, there, ignored, lanes))
    E("waiting-16", 16, 0, 16, 16, 0, ~0u);
    E("waiting-16-begin-16", 16, 16, 16, 16, 0, ~0u);
    E("waiting-16-begin-32", 16, 32, 16, 16, 0, ~0u);
    E("waiting-80", 80, 0, 16, 16, 0, ~0u);
    E("waiting-64-from-64", 64, 0, 64, 16, 0, ~0u);
    E("waiting-16-from-48", 16, 0, 48, 16, 0, ~0u);
    E("waiting-16-few", 16, 0, 16, 16, 0, 0x00ff0103);
    E("waiting-size-8", 16, 0, 16, 8, 0, ~0u);
    E("waiting-size-4", 16, 0, 16, 4, 0, ~0u);
    E("waiting-size-0", 16, 0, 16, 0, 0, ~0u);
    E("waiting-size-some", 16, 0, 16, 16, 0xf00ff0f0, ~0u);
#undef E
    ENTER(COUNTED, "copies", "waiting-ignored",
          waiting_copies_kernel<true>
          <<<64, THREADS>>>((char *)source, target, 16, 0, 16, 16, 0xf00ff0f0, ~0u));
    ENTER(COUNTED, "copies", "waiting-ignored-all",
          waiting_copies_kernel<true>
          <<<64, THREADS>>>((char *)source, target, 16, 0, 16, 16, ~0u, ~0u));
}

/* Copies that are all on their way at once, each to a place of its own: a turn has `extent` bytes,
 * in which the places of each 64 threads begin `group` bytes after those of the ones before. */
template <int BYTES>
__global__ void apart_copies_kernel(const char *x, float *y, int pitch, int group, int extent,
                                    int stride, uint32_t lanes)
{
    __shared__ __align__(16) unsigned char s[APART];
    int turns = min(TURNS, APART / extent);
    if (takes_part(lanes))
#pragma unroll 1
        for (int turn = 0; turn < turns; turn++)
            __pipeline_memcpy_async(
                s + turn * extent + threadIdx.x % 64 * pitch + threadIdx.x / 64 * group,
                x + (thread_number() + turn * gridDim.x * THREADS) * stride, BYTES);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[thread_number()] = ((float *)s)[threadIdx.x];
}

static void apart_copies()
{
#define E(name, BYTES, pitch, group, extent, stride, lanes)                                        \
    ENTER(COUNTED, "copies", name,                                                                 \
          apart_copies_kernel<BYTES>                                                               \
          <<<64, THREADS>>>((char *)source, target, pitch, group, extent, stride, lanes))
    E("apart-4", 4, 4, 256, 1024, 4, ~0u);
    E("apart-4-132", 4, 132, 4, 8448, 12, 0xf0f0f0f0);
    E("apart-8-40", 8, 40, 8, 2560, 8, ~0u);
    E("apart-8-64", 8, 64, 16, 4096, 16, ~0u);
    E("apart-8-few", 8, 24, 1536, 6144, 8, 0x11110000);
    E("apart-16", 16, 16, 1024, 4096, 16, ~0u);
    E("apart-16-from-32", 16, 16, 1024, 4096, 32, ~0u);
    E("apart-16-from-48", 16, 16, 1024, 4096, 48, ~0u);
    E("apart-16-few", 16, 16, 1024, 4096, 16, 0x00ff0103);
    E("apart-32", 16, 32, 2048, 8192, 16, ~0u);
    E("apart-48", 16, 48, 3072, 12288, 16, ~0u);
    E("apart-64", 16, 64, 16, 4096, 16, ~0u);
    E("apart-64-from-64", 16, 64, 16, 4096, 64, ~0u);
    E("apart-80", 16, 80, 16, 5120, 16, ~0u);
    E("apart-80-from-64", 16, 80, 16, 5120, 64, ~0u);
    E("apart-128-from-48", 16, 128, 16, 8192, 48, ~0u);
    E("apart-144", 16, 144, 16, 9216, 16, ~0u);
    E("apart-256", 16, 256, 16, 16384, 16, ~0u);
#undef E
}

/* Matrices of the tensor cores, from shared or global memory or into it; lines `pitch` elements
 * apart. */
template <class F, class T, bool SHARED>
__global__ void factors_kernel(const T *x, float *y, int pitch)
{
    __shared__ __align__(128) unsigned char s[32768];
    for (int i = threadIdx.x; i < 32768 / 4; i += THREADS)
        ((uint32_t *)s)[i] = i & 0x00070007;
    __syncthreads();
    float sum = 0;
    F f;
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        if (SHARED)
            nvcuda::wmma::load_matrix_sync(f, (const T *)s + turn * 32, pitch);
        else
            nvcuda::wmma::load_matrix_sync(f, x + thread_number() / 32 * 1024 + turn * 32, pitch);
        for (int i = 0; i < f.num_elements; i++)
            sum += (float)f.x[i];
    }
    y[thread_number()] = sum;
}

template <class F, class T, nvcuda::wmma::layout_t LAYOUT, bool SHARED>
__global__ void sums_kernel(T *x, float *y, int pitch)
{
    __shared__ __align__(128) unsigned char s[32768];
    for (int i = threadIdx.x; i < 32768 / 4; i += THREADS)
        ((uint32_t *)s)[i] = 0;
    __syncthreads();
    F f;
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        T *at = SHARED ? (T *)s + turn * 32 : x + thread_number() / 32 * 2048 + turn * 32;
        nvcuda::wmma::load_matrix_sync(f, at, pitch, LAYOUT);
        for (int i = 0; i < f.num_elements; i++)
            f.x[i] = (T)((float)f.x[i] + 1.0f);
        nvcuda::wmma::store_matrix_sync(at, f, pitch, LAYOUT);
    }
    __syncthreads();
    y[thread_number()] = ((float *)s)[threadIdx.x];
}

static void matrices()
{
    using namespace nvcuda::wmma;
    typedef signed char Byte;
#define A(m, n, k, type, order) fragment<matrix_a, m, n, k, type, order>
#define B(m, n, k, type, order) fragment<matrix_b, m, n, k, type, order>
#define S(m, n, k, type)        fragment<accumulator, m, n, k, type>
#define E(name, pitch, T, shared, ...)                                                             \
    ENTER(COUNTED, "matrices", name,                                                               \
          factors_kernel<__VA_ARGS__, T, shared><<<64, THREADS>>>((T *)source, target, pitch))
    E("matrix-halves", 16, __half, true, A(16, 16, 16, __half, row_major));
    E("matrix-halves-40", 40, __half, true, B(16, 16, 16, __half, row_major));
    E("matrix-halves-turned", 72, __half, true, A(16, 16, 16, __half, col_major));
    E("matrix-halves-32-8", 24, __half, true, A(32, 8, 16, __half, row_major));
    E("matrix-bytes", 16, Byte, true, A(16, 16, 16, Byte, row_major));
    E("matrix-bytes-turned", 48, Byte, true, A(16, 16, 16, Byte, col_major));
    E("matrix-bytes-8-32", 32, Byte, true, B(8, 32, 16, Byte, row_major));
    E("matrix-tf32", 8, float, true, A(16, 16, 8, precision::tf32, row_major));
    E("matrix-tf32-turned", 20, float, true, B(16, 16, 8, precision::tf32, row_major));
    E("matrix-global-halves", 64, __half, false, A(16, 16, 16, __half, row_major));
    E("matrix-global-turned", 48, __half, false, A(16, 16, 16, __half, col_major));
    E("matrix-global-bytes", 32, Byte, false, B(16, 16, 16, Byte, row_major));
#undef E
#define E(name, pitch, T, layout, shared, ...)                                                     \
    ENTER(COUNTED, "matrices", name,                                                               \
          sums_kernel<__VA_ARGS__, T, layout, shared>                                              \
          <<<64, THREADS>>>((T *)(target + 4 * MB), target, pitch))
    E("matrix-sums", 16, float, mem_row_major, true, S(16, 16, 16, float));
    E("matrix-sums-20", 20, float, mem_row_major, true, S(16, 16, 16, float));
    E("matrix-sums-turned", 16, float, mem_col_major, true, S(16, 16, 16, float));
    E("matrix-sums-8-32", 36, float, mem_row_major, true, S(8, 32, 16, float));
    E("matrix-sums-halves", 24, __half, mem_row_major, true, S(16, 16, 16, __half));
    E("matrix-sums-global", 32, float, mem_row_major, false, S(16, 16, 16, float));
#undef E
#undef A
#undef B
#undef S
}

static void shared()
{
#define E(family, name, ...) ENTER(COUNTED, family, name, __VA_ARGS__)
    E("shared", "shared-5", shared_kernel<float><<<64, THREADS>>>(target, 5, 1, ~0u));
    E("shared", "shared-6", shared_kernel<float><<<64, THREADS>>>(target, 6, 0, ~0u));
    E("shared", "shared-24-odd", shared_kernel<float><<<64, THREADS>>>(target, 24, 0, 0xaaaaaaaa));
    E("shared", "shared-32-few", shared_kernel<float><<<64, THREADS>>>(target, 32, 0, 0x00130007));
    E("shared", "shared-byte-3", shared_kernel<unsigned char><<<64, THREADS>>>(target, 3, 0, ~0u));
    E("shared", "shared-byte-128",
      shared_kernel<unsigned char><<<64, THREADS>>>(target, 130, 1, ~0u));
    E("shared", "shared-short-66",
      shared_kernel<unsigned short><<<64, THREADS>>>(target, 66, 0, ~0u));
    E("shared", "shared-double-3", shared_kernel<double><<<64, THREADS>>>(target, 3, 0, ~0u));
    E("shared", "shared-double-16", shared_kernel<double><<<64, THREADS>>>(target, 16, 1, ~0u));
    E("shared", "shared-double-half",
      shared_kernel<double><<<64, THREADS>>>(target, 8, 1, 0xffff0000));
    E("vectors", "vectors-2-5", vectors_kernel<float2><<<64, THREADS>>>(target, 5, 0, 9, ~0u));
    E("vectors", "vectors-2-8",
      vectors_kernel<float2><<<64, THREADS>>>(target, 8, 1, 3, 0x77777777));
    E("vectors", "vectors-4-1", vectors_kernel<float4><<<64, THREADS>>>(target, 1, 3, 1, ~0u));
    E("vectors", "vectors-4-3",
      vectors_kernel<float4><<<64, THREADS>>>(target, 3, 0, 1, 0xff00ff00));
    E("vectors", "vectors-4-4", vectors_kernel<float4><<<64, THREADS>>>(target, 4, 1, 5, ~0u));
    E("vectors", "groups-2-2", shared_groups_kernel<float2><<<64, THREADS>>>(target, 2, 3));
    E("vectors", "groups-2-8", shared_groups_kernel<float2><<<64, THREADS>>>(target, 8, 16));
    E("vectors", "groups-4-4", shared_groups_kernel<float4><<<64, THREADS>>>(target, 4, 8));
    E("vectors", "groups-4-32", shared_groups_kernel<float4><<<64, THREADS>>>(target, 32, 1));
    E("vectors", "bodies-shared", bodies_shared_kernel<<<64, THREADS>>>(target));
    E("vectors", "chars-64", chars_shared_kernel<<<64, THREADS>>>(target, 64));
    E("vectors", "chars-67", chars_shared_kernel<<<64, THREADS>>>(target, 67));
    E("fragments", "fragments-1", fragments_kernel<1, false><<<64, THREADS>>>(target, 16));
    E("fragments", "fragments-2-turned", fragments_kernel<2, true><<<64, THREADS>>>(target, 48));
    E("fragments", "fragments-4-64", fragments_kernel<4, false><<<64, THREADS>>>(target, 64));
    E("fragments", "fragments-4-80", fragments_kernel<4, false><<<64, THREADS>>>(target, 80));
    E("fragments", "fragments-4-128", fragments_kernel<4, false><<<64, THREADS>>>(target, 128));
    E("fragments", "fragments-4-256", fragments_kernel<4, false><<<64, THREADS>>>(target, 256));
    E("fragments", "fragments-store-1", fragments_store_kernel<1><<<64, THREADS>>>(target, 32));
    E("fragments", "fragments-store-4", fragments_store_kernel<4><<<64, THREADS>>>(target, 64));
    E("fragments", "fragments-store-4-144",
      fragments_store_kernel<4><<<64, THREADS>>>(target, 144));
#undef E
}

/* ---- atomics --------------------------------------------------------------------------------- */

enum Kind {
    ADD,
    ADD_ONE,
    ADD_TICKET,
    LARGEST,
    SWAP,
    EXCHANGE,
    REAL,
    NOTHING, /* a float that changes nothing */
    SELDOM,  /* one that does in every fourth lane */
    DOUBLE,
    WIDE,
    WIDE_LEAST,
    WIDE_SWAP,
    WIDE_EXCHANGE,
    HALVES,
    HALF,
    FOUR,
    OR
};

template <int KIND> static __device__ float atomic_do(float *at, uint32_t value)
{
    uint32_t *word = (uint32_t *)at;
    if (KIND == ADD) atomicAdd(word, value);
    if (KIND == ADD_ONE) atomicAdd(word, 1u);
    if (KIND == ADD_TICKET) return (float)atomicAdd(word, value);
    if (KIND == LARGEST) atomicMax((int *)word, (int)value);
    if (KIND == SWAP) return (float)atomicCAS(word, value, value + 1);
    if (KIND == EXCHANGE) return (float)atomicExch(word, value);
    if (KIND == REAL) atomicAdd(at, (float)value);
    if (KIND == NOTHING) atomicAdd(at, value > 4096 ? 1.0f : 0.0f);
    if (KIND == SELDOM) atomicAdd(at, value % 4 ? 0.0f : 1.0f);
    if (KIND == DOUBLE) atomicAdd((double *)at, (double)value);
    if (KIND == WIDE) atomicAdd((unsigned long long *)at, (unsigned long long)value << 20);
    if (KIND == WIDE_LEAST) atomicMax((unsigned long long *)at, (unsigned long long)value << 20);
    if (KIND == WIDE_SWAP) return (float)atomicCAS((unsigned long long *)at, value, value + 1);
    if (KIND == WIDE_EXCHANGE)
        return (float)atomicExch((unsigned long long *)at, (unsigned long long)value);
    if (KIND == HALF) atomicAdd((__half *)at, __float2half((float)value));
    if (KIND == HALVES) atomicAdd((__half2 *)at, __float2half2_rn((float)value));
#if __CUDA_ARCH__ >= 900
    if (KIND == FOUR) atomicAdd((float4 *)at, make_float4(1, 2, 3, (float)value));
#endif
    if (KIND == OR) atomicOr(word, 1u << value % 32);
    return 0;
}

/* Lanes of `group` neighbours on one place; the places `apart` words apart. */
template <int KIND>
__global__ void atomics_kernel(float *x, float *y, int group, int apart, uint32_t lanes)
{
    float sum = 0;
    if (takes_part(lanes))
#pragma unroll 1
        for (int turn = 0; turn < TURNS; turn++)
            sum += atomic_do<KIND>(x + thread_number() / group * apart, threadIdx.x + turn + 1);
    y[thread_number()] = sum;
}

/* In shared memory; each warp has its own places, so no warp waits for another. */
template <int KIND>
__global__ void shared_atomics_kernel(float *y, int group, int apart, uint32_t lanes)
{
    __shared__ __align__(16) float s[8192];
    float sum = 0;
    for (int i = threadIdx.x; i < 8192; i += THREADS)
        s[i] = 0;
    __syncthreads();
    if (takes_part(lanes))
#pragma unroll 1
        for (int turn = 0; turn < TURNS; turn++)
            sum += atomic_do<KIND>(s + (threadIdx.x % 32 / group * apart) % 1024 +
                                       threadIdx.x / 32 * 1024,
                                   threadIdx.x + turn + 1);
    __syncthreads();
    y[thread_number()] = sum + s[threadIdx.x];
}

static void atomics()
{
#define E(kind, name, ...)                                                                         \
    ENTER(COUNTED, "atomics", name,                                                                \
          atomics_kernel<kind><<<64, THREADS>>>(source, target, __VA_ARGS__))
    E(ADD, "atomic-add", 1, 1, ~0u);
    E(ADD, "atomic-add-3", 1, 3, ~0u);
    E(ADD, "atomic-add-4-one", 4, 1, ~0u);
    E(ADD, "atomic-add-all-one", 32, 8, ~0u);
    E(ADD_TICKET, "atomic-ticket", 2, 1, ~0u);
    E(LARGEST, "atomic-max-half", 1, 2, 0x0000ffff);
    E(SWAP, "atomic-swap", 1, 1, ~0u);
    E(EXCHANGE, "atomic-exchange-5", 1, 5, ~0u);
    E(REAL, "atomic-float", 1, 1, ~0u);
    E(REAL, "atomic-float-8-one", 8, 1, 0xfffffff0);
    E(DOUBLE, "atomic-double", 1, 2, ~0u);
    E(WIDE, "atomic-wide", 2, 2, ~0u);
    E(HALVES, "atomic-halves", 1, 1, ~0u);
    E(FOUR, "atomic-float4", 1, 4, ~0u);
    E(OR, "atomic-or-16-one", 16, 1, ~0u);
#undef E
#define E(kind, name, ...)                                                                         \
    ENTER(COUNTED, "shared-atomics", name,                                                         \
          shared_atomics_kernel<kind><<<64, THREADS>>>(target, __VA_ARGS__))
    E(ADD, "shared-add", 1, 1, ~0u);
    E(ADD, "shared-add-2", 1, 2, ~0u);
    E(ADD, "shared-add-4-one", 4, 1, ~0u);
    E(ADD, "shared-add-8-one-apart", 8, 32, ~0u);
    E(ADD_TICKET, "shared-ticket", 1, 1, ~0u);
    E(ADD_TICKET, "shared-ticket-32", 32, 1, ~0u);
    E(LARGEST, "shared-max", 2, 1, 0xffff0000);
    E(SWAP, "shared-swap", 1, 1, ~0u);
    E(SWAP, "shared-swap-4", 4, 1, ~0u);
    E(SWAP, "shared-swap-apart", 1, 32, ~0u);
    E(EXCHANGE, "shared-exchange", 2, 1, ~0u);
    E(OR, "shared-or-4", 4, 4, ~0u);
    E(REAL, "shared-float", 1, 1, ~0u);
    E(REAL, "shared-float-2", 2, 1, ~0u);
    E(REAL, "shared-float-32", 32, 1, ~0u);
    E(REAL, "shared-float-apart", 4, 32, ~0u);
    E(DOUBLE, "shared-double", 1, 2, ~0u);
    E(DOUBLE, "shared-double-8", 8, 2, ~0u);
    E(WIDE, "shared-wide", 1, 2, ~0u);
    E(WIDE, "shared-wide-4", 4, 2, 0x0fffffff);
    E(HALVES, "shared-halves", 1, 1, ~0u);
    E(HALVES, "shared-halves-4", 4, 1, ~0u);
    E(HALF, "shared-half", 1, 1, ~0u);
    E(HALF, "shared-half-4", 4, 1, ~0u);
    E(ADD_ONE, "shared-one", 1, 1, ~0u);
    E(ADD_ONE, "shared-one-2", 1, 2, ~0u);
    E(ADD_ONE, "shared-one-32", 32, 1, ~0u);
    E(ADD_ONE, "shared-one-4-apart", 4, 32, ~0u);
    E(NOTHING, "shared-nothing", 32, 1, ~0u);
    E(NOTHING, "shared-nothing-4", 4, 1, ~0u);
    E(SELDOM, "shared-seldom", 32, 1, ~0u);
    E(SELDOM, "shared-seldom-8", 8, 1, ~0u);
    E(DOUBLE, "shared-double-apart", 1, 32, ~0u);
    E(DOUBLE, "shared-double-4-apart", 4, 32, ~0u);
    E(DOUBLE, "shared-double-odd", 2, 2, 0xaaaaaaaa);
    E(WIDE_LEAST, "shared-wide-max-2", 2, 2, ~0u);
    E(WIDE_SWAP, "shared-wide-swap", 1, 2, ~0u);
    E(WIDE_SWAP, "shared-wide-swap-4", 4, 2, ~0u);
    E(WIDE_EXCHANGE, "shared-wide-exchange", 1, 2, ~0u);
    E(WIDE_EXCHANGE, "shared-wide-exchange-2", 2, 2, 0x0fffffff);
    E(SWAP, "shared-swap-few", 1, 1, 0x00010101);
#undef E
}

/* ---- local memory ---------------------------------------------------------------------------- */

/* An array that only its index, known when it runs, keeps out of registers; it is the same in all
 * lanes, or another in each. */
template <class T, int COUNT> __global__ void local_kernel(const float *x, float *y, int by_lane)
{
    T array[COUNT];
    int lane = threadIdx.x % 32 * by_lane;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < COUNT; i++)
        array[(i + lane) % COUNT] = from<T>(x[thread_number()] * i);
#pragma unroll 1
    for (int i = 0; i < COUNT; i++)
        sum += of(array[(i * 5 + lane * 3) % COUNT]);
    y[thread_number()] = sum;
}

/* Few lanes sort their own few values. */
__global__ void sorts_kernel(const float *x, float *y, int count, uint32_t lanes)
{
    float value[24];
    if (takes_part(lanes)) {
        for (int i = 0; i < count; i++)
            value[i] = x[thread_number() * 24 + i];
        for (int i = 1; i < count; i++) {
            float one = value[i];
            int k = i;
            for (; k > 0 && value[k - 1] > one; k--)
                value[k] = value[k - 1];
            value[k] = one;
        }
        y[thread_number()] = value[count / 2];
    }
}

static void locals()
{
#define E(name, ...) ENTER(COUNTED, "local", name, __VA_ARGS__)
    E("local-24", local_kernel<float, 24><<<64, THREADS>>>(source, target, 0));
    E("local-24-lanes", local_kernel<float, 24><<<64, THREADS>>>(source, target, 1));
    E("local-byte-64", local_kernel<unsigned char, 64><<<64, THREADS>>>(source, target, 0));
    E("local-byte-64-lanes", local_kernel<unsigned char, 64><<<64, THREADS>>>(source, target, 1));
    E("local-short-32", local_kernel<unsigned short, 32><<<64, THREADS>>>(source, target, 3));
    E("local-double-16", local_kernel<double, 16><<<64, THREADS>>>(source, target, 0));
    E("local-double-16-lanes", local_kernel<double, 16><<<64, THREADS>>>(source, target, 1));
    E("local-float4-12", local_kernel<float4, 12><<<64, THREADS>>>(source, target, 0));
    E("local-float4-12-lanes", local_kernel<float4, 12><<<64, THREADS>>>(source, target, 1));
    E("sorts", sorts_kernel<<<64, THREADS>>>(source, target, 24, ~0u));
    E("sorts-few", sorts_kernel<<<64, THREADS>>>(source, target, 20, 0x01010111));
#undef E
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    source = array_make(8 * MB);
    target = array_make(8 * MB);
    globals();
    shared();
    raced_copies();
    matrices();
    waiting_copies();
    locals();
    atomics(); /* which change what the others read */
    apart_copies();
    return measure_close();
}
