/* sums.h - what lanes of a warp, and warps of a block, put together. */
#ifndef CONVLAB_VALIDATE_SUMS_H
#define CONVLAB_VALIDATE_SUMS_H

__device__ static float warp_sum(float v)
{
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, o);
    return v;
}

__device__ static float warp_most(float v)
{
    for (int o = 16; o > 0; o >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o));
    return v;
}

/* All threads get the block's sum; `part` has room for every warp. */
__device__ static float block_sum(float v, float *part)
{
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0;
    return warp_sum(v);
}

#endif
