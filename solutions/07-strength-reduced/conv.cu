/* Lab 07: the same kernel with cheaper indices: what changes by a constant is carried along instead
 * of computed again, and what always holds is not asked.  Tensors are CHWN.  Edit only the TODO
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

/* Blocks and threads own outputs as in lab 05: block (bx, by) images n0 .. and filters k0 .. at
 * output pixel (op, oq), thread (tx, ty)
 *
 *     n = n0 + g*THREADS_X + tx      k = k0 + f*THREADS_Y + ty
 *
 * CACHED_PIXELS is THREADS_Y, so of each chunk, first .. first+CACHED_PIXELS-1, a thread loads
 * under one filter pixel (r, s) = first + ty, and weights of one, first + row: in each channel
 *
 *     x[x_at + g*THREADS_X] into images[...][g*THREADS_X + tx]    w[w_at] into filters[...][column]
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

    float sum[FILTERS_PER_THREAD][IMAGES_PER_THREAD] = {};
    for (int c0 = 0; c0 < p.C; c0 += CHANNELS) {
        int r = 0, s = 0, x_at = 0, w_at = 0;
        // TODO(1): Begin: (r, s), x_at and w_at for first = 0 and channel c0.
        r = ty / p.S, s = ty % p.S;
        x_at = c0 * x_step + ((h0 + r) * p.W + w0 + s) * p.N + n0 + tx;
        w_at = c0 * w_step + row * p.K + k0 + column;
        // END TODO(1)
        for (int first = 0; first < filter_pixels; first += CACHED_PIXELS) {
            // phase: load filters
            bool exists = first + row < filter_pixels && (!CHECKED || k0 + column < p.K);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                // TODO(2): Load the weight of channel c0+c; ask only what `exists` does not say.
                bool all = exists && (!CHECKED || c0 + c < p.C);
                filters[c * CACHED_PIXELS + row][column] = all ? w[w_at + c * w_step] : 0.0f;
                // END TODO(2)
            }
            // phase: load images
            int ih = h0 + r, iw = w0 + s;
            bool inside = r < p.R && ih >= 0 && ih < p.H && iw >= 0 && iw < p.W;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
#pragma unroll
                for (int g = 0; g < IMAGES_PER_THREAD; g++) {
                    // TODO(3): Load a pixel of channel c0+c, likewise.
                    int i = g * THREADS_X;
                    bool all = inside && (!CHECKED || (c0 + c < p.C && n0 + i + tx < p.N));
                    images[c * CACHED_PIXELS + ty][i + tx] = all ? x[x_at + c * x_step + i] : 0.0f;
                    // END TODO(3)
                }
            // TODO(4): Carry (r, s), x_at and w_at on to the next chunk, without / and %.
            x_at += CACHED_PIXELS * p.N;
            w_at += CACHED_PIXELS * p.K;
            for (s += CACHED_PIXELS; s >= p.S; s -= p.S) {
                r++;
                x_at += (p.W - p.S) * p.N;
            }
            // END TODO(4)
            __syncthreads();
            // phase: compute
#pragma unroll
            for (int i = 0; i < CHANNELS * CACHED_PIXELS; i++)
#pragma unroll
                for (int f = 0; f < FILTERS_PER_THREAD; f++)
#pragma unroll
                    for (int g = 0; g < IMAGES_PER_THREAD; g++)
                        sum[f][g] += filters[i][f * THREADS_Y + ty] * images[i][g * THREADS_X + tx];
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
                y[((k * p.P + op) * p.Q + oq) * p.N + n] = sum[f][g];
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 block(THREADS_X, THREADS_Y);
    dim3 grid((p->K + FILTERS - 1) / FILTERS * p->P * p->Q, (p->N + IMAGES - 1) / IMAGES);
    // TODO(5): Launch without checks where every block is full, else with them.
    bool full = p->N % IMAGES == 0 && p->K % FILTERS == 0 && p->C % CHANNELS == 0;
    if (full)
        conv_kernel<false><<<grid, block, 0, stream>>>(*p, x, w, y);
    else
        conv_kernel<true><<<grid, block, 0, stream>>>(*p, x, w, y);
    // END TODO(5)
}
