/* driver_memory.c - memory and copies. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/driver/driver_state.h"

#define HOST(address) ((void *)(uintptr_t)(address))

/* ---- allocations ----------------------------------------------------------------------------- */

/* Sorted by address. */
typedef struct Range {
    CUdeviceptr address;
    size_t bytes;
} Range;

static Range *ranges;
static size_t count, capacity;

/* The number of ranges at or below the address. */
static size_t below(CUdeviceptr address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void driver_memory_add(CUdeviceptr address, size_t bytes)
{
    runtime_lock();
    size_t at = below(address);
    int is_known = at && ranges[at - 1].address == address;
    if (is_known) {
        ranges[at - 1].bytes = bytes;
    } else {
        if (count == capacity) {
            size_t larger = capacity ? 2 * capacity : 64;
            Range *grown = realloc(ranges, larger * sizeof *grown);
            if (grown) ranges = grown, capacity = larger;
        }
        if (count < capacity) {
            memmove(ranges + at + 1, ranges + at, (count - at) * sizeof *ranges);
            ranges[at] = (Range){address, bytes};
            count++;
        }
    }
    runtime_unlock();
}

void driver_memory_forget(CUdeviceptr address)
{
    runtime_lock();
    size_t at = below(address);
    if (at && ranges[at - 1].address == address) {
        memmove(ranges + at - 1, ranges + at, (count - at) * sizeof *ranges);
        count--;
    }
    runtime_unlock();
}

int driver_memory_find(CUdeviceptr address, CUdeviceptr *base, size_t *bytes)
{
    runtime_lock();
    size_t at = below(address);
    int found = at && address - ranges[at - 1].address < ranges[at - 1].bytes;
    if (found && base) *base = ranges[at - 1].address;
    if (found && bytes) *bytes = ranges[at - 1].bytes;
    runtime_unlock();
    return found ? 0 : -1;
}

/* Stores the address of a new allocation for cuMemGetAddressRange, and returns the status. */
static CUresult allocated(cudaError_t status, const void *pointer, size_t bytes,
                          CUdeviceptr *address)
{
    if (address) *address = (uintptr_t)pointer;
    if (status == cudaSuccess) driver_memory_add((uintptr_t)pointer, bytes);
    return driver_status(status);
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    void *pointer = NULL;
    if (!address || !bytes) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t status = cudaMalloc(&pointer, bytes);
    return allocated(status, pointer, bytes, address);
}

CUresult cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                         unsigned element)
{
    void *pointer = NULL;
    (void)element;
    if (!address || !pitch) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t status = cudaMallocPitch(&pointer, pitch, width, height);
    return allocated(status, pointer, *pitch * height, address);
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    void *pointer = NULL;
    if (!address || !bytes) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t status = cudaMallocManaged(&pointer, bytes, flags);
    return allocated(status, pointer, bytes, address);
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    void *pointer = NULL;
    if (!address || !bytes) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t status = cudaMallocAsync(&pointer, bytes, stream);
    return allocated(status, pointer, bytes, address);
}

/* A pool is the runtime's own. */
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    return driver_status(cudaDeviceGetDefaultMemPool(pool, device));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return driver_status(cudaDeviceGetMemPool(pool, device));
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return driver_status(cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return driver_status(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream)
{
    void *pointer = NULL;
    if (!address || !bytes) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t status = cudaMallocFromPoolAsync(&pointer, bytes, pool, stream);
    return allocated(status, pointer, bytes, address);
}

CUresult cuMemFree(CUdeviceptr address)
{
    driver_memory_forget(address);
    return driver_status(cudaFree(HOST(address)));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    driver_memory_forget(address);
    return driver_status(cudaFreeAsync(HOST(address), stream));
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    cudaError_t status = cudaHostAlloc(pointer, bytes, flags);
    return allocated(status, pointer ? *pointer : NULL, bytes, NULL);
}

CUresult cuMemAllocHost(void **pointer, size_t bytes)
{
    return cuMemHostAlloc(pointer, bytes, 0);
}

CUresult cuMemFreeHost(void *pointer)
{
    driver_memory_forget((uintptr_t)pointer);
    return driver_status(cudaFreeHost(pointer));
}

CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    return driver_status(cudaHostRegister(pointer, bytes, flags));
}

CUresult cuMemHostUnregister(void *pointer)
{
    return driver_status(cudaHostUnregister(pointer));
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer, unsigned flags)
{
    void *device = NULL;
    if (!address) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t status = cudaHostGetDevicePointer(&device, pointer, flags);
    *address = (uintptr_t)device;
    return driver_status(status);
}

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    return driver_status(cudaHostGetFlags(flags, pointer));
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    return driver_status(cudaMemGetInfo(free_bytes, total_bytes));
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    return driver_memory_find(address, base, bytes) ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

/* The attributes that packages ask for; others are not supported. */
CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct cudaPointerAttributes known;
    cudaError_t status = cudaPointerGetAttributes(&known, HOST(address));
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (status != cudaSuccess) return driver_status(status);
    if (known.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return cuDevicePrimaryCtxRetain(value, 0);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value =
            known.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = (uintptr_t)known.devicePointer;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)value = known.hostPointer;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(int *)value = known.type == cudaMemoryTypeManaged;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = known.device;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return driver_status(cudaMemcpy(HOST(to), from, bytes, cudaMemcpyHostToDevice));
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return driver_status(cudaMemcpy(to, HOST(from), bytes, cudaMemcpyDeviceToHost));
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return driver_status(cudaMemcpy(HOST(to), HOST(from), bytes, cudaMemcpyDeviceToDevice));
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return driver_status(cudaMemcpy(HOST(to), HOST(from), bytes, cudaMemcpyDefault));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return driver_status(cudaMemcpyAsync(HOST(to), from, bytes, cudaMemcpyHostToDevice, stream));
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return driver_status(cudaMemcpyAsync(to, HOST(from), bytes, cudaMemcpyDeviceToHost, stream));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return driver_status(
        cudaMemcpyAsync(HOST(to), HOST(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return driver_status(cudaMemcpyAsync(HOST(to), HOST(from), bytes, cudaMemcpyDefault, stream));
}

/* One side of a copy of a rectangle; arrays are not supported. */
static const char *side(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y,
                        size_t pitch)
{
    if (type == CU_MEMORYTYPE_ARRAY) return NULL;
    const char *at = type == CU_MEMORYTYPE_HOST ? host : HOST(device);
    return at + y * pitch + x;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *copy, int is_async, CUstream stream)
{
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    size_t from_pitch = copy->srcPitch ? copy->srcPitch : copy->WidthInBytes;
    size_t to_pitch = copy->dstPitch ? copy->dstPitch : copy->WidthInBytes;
    const char *from = side(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes,
                            copy->srcY, from_pitch);
    const char *to = side(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes,
                          copy->dstY, to_pitch);
    if (!from || !to) return CUDA_ERROR_NOT_SUPPORTED;
    return driver_status(
        is_async ? cudaMemcpy2DAsync((void *)(uintptr_t)to, to_pitch, from, from_pitch,
                                     copy->WidthInBytes, copy->Height, cudaMemcpyDefault, stream)
                 : cudaMemcpy2D((void *)(uintptr_t)to, to_pitch, from, from_pitch,
                                copy->WidthInBytes, copy->Height, cudaMemcpyDefault));
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(copy, 0, NULL);
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(copy, 0, NULL);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return copy_2d(copy, 1, stream);
}

/* ---- fills ----------------------------------------------------------------------------------- */

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream)
{
    return driver_status(cudaMemsetAsync(HOST(to), value, n, stream));
}

/* Elements of several bytes: one fill if all bytes are the same, else a copy. */
static CUresult fill(CUdeviceptr to, const void *element, size_t bytes, size_t n, CUstream stream)
{
    const unsigned char *byte = element;
    size_t same = 1;
    while (same < bytes && byte[same] == byte[0])
        same++;
    if (same == bytes) return cuMemsetD8Async(to, byte[0], n * bytes, stream);
    char *host = malloc(n * bytes + 1);
    if (!host) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++)
        memcpy(host + i * bytes, element, bytes);
    CUresult status = cuMemcpyHtoDAsync(to, host, n * bytes, stream);
    free(host);
    return status;
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream stream)
{
    return fill(to, &value, sizeof value, n, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream)
{
    return fill(to, &value, sizeof value, n, stream);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t n)
{
    return cuMemsetD8Async(to, value, n, NULL);
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t n)
{
    return cuMemsetD16Async(to, value, n, NULL);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t n)
{
    return cuMemsetD32Async(to, value, n, NULL);
}
