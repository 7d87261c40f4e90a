/* Device memory: allocation and release, synchronous, in stream order, and from pools. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/texture.h"
#include "common/cuda/runtime/runtime_graph.h"

static inline uint64_t device_address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* ---- allocations from pools ------------------------------------------------------------------ */

/* A pool caches nothing: its release threshold can be set and read back, without effect; used
 * memory and its maximum are counted.  The device has a default pool. */
enum { POOL_ATTRIBUTES = 16 };

struct CUmemPoolHandle_st {
    struct CUmemPoolHandle_st *next;
    uint64_t attribute[POOL_ATTRIBUTES];
};

#define POOL_AT_FIRST                                                                              \
    {                                                                                              \
        .attribute = {                                                                             \
            [cudaMemPoolReuseFollowEventDependencies] = 1,                                         \
            [cudaMemPoolReuseAllowOpportunistic] = 1,                                              \
            [cudaMemPoolReuseAllowInternalDependencies] = 1                                        \
        }                                                                                          \
    }

static struct CUmemPoolHandle_st default_pool = POOL_AT_FIRST;
static cudaMemPool_t pools = &default_pool, current_pool = &default_pool;

/* An allocation from a pool; the tree is sorted by address. */
typedef struct Taken {
    uint64_t address, bytes;
    cudaMemPool_t pool;
} Taken;

static void *taken_tree;

static int by_address(const void *left, const void *right)
{
    uint64_t a = ((const Taken *)left)->address, b = ((const Taken *)right)->address;
    return (a > b) - (a < b);
}

static void pool_use(cudaMemPool_t pool, uint64_t now)
{
    uint64_t *value = pool->attribute;
    value[cudaMemPoolAttrUsedMemCurrent] = value[cudaMemPoolAttrReservedMemCurrent] = now;
    if (now > value[cudaMemPoolAttrUsedMemHigh]) value[cudaMemPoolAttrUsedMemHigh] = now;
    if (now > value[cudaMemPoolAttrReservedMemHigh]) value[cudaMemPoolAttrReservedMemHigh] = now;
}

static void pool_gives(cudaMemPool_t pool, const void *pointer, size_t bytes)
{
    Taken *taken = malloc(sizeof *taken);
    if (!taken) return; /* not counted */
    *taken = (Taken){device_address(pointer), bytes, pool};
    runtime_lock();
    void *node = tsearch(taken, &taken_tree, by_address);
    if (node && *(Taken **)node == taken)
        pool_use(pool, pool->attribute[cudaMemPoolAttrUsedMemCurrent] + bytes);
    else
        free(taken);
    runtime_unlock();
}

static void pool_takes_memory_back(const void *pointer)
{
    Taken wanted = {.address = device_address(pointer)}, *taken = NULL;
    runtime_lock();
    void *node = tfind(&wanted, &taken_tree, by_address);
    if (node) {
        taken = *(Taken **)node;
        pool_use(taken->pool, taken->pool->attribute[cudaMemPoolAttrUsedMemCurrent] - taken->bytes);
        tdelete(&wanted, &taken_tree, by_address);
    }
    runtime_unlock();
    free(taken);
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
    if (status == cudaSuccess) runtime_note_allocations(1);
    return status;
}

cudaError_t cudaFree(void *pointer)
{
    DeviceCall call = {.kind = CALL_FREE, .dst = device_address(pointer)};
    cudaError_t status;
    if (runtime_memory_take("cudaFree", pointer, &status)) return status;
    status = runtime_call("cudaFree", &call, NULL);
    if (status == cudaSuccess && pointer) runtime_note_allocations(-1);
    if (status == cudaSuccess) pool_takes_memory_back(pointer);
    return status;
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

/* ---- stream order --------------------------------------------------------------------------- */

/* Memory is allocated immediately, which is never later than stream order requires; it is freed for
 * work that is enqueued afterwards. */
static cudaError_t pool_malloc(void **pointer, size_t bytes, cudaMemPool_t pool,
                               cudaStream_t stream)
{
    uint32_t handle;
    cudaError_t status = runtime_stream("cudaMallocAsync", stream, &handle);
    if (status != cudaSuccess) return status;
    if (pointer && runtime_is_capturing(handle))
        return runtime_capture_malloc("cudaMallocAsync", handle, pointer, bytes);
    status = cudaMalloc(pointer, bytes);
    if (status == cudaSuccess && *pointer) pool_gives(pool, *pointer, bytes);
    return status;
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    return pool_malloc(pointer, bytes, current_pool, stream);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    DeviceCall call = {.kind = CALL_FREE, .value = FREE_ON_STREAM, .dst = device_address(pointer)};
    cudaError_t status = runtime_stream("cudaFreeAsync", stream, &call.stream);
    if (status != cudaSuccess) return status;
    if (runtime_is_capturing(call.stream))
        return runtime_capture_free("cudaFreeAsync", call.stream, pointer);
    if (runtime_memory_take("cudaFreeAsync", pointer, &status)) return status;
    status = runtime_call("cudaFreeAsync", &call, NULL);
    if (status == cudaSuccess && pointer) runtime_note_allocations(-1);
    if (status == cudaSuccess) pool_takes_memory_back(pointer);
    return status;
}

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
    *made = (struct CUmemPoolHandle_st)POOL_AT_FIRST;
    runtime_lock();
    made->next = pools;
    pools = *pool = made;
    runtime_unlock();
    return cudaSuccess;
}

/* Its allocations remain, and are counted until they are freed. */
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
    int is_idle = !pool->attribute[cudaMemPoolAttrUsedMemCurrent];
    runtime_unlock();
    if (is_idle) free(pool);
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
    static const char api[] = "cudaMemPoolSetAttribute";
    cudaError_t status = attribute_check(api, pool, attribute, value);
    int is_high =
        attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh;
    if (status != cudaSuccess) return status;
    if (attribute == cudaMemPoolAttrUsedMemCurrent ||
        attribute == cudaMemPoolAttrReservedMemCurrent || (is_high && *(uint64_t *)value))
        return runtime_fail(api, DEVICE_INVALID_VALUE,
                            "what is in use can only be asked, and the most that was set to 0");
    runtime_lock();
    memcpy(&pool->attribute[attribute], value, attribute_bytes(attribute));
    pool_use(pool, pool->attribute[cudaMemPoolAttrUsedMemCurrent]); /* the maximum is at least
                                                                     * that */
    runtime_unlock();
    return status;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    cudaError_t status = attribute_check("cudaMemPoolGetAttribute", pool, attribute, value);
    if (status == cudaSuccess)
        memcpy(value, &pool->attribute[attribute], attribute_bytes(attribute));
    return status;
}

/* The device has access to its pools, and there is no other device. */
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
    return status == cudaSuccess ? pool_malloc(pointer, bytes, pool, stream) : status;
}
