/* measure.cu - measures the installed GPU and prints its description for the simulator: an ini file
 * like those of common/simulator/gpus, each number with its measurement.
 *
 * Properties are queried from the driver; latencies are measured with dependent chains of one
 * thread, in the SM's own clock; rates are measured with long launches on all SMs between two
 * events. Properties that a program cannot measure, such as allocation units, are inherited from
 * the nearest described machine by `like`. */
#include <algorithm>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 4096, REPEATS = 7 };

static cudaDeviceProp card;
static double clock_mhz;
static uint64_t *out; /* results of kernels: 4 M words */

static void fail(const char *what)
{
    fprintf(stderr, "machine: %s\n", what);
    exit(1);
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess) fail(cudaGetErrorString(error));
}

static void number(const char *name, double value, int places, const char *how, double raw)
{
    printf("; measured: ");
    printf(how, raw);
    printf("\n%s = %.*f\n", name, places, value);
}

static int ask(cudaDeviceAttr attribute)
{
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, 0));
    return value;
}

static void driver(const char *name, unsigned long long value, const char *attribute)
{
    printf("; driver: %s\n%s = %llu\n", attribute, name, value);
}

/* Keeps the GPU busy while the host enqueues events and launches. */
__global__ void busy_kernel(long long cycles)
{
    for (long long begin = clock64(); clock64() - begin < cycles;)
        ;
}

/* Median seconds of one launch between two events. */
template <class Launch> static double seconds(Launch launch)
{
    static cudaEvent_t begin, end;
    float all[REPEATS];
    if (!begin) check(cudaEventCreate(&begin)), check(cudaEventCreate(&end));
    launch();
    for (float &one : all) {
        busy_kernel<<<1, 1>>>(1000000);
        check(cudaEventRecord(begin));
        launch();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&one, begin, end));
    }
    check(cudaGetLastError());
    std::sort(all, all + REPEATS);
    return all[REPEATS / 2] * 1e-3;
}

/* The minimum over several runs of the value that the launch's one thread wrote. */
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

/* ---- the clock ------------------------------------------------------------------------------- */

/* A million steps, by the SM's clock and by the chip's nanoseconds. */
__global__ void clock_kernel(uint64_t *y, float a)
{
    uint64_t from, to, begin = clock64();
    float sum = a;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(from));
    for (int i = 0; i < 1 << 20; i++)
        sum = sum * a + 1.0f;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(to));
    y[0] = clock64() - begin, y[1] = to - from, y[2] = (uint64_t)sum;
}

static void clock_find()
{
    uint64_t said[2];
    for (int i = 0; i < 3; i++) /* the first ones wake it up */
        clock_kernel<<<card.multiProcessorCount, 128>>>(out, 0.5f);
    check(cudaMemcpy(said, out, sizeof said, cudaMemcpyDeviceToHost));
    clock_mhz = (double)said[0] * 1e3 / (double)said[1];
    number("clock_mhz", round(clock_mhz), 0, "%.1f cycles of the SM in a microsecond of the chip",
           clock_mhz);
}

/* ---- latencies ------------------------------------------------------------------------------- */

__global__ void alu_kernel(uint64_t *y, float a)
{
    float sum = a;
    uint64_t begin = clock64();
#pragma unroll 64
    for (int i = 0; i < STEPS; i++)
        asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(sum));
    y[0] = clock64() - begin, y[1] = (uint64_t)sum;
}

__global__ void shared_kernel(uint64_t *y)
{
    __shared__ uint32_t next[1];
    uint32_t at = (uint32_t)__cvta_generic_to_shared(next);
    next[0] = at;
    uint64_t begin = clock64();
#pragma unroll 64
    for (int i = 0; i < STEPS; i++)
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
    y[0] = clock64() - begin, y[1] = at;
}

/* A ring of addresses, `stride` bytes from one to the next. */
__global__ void ring_kernel(char *ring, size_t bytes, size_t stride)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, all = bytes / stride;
    if (i < all) *(char **)(ring + i * stride) = ring + (i + 1) % all * stride;
}

template <bool L1> __global__ void chase_kernel(uint64_t *y, char *at, int warm, int steps)
{
    for (int i = 0; i < warm; i++)
        asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    uint64_t begin = clock64();
#pragma unroll 16
    for (int i = 0; i < steps; i++)
        if (L1)
            asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
        else
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    y[0] = clock64() - begin, y[1] = (uint64_t)at;
}

static void latencies(char *space, size_t bytes)
{
    double all = cycles([] { alu_kernel<<<1, 1>>>(out, 0.5f); });
    number("alu_latency", round(all / STEPS), 0, "4096 dependent fma take %.0f cycles", all);
    all = cycles([] { shared_kernel<<<1, 1>>>(out); });
    number("shared_latency", round(all / STEPS), 0,
           "4096 dependent loads from shared memory take %.0f cycles", all);
    ring_kernel<<<1, 128>>>(space, 8192, 64);
    all = cycles([=] { chase_kernel<true><<<1, 1>>>(out, space, 256, STEPS); });
    number("l1_latency", round(all / STEPS), 0, "4096 dependent loads from 8 KB take %.0f cycles",
           all);
    size_t near = (size_t)card.l2CacheSize / 8;
    ring_kernel<<<(unsigned)(near / 256 / 128 + 1), 128>>>(space, near, 256);
    all = cycles([=] { chase_kernel<false><<<1, 1>>>(out, space, (int)(near / 256), STEPS); });
    number("l2_latency", round(all / STEPS), 0,
           "4096 dependent loads past the L1 from an eighth of the L2 take %.0f cycles", all);
    /* Distant addresses, each accessed for the first time: recently written data are in the L2,
     * these are not. */
    size_t stride = bytes / STEPS / 2 / 256 * 256 + 256;
    ring_kernel<<<STEPS / 128, 128>>>(space, stride * STEPS, stride);
    uint64_t least = UINT64_MAX, one;
    for (int i = 0; i < REPEATS; i++) {
        check(cudaMemset(space + bytes / 2 + bytes / 4, 0, bytes / 4));
        chase_kernel<false><<<1, 1>>>(out, space, 0, STEPS / 2);
        check(cudaMemcpy(&one, out, sizeof one, cudaMemcpyDeviceToHost));
        least = std::min(least, one);
    }
    number("dram_latency", round((double)least / (STEPS / 2)), 0,
           "2048 dependent loads from memory that no cache has take %.0f cycles", (double)least);
}

/* ---- bandwidths ------------------------------------------------------------------------------ */

__global__ void stream_kernel(const float4 *x, uint64_t *y, size_t n, int turns)
{
    float sum = 0;
    for (int turn = 0; turn < turns; turn++)
#pragma unroll 8
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
             i += (size_t)gridDim.x * blockDim.x) {
            float4 v;
            asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                         : "l"(x + i));
            sum += v.x + v.y + v.z + v.w;
        }
    if (sum == 1.0f) y[0] = 1;
}

static void bandwidths(char *space, size_t bytes)
{
    unsigned blocks = (unsigned)card.multiProcessorCount * 4;
    size_t n = bytes / 16, near = (size_t)card.l2CacheSize / 4 / 16;
    const float4 *x = (const float4 *)space;
    double s = seconds([=] { stream_kernel<<<blocks, 512>>>(x, out, n, 1); });
    number("dram_gb_s", (double)bytes / s * 1e-9, 0, "reading far more than the L2 takes %.0f GB/s",
           (double)bytes / s * 1e-9);
    int turns = 40;
    s = seconds([=] { stream_kernel<<<blocks, 512>>>(x, out, near, turns); });
    double rate = (double)near * 16 * turns / (s * clock_mhz * 1e6);
    number("l2_bytes_per_cycle", round(rate), 0,
           "reading a quarter of the L2 again and again takes %.0f bytes a cycle", rate);
    s = seconds([=] { stream_kernel<<<1, 1024>>>(x, out, 1 << 16, 8); });
    rate = 8.0 * 16 * (1 << 16) / (s * clock_mhz * 1e6);
    number("l2_bytes_per_sm", round(rate), 0, "one SM alone reads %.1f bytes a cycle from the L2",
           rate);
}

/* ---- pipes ----------------------------------------------------------------------------------- */

enum Pipe { FP32, INT32, FP64, SFU, SHARED };

/* Four chains per thread, 64 steps unrolled; loaded values are used, because ptxas would remove the
 * loads otherwise. */
template <int PIPE> __global__ void __launch_bounds__(512) pipe_kernel(uint64_t *y, int turns)
{
    __shared__ uint32_t space[1024];
    float f[4];
    double d[4];
    uint32_t u[4], v[4], at = (uint32_t)__cvta_generic_to_shared(space + threadIdx.x);
    for (int c = 0; c < 4; c++)
        f[c] = (float)(threadIdx.x + c), d[c] = f[c], u[c] = threadIdx.x + c;
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int i = 0; i < 64; i++) {
            const int c = i % 4;
            if (PIPE == FP32) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(f[c]));
            if (PIPE == INT32) asm volatile("mad.lo.u32 %0, %0, %0, %0;" : "+r"(u[c]));
            if (PIPE == FP64) asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(d[c]));
            if (PIPE == SFU) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[c]));
            if (PIPE == SHARED) {
                asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[c]) : "r"(at + i * 4));
                u[c] ^= v[c];
            }
        }
    if (f[0] + f[1] + f[2] + f[3] == 0.5f || d[0] + d[1] + d[2] + d[3] == 0.5 ||
        u[0] + u[1] + u[2] + u[3] == 77)
        y[0] = 1;
}

/* Lanes per cycle and SM. */
template <int PIPE> static double pipe_rate()
{
    int turns = PIPE == FP64 ? 16 : 64;
    unsigned blocks =
        (unsigned)(card.multiProcessorCount * (card.maxThreadsPerMultiProcessor / 512));
    auto launch = [=](int n) {
        return seconds([=] { pipe_kernel<PIPE><<<blocks, 512>>>(out, n); });
    };
    /* The difference of two lengths cancels the launch overhead. */
    double s = launch(2 * turns) - launch(turns), lanes = 512.0 * blocks * 64 * turns;
    return lanes / (s * clock_mhz * 1e6) / card.multiProcessorCount;
}

/* The nearest number of lanes that hardware has: a power of two. */
static double lanes(double rate)
{
    return rate > 1 ? exp2(round(log2(rate))) : 1;
}

/* MMAs of 16 x 8 x 16 halves per warp, two of half the depth before Ampere. */
__global__ void tensor_kernel(uint64_t *y, int turns)
{
    uint32_t a = threadIdx.x, b = threadIdx.x * 3, c[4][4] = {};
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int i = 0; i < 16; i++) {
            uint32_t *s = c[i % 4];
#if __CUDA_ARCH__ >= 800
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                         "{%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};"
                         : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
                         : "r"(a), "r"(b));
#elif __CUDA_ARCH__ >= 750
            for (int half = 0; half < 2; half++)
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                             "{%4, %4}, {%5}, {%0, %1, %2, %3};"
                             : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
                             : "r"(a), "r"(b));
#endif
        }
    if (c[0][0] + c[1][1] + c[2][2] + c[3][3] == 77) y[0] = a + b;
}

static void pipes()
{
    double rate = pipe_rate<FP32>();
    number("fp32_lanes", lanes(rate), 0, "an SM takes %.1f fma of floats a cycle", rate);
    rate = pipe_rate<INT32>();
    number("int32_lanes", lanes(rate), 0, "an SM takes %.1f multiply-adds of integers a cycle",
           rate);
    rate = pipe_rate<FP64>();
    number("fp64_lanes", lanes(rate), 0, "an SM takes %.1f fma of doubles a cycle", rate);
    rate = pipe_rate<SFU>();
    number("sfu_lanes", lanes(rate), 0, "an SM takes %.1f ex2 a cycle", rate);
    rate = pipe_rate<SHARED>();
    number("lsu_lanes", lanes(rate), 0, "an SM loads %.1f words a cycle from shared memory", rate);
    if (card.major * 10 + card.minor < 75) return;
    unsigned blocks = (unsigned)card.multiProcessorCount * 2;
    double s = seconds([=] { tensor_kernel<<<blocks, 256>>>(out, 2048); }) -
               seconds([=] { tensor_kernel<<<blocks, 256>>>(out, 1024); });
    /* 16 MMAs per iteration, of 8 warps of 2 blocks per SM. */
    rate = 1024.0 * 16 * 8 * 2 * 16 * 8 * 16 / (s * clock_mhz * 1e6);
    if (card.major == 9)
        /* The key is the rate of warpgroup MMAs there, which mma.sync does not reach. */
        printf("; measured: mma.sync of halves makes %.0f fma a cycle and SM; tensor_fma is "
               "inherited\n",
               rate);
    else
        number("tensor_fma", round(rate / 32) * 32, 0,
               "mma.sync of halves makes %.0f fma a cycle and SM", rate);
}

/* ---- launches -------------------------------------------------------------------------------- */

__global__ void empty_kernel()
{
}

static void launches()
{
    double one = seconds([] { empty_kernel<<<1, 32>>>(); });
    number("launch_cycles", round(one * clock_mhz * 1e6), 0,
           "an empty kernel between two events takes %.2f us", one * 1e6);
    double many = seconds([] { empty_kernel<<<1 << 17, 32>>>(); }) -
                  seconds([] { empty_kernel<<<1 << 16, 32>>>(); });
    number("block_launch_cycles", many * clock_mhz * 1e6 / (1 << 16), 2,
           "65536 more empty blocks take %.2f us", many * 1e6);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The described machine whose architecture is nearest. */
static const char *relative()
{
    int cc = card.major * 10 + card.minor;
    return cc < 50   ? "gtx480"
           : cc < 60 ? "gtx980"
           : cc < 70 ? "gtx1080ti"
           : cc < 75 ? "titanv"
           : cc < 80 ? "t4"
           : cc < 86 ? "a100"
           : cc < 89 ? "rtx3060"
           : cc < 90 ? "rtx4060"
                     : "h200";
}

/* The described architecture of the same major capability that is nearest from below; else the
 * GPU's own, of which the simulator then reports that it is not described. */
static int architecture()
{
    const int described[] = {20, 50, 60, 61, 70, 75, 80, 86, 89, 90, 100, 120};
    int cc = card.major * 10 + card.minor, nearest = cc;
    for (int sm : described)
        if (sm / 10 == card.major && sm <= cc) nearest = sm;
    return nearest;
}

static void limits()
{
    printf("; driver: name\ntitle = %s\n", card.name);
    driver("cc_major", (unsigned)card.major, "cudaDeviceProp.major");
    driver("cc_minor", (unsigned)card.minor, "cudaDeviceProp.minor");
    printf("; costs of the time model and features: architectures/sm%d.ini\n"
           "architecture = sm%d\n",
           architecture(), architecture());
    driver("sms", (unsigned)card.multiProcessorCount, "cudaDeviceProp.multiProcessorCount");
    driver("memory_bytes", card.totalGlobalMem, "cudaDeviceProp.totalGlobalMem");
    driver("l2_bytes", (unsigned)card.l2CacheSize, "cudaDeviceProp.l2CacheSize");
    driver("max_threads_per_block", (unsigned)card.maxThreadsPerBlock,
           "cudaDeviceProp.maxThreadsPerBlock");
    driver("max_threads_per_sm", (unsigned)card.maxThreadsPerMultiProcessor,
           "cudaDeviceProp.maxThreadsPerMultiProcessor");
    driver("max_blocks_per_sm", (unsigned)card.maxBlocksPerMultiProcessor,
           "cudaDeviceProp.maxBlocksPerMultiProcessor");
    driver("max_warps_per_sm", (unsigned)card.maxThreadsPerMultiProcessor / 32,
           "cudaDeviceProp.maxThreadsPerMultiProcessor / 32");
    driver("registers_per_sm", (unsigned)card.regsPerMultiprocessor,
           "cudaDeviceProp.regsPerMultiprocessor");
    driver("shared_per_block", card.sharedMemPerBlock, "cudaDeviceProp.sharedMemPerBlock");
    driver("shared_per_block_optin", card.sharedMemPerBlockOptin,
           "cudaDeviceProp.sharedMemPerBlockOptin");
    driver("shared_per_sm", card.sharedMemPerMultiprocessor,
           "cudaDeviceProp.sharedMemPerMultiprocessor");
    driver("shared_reserved", card.reservedSharedMemPerBlock,
           "cudaDeviceProp.reservedSharedMemPerBlock");
    driver("memory_clock_khz", (unsigned)ask(cudaDevAttrMemoryClockRate),
           "cudaDevAttrMemoryClockRate");
    driver("memory_bus_bits", (unsigned)ask(cudaDevAttrGlobalMemoryBusWidth),
           "cudaDevAttrGlobalMemoryBusWidth");
    driver("persisting_l2_bytes", (size_t)card.persistingL2CacheMaxSize,
           "cudaDeviceProp.persistingL2CacheMaxSize");
    driver("access_window_bytes", (size_t)card.accessPolicyMaxWindowSize,
           "cudaDeviceProp.accessPolicyMaxWindowSize");
}

int main()
{
    int count = 0, driver_version = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || !count) {
        fprintf(stderr, "machine: there is no NVIDIA GPU here (%s)\n",
                error == cudaSuccess ? "none is visible" : cudaGetErrorString(error));
        return 3;
    }
    check(cudaGetDeviceProperties(&card, 0));
    check(cudaDriverGetVersion(&driver_version));
    /* Far more than the L2, and no more than a quarter of the memory. */
    size_t bytes = std::min<size_t>(std::max<size_t>((size_t)card.l2CacheSize * 16, 512u << 20),
                                    card.totalGlobalMem / 4) &
                   ~(size_t)0xfffff;
    char *space;
    check(cudaMalloc(&out, 32u << 20));
    check(cudaMalloc(&space, bytes));
    check(cudaMemset(space, 0, bytes));
    printf("; %s, measured by make machine; driver for CUDA %d.%d\n", card.name,
           driver_version / 1000, driver_version % 1000 / 10);
    printf("; Missing keys are inherited from that machine: sizes of allocation, L1, "
           "schedulers.\n");
    printf("like = %s\n", relative());
    limits();
    clock_find();
    latencies(space, bytes);
    bandwidths(space, bytes);
    pipes();
    launches();
    check(cudaDeviceSynchronize());
    check(cudaFree(out)), check(cudaFree(space));
    return 0;
}
