/* Lab 07: lab 06's kernel with cheaper index arithmetic.  Offsets that change by a constant are
 * updated by additions (strength reduction), and bounds checks that always pass are removed at
 * compile time.  Tensors are CHWN.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum {
    THREADS_X = 16,        /* threads of a block along the images */
    THREADS_Y = 4,         /* threads of a block along the filters */
    IMAGES_PER_THREAD = 4, /* a thread computes 4 x 4 outputs */
    FILTERS_PER_THREAD = 4,
    CACHED_PIXELS = 4, /* filter pixels per chunk in shared memory */
    CHANNELS = 3,      /* channels per chunk */

    IMAGES = THREADS_X * IMAGES_PER_THREAD, /* images per block: 64; filters per block: 16 */
    FILTERS = THREADS_Y * FILTERS_PER_THREAD,
};

/* Outputs are mapped to blocks and threads as in lab 05.  Block (bx, by) computes output pixel
 * (op, oq) of the images from n0 and the filters from k0; its thread (tx, ty) computes
 *
 *     n = n0 + g*THREADS_X + tx      k = k0 + f*THREADS_Y + ty
 *
 * A chunk holds the filter pixels pixel0 .. pixel0+CACHED_PIXELS-1 of CHANNELS channels.
 * CACHED_PIXELS equals THREADS_Y.  Therefore a thread loads inputs for one filter pixel of a chunk,
 * (r, s) = pixel0 + ty, and weights of one, pixel0 + row.  In the chunk's first channel it copies
 *
 *     x[x_offset + g*THREADS_X] to images[...][g*THREADS_X + tx]
 *     w[w_offset] to filters[...][column]
 *
 * CHECKED: the last images, filters or channels of a block may not exist. */
template <bool CHECKED>
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    __shared__ float images[CHANNELS * CACHED_PIXELS][IMAGES];
    __shared__ float filters[CHANNELS * CACHED_PIXELS][FILTERS];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = (ty * THREADS_X + tx) / FILTERS, column = (ty * THREADS_X + tx) % FILTERS;
    const int filter_groups = (p.K + FILTERS - 1) / FILTERS;
    const int n0 = blockIdx.y * IMAGES;
    const int k0 = blockIdx.x % filter_groups * FILTERS;
    const int oq = blockIdx.x / filter_groups % p.Q;
    const int op = blockIdx.x / filter_groups / p.Q;
    const int h0 = op * p.stride_h - p.pad_top, w0 = oq * p.stride_w - p.pad_left;
    const int filter_pixels = p.R * p.S;
    const int x_stride_c = p.H * p.W * p.N,
              w_stride_c = filter_pixels * p.K; /* elements between channels */

    float acc[FILTERS_PER_THREAD][IMAGES_PER_THREAD] = {};
    for (int c0 = 0; c0 < p.C; c0 += CHANNELS) {
        int r = 0, s = 0, x_offset = 0, w_offset = 0;
        // TODO(1): Compute (r, s), x_offset and w_offset for pixel0 = 0 and channel c0.
        // END TODO(1)
        for (int pixel0 = 0; pixel0 < filter_pixels; pixel0 += CACHED_PIXELS) {
            // phase: load filters
            bool has_weight = pixel0 + row < filter_pixels && (!CHECKED || k0 + column < p.K);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                // TODO(2): Load the weight of channel c0+c; has_weight covers filter and pixel.
                // END TODO(2)
            }
            // phase: load images
            int ih = h0 + r, iw = w0 + s;
            bool is_inside = r < p.R && ih >= 0 && ih < p.H && iw >= 0 && iw < p.W;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
#pragma unroll
                for (int g = 0; g < IMAGES_PER_THREAD; g++) {
                    // TODO(3): Load an input pixel of channel c0+c; is_inside covers row and
                    // column.
                    // END TODO(3)
                }
            // TODO(4): Advance (r, s), x_offset and w_offset to the next chunk without / and %.
            // END TODO(4)
            __syncthreads();
            // phase: compute
#pragma unroll
            for (int i = 0; i < CHANNELS * CACHED_PIXELS; i++)
#pragma unroll
                for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll
                    for (int g = 0; g < IMAGES_PER_THREAD; g++)
                        acc[f][g] += filters[i][f * THREADS_Y + ty] * images[i][g * THREADS_X + tx];
            __syncthreads();
        }
    }

    // phase: store
#pragma unroll
    for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll
        for (int g = 0; g < IMAGES_PER_THREAD; g++) {
            int n = n0 + g * THREADS_X + tx, k = k0 + f * THREADS_Y + ty;
            if (!CHECKED || (k < p.K && n < p.N))
                y[((k * p.P + op) * p.Q + oq) * p.N + n] = acc[f][g];
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 block(THREADS_X, THREADS_Y);
    dim3 grid((p->K + FILTERS - 1) / FILTERS * p->P * p->Q, (p->N + IMAGES - 1) / IMAGES);
    // TODO(5): Launch the kernel without checks if every block is full, else with checks.
    // END TODO(5)
}
