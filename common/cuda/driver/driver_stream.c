/* driver_stream.c - streams and events, which are the runtime's own, and lookup of functions. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda/driver/driver_state.h"

/* ---- streams --------------------------------------------------------------------------------- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return driver_status(cudaStreamCreateWithFlags(stream, flags));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    return driver_status(cudaStreamCreateWithPriority(stream, flags, priority));
}

CUresult cuStreamDestroy(CUstream stream)
{
    return driver_status(cudaStreamDestroy(stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    return driver_status(cudaStreamSynchronize(stream));
}

CUresult cuStreamQuery(CUstream stream)
{
    return driver_status(cudaStreamQuery(stream));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    return driver_status(cudaStreamWaitEvent(stream, event, flags));
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    return driver_status(cudaStreamGetFlags(stream, flags));
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    return driver_status(cudaStreamGetPriority(stream, priority));
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    return driver_status(cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)status));
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    (void)stream;
    return cuCtxGetCurrent(context);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    return driver_status(
        cudaStreamAddCallback(stream, (cudaStreamCallback_t)(uintptr_t)callback, data, flags));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    return driver_status(cudaLaunchHostFunc(stream, function, data));
}

/* ---- events ---------------------------------------------------------------------------------- */

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    return driver_status(cudaEventCreateWithFlags(event, flags));
}

CUresult cuEventDestroy(CUevent event)
{
    return driver_status(cudaEventDestroy(event));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return driver_status(cudaEventRecord(event, stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    (void)flags;
    return cuEventRecord(event, stream);
}

CUresult cuEventSynchronize(CUevent event)
{
    return driver_status(cudaEventSynchronize(event));
}

CUresult cuEventQuery(CUevent event)
{
    return driver_status(cudaEventQuery(event));
}

#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return driver_status(cudaEventElapsedTime(milliseconds, start, end));
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime(milliseconds, start, end);
}

/* ---- lookup ---------------------------------------------------------------------------------- */

/* A function by its name without a version: its newest one here. */
CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *result)
{
    static const char *const suffixes[] = {"_v4", "_v2", ""};
    Dl_info self;
    (void)flags;
    if (!name || !function) return CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    if (!dladdr((void *)(uintptr_t)cuInit, &self)) return CUDA_ERROR_NOT_SUPPORTED;
    void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = version < 13000 ? 1 : 0; i < 3 && !*function; i++) {
        char symbol[128];
        snprintf(symbol, sizeof symbol, "%s%s", name, suffixes[i]);
        *function = dlsym(library ? library : RTLD_DEFAULT, symbol);
    }
    if (result)
        *result = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function || result ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags);
CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
