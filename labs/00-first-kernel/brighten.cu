/* Lab 00: a first kernel.  Edit only the TODO regions. */
#include <convlab/brighten.h>

enum { THREADS = 256 }; /* threads per block */

/* One thread per pixel.  Block 0 computes pixels 0 to THREADS - 1, block 1 the next THREADS
 * pixels, and so on. */
__global__ void brighten_kernel(BrightenProblem p, const float *x, float *y)
{
    // TODO(1): Compute the index i of this thread's pixel.
    int i = 0;
    // END TODO(1)

    // TODO(2): Write the pixel's new value into y.
    (void)p, (void)x, (void)y, (void)i; /* until you use them */
    // END TODO(2)
}

extern "C" void brighten(const BrightenProblem *p, const float *x, float *y, cudaStream_t stream)
{
    // TODO(3): Launch enough blocks of THREADS threads for all pixels.
    (void)p, (void)x, (void)y, (void)stream;
    // END TODO(3)
}
