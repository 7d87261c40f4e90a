/* The device's properties in CUDA's structs.  There is one device; its number is 0. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda/runtime/runtime_state.h"

cudaError_t cudaGetDeviceCount(int *count)
{
    static const char api[] = "cudaGetDeviceCount";
    cudaError_t status;
    if (!count) return runtime_fail(api, DEVICE_INVALID_VALUE, "count is NULL");
    *count = runtime_properties(api, &status) ? 1 : 0;
    return status;
}

cudaError_t cudaGetDevice(int *device)
{
    if (!device) return runtime_fail("cudaGetDevice", DEVICE_INVALID_VALUE, "device is NULL");
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device == 0) return cudaSuccess;
    return runtime_fail("cudaSetDevice", DEVICE_INVALID_DEVICE,
                        "device %d does not exist; labs run on one device, number 0", device);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    static const char api[] = "cudaMemGetInfo";
    if (!free_bytes || !total_bytes)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "a result pointer is NULL");
    DeviceCall call = {.kind = CALL_MEM_INFO};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess) return status;
    *free_bytes = reply.value[0];
    *total_bytes = reply.value[1];
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return runtime_fail("cudaRuntimeGetVersion", DEVICE_INVALID_VALUE, "version is NULL");
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    static const char api[] = "cudaDriverGetVersion";
    if (!version) return runtime_fail(api, DEVICE_INVALID_VALUE, "version is NULL");
    cudaError_t status;
    const DeviceProperties *properties = runtime_properties(api, &status);
    if (properties) *version = (int)properties->driver_version;
    return status;
}

static void properties_fill(struct cudaDeviceProp *to, const DeviceProperties *from)
{
    memset(to, 0, sizeof *to);
    snprintf(to->name, sizeof to->name, "%s", from->name);
    to->totalGlobalMem = from->memory_bytes;
    to->sharedMemPerBlock = from->shared_per_block;
    to->regsPerBlock = (int)from->registers_per_block;
    to->warpSize = (int)from->warp_size;
    to->memPitch = 0x7fffffff;
    to->maxThreadsPerBlock = (int)from->max_threads_per_block;
    for (int i = 0; i < 3; i++) {
        to->maxThreadsDim[i] = (int)from->max_block[i];
        to->maxGridSize[i] = (int)from->max_grid[i];
    }
    to->totalConstMem = from->const_bytes;
    to->major = (int)from->cc_major;
    to->minor = (int)from->cc_minor;
    to->textureAlignment = 512;
    to->multiProcessorCount = (int)from->sms;
    to->concurrentKernels = 1;
    to->managedMemory = to->concurrentManagedAccess = to->canMapHostMemory = (int)from->managed;
    to->hostRegisterSupported = to->memoryPoolsSupported = to->streamPrioritiesSupported = 1;
    to->cooperativeLaunch = (int)from->has_cooperative_launches;
    to->clusterLaunch = (int)from->has_clusters;
    to->asyncEngineCount = 1;
    to->unifiedAddressing = 1;
    to->memoryBusWidth = (int)from->memory_bus_bits;
    to->l2CacheSize = (int)from->l2_bytes;
    to->maxThreadsPerMultiProcessor = (int)from->max_threads_per_sm;
    to->globalL1CacheSupported = 1;
    to->localL1CacheSupported = 1;
    to->sharedMemPerMultiprocessor = from->shared_per_sm;
    to->regsPerMultiprocessor = (int)from->registers_per_sm;
    to->sharedMemPerBlockOptin = from->shared_per_block_optin;
    to->reservedSharedMemPerBlock = from->shared_reserved;
    to->persistingL2CacheMaxSize = (int)from->persisting_l2_bytes;
    to->accessPolicyMaxWindowSize = (int)from->access_window_bytes;
    to->maxBlocksPerMultiProcessor = (int)from->max_blocks_per_sm;
#if CUDART_VERSION < 13000
    /* CUDA 13 removed the clocks from the structure; cudaDeviceGetAttribute still returns them. */
    to->clockRate = (int)from->clock_khz;
    to->memoryClockRate = (int)from->memory_clock_khz;
    to->deviceOverlap = 1;
#endif
}

/* CUDA 12's header renames this function to cudaGetDeviceProperties_v2; CUDA 13's does not.  Both
 * names are defined, because an object uses its own toolkit's name. */
#if CUDART_VERSION < 13000
#ifdef cudaGetDeviceProperties
#undef cudaGetDeviceProperties
#endif
#endif

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *to, int device)
{
    static const char api[] = "cudaGetDeviceProperties";
    if (!to) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result pointer is NULL");
    if (device != 0)
        return runtime_fail(api, DEVICE_INVALID_DEVICE, "device %d does not exist", device);
    cudaError_t status;
    const DeviceProperties *properties = runtime_properties(api, &status);
    if (properties) properties_fill(to, properties);
    return status;
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *to, int device);

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *to, int device)
{
    return cudaGetDeviceProperties(to, device);
}

/* Supported features as values; unsupported ones (textures, peers, managed memory ...) are 0, and
 * so are bus addresses, which a device may not have. */
static uint64_t attribute_value(const DeviceProperties *from, enum cudaDeviceAttr attribute)
{
#define IS(name, value)                                                                            \
    case cudaDevAttr##name:                                                                        \
        return value
    switch ((int)attribute) {
        IS(MaxThreadsPerBlock, from->max_threads_per_block);
        IS(MaxBlockDimX, from->max_block[0]);
        IS(MaxBlockDimY, from->max_block[1]);
        IS(MaxBlockDimZ, from->max_block[2]);
        IS(MaxGridDimX, from->max_grid[0]);
        IS(MaxGridDimY, from->max_grid[1]);
        IS(MaxGridDimZ, from->max_grid[2]);
        IS(MaxSharedMemoryPerBlock, from->shared_per_block);
        IS(MaxSharedMemoryPerBlockOptin, from->shared_per_block_optin);
        IS(MaxSharedMemoryPerMultiprocessor, from->shared_per_sm);
        IS(ReservedSharedMemoryPerBlock, from->shared_reserved);
        IS(TotalConstantMemory, from->const_bytes);
        IS(WarpSize, from->warp_size);
        IS(MaxPitch, INT_MAX);
        IS(MaxRegistersPerBlock, from->registers_per_block);
        IS(MaxRegistersPerMultiprocessor, from->registers_per_sm);
        IS(ClockRate, from->clock_khz);
        IS(TextureAlignment, 512);
        IS(TexturePitchAlignment, 32);
        IS(SurfaceAlignment, 512);
        IS(MultiProcessorCount, from->sms);
        IS(ComputeMode, cudaComputeModeDefault);
        IS(MemoryClockRate, from->memory_clock_khz);
        IS(GlobalMemoryBusWidth, from->memory_bus_bits);
        IS(L2CacheSize, from->l2_bytes);
        IS(MaxThreadsPerMultiProcessor, from->max_threads_per_sm);
        IS(MaxBlocksPerMultiprocessor, from->max_blocks_per_sm);
        IS(ComputeCapabilityMajor, from->cc_major);
        IS(ComputeCapabilityMinor, from->cc_minor);
        IS(SingleToDoublePrecisionPerfRatio, from->fp64_ratio);
        IS(UnifiedAddressing, 1);
        IS(ConcurrentKernels, 1);
        IS(ManagedMemory, from->managed);
        IS(ConcurrentManagedAccess, from->managed);
        IS(CanMapHostMemory, from->managed);
        IS(HostRegisterSupported, 1);
        IS(CooperativeLaunch, from->has_cooperative_launches);
        IS(ClusterLaunch, from->has_clusters);
        IS(MaxPersistingL2CacheSize, from->persisting_l2_bytes);
        IS(MaxAccessPolicyWindowSize, from->access_window_bytes);
        IS(GpuOverlap, 1);
        IS(AsyncEngineCount, 1);
        IS(StreamPrioritiesSupported, 1);
        IS(GlobalL1CacheSupported, 1);
        IS(LocalL1CacheSupported, 1);
        IS(MemoryPoolsSupported, 1);
    }
#undef IS
    return 0;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    static const char api[] = "cudaDeviceGetAttribute";
    if (!value) return runtime_fail(api, DEVICE_INVALID_VALUE, "value is NULL");
    if (device != 0)
        return runtime_fail(api, DEVICE_INVALID_DEVICE, "device %d does not exist", device);
    cudaError_t status;
    const DeviceProperties *properties = runtime_properties(api, &status);
    if (!properties) return status;
    if ((int)attribute < 1 || attribute >= cudaDevAttrMax)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "CUDA has no attribute %d", (int)attribute);
    uint64_t wide = attribute_value(properties, attribute);
    *value = wide > INT_MAX ? INT_MAX : (int)wide;
    return cudaSuccess;
}
