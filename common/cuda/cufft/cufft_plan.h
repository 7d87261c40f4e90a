/* cufft_plan.h - cuFFT on the host: plans and the layout of their data.
 *
 * Module: the functions of cuFFT (common/include/cuda/cufft.h), computed by FFTW.
 * Callers: programs on the simulated GPU, which link libcufft.
 * May use: cuda/runtime, cuda.
 *
 * FFTW is loaded at the first execution.  It gets contiguous copies of the data, so the layouts of
 * batches exist only in device memory. */
#ifndef CONVLAB_CUDA_CUFFT_PLAN_H
#define CONVLAB_CUDA_CUFFT_PLAN_H

#include <cufft.h>

#include "common/cuda/runtime/runtime_library.h"

enum { FFT_RANK = 3 };

/* The layout of one side, in elements of that side. */
typedef struct FftLayout {
    int is_basic;         /* Boolean: contiguous */
    int embed[FFT_RANK];  /* sizes of the storage's dimensions; the first is not used */
    int stride, distance; /* between elements of the last dimension; between transforms */
} FftLayout;

typedef struct FftPlan {
    int is_used, is_made; /* Booleans */
    int rank, size[FFT_RANK], batch;
    cufftType type;
    FftLayout in, out;
    cudaStream_t stream;
} FftPlan;

/* The plan of a handle, or NULL. */
FftPlan *fft_plan(cufftHandle handle);

#endif
