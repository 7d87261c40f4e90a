/* kernels.cu - see kernels.h. */
#include <cstdint>
#include <cuda_fp16.h>

#include "common/apps/compare/kernels.h"

enum { BLOCKS = CEILING_BLOCKS, THREADS = CEILING_THREADS };

__device__ size_t place(int layout, int n, int c, int h, int w, int N, int C, int H, int W)
{
    if (layout == CONV_NHWC) return (((size_t)n * H + h) * W + w) * C + c;
    if (layout == CONV_CHWN) return (((size_t)c * H + h) * W + w) * N + n;
    return (((size_t)n * C + c) * H + h) * W + w;
}

/* Thread i of the grid copies elements i, i + threads ... of the target, as [n][c][h][w]. */
__global__ void rearrange_kernel(int from_layout, const float *__restrict__ from, int to_layout,
                                 float *__restrict__ to, int N, int C, int H, int W)
{
    const size_t count = (size_t)N * C * H * W, threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        int w = i % W, h = i / W % H, c = i / W / H % C, n = i / W / H / C;
        to[place(to_layout, n, c, h, w, N, C, H, W)] =
            from[place(from_layout, n, c, h, w, N, C, H, W)];
    }
}

void kernels_rearrange(int from_layout, const float *from, int to_layout, float *to, int n, int c,
                       int h, int w, cudaStream_t stream)
{
    rearrange_kernel<<<BLOCKS, THREADS, 0, stream>>>(from_layout, from, to_layout, to, n, c, h, w);
}

/* Thread i of the grid converts elements i, i + threads ... */
template <typename From, typename To>
__global__ void convert_kernel(const From *__restrict__ from, float scale, To *__restrict__ to,
                               size_t count)
{
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        to[i] = (To)((float)from[i] * scale);
}

void kernels_halve(const float *from, float scale, void *to, size_t count, cudaStream_t stream)
{
    convert_kernel<<<BLOCKS, THREADS, 0, stream>>>(from, scale, (__half *)to, count);
}

void kernels_widen(const void *from, float *to, size_t count, cudaStream_t stream)
{
    convert_kernel<<<BLOCKS, THREADS, 0, stream>>>((const __half *)from, 1.0f, to, count);
}

/* Lab 09's X_unroll of all images, one element per iteration. */
__global__ void unroll_kernel(const ConvProblem p, const float *__restrict__ x,
                              float *__restrict__ unrolled)
{
    const size_t columns = (size_t)p.N * p.P * p.Q, count = columns * p.C * p.R * p.S;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        int column = i % columns, row = i / columns;
        int q = column % p.Q, op = column / p.Q % p.P, n = column / p.Q / p.P;
        int s = row % p.S, r = row / p.S % p.R, c = row / p.S / p.R;
        int h = op * p.stride_h - p.pad_top + r, w = q * p.stride_w - p.pad_left + s;
        bool inside = h >= 0 && h < p.H && w >= 0 && w < p.W;
        unrolled[i] = inside ? x[(((size_t)n * p.C + c) * p.H + h) * p.W + w] : 0.0f;
    }
}

void kernels_unroll(const ConvProblem *p, const float *x, float *unrolled, cudaStream_t stream)
{
    unroll_kernel<<<BLOCKS, THREADS, 0, stream>>>(*p, x, unrolled);
}

/* 32 chains of multiply-adds per thread, 256 long per iteration. */
__global__ void fma_kernel(float *out, int rounds)
{
    float a[32], b = threadIdx.x * 1e-9f;
#pragma unroll
    for (int i = 0; i < 32; i++)
        a[i] = i;
    for (int round = 0; round < rounds; round++)
#pragma unroll 16
        for (int j = 0; j < 256; j++)
#pragma unroll
            for (int i = 0; i < 32; i++)
                a[i] = fmaf(a[i], b, b);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 32; i++)
        sum += a[i];
    if (sum == 1.0f) out[threadIdx.x] = sum; /* never true, but the compiler does not know that */
}

void kernels_fma(float *out, int rounds, cudaStream_t stream)
{
    fma_kernel<<<BLOCKS, THREADS, 0, stream>>>(out, rounds);
}

/* 8 independent accumulators per warp, 8 MMAs of 16x8x8 each per iteration. */
__global__ void tensor_kernel(float *out, int rounds)
{
    float d[8][4] = {};
    uint32_t a = threadIdx.x, b = threadIdx.x + 1;
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int i = 0; i < 8; i++)
                asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
                    "{%4,%4,%4,%4}, {%5,%5}, "
                    "{%0,%1,%2,%3};"
                    : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
                    : "r"(a), "r"(b));
    float sum = 0;
    for (int i = 0; i < 8; i++)
        sum += d[i][0] + d[i][1] + d[i][2] + d[i][3];
    if (sum == 1.0f) out[threadIdx.x] = sum;
}

void kernels_tensor(float *out, int rounds, cudaStream_t stream)
{
    tensor_kernel<<<BLOCKS, THREADS, 0, stream>>>(out, rounds);
}

__global__ void read_kernel(const float4 *__restrict__ in, size_t count, float *out)
{
    float sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        sum += in[i].x + in[i].y + in[i].z + in[i].w;
    if (sum == 1.0f) out[threadIdx.x] = sum;
}

void kernels_read(const float *in, size_t floats, float *out, cudaStream_t stream)
{
    read_kernel<<<BLOCKS, THREADS, 0, stream>>>((const float4 *)in, floats / 4, out);
}

__global__ void nothing_kernel(void)
{
}

void kernels_nothing(cudaStream_t stream)
{
    nothing_kernel<<<1, 32, 0, stream>>>();
}
