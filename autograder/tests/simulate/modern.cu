// modern.cu - libcu++ in kernels (arrays, tuples, optionals, barriers, pipelines, a semaphore, a
// latch) and what groups scan and reduce.  Prints a sum of all bits of each, which check.sh holds
// against an H200's.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/latch>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/limits>
#include <cuda/std/bit>
#include <cuda/annotated_ptr>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            printf("%s: %s\n", #call, cudaGetErrorString(status_));                                \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

__device__ cuda::std::optional<int> odd(int x)
{
    if (x & 1) return x;
    return cuda::std::nullopt;
}

__device__ cuda::std::tuple<int, float> both(int x)
{
    return {x, x * 0.5f};
}

__global__ void types(cuda::std::span<float> out)
{
    cuda::std::array<int, 4> a{1, 2, 3, (int)threadIdx.x};
    int s = 0;
    for (int v : a)
        s += v;
    auto [i, h] = both(s);
    cuda::std::complex<float> z(h, 1.0f);
    z *= z;
    out[threadIdx.x] = i + z.real() + z.imag() + odd(s).value_or(-1) +
                       cuda::std::popcount((unsigned)s) +
                       (cuda::std::numeric_limits<int>::max() & 1);
}

__global__ void groups(const int *x, int *out)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto four = cg::tiled_partition<4>(warp);
    int v = x[block.thread_rank()];
    int in = cg::inclusive_scan(warp, v), ex = cg::exclusive_scan(four, v),
        most = cg::reduce(warp, v, cg::greater<int>());
    auto same = cg::labeled_partition(warp, v % 3);
    int kin = cg::reduce(same, v, cg::plus<int>());
    auto halves = cg::binary_partition(warp, (v & 1) != 0);
    int xored = cg::reduce(halves, v, cg::bit_xor<int>());
    int hand = 0;
    if (v > 50) {
        auto active = cg::coalesced_threads();
        hand = active.size() * 100 + active.thread_rank() + cg::exclusive_scan(active, v);
    }
    out[block.thread_rank()] =
        in + 7 * ex + 11 * most + 13 * kin + 17 * xored + 19 * hand + warp.meta_group_rank();
}

__global__ void barriers(const float *x, float *out, int n)
{
    alignas(16) __shared__ float tile[2][128];
    __shared__ cuda::barrier<cuda::thread_scope_block> full;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&full, block.size());
    block.sync();
    float sum = 0;
    for (int t = 0; t < n / 128; t++) {
        cuda::memcpy_async(block, tile[t & 1], x + t * 128, cuda::aligned_size_t<16>(128 * 4),
                           full);
        full.arrive_and_wait();
        sum += tile[t & 1][(threadIdx.x * 7 + t) % 128];
        auto token = full.arrive();
        full.wait(cuda::std::move(token));
    }
    out[threadIdx.x] = sum;
}

__global__ void pipelined(const float *x, float *out, int n)
{
    constexpr int STAGES = 3;
    __shared__ float tile[STAGES][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    int tiles = n / 64, ahead = 0;
    for (int t = 0; t < tiles; t++) {
        for (; ahead < tiles && ahead < t + STAGES; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[ahead % STAGES], x + ahead * 64, sizeof(float) * 64,
                               pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        sum += tile[t % STAGES][(threadIdx.x + t) % 64];
        block.sync();
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

__global__ void lanes(const float *x, float *out, int n)
{
    __shared__ float tile[2][32];
    auto pipe = cuda::make_pipeline();
    auto block = cg::this_thread_block();
    float sum = 0;
    for (int t = 0; t <= n / 32; t++) {
        if (t < n / 32) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[t & 1][threadIdx.x], &x[t * 32 + threadIdx.x], sizeof(float),
                               pipe);
            pipe.producer_commit();
        }
        if (t) {
            if (t < n / 32)
                cuda::pipeline_consumer_wait_prior<1>(pipe);
            else
                cuda::pipeline_consumer_wait_prior<0>(pipe);
            block.sync();
            sum += tile[(t - 1) & 1][31 - threadIdx.x];
            pipe.consumer_release();
            block.sync();
        }
    }
    cg::memcpy_async(block, tile[0], x, sizeof(float) * 32);
    cg::wait(block);
    out[threadIdx.x] = sum + tile[0][threadIdx.x];
}

__device__ cuda::atomic<int, cuda::thread_scope_device> inside, most;

__global__ void gates(cuda::counting_semaphore<cuda::thread_scope_device, 2> *gate,
                      cuda::latch<cuda::thread_scope_device> *all, int *out)
{
    if (threadIdx.x == 0) {
        gate->acquire();
        int now = inside.fetch_add(1) + 1;
        most.fetch_max(now);
        inside.fetch_sub(1);
        gate->release();
        all->arrive_and_wait();
        atomicMax(out, most.load());
    }
}

__global__ void gates_make(cuda::counting_semaphore<cuda::thread_scope_device, 2> *gate,
                           cuda::latch<cuda::thread_scope_device> *all, int blocks)
{
    new (gate) cuda::counting_semaphore<cuda::thread_scope_device, 2>(2);
    new (all) cuda::latch<cuda::thread_scope_device>(blocks);
}

static unsigned hash(const std::vector<float> &v)
{
    unsigned h = 0;
    for (float f : v) {
        unsigned b;
        memcpy(&b, &f, 4);
        h = h * 31 + b;
    }
    return h;
}

int main()
{
    const int n = 1536;
    std::vector<float> x(n), o(128);
    std::vector<int> k(128), g(128);
    for (int i = 0; i < n; i++)
        x[i] = (i * 37) % 101;
    for (int i = 0; i < 128; i++)
        k[i] = (i * 29) % 97;
    float *dx, *d;
    int *dk, *dg;
    CHECK(cudaMalloc(&dx, n * 4));
    CHECK(cudaMalloc(&d, 512));
    CHECK(cudaMalloc(&dk, 512));
    CHECK(cudaMalloc(&dg, 512));
    CHECK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dk, k.data(), 512, cudaMemcpyHostToDevice));
    types<<<1, 64>>>(cuda::std::span<float>(d, 64));
    CHECK(cudaMemcpy(o.data(), d, 256, cudaMemcpyDeviceToHost));
    printf("types %08x\n", hash({o.begin(), o.begin() + 64}));
    groups<<<1, 128>>>(dk, dg);
    CHECK(cudaMemcpy(g.data(), dg, 512, cudaMemcpyDeviceToHost));
    unsigned h = 0;
    for (int v : g)
        h = h * 31 + v;
    printf("groups %08x\n", h);
    barriers<<<1, 128>>>(dx, d, n);
    CHECK(cudaMemcpy(o.data(), d, 512, cudaMemcpyDeviceToHost));
    printf("barriers %08x\n", hash(o));
    pipelined<<<1, 64>>>(dx, d, n);
    CHECK(cudaMemcpy(o.data(), d, 256, cudaMemcpyDeviceToHost));
    printf("pipelined %08x\n", hash({o.begin(), o.begin() + 64}));
    lanes<<<1, 32>>>(dx, d, n);
    CHECK(cudaMemcpy(o.data(), d, 128, cudaMemcpyDeviceToHost));
    printf("lanes %08x\n", hash({o.begin(), o.begin() + 32}));
    void *place;
    CHECK(cudaMalloc(&place, 256));
    CHECK(cudaMemset(dg, 0, 4));
    auto *gate = (cuda::counting_semaphore<cuda::thread_scope_device, 2> *)place;
    auto *all = (cuda::latch<cuda::thread_scope_device> *)((char *)place + 128);
    gates_make<<<1, 1>>>(gate, all, 12);
    gates<<<12, 32>>>(gate, all, dg);
    int m;
    CHECK(cudaMemcpy(&m, dg, 4, cudaMemcpyDeviceToHost));
    printf("gates %s\n", m >= 1 && m <= 2 ? "ok" : "NOT");
    CHECK(cudaDeviceSynchronize());
    return 0;
}
