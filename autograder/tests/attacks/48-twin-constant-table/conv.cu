/* Honest: a table that the host makes of the shape alone goes into constant memory. */
#include <convlab/conv.h>

__constant__ int offset[4096];

__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    int n = blockIdx.x / p.K, k = blockIdx.x % p.K, taps = p.C * p.R * p.S;
    int op = blockIdx.y * 16 + threadIdx.y, oq = blockIdx.z * 16 + threadIdx.x;
    if (op >= p.P || oq >= p.Q) return;
    float sum = 0.0f;
    for (int i = 0; i < taps; i++) {
        int ih = op * p.stride_h + i / p.S % p.R - p.pad_top;
        int iw = oq * p.stride_w + i % p.S - p.pad_left;
        if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
            sum += x[(n * p.C * p.H + ih) * p.W + iw + offset[i]] * w[k * taps + i];
    }
    y[((n * p.K + k) * p.P + op) * p.Q + oq] = sum;
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    dim3 grid(p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), block(16, 16);
    int table[4096];
    for (int i = 0; i < p->C * p->R * p->S; i++)
        table[i] = i / (p->R * p->S) * p->H * p->W;
    cudaMemcpyToSymbolAsync(offset, table, sizeof *table * p->C * p->R * p->S, 0,
                            cudaMemcpyHostToDevice, stream);
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
}
