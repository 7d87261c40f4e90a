/* global_memory.cuh - access patterns of loads and stores in global memory (part of
 * access-patterns.cu). */

/* Lanes lie `stride` apart, the first at `begin`; iterations lie one launch apart. */
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

/* The lanes in reverse order, or exchanged by `flip`. */
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
#define L(name, ...) ENTER(COUNTERS_ONLY, "load", name, load_kernel < __VA_ARGS__)
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
#define S(name, ...) ENTER(COUNTERS_ONLY, "store", name, store_kernel < __VA_ARGS__)
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
#define G(name, ...) ENTER(COUNTERS_ONLY, "order", name, __VA_ARGS__)
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
