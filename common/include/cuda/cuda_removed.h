/* cuda_removed.h - names that CUDA 12 and 13 removed, for programs on the simulated GPU.
 *
 * make simulate and simnvcc include it before every CUDA source file.  Each name has the meaning
 * that the last CUDA documentation gives it (docs/simulator/libraries.md lists the names). */
#ifndef SIMULATE_CUDA_REMOVED_H
#define SIMULATE_CUDA_REMOVED_H
#if defined __CUDACC__ && defined __cplusplus

#include <cuda_runtime.h>

/* ---- warp functions without a mask, removed for compute capability 7.0 ---------------------- */

/* The mask is that of the active threads, which these functions implied. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 700
template <class T> static __device__ inline T __shfl(T value, int lane, int width = 32)
{
    return __shfl_sync(__activemask(), value, lane, width);
}

template <class T> static __device__ inline T __shfl_up(T value, unsigned delta, int width = 32)
{
    return __shfl_up_sync(__activemask(), value, delta, width);
}

template <class T> static __device__ inline T __shfl_down(T value, unsigned delta, int width = 32)
{
    return __shfl_down_sync(__activemask(), value, delta, width);
}

template <class T> static __device__ inline T __shfl_xor(T value, int mask, int width = 32)
{
    return __shfl_xor_sync(__activemask(), value, mask, width);
}

/* The toolkit declares these as built-in functions, so a macro has to replace the call.  Headers of
 * libcu++ use the names too, so only programs that call them get the macros. */
#ifdef SIMULATE_WARP_VOTES
#define __any(condition)    __any_sync(__activemask(), condition)
#define __all(condition)    __all_sync(__activemask(), condition)
#define __ballot(condition) __ballot_sync(__activemask(), condition)
#endif
#endif

#if CUDART_VERSION >= 13000

/* ---- fields of cudaDeviceProp ---------------------------------------------------------------- */

/* The toolkit's structure with the fields of CUDA 12. */
struct simulate_device_properties : cudaDeviceProp {
    int clockRate;       /* kHz */
    int memoryClockRate; /* kHz */
    int deviceOverlap, computeMode, kernelExecTimeoutEnabled;
    int maxTexture1DLinear, singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};

static inline cudaError_t cudaGetDeviceProperties(simulate_device_properties *properties,
                                                  int device)
{
    cudaError_t status = cudaGetDeviceProperties((cudaDeviceProp *)properties, device);
    const struct {
        cudaDeviceAttr attribute;
        int *value;
    } fields[] = {
        {cudaDevAttrClockRate, &properties->clockRate},
        {cudaDevAttrMemoryClockRate, &properties->memoryClockRate},
        {cudaDevAttrGpuOverlap, &properties->deviceOverlap},
        {cudaDevAttrComputeMode, &properties->computeMode},
        {cudaDevAttrKernelExecTimeout, &properties->kernelExecTimeoutEnabled},
        {cudaDevAttrMaxTexture1DLinearWidth, &properties->maxTexture1DLinear},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio,
         &properties->singleToDoublePrecisionPerfRatio},
    };
    properties->cooperativeMultiDeviceLaunch = 0;
    for (const auto &field : fields)
        if (status == cudaSuccess)
            status = cudaDeviceGetAttribute(field.value, field.attribute, device);
    return status;
}

#define cudaDeviceProp simulate_device_properties

/* ---- functions ------------------------------------------------------------------------------- */

static inline cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

static inline cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

static inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

static inline cudaError_t cudaThreadGetLimit(size_t *value, cudaLimit limit)
{
    return cudaDeviceGetLimit(value, limit);
}

static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}

static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *config)
{
    return cudaDeviceGetCacheConfig(config);
}

/* A device number instead of a location; cudaCpuDeviceId is the host. */
static inline cudaMemLocation simulate_location(int device)
{
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

static inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                               cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync(pointer, bytes, simulate_location(device), 0, stream);
}

static inline cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice,
                                        int device)
{
    return cudaMemAdvise(pointer, bytes, advice, simulate_location(device));
}

static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                       cudaGraphNode_t *dependencies, size_t *count)
{
    return cudaGraphNodeGetDependencies(node, dependencies, nullptr, count);
}

#endif /* CUDA 13 */

#ifdef SIMULATE_TEXTURE_REFERENCES
#include "cuda_texture_references.h"
#endif

#endif /* CUDA C++ */
#endif
