/* The steps of Cheng et al. (2018), one at a time: lab 06's kernel with each of their changes
 * switched on by a macro that cheng.sh defines before this text.
 *
 *     COMPUTE    0: the compiler's code   1: inner-product engine   2: outer-product engine
 *     CARRIED    0: every index is recomputed      1: from channel to channel and image to image it
 *                is carried (section 4.1, fig 29)   2: from chunk to chunk too, without / and %
 *     CHECKED    bounds that this problem cannot overstep are tested all the same (0: section 4.2)
 *     CONVERTER  the index converter finds the input pixel (section 4.3) */
#include <convlab/conv.h>
#include <convlab/accelerators.h>

enum {
    THREADS_X = 16,
    THREADS_Y = 4,
    IMAGES_PER_THREAD = 4,
    FILTERS_PER_THREAD = 4,
    CACHED_PIXELS = 4,
    CHANNELS = 3,
    IMAGES = THREADS_X * IMAGES_PER_THREAD,
    FILTERS = THREADS_Y * FILTERS_PER_THREAD,
};

/* Threads own outputs, and load, as in labs 05 to 08. */
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
    const int x_step = p.H * p.W * p.N, w_step = filter_pixels * p.K;

    ConvlabSums sum = {};
    for (int c0 = 0; c0 < p.C; c0 += CHANNELS) {
        int r = ty / p.S, s = ty % p.S;
        int x_at = c0 * x_step + ((h0 + r) * p.W + w0 + s) * p.N + n0 + tx;
        int w_at = c0 * w_step + row * p.K + k0 + column;
        for (int first = 0; first < filter_pixels; first += CACHED_PIXELS) {
            // phase: load filters
            bool exists = first + row < filter_pixels && (!CHECKED || k0 + column < p.K);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                bool all = exists && (!CHECKED || c0 + c < p.C);
                int at = CARRIED ? w_at + c * w_step
                                 : ((c0 + c) * filter_pixels + first + row) * p.K + k0 + column;
                filters[c * CACHED_PIXELS + row][column] = all ? w[at] : 0.0f;
            }
            // phase: load images
            int pixel = first + ty, ih = h0 + r, iw = w0 + s, found = -1;
            if (CARRIED < 2) {
                ih = h0 + pixel / p.S, iw = w0 + pixel % p.S;
                x_at = c0 * x_step + (ih * p.W + iw) * p.N + n0 + tx;
            }
            bool inside = pixel < filter_pixels && ih >= 0 && ih < p.H && iw >= 0 && iw < p.W;
            if (CONVERTER) {
                if (pixel < filter_pixels) found = convlab_index(pixel, p.S, h0, w0, p.H, p.W);
                inside = found >= 0;
            }
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
#pragma unroll
                for (int g = 0; g < IMAGES_PER_THREAD; g++) {
                    int i = g * THREADS_X + tx;
                    bool all = inside && (!CHECKED || (c0 + c < p.C && n0 + i < p.N));
                    int at = CONVERTER ? (c0 + c) * x_step + found * p.N + n0 + i
                             : CARRIED ? x_at + c * x_step + g * THREADS_X
                                       : (((c0 + c) * p.H + ih) * p.W + iw) * p.N + n0 + i;
                    images[c * CACHED_PIXELS + ty][i] = all ? x[at] : 0.0f;
                }
            x_at += CACHED_PIXELS * p.N;
            w_at += CACHED_PIXELS * p.K;
            for (s += CACHED_PIXELS; CARRIED == 2 && s >= p.S; s -= p.S) {
                r++;
                x_at += (p.W - p.S) * p.N;
            }
            __syncthreads();
            // phase: compute
#if COMPUTE == 0
#pragma unroll
            for (int i = 0; i < CHANNELS * CACHED_PIXELS; i++)
#pragma unroll
                for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll
                    for (int g = 0; g < IMAGES_PER_THREAD; g++)
                        sum.of[f][g] +=
                            filters[i][f * THREADS_Y + ty] * images[i][g * THREADS_X + tx];
#elif COMPUTE == 1
#pragma unroll
            for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll
                for (int g = 0; g < IMAGES_PER_THREAD; g++)
                    sum.of[f][g] += convlab_inner_product(&images[0][g * THREADS_X + tx], IMAGES,
                                                          &filters[0][f * THREADS_Y + ty], FILTERS,
                                                          CHANNELS * CACHED_PIXELS);
#else
            convlab_outer_product(sum, &images[0][tx], THREADS_X, IMAGES, &filters[0][ty],
                                  THREADS_Y, FILTERS, CHANNELS * CACHED_PIXELS);
#endif
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
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
}
