/* sum.cu - a program of its own, as a self-learner writes one: groups of threads, constants,
 * events, dynamic shared memory, printf.  ./sum [numbers] */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

__constant__ float scale;

/* A warp's sum by its lanes, a block's by its warps, the grid's by an atomic. */
__global__ void sum(const float *__restrict__ x, float *__restrict__ total, int n)
{
    extern __shared__ float of_warp[];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += scale * x[i];
    mine = cg::reduce(warp, mine, cg::plus<float>());
    if (warp.thread_rank() == 0) of_warp[warp.meta_group_rank()] = mine;
    block.sync();
    if (threadIdx.x >= 32) return;
    mine = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
    for (int offset = 16; offset; offset /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, offset);
    if (threadIdx.x == 0) {
        atomicAdd(total, mine);
        printf("block %d: %g\n", blockIdx.x, mine);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4096, mode;
    std::vector<float> x(n, 0.5f);
    float two = 2, total = 0, milliseconds = 0, *device_x, *device_total;
    cudaEvent_t start, stop;
    if (cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0) || mode) return 2;
    cudaMalloc(&device_x, n * sizeof(float));
    cudaMalloc(&device_total, sizeof(float));
    cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(device_total, 0, sizeof(float));
    cudaMemcpyToSymbol(scale, &two, sizeof two);
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    sum<<<2, 256, 8 * sizeof(float)>>>(device_x, device_total, n);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&milliseconds, start, stop);
    cudaMemcpy(&total, device_total, sizeof total, cudaMemcpyDeviceToHost);
    cudaFree(device_x);
    cudaFree(device_total);
    printf("sum %g, %s\n", total, milliseconds > 0 ? "timed" : "not timed");
    return total == n ? 0 : 1;
}
