/* Baseline: only the two outer loops are parallel.  One thread per pair of image and filter loops
 * over the whole output map.  Do not edit. */
#include <convlab/conv.h>

__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= p.N * p.K) return;
    int n = pair / p.K;
    int k = pair % p.K;

    for (int op = 0; op < p.P; op++)
        for (int oq = 0; oq < p.Q; oq++) {
            float sum = 0.0f;
            for (int c = 0; c < p.C; c++)
                for (int r = 0; r < p.R; r++)
                    for (int s = 0; s < p.S; s++) {
                        int ih = op * p.stride_h + r - p.pad_top;
                        int iw = oq * p.stride_w + s - p.pad_left;
                        if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                            sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                                   w[((k * p.C + c) * p.R + r) * p.S + s];
                    }
            y[((n * p.K + k) * p.P + op) * p.Q + oq] = sum;
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const int threads = 32;
    const int blocks = (p->N * p->K + threads - 1) / threads;
    conv_kernel<<<blocks, threads, 0, stream>>>(*p, x, w, y);
}
