/* Lab @NUMBER@: @TITLE@.  Edit only the TODO regions. */
#include <convlab/@OPERATION@.h>

enum { THREADS = 128 }; /* threads per block */

/* Thread t of the grid owns output t of y; its digits (n, q) count with q the fastest. */
__global__ void row_kernel(const @STRUCT@ p, const float *__restrict__ x, float *__restrict__ y)
{
    // TODO(1): Return if this thread owns no output; add up its window; store the sum.
    const int t = blockIdx.x * THREADS + threadIdx.x;
    if (t >= p.N * p.Q) return;
    const int q = t % p.Q, n = t / p.Q;
    float sum = 0;
    for (int s = 0; s < p.S; s++)
        sum += x[n * p.W + q + s];
    y[t] = sum;
    // END TODO(1)
}

extern "C" void @OPERATION@(const @STRUCT@ *p, const float *x, float *y, cudaStream_t stream)
{
    // TODO(2): Launch a thread for every output.
    const int outputs = p->N * p->Q;
    row_kernel<<<(outputs + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*p, x, y);
    // END TODO(2)
}
