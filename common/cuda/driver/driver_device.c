/* driver_device.c - initialisation, the device, contexts and errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/driver/driver_state.h"

/* ---- initialisation and the device ----------------------------------------------------------- */

CUresult cuInit(unsigned flags)
{
    int count = 0;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    return driver_status(cudaGetDeviceCount(&count));
}

CUresult cuDriverGetVersion(int *version)
{
    return driver_status(cudaDriverGetVersion(version));
}

CUresult cuDeviceGetCount(int *count)
{
    return driver_status(cudaGetDeviceCount(count));
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal) return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    cudaError_t status;
    const DeviceProperties *properties = runtime_properties("cuDeviceGetName", &status);
    if (!properties) return driver_status(status);
    if (!name || bytes < 1 || device) return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)bytes, "%s", properties->name);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    cudaError_t status;
    const DeviceProperties *properties = runtime_properties("cuDeviceTotalMem", &status);
    if (!properties) return driver_status(status);
    if (!bytes || device) return CUDA_ERROR_INVALID_VALUE;
    *bytes = properties->memory_bytes;
    return CUDA_SUCCESS;
}

/* CUdevice_attribute has the same numbers as cudaDeviceAttr. */
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    return driver_status(cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult status =
        cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    return status
               ? status
               : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    if (!uuid || device) return CUDA_ERROR_INVALID_VALUE;
    memcpy(uuid->bytes, "simulated-device", sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int bytes, CUdevice device)
{
    return driver_status(cudaDeviceGetPCIBusId(id, bytes, device));
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    return driver_status(cudaDeviceGetByPCIBusId(device, id));
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    return driver_status(cudaDeviceCanAccessPeer(can, device, peer));
}

/* ---- contexts -------------------------------------------------------------------------------- */

struct CUctx_st {
    unsigned flags;
    unsigned long long id;
    int is_primary; /* Boolean */
};

enum { STACKED = 64 };
static struct CUctx_st primary = {0, 1, 1};
static int primary_uses;
static unsigned long long contexts = 1;
static _Thread_local CUcontext stack[STACKED];
static _Thread_local int depth;

static CUcontext context_top(void)
{
    return depth ? stack[depth - 1] : NULL;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (depth == STACKED) return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (context) *context = stack[depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    if (depth) depth--;
    return context ? cuCtxPushCurrent(context) : CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = context_top();
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    CUcontext made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    runtime_lock();
    *made = (struct CUctx_st){flags, ++contexts, 0};
    runtime_unlock();
    *context = made;
    return cuCtxPushCurrent(made);
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned flags,
                        CUdevice device)
{
    (void)parameters;
    return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxDestroy(CUcontext context)
{
    if (!context || context->is_primary) return CUDA_ERROR_INVALID_CONTEXT;
    if (context_top() == context) depth--;
    free(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext context)
{
    return cuCtxDestroy(context);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    return driver_status(cudaDeviceSynchronize());
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    if (!context || !version) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020; /* as on NVIDIA's driver, whatever the toolkit */
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
    *flags = context_top()->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    if (!context) context = context_top();
    if (!context || !id) return CUDA_ERROR_INVALID_CONTEXT;
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    return driver_status(cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    return driver_status(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    return driver_status(cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    return driver_status(cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    return driver_status(cudaDeviceGetStreamPriorityRange(least, greatest));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    primary_uses++;
    *context = &primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    if (device || !primary_uses) return CUDA_ERROR_INVALID_CONTEXT;
    primary_uses--;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    primary_uses = 0;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    primary.flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    if (flags) *flags = primary.flags;
    if (active) *active = primary_uses > 0;
    return CUDA_SUCCESS;
}

/* ---- errors ---------------------------------------------------------------------------------- */

CUresult cuGetErrorString(CUresult status, const char **text)
{
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = device_status_text((int32_t)status);
    return CUDA_SUCCESS;
}

/* The names of the driver's documentation for the statuses that functions return here. */
CUresult cuGetErrorName(CUresult status, const char **text)
{
    static const struct {
        CUresult status;
        const char *name;
    } names[] = {
#define STATUS(name) {name, #name}
        STATUS(CUDA_SUCCESS),
        STATUS(CUDA_ERROR_INVALID_VALUE),
        STATUS(CUDA_ERROR_OUT_OF_MEMORY),
        STATUS(CUDA_ERROR_NOT_INITIALIZED),
        STATUS(CUDA_ERROR_NO_DEVICE),
        STATUS(CUDA_ERROR_INVALID_DEVICE),
        STATUS(CUDA_ERROR_INVALID_IMAGE),
        STATUS(CUDA_ERROR_INVALID_CONTEXT),
        STATUS(CUDA_ERROR_INVALID_PTX),
        STATUS(CUDA_ERROR_FILE_NOT_FOUND),
        STATUS(CUDA_ERROR_INVALID_HANDLE),
        STATUS(CUDA_ERROR_NOT_FOUND),
        STATUS(CUDA_ERROR_NOT_READY),
        STATUS(CUDA_ERROR_ILLEGAL_ADDRESS),
        STATUS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
        STATUS(CUDA_ERROR_LAUNCH_TIMEOUT),
        STATUS(CUDA_ERROR_ASSERT),
        STATUS(CUDA_ERROR_ILLEGAL_INSTRUCTION),
        STATUS(CUDA_ERROR_MISALIGNED_ADDRESS),
        STATUS(CUDA_ERROR_LAUNCH_FAILED),
        STATUS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE),
        STATUS(CUDA_ERROR_NOT_SUPPORTED),
        STATUS(CUDA_ERROR_UNKNOWN),
#undef STATUS
    };
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status) *text = names[i].name;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Called by all functions of cuda.h that are not implemented (common/setup/simcuda.sh). */
int driver_refuse(const char *name)
{
    return runtime_fail(name, DEVICE_NOT_SUPPORTED,
                        "this function of the driver is not supported by the simulated GPU");
}

/* CUDA 12 removed it from cudaProfiler.h, and PyCUDA still links it. */
CUresult cuProfilerInitialize(const char *config, const char *output, int mode)
{
    (void)config, (void)output, (void)mode;
    return CUDA_SUCCESS;
}

CUresult cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
