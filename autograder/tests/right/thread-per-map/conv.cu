/* Thread i makes the whole map i = n*K + k; the last block is not full. */
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
    int map = blockIdx.x * blockDim.x + threadIdx.x, products = p.C * p.R * p.S;
    if (map >= p.N * p.K) return;
    for (int op = 0; op < p.P; op++)
        for (int oq = 0; oq < p.Q; oq++) {
            float sum = 0.0f;
            for (int j = 0; j < products; j++)
                sum = fmaf(1.0f, term(p, x, w, map / p.K, map % p.K, op, oq, j), sum);
            y[(map * p.P + op) * p.Q + oq] = sum;
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    conv_kernel<<<(p->N * p->K + 31) / 32, 32, 0, stream>>>(*p, x, w, y);
}
