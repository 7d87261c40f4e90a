/* cublas_v2.h - the functions of cuBLAS that the simulated GPU supports
 * (docs/simulator/libraries.md).
 *
 * Used where the toolkit has no cublas_v2.h of its own, which declares more.  Names, types and
 * values are those of NVIDIA's documentation; the text is the workbook's own. */
#ifndef SIMULATE_CUBLAS_V2_H
#define SIMULATE_CUBLAS_V2_H

#include <cuComplex.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stdint.h>

/* C has no __half; the C++ header cuda_fp16.h defines it. */
#ifdef __cplusplus
#include <cuda_fp16.h>
#define SIMULATE_HALF __half
extern "C" {
#else
#define SIMULATE_HALF void
#endif

#define CUBLASWINAPI
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION   130000

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum {
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2
} cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;

/* ---- handles, statuses, copies --------------------------------------------------------------- */

#define cublasCreate         cublasCreate_v2
#define cublasDestroy        cublasDestroy_v2
#define cublasGetVersion     cublasGetVersion_v2
#define cublasSetWorkspace   cublasSetWorkspace_v2
#define cublasSetStream      cublasSetStream_v2
#define cublasGetStream      cublasGetStream_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSetPointerMode cublasSetPointerMode_v2

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *device, int incy);
cublasStatus_t cublasGetVector(int n, int bytes, const void *device, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void *a, int lda,
                               void *device, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void *device, int lda,
                               void *b, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int incx, void *device,
                                    int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *device, int incx, void *y,
                                    int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes, const void *a, int lda,
                                    void *device, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes, const void *device, int lda,
                                    void *b, int ldb, cudaStream_t stream);

/* ---- the same functions for S, D, C and Z ---------------------------------------------------- */

/* X: the letter; T: the element type. */
#define SIMULATE_CUBLAS(X, T)                                                                      \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t handle, int n, const T *alpha, const T *x,    \
                                      int incx, T *y, int incy);                                   \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x,          \
                                      int incx);                                                   \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t handle, int n, const T *x, int incx, T *y,    \
                                      int incy);                                                   \
    cublasStatus_t cublas##X##swap_v2(cublasHandle_t handle, int n, T *x, int incx, T *y,          \
                                      int incy);                                                   \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t handle, cublasOperation_t op, int m, int n,   \
                                      const T *alpha, const T *a, int lda, const T *x, int incx,   \
                                      const T *beta, T *y, int incy);                              \
    cublasStatus_t cublas##X##gemm_v2(                                                             \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
        const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc);   \
    cublasStatus_t cublas##X##gemmStridedBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
        const T *alpha, const T *a, int lda, long long stride_a, const T *b, int ldb,              \
        long long stride_b, const T *beta, T *c, int ldc, long long stride_c, int count);          \
    cublasStatus_t cublas##X##gemmBatched(                                                         \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
        const T *alpha, const T *const a[], int lda, const T *const b[], int ldb, const T *beta,   \
        T *const c[], int ldc, int count);                                                         \
    cublasStatus_t cublas##X##geam(                                                                \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n,         \
        const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc);   \
    cublasStatus_t cublas##X##syrk_v2(cublasHandle_t handle, cublasFillMode_t fill,                \
                                      cublasOperation_t op, int n, int k, const T *alpha,          \
                                      const T *a, int lda, const T *beta, T *c, int ldc);          \
    cublasStatus_t cublas##X##trsm_v2(                                                             \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, \
        cublasDiagType_t diag, int m, int n, const T *alpha, const T *a, int lda, T *b, int ldb);

SIMULATE_CUBLAS(S, float)
SIMULATE_CUBLAS(D, double)
SIMULATE_CUBLAS(C, cuComplex)
SIMULATE_CUBLAS(Z, cuDoubleComplex)
#undef SIMULATE_CUBLAS

/* Results that are real numbers: X is the type's letters, I the letter of an index. */
#define SIMULATE_CUBLAS(X, I, T, R)                                                                \
    cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t handle, int n, const T *x, int incx,          \
                                      R *result);                                                  \
    cublasStatus_t cublas##X##asum_v2(cublasHandle_t handle, int n, const T *x, int incx,          \
                                      R *result);                                                  \
    cublasStatus_t cublasI##I##amax_v2(cublasHandle_t handle, int n, const T *x, int incx,         \
                                       int *result);                                               \
    cublasStatus_t cublasI##I##amin_v2(cublasHandle_t handle, int n, const T *x, int incx,         \
                                       int *result);

SIMULATE_CUBLAS(S, s, float, float)
SIMULATE_CUBLAS(D, d, double, double)
SIMULATE_CUBLAS(Sc, c, cuComplex, float)
SIMULATE_CUBLAS(Dz, z, cuDoubleComplex, double)
#undef SIMULATE_CUBLAS

#define SIMULATE_CUBLAS(DOT, GER, T)                                                               \
    cublasStatus_t cublas##DOT##_v2(cublasHandle_t handle, int n, const T *x, int incx,            \
                                    const T *y, int incy, T *result);                              \
    cublasStatus_t cublas##GER##_v2(cublasHandle_t handle, int m, int n, const T *alpha,           \
                                    const T *x, int incx, const T *y, int incy, T *a, int lda);

SIMULATE_CUBLAS(Sdot, Sger, float)
SIMULATE_CUBLAS(Ddot, Dger, double)
SIMULATE_CUBLAS(Cdotu, Cgeru, cuComplex)
SIMULATE_CUBLAS(Cdotc, Cgerc, cuComplex)
SIMULATE_CUBLAS(Zdotu, Zgeru, cuDoubleComplex)
SIMULATE_CUBLAS(Zdotc, Zgerc, cuDoubleComplex)
#undef SIMULATE_CUBLAS

cublasStatus_t cublasCsscal_v2(cublasHandle_t handle, int n, const float *alpha, cuComplex *x,
                               int incx);
cublasStatus_t cublasZdscal_v2(cublasHandle_t handle, int n, const double *alpha,
                               cuDoubleComplex *x, int incx);

/* ---- half precision and mixed types ---------------------------------------------------------- */

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                           int m, int n, int k, const SIMULATE_HALF *alpha, const SIMULATE_HALF *a,
                           int lda, const SIMULATE_HALF *b, int ldb, const SIMULATE_HALF *beta,
                           SIMULATE_HALF *c, int ldc);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t opa,
                                         cublasOperation_t opb, int m, int n, int k,
                                         const SIMULATE_HALF *alpha, const SIMULATE_HALF *a,
                                         int lda, long long stride_a, const SIMULATE_HALF *b,
                                         int ldb, long long stride_b, const SIMULATE_HALF *beta,
                                         SIMULATE_HALF *c, int ldc, long long stride_c, int count);
cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t opa,
                                  cublasOperation_t opb, int m, int n, int k,
                                  const SIMULATE_HALF *alpha, const SIMULATE_HALF *const a[],
                                  int lda, const SIMULATE_HALF *const b[], int ldb,
                                  const SIMULATE_HALF *beta, SIMULATE_HALF *const c[], int ldc,
                                  int count);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                             int m, int n, int k, const float *alpha, const void *a,
                             cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                             int ldb, const float *beta, void *c, cudaDataType c_type, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                            int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                          cublasOperation_t opb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type,
                                          int lda, long long stride_a, const void *b,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void *beta, void *c, cudaDataType c_type, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                   cublasOperation_t opb, int m, int n, int k, const void *alpha,
                                   const void *const a[], cudaDataType a_type, int lda,
                                   const void *const b[], cudaDataType b_type, int ldb,
                                   const void *beta, void *const c[], cudaDataType c_type, int ldc,
                                   int count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm);

#ifdef __cplusplus
}
#endif
#undef SIMULATE_HALF

/* ---- the names that programs use ------------------------------------------------------------- */

#define cublasSaxpy  cublasSaxpy_v2
#define cublasSscal  cublasSscal_v2
#define cublasScopy  cublasScopy_v2
#define cublasSswap  cublasSswap_v2
#define cublasSgemv  cublasSgemv_v2
#define cublasSgemm  cublasSgemm_v2
#define cublasSsyrk  cublasSsyrk_v2
#define cublasStrsm  cublasStrsm_v2
#define cublasDaxpy  cublasDaxpy_v2
#define cublasDscal  cublasDscal_v2
#define cublasDcopy  cublasDcopy_v2
#define cublasDswap  cublasDswap_v2
#define cublasDgemv  cublasDgemv_v2
#define cublasDgemm  cublasDgemm_v2
#define cublasDsyrk  cublasDsyrk_v2
#define cublasDtrsm  cublasDtrsm_v2
#define cublasCaxpy  cublasCaxpy_v2
#define cublasCscal  cublasCscal_v2
#define cublasCcopy  cublasCcopy_v2
#define cublasCswap  cublasCswap_v2
#define cublasCgemv  cublasCgemv_v2
#define cublasCgemm  cublasCgemm_v2
#define cublasCsyrk  cublasCsyrk_v2
#define cublasCtrsm  cublasCtrsm_v2
#define cublasZaxpy  cublasZaxpy_v2
#define cublasZscal  cublasZscal_v2
#define cublasZcopy  cublasZcopy_v2
#define cublasZswap  cublasZswap_v2
#define cublasZgemv  cublasZgemv_v2
#define cublasZgemm  cublasZgemm_v2
#define cublasZsyrk  cublasZsyrk_v2
#define cublasZtrsm  cublasZtrsm_v2
#define cublasSnrm2  cublasSnrm2_v2
#define cublasSasum  cublasSasum_v2
#define cublasDnrm2  cublasDnrm2_v2
#define cublasDasum  cublasDasum_v2
#define cublasScnrm2 cublasScnrm2_v2
#define cublasScasum cublasScasum_v2
#define cublasDznrm2 cublasDznrm2_v2
#define cublasDzasum cublasDzasum_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIdamin cublasIdamin_v2
#define cublasIcamax cublasIcamax_v2
#define cublasIcamin cublasIcamin_v2
#define cublasIzamax cublasIzamax_v2
#define cublasIzamin cublasIzamin_v2
#define cublasSdot   cublasSdot_v2
#define cublasDdot   cublasDdot_v2
#define cublasCdotu  cublasCdotu_v2
#define cublasCdotc  cublasCdotc_v2
#define cublasZdotu  cublasZdotu_v2
#define cublasZdotc  cublasZdotc_v2
#define cublasSger   cublasSger_v2
#define cublasDger   cublasDger_v2
#define cublasCgeru  cublasCgeru_v2
#define cublasCgerc  cublasCgerc_v2
#define cublasZgeru  cublasZgeru_v2
#define cublasZgerc  cublasZgerc_v2
#define cublasCsscal cublasCsscal_v2
#define cublasZdscal cublasZdscal_v2

#endif
