/* A thread computes two outputs of a row, 16 columns apart, with the same weights. */
#include <convlab/conv.h>

enum { TILE = 16 };

__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    int n = blockIdx.x / p.K, k = blockIdx.x % p.K;
    int op = blockIdx.y * TILE + threadIdx.y, oq = blockIdx.z * 2 * TILE + threadIdx.x;
    if (op >= p.P || oq >= p.Q) return;
    float near = 0.0f, far = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++) {
            int ih = op * p.stride_h + r - p.pad_top;
            if (ih < 0 || ih >= p.H) continue;
            const float *row = x + ((n * p.C + c) * p.H + ih) * p.W;
            const float *taps = w + ((k * p.C + c) * p.R + r) * p.S;
            for (int s = 0; s < p.S; s++) {
                int iw = oq * p.stride_w + s - p.pad_left, there = iw + TILE * p.stride_w;
                if (iw >= 0 && iw < p.W) near += row[iw] * taps[s];
                if (there >= 0 && there < p.W) far += row[there] * taps[s];
            }
        }
    float *to = y + ((n * p.K + k) * p.P + op) * p.Q + oq;
    to[0] = near;
    if (oq + TILE < p.Q) to[TILE] = far;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 block(TILE, TILE);
    dim3 grid(p->N * p->K, (p->P + TILE - 1) / TILE, (p->Q + 2 * TILE - 1) / (2 * TILE));
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
}
