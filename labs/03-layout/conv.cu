/* Lab 03: one kernel for three layouts, and weights in constant memory.  Edit only the TODO
 * regions. */
#include <convlab/conv.h>

enum { THREADS = 256 };              /* threads per block */
enum { CONSTANT_FLOATS = 64 * 256 }; /* size of constant memory: 64 KB */
__constant__ float constant_weights[CONSTANT_FLOATS];

/* Strides of a tensor's indices, in floats.  x: image, channel, row, column.  w: filter, channel,
 * row, column.  y: image, filter, row, column. */
struct Strides {
    int n, c, h, w;
};

struct Layout {
    Strides x, w, y;
};

static Layout layout_of(const ConvProblem &p)
{
    Layout nchw = {{p.C * p.H * p.W, p.H * p.W, p.W, 1},
                   {p.C * p.R * p.S, p.R * p.S, p.S, 1},
                   {p.K * p.P * p.Q, p.P * p.Q, p.Q, 1}};
    // TODO(1): Return the strides of the other two layouts.
    // CONV_NHWC: x[n][h][w][c] w[k][r][s][c] y[n][p][q][k]
    // CONV_CHWN: x[c][h][w][n] w[c][r][s][k] y[k][p][q][n]
    // END TODO(1)
    return nchw;
}

/* Lane mapping: the index of y along which the lanes of a warp are neighbours. */
enum Lanes { ALONG_Q, ALONG_K, ALONG_N };

static Lanes lanes_of(const ConvProblem &p)
{
    // TODO(2): Choose the mapping for each layout so that a warp's loads touch the fewest sectors.
    // END TODO(2)
    return ALONG_Q;
}

/* Removes the lowest digit of a mixed-radix number and returns it. */
__device__ static inline int digit(int &t, int radix)
{
    int d = t % radix;
    t /= radix;
    return d;
}

/* Thread t of the grid computes one output (n, k0 + k, op, oq) with k < filters.  The digits of t,
 * the fastest first, are
 *
 *     ALONG_Q: oq op k n     ALONG_K: k oq op n     ALONG_N: n oq op k
 *
 * CONSTANT: constant_weights holds the weights of these filters, in the order of w. */
template <bool CONSTANT>
__global__ void conv_kernel(const ConvProblem p, const Layout strides, Lanes lanes, int k0,
                            int filters, const float *__restrict__ x, const float *__restrict__ w,
                            float *__restrict__ y)
{
    int t = blockIdx.x * THREADS + threadIdx.x;
    int n = 0, k = 0, op = 0, oq = 0;
    // TODO(3): Split t into k, n, op and oq in the order above; return if it has no output.
    // END TODO(3)

    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                int ih = op * p.stride_h + r - p.pad_top;
                int iw = oq * p.stride_w + s - p.pad_left;
                if (ih < 0 || ih >= p.H || iw < 0 || iw >= p.W) continue;
                int tap = c * strides.w.c + r * strides.w.h + s * strides.w.w;
                float weight = 0.0f, pixel = 0.0f;
                // TODO(4): Load the weight, from constant memory if CONSTANT, and the pixel.
                // END TODO(4)
                sum += pixel * weight;
            }
    y[n * strides.y.n + (k0 + k) * strides.y.c + op * strides.y.h + oq * strides.y.w] = sum;
}

template <bool CONSTANT>
static void conv_launch(const ConvProblem &p, int k0, int filters, const float *x, const float *w,
                        float *y, cudaStream_t stream)
{
    int blocks = (p.N * filters * p.P * p.Q + THREADS - 1) / THREADS;
    conv_kernel<CONSTANT>
        <<<blocks, THREADS, 0, stream>>>(p, layout_of(p), lanes_of(p), k0, filters, x, w, y);
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    // TODO(5): In NCHW, pass the weights through constant memory, in chunks of as many whole
    // filters as fit, with one launch per chunk.  If not even one filter fits, use w.
    // END TODO(5)
    conv_launch<false>(*p, 0, p->K, x, w, y, stream);
}
