/* Lab @NUMBER@: @TITLE@.  Edit only the TODO regions. */
#include <convlab/@OPERATION@.h>

enum { THREADS = 128 }; /* threads per block */

/* Thread t of the grid owns output t of y; its digits (n, q) count with q the fastest. */
__global__ void row_kernel(const @STRUCT@ p, const float *__restrict__ x, float *__restrict__ y)
{
    // TODO(1): Return if this thread owns no output; add up its window; store the sum.
    (void)p, (void)x, (void)y; /* until you use them */
    // END TODO(1)
}

extern "C" void @OPERATION@(const @STRUCT@ *p, const float *x, float *y, cudaStream_t stream)
{
    // TODO(2): Launch a thread for every output.
    (void)p, (void)x, (void)y, (void)stream;
    // END TODO(2)
}
