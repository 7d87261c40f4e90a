/* Right code that was refused: of two blocks that share a tile, the one with the lower number waits
 * for the other's flag. */
#include <convlab/conv.h>

/* Rows r0 to r1 of the filter for one output. */
__device__ float taps(const ConvProblem &p, const float *x, const float *w, int n, int k, int op,
                      int oq, int r0, int r1)
{
    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = r0; r < r1; r++)
            for (int s = 0; s < p.S; s++) {
                int ih = op * p.stride_h + r - p.pad_top, iw = oq * p.stride_w + s - p.pad_left;
                if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                    sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    return sum;
}

__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y,
                            volatile int *flag)
{
    int nk = blockIdx.x / 2, first = blockIdx.x % 2 == 1, n = nk / p.K, k = nk % p.K;
    int op = blockIdx.y * 16 + threadIdx.y, oq = blockIdx.z * 16 + threadIdx.x;
    int own = (nk * p.P + op) * p.Q + oq;
    int tile = (nk * gridDim.y + blockIdx.y) * gridDim.z + blockIdx.z;
    bool exists = op < p.P && oq < p.Q, told = threadIdx.x + threadIdx.y == 0;
    float sum = 0.0f;
    if (exists) sum = taps(p, x, w, n, k, op, oq, first ? 0 : p.R / 2, first ? p.R / 2 : p.R);
    if (first) {
        if (exists) y[own] = sum;
        __threadfence();
        __syncthreads();
        if (told) flag[tile] = 1;
    } else {
        while (told && !flag[tile])
            ;
        __threadfence();
        __syncthreads();
        if (exists) y[own] += sum;
    }
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    dim3 grid(2 * p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), block(16, 16);
    size_t flags = (size_t)p->N * p->K * grid.y * grid.z * sizeof(int);
    int *flag;
    cudaMallocAsync(&flag, flags, stream);
    cudaMemsetAsync(flag, 0, flags, stream);
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y, flag);
    cudaFreeAsync(flag, stream);
}
