/* The device and its hints: settings that a program can set and read back, without effect. */
#include <stdio.h>
#include <string.h>

#include "common/cuda/runtime/runtime_state.h"

static cudaError_t device_check(const char *api, int device)
{
    if (device == 0) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_DEVICE, "device %d does not exist", device);
}

static cudaError_t result_check(const char *api, const void *result)
{
    if (result) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
}

/* ---- which device --------------------------------------------------------------------------- */

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    (void)wanted;
    if (device) *device = 0;
    return result_check("cudaChooseDevice", device);
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    (void)device_flags, (void)flags;
    return device_check("cudaInitDevice", device);
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
    for (int i = 0; devices && i < count; i++)
        if (devices[i] != 0) return device_check("cudaSetValidDevices", devices[i]);
    return cudaSuccess;
}

static const char BUS_ID[] = "0000:00:00.0";

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    static const char api[] = "cudaDeviceGetPCIBusId";
    if (!text || bytes < (int)sizeof BUS_ID)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "room for %d characters", bytes);
    memcpy(text, BUS_ID, sizeof BUS_ID);
    return device_check(api, device);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    static const char api[] = "cudaDeviceGetByPCIBusId";
    if (!device || !text || strcmp(text, BUS_ID))
        return runtime_fail(api, DEVICE_INVALID_DEVICE, "no device has this PCI bus id");
    *device = 0;
    return cudaSuccess;
}

/* ---- peers: there is one device ------------------------------------------------------------- */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    static const char api[] = "cudaDeviceCanAccessPeer";
    cudaError_t status = device_check(api, device);
    if (status == cudaSuccess) status = device_check(api, peer);
    if (status == cudaSuccess) status = result_check(api, can);
    if (status == cudaSuccess) *can = 0;
    return status;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)flags;
    return runtime_fail("cudaDeviceEnablePeerAccess", DEVICE_INVALID_DEVICE,
                        "device %d is no peer of device 0", peer);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return cudaDeviceEnablePeerAccess(peer, 0);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device,
                                      int peer)
{
    (void)attribute;
    return runtime_fail("cudaDeviceGetP2PAttribute", DEVICE_INVALID_DEVICE,
                        "device %d is no peer of device %d%s", peer, device,
                        value ? "" : ", and the result is NULL");
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                size_t bytes, cudaStream_t stream)
{
    static const char api[] = "cudaMemcpyPeer";
    cudaError_t status = device_check(api, dst_device);
    if (status == cudaSuccess) status = device_check(api, src_device);
    if (status != cudaSuccess) return status;
    return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
    return cudaMemcpyPeerAsync(dst, dst_device, src, src_device, bytes, NULL);
}

/* ---- hints ---------------------------------------------------------------------------------- */

static unsigned device_flags = cudaDeviceScheduleAuto;

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    device_flags = flags;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    if (flags) *flags = device_flags | cudaDeviceMapHost;
    return result_check("cudaGetDeviceFlags", flags);
}

static enum cudaFuncCache cache_wanted = cudaFuncCachePreferNone;

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache wanted)
{
    cache_wanted = wanted;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *wanted)
{
    if (wanted) *wanted = cache_wanted;
    return result_check("cudaDeviceGetCacheConfig", wanted);
}

/* Banks are four bytes wide on every GPU since Maxwell, whatever is requested. */
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig wanted)
{
    (void)wanted;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *there)
{
    if (there) *there = cudaSharedMemBankSizeFourByte;
    return result_check("cudaDeviceGetSharedMemConfig", there);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *host, enum cudaSharedMemConfig wanted)
{
    (void)wanted;
    RuntimeFunction *function;
    return runtime_function("cudaFuncSetSharedMemConfig", host, &function);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}

/* CUDA's default values.  The buffer of printf grows as needed. */
enum { LIMITS = 16 };
static size_t limits[LIMITS] = {[cudaLimitStackSize] = 1024,
                                [cudaLimitPrintfFifoSize] = 1 << 20,
                                [cudaLimitMallocHeapSize] = 8 << 20,
                                [cudaLimitMaxL2FetchGranularity] = 64};

static cudaError_t limit_check(const char *api, enum cudaLimit limit)
{
    if ((int)limit >= 0 && (int)limit < LIMITS) return cudaSuccess;
    return runtime_fail(api, (DeviceStatus)cudaErrorUnsupportedLimit, "limit %d", (int)limit);
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    static const char api[] = "cudaDeviceSetLimit";
    cudaError_t status = limit_check(api, limit);
    if (status != cudaSuccess) return status;
    if (limit == cudaLimitStackSize || limit == cudaLimitMallocHeapSize) {
        DeviceCall call = {.kind = CALL_LIMIT, .value = (uint32_t)limit, .bytes = value};
        DeviceReply reply;
        status = runtime_call(api, &call, &reply);
        if (status != cudaSuccess) return status;
        value = reply.value[0];
    }
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    cudaError_t status = limit_check("cudaDeviceGetLimit", limit);
    if (status == cudaSuccess) status = result_check("cudaDeviceGetLimit", value);
    if (status == cudaSuccess) *value = limits[limit];
    return status;
}

/* ---- occupancy ------------------------------------------------------------------------------ */

/* The largest size that leaves space for that number of blocks, found by bisection in kilobytes. */
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks,
                                                      int threads)
{
    static const char api[] = "cudaOccupancyAvailableDynamicSMemPerBlock";
    cudaError_t status;
    const DeviceProperties *properties = runtime_properties(api, &status);
    if (!properties) return status;
    if (!bytes || blocks < 1) return runtime_fail(api, DEVICE_INVALID_VALUE, "%d blocks", blocks);
    size_t fits = 0, beyond = properties->shared_per_sm / (size_t)blocks + 1;
    while (beyond - fits > 1) {
        size_t middle = fits + (beyond - fits) / 2;
        int there = 0;
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&there, host, threads, middle);
        if (status != cudaSuccess) return status;
        *(there >= blocks ? &fits : &beyond) = middle;
    }
    *bytes = fits;
    return cudaSuccess;
}
