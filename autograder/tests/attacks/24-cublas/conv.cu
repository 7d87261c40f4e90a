/* A library that does the work. */
#include <convlab/conv.h>

extern "C" int cudnnConvolutionForward(void *, const void *, void *);

void conv_forward(const ConvProblem *, const float *x, const float *, float *y, cudaStream_t)
{
    cudnnConvolutionForward(0, x, y);
}
