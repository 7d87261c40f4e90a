/* cublas_matrix.c - levels 2 and 3: matrices with vectors and with matrices. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/cublas/cublas_gemm.h"

/* alpha * a + beta * b for the elements of geam. */
static float sum_S(float alpha, float a, float beta, float b)
{
    return alpha * a + beta * b;
}

static double sum_D(double alpha, double a, double beta, double b)
{
    return alpha * a + beta * b;
}

static cuComplex sum_C(cuComplex alpha, cuComplex a, cuComplex beta, cuComplex b)
{
    return cuCaddf(cuCmulf(alpha, a), cuCmulf(beta, b));
}

static cuDoubleComplex sum_Z(cuDoubleComplex alpha, cuDoubleComplex a, cuDoubleComplex beta,
                             cuDoubleComplex b)
{
    return cuCadd(cuCmul(alpha, a), cuCmul(beta, b));
}

#define DATA_S       CUDA_R_32F
#define DATA_D       CUDA_R_64F
#define DATA_C       CUDA_C_32F
#define DATA_Z       CUDA_C_64F
#define DATA(letter) PASTE(DATA_, letter, )

#define conj_S(value) (value)
#define conj_D(value) (value)
#define conj_C(value) cuConjf(value)
#define conj_Z(value) cuConj(value)

#define TYPE_S
#include "common/cuda/cublas/cublas_type.h"
#include "common/cuda/cublas/cublas_matrix.inc"
#define TYPE_D
#include "common/cuda/cublas/cublas_type.h"
#include "common/cuda/cublas/cublas_matrix.inc"
#define TYPE_C
#include "common/cuda/cublas/cublas_type.h"
#include "common/cuda/cublas/cublas_matrix.inc"
#define TYPE_Z
#include "common/cuda/cublas/cublas_type.h"
#include "common/cuda/cublas/cublas_matrix.inc"

#define GER(name, T, function, scalar)                                                             \
    cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int m, int n, const T *alpha,          \
                                     const T *x, int incx, const T *y, int incy, T *a, int lda)    \
    {                                                                                              \
        T factor;                                                                                  \
        BlasCall call = blas_begin("cublas" #name, handle);                                        \
        BlasMatrix matrix = {a, sizeof *a, m, n, lda};                                             \
        blas_scalar(&call, alpha, &factor, sizeof factor);                                         \
        T *left = blas_read(&call, blas_vector(x, sizeof *x, m, incx));                            \
        T *right = blas_read(&call, blas_vector(y, sizeof *y, n, incy));                           \
        T *values = blas_read(&call, matrix);                                                      \
        if (values) BLAS(function)                                                                 \
        (CblasColMajor, m, n, scalar factor, left, blas_step(incx), right, blas_step(incy),        \
         values, blas_ld(m));                                                                      \
        blas_write(&call, matrix, values);                                                         \
        free(left), free(right);                                                                   \
        return call.status;                                                                        \
    }

GER(Sger, float, sger, )
GER(Dger, double, dger, )
GER(Cgeru, cuComplex, cgeru, &)
GER(Cgerc, cuComplex, cgerc, &)
GER(Zgeru, cuDoubleComplex, zgeru, &)
GER(Zgerc, cuDoubleComplex, zgerc, &)
