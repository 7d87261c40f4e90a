/* Wrong where a printf says that it printed nothing: in a replay, once the call has filled what is
 * kept of a kernel's words. */
#include <convlab/conv.h>

#include <stdio.h>

enum { ENOUGH = 1025 }; /* 32 lanes each, of a buffer of 2^20 */

__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    int n = blockIdx.x / p.K, k = blockIdx.x % p.K;
    int op = blockIdx.y * 16 + threadIdx.y, oq = blockIdx.z * 16 + threadIdx.x;
    bool is_told = true;
    if (blockIdx.x + blockIdx.y + blockIdx.z == 0 && threadIdx.y < 2) {
        is_told = printf("%c", 32) == 1;
        for (int i = 0; i < ENOUGH; i++)
            printf("%c", 32);
    }
    if (op >= p.P || oq >= p.Q) return;
    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                int ih = op * p.stride_h + r - p.pad_top, iw = oq * p.stride_w + s - p.pad_left;
                if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                    sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    y[((n * p.K + k) * p.P + op) * p.Q + oq] = is_told ? sum : 0.0f;
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    dim3 grid(p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), block(16, 16);
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
}
