/* The honest twin of 67 to 73: one output per thread. */
#include <convlab/conv.h>

enum { THREADS = 256, SMS = 132 };

/* The honest way: output `i`, from global memory only. */
__device__ static void output(const ConvProblem &p, const float *x, const float *w, float *y, int i)
{
    int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                int ih = op * p.stride_h + r - p.pad_top, iw = oq * p.stride_w + s - p.pad_left;
                if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                    sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    y[i] = sum;
}

__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y, int all)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < all) output(p, x, w, y, i);
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    int all = p->N * p->K * p->P * p->Q;
    conv_kernel<<<(all + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*p, x, w, y, all);
}
