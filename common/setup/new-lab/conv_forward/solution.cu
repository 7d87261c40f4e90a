/* Lab @NUMBER@: @TITLE@.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum { THREADS = 128 }; /* threads per block */

/* Thread t of the grid owns output t of y; its digits (n, k, op, oq) count with oq the fastest. */
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    // TODO(1): Return if this thread owns no output; sum the products of its window; store the sum.
    const int t = blockIdx.x * THREADS + threadIdx.x;
    if (t >= p.N * p.K * p.P * p.Q) return;
    const int oq = t % p.Q, op = t / p.Q % p.P, k = t / (p.Q * p.P) % p.K;
    const int n = t / (p.Q * p.P * p.K);
    float sum = 0;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                const int h = op * p.stride_h + r - p.pad_top, v = oq * p.stride_w + s - p.pad_left;
                if (h < 0 || h >= p.H || v < 0 || v >= p.W) continue;
                sum +=
                    x[((n * p.C + c) * p.H + h) * p.W + v] * w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    y[t] = sum;
    // END TODO(1)
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    // TODO(2): Launch a thread for every output.
    const int outputs = p->N * p->K * p->P * p->Q;
    conv_kernel<<<(outputs + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*p, x, w, y);
    // END TODO(2)
}
