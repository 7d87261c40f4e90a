/* The driver's functions that a program can call or get by name: encoding of tensor maps.  The
 * driver itself is not linked. */
#include <cuda.h>
#include <string.h>

#include "common/cuda/runtime/runtime_state.h"

/* A toolkit before 12.5 does not declare this one. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned int version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found);

/* cudaError_t has the same numbers as the driver for all statuses that a device can return here. */
static CUresult map_request(const char *api, TensorMapRequest *request, const cuuint64_t *dims,
                            const cuuint64_t *strides, const cuuint32_t *steps, CUtensorMap *map)
{
    DeviceCall call = {.kind = CALL_TENSOR_MAP, .data = request, .data_bytes = sizeof *request};
    DeviceReply reply;
    if (!map || (uintptr_t)map % 64 || !dims || !steps || request->rank < 1 ||
        request->rank > TENSOR_MAP_RANK || (!strides && request->rank > 1))
        return (CUresult)runtime_fail(
            api, DEVICE_INVALID_VALUE,
            "the map must be at a multiple of 64 bytes, the rank %u 1 to %d, no list NULL",
            request->rank, TENSOR_MAP_RANK);
    for (uint32_t i = 0; i < request->rank; i++) {
        request->dims[i] = dims[i];
        request->element_strides[i] = steps[i];
        if (i) request->strides[i - 1] = strides[i - 1];
    }
    runtime_lock();
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status == cudaSuccess && reply.data_bytes == sizeof *map)
        memcpy(map, reply.data, sizeof *map);
    else if (status == cudaSuccess)
        status = runtime_fail(api, DEVICE_UNKNOWN, "no tensor map came back");
    runtime_unlock();
    return (CUresult)status;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                        void *address, const cuuint64_t *dims,
                                        const cuuint64_t *strides, const cuuint32_t *box,
                                        const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle,
                                        CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill)
{
    TensorMapRequest request = {.kind = TENSOR_MAP_TILED,
                                .type = (uint32_t)type,
                                .rank = rank,
                                .address = (uintptr_t)address,
                                .interleave = (uint32_t)interleave,
                                .swizzle = (uint32_t)swizzle,
                                .promotion = (uint32_t)promotion,
                                .fill = (uint32_t)fill};
    for (uint32_t i = 0; box && i < rank && i < TENSOR_MAP_RANK; i++)
        request.box[i] = box[i];
    return map_request("cuTensorMapEncodeTiled", &request, dims, strides, steps, map);
}

CUresult CUDAAPI cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type,
                                         cuuint32_t rank, void *address, const cuuint64_t *dims,
                                         const cuuint64_t *strides, const int *lower,
                                         const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                         const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle,
                                         CUtensorMapL2promotion promotion,
                                         CUtensorMapFloatOOBfill fill)
{
    TensorMapRequest request = {.kind = TENSOR_MAP_IM2COL,
                                .type = (uint32_t)type,
                                .rank = rank,
                                .address = (uintptr_t)address,
                                .interleave = (uint32_t)interleave,
                                .swizzle = (uint32_t)swizzle,
                                .promotion = (uint32_t)promotion,
                                .fill = (uint32_t)fill,
                                .channels = channels,
                                .pixels = pixels};
    for (uint32_t i = 0; lower && upper && i + 2 < rank && i + 2 < TENSOR_MAP_RANK; i++) {
        request.lower[i] = lower[i];
        request.upper[i] = upper[i];
    }
    return map_request("cuTensorMapEncodeIm2col", &request, dims, strides, steps, map);
}

/* A function pointer as the address that CUDA returns. */
#define ADDRESS(function) ((void *)(uintptr_t)(function))

static cudaError_t entry_find(const char *api, const char *symbol, void **function,
                              enum cudaDriverEntryPointQueryResult *found)
{
    if (!symbol || !function)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "the name or the pointer is NULL");
    *function = !strcmp(symbol, "cuTensorMapEncodeTiled")    ? ADDRESS(cuTensorMapEncodeTiled)
                : !strcmp(symbol, "cuTensorMapEncodeIm2col") ? ADDRESS(cuTensorMapEncodeIm2col)
                                                             : NULL;
    if (found)
        *found = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    if (*function || found) return cudaSuccess;
    return runtime_fail(api, DEVICE_NOT_FOUND,
                        "%.80s is not here: of the driver there are cuTensorMapEncodeTiled and "
                        "cuTensorMapEncodeIm2col",
                        symbol);
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found)
{
    (void)flags;
    return entry_find("cudaGetDriverEntryPoint", symbol, function, found);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned int version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
    (void)version, (void)flags;
    return entry_find("cudaGetDriverEntryPointByVersion", symbol, function, found);
}
