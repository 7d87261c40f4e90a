// groups.cu - cooperative groups and CUB in one block: correct programs without a finding.
#include <cstdio>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

namespace cg = cooperative_groups;

enum { THREADS = 128, PARTS = 8, WORDS = PARTS * THREADS };

__global__ void tiles(const int *x, int *y)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    unsigned i = block.thread_rank();
    int sum = cg::reduce(tile, x[i], cg::plus<int>()) + cg::inclusive_scan(tile, x[i]);
    if (x[i] & 1) {
        auto odd = cg::coalesced_threads();
        sum += cg::reduce(odd, 1, cg::plus<int>());
    }
    y[i] = sum + cg::reduce(warp, x[i], cg::greater<int>());
}

// Only the first of each warp's four words is written before all are loaded.
__global__ void sum_of_grid(const int *x, int *part, int *y)
{
    __shared__ int own[32];
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int sum = cg::reduce(warp, x[grid.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0) own[warp.meta_group_rank()] = sum;
    block.sync();
    sum = own[warp.thread_rank()];
    sum = cg::reduce(cg::tiled_partition<4>(warp), sum, cg::plus<int>());
    if (block.thread_rank() == 0) part[blockIdx.x] = sum;
    grid.sync();
    if (grid.thread_rank() == 0)
        for (unsigned i = 0; i < gridDim.x; i++)
            *y += part[i];
}

__global__ void copied(const int *x, int *y)
{
    __shared__ int own[THREADS];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, own, x, sizeof own);
    cg::wait(block);
    y[threadIdx.x] = own[THREADS - 1 - threadIdx.x];
}

__global__ void with_cub(const int *x, int *y, int n)
{
    typedef cub::BlockReduce<int, THREADS> Reduce;
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::WarpReduce<int> WarpReduce;
    __shared__ union {
        Reduce::TempStorage reduce;
        Scan::TempStorage scan;
        WarpReduce::TempStorage warp[THREADS / 32];
    } own;
    unsigned i = threadIdx.x;
    int some = Reduce(own.reduce).Sum(x[i], n), before, all;
    __syncthreads();
    Scan(own.scan).ExclusiveSum(x[i], before, all);
    __syncthreads();
    int part = WarpReduce(own.warp[i / 32]).Sum(x[i], 20);
    y[i] = before;
    if (i == 0) y[0] = some + all + part;
}

int main()
{
    int h[WORDS], *x, *y, *part;
    for (int i = 0; i < WORDS; i++)
        h[i] = i * 37 % 101;
    cudaMalloc(&x, sizeof h), cudaMalloc(&y, sizeof h), cudaMalloc(&part, PARTS * sizeof *part);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice), cudaMemset(y, 0, sizeof h);
    void *arguments[] = {&x, &part, &y};
    cudaLaunchCooperativeKernel((void *)sum_of_grid, PARTS, THREADS, arguments);
    tiles<<<1, THREADS>>>(x, y + THREADS);
    copied<<<1, THREADS>>>(x, y + 2 * THREADS);
    with_cub<<<1, THREADS>>>(x, y + 3 * THREADS, 100);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", h[0], h[THREADS], h[2 * THREADS], h[3 * THREADS]);
    cudaFree(x), cudaFree(y), cudaFree(part);
    return cudaGetLastError();
}
