/* cublas_gemm.c - matrix products of all element types and of batches.
 *
 * Elements are converted to the type that computes: float for FP16, BF16 and float; double for
 * double and for integers, whose sums it holds exactly; complex types as they are.  FP16 matrices
 * are therefore multiplied with FP32 accumulators and rounded once. */
#include "common/cuda/cublas/cublas_gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- element types --------------------------------------------------------------------------- */

static size_t type_bytes(cudaDataType type)
{
    switch (type) {
    case CUDA_R_8I:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
        return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
        return 8;
    case CUDA_C_64F:
        return 16;
    default:
        return 0;
    }
}

/* A 16-bit format: bits of the fraction, and the exponents of normal numbers. */
typedef struct SmallFormat {
    int fraction, least, most;
} SmallFormat;

static const SmallFormat f16 = {10, -14, 15}, bf16 = {7, -126, 127};

static double small_read(uint16_t bits, SmallFormat format)
{
    int field = bits >> format.fraction & (2 * format.most + 1);
    double fraction = bits & ((1 << format.fraction) - 1), value;
    if (field == 2 * format.most + 1)
        value = fraction != 0 ? NAN : INFINITY;
    else if (field == 0)
        value = ldexp(fraction, format.least - format.fraction);
    else
        value = ldexp(fraction + (1 << format.fraction), field - format.most - format.fraction);
    return bits >> 15 ? -value : value;
}

/* To the nearest number, ties to even. */
static uint16_t small_round(double value, SmallFormat format)
{
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    uint32_t infinity = (uint32_t)(2 * format.most + 1) << format.fraction;
    double magnitude = fabs(value);
    if (isnan(value)) return (uint16_t)(infinity | 1u << (format.fraction - 1));
    if (isinf(value)) return (uint16_t)(sign | infinity);
    int exponent = magnitude > 0 ? ilogb(magnitude) : format.least;
    if (exponent < format.least) exponent = format.least;
    if (exponent > format.most) return (uint16_t)(sign | infinity);
    uint32_t units = (uint32_t)rint(ldexp(magnitude, format.fraction - exponent));
    /* The hidden bit of a normal number adds 1 to the exponent's field. */
    uint32_t bits = ((uint32_t)(exponent - format.least) << format.fraction) + units;
    return (uint16_t)(sign | (bits > infinity ? infinity : bits));
}

static double element_read(const void *from, cudaDataType type, size_t at)
{
    switch (type) {
    case CUDA_R_8I:
        return ((const int8_t *)from)[at];
    case CUDA_R_16F:
        return small_read(((const uint16_t *)from)[at], f16);
    case CUDA_R_16BF:
        return small_read(((const uint16_t *)from)[at], bf16);
    case CUDA_R_32F:
        return (double)((const float *)from)[at];
    case CUDA_R_32I:
        return ((const int32_t *)from)[at];
    default:
        return ((const double *)from)[at];
    }
}

/* Integers are clamped to their range, as a GPU's conversion does. */
static double clamp(double value, double least, double most)
{
    return value < least ? least : value > most ? most : rint(value);
}

static void element_write(void *to, cudaDataType type, size_t at, double value)
{
    switch (type) {
    case CUDA_R_8I:
        ((int8_t *)to)[at] = (int8_t)clamp(value, INT8_MIN, INT8_MAX);
        break;
    case CUDA_R_16F:
        ((uint16_t *)to)[at] = small_round(value, f16);
        break;
    case CUDA_R_16BF:
        ((uint16_t *)to)[at] = small_round(value, bf16);
        break;
    case CUDA_R_32F:
        ((float *)to)[at] = (float)value;
        break;
    case CUDA_R_32I:
        ((int32_t *)to)[at] = (int32_t)clamp(value, INT32_MIN, INT32_MAX);
        break;
    default:
        ((double *)to)[at] = value;
        break;
    }
}

static int is_complex(cudaDataType type)
{
    return type == CUDA_C_32F || type == CUDA_C_64F;
}

/* The type in which the BLAS library computes. */
static cudaDataType type_of_work(cudaDataType scalar)
{
    if (is_complex(scalar)) return scalar;
    return scalar == CUDA_R_64F || scalar == CUDA_R_32I ? CUDA_R_64F : CUDA_R_32F;
}

/* The elements in another type, in new memory; the given memory is freed. */
static void *convert(BlasCall *call, void *values, size_t count, cudaDataType from, cudaDataType to)
{
    if (!values || from == to) return values;
    void *made = malloc(count * type_bytes(to) + 1);
    for (size_t i = 0; made && i < count; i++)
        element_write(made, to, i, element_read(values, from, i));
    if (!made) blas_fail(call, CUBLAS_STATUS_ALLOC_FAILED);
    free(values);
    return made;
}

/* ---- one GEMM -------------------------------------------------------------------------------- */

static BlasMatrix operand_matrix(const GemmOperand *operand, const void *device, int rows,
                                 int columns)
{
    return (BlasMatrix){device, type_bytes(operand->type), rows, columns, operand->ld};
}

static void *operand_read(BlasCall *call, const GemmOperand *operand, const void *device, int rows,
                          int columns, cudaDataType work)
{
    void *values = blas_read(call, operand_matrix(operand, device, rows, columns));
    return convert(call, values, (size_t)rows * (size_t)columns, operand->type, work);
}

/* alpha and beta as the BLAS library takes them. */
typedef union Scalar {
    float f;
    double d;
    cuComplex c;
    cuDoubleComplex z;
    unsigned char bytes[16];
} Scalar;

static int is_zero(const Scalar *scalar, cudaDataType type)
{
    switch (type) {
    case CUDA_R_32F:
        return scalar->f == 0;
    case CUDA_R_64F:
        return scalar->d == 0;
    case CUDA_C_32F:
        return scalar->c.x == 0 && scalar->c.y == 0;
    default:
        return scalar->z.x == 0 && scalar->z.y == 0;
    }
}

static Scalar scalar_read(BlasCall *call, const void *from, cudaDataType type, cudaDataType work)
{
    Scalar raw = {.bytes = {0}}, value = raw;
    blas_scalar(call, from, &raw, type_bytes(type));
    if (type == work) return raw;
    element_write(&value, work, 0, element_read(&raw, type, 0));
    return value;
}

static void multiply(const Gemm *g, cudaDataType work, Scalar alpha, const void *a, const void *b,
                     Scalar beta, void *c)
{
    const enum CBLAS_TRANSPOSE opa = blas_operation(g->opa), opb = blas_operation(g->opb);
    const int lda = blas_ld(g->opa == CUBLAS_OP_N ? g->m : g->k);
    const int ldb = blas_ld(g->opb == CUBLAS_OP_N ? g->k : g->n), ldc = blas_ld(g->m);
    const int m = g->m, n = g->n, k = a ? g->k : 0;
    switch (work) {
    case CUDA_R_32F:
        BLAS(sgemm)(CblasColMajor, opa, opb, m, n, k, alpha.f, a, lda, b, ldb, beta.f, c, ldc);
        break;
    case CUDA_R_64F:
        BLAS(dgemm)(CblasColMajor, opa, opb, m, n, k, alpha.d, a, lda, b, ldb, beta.d, c, ldc);
        break;
    case CUDA_C_32F:
        BLAS(cgemm)(CblasColMajor, opa, opb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
        break;
    default:
        BLAS(zgemm)(CblasColMajor, opa, opb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
        break;
    }
}

/* c is not read if beta is 0, and a and b are not read if alpha is 0. */
static void product(BlasCall *call, const Gemm *g, Scalar alpha, Scalar beta,
                    const void *const at[])
{
    const cudaDataType work = type_of_work(g->scalar);
    const int is_plain_a = g->opa == CUBLAS_OP_N, is_plain_b = g->opb == CUBLAS_OP_N;
    const size_t count = (size_t)g->m * (size_t)g->n;
    void *a = NULL, *b = NULL;
    if (!is_zero(&alpha, work) && g->k) {
        a = operand_read(call, &g->a, at[0], is_plain_a ? g->m : g->k, is_plain_a ? g->k : g->m,
                         work);
        b = operand_read(call, &g->b, at[1], is_plain_b ? g->k : g->n, is_plain_b ? g->n : g->k,
                         work);
    }
    BlasMatrix result = operand_matrix(&g->c, at[2], g->m, g->n);
    void *c = is_zero(&beta, work)
                  ? blas_room(call, (BlasMatrix){at[2], type_bytes(work), g->m, g->n, g->c.ld})
                  : operand_read(call, &g->c, at[2], g->m, g->n, work);
    if (c && call->status == CUBLAS_STATUS_SUCCESS) multiply(g, work, alpha, a, b, beta, c);
    blas_write(call, result, convert(call, c, count, work, g->c.type));
    free(a), free(b);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The addresses of the operand's matrices, in new memory. */
static const void **addresses(BlasCall *call, const GemmOperand *operand, int count)
{
    if (operand->listed)
        return blas_read(call, (BlasMatrix){operand->device, sizeof(void *), 1, count, 1});
    const void **list = blas_room(call, (BlasMatrix){operand->device, sizeof(void *), 1, count, 1});
    size_t step = (size_t)operand->stride * type_bytes(operand->type);
    for (int i = 0; list && i < count; i++)
        list[i] = (const char *)operand->device + (size_t)i * step;
    return list;
}

static int is_valid(const Gemm *g)
{
    int rows_a = g->opa == CUBLAS_OP_N ? g->m : g->k, rows_b = g->opb == CUBLAS_OP_N ? g->k : g->n;
    return g->m >= 0 && g->n >= 0 && g->k >= 0 && g->count >= 0 && g->a.ld >= blas_ld(rows_a) &&
           g->b.ld >= blas_ld(rows_b) && g->c.ld >= blas_ld(g->m);
}

static int is_supported(const Gemm *g)
{
    const GemmOperand *all[] = {&g->a, &g->b, &g->c};
    for (int i = 0; i < 3; i++)
        if (!type_bytes(all[i]->type) || is_complex(all[i]->type) != is_complex(g->scalar) ||
            (is_complex(g->scalar) && all[i]->type != g->scalar))
            return 0;
    return type_bytes(g->scalar) != 0;
}

cublasStatus_t gemm_run(const char *api, cublasHandle_t handle, Gemm g)
{
    BlasCall call = blas_begin(api, handle);
    if (call.status == CUBLAS_STATUS_SUCCESS && !is_supported(&g)) {
        runtime_library_fail(api,
                             "element types %d, %d, %d with scalars of type %d are not "
                             "supported",
                             (int)g.a.type, (int)g.b.type, (int)g.c.type, (int)g.scalar);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (!is_valid(&g)) blas_fail(&call, CUBLAS_STATUS_INVALID_VALUE);
    const cudaDataType work = type_of_work(g.scalar);
    Scalar alpha = scalar_read(&call, g.alpha, g.scalar, work);
    Scalar beta = scalar_read(&call, g.beta, g.scalar, work);
    const void **a = addresses(&call, &g.a, g.count), **b = addresses(&call, &g.b, g.count),
               **c = addresses(&call, &g.c, g.count);
    for (int i = 0; i < g.count && g.m && g.n && call.status == CUBLAS_STATUS_SUCCESS; i++)
        product(&call, &g, alpha, beta, (const void *const[]){a[i], b[i], c[i]});
    free(a), free(b), free(c);
    return call.status;
}

/* ---- half precision and mixed types ---------------------------------------------------------- */

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                           int m, int n, int k, const void *alpha, const void *a, int lda,
                           const void *b, int ldb, const void *beta, void *c, int ldc)
{
    return gemm_run("cublasHgemm", handle,
                    (Gemm){opa,
                           opb,
                           m,
                           n,
                           k,
                           1,
                           alpha,
                           beta,
                           {a, CUDA_R_16F, lda, 0, 0},
                           {b, CUDA_R_16F, ldb, 0, 0},
                           {c, CUDA_R_16F, ldc, 0, 0},
                           CUDA_R_16F});
}

cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t opa,
                                         cublasOperation_t opb, int m, int n, int k,
                                         const void *alpha, const void *a, int lda,
                                         long long stride_a, const void *b, int ldb,
                                         long long stride_b, const void *beta, void *c, int ldc,
                                         long long stride_c, int count)
{
    return gemm_run("cublasHgemmStridedBatched", handle,
                    (Gemm){opa,
                           opb,
                           m,
                           n,
                           k,
                           count,
                           alpha,
                           beta,
                           {a, CUDA_R_16F, lda, stride_a, 0},
                           {b, CUDA_R_16F, ldb, stride_b, 0},
                           {c, CUDA_R_16F, ldc, stride_c, 0},
                           CUDA_R_16F});
}

cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t opa,
                                  cublasOperation_t opb, int m, int n, int k, const void *alpha,
                                  const void *const a[], int lda, const void *const b[], int ldb,
                                  const void *beta, void *const c[], int ldc, int count)
{
    return gemm_run("cublasHgemmBatched", handle,
                    (Gemm){opa,
                           opb,
                           m,
                           n,
                           k,
                           count,
                           alpha,
                           beta,
                           {a, CUDA_R_16F, lda, 0, 1},
                           {b, CUDA_R_16F, ldb, 0, 1},
                           {c, CUDA_R_16F, ldc, 0, 1},
                           CUDA_R_16F});
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                             int m, int n, int k, const float *alpha, const void *a,
                             cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                             int ldb, const float *beta, void *c, cudaDataType c_type, int ldc)
{
    return gemm_run("cublasSgemmEx", handle,
                    (Gemm){opa,
                           opb,
                           m,
                           n,
                           k,
                           1,
                           alpha,
                           beta,
                           {a, a_type, lda, 0, 0},
                           {b, b_type, ldb, 0, 0},
                           {c, c_type, ldc, 0, 0},
                           CUDA_R_32F});
}

/* The type of alpha and beta (cuBLAS documentation, table of cublasGemmEx). */
static cudaDataType scalar_type(cublasComputeType_t compute, cudaDataType c_type)
{
    switch ((int)compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        return is_complex(c_type) ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return CUDA_R_32I;
    default:
        return is_complex(c_type) ? CUDA_C_32F : CUDA_R_32F;
    }
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                            int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return gemm_run("cublasGemmEx", handle,
                    (Gemm){opa,
                           opb,
                           m,
                           n,
                           k,
                           1,
                           alpha,
                           beta,
                           {a, a_type, lda, 0, 0},
                           {b, b_type, ldb, 0, 0},
                           {c, c_type, ldc, 0, 0},
                           scalar_type(compute, c_type)});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                          cublasOperation_t opb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type,
                                          int lda, long long stride_a, const void *b,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void *beta, void *c, cudaDataType c_type, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return gemm_run("cublasGemmStridedBatchedEx", handle,
                    (Gemm){opa,
                           opb,
                           m,
                           n,
                           k,
                           count,
                           alpha,
                           beta,
                           {a, a_type, lda, stride_a, 0},
                           {b, b_type, ldb, stride_b, 0},
                           {c, c_type, ldc, stride_c, 0},
                           scalar_type(compute, c_type)});
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                   cublasOperation_t opb, int m, int n, int k, const void *alpha,
                                   const void *const a[], cudaDataType a_type, int lda,
                                   const void *const b[], cudaDataType b_type, int ldb,
                                   const void *beta, void *const c[], cudaDataType c_type, int ldc,
                                   int count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return gemm_run("cublasGemmBatchedEx", handle,
                    (Gemm){opa,
                           opb,
                           m,
                           n,
                           k,
                           count,
                           alpha,
                           beta,
                           {a, a_type, lda, 0, 1},
                           {b, b_type, ldb, 0, 1},
                           {c, c_type, ldc, 0, 1},
                           scalar_type(compute, c_type)});
}
