/* cublas_gemm.h - matrix products of all element types and of batches. */
#ifndef CONVLAB_CUDA_CUBLAS_GEMM_H
#define CONVLAB_CUDA_CUBLAS_GEMM_H

#include "common/cuda/cublas/cublas_handle.h"

/* One operand of a GEMM: a matrix, a batch of matrices `stride` elements apart, or, if it is
 * `listed`, an array in device memory of the addresses of the batch's matrices. */
typedef struct GemmOperand {
    const void *device;
    cudaDataType type;
    int ld;
    long long stride;
    int listed; /* Boolean */
} GemmOperand;

/* c = alpha opa(a) opb(b) + beta c, computed in the type `scalar`, which alpha and beta have. */
typedef struct Gemm {
    cublasOperation_t opa, opb;
    int m, n, k, count; /* count: GEMMs of the batch */
    const void *alpha, *beta;
    GemmOperand a, b, c;
    cudaDataType scalar;
} Gemm;

cublasStatus_t gemm_run(const char *api, cublasHandle_t handle, Gemm gemm);

/* The distance between columns of a matrix without padding; CBLAS accepts no 0. */
static inline int blas_ld(int rows)
{
    return rows > 0 ? rows : 1;
}

#endif
