/* 120,000 blocks that do nothing, of a kernel with many registers, which each warp of them has to
 * set to NaN. */
#include <convlab/conv.h>

__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    int n = blockIdx.x / p.K, k = blockIdx.x % p.K;
    int op = blockIdx.y * 16 + threadIdx.y, oq = blockIdx.z * 16 + threadIdx.x;
    if (op >= p.P || oq >= p.Q) return;
    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                int ih = op * p.stride_h + r - p.pad_top, iw = oq * p.stride_w + s - p.pad_left;
                if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                    sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    y[((n * p.K + k) * p.P + op) * p.Q + oq] = sum;
}

static void honest(const ConvProblem *p, const float *x, const float *w, float *y,
                   cudaStream_t stream)
{
    dim3 grid(p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), block(16, 16);
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
}

/* Loads many values before it stores the first, so it has many registers. */
__global__ void wide_kernel(const float *from, float *to, int blocks)
{
    enum { VALUES = 600 };
    float value[VALUES];
    if (blockIdx.x >= blocks) return;
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        value[i] = from[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        to[i] = value[i] * value[i * 7 % VALUES];
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    static cudaStream_t side;
    if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    wide_kernel<<<120000, 256, 0, side>>>(x, y, 0);
    honest(p, x, w, y, stream);
}
