/* cublas_handle.c - handles, operands in device memory, and the BLAS library. */
#include "common/cuda/cublas/cublas_handle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---- the BLAS library ------------------------------------------------------------------------ */

static void *library;

static int library_load(const char *api)
{
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3", "libgslcblas.so.0"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        /* A BLAS library may lack the C interface. */
        if (library && !dlsym(library, "cblas_sgemm")) dlclose(library), library = NULL;
    }
    if (library) return 0;
    runtime_library_fail(api, "cuBLAS needs a BLAS library on the host: "
                              "sudo apt-get install libopenblas0");
    return -1;
}

void *blas_symbol(const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) abort(); /* every CBLAS library has all of them */
    return symbol;
}

/* ---- calls and their operands ---------------------------------------------------------------- */

BlasCall blas_begin(const char *api, cublasHandle_t handle)
{
    BlasCall call = {api, handle, CUBLAS_STATUS_SUCCESS};
    if (!handle)
        call.status = CUBLAS_STATUS_NOT_INITIALIZED;
    else if (runtime_library_begin(api, handle->stream) != cudaSuccess)
        call.status = CUBLAS_STATUS_EXECUTION_FAILED;
    else if (!library && library_load(api))
        call.status = CUBLAS_STATUS_NOT_SUPPORTED;
    return call;
}

cublasStatus_t blas_fail(BlasCall *call, cublasStatus_t status)
{
    if (call->status == CUBLAS_STATUS_SUCCESS) call->status = status;
    return call->status;
}

static LibraryRows rows_of(BlasMatrix matrix)
{
    return (LibraryRows){.device = matrix.device,
                         .width = (size_t)matrix.rows * matrix.bytes,
                         .pitch = (size_t)matrix.ld * matrix.bytes,
                         .rows = (size_t)matrix.columns};
}

void *blas_room(BlasCall *call, BlasMatrix matrix)
{
    if (matrix.rows < 0 || matrix.columns < 0 || matrix.ld < matrix.rows)
        blas_fail(call, CUBLAS_STATUS_INVALID_VALUE);
    if (call->status != CUBLAS_STATUS_SUCCESS) return NULL;
    void *host = calloc((size_t)matrix.rows * (size_t)matrix.columns + 1, matrix.bytes);
    if (!host) blas_fail(call, CUBLAS_STATUS_ALLOC_FAILED);
    return host;
}

void *blas_read(BlasCall *call, BlasMatrix matrix)
{
    void *host = blas_room(call, matrix);
    if (!host) return NULL;
    if (runtime_library_read(call->api, call->handle->stream, rows_of(matrix), host) == cudaSuccess)
        return host;
    free(host);
    blas_fail(call, CUBLAS_STATUS_EXECUTION_FAILED);
    return NULL;
}

BlasMatrix blas_vector(const void *device, size_t bytes, int n, int increment)
{
    int64_t step = increment < 0 ? -(int64_t)increment : increment;
    return (BlasMatrix){device, bytes, 1, n < 0 ? 0 : n, step};
}

void blas_write(BlasCall *call, BlasMatrix matrix, void *host)
{
    if (host && call->status == CUBLAS_STATUS_SUCCESS &&
        runtime_library_write(call->api, call->handle->stream, rows_of(matrix), host) !=
            cudaSuccess)
        blas_fail(call, CUBLAS_STATUS_EXECUTION_FAILED);
    free(host);
}

void blas_scalar(BlasCall *call, const void *from, void *value, size_t bytes)
{
    if (call->status != CUBLAS_STATUS_SUCCESS) return;
    if (!from)
        blas_fail(call, CUBLAS_STATUS_INVALID_VALUE);
    else if (call->handle->pointers == CUBLAS_POINTER_MODE_HOST)
        memcpy(value, from, bytes);
    else if (runtime_library_read(call->api, call->handle->stream,
                                  (LibraryRows){from, bytes, bytes, 1}, value) != cudaSuccess)
        blas_fail(call, CUBLAS_STATUS_EXECUTION_FAILED);
}

/* With a result in host memory the call waits for its stream. */
void blas_result(BlasCall *call, void *to, const void *value, size_t bytes)
{
    if (call->status != CUBLAS_STATUS_SUCCESS) return;
    cudaStream_t stream = call->handle->stream;
    if (!to) {
        blas_fail(call, CUBLAS_STATUS_INVALID_VALUE);
    } else if (call->handle->pointers == CUBLAS_POINTER_MODE_HOST) {
        memcpy(to, value, bytes);
        if (cudaStreamSynchronize(stream) != cudaSuccess)
            blas_fail(call, CUBLAS_STATUS_EXECUTION_FAILED);
    } else if (runtime_library_write(call->api, stream, (LibraryRows){to, bytes, bytes, 1},
                                     value) != cudaSuccess) {
        blas_fail(call, CUBLAS_STATUS_EXECUTION_FAILED);
    }
}

/* ---- handles --------------------------------------------------------------------------------- */

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    int count = 0;
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = NULL;
    if (cudaGetDeviceCount(&count) != cudaSuccess || !count) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version)
{
    (void)handle;
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    if (!value || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
    *value = type == MAJOR_VERSION   ? CUBLAS_VER_MAJOR
             : type == MINOR_VERSION ? CUBLAS_VER_MINOR
                                     : CUBLAS_VER_PATCH;
    return CUBLAS_STATUS_SUCCESS;
}

/* Setting and reading a member of the handle. */
#define MEMBER(setter, getter, type, member)                                                       \
    cublasStatus_t setter(cublasHandle_t handle, type value)                                       \
    {                                                                                              \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                         \
        handle->member = value;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    cublasStatus_t getter(cublasHandle_t handle, type *value)                                      \
    {                                                                                              \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                         \
        if (!value) return CUBLAS_STATUS_INVALID_VALUE;                                            \
        *value = handle->member;                                                                   \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

MEMBER(cublasSetStream, cublasGetStream, cudaStream_t, stream)
MEMBER(cublasSetPointerMode, cublasGetPointerMode, cublasPointerMode_t, pointers)
MEMBER(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)
MEMBER(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)

/* No function needs memory of the device for itself. */
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

/* ---- statuses -------------------------------------------------------------------------------- */

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} statuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the handle is missing"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "out of memory"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an argument is not valid"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "the GPU lacks a feature"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "a copy failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the execution failed"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "internal error"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "not supported"},
};

const char *cublasGetStatusName(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) return statuses[i].name;
    return "unknown status";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) return statuses[i].text;
    return "unknown status";
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* These are copies like cudaMemcpy2D: priced and checked as such. */
static cublasStatus_t matrix_copy(int rows, int columns, int bytes, const void *from, int from_ld,
                                  void *to, int to_ld, enum cudaMemcpyKind kind, int is_async,
                                  cudaStream_t stream)
{
    if (rows < 0 || columns < 0 || bytes <= 0 || from_ld < rows || to_ld < rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!rows || !columns) return CUBLAS_STATUS_SUCCESS;
    size_t size = (size_t)bytes, from_pitch = (size_t)from_ld * size,
           to_pitch = (size_t)to_ld * size;
    cudaError_t status = is_async
                             ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch,
                                                 (size_t)rows * size, (size_t)columns, kind, stream)
                             : cudaMemcpy2D(to, to_pitch, from, from_pitch, (size_t)rows * size,
                                            (size_t)columns, kind);
    return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

/* A vector is a matrix of one row, or, without gaps, of one column. */
static cublasStatus_t vector_copy(int n, int bytes, const void *from, int incx, void *to, int incy,
                                  enum cudaMemcpyKind kind, int is_async, cudaStream_t stream)
{
    if (incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (incx == 1 && incy == 1)
        return matrix_copy(n, 1, bytes, from, n, to, n, kind, is_async, stream);
    return matrix_copy(1, n, bytes, from, incx, to, incy, kind, is_async, stream);
}

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *device, int incy)
{
    return vector_copy(n, bytes, x, incx, device, incy, cudaMemcpyHostToDevice, 0, NULL);
}

cublasStatus_t cublasGetVector(int n, int bytes, const void *device, int incx, void *y, int incy)
{
    return vector_copy(n, bytes, device, incx, y, incy, cudaMemcpyDeviceToHost, 0, NULL);
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void *a, int lda,
                               void *device, int ldb)
{
    return matrix_copy(rows, columns, bytes, a, lda, device, ldb, cudaMemcpyHostToDevice, 0, NULL);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void *device, int lda,
                               void *b, int ldb)
{
    return matrix_copy(rows, columns, bytes, device, lda, b, ldb, cudaMemcpyDeviceToHost, 0, NULL);
}

cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int incx, void *device,
                                    int incy, cudaStream_t stream)
{
    return vector_copy(n, bytes, x, incx, device, incy, cudaMemcpyHostToDevice, 1, stream);
}

cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *device, int incx, void *y,
                                    int incy, cudaStream_t stream)
{
    return vector_copy(n, bytes, device, incx, y, incy, cudaMemcpyDeviceToHost, 1, stream);
}

cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes, const void *a, int lda,
                                    void *device, int ldb, cudaStream_t stream)
{
    return matrix_copy(rows, columns, bytes, a, lda, device, ldb, cudaMemcpyHostToDevice, 1,
                       stream);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes, const void *device, int lda,
                                    void *b, int ldb, cudaStream_t stream)
{
    return matrix_copy(rows, columns, bytes, device, lda, b, ldb, cudaMemcpyDeviceToHost, 1,
                       stream);
}
