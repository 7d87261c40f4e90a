/* A block makes an output: partial sums in dynamic shared memory, added up as a tree. */
#include <convlab/conv.h>

/* Term i of an output, in the order c, r, s. */
__device__ static float term(const ConvProblem &p, const float *x, const float *w, int n, int k,
                             int op, int oq, int i)
{
    int s = i % p.S, r = i / p.S % p.R, c = i / p.S / p.R;
    int ih = op * p.stride_h - p.pad_top + r, iw = oq * p.stride_w - p.pad_left + s;
    if (ih < 0 || ih >= p.H || iw < 0 || iw >= p.W) return 0.0f;
    return x[((n * p.C + c) * p.H + ih) * p.W + iw] * w[k * p.C * p.R * p.S + i];
}

__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    extern __shared__ float partial[];
    int t = threadIdx.x, i = blockIdx.x, products = p.C * p.R * p.S;
    int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    partial[t] = 0.0f;
    for (int j = t; j < products; j += blockDim.x)
        partial[t] += term(p, x, w, n, k, op, oq, j);
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    if (t == 0) y[i] = partial[0];
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    conv_kernel<<<p->N * p->K * p->P * p->Q, 64, 64 * sizeof(float), stream>>>(*p, x, w, y);
}
