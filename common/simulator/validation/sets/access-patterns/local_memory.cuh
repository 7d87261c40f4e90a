/* local_memory.cuh - access patterns of arrays in local memory (part of access-patterns.cu). */

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
#define E(name, ...) ENTER(COUNTERS_ONLY, "local", name, __VA_ARGS__)
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
