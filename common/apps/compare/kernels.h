/* kernels.h - compare's auxiliary kernels.  All of them are enqueued on `stream`. */
#ifndef CONVLAB_COMPARE_KERNELS_H
#define CONVLAB_COMPARE_KERNELS_H

#include <cuda_runtime.h>
#include <stddef.h>

#include "convlab/conv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks and threads of the kernels that measure ceilings. */
enum { CEILING_BLOCKS = 132 * 16, CEILING_THREADS = 256 };

/* Converts `from`, [n][c][h][w] in one layout (CONV_NCHW ...), into `to` in another. */
void kernels_rearrange(int from_layout, const float *from, int to_layout, float *to, int n, int c,
                       int h, int w, cudaStream_t stream);
/* Converts `count` floats to halves, multiplied by `scale`; and halves to floats. */
void kernels_halve(const float *from, float scale, void *to, size_t count, cudaStream_t stream);
void kernels_widen(const void *from, float *to, size_t count, cudaStream_t stream);
/* X_unroll of all images: C*R*S rows of N*P*Q columns. */
void kernels_unroll(const ConvProblem *p, const float *x, float *unrolled, cudaStream_t stream);
/* Each thread executes 8,192 multiply-adds per iteration. */
void kernels_fma(float *out, int rounds, cudaStream_t stream);
/* Each warp executes 64 MMAs of 16x8x8 in tf32 per iteration. */
void kernels_tensor(float *out, int rounds, cudaStream_t stream);
void kernels_read(const float *in, size_t floats, float *out, cudaStream_t stream);
void kernels_nothing(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
