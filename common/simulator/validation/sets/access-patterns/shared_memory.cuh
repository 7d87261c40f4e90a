/* shared_memory.cuh - access patterns of shared memory, with asynchronous copies and matrices
 * (part of access-patterns.cu). */

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

/* As above, of vectors: these cannot be volatile, so each iteration reads another row. */
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

/* Copies that overtake each other: the copies of an iteration go to addresses to which copies of
 * the iteration before may still be in flight.  PTX leaves the result undefined. */
static void raced_copies()
{
#define R(name, BYTES, pitch, stride, lanes)                                                       \
    ENTER(RACING, "copies", name,                                                                  \
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
 * before, so that no two copies to one address are in flight.  Only `there` bytes of a lane are
 * valid; none are if the lane is in `ignored`. */
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
    ENTER(COUNTERS_ONLY, "copies", name,                                                           \
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
    ENTER(COUNTERS_ONLY, "copies", "waiting-ignored",
          waiting_copies_kernel<true>
          <<<64, THREADS>>>((char *)source, target, 16, 0, 16, 16, 0xf00ff0f0, ~0u));
    ENTER(COUNTERS_ONLY, "copies", "waiting-ignored-all",
          waiting_copies_kernel<true>
          <<<64, THREADS>>>((char *)source, target, 16, 0, 16, 16, ~0u, ~0u));
}

/* Copies that are all in flight at once, each to an address of its own.  An iteration has `extent`
 * bytes, in which the addresses of 64 threads start `group` bytes after those of the 64 before. */
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
    ENTER(COUNTERS_ONLY, "copies", name,                                                           \
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
    ENTER(COUNTERS_ONLY, "matrices", name,                                                         \
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
    ENTER(COUNTERS_ONLY, "matrices", name,                                                         \
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
#define E(family, name, ...) ENTER(COUNTERS_ONLY, family, name, __VA_ARGS__)
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
