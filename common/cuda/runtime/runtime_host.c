/* Memory that host code uses: pinned, registered, managed.
 *
 * Pinned memory is ordinary host memory here, which kernels cannot reach.  What kernels are to
 * reach (mapped, managed) is device memory that this process finds at the same address: only where
 * the simulated GPU is in the program's own process. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"

typedef struct HostBlock {
    struct HostBlock *next;
    void *address;
    size_t bytes;
    enum { PINNED, MAPPED, REGISTERED } kind;
    unsigned flags;
} HostBlock;

static HostBlock *host_blocks;

static cudaError_t block_add(const char *api, void *address, size_t bytes, int kind, unsigned flags)
{
    HostBlock *block = malloc(sizeof *block);
    if (!block) return runtime_fail(api, DEVICE_OUT_OF_MEMORY, "out of host memory");
    runtime_lock();
    *block = (HostBlock){host_blocks, address, bytes, kind, flags};
    host_blocks = block;
    runtime_unlock();
    return cudaSuccess;
}

/* Takes the block that begins there off the list; the caller's. */
static HostBlock *block_take(const void *address, int registered)
{
    runtime_lock();
    HostBlock **link = &host_blocks;
    while (*link && ((*link)->address != address || ((*link)->kind == REGISTERED) != registered))
        link = &(*link)->next;
    HostBlock *block = *link;
    if (block) *link = block->next;
    runtime_unlock();
    return block;
}

static int block_holding(const void *address, HostBlock *found)
{
    runtime_lock();
    const HostBlock *block = host_blocks;
    while (block && (uintptr_t)address - (uintptr_t)block->address >= block->bytes)
        block = block->next;
    if (block) *found = *block;
    runtime_unlock();
    return block != NULL;
}

/* ---- managed -------------------------------------------------------------------------------- */

static cudaError_t managed_alloc(const char *api, void **pointer, size_t bytes)
{
    if (!pointer) return runtime_fail(api, DEVICE_INVALID_VALUE, "the pointer is NULL");
    *pointer = NULL;
    DeviceCall call = {.kind = CALL_ALLOC, .bytes = bytes, .value = ALLOC_MANAGED};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status == cudaSuccess) *pointer = (void *)(uintptr_t)reply.value[0];
    return status;
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags)
{
    static const char api[] = "cudaMallocManaged";
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%zu bytes, flags %u", bytes, flags);
    return managed_alloc(api, pointer, bytes);
}

/* Where managed memory lies now is nothing that could be told apart here. */
static cudaError_t hint(const char *api, const void *pointer)
{
    DeviceCall call = {.kind = CALL_POINTER, .dst = (uintptr_t)pointer};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess || reply.value[0] == 2) return status;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "%p is no managed memory", pointer);
}

static cudaError_t prefetch(const void *pointer, cudaStream_t stream)
{
    uint32_t handle;
    cudaError_t status = runtime_stream("cudaMemPrefetchAsync", stream, &handle);
    return status == cudaSuccess ? hint("cudaMemPrefetchAsync", pointer) : status;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream)
{
    (void)bytes, (void)location, (void)flags;
    return prefetch(pointer, stream);
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    (void)bytes, (void)advice, (void)location;
    return hint("cudaMemAdvise", pointer);
}
#else
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    (void)bytes, (void)device;
    return prefetch(pointer, stream);
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          int device)
{
    (void)bytes, (void)advice, (void)device;
    return hint("cudaMemAdvise", pointer);
}
#endif

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned int flags)
{
    uint32_t handle;
    (void)bytes, (void)flags;
    cudaError_t status = runtime_stream("cudaStreamAttachMemAsync", stream, &handle);
    return status == cudaSuccess ? hint("cudaStreamAttachMemAsync", pointer) : status;
}

/* ---- pinned --------------------------------------------------------------------------------- */

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    static const char api[] = "cudaHostAlloc";
    if (!pointer) return runtime_fail(api, DEVICE_INVALID_VALUE, "the pointer is NULL");
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    int kind = flags & cudaHostAllocMapped ? MAPPED : PINNED;
    cudaError_t status = cudaSuccess;
    if (kind == MAPPED)
        status = managed_alloc(api, pointer, bytes);
    else if (posix_memalign(pointer, 4096, bytes) != 0)
        status = runtime_fail(api, DEVICE_OUT_OF_MEMORY, "no %zu bytes of host memory", bytes);
    if (status == cudaSuccess) status = block_add(api, *pointer, bytes, kind, flags);
    return status;
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *pointer)
{
    if (!pointer) return cudaSuccess;
    HostBlock *block = block_take(pointer, 0);
    if (!block)
        return runtime_fail("cudaFreeHost", DEVICE_INVALID_VALUE,
                            "%p does not come from cudaMallocHost or cudaHostAlloc", pointer);
    cudaError_t status = cudaSuccess;
    if (block->kind == MAPPED)
        status = cudaFree(pointer);
    else
        free(pointer);
    free(block);
    return status;
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *pointer)
{
    HostBlock block;
    if (!flags || !block_holding(pointer, &block))
        return runtime_fail("cudaHostGetFlags", DEVICE_INVALID_VALUE, "%p is not pinned", pointer);
    *flags = block.flags;
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
    static const char api[] = "cudaHostGetDevicePointer";
    HostBlock block;
    if (!device || flags) return runtime_fail(api, DEVICE_INVALID_VALUE, "flags %u", flags);
    *device = NULL;
    if (!block_holding(host, &block))
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%p is not pinned", host);
    if (block.kind != MAPPED)
        return runtime_fail(api, DEVICE_NOT_SUPPORTED,
                            "a kernel can reach host memory only from cudaHostAlloc(..., "
                            "cudaHostAllocMapped)");
    *device = host;
    return cudaSuccess;
}

/* ---- registered ----------------------------------------------------------------------------- */

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    static const char api[] = "cudaHostRegister";
    HostBlock block;
    if (!pointer || !bytes) return runtime_fail(api, DEVICE_INVALID_VALUE, "%zu bytes", bytes);
    if (block_holding(pointer, &block))
        return runtime_fail(api, (DeviceStatus)cudaErrorHostMemoryAlreadyRegistered,
                            "%p is pinned already", pointer);
    return block_add(api, pointer, bytes, REGISTERED, flags);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    HostBlock *block = block_take(pointer, 1);
    if (!block)
        return runtime_fail("cudaHostUnregister", (DeviceStatus)cudaErrorHostMemoryNotRegistered,
                            "%p is not registered", pointer);
    free(block);
    return cudaSuccess;
}

/* ---- what a pointer points to --------------------------------------------------------------- */

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    static const char api[] = "cudaPointerGetAttributes";
    if (!attributes) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    DeviceCall call = {.kind = CALL_POINTER, .dst = (uintptr_t)pointer};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess) return status;
    HostBlock block = {.kind = PINNED};
    void *at = (void *)(uintptr_t)pointer;
    int is_host = block_holding(pointer, &block), is_managed = reply.value[0] == 2 && !is_host;
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -1};
    if (!is_host && !reply.value[0]) {
        attributes->hostPointer = at;
        return cudaSuccess;
    }
    attributes->device = 0;
    attributes->type = is_host      ? cudaMemoryTypeHost
                       : is_managed ? cudaMemoryTypeManaged
                                    : cudaMemoryTypeDevice;
    if (is_host || is_managed) attributes->hostPointer = at;
    if (!is_host || block.kind == MAPPED) attributes->devicePointer = at;
    return cudaSuccess;
}
