/* Arrays, textures and surfaces, on the simulated GPU.
 *
 * An array is pitched device memory.  An object is a description in device memory that the
 * simulated GPU reads at each access (texture.h); its handle is where that lies. */
#include <stdlib.h>
#include <string.h>

#include "common/base/texture.h"
#include "common/cuda/runtime/runtime_graph.h"

/* ---- formats -------------------------------------------------------------------------------- */

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* Of what is supported: 1, 2 or 4 channels of 8, 16 or 32 bits each. */
static cudaError_t format_check(const char *api, const struct cudaChannelFormatDesc *format,
                                Texture *texture)
{
    const int bits[4] = {format->x, format->y, format->z, format->w};
    uint32_t channels = 0, kind = (uint32_t)format->f;
    while (channels < 4 && bits[channels])
        channels++;
    int fine = (bits[0] == 8 || bits[0] == 16 || bits[0] == 32) &&
               (channels == 1 || channels == 2 || channels == 4) && kind <= TEXEL_FLOAT &&
               !(kind == TEXEL_FLOAT && bits[0] == 8);
    for (uint32_t i = 1; i < 4; i++)
        fine = fine && bits[i] == (i < channels ? bits[0] : 0);
    if (!fine)
        return runtime_fail(api, (DeviceStatus)cudaErrorInvalidChannelDescriptor,
                            "channels of %d, %d, %d and %d bits, kind %u", bits[0], bits[1],
                            bits[2], bits[3], kind);
    texture->channels = channels, texture->channel_bytes = (uint32_t)bits[0] / 8;
    texture->kind = kind;
    return cudaSuccess;
}

/* ---- arrays --------------------------------------------------------------------------------- */

static cudaError_t array_check(const char *api, cudaArray_const_t array)
{
    if (array) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "the array is NULL");
}

cudaError_t cudaMalloc3DArray(cudaArray_t *made, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, unsigned int flags)
{
    static const char api[] = "cudaMallocArray";
    Texture texture;
    if (!made || !format || !extent.width)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "an array of width %zu", extent.width);
    if (flags & ~(unsigned)(cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather))
        return runtime_fail(api, DEVICE_NOT_SUPPORTED, "arrays with flags 0x%x", flags);
    cudaError_t status = format_check(api, format, &texture);
    if (status != cudaSuccess) return status;
    cudaArray_t array = calloc(1, sizeof *array);
    if (!array) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    *array = (struct cudaArray){.format = *format, .extent = extent, .flags = flags};
    array->texel = texture.channels * texture.channel_bytes;
    array->rows = extent.height ? extent.height : 1;
    array->slices = extent.depth ? extent.depth : 1;
    if (array->slices > SIZE_MAX / array->rows || extent.width > SIZE_MAX / 16)
        status = runtime_fail(api, DEVICE_OUT_OF_MEMORY, "too large an array");
    else
        status = cudaMallocPitch(&array->memory, &array->pitch, extent.width * array->texel,
                                 array->rows * array->slices);
    if (status != cudaSuccess) {
        free(array);
        return status;
    }
    *made = array;
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *made, const struct cudaChannelFormatDesc *format,
                            size_t width, size_t height, unsigned int flags)
{
    return cudaMalloc3DArray(made, format, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (!array) return cudaSuccess;
    cudaError_t status = cudaFree(array->memory);
    free(array);
    return status;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array)
{
    cudaError_t status = array_check("cudaArrayGetInfo", array);
    if (status != cudaSuccess) return status;
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array)
{
    cudaError_t status = array_check("cudaGetChannelDesc", array);
    if (status == cudaSuccess && format) *format = array->format;
    return status;
}

static void *array_at(cudaArray_const_t array, size_t x, size_t y)
{
    return (char *)array->memory + y * array->pitch + x;
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    static const char api[] = "cudaMemcpy2DToArray";
    cudaError_t status = array_check(api, dst);
    if (status != cudaSuccess) return status;
    return cudaMemcpy2DAsync(array_at(dst, x, y), dst->pitch, src, pitch, width, height, kind,
                             stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return cudaMemcpy2DToArrayAsync(dst, x, y, src, pitch, width, height, kind, NULL);
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, cudaArray_const_t src, size_t x,
                                  size_t y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    cudaError_t status = array_check("cudaMemcpy2DFromArray", src);
    if (status != cudaSuccess) return status;
    return cudaMemcpy2D(dst, pitch, array_at(src, x, y), src->pitch, width, height, kind);
}

/* Bytes that fill whole rows, and some of one more. */
cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    static const char api[] = "cudaMemcpyToArray";
    cudaError_t status = array_check(api, dst);
    if (status != cudaSuccess) return status;
    size_t row = dst->extent.width * dst->texel, rows = bytes / row, rest = bytes % row;
    if (x && (rows || x + bytes > row))
        return runtime_fail(api, DEVICE_NOT_SUPPORTED, "several rows from within one");
    status = cudaMemcpy2DToArray(dst, x, y, src, row, row, rows, kind);
    if (status != cudaSuccess || !rest) return status;
    return cudaMemcpy2DToArray(dst, x, y + rows, (const char *)src + rows * row, row, rest, 1,
                               kind);
}

/* ---- objects -------------------------------------------------------------------------------- */

static cudaError_t resource_describe(const char *api, const struct cudaResourceDesc *from,
                                     Texture *to)
{
    const struct cudaChannelFormatDesc *format;
    *to = (Texture){.magic = TEXTURE_MAGIC, .extent = {1, 1, 1}};
    switch (from->resType) {
    case cudaResourceTypeArray: {
        cudaArray_const_t array = from->res.array.array;
        if (!array) return array_check(api, array);
        to->address = (uintptr_t)array->memory, to->pitch = array->pitch;
        to->slice = array->pitch * array->rows;
        to->extent[0] = (uint32_t)array->extent.width, to->extent[1] = (uint32_t)array->rows;
        to->extent[2] = (uint32_t)array->slices;
        format = &array->format;
        return format_check(api, format, to);
    }
    case cudaResourceTypeLinear: {
        cudaError_t status = format_check(api, &from->res.linear.desc, to);
        if (status != cudaSuccess) return status;
        to->address = (uintptr_t)from->res.linear.devPtr, to->linear_memory = 1;
        to->extent[0] =
            (uint32_t)(from->res.linear.sizeInBytes / (to->channels * to->channel_bytes));
        return cudaSuccess;
    }
    case cudaResourceTypePitch2D:
        to->address = (uintptr_t)from->res.pitch2D.devPtr;
        to->pitch = from->res.pitch2D.pitchInBytes;
        to->extent[0] = (uint32_t)from->res.pitch2D.width;
        to->extent[1] = (uint32_t)from->res.pitch2D.height;
        return format_check(api, &from->res.pitch2D.desc, to);
    default:
        return runtime_fail(api, DEVICE_NOT_SUPPORTED, "mipmapped arrays are not supported");
    }
}

static cudaError_t object_create(const char *api, unsigned long long *object, const Texture *made)
{
    void *memory;
    cudaError_t status;
    const DeviceProperties *properties = runtime_properties(api, &status);
    if (!properties) return status;
    if (properties->engine != ENGINE_SIM)
        return runtime_fail(api, DEVICE_NOT_SUPPORTED,
                            "textures and surfaces are for the simulated GPU only");
    status = cudaMalloc(&memory, sizeof *made);
    if (status == cudaSuccess)
        status = cudaMemcpy(memory, made, sizeof *made, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) *object = (uintptr_t)memory;
    return status;
}

static cudaError_t reading_describe(const char *api, const struct cudaTextureDesc *from,
                                    Texture *to)
{
    to->filtered = from->filterMode == cudaFilterModeLinear;
    to->by_fraction = from->normalizedCoords != 0;
    to->read_as_fraction = from->readMode == cudaReadModeNormalizedFloat && to->kind != TEXEL_FLOAT;
    for (int i = 0; i < 3; i++)
        to->mode[i] = from->addressMode[i];
    memcpy(to->border, from->borderColor, sizeof to->border);
    if (from->sRGB) return runtime_fail(api, DEVICE_NOT_SUPPORTED, "sRGB textures");
    if (to->read_as_fraction && to->channel_bytes == 4)
        return runtime_fail(api, (DeviceStatus)cudaErrorInvalidNormSetting,
                            "integers of 32 bits cannot be read as fractions");
    if (to->filtered && to->kind != TEXEL_FLOAT && !to->read_as_fraction)
        return runtime_fail(api, (DeviceStatus)cudaErrorInvalidFilterSetting,
                            "integers cannot be filtered");
    return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *reading,
                                    const struct cudaResourceViewDesc *view)
{
    static const char api[] = "cudaCreateTextureObject";
    Texture texture;
    if (!object || !resource || !reading)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "an argument is NULL");
    if (view) return runtime_fail(api, DEVICE_NOT_SUPPORTED, "views of resources");
    cudaError_t status = resource_describe(api, resource, &texture);
    if (status == cudaSuccess) status = reading_describe(api, reading, &texture);
    return status == cudaSuccess ? object_create(api, object, &texture) : status;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
                                    const struct cudaResourceDesc *resource)
{
    static const char api[] = "cudaCreateSurfaceObject";
    Texture texture;
    if (!object || !resource || resource->resType != cudaResourceTypeArray)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "a surface is of an array");
    cudaError_t status = resource_describe(api, resource, &texture);
    return status == cudaSuccess ? object_create(api, object, &texture) : status;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    return cudaFree((void *)(uintptr_t)object);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    return cudaFree((void *)(uintptr_t)object);
}
