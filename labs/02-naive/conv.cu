/* Lab 02: one thread per output.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum { TILE = 16 }; /* a block computes TILE x TILE outputs of one image and one filter */

/* Thread (tx, ty) of block (bx, by, bz) computes one output:
 *
 *     n = bx / K    k = bx % K    op = by*TILE + ty    oq = bz*TILE + tx
 *
 * so that neighbouring threads compute neighbouring outputs of a row.  Tiles at the lower and the
 * right edge extend beyond the output map: their threads beyond P or Q have no output. */
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    // TODO(1): Compute this thread's output (n, k, op, oq); return if it is outside the map.
    (void)p;
    // END TODO(1)

    // TODO(2): Accumulate over all taps (c, r, s) inside the input; store the sum.
    (void)x, (void)w, (void)y; /* until you use them */
    // END TODO(2)
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    // TODO(3): Launch enough blocks for every output; only the grid's x may exceed 65,535.
    (void)p, (void)x, (void)w, (void)y, (void)stream;
    // END TODO(3)
}
