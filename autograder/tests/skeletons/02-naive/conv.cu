/* Lab 02: one thread per output.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum { TILE = 16 }; /* a block computes TILE x TILE outputs of one image and one filter */

/* Thread (tx, ty) of block (bx, by, bz) owns one output:
 *
 *     n = bx / K    k = bx % K    op = by*TILE + ty    oq = bz*TILE + tx
 *
 * so that neighbouring threads own neighbours in a row.  The tiles at the lower and the right edge
 * hang over: their threads beyond P or Q own nothing. */
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    // TODO(1): Work out which output (n, k, op, oq) this thread owns; return if it owns none.
    (void)p;
    // END TODO(1)

    // TODO(2): Sum the products of all taps (c, r, s) that lie inside the input; store the sum.
    (void)x, (void)w, (void)y; /* until you use them */
    // END TODO(2)
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    // TODO(3): Launch enough blocks for every output; only the grid's x may pass 65,535.
    (void)p, (void)x, (void)w, (void)y, (void)stream;
    // END TODO(3)
}
