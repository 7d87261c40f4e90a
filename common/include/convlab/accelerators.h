/* accelerators.h - three accelerators that Cheng et al. (Software and Hardware Enhancement of
 * Convolutional Neural Networks on GPGPUs, 2018) would add to every SM, one for each thread, as
 * functions.
 *
 * On the simulated machine gtx480-accelerators a call is a machine instruction with the paper's
 * latency.  On all other GPUs, including real ones, the function's body runs, so that results can
 * be compared.  All lanes that call together must agree on `count`. */
#ifndef CONVLAB_ACCELERATORS_H
#define CONVLAB_ACCELERATORS_H

/* The bodies, which must not be inlined and must keep all their arguments, because the simulator
 * identifies them by name. */
#define CONVLAB_ACCELERATOR extern "C" __device__ __noinline__

typedef struct ConvlabSums {
    float of[4][4]; /* [filter][image] */
} ConvlabSums;

CONVLAB_ACCELERATOR float convlab_accelerator_inner_product(const float *a, int a_step,
                                                            const float *b, int b_step, int count)
{
    float sum = 0.0f;
    for (int i = 0; i < count; i++)
        sum += a[i * a_step] * b[i * b_step];
    return sum;
}

CONVLAB_ACCELERATOR ConvlabSums convlab_accelerator_outer_product(ConvlabSums sums, const float *a,
                                                                  int a_next, int a_step,
                                                                  const float *b, int b_next,
                                                                  int b_step, int count)
{
    for (int i = 0; i < count; i++)
        for (int f = 0; f < 4; f++)
            for (int g = 0; g < 4; g++)
                sums.of[f][g] += a[i * a_step + g * a_next] * b[i * b_step + f * b_next];
    return sums;
}

CONVLAB_ACCELERATOR int convlab_accelerator_index(int pixel, int S, int h0, int w0, int H, int W)
{
    int h = h0 + pixel / S, w = w0 + pixel % S;
    return h >= 0 && h < H && w >= 0 && w < W ? h * W + w : -1;
}

/* Hides from the compiler that an argument is a constant, which it would propagate into the
 * body. */
__device__ static inline int convlab_opaque(int number)
{
    asm("" : "+r"(number));
    return number;
}

/* The sum over i < count of a[i * a_step] * b[i * b_step].  Section 3.2, figs 17 to 19: 2 * count
 * cycles, and two instructions to start it. */
__device__ static inline float convlab_inner_product(const float *a, int a_step, const float *b,
                                                     int b_step, int count)
{
    return convlab_accelerator_inner_product(a, convlab_opaque(a_step), b, convlab_opaque(b_step),
                                             convlab_opaque(count));
}

/* Adds to sums.of[f][g], f and g = 0 .. 3, the sum over i < count of
 * a[i * a_step + g * a_next] * b[i * b_step + f * b_next].  Section 3.3, figs 21 to 23:
 * 4 + 2 * (4 * count) - 2 cycles, and one instruction. */
__device__ static inline void convlab_outer_product(ConvlabSums &sums, const float *a, int a_next,
                                                    int a_step, const float *b, int b_next,
                                                    int b_step, int count)
{
    sums = convlab_accelerator_outer_product(sums, a, convlab_opaque(a_next),
                                             convlab_opaque(a_step), b, convlab_opaque(b_next),
                                             convlab_opaque(b_step), convlab_opaque(count));
}

/* Index of filter pixel `pixel`, of a filter with rows of S, in an image of H x W, if the filter's
 * first pixel is at (h0, w0): h * W + w, or -1 outside.  Section 4.3, fig 33: one instruction. */
__device__ static inline int convlab_index(int pixel, int S, int h0, int w0, int H, int W)
{
    return convlab_accelerator_index(pixel, S, h0, w0, H, W);
}

#endif
