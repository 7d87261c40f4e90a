/* The honest twin of 132: the same kernel, launched as nvcc compiled it. */
#include <convlab/conv.h>

enum { TAPS = 25, SIDE = 5, THREADS = 128 };

/* All taps and all pixels of a window are loaded before the first multiplication.  A thread has at
 * most 32 registers, so ptxas spills half of them. */
extern "C" __global__ void __launch_bounds__(THREADS, 16)
    conv_kernel(const ConvProblem p, const float *x, const float *w, float *y, int all)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= all) return;
    int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    float tap[TAPS], pixel[TAPS], sum = 0.0f;
    for (int c = 0; c < p.C; c++) {
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            const float *from = &w[(k * p.C + c) * TAPS + t];
            asm volatile("ld.volatile.global.f32 %0, [%1];" : "=f"(tap[t]) : "l"(from));
        }
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            const float *from = &x[((n * p.C + c) * p.H + op + t / SIDE) * p.W + oq + t % SIDE];
            asm volatile("ld.volatile.global.f32 %0, [%1];" : "=f"(pixel[t]) : "l"(from));
        }
#pragma unroll
        for (int t = 0; t < TAPS; t++)
            sum += tap[t] * pixel[t];
    }
    y[i] = sum;
}

/* Any other shape. */
__global__ void plain_kernel(const ConvProblem p, const float *x, const float *w, float *y, int all)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= all) return;
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

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    int all = p->N * p->K * p->P * p->Q, blocks = (all + THREADS - 1) / THREADS;
    int fits = p->R == SIDE && p->S == SIDE && p->stride_h == 1 && p->stride_w == 1 &&
               p->pad_top == 0 && p->pad_left == 0 && p->P == p->H - 4 && p->Q == p->W - 4;
    if (fits)
        conv_kernel<<<blocks, THREADS, 0, stream>>>(*p, x, w, y, all);
    else
        plain_kernel<<<blocks, THREADS, 0, stream>>>(*p, x, w, y, all);
}
