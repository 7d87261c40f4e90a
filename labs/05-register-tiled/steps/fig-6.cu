/* Figure 6 of Cheng et al.: figure 5's kernel in chunks of 4 filter pixels, so that shared memory
 * does not grow with the filter.  Tensors are CHWN.
 * To run it:  make run LAB=05 SUBMISSION=labs/05-register-tiled/steps/fig-6.cu */
#include <convlab/conv.h>

enum { THREADS_X = 16, THREADS_Y = 4, CACHED_PIXELS = 4 };

/* Blocks and threads compute the outputs of figure 5.  The paper omits both barriers, and the zeros
 * for filter pixels beyond the last. */
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    extern __shared__ float images[]; /* [features][CACHED_PIXELS][THREADS_X] */
    const int filter_pixels = p.R * p.S;
    float *filters = images + p.C * CACHED_PIXELS * THREADS_X; /* ... [THREADS_Y] */

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int groups = (p.K + THREADS_Y - 1) / THREADS_Y;
    const int n = blockIdx.y * THREADS_X + tx, k = blockIdx.x % groups * THREADS_Y + ty;
    const int oq = blockIdx.x / groups % p.Q, op = blockIdx.x / groups / p.Q;

    float result = 0.0f;
    for (int first = 0; first < filter_pixels; first += CACHED_PIXELS) {
        // phase: load filters
        if (tx < CACHED_PIXELS)
            for (int c = 0; c < p.C; c++)
                filters[(c * CACHED_PIXELS + tx) * THREADS_Y + ty] =
                    first + tx < filter_pixels && k < p.K
                        ? w[(c * filter_pixels + first + tx) * p.K + k]
                        : 0.0f;
        // phase: load images
        int i = first + ty; /* CACHED_PIXELS equals THREADS_Y: one pixel per row of threads */
        int ih = op * p.stride_h - p.pad_top + i / p.S, iw = oq * p.stride_w - p.pad_left + i % p.S;
        bool exists = i < filter_pixels && n < p.N && ih >= 0 && ih < p.H && iw >= 0 && iw < p.W;
        for (int c = 0; c < p.C; c++)
            images[(c * CACHED_PIXELS + ty) * THREADS_X + tx] =
                exists ? x[((c * p.H + ih) * p.W + iw) * p.N + n] : 0.0f;
        __syncthreads();
        // phase: compute
        for (int j = 0; j < p.C * CACHED_PIXELS; j++)
            result += images[j * THREADS_X + tx] * filters[j * THREADS_Y + ty];
        __syncthreads();
    }
    // phase: store
    if (n < p.N && k < p.K) y[((k * p.P + op) * p.Q + oq) * p.N + n] = result;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 block(THREADS_X, THREADS_Y);
    dim3 grid((p->K + THREADS_Y - 1) / THREADS_Y * p->P * p->Q, (p->N + THREADS_X - 1) / THREADS_X);
    size_t bytes = (size_t)p->C * CACHED_PIXELS * (THREADS_X + THREADS_Y) * sizeof(float);
    conv_kernel<<<grid, block, bytes, stream>>>(*p, x, w, y);
}
