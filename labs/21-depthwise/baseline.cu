/* The baseline of lab 21: one thread per output; a separable convolution as two launches. */
#include <convlab/depthwise.h>

enum { THREADS = 256 };

__global__ void direct_kernel(const GroupedProblem p, const float *__restrict__ x,
                              const float *__restrict__ w, float *__restrict__ y, bool relu)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= (unsigned)(p.N * p.K * p.P * p.Q)) return;
    int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    int channels = p.C / p.groups, first = k / (p.K / p.groups) * channels;
    float sum = 0.0f;
    for (int c = 0; c < channels; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                int h = op * p.stride_h + r * p.dilation_h - p.pad_top;
                int column = oq * p.stride_w + s * p.dilation_w - p.pad_left;
                if (h < 0 || h >= p.H || column < 0 || column >= p.W) continue;
                size_t map = (size_t)n * p.C + first + c;
                sum += x[(map * p.H + h) * p.W + column] *
                       w[(((size_t)k * channels + c) * p.R + r) * p.S + s];
            }
    y[i] = relu ? fmaxf(sum, 0.0f) : sum;
}

static void launch(const GroupedProblem &p, const float *x, const float *w, float *y, bool relu,
                   cudaStream_t stream)
{
    long long outputs = (long long)p.N * p.K * p.P * p.Q;
    direct_kernel<<<(unsigned)((outputs + THREADS - 1) / THREADS), THREADS, 0, stream>>>(p, x, w, y,
                                                                                         relu);
}

extern "C" void grouped_forward(const GroupedProblem *p, const float *x, const float *w, float *y,
                                cudaStream_t stream)
{
    launch(*p, x, w, y, false, stream);
}

extern "C" void separable_forward(const SeparableProblem *p, const float *x, const float *d,
                                  const float *w, float *y, cudaStream_t stream)
{
    GroupedProblem depthwise = {
        p->N,          p->C,         p->H,        p->W,        p->C,       p->R,
        p->S,          p->C,         p->P,        p->Q,        p->pad_top, p->pad_left,
        p->pad_bottom, p->pad_right, p->stride_h, p->stride_w, 1,          1};
    GroupedProblem pointwise = {p->N, p->C, p->P, p->Q, p->K, 1, 1, 1, p->P,
                                p->Q, 0,    0,    0,    0,    1, 1, 1, 1};
    float *t;
    cudaMalloc(&t, sizeof(float) * p->N * p->C * p->P * p->Q);
    launch(depthwise, x, d, t, true, stream);
    launch(pointwise, t, w, y, false, stream);
    cudaFree(t); /* waits until the kernels have finished */
}
