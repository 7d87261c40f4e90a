/* Figure 5 of Cheng et al.: a block loads the pixels of 16 images and the weights of 4 filters into
 * shared memory, all taps at once.  Then each thread computes one output.  Tensors are CHWN.
 * To run it:  make run LAB=05 SUBMISSION=labs/05-register-tiled/steps/fig-5.cu */
#include <convlab/conv.h>

enum { THREADS_X = 16, THREADS_Y = 4 };

/* Block (bx, by) computes output pixel (op, oq) of images n0 .. n0+15 and filters k0 .. k0+3.
 * Thread (tx, ty) computes n = n0 + tx and k = k0 + ty. */
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    extern __shared__ float images[]; /* [features][filter_pixels][THREADS_X] */
    const int filter_pixels = p.R * p.S;
    float *filters = images + p.C * filter_pixels * THREADS_X; /* ... [THREADS_Y] */

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int groups = (p.K + THREADS_Y - 1) / THREADS_Y;
    const int n = blockIdx.y * THREADS_X + tx, k = blockIdx.x % groups * THREADS_Y + ty;
    const int oq = blockIdx.x / groups % p.Q, op = blockIdx.x / groups / p.Q;

    // phase: load filters
    for (int i = tx; i < filter_pixels; i += THREADS_X)
        for (int c = 0; c < p.C; c++)
            filters[(c * filter_pixels + i) * THREADS_Y + ty] =
                k < p.K ? w[(c * filter_pixels + i) * p.K + k] : 0.0f;
    // phase: load images
    for (int i = ty; i < filter_pixels; i += THREADS_Y) {
        int ih = op * p.stride_h - p.pad_top + i / p.S, iw = oq * p.stride_w - p.pad_left + i % p.S;
        bool exists = n < p.N && ih >= 0 && ih < p.H && iw >= 0 && iw < p.W;
        for (int c = 0; c < p.C; c++)
            images[(c * filter_pixels + i) * THREADS_X + tx] =
                exists ? x[((c * p.H + ih) * p.W + iw) * p.N + n] : 0.0f;
    }
    __syncthreads();
    // phase: compute
    float result = 0.0f;
    for (int i = 0; i < p.C * filter_pixels; i++)
        result += images[i * THREADS_X + tx] * filters[i * THREADS_Y + ty];
    // phase: store
    if (n < p.N && k < p.K) y[((k * p.P + op) * p.Q + oq) * p.N + n] = result;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    dim3 block(THREADS_X, THREADS_Y);
    dim3 grid((p->K + THREADS_Y - 1) / THREADS_Y * p->P * p->Q, (p->N + THREADS_X - 1) / THREADS_X);
    size_t bytes = (size_t)p->C * p->R * p->S * (THREADS_X + THREADS_Y) * sizeof(float);
    conv_kernel<<<grid, block, bytes, stream>>>(*p, x, w, y);
}
