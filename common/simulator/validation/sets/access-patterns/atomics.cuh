/* atomics.cuh - access patterns of atomics (part of access-patterns.cu). */

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
    ENTER(COUNTERS_ONLY, "atomics", name,                                                          \
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
    ENTER(COUNTERS_ONLY, "shared-atomics", name,                                                   \
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
