/* cublas_handle.h - cuBLAS on the host: handles, operands in device memory, and the BLAS library.
 *
 * Module: the functions of cuBLAS (common/include/cuda/cublas_v2.h), computed by a CBLAS library.
 * Callers: programs on the simulated GPU, which link libcublas.
 * May use: cuda/runtime, cuda.
 *
 * The CBLAS library is loaded at the first call: OpenBLAS, else the reference library or GSL's.
 * Operands are copied from device memory, column after column, and results back. */
#ifndef CONVLAB_CUDA_CUBLAS_HANDLE_H
#define CONVLAB_CUDA_CUBLAS_HANDLE_H

#include <cublas_v2.h>
#include <gsl/gsl_cblas.h>

#include "common/cuda/runtime/runtime_library.h"

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasAtomicsMode_t atomics;
    cublasMath_t math;
};

/* One call of the library. */
typedef struct BlasCall {
    const char *api; /* its name, a string constant */
    cublasHandle_t handle;
    cublasStatus_t status; /* the first failure */
} BlasCall;

/* A matrix in device memory, column-major, with `ld` elements between columns; a vector is a matrix
 * of one row. */
typedef struct BlasMatrix {
    const void *device;
    size_t bytes; /* an element's size */
    int64_t rows, columns, ld;
} BlasMatrix;

/* Checks the handle, counts the call, and loads the BLAS library; see status. */
BlasCall blas_begin(const char *api, cublasHandle_t handle);
/* Sets the status if nothing failed before; returns the call's status. */
cublasStatus_t blas_fail(BlasCall *call, cublasStatus_t status);
/* The matrix without its padding, in new memory that the caller frees; NULL if the call has failed.
 * blas_room allocates only. */
void *blas_read(BlasCall *call, BlasMatrix matrix);
void *blas_room(BlasCall *call, BlasMatrix matrix);
/* A vector of n elements.  Its copy on the host has no gaps, so its increment there is blas_step.
 * BLAS goes backwards from the last element if the increment is negative. */
BlasMatrix blas_vector(const void *device, size_t bytes, int n, int increment);
/* Writes the memory of blas_read or blas_room back, and frees it. */
void blas_write(BlasCall *call, BlasMatrix matrix, void *host);
/* A scalar argument, or a result: in host or device memory, as the handle says. */
void blas_scalar(BlasCall *call, const void *from, void *value, size_t bytes);
void blas_result(BlasCall *call, void *to, const void *value, size_t bytes);

/* A function of the BLAS library; it exists after blas_begin. */
void *blas_symbol(const char *name);
#define BLAS(name) ((__typeof__(cblas_##name) *)(uintptr_t)blas_symbol("cblas_" #name))

static inline int blas_step(int increment)
{
    return increment < 0 ? -1 : 1;
}

static inline enum CBLAS_TRANSPOSE blas_operation(cublasOperation_t operation)
{
    return operation == CUBLAS_OP_N   ? CblasNoTrans
           : operation == CUBLAS_OP_T ? CblasTrans
                                      : CblasConjTrans;
}

#endif
