/* Lab 08: the kernel on a machine with accelerators: products by the hardware, indices too.
 * Tensors are CHWN.  Edit only the TODO regions. */
#include <convlab/conv.h>
#include <convlab/accelerators.h>

/* What computes the products: the compiler's code, an inner product for each sum, an outer product
 * for all of them. */
enum Compute { PLAIN, INNER, OUTER };

// TODO(1): Choose, once all three are right.
static const Compute compute = OUTER;
// END TODO(1)

enum {
    THREADS_X = 16,        /* threads of a block along the images */
    THREADS_Y = 4,         /* and along the filters */
    IMAGES_PER_THREAD = 4, /* a thread owns 4 x 4 outputs */
    FILTERS_PER_THREAD = 4,
    CACHED_PIXELS = 4, /* filter pixels in shared memory at a time ... */
    CHANNELS = 3,      /* ... of so many channels */

    IMAGES = THREADS_X * IMAGES_PER_THREAD, /* of a block: 64 images, 16 filters */
    FILTERS = THREADS_Y * FILTERS_PER_THREAD,
};

/* Blocks and threads own outputs, and load, as in lab 07: block (bx, by) images n0 .. and filters
 * k0 .. at output pixel (op, oq), thread (tx, ty)
 *
 *     n = n0 + g*THREADS_X + tx      k = k0 + f*THREADS_Y + ty
 *
 * CHECKED: there may be images, filters and channels in a block that do not exist. */
template <bool CHECKED>
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    __shared__ float images[CHANNELS * CACHED_PIXELS][IMAGES];
    __shared__ float filters[CHANNELS * CACHED_PIXELS][FILTERS];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = (ty * THREADS_X + tx) / FILTERS, column = (ty * THREADS_X + tx) % FILTERS;
    const int groups = (p.K + FILTERS - 1) / FILTERS;
    const int n0 = blockIdx.y * IMAGES;
    const int k0 = blockIdx.x % groups * FILTERS;
    const int oq = blockIdx.x / groups % p.Q;
    const int op = blockIdx.x / groups / p.Q;
    const int h0 = op * p.stride_h - p.pad_top, w0 = oq * p.stride_w - p.pad_left;
    const int filter_pixels = p.R * p.S;
    const int x_step = p.H * p.W * p.N, w_step = filter_pixels * p.K; /* to the next channel */

    ConvlabSums sum = {};
    for (int c0 = 0; c0 < p.C; c0 += CHANNELS) {
        int w_at = c0 * w_step + row * p.K + k0 + column;
        for (int first = 0; first < filter_pixels; first += CACHED_PIXELS) {
            // phase: load filters
            bool exists = first + row < filter_pixels && (!CHECKED || k0 + column < p.K);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                bool all = exists && (!CHECKED || c0 + c < p.C);
                filters[c * CACHED_PIXELS + row][column] = all ? w[w_at + c * w_step] : 0.0f;
            }
            w_at += CACHED_PIXELS * p.K;
            // phase: load images
            int at = -1; /* of the input pixel under this thread's filter pixel, in its channel */
            // TODO(2): Find it with the index converter; -1 if there is no such filter pixel.
            if (first + ty < filter_pixels) at = convlab_index(first + ty, p.S, h0, w0, p.H, p.W);
            // END TODO(2)
            const int x_at = c0 * x_step + at * p.N + n0 + tx;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
#pragma unroll
                for (int g = 0; g < IMAGES_PER_THREAD; g++) {
                    int i = g * THREADS_X;
                    bool all = at >= 0 && (!CHECKED || (c0 + c < p.C && n0 + i + tx < p.N));
                    images[c * CACHED_PIXELS + ty][i + tx] = all ? x[x_at + c * x_step + i] : 0.0f;
                }
            __syncthreads();
            // phase: compute
            if (compute == PLAIN) {
#pragma unroll
                for (int i = 0; i < CHANNELS * CACHED_PIXELS; i++)
#pragma unroll
                    for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll
                        for (int g = 0; g < IMAGES_PER_THREAD; g++)
                            sum.of[f][g] +=
                                filters[i][f * THREADS_Y + ty] * images[i][g * THREADS_X + tx];
            } else if (compute == INNER) {
                // TODO(3): The same sums, each by one inner product over all rows.
#pragma unroll
                for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll
                    for (int g = 0; g < IMAGES_PER_THREAD; g++)
                        sum.of[f][g] += convlab_inner_product(
                            &images[0][g * THREADS_X + tx], IMAGES, &filters[0][f * THREADS_Y + ty],
                            FILTERS, CHANNELS * CACHED_PIXELS);
                // END TODO(3)
            } else {
                // TODO(4): The same sums by one outer product.
                convlab_outer_product(sum, &images[0][tx], THREADS_X, IMAGES, &filters[0][ty],
                                      THREADS_Y, FILTERS, CHANNELS * CACHED_PIXELS);
                // END TODO(4)
            }
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
                y[((k * p.P + op) * p.Q + oq) * p.N + n] = sum.of[f][g];
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 block(THREADS_X, THREADS_Y);
    dim3 grid((p->K + FILTERS - 1) / FILTERS * p->P * p->Q, (p->N + IMAGES - 1) / IMAGES);
    bool full = p->N % IMAGES == 0 && p->K % FILTERS == 0 && p->C % CHANNELS == 0;
    if (full)
        conv_kernel<false><<<grid, block, 0, stream>>>(*p, x, w, y);
    else
        conv_kernel<true><<<grid, block, 0, stream>>>(*p, x, w, y);
}
