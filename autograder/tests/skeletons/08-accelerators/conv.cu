/* Lab 08: lab 07's kernel on a GPU with accelerators for inner products, outer products and index
 * computation.  Tensors are CHWN.  Edit only the TODO regions. */
#include <convlab/conv.h>
#include <convlab/accelerators.h>

/* Computation of the accumulators: by compiled code, by one inner product per accumulator, or by
 * one outer product for all accumulators. */
enum Compute { PLAIN, INNER, OUTER };

// TODO(1): Choose the fastest value after all three give right results.
static const Compute compute = PLAIN;
// END TODO(1)

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

/* Outputs and loads are mapped to blocks and threads as in lab 07.  Block (bx, by) computes output
 * pixel (op, oq) of the images from n0 and the filters from k0; its thread (tx, ty) computes
 *
 *     n = n0 + g*THREADS_X + tx      k = k0 + f*THREADS_Y + ty
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

    ConvlabSums acc = {};
    for (int c0 = 0; c0 < p.C; c0 += CHANNELS) {
        int w_offset = c0 * w_stride_c + row * p.K + k0 + column;
        for (int pixel0 = 0; pixel0 < filter_pixels; pixel0 += CACHED_PIXELS) {
            // phase: load filters
            bool has_weight = pixel0 + row < filter_pixels && (!CHECKED || k0 + column < p.K);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                bool is_valid = has_weight && (!CHECKED || c0 + c < p.C);
                filters[c * CACHED_PIXELS + row][column] =
                    is_valid ? w[w_offset + c * w_stride_c] : 0.0f;
            }
            w_offset += CACHED_PIXELS * p.K;
            // phase: load images
            int pixel_index = -1; /* h*W + w of the input pixel, -1 if none */
            // TODO(2): Compute it with the index converter if the filter pixel exists.
            // END TODO(2)
            const int x_offset = c0 * x_stride_c + pixel_index * p.N + n0 + tx;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
#pragma unroll
                for (int g = 0; g < IMAGES_PER_THREAD; g++) {
                    int i = g * THREADS_X;
                    bool is_valid =
                        pixel_index >= 0 && (!CHECKED || (c0 + c < p.C && n0 + i + tx < p.N));
                    images[c * CACHED_PIXELS + ty][i + tx] =
                        is_valid ? x[x_offset + c * x_stride_c + i] : 0.0f;
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
                            acc.of[f][g] +=
                                filters[i][f * THREADS_Y + ty] * images[i][g * THREADS_X + tx];
            } else if (compute == INNER) {
                // TODO(3): Compute the same values with one inner product per accumulator.
                // END TODO(3)
            } else {
                // TODO(4): Compute the same values with one outer product.
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
                y[((k * p.P + op) * p.Q + oq) * p.N + n] = acc.of[f][g];
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 block(THREADS_X, THREADS_Y);
    dim3 grid((p->K + FILTERS - 1) / FILTERS * p->P * p->Q, (p->N + IMAGES - 1) / IMAGES);
    bool is_full = p->N % IMAGES == 0 && p->K % FILTERS == 0 && p->C % CHANNELS == 0;
    if (is_full)
        conv_kernel<false><<<grid, block, 0, stream>>>(*p, x, w, y);
    else
        conv_kernel<true><<<grid, block, 0, stream>>>(*p, x, w, y);
}
