/* curves.cu - measures what gpu.md shows: how long a load takes from where, what warps do for a
 * pipe and for memory, strides, banks, branches, waves, launches, streams and copies.
 *
 * Prints one line per point: curve, series, x, value.  Each time is the minimum of several, because
 * other load only makes them longer.  Any CUDA GPU of compute capability 7.0 or newer will do. */
#include <algorithm>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 7, LINE = 128, MOST_STREAMS = 32 };

struct Span;
static int sms;
static size_t l2_bytes;
static uint64_t *out;
static Span *spans;

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "curves: %s\n", cudaGetErrorString(error));
    exit(1);
}

static void point(const char *curve, const char *series, double x, double value)
{
    printf("%s\t%s\t%.0f\t%.4g\n", curve, series, x, value);
    fflush(stdout);
}

/* Keeps the GPU busy while the host enqueues its work after it. */
__global__ void busy_kernel(long long cycles)
{
    for (long long begin = clock64(); clock64() - begin < cycles;)
        ;
}

/* Microseconds on the GPU from the first of `work`'s calls to the end of the last. */
template <class Work> static double microseconds(Work work)
{
    static cudaEvent_t begin, end;
    float least = 1e30f, one;
    if (!begin) check(cudaEventCreate(&begin)), check(cudaEventCreate(&end));
    work();
    for (int i = 0; i < REPEATS; i++) {
        busy_kernel<<<1, 1>>>(400000);
        check(cudaEventRecord(begin));
        work();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&one, begin, end));
        least = std::min(least, one);
    }
    check(cudaGetLastError());
    return (double)least * 1e3;
}

/* The cycles that thread 0 of the launch wrote into out[0]. */
template <class Launch> static double cycles(Launch launch)
{
    uint64_t least = UINT64_MAX, one;
    for (int i = 0; i < REPEATS; i++) {
        launch();
        check(cudaMemcpy(&one, out, sizeof one, cudaMemcpyDeviceToHost));
        least = std::min(least, one);
    }
    return (double)least;
}

/* When a warp of a block began and ended, by the clock of its SM. */
struct Span {
    uint64_t begin, end;
};

__device__ static void span_begin(Span *span)
{
    if (threadIdx.x % 32 == 0) span[threadIdx.x / 32].begin = clock64();
}

__device__ static void span_end(Span *span)
{
    __syncwarp();
    if (threadIdx.x % 32 == 0) span[threadIdx.x / 32].end = clock64();
}

/* From the first of the block's warps that begins to the last that ends. */
template <class Launch> static double cycles(Launch launch, int warps)
{
    Span one[32];
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < REPEATS; i++) {
        launch();
        check(cudaMemcpy(one, spans, sizeof one, cudaMemcpyDeviceToHost));
        uint64_t begin = UINT64_MAX, end = 0;
        for (int w = 0; w < warps; w++)
            begin = std::min(begin, one[w].begin), end = std::max(end, one[w].end);
        least = std::min(least, end - begin);
    }
    return (double)least;
}

/* ---- latency of a load by size of the traversed memory --------------------------------------- */

/* A ring of addresses: each line of memory holds where the next one is. */
__global__ void ring_kernel(char *ring, size_t lines)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < lines) *(char **)(ring + i * LINE) = ring + (i + 1) % lines * LINE;
}

/* begin chase */
/* One thread follows the ring: a load cannot begin before the previous one is done. */
__device__ static char *chase(char *at, int steps)
{
#pragma unroll 16
    for (int i = 0; i < steps; i++)
        asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    return at;
}

__global__ void chase_kernel(uint64_t *cycles, char *ring, int warm, int steps)
{
    char *at = chase(ring, warm); /* now the caches hold what they can */
    uint64_t begin = clock64();
    at = chase(at, steps);
    cycles[0] = clock64() - begin;
    cycles[1] = (uint64_t)at; /* used, or the compiler would leave the loop out */
}
/* end chase */

/* Memory that fits into a cache is traversed once before the measurement; of larger memory, the
 * first part. */
static void latency(char *space, size_t most)
{
    for (size_t bytes = 8192; bytes <= most; bytes *= 2)
        for (int half = 0; half < 2 && bytes + half * bytes / 2 <= most; half++) {
            size_t lines = (bytes + half * bytes / 2) / LINE;
            int steps = 4096, warm = (int)(lines * LINE < 2 * l2_bytes ? lines : steps);
            double all = cycles([=] {
                ring_kernel<<<(unsigned)(lines / 128 + 1), 128>>>(space, lines);
                chase_kernel<<<1, 1>>>(out, space, warm, steps);
            });
            point("latency", "load", (double)lines * LINE, all / steps);
        }
}

/* ---- throughput of a pipe of 4 cycles by number of warps ------------------------------------- */

/* begin chains */
/* CHAINS independent accumulators per thread: CHAINS FMAs of a warp may be in flight. */
template <int CHAINS> __global__ void chains_kernel(Span *span, int turns)
{
    float sum[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        sum[c] = (float)(threadIdx.x + c);
    __syncthreads();
    span_begin(span);
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int i = 0; i < 64; i++)
            asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(sum[i % CHAINS]));
    span_end(span);
    for (int c = 0; c < CHAINS; c++)
        if (sum[c] == 12345.0f) span->begin = 0; /* used */
}
/* end chains */

template <int CHAINS> static void fma_rate(const char *series)
{
    for (int warps = 1; warps <= 32; warps += warps < 8 ? 1 : 4) {
        double all = cycles([=] { chains_kernel<CHAINS><<<1, warps * 32>>>(spans, 64); }, warps);
        point("fma", series, warps, 64.0 * 64 * warps * 32 / all);
    }
}

/* ---- memory throughput by bytes in flight ---------------------------------------------------- */

/* begin flight */
/* Each thread asks for LOADS times 16 bytes before it needs the first of them. */
template <int LOADS> __global__ void flight_kernel(const float4 *x, uint64_t *y, size_t n)
{
    size_t all = (size_t)gridDim.x * blockDim.x;
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all * LOADS) {
        float4 v[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            v[k] = __ldcg(x + i + k * all);
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    if (sum == 1.0f) y[0] = 1;
}
/* end flight */

/* x is bytes that an SM has asked for at the same time, value GB/s of the whole GPU. */
template <int LOADS> static void flight(const char *series, const char *space, size_t bytes)
{
    const float4 *x = (const float4 *)space;
    for (int warps = 1; warps <= 64; warps *= 2) {
        int blocks = sms * (warps > 16 ? warps / 16 : 1), threads = std::min(warps, 16) * 32;
        size_t once = (size_t)blocks * threads * LOADS, n = bytes / 16 / once * once;
        double us = microseconds([=] { flight_kernel<LOADS><<<blocks, threads>>>(x, out, n); });
        point("flight", series, warps * 32.0 * 16 * LOADS, (double)n * 16 / us * 1e-3);
    }
}

/* ---- strides --------------------------------------------------------------------------------- */

/* begin stride */
/* Neighbouring threads read `stride` floats apart. */
__global__ void stride_kernel(const float *__restrict__ x, float *__restrict__ y, int stride)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] = x[(size_t)i * stride];
}
/* end stride */

/* A second run would find x in the L2, so each reads another part of memory. */
static void strides(char *space, size_t bytes)
{
    const int n = 1 << 20;
    float *y = (float *)(space + bytes - n * sizeof *y);
    for (int stride = 1; stride <= 32; stride += stride < 8 ? 1 : 4) {
        size_t step = (size_t)n * stride, turn = 0, turns = (bytes / 4 - n) / step;
        double us = microseconds([&] {
            const float *x = (const float *)space + turn++ % turns * step;
            stride_kernel<<<n / 256, 256>>>(x, y, stride);
        });
        point("stride", "copy", stride, us);
    }
}

/* begin banks */
/* Lanes read words of shared memory `stride` words apart. */
__global__ void bank_kernel(Span *span, int stride)
{
    __shared__ uint32_t word[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += blockDim.x)
        word[i] = 0;
    __syncthreads();
    uint32_t at = (uint32_t)__cvta_generic_to_shared(word + threadIdx.x % 32 * stride), sum = 0;
    span_begin(span);
#pragma unroll 32
    for (int i = 0; i < 1024; i++) {
        uint32_t v;
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
        sum += v;
    }
    span_end(span);
    if (sum == 1) span->begin = 0; /* used */
}
/* end banks */

/* 32 warps, so that nothing but the banks is waited for: cycles a load of a warp. */
static void banks()
{
    for (int stride = 0; stride <= 33; stride++) {
        double all = cycles([=] { bank_kernel<<<1, 1024>>>(spans, stride); }, 32);
        point("bank", "load", stride, all / 1024 / 32);
    }
}

/* begin branch */
/* Lanes take `ways` different ways; each has the same 64 steps to do, whichever way it goes. */
__global__ void branch_kernel(uint64_t *cycles, float a, int ways)
{
    int mine = threadIdx.x % ways;
    float sum = (float)threadIdx.x;
    uint64_t begin = clock64();
    for (int way = 0; way < ways; way++)
        if (way == mine)
#pragma unroll 1
            for (int i = 0; i < 64; i++)
                sum = fmaf(sum, a, (float)way);
    __syncwarp();
    uint64_t end = clock64();
    if (threadIdx.x == 0) cycles[0] = end - begin;
    if (sum == 12345.0f) cycles[1] = 1;
}
/* end branch */

static void branches()
{
    for (int ways = 1; ways <= 32; ways *= 2)
        point("branch", "warp", ways, cycles([=] { branch_kernel<<<1, 32>>>(out, 0.999f, ways); }));
}

/* ---- waves, launches, streams, copies -------------------------------------------------------- */

/* A chain of FMAs: as long whether the SM has one such block or two. */
__global__ void __launch_bounds__(1024, 1) chain_kernel(uint64_t *y, float a, int steps)
{
    float sum = (float)threadIdx.x;
#pragma unroll 16
    for (int i = 0; i < steps; i++)
        sum = fmaf(sum, a, 0.5f);
    if (sum == 12345.0f) y[1] = 1;
}

/* Blocks that take more than half of an SM's shared memory: one at a time on each SM. */
static void waves()
{
    const int shared = 120 * 1024;
    check(cudaFuncSetAttribute(chain_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    for (int blocks = 12; blocks <= 4 * sms; blocks += 12)
        point("waves", "launch", blocks,
              microseconds([=] { chain_kernel<<<blocks, 128, shared>>>(out, 0.999f, 4096); }));
    for (int blocks = sms; blocks <= sms + 1; blocks++)
        point("waves", "edge", blocks,
              microseconds([=] { chain_kernel<<<blocks, 128, shared>>>(out, 0.999f, 4096); }));
}

__global__ void empty_kernel()
{
}

/* Microseconds per launch of `many` successive launches, and of a graph with `many` kernels. */
static void launches()
{
    const int many = 64;
    auto all = [=](cudaStream_t stream) {
        for (int i = 0; i < many; i++)
            empty_kernel<<<1, 32, 0, stream>>>();
    };
    point("launch", "calls", many, microseconds([=] { all(0); }) / many);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    all(stream);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&exec, graph, 0));
    point("launch", "graph", many, microseconds([=] { check(cudaGraphLaunch(exec, 0)); }) / many);
    point("launch", "one", 1, microseconds([=] { empty_kernel<<<1, 32>>>(); }));
}

/* 32 kernels of one block each, distributed over 1 to 32 streams. */
static void streams()
{
    static cudaStream_t stream[MOST_STREAMS];
    static cudaEvent_t ready, done[MOST_STREAMS];
    check(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    for (int i = 0; i < MOST_STREAMS; i++) {
        check(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
    }
    for (int used = 1; used <= MOST_STREAMS; used *= 2)
        point("streams", "kernels", used, microseconds([=] {
                  check(cudaEventRecord(ready));
                  for (int i = 0; i < used; i++)
                      check(cudaStreamWaitEvent(stream[i], ready, 0));
                  for (int i = 0; i < MOST_STREAMS; i++)
                      chain_kernel<<<1, 128, 0, stream[i % used]>>>(out, 0.999f, 16384);
                  for (int i = 0; i < used; i++) {
                      check(cudaEventRecord(done[i], stream[i]));
                      check(cudaStreamWaitEvent(0, done[i], 0));
                  }
              }));
}

/* GB/s between the host's memory and the GPU's. */
static void copies(char *space)
{
    const size_t bytes = 256u << 20;
    char *pageable = (char *)calloc(bytes, 1), *pinned;
    check(cudaMallocHost(&pinned, bytes));
    auto rate = [=](double us) { return (double)bytes / us * 1e-3; };
    point("copy", "to-pinned", 1, rate(microseconds([=] {
              check(cudaMemcpyAsync(space, pinned, bytes, cudaMemcpyHostToDevice));
          })));
    point("copy", "from-pinned", 1, rate(microseconds([=] {
              check(cudaMemcpyAsync(pinned, space, bytes, cudaMemcpyDeviceToHost));
          })));
    point("copy", "to-pageable", 1, rate(microseconds([=] {
              check(cudaMemcpyAsync(space, pageable, bytes, cudaMemcpyHostToDevice));
          })));
    check(cudaFreeHost(pinned));
    free(pageable);
}

/* ---- all of it ------------------------------------------------------------------------------- */

int main()
{
    const size_t bytes = (size_t)1 << 30; /* many times the L2 */
    cudaDeviceProp card;
    char *space;
    check(cudaGetDeviceProperties(&card, 0));
    sms = card.multiProcessorCount;
    l2_bytes = (size_t)card.l2CacheSize;
    check(cudaMalloc(&out, 64));
    check(cudaMalloc(&spans, 32 * sizeof *spans));
    check(cudaMalloc(&space, bytes));
    check(cudaMemset(space, 0, bytes));
    printf("curve\tseries\tx\tvalue\n");
    latency(space, bytes);
    fma_rate<1>("1");
    fma_rate<2>("2");
    fma_rate<4>("4");
    check(cudaMemset(space, 0, bytes));
    flight<1>("1", space, bytes);
    flight<2>("2", space, bytes);
    flight<4>("4", space, bytes);
    flight<8>("8", space, bytes);
    strides(space, bytes);
    banks();
    branches();
    waves();
    launches();
    streams();
    copies(space);
    return 0;
}
