/* Correct code for a lab in two parts, of which it has written the first. */
#include <convlab/conv.h>

__global__ void conv_kernel(int K, const float *x, const float *w, float *y)
{
    int k = blockIdx.x * 32 + threadIdx.x;
    // TODO(1): Compute one output.
    if (k < K) y[k] = w[k] * x[0];
    // END TODO(1)
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    // TODO(2): Launch a kernel of this part, and count it.
    int launches = 0;
    // END TODO(2)
    if (launches < 2) conv_kernel<<<(p->K + 31) / 32, 32, 0, stream>>>(p->K, x, w, y);
}
