/* Device memory: given out and taken back, plainly, in the order of a stream, and from pools. */
#include <stdlib.h>
#include <string.h>

#include "common/base/texture.h"
#include "common/cuda/runtime/runtime_graph.h"

static inline uint64_t device_address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* ---- allocation ----------------------------------------------------------------------------- */

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    if (!pointer) return runtime_fail("cudaMalloc", DEVICE_INVALID_VALUE, "the pointer is NULL");
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    DeviceCall call = {.kind = CALL_ALLOC, .bytes = bytes};
    DeviceReply reply;
    cudaError_t status = runtime_call("cudaMalloc", &call, &reply);
    if (status == cudaSuccess) *pointer = (void *)(uintptr_t)reply.value[0];
    return status;
}

cudaError_t cudaFree(void *pointer)
{
    DeviceCall call = {.kind = CALL_FREE, .dst = device_address(pointer)};
    cudaError_t status;
    if (runtime_memory_take("cudaFree", pointer, &status)) return status;
    return runtime_call("cudaFree", &call, NULL);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    static const char api[] = "cudaMallocPitch";
    if (!pitch) return runtime_fail(api, DEVICE_INVALID_VALUE, "the pitch is NULL");
    *pitch = texture_pitch(width);
    if (height && *pitch > SIZE_MAX / height)
        return runtime_fail(api, DEVICE_OUT_OF_MEMORY, "%zu rows of %zu bytes", height, width);
    return cudaMalloc(pointer, *pitch * height);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *made, struct cudaExtent extent)
{
    static const char api[] = "cudaMalloc3D";
    if (!made) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    if (extent.depth && extent.height > SIZE_MAX / extent.depth)
        return runtime_fail(api, DEVICE_OUT_OF_MEMORY, "%zu slices", extent.depth);
    made->xsize = extent.width, made->ysize = extent.height;
    return cudaMallocPitch(&made->ptr, &made->pitch, extent.width, extent.height * extent.depth);
}

/* ---- in the order of a stream --------------------------------------------------------------- */

/* Memory is there at once, which is no later than the stream's order asks; it is freed for what is
 * enqueued afterwards. */
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    uint32_t handle;
    cudaError_t status = runtime_stream("cudaMallocAsync", stream, &handle);
    if (status != cudaSuccess) return status;
    if (pointer && runtime_is_capturing(handle))
        return runtime_capture_malloc("cudaMallocAsync", handle, pointer, bytes);
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    DeviceCall call = {.kind = CALL_FREE, .value = FREE_ON_STREAM, .dst = device_address(pointer)};
    cudaError_t status = runtime_stream("cudaFreeAsync", stream, &call.stream);
    if (status != cudaSuccess) return status;
    if (runtime_is_capturing(call.stream))
        return runtime_capture_free("cudaFreeAsync", call.stream, pointer);
    if (runtime_memory_take("cudaFreeAsync", pointer, &status)) return status;
    return runtime_call("cudaFreeAsync", &call, NULL);
}

/* A pool keeps nothing: what it is told about keeping is told again, and changes nothing.  The
 * device has one of its own. */
enum { POOL_ATTRIBUTES = 16 };

struct CUmemPoolHandle_st {
    struct CUmemPoolHandle_st *next;
    uint64_t attribute[POOL_ATTRIBUTES];
};

static struct CUmemPoolHandle_st default_pool = {
    .attribute = {[cudaMemPoolReuseFollowEventDependencies] = 1,
                  [cudaMemPoolReuseAllowOpportunistic] = 1,
                  [cudaMemPoolReuseAllowInternalDependencies] = 1}};
static cudaMemPool_t pools = &default_pool, current_pool = &default_pool;

static cudaError_t pool_check(const char *api, cudaMemPool_t wanted)
{
    runtime_lock();
    cudaMemPool_t pool = pools;
    while (pool && pool != wanted)
        pool = pool->next;
    runtime_unlock();
    if (pool) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "%p is no memory pool", (void *)wanted);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    static const char api[] = "cudaMemPoolCreate";
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
        properties->location.type != cudaMemLocationTypeDevice || properties->location.id != 0)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "a pool is of pinned memory of device 0");
    cudaMemPool_t made = malloc(sizeof *made);
    if (!made) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    *made = default_pool;
    runtime_lock();
    made->next = pools;
    pools = *pool = made;
    runtime_unlock();
    return cudaSuccess;
}

/* What came from it stays. */
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    static const char api[] = "cudaMemPoolDestroy";
    cudaError_t status = pool_check(api, pool);
    if (status != cudaSuccess) return status;
    if (pool == &default_pool)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "the device's own pool stays");
    runtime_lock();
    cudaMemPool_t *link = &pools;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    if (current_pool == pool) current_pool = &default_pool;
    runtime_unlock();
    free(pool);
    return cudaSuccess;
}

static cudaError_t pool_of_device(const char *api, cudaMemPool_t *pool, int device,
                                  cudaMemPool_t which)
{
    if (!pool || device != 0) return runtime_fail(api, DEVICE_INVALID_DEVICE, "device %d", device);
    *pool = which;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    return pool_of_device("cudaDeviceGetDefaultMemPool", pool, device, &default_pool);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return pool_of_device("cudaDeviceGetMemPool", pool, device, current_pool);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    static const char api[] = "cudaDeviceSetMemPool";
    cudaError_t status = pool_check(api, pool);
    if (status == cudaSuccess && device != 0)
        status = runtime_fail(api, DEVICE_INVALID_DEVICE, "device %d", device);
    if (status == cudaSuccess) current_pool = pool;
    return status;
}

/* Attributes of 4 and of 8 bytes. */
static size_t attribute_bytes(enum cudaMemPoolAttr attribute)
{
    return attribute <= cudaMemPoolReuseAllowInternalDependencies ? sizeof(int) : sizeof(uint64_t);
}

static cudaError_t attribute_check(const char *api, cudaMemPool_t pool,
                                   enum cudaMemPoolAttr attribute, const void *value)
{
    if (!value || (int)attribute < 1 || (int)attribute >= POOL_ATTRIBUTES)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "attribute %d", (int)attribute);
    return pool_check(api, pool);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    cudaError_t status = attribute_check("cudaMemPoolSetAttribute", pool, attribute, value);
    if (status == cudaSuccess)
        memcpy(&pool->attribute[attribute], value, attribute_bytes(attribute));
    return status;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    cudaError_t status = attribute_check("cudaMemPoolGetAttribute", pool, attribute, value);
    if (status == cudaSuccess)
        memcpy(value, &pool->attribute[attribute], attribute_bytes(attribute));
    return status;
}

/* The device has access to its pools, and nobody else is there. */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
                                 size_t count)
{
    static const char api[] = "cudaMemPoolSetAccess";
    cudaError_t status = pool_check(api, pool);
    for (size_t i = 0; i < count && status == cudaSuccess; i++)
        if (!access || access[i].location.id != 0)
            status = runtime_fail(api, DEVICE_INVALID_DEVICE, "there is device 0 alone");
    return status;
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 struct cudaMemLocation *location)
{
    static const char api[] = "cudaMemPoolGetAccess";
    cudaError_t status = pool_check(api, pool);
    if (status == cudaSuccess && (!flags || !location))
        status = runtime_fail(api, DEVICE_INVALID_VALUE, "an argument is NULL");
    if (status == cudaSuccess) *flags = cudaMemAccessFlagsProtReadWrite;
    return status;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    (void)bytes;
    return pool_check("cudaMemPoolTrimTo", pool);
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    cudaError_t status = pool_check("cudaMallocFromPoolAsync", pool);
    return status == cudaSuccess ? cudaMallocAsync(pointer, bytes, stream) : status;
}
