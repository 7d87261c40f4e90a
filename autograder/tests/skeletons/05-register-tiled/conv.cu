/* Lab 05: the kernel of cuda-convnet2: a block loads few pixels and few weights, and uses each many
 * times.  Tensors are CHWN: x[c][h][w][n], w[c][r][s][k], y[k][p][q][n].  Edit only the TODO
 * regions. */
#include <convlab/conv.h>

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

/* Block (bx, by) owns output pixel (op, oq) of images n0 .. n0+IMAGES-1 and filters k0 ..
 * k0+FILTERS-1; k0, then oq, then op are the digits of bx, by counts the groups of images.
 * Thread (tx, ty) owns, for g = 0 .. IMAGES_PER_THREAD-1 and f = 0 .. FILTERS_PER_THREAD-1,
 *
 *     n = n0 + g*THREADS_X + tx      k = k0 + f*THREADS_Y + ty
 *
 * so that neighbouring threads own neighbouring images.  Its sums lie in an array that is indexed
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

    float sum[FILTERS_PER_THREAD][IMAGES_PER_THREAD] = {};
    for (int c0 = 0; c0 < p.C; c0 += CHANNELS) {
        for (int first = 0; first < filter_pixels; first += CACHED_PIXELS) {
            // phase: load filters
            // TODO(1): Load weights: filter pixels first .. first+CACHED_PIXELS-1 of channels c0 ..
            // c0+CHANNELS-1, row c*CACHED_PIXELS + i of the array; zeros for what does not exist.
            // END TODO(1)
            // phase: load images
            // TODO(2): Load under each of these filter pixels the pixel of every image; zeros for
            // the padding, and for what does not exist.  Then wait for each other.
            // END TODO(2)
            // phase: compute
            for (int i = 0; i < CHANNELS * CACHED_PIXELS; i++)
#pragma unroll 1 /* loops that stay loops, as the paper's compiler left them */
                for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll 1
                    for (int g = 0; g < IMAGES_PER_THREAD; g++) {
                        // TODO(3): Add to sum[f][g] the product of its weight and its pixel.
                        // END TODO(3)
                    }
            // TODO(4): Let nobody load the next pixels before all have used these.
            // END TODO(4)
        }
    }

    // phase: store
#pragma unroll 1
    for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll 1
        for (int g = 0; g < IMAGES_PER_THREAD; g++) {
            // TODO(5): Store sum[f][g], if its filter and its image exist.
            // END TODO(5)
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    // TODO(6): Launch enough blocks for all images, filters and output pixels.
    // END TODO(6)
}
