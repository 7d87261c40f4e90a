/* A kernel that does not end. */
#include <convlab/conv.h>

/* It waits for nothing: it computes, and is never done. */
__global__ void spin(volatile float *y)
{
    for (unsigned i = 1; i; i = 2 * i + 1)
        y[i % 64] = i;
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    spin<<<1, 32, 0, stream>>>(y);
}
