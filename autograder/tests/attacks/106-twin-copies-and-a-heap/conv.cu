/* The honest twin of 99 to 102: a fill, a copy, a small block of the device heap for each thread,
 * calls that are nested three deep. */
#include <convlab/conv.h>

/* The honest kernel: one thread per output. */
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

static void honest(const ConvProblem *p, const float *x, const float *w, float *y,
                   cudaStream_t stream)
{
    dim3 grid(p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), block(16, 16);
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
}

__device__ __noinline__ float fold(const float *of, int n)
{
    return n ? of[n] + fold(of, n - 1) : of[0];
}

__global__ void heap_kernel(float *kept)
{
    float *own = (float *)malloc(4 * sizeof(float));
    if (!own) return;
    for (int i = 0; i < 4; i++)
        own[i] = 0.0f;
    kept[blockIdx.x * blockDim.x + threadIdx.x] = fold(own, 3);
    free(own);
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    const size_t bytes = sizeof(float) * p->N * p->C * p->H * p->W;
    float *copy, *kept;
    cudaMalloc(&copy, bytes);
    cudaMalloc(&kept, 256 * 16 * sizeof(float));
    cudaMemsetAsync(copy, 0, bytes, stream);
    cudaMemcpyAsync(copy, x, bytes, cudaMemcpyDeviceToDevice, stream);
    heap_kernel<<<16, 256, 0, stream>>>(kept);
    honest(p, copy, w, y, stream);
    cudaFree(kept);
    cudaFree(copy);
}
