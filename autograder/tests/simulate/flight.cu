// flight.cu - every other block ends while a bulk copy into its shared memory is in flight; the
// blocks that follow must find none of its bytes in theirs.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

enum { BLOCKS = 64, WORDS = 256 };

static __device__ uint32_t at(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

__global__ void fly(const int *from, int *out)
{
    __shared__ alignas(128) int tile[WORDS];
    __shared__ uint64_t barrier;
    if (blockIdx.x % 2 == 0) {
        if (threadIdx.x) return;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&barrier)),
                     "r"((int)sizeof tile)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(at(tile)),
                     "l"(from), "r"((int)sizeof tile), "r"(at(&barrier))
                     : "memory");
        return;
    }
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * WORDS + threadIdx.x] = tile[WORDS - 1 - threadIdx.x];
}

int main()
{
    static int zeros[WORDS], got[BLOCKS * WORDS];
    int *from, *out, wrong = 0;
    cudaMalloc(&from, sizeof zeros), cudaMalloc(&out, sizeof got);
    cudaMemcpy(from, zeros, sizeof zeros, cudaMemcpyHostToDevice);
    cudaMemset(out, 0xff, sizeof got);
    fly<<<BLOCKS, WORDS>>>(from, out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BLOCKS * WORDS; i++)
        wrong += got[i] != (i / WORDS % 2 ? WORDS - 1 - i % WORDS : -1);
    printf("%s: %d wrong\n", cudaGetErrorString(cudaGetLastError()), wrong);
    cudaFree(from), cudaFree(out);
    return 0;
}
