/* Lab 17's baseline: one thread per gradient, which gathers its sum by the definition. */
#include <convlab/conv.h>

enum { THREADS = 128 };

/* Thread i owns dx[n][c][h][w], i = ((n*C + c)*H + h)*W + w. */
__global__ void data_kernel(const ConvProblem p, const float *__restrict__ dy,
                            const float *__restrict__ w, float *__restrict__ dx)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.N * p.C * p.H * p.W) return;
    const int iw = i % p.W, ih = i / p.W % p.H, c = i / p.W / p.H % p.C, n = i / p.W / p.H / p.C;
    float sum = 0.0f;
    for (int k = 0; k < p.K; k++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                const int down = ih + p.pad_top - r, across = iw + p.pad_left - s;
                const int op = down / p.stride_h, oq = across / p.stride_w;
                if (down < 0 || across < 0 || op >= p.P || oq >= p.Q) continue;
                if (op * p.stride_h != down || oq * p.stride_w != across) continue;
                sum += dy[((n * p.K + k) * p.P + op) * p.Q + oq] *
                       w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    dx[i] = sum;
}

/* Thread i owns dw[k][c][r][s], i = ((k*C + c)*R + r)*S + s. */
__global__ void filter_kernel(const ConvProblem p, const float *__restrict__ x,
                              const float *__restrict__ dy, float *__restrict__ dw)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.K * p.C * p.R * p.S) return;
    const int s = i % p.S, r = i / p.S % p.R, c = i / p.S / p.R % p.C, k = i / p.S / p.R / p.C;
    float sum = 0.0f;
    for (int n = 0; n < p.N; n++)
        for (int op = 0; op < p.P; op++)
            for (int oq = 0; oq < p.Q; oq++) {
                const int ih = op * p.stride_h + r - p.pad_top;
                const int iw = oq * p.stride_w + s - p.pad_left;
                if (ih < 0 || ih >= p.H || iw < 0 || iw >= p.W) continue;
                sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                       dy[((n * p.K + k) * p.P + op) * p.Q + oq];
            }
    dw[i] = sum;
}

extern "C" void conv_backward_data(const ConvProblem *p, const float *dy, const float *w, float *dx,
                                   cudaStream_t stream)
{
    const int pixels = p->N * p->C * p->H * p->W;
    data_kernel<<<(pixels + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*p, dy, w, dx);
}

extern "C" void conv_backward_filter(const ConvProblem *p, const float *x, const float *dy,
                                     float *dw, cudaStream_t stream)
{
    const int weights = p->K * p->C * p->R * p->S;
    filter_kernel<<<(weights + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*p, x, dy, dw);
}
