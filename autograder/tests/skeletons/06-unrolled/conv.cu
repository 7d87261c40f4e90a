/* Lab 06: lab 05's kernel with unrolled loops, so that the accumulators are in registers.  Tensors
 * are CHWN.  Edit only the TODO regions. */
#include <convlab/conv.h>

enum {
    THREADS_X = 16,        /* threads per block along the images */
    THREADS_Y = 4,         /* threads per block along the filters */
    IMAGES_PER_THREAD = 4, /* a thread computes 4 x 4 outputs */
    FILTERS_PER_THREAD = 4,
    CACHED_PIXELS = 4, /* filter pixels per chunk in shared memory */
    CHANNELS = 3,      /* channels per chunk */

    IMAGES = THREADS_X * IMAGES_PER_THREAD, /* per block: 64 images, 16 filters */
    FILTERS = THREADS_Y * FILTERS_PER_THREAD,
};

/* Block (bx, by) computes output pixel (op, oq) of images n0 .. n0+IMAGES-1 and filters k0 ..
 * k0+FILTERS-1.  Thread (tx, ty) computes
 *
 *     n = n0 + g*THREADS_X + tx      k = k0 + f*THREADS_Y + ty
 *
 * for g = 0 .. IMAGES_PER_THREAD-1 and f = 0 .. FILTERS_PER_THREAD-1, as in lab 05. */
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    __shared__ float images[CHANNELS * CACHED_PIXELS][IMAGES];
    __shared__ float filters[CHANNELS * CACHED_PIXELS][FILTERS];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int groups = (p.K + FILTERS - 1) / FILTERS;
    const int n0 = blockIdx.y * IMAGES;
    const int k0 = blockIdx.x % groups * FILTERS;
    const int oq = blockIdx.x / groups % p.Q;
    const int op = blockIdx.x / groups / p.Q;
    const int filter_pixels = p.R * p.S;

    float acc[FILTERS_PER_THREAD][IMAGES_PER_THREAD] = {};
    for (int c0 = 0; c0 < p.C; c0 += CHANNELS) {
        for (int first = 0; first < filter_pixels; first += CACHED_PIXELS) {
            // phase: load filters
            for (int t = ty * THREADS_X + tx; t < CACHED_PIXELS * FILTERS;
                 t += THREADS_X * THREADS_Y) {
                int i = t / FILTERS, pixel = first + i, k = k0 + t % FILTERS;
                for (int c = 0; c < CHANNELS; c++) {
                    bool exists = pixel < filter_pixels && k < p.K && c0 + c < p.C;
                    filters[c * CACHED_PIXELS + i][t % FILTERS] =
                        exists ? w[((c0 + c) * filter_pixels + pixel) * p.K + k] : 0.0f;
                }
            }
            // phase: load images
            for (int i = ty; i < CACHED_PIXELS; i += THREADS_Y) {
                int pixel = first + i;
                int ih = op * p.stride_h - p.pad_top + pixel / p.S;
                int iw = oq * p.stride_w - p.pad_left + pixel % p.S;
                for (int c = 0; c < CHANNELS; c++)
                    for (int g = 0; g < IMAGES_PER_THREAD; g++) {
                        int n = n0 + g * THREADS_X + tx;
                        bool exists = pixel < filter_pixels && c0 + c < p.C && n < p.N && ih >= 0 &&
                                      ih < p.H && iw >= 0 && iw < p.W;
                        images[c * CACHED_PIXELS + i][g * THREADS_X + tx] =
                            exists ? x[(((c0 + c) * p.H + ih) * p.W + iw) * p.N + n] : 0.0f;
                    }
            }
            __syncthreads();
            // phase: compute
            // TODO(1): Write lab 05's loops over i, f and g so that every index of acc is a
            // constant for the compiler.
            // END TODO(1)
            __syncthreads();
        }
    }

    // phase: store
    // TODO(2): Store every acc[f][g] whose filter and image exist, also with constant indices.
    // END TODO(2)
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 block(THREADS_X, THREADS_Y);
    dim3 grid((p->K + FILTERS - 1) / FILTERS * p->P * p->Q, (p->N + IMAGES - 1) / IMAGES);
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
}
