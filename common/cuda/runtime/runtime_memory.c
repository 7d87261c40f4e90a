/* Memory: allocation on the device, its pool, and pinned host memory. */
#include <stdlib.h>

#include "common/cuda/runtime/runtime_state.h"

typedef struct PinnedBlock {
    struct PinnedBlock *next;
    void *address;
} PinnedBlock;

static PinnedBlock *pinned_blocks;

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
    return runtime_call("cudaFree", &call, NULL);
}

/* ---- in the order of a stream --------------------------------------------------------------- */

/* Memory is there at once, which is no later than the stream's order asks; it is freed for what is
 * enqueued afterwards. */
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    uint32_t handle;
    cudaError_t status = runtime_stream("cudaMallocAsync", stream, &handle);
    return status == cudaSuccess ? cudaMalloc(pointer, bytes) : status;
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    DeviceCall call = {.kind = CALL_FREE, .value = FREE_ON_STREAM, .dst = device_address(pointer)};
    cudaError_t status = runtime_stream("cudaFreeAsync", stream, &call.stream);
    return status == cudaSuccess ? runtime_call("cudaFreeAsync", &call, NULL) : status;
}

/* There is one pool, and it keeps nothing: what it is told about keeping changes nothing. */
static char the_pool;

static cudaError_t pool_check(const char *api, cudaMemPool_t pool)
{
    if ((char *)pool == &the_pool) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "%p is no memory pool; only the device's own is",
                        (void *)pool);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (!pool || device != 0)
        return runtime_fail("cudaDeviceGetDefaultMemPool", DEVICE_INVALID_DEVICE, "device %d",
                            device);
    *pool = (cudaMemPool_t)(void *)&the_pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    (void)attribute, (void)value;
    return pool_check("cudaMemPoolSetAttribute", pool);
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

/* ---- pinned host memory --------------------------------------------------------------------- */

/* Pinned memory is ordinary host memory here; kernels cannot reach it (on hardware they could). */
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    static const char api[] = "cudaHostAlloc";
    if (!pointer) return runtime_fail(api, DEVICE_INVALID_VALUE, "the pointer is NULL");
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    if (flags & cudaHostAllocMapped)
        return runtime_fail(api, DEVICE_NOT_SUPPORTED,
                            "mapped host memory is not supported; copy with cudaMemcpy instead");
    PinnedBlock *block = malloc(sizeof *block);
    void *memory = NULL;
    if (!block || posix_memalign(&memory, 4096, bytes) != 0) {
        free(block);
        return runtime_fail(api, DEVICE_OUT_OF_MEMORY, "no %zu bytes of host memory", bytes);
    }
    runtime_lock();
    *block = (PinnedBlock){pinned_blocks, memory};
    pinned_blocks = block;
    runtime_unlock();
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *pointer)
{
    if (!pointer) return cudaSuccess;
    runtime_lock();
    PinnedBlock **link = &pinned_blocks;
    while (*link && (*link)->address != pointer)
        link = &(*link)->next;
    PinnedBlock *block = *link;
    if (block) *link = block->next;
    runtime_unlock();
    if (!block)
        return runtime_fail("cudaFreeHost", DEVICE_INVALID_VALUE,
                            "%p does not come from cudaMallocHost or cudaHostAlloc", pointer);
    free(block->address);
    free(block);
    return cudaSuccess;
}
