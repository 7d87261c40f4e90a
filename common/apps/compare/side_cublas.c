/* side_cublas.c - cuBLAS as a side: only the GEMM w * X_unroll, with X_unroll already in memory: a
 * lower bound for convolutions by im2col. */
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/apps/compare/compare.h"

static int cublas_prepare(Side *side, const Task *task, Error *error)
{
    const ConvProblem *p = &task->conv;
    side->workspace = sizeof(float) * p->C * p->R * p->S * p->N * p->P * p->Q;
    if (cublasSetStream(side->state, task->stream))
        return error_set(error, "cuBLAS does not take the stream");
    return 0;
}

/* Row-major y = w * X is column-major y' = X' * w'. */
static int cublas_enqueue(Side *side, const Task *task, Error *error)
{
    const ConvProblem *p = &task->conv;
    const int columns = p->N * p->P * p->Q, rows = p->C * p->R * p->S;
    const float one = 1, zero = 0;
    if (cublasSgemm(side->state, CUBLAS_OP_N, CUBLAS_OP_N, columns, p->K, rows, &one,
                    task->unrolled, columns, task->w, rows, &zero, task->y, columns))
        return error_set(error, "cublasSgemm failed");
    return 0;
}

int side_cublas(Side *side, Precision precision, Error *error)
{
    cublasHandle_t handle;
    if (cublasCreate(&handle)) return error_set(error, "cuBLAS does not start");
    cublasSetMathMode(handle, precision == PRECISION_FP32 ? CUBLAS_PEDANTIC_MATH
                                                          : CUBLAS_TF32_TENSOR_OP_MATH);
    snprintf(side->name, sizeof side->name, "cuBLAS %s",
             precision == PRECISION_FP32 ? "fp32" : "TF32");
    snprintf(side->method, sizeof side->method, "product only");
    side->precision = precision;
    side->layout = CONV_NCHW;
    side->images_last = 1;
    side->state = handle;
    side->prepare = cublas_prepare;
    side->enqueue = cublas_enqueue;
    return 0;
}
