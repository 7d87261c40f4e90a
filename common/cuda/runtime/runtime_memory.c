/* Memory: allocation, copies, fills and symbols.
 *
 * Copies from host memory take the bytes when they are called, also the Async ones and also from
 * pinned memory: the bytes travel with the call.  Copies to host memory have arrived when they
 * return.  Both are orders that CUDA allows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cuda/runtime/runtime_state.h"

/* Large copies travel in pieces, so that no message is as large as the buffer. */
enum { COPY_PIECE = 64 << 20 };

typedef struct PinnedBlock {
    struct PinnedBlock *next;
    void *address;
} PinnedBlock;

static PinnedBlock *pinned_blocks;

static inline uint64_t device_address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* 0 only when the kernel knows for sure that part of the range is not mapped in this process. */
static int host_is_mapped(const void *pointer, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)pointer & ~(page - 1);
    uintptr_t last = (uintptr_t)pointer + bytes;
    if (last < (uintptr_t)pointer) return 0;
    return msync((void *)first, last - first, MS_ASYNC) == 0 || errno != ENOMEM;
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

/* ---- copies --------------------------------------------------------------------------------- */

static cudaError_t copy_to_device(const char *api, uint64_t dst, const void *src, size_t bytes,
                                  uint32_t stream)
{
    if (!host_is_mapped(src, bytes))
        return runtime_fail(api, DEVICE_INVALID_VALUE,
                            "the source %p (%zu bytes) is not host memory; are destination and "
                            "source, or the direction, swapped?",
                            src, bytes);
    for (size_t done = 0; done < bytes;) {
        size_t piece = bytes - done < COPY_PIECE ? bytes - done : COPY_PIECE;
        DeviceCall call = {.kind = CALL_COPY_TO_DEVICE,
                           .dst = dst + done,
                           .bytes = piece,
                           .data = (const char *)src + done,
                           .data_bytes = piece,
                           .stream = stream};
        cudaError_t status = runtime_call(api, &call, NULL);
        if (status != cudaSuccess) return status;
        done += piece;
    }
    return cudaSuccess;
}

static cudaError_t copy_to_host(const char *api, void *dst, uint64_t src, size_t bytes,
                                uint32_t stream)
{
    if (!host_is_mapped(dst, bytes))
        return runtime_fail(api, DEVICE_INVALID_VALUE,
                            "the destination %p (%zu bytes) is not host memory; are destination "
                            "and source, or the direction, swapped?",
                            dst, bytes);
    cudaError_t status = cudaSuccess;
    runtime_lock();
    for (size_t done = 0; done < bytes && status == cudaSuccess;) {
        size_t piece = bytes - done < COPY_PIECE ? bytes - done : COPY_PIECE;
        DeviceCall call = {
            .kind = CALL_COPY_TO_HOST, .src = src + done, .bytes = piece, .stream = stream};
        DeviceReply reply;
        status = runtime_call(api, &call, &reply);
        if (status == cudaSuccess && reply.data_bytes != piece)
            status = runtime_fail(api, DEVICE_UNKNOWN, "the device sent the wrong size");
        if (status == cudaSuccess) memcpy((char *)dst + done, reply.data, piece);
        done += piece;
    }
    runtime_unlock();
    return status;
}

/* Whether cudaMemcpyDefault takes the address for device memory. */
static int address_is_device(const void *pointer)
{
    DeviceCall call = {.kind = CALL_POINTER, .dst = device_address(pointer)};
    DeviceReply reply;
    if (runtime_try(&call, &reply) == DEVICE_SUCCESS) return reply.value[0] != 0;
    return !host_is_mapped(pointer, 1);
}

static cudaError_t copy(const char *api, void *dst, const void *src, size_t bytes,
                        enum cudaMemcpyKind kind, cudaStream_t stream_wanted)
{
    uint32_t stream;
    cudaError_t status = runtime_stream(api, stream_wanted, &stream);
    if (status != cudaSuccess || bytes == 0) return status;
    if (!dst || !src)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "the %s is NULL",
                            dst ? "source" : "destination");
    if (kind == cudaMemcpyDefault) {
        int to_device = address_is_device(dst), from_device = address_is_device(src);
        kind = to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                         : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
    }
    DeviceCall call = {.kind = CALL_COPY_ON_DEVICE,
                       .dst = device_address(dst),
                       .src = device_address(src),
                       .bytes = bytes,
                       .stream = stream};
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return copy_to_device(api, call.dst, src, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return copy_to_host(api, dst, call.src, bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return runtime_call(api, &call, NULL);
    case cudaMemcpyHostToHost:
        memmove(dst, src, bytes);
        return cudaSuccess;
    default:
        return runtime_fail(api, DEVICE_INVALID_COPY_DIRECTION, "direction %d", (int)kind);
    }
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy("cudaMemcpy", dst, src, bytes, kind, NULL);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy("cudaMemcpyAsync", dst, src, bytes, kind, stream);
}

/* A rectangle goes row by row, unless both sides are dense. */
static cudaError_t copy_2d(const char *api, void *dst, size_t dst_pitch, const void *src,
                           size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                           cudaStream_t stream)
{
    if (width > dst_pitch || width > src_pitch)
        return runtime_fail(api, (DeviceStatus)cudaErrorInvalidPitchValue,
                            "a row of %zu bytes is wider than a pitch (%zu, %zu)", width, dst_pitch,
                            src_pitch);
    if (width == dst_pitch && width == src_pitch)
        return copy(api, dst, src, width * height, kind, stream);
    cudaError_t status = cudaSuccess;
    for (size_t row = 0; row < height && status == cudaSuccess; row++)
        status = copy(api, (char *)dst + row * dst_pitch, (const char *)src + row * src_pitch,
                      width, kind, stream);
    return status;
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_2d("cudaMemcpy2D", dst, dst_pitch, src, src_pitch, width, height, kind, NULL);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return copy_2d("cudaMemcpy2DAsync", dst, dst_pitch, src, src_pitch, width, height, kind,
                   stream);
}

/* ---- fills ---------------------------------------------------------------------------------- */

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
    DeviceCall call = {.kind = CALL_FILL,
                       .dst = device_address(dst),
                       .value = (unsigned char)value,
                       .bytes = bytes};
    cudaError_t status = runtime_stream("cudaMemset", stream, &call.stream);
    if (status != cudaSuccess || bytes == 0) return status;
    return runtime_call("cudaMemset", &call, NULL);
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
    return cudaMemsetAsync(dst, value, bytes, NULL);
}

/* ---- symbols -------------------------------------------------------------------------------- */

static cudaError_t symbol_range(const char *api, const void *symbol, size_t bytes, size_t offset,
                                void **address)
{
    RuntimeVariable *variable;
    cudaError_t status = runtime_variable(api, symbol, &variable);
    if (status != cudaSuccess) return status;
    if (offset > variable->bytes || bytes > variable->bytes - offset)
        return runtime_fail(api, DEVICE_INVALID_VALUE,
                            "%zu bytes at offset %zu do not fit the %llu bytes of %s", bytes,
                            offset, (unsigned long long)variable->bytes, variable->name);
    *address = (void *)(uintptr_t)(variable->address + offset);
    return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    static const char api[] = "cudaMemcpyToSymbol";
    void *dst;
    cudaError_t status = symbol_range(api, symbol, bytes, offset, &dst);
    if (status != cudaSuccess) return status;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return runtime_fail(api, DEVICE_INVALID_COPY_DIRECTION, "a symbol is on the device");
    return copy(api, dst, src, bytes, kind, stream);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return cudaMemcpyToSymbolAsync(symbol, src, bytes, offset, kind, NULL);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    static const char api[] = "cudaMemcpyFromSymbol";
    void *src;
    cudaError_t status = symbol_range(api, symbol, bytes, offset, &src);
    if (status != cudaSuccess) return status;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return runtime_fail(api, DEVICE_INVALID_COPY_DIRECTION, "a symbol is on the device");
    return copy(api, dst, src, bytes, kind, stream);
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    return cudaMemcpyFromSymbolAsync(dst, symbol, bytes, offset, kind, NULL);
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    if (!address)
        return runtime_fail("cudaGetSymbolAddress", DEVICE_INVALID_VALUE, "the result is NULL");
    return symbol_range("cudaGetSymbolAddress", symbol, 0, 0, address);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    RuntimeVariable *variable;
    if (!bytes)
        return runtime_fail("cudaGetSymbolSize", DEVICE_INVALID_VALUE, "the result is NULL");
    cudaError_t status = runtime_variable("cudaGetSymbolSize", symbol, &variable);
    if (status == cudaSuccess) *bytes = variable->bytes;
    return status;
}
