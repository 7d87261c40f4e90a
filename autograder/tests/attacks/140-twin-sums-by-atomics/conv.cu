/* The honest twin of 139: both kernels add to the zeros that a fill has written. */
#include <convlab/conv.h>

__global__ void half_kernel(const ConvProblem p, int from, int to, const float *x, const float *w,
                            float *y)
{
    int n = blockIdx.x / p.K, k = blockIdx.x % p.K;
    int op = blockIdx.y * 16 + threadIdx.y, oq = blockIdx.z * 16 + threadIdx.x;
    if (op >= p.P || oq >= p.Q) return;
    float sum = 0.0f, *out = &y[((n * p.K + k) * p.P + op) * p.Q + oq];
    for (int c = 0; c < p.C; c++)
        for (int r = from; r < to; r++)
            for (int s = 0; s < p.S; s++) {
                int ih = op * p.stride_h + r - p.pad_top, iw = oq * p.stride_w + s - p.pad_left;
                if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                    sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    atomicAdd(out, sum);
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    static cudaStream_t side[2];
    static cudaEvent_t begun, done[2];
    for (int i = 0; !begun && i < 2; i++) {
        cudaStreamCreateWithFlags(&side[i], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
    }
    if (!begun) cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
    dim3 grid(p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), block(16, 16);
    cudaMemsetAsync(y, 0, sizeof *y * p->N * p->K * p->P * p->Q, stream);
    cudaEventRecord(begun, stream);
    for (int i = 0; i < 2; i++) {
        int from = i ? p->R / 2 : 0, to = i ? p->R : p->R / 2;
        cudaStreamWaitEvent(side[i], begun, 0);
        half_kernel<<<grid, block, 0, side[i]>>>(*p, from, to, x, w, y);
        cudaEventRecord(done[i], side[i]);
        cudaStreamWaitEvent(stream, done[i], 0);
    }
}
