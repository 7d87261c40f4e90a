/* cublas_vector.c - level 1: operations on vectors. */
#include <math.h>
#include <stdlib.h>

#include "common/cuda/cublas/cublas_handle.h"

#define TYPE_S
#include "common/cuda/cublas/cublas_type.h"
#include "common/cuda/cublas/cublas_vector.inc"
#define TYPE_D
#include "common/cuda/cublas/cublas_type.h"
#include "common/cuda/cublas/cublas_vector.inc"
#define TYPE_C
#include "common/cuda/cublas/cublas_type.h"
#include "common/cuda/cublas/cublas_vector.inc"
#define TYPE_Z
#include "common/cuda/cublas/cublas_type.h"
#include "common/cuda/cublas/cublas_vector.inc"

/* DOT(name, T, statement): `statement` computes `value` from n elements of a and b. */
#define DOT(name, T, statement)                                                                    \
    cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int n, const T *x, int incx,           \
                                     const T *y, int incy, T *result)                              \
    {                                                                                              \
        T value = {0};                                                                             \
        BlasCall call = blas_begin("cublas" #name, handle);                                        \
        T *a = blas_read(&call, blas_vector(x, sizeof *x, n, incx));                               \
        T *b = blas_read(&call, blas_vector(y, sizeof *y, n, incy));                               \
        int at = blas_step(incx), bt = blas_step(incy);                                            \
        if (b) statement;                                                                          \
        blas_result(&call, result, &value, sizeof value);                                          \
        free(a), free(b);                                                                          \
        return call.status;                                                                        \
    }

DOT(Sdot, float, value = BLAS(sdot)(n, a, at, b, bt))
DOT(Ddot, double, value = BLAS(ddot)(n, a, at, b, bt))
DOT(Cdotu, cuComplex, BLAS(cdotu_sub)(n, a, at, b, bt, &value))
DOT(Cdotc, cuComplex, BLAS(cdotc_sub)(n, a, at, b, bt, &value))
DOT(Zdotu, cuDoubleComplex, BLAS(zdotu_sub)(n, a, at, b, bt, &value))
DOT(Zdotc, cuDoubleComplex, BLAS(zdotc_sub)(n, a, at, b, bt, &value))

/* Complex vectors times a real number. */
#define REAL_SCAL(name, T, R, function)                                                            \
    cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int n, const R *alpha, T *x, int incx) \
    {                                                                                              \
        R a;                                                                                       \
        BlasCall call = blas_begin("cublas" #name, handle);                                        \
        BlasMatrix vector = blas_vector(x, sizeof *x, n, incx);                                    \
        blas_scalar(&call, alpha, &a, sizeof a);                                                   \
        T *values = blas_read(&call, vector);                                                      \
        if (values) BLAS(function)(n, a, values, 1);                                               \
        blas_write(&call, vector, values);                                                         \
        return call.status;                                                                        \
    }

REAL_SCAL(Csscal, cuComplex, float, csscal)
REAL_SCAL(Zdscal, cuDoubleComplex, double, zdscal)
