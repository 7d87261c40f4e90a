/* tensor.cu - what CUDA's headers make of tensor cores, asynchronous copies and barriers; run by
 * test_simt_tensor.c, which works the results out on the host. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;
namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(const void *x, void *y)

/* C[16][16] = 2 A * B, A by rows, B by columns, halves; C in float. */
KERNEL(halves)
{
    const half *a = (const half *)x, *b = a + 256;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    for (int i = 0; i < fa.num_elements; i++)
        fa.x[i] = fa.x[i] * __float2half(2.0f);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync((float *)y, fc, 16, wmma::mem_row_major);
}

/* C[16][16] by columns = A[16][8] * B[8][16] + 1. */
KERNEL(tf32)
{
    const float *a = (const float *)x, *b = a + 128;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 8);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync((float *)y, fc, 16, wmma::mem_col_major);
}

/* C[32][8] = A[32][16] * B[16][8], B by columns. */
KERNEL(bytes)
{
    const signed char *a = (const signed char *)x, *b = a + 512;
    wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync((int *)y, fc, 8, wmma::mem_row_major);
}

/* C[M][N] = A[M][16] * B[16][N], all by rows, halves. */
template <int M, int N> __device__ void oblong(const half *a, const half *b, half *c)
{
    wmma::fragment<wmma::matrix_a, M, N, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, half> fc;
    wmma::fill_fragment(fc, __float2half(0.0f));
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, N);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}

KERNEL(oblongs)
{
    const half *a = (const half *)x;
    oblong<8, 32>(a, a + 512, (half *)y);
    oblong<32, 8>(a, a + 512, (half *)y + 256);
}

/* The transpose of 8 x 8 halves. */
KERNEL(transpose)
{
    const int *from = (const int *)x;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
                 : "=r"(((int *)y)[threadIdx.x])
                 : "r"(from[threadIdx.x]));
}

/* C[8][8] = A[8][16] * B[16][8], B by columns. */
KERNEL(few_bytes)
{
    const int *from = (const int *)x;
    int *to = (int *)y + threadIdx.x * 2;
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %4};"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(from[threadIdx.x]), "r"(from[32 + threadIdx.x]), "r"(0));
}

/* Sums of reversed rows, with the next row in flight while one is used. */
KERNEL(pipeline)
{
    __shared__ float row[2][64];
    const float *from = (const float *)x;
    float sum = 0;
    __pipeline_memcpy_async(&row[0][threadIdx.x], &from[threadIdx.x], 4);
    __pipeline_commit();
    for (int i = 1; i <= 4; i++) {
        if (i < 4)
            __pipeline_memcpy_async(&row[i % 2][threadIdx.x], &from[i * 64 + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += row[(i - 1) % 2][63 - threadIdx.x];
        __syncthreads();
    }
    ((float *)y)[threadIdx.x] = sum;
}

/* The same, but nobody waits: what was in shared memory before is found. */
KERNEL(pipeline_without_wait)
{
    __shared__ float row[64];
    row[threadIdx.x] = -1.0f;
    __pipeline_memcpy_async(&row[threadIdx.x], &((const float *)x)[threadIdx.x], 4);
    __pipeline_commit();
    ((float *)y)[threadIdx.x] = row[threadIdx.x];
    __pipeline_wait_prior(0);
}

/* Three times: write, synchronise, read reversed, synchronise. */
KERNEL(barriers)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float row[64];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        row[threadIdx.x] = ((const float *)x)[i * 64 + threadIdx.x];
        bar.arrive_and_wait();
        ((float *)y)[i * 64 + threadIdx.x] = row[63 - threadIdx.x];
        bar.arrive_and_wait();
    }
}

KERNEL(groups)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int sum = cg::reduce(warp, ((const int *)x)[threadIdx.x], cg::plus<int>());
    if (warp.thread_rank() == 0) ((int *)y)[threadIdx.x / 32] = sum;
    block.sync();
}

/* 64 threads add to two pairs of halves, and to one half. */
KERNEL(half_atomics)
{
    half2 *pair = (half2 *)y;
    half *one = (half *)y + 8;
    atomicAdd(&pair[threadIdx.x % 2], __floats2half2_rn(1.0f, 0.5f));
    atomicAdd(one, __float2half(0.25f));
}
