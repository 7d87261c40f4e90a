/* The honest twin of 80: a tile has a first row of padding, so its first source lies 16 bytes
 * before x.  The copy of 0 bytes reads nothing and writes zeros. */
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

/* A row of zeros before the first one of x. */
__global__ void copy_kernel(const float *x, float *y)
{
    __shared__ __align__(16) float tile[32 * 4];
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x * 4]);
    const char *from = (const char *)x - 16 + 16 * (threadIdx.x / 32);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
                 "cp.async.wait_all;\n" ::"r"(to),
                 "l"(from), "r"(0)
                 : "memory");
    if (tile[threadIdx.x * 4] != 0.0f) y[0] = 1.0f;
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    honest(p, x, w, y, stream);
    copy_kernel<<<1, 32, 0, stream>>>(x, y);
}
