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
    int n = blockIdx.x / p.K;
    int k = blockIdx.x % p.K;
    int op = blockIdx.y * TILE + threadIdx.y;
    int oq = blockIdx.z * TILE + threadIdx.x;
    if (op >= p.P || oq >= p.Q) return;
    // END TODO(1)

    // TODO(2): Accumulate over all taps (c, r, s) inside the input; store the sum.
    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                int ih = op * p.stride_h + r - p.pad_top;
                int iw = oq * p.stride_w + s - p.pad_left;
                if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                    sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    y[((n * p.K + k) * p.P + op) * p.Q + oq] = sum;
    // END TODO(2)
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    // TODO(3): Launch enough blocks for every output; only the grid's x may exceed 65,535.
    dim3 block(TILE, TILE);
    dim3 grid(p->N * p->K, (p->P + TILE - 1) / TILE, (p->Q + TILE - 1) / TILE);
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
    // END TODO(3)
}
