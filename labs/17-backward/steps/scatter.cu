/* Lab 17: the backward pass as in figures 16.8 and 16.9, as a scatter: one thread per element of dy
 * adds its contributions to dx or dw.  An example to read and to break; do not hand it in. */
#include <convlab/conv.h>

enum { THREADS = 128 };

/* Other threads add to the same word.  `*to += value` is a load, an addition and a store; a value
 * that another thread stores in between is lost. */
__device__ static void add(float *to, float value)
{
    atomicAdd(to, value);
}

/* Thread i owns dy[n][k][p][q], i = ((n*K + k)*P + p)*Q + q, and loads it once. */
__global__ void data_kernel(const ConvProblem p, const float *__restrict__ dy,
                            const float *__restrict__ w, float *dx)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.N * p.K * p.P * p.Q) return;
    const int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    const float gradient = dy[i];
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                const int ih = op * p.stride_h + r - p.pad_top;
                const int iw = oq * p.stride_w + s - p.pad_left;
                if (ih < 0 || ih >= p.H || iw < 0 || iw >= p.W) continue;
                add(&dx[((n * p.C + c) * p.H + ih) * p.W + iw],
                    gradient * w[((k * p.C + c) * p.R + r) * p.S + s]);
            }
}

/* The same ownership, for the gradient of the weights. */
__global__ void filter_kernel(const ConvProblem p, const float *__restrict__ x,
                              const float *__restrict__ dy, float *dw)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.N * p.K * p.P * p.Q) return;
    const int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    const float gradient = dy[i];
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                const int ih = op * p.stride_h + r - p.pad_top;
                const int iw = oq * p.stride_w + s - p.pad_left;
                if (ih < 0 || ih >= p.H || iw < 0 || iw >= p.W) continue;
                add(&dw[((k * p.C + c) * p.R + r) * p.S + s],
                    gradient * x[((n * p.C + c) * p.H + ih) * p.W + iw]);
            }
}

static int blocks(const ConvProblem *p)
{
    return (p->N * p->K * p->P * p->Q + THREADS - 1) / THREADS;
}

extern "C" void conv_backward_data(const ConvProblem *p, const float *dy, const float *w, float *dx,
                                   cudaStream_t stream)
{
    cudaMemsetAsync(dx, 0, sizeof(float) * p->N * p->C * p->H * p->W, stream);
    data_kernel<<<blocks(p), THREADS, 0, stream>>>(*p, dy, w, dx);
}

extern "C" void conv_backward_filter(const ConvProblem *p, const float *x, const float *dy,
                                     float *dw, cudaStream_t stream)
{
    cudaMemsetAsync(dw, 0, sizeof(float) * p->K * p->C * p->R * p->S, stream);
    filter_kernel<<<blocks(p), THREADS, 0, stream>>>(*p, x, dy, dw);
}
