/* Lab 05: register tiling, as in cuda-convnet2: a block loads few pixels and weights, and uses each
 * many times.  Tensors are CHWN: x[c][h][w][n], w[c][r][s][k], y[k][p][q][n].  Edit only the TODO
 * regions. */
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
 * k0+FILTERS-1.  bx enumerates groups of filters (fastest), oq and op; by enumerates groups of
 * images.  Thread (tx, ty) computes, for g = 0 .. IMAGES_PER_THREAD-1 and f = 0 ..
 * FILTERS_PER_THREAD-1,
 *
 *     n = n0 + g*THREADS_X + tx      k = k0 + f*THREADS_Y + ty
 *
 * so that neighbouring threads process neighbouring images.  The array of accumulators is indexed
 * at run time; see where the compiler puts it. */
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
            // TODO(1): Load the weights of filter pixels first .. first+CACHED_PIXELS-1 of channels
            // c0 .. c0+CHANNELS-1 into rows c*CACHED_PIXELS + i; zeros for what does not exist.
            // END TODO(1)
            // phase: load images
            // TODO(2): Load the input pixel of each of these filter pixels for every image; zeros
            // for the padding and for what does not exist.  Then wait at a barrier.
            // END TODO(2)
            // phase: compute
            for (int i = 0; i < CHANNELS * CACHED_PIXELS; i++)
#pragma unroll 1 /* remains a loop, as with the paper's compiler */
                for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll 1
                    for (int g = 0; g < IMAGES_PER_THREAD; g++) {
                        // TODO(3): Multiply its weight by its pixel and add to acc[f][g].
                        // END TODO(3)
                    }
            // TODO(4): Wait until all threads have used this chunk.
            // END TODO(4)
        }
    }

    // phase: store
#pragma unroll 1
    for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll 1
        for (int g = 0; g < IMAGES_PER_THREAD; g++) {
            // TODO(5): Store acc[f][g] if its filter and its image exist.
            // END TODO(5)
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    // TODO(6): Launch enough blocks for all images, filters and output pixels.
    // END TODO(6)
}
