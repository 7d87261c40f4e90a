/* The honest twin of 141: the stream that replaces the destroyed one waits for the first kernel. */
#include <convlab/conv.h>

__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    int n = blockIdx.x / p.K, k = blockIdx.x % p.K;
    int op = blockIdx.y * 16 + threadIdx.y, oq = blockIdx.z * 16 + threadIdx.x;
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
    y[((n * p.K + k) * p.P + op) * p.Q + oq] = sum;
}

__global__ void copy_kernel(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    static cudaStream_t first;
    static cudaEvent_t begun, done;
    cudaStream_t old, second;
    int n = p->N * p->K * p->P * p->Q;
    float *own;
    if (!begun) {
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    cudaMallocAsync(&own, n * sizeof *own, stream);
    cudaEventRecord(begun, stream);
    cudaStreamWaitEvent(first, begun, 0);
    dim3 grid(p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), block(16, 16);
    conv_kernel<<<grid, block, 0, first>>>(*p, x, w, own);
    cudaEventRecord(done, first);
    cudaStreamCreateWithFlags(&old, cudaStreamNonBlocking);
    cudaStreamWaitEvent(old, done, 0);
    cudaStreamDestroy(old);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaStreamWaitEvent(second, done, 0);
    copy_kernel<<<(n + 255) / 256, 256, 0, second>>>(own, y, n);
    cudaStreamWaitEvent(stream, done, 0);
    cudaEventRecord(done, second);
    cudaStreamWaitEvent(stream, done, 0);
    cudaStreamDestroy(second);
    cudaFreeAsync(own, stream);
}
