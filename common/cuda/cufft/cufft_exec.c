/* cufft_exec.c - execution of plans by FFTW. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda/cufft/cufft_plan.h"

/* ---- FFTW ------------------------------------------------------------------------------------ */

/* FFTW's functions for one precision, with pointers in place of its types (FFTW manual, "Advanced
 * Interface").  The package with fftw3.h is not needed. */
typedef void *(*PlanMany)(int rank, const int *n, int batch, void *in, const int *inembed,
                          int istride, int idist, void *out, const int *onembed, int ostride,
                          int odist, int sign, unsigned flags);
typedef void *(*PlanManyReal)(int rank, const int *n, int batch, void *in, const int *inembed,
                              int istride, int idist, void *out, const int *onembed, int ostride,
                              int odist, unsigned flags);
enum { FLAG_ESTIMATE = 1 << 6 };

typedef struct Fftw {
    PlanMany complex;
    PlanManyReal r2c, c2r;
    void (*execute)(void *plan);
    void (*destroy)(void *plan);
} Fftw;

static void *symbol(void *library, const char *prefix, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", prefix, name);
    return dlsym(library, text);
}

static const Fftw *fftw_load(const char *api, int is_double)
{
    static Fftw loaded[2];
    Fftw *fftw = &loaded[is_double];
    if (fftw->complex) return fftw;
    void *library = dlopen(is_double ? "libfftw3.so.3" : "libfftw3f.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        runtime_library_fail(api, "cuFFT needs FFTW on the host: sudo apt-get install %s",
                             is_double ? "libfftw3-double3" : "libfftw3-single3");
        return NULL;
    }
    const char *prefix = is_double ? "fftw_" : "fftwf_";
    fftw->r2c = (PlanManyReal)(uintptr_t)symbol(library, prefix, "plan_many_dft_r2c");
    fftw->c2r = (PlanManyReal)(uintptr_t)symbol(library, prefix, "plan_many_dft_c2r");
    fftw->execute = (void (*)(void *))(uintptr_t)symbol(library, prefix, "execute");
    fftw->destroy = (void (*)(void *))(uintptr_t)symbol(library, prefix, "destroy_plan");
    fftw->complex = (PlanMany)(uintptr_t)symbol(library, prefix, "plan_many_dft");
    return fftw->complex ? fftw : NULL;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* One side of an execution: `length` elements of `bytes` in each row of the last dimension. */
typedef struct Side {
    const FftLayout *layout;
    const void *device;
    size_t bytes;
    int length;
    int padded; /* elements from row to row of a basic layout */
} Side;

static size_t rows_of(const FftPlan *plan)
{
    size_t rows = 1;
    for (int i = 0; i < plan->rank - 1; i++)
        rows *= (size_t)plan->size[i];
    return rows;
}

static size_t elements_of(const FftPlan *plan, const Side *side)
{
    return rows_of(plan) * (size_t)side->length * (size_t)plan->batch;
}

/* The offset of a row's first element, in elements. */
static size_t row_offset(const FftPlan *plan, const Side *side, size_t transform, size_t row)
{
    const FftLayout *layout = side->layout;
    if (layout->is_basic) return (transform * rows_of(plan) + row) * (size_t)side->padded;
    size_t offset = 0, scale = (size_t)layout->stride;
    for (int i = plan->rank - 1; i > 0; i--) {
        scale *= (size_t)layout->embed[i];
        offset += row % (size_t)plan->size[i - 1] * scale;
        row /= (size_t)plan->size[i - 1];
    }
    return offset + transform * (size_t)layout->distance;
}

/* Reads or writes all elements, which are contiguous on the host. */
static cudaError_t side_move(const char *api, const FftPlan *plan, const Side *side, char *host,
                             int writes)
{
    const size_t row_bytes = (size_t)side->length * side->bytes;
    const FftLayout *layout = side->layout;
    const size_t rows = rows_of(plan), all = rows * (size_t)plan->batch;
    if (layout->is_basic) {
        LibraryRows whole = {side->device, row_bytes, (size_t)side->padded * side->bytes, all};
        return writes ? runtime_library_write(api, plan->stream, whole, host)
                      : runtime_library_read(api, plan->stream, whole, host);
    }
    cudaError_t status = cudaSuccess;
    for (size_t i = 0; i < all && status == cudaSuccess; i++) {
        const char *at =
            (const char *)side->device + row_offset(plan, side, i / rows, i % rows) * side->bytes;
        LibraryRows row = {at, side->bytes, (size_t)layout->stride * side->bytes,
                           (size_t)side->length};
        status = writes ? runtime_library_write(api, plan->stream, row, host + i * row_bytes)
                        : runtime_library_read(api, plan->stream, row, host + i * row_bytes);
    }
    return status;
}

/* ---- execution ------------------------------------------------------------------------------- */

static cufftResult compute(const Fftw *fftw, const FftPlan *plan, const Side *in, const Side *out,
                           void *from, void *to, int direction)
{
    const int rows = (int)rows_of(plan), *n = plan->size;
    const int idist = rows * in->length, odist = rows * out->length;
    void *work;
    if (in->bytes == out->bytes)
        work = fftw->complex(plan->rank, n, plan->batch, from, NULL, 1, idist, to, NULL, 1, odist,
                             direction, FLAG_ESTIMATE);
    else
        work = (in->bytes < out->bytes ? fftw->r2c : fftw->c2r)(
            plan->rank, n, plan->batch, from, NULL, 1, idist, to, NULL, 1, odist, FLAG_ESTIMATE);
    if (!work) return CUFFT_INTERNAL_ERROR;
    fftw->execute(work);
    fftw->destroy(work);
    return CUFFT_SUCCESS;
}

static cufftResult run(const char *api, cufftHandle handle, cufftType type, const void *in,
                       const void *out, int direction)
{
    const FftPlan *plan = fft_plan(handle);
    if (!plan || !plan->is_made) return CUFFT_INVALID_PLAN;
    if (plan->type != type) return CUFFT_INVALID_TYPE;
    if (!in || !out || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
        return CUFFT_INVALID_VALUE;
    const int is_double = type >= CUFFT_Z2Z, last = plan->size[plan->rank - 1];
    const size_t real = is_double ? sizeof(double) : sizeof(float);
    const int is_r2c = type == CUFFT_R2C || type == CUFFT_D2Z,
              is_c2r = type == CUFFT_C2R || type == CUFFT_Z2D;
    const int half = is_r2c || is_c2r ? last / 2 + 1 : last;
    /* In place, rows of real numbers are padded to the size of the complex ones. */
    const int real_row = in == out ? 2 * half : last;
    const Side from = {&plan->in, in, is_r2c ? real : 2 * real, is_r2c ? last : half,
                       is_r2c ? real_row : half};
    const Side to = {&plan->out, out, is_c2r ? real : 2 * real, is_c2r ? last : half,
                     is_c2r ? real_row : half};
    if (runtime_library_begin(api, plan->stream) != cudaSuccess) return CUFFT_EXEC_FAILED;
    const Fftw *fftw = fftw_load(api, is_double);
    if (!fftw) return CUFFT_NOT_SUPPORTED;
    char *source = calloc(elements_of(plan, &from), from.bytes);
    char *target = calloc(elements_of(plan, &to), to.bytes);
    cufftResult result = source && target ? CUFFT_SUCCESS : CUFFT_ALLOC_FAILED;
    if (!result && side_move(api, plan, &from, source, 0)) result = CUFFT_EXEC_FAILED;
    if (!result) result = compute(fftw, plan, &from, &to, source, target, direction);
    if (!result && side_move(api, plan, &to, target, 1)) result = CUFFT_EXEC_FAILED;
    free(source), free(target);
    return result;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction)
{
    return run("cufftExecC2C", plan, CUFFT_C2C, in, out, direction);
}

cufftResult cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out)
{
    return run("cufftExecR2C", plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out)
{
    return run("cufftExecC2R", plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}

cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out,
                         int direction)
{
    return run("cufftExecZ2Z", plan, CUFFT_Z2Z, in, out, direction);
}

cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out)
{
    return run("cufftExecD2Z", plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out)
{
    return run("cufftExecZ2D", plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}
