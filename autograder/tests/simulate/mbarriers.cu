// mbarriers.cu MODE KIND - mbarriers and bulk copies of Hopper (ARCH=90): KIND "fault" has the
// fault, "clean" is its twin without it.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;
static bool faulty;

static __device__ unsigned address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
static __device__ void init(uint64_t *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(bar)), "r"(count));
}
static __device__ void arrive(uint64_t *bar)
{
    asm volatile(
        "{\n.reg .b64 s;\nmbarrier.arrive.shared::cta.b64 s, [%0];\n}" ::"r"(address(bar)));
}
static __device__ bool test_wait(uint64_t *bar, unsigned parity)
{
    unsigned done;
    asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(address(bar)), "r"(parity)
                 : "memory");
    return done;
}
static __device__ bool try_wait(uint64_t *bar, unsigned parity)
{
    unsigned done;
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(address(bar)), "r"(parity)
                 : "memory");
    return done;
}

// One warp of block 1 waits for ever; the others wait at the cluster's barrier.
__global__ void __cluster_dims__(2) cluster(int *out, int arrives)
{
    __shared__ uint64_t bar;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) init(&bar, 1);
    c.sync();
    if (c.block_rank() == 1 && arrives && threadIdx.x == 32) arrive(&bar);
    if (c.block_rank() == 1 && threadIdx.x < 32)
        while (!test_wait(&bar, 0)) {
        }
    c.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Two warps wait for two mbarriers: nobody arrives at the first, and the second expects too much.
__global__ void two(int *out, int arrives)
{
    __shared__ uint64_t bar[2];
    if (threadIdx.x == 0) init(&bar[0], 1), init(&bar[1], 2);
    __syncthreads();
    if (threadIdx.x == 64) {
        arrive(&bar[1]);
        if (arrives) arrive(&bar[0]), arrive(&bar[1]);
    }
    if (threadIdx.x < 64)
        while (!try_wait(&bar[threadIdx.x / 32], 0)) {
        }
    out[threadIdx.x] = 1;
}

// A bulk copy counts its bytes at an mbarrier that was initialised without a fence.
__global__ void copy(const int *in, int *out)
{
    __shared__ alignas(16) int s[32];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) init(&bar, 1);
#ifdef FENCE
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile(
            "{\n.reg .b64 s;\nmbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 128;\n}" ::"r"(
                address(&bar)));
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
            "128, [%2];" ::"r"(address(s)),
            "l"(in), "r"(address(&bar))
            : "memory");
    }
    while (!try_wait(&bar, 0)) {
    }
    out[threadIdx.x] = s[threadIdx.x];
}

int main(int words, char **word)
{
    const char *mode = words > 2 ? word[1] : "";
    int *in, *out, h[256] = {0};
    faulty = words > 2 && !strcmp(word[2], "fault");
    cudaMalloc(&in, 1024);
    cudaMalloc(&out, 1024);
    cudaMemset(in, 0, 1024);
    cudaMemset(out, 0, 1024);
    if (!strcmp(mode, "cluster")) cluster<<<2, 128>>>(out, !faulty);
    if (!strcmp(mode, "two")) two<<<1, 96>>>(out, !faulty);
    if (!strcmp(mode, "copy")) copy<<<1, 32>>>(in, out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("out %d\n", h[0]);
    cudaFree(in);
    cudaFree(out);
}
