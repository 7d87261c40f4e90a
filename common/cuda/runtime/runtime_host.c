/* Host memory: pinned, registered, managed.
 *
 * Memory that kernels can access (mapped, managed) is device memory at the same address in this
 * process: only if the simulated GPU is in the program's own process.  Pinned memory is ordinary
 * host memory, which kernels cannot access, unless the host program has all of it mapped. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime.h"
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

/* Removes the block that starts there from the list; the caller owns it. */
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

int runtime_is_pinned(const void *pointer)
{
    HostBlock block;
    return block_holding(pointer, &block);
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

/* The location of managed memory has no effect here: hints are stored and can be read back. */
static cudaError_t hint(const char *api, const void *pointer)
{
    DeviceCall call = {.kind = CALL_POINTER, .dst = (uintptr_t)pointer};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess || reply.value[0] == 2) return status;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "%p is no managed memory", pointer);
}

/* Advice for a range; the newest for an address applies. */
typedef struct Advice {
    struct Advice *next;
    uintptr_t address;
    size_t bytes;
    enum { READ_MOSTLY, PREFERRED, ACCESSED, PREFETCHED } what;
    int value, location_type;
} Advice;

static Advice *advices;

static cudaError_t advice_keep(const char *api, const void *pointer, size_t bytes, Advice advice)
{
    cudaError_t status = hint(api, pointer);
    Advice *kept = status == cudaSuccess ? malloc(sizeof *kept) : NULL;
    if (!kept) return status;
    runtime_lock();
    *kept = advice;
    kept->next = advices, kept->address = (uintptr_t)pointer, kept->bytes = bytes;
    advices = kept;
    runtime_unlock();
    return cudaSuccess;
}

static cudaError_t prefetch(const void *pointer, size_t bytes, Advice advice, cudaStream_t stream)
{
    uint32_t handle;
    cudaError_t status = runtime_stream("cudaMemPrefetchAsync", stream, &handle);
    return status == cudaSuccess ? advice_keep("cudaMemPrefetchAsync", pointer, bytes, advice)
                                 : status;
}

/* With a location that is a device's number, or -1 for the host: cudaCpuDeviceId. */
static cudaError_t advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          int device, int type)
{
    Advice kept = {.value = device, .location_type = type};
    switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
        kept.what = READ_MOSTLY, kept.value = advice == cudaMemAdviseSetReadMostly;
        break;
    case cudaMemAdviseSetPreferredLocation:
        kept.what = PREFERRED;
        break;
    case cudaMemAdviseUnsetPreferredLocation:
        kept.what = PREFERRED, kept.value = cudaInvalidDeviceId, kept.location_type = 0;
        break;
    case cudaMemAdviseSetAccessedBy:
        kept.what = ACCESSED;
        break;
    default:
        kept.what = ACCESSED, kept.value = cudaInvalidDeviceId, kept.location_type = 0;
    }
    return advice_keep("cudaMemAdvise", pointer, bytes, kept);
}

#if CUDART_VERSION >= 13000
static int place_of(struct cudaMemLocation location)
{
    return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream)
{
    (void)flags;
    return prefetch(
        pointer, bytes,
        (Advice){.what = PREFETCHED, .value = place_of(location), .location_type = location.type},
        stream);
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    return advise(pointer, bytes, advice, place_of(location), location.type);
}
#else
static int type_of(int device)
{
    return device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    return prefetch(pointer, bytes,
                    (Advice){.what = PREFETCHED, .value = device, .location_type = type_of(device)},
                    stream);
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          int device)
{
    return advise(pointer, bytes, advice, device, type_of(device));
}
#endif

static Advice advice_find(const void *pointer, size_t bytes, int what)
{
    Advice found = {.value = what == READ_MOSTLY ? 0 : cudaInvalidDeviceId};
    uintptr_t first = (uintptr_t)pointer;
    runtime_lock();
    for (const Advice *at = advices; at; at = at->next)
        if ((int)at->what == what && first >= at->address && bytes <= at->bytes &&
            first - at->address <= at->bytes - bytes) {
            found = *at;
            break;
        }
    runtime_unlock();
    return found;
}

/* One accessing device is stored, because there is only one. */
cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_bytes,
                                     enum cudaMemRangeAttribute attribute, const void *pointer,
                                     size_t bytes)
{
    static const char api[] = "cudaMemRangeGetAttribute";
    static const int WHAT[] = {[cudaMemRangeAttributeReadMostly] = READ_MOSTLY,
                               [cudaMemRangeAttributePreferredLocation] = PREFERRED,
                               [cudaMemRangeAttributeAccessedBy] = ACCESSED,
                               [cudaMemRangeAttributeLastPrefetchLocation] = PREFETCHED,
                               [cudaMemRangeAttributePreferredLocationType] = PREFERRED,
                               [cudaMemRangeAttributePreferredLocationId] = PREFERRED,
                               [cudaMemRangeAttributeLastPrefetchLocationType] = PREFETCHED,
                               [cudaMemRangeAttributeLastPrefetchLocationId] = PREFETCHED};
    int *value = data;
    if (!data || data_bytes < sizeof *value || data_bytes % sizeof *value || !bytes ||
        (int)attribute < 1 || attribute > cudaMemRangeAttributeLastPrefetchLocationId)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "attribute %d in %zu bytes", (int)attribute,
                            data_bytes);
    cudaError_t status = hint(api, pointer);
    if (status != cudaSuccess) return status;
    Advice found = advice_find(pointer, bytes, WHAT[attribute]);
    int is_type = attribute == cudaMemRangeAttributePreferredLocationType ||
                  attribute == cudaMemRangeAttributeLastPrefetchLocationType;
    value[0] = is_type ? found.location_type : found.value;
    for (size_t i = 1; attribute == cudaMemRangeAttributeAccessedBy && i < data_bytes / 4; i++)
        value[i] = cudaInvalidDeviceId;
    return cudaSuccess;
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_bytes,
                                      enum cudaMemRangeAttribute *attributes, size_t count,
                                      const void *pointer, size_t bytes)
{
    cudaError_t status = cudaSuccess;
    if (!data || !data_bytes || !attributes)
        return runtime_fail("cudaMemRangeGetAttributes", DEVICE_INVALID_VALUE, "a list is NULL");
    for (size_t i = 0; i < count && status == cudaSuccess; i++)
        status = cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer, bytes);
    return status;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned int flags)
{
    uint32_t handle;
    (void)bytes, (void)flags;
    cudaError_t status = runtime_stream("cudaStreamAttachMemAsync", stream, &handle);
    return status == cudaSuccess ? hint("cudaStreamAttachMemAsync", pointer) : status;
}

/* ---- pinned --------------------------------------------------------------------------------- */

static int pinned_is_mapped;

void runtime_map_pinned(void)
{
    pinned_is_mapped = 1;
}

int runtime_pinned_is_mapped(void)
{
    return pinned_is_mapped;
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    static const char api[] = "cudaHostAlloc";
    if (!pointer) return runtime_fail(api, DEVICE_INVALID_VALUE, "the pointer is NULL");
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    int kind = pinned_is_mapped || flags & cudaHostAllocMapped ? MAPPED : PINNED;
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
                            "cudaHostAllocMapped), not what is registered");
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

/* ---- attributes of pointers ----------------------------------------------------------------- */

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
