/* A kernel that does not end. */
#include <convlab/conv.h>

__global__ void spin(volatile float *y)
{
    while (y[0] != 1.5f)
        y[1] = 2.0f;
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    spin<<<1, 32, 0, stream>>>(y);
}
