/* cufft_plan.c - plans: creation, streams and destruction. */
#include "common/cuda/cufft/cufft_plan.h"

#include <stdlib.h>
#include <string.h>

static FftPlan *plans;
static int capacity;

FftPlan *fft_plan(cufftHandle handle)
{
    int at = handle - 1; /* no valid handle is 0 */
    return at >= 0 && at < capacity && plans[at].is_used ? &plans[at] : NULL;
}

cufftResult cufftCreate(cufftHandle *handle)
{
    int at = 0;
    if (!handle) return CUFFT_INVALID_VALUE;
    while (at < capacity && plans[at].is_used)
        at++;
    if (at == capacity) {
        int larger = capacity ? 2 * capacity : 16;
        FftPlan *grown = realloc(plans, (size_t)larger * sizeof *plans);
        if (!grown) return CUFFT_ALLOC_FAILED;
        memset(grown + capacity, 0, (size_t)(larger - capacity) * sizeof *plans);
        plans = grown, capacity = larger;
    }
    plans[at] = (FftPlan){.is_used = 1};
    *handle = at + 1;
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle)
{
    FftPlan *plan = fft_plan(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    *plan = (FftPlan){0};
    return CUFFT_SUCCESS;
}

static int is_type(cufftType type)
{
    switch (type) {
    case CUFFT_C2C:
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_Z2Z:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
        return 1;
    default:
        return 0;
    }
}

static FftLayout layout_make(const int *embed, int rank, int stride, int distance)
{
    FftLayout layout = {.is_basic = !embed, .stride = stride, .distance = distance};
    for (int i = 0; embed && i < rank; i++)
        layout.embed[i] = embed[i];
    return layout;
}

cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int *n, int *inembed, int istride,
                              int idist, int *onembed, int ostride, int odist, cufftType type,
                              int batch, size_t *bytes)
{
    FftPlan *plan = fft_plan(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    if (!n || rank < 1 || rank > FFT_RANK || !bytes) return CUFFT_INVALID_VALUE;
    if (!is_type(type)) return CUFFT_INVALID_TYPE;
    if (batch < 1) return CUFFT_INVALID_SIZE;
    for (int i = 0; i < rank; i++)
        if (n[i] < 1) return CUFFT_INVALID_SIZE;
    /* Without either list both sides are contiguous. */
    if (!inembed || !onembed) inembed = onembed = NULL;
    if (inembed && (istride < 1 || ostride < 1 || idist < 0 || odist < 0))
        return CUFFT_INVALID_VALUE;
    plan->rank = rank;
    memcpy(plan->size, n, (size_t)rank * sizeof *n);
    plan->batch = batch;
    plan->type = type;
    plan->in = layout_make(inembed, rank, istride, idist);
    plan->out = layout_make(onembed, rank, ostride, odist);
    plan->is_made = 1;
    *bytes = 0; /* no work area in device memory */
    return CUFFT_SUCCESS;
}

static cufftResult plan_basic(cufftHandle handle, int rank, int *n, cufftType type, int batch,
                              size_t *bytes)
{
    return cufftMakePlanMany(handle, rank, n, NULL, 1, 0, NULL, 1, 0, type, batch, bytes);
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *bytes)
{
    return plan_basic(plan, 1, &nx, type, batch, bytes);
}

cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *bytes)
{
    return plan_basic(plan, 2, (int[]){nx, ny}, type, 1, bytes);
}

cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *bytes)
{
    return plan_basic(plan, 3, (int[]){nx, ny, nz}, type, 1, bytes);
}

cufftResult cufftPlanMany(cufftHandle *handle, int rank, int *n, int *inembed, int istride,
                          int idist, int *onembed, int ostride, int odist, cufftType type,
                          int batch)
{
    size_t bytes;
    cufftResult result = cufftCreate(handle);
    if (result != CUFFT_SUCCESS) return result;
    result = cufftMakePlanMany(*handle, rank, n, inembed, istride, idist, onembed, ostride, odist,
                               type, batch, &bytes);
    if (result != CUFFT_SUCCESS) cufftDestroy(*handle);
    return result;
}

cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch)
{
    return cufftPlanMany(plan, 1, &nx, NULL, 1, 0, NULL, 1, 0, type, batch);
}

cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type)
{
    return cufftPlanMany(plan, 2, (int[]){nx, ny}, NULL, 1, 0, NULL, 1, 0, type, 1);
}

cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type)
{
    return cufftPlanMany(plan, 3, (int[]){nx, ny, nz}, NULL, 1, 0, NULL, 1, 0, type, 1);
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream)
{
    FftPlan *plan = fft_plan(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    plan->stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle plan, void *area)
{
    (void)area;
    return fft_plan(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic)
{
    (void)automatic;
    return fft_plan(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftGetSize(cufftHandle plan, size_t *bytes)
{
    if (!fft_plan(plan)) return CUFFT_INVALID_PLAN;
    if (!bytes) return CUFFT_INVALID_VALUE;
    *bytes = 0;
    return CUFFT_SUCCESS;
}

cufftResult cufftGetVersion(int *version)
{
    if (!version) return CUFFT_INVALID_VALUE;
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}

cufftResult cufftGetProperty(libraryPropertyType type, int *value)
{
    if (!value || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
    *value = type == MAJOR_VERSION   ? CUFFT_VER_MAJOR
             : type == MINOR_VERSION ? CUFFT_VER_MINOR
                                     : CUFFT_VER_PATCH;
    return CUFFT_SUCCESS;
}
