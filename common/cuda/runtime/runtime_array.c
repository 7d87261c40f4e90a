/* Arrays and mipmapped arrays: pitched device memory in elements of 1, 2 or 4 channels.
 *
 * The levels of a mipmapped array are contiguous in one allocation, as in texture_level, and each
 * of them can be used as an array of its own. */
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

/* Supported formats: 1, 2 or 4 channels of 8, 16 or 32 bits each. */
cudaError_t runtime_format_check(const char *api, const struct cudaChannelFormatDesc *format,
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

/* Checks extent, flags and format by CUDA's rules; computes the array's description. */
static cudaError_t array_describe(const char *api, const struct cudaChannelFormatDesc *format,
                                  struct cudaExtent extent, unsigned flags, struct cudaArray *array)
{
    Texture texture;
    const unsigned known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather | cudaArrayCubemap;
    if (!format || !extent.width)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "an array of width %zu", extent.width);
    if (flags & ~known)
        return runtime_fail(api, DEVICE_NOT_SUPPORTED, "arrays with flags 0x%x", flags);
    if (flags & cudaArrayCubemap &&
        (extent.width != extent.height || !extent.depth || extent.depth % 6 ||
         (extent.depth != 6 && !(flags & cudaArrayLayered))))
        return runtime_fail(
            api, DEVICE_INVALID_VALUE,
            "a cube map of %zu x %zu and %zu faces: it needs six square faces per layer",
            extent.width, extent.height, extent.depth);
    cudaError_t status = runtime_format_check(api, format, &texture);
    if (status != cudaSuccess) return status;
    *array = (struct cudaArray){.format = *format, .extent = extent, .flags = flags};
    array->texel = texture.channels * texture.channel_bytes;
    array->rows = extent.height ? extent.height : 1;
    array->slices = extent.depth ? extent.depth : 1;
    if (array->slices > SIZE_MAX / array->rows || extent.width > SIZE_MAX / 16)
        return runtime_fail(api, DEVICE_OUT_OF_MEMORY, "too large an array");
    return cudaSuccess;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *made, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, unsigned int flags)
{
    static const char api[] = "cudaMallocArray";
    struct cudaArray array;
    if (!made) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    cudaError_t status = array_describe(api, format, extent, flags, &array);
    if (status == cudaSuccess)
        status = cudaMallocPitch(&array.memory, &array.pitch, extent.width * array.texel,
                                 array.rows * array.slices);
    if (status != cudaSuccess) return status;
    *made = malloc(sizeof array);
    if (!*made) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    **made = array;
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
    if (array->is_level)
        return runtime_fail("cudaFreeArray", DEVICE_INVALID_VALUE,
                            "a level goes with its mipmapped array (cudaFreeMipmappedArray)");
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

/* ---- copies --------------------------------------------------------------------------------- */

/* Checks a rectangle within the array: bytes of rows. */
static cudaError_t rectangle_check(const char *api, cudaArray_const_t array, size_t x, size_t y,
                                   size_t width, size_t height)
{
    cudaError_t status = array_check(api, array);
    if (status != cudaSuccess) return status;
    size_t row = array->extent.width * array->texel, rows = array->rows * array->slices;
    if (x <= row && width <= row - x && y <= rows && height <= rows - y) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE,
                        "%zu rows of %zu bytes at (%zu, %zu) of an array of %zu rows of %zu bytes",
                        height, width, x, y, rows, row);
}

static void *array_at(cudaArray_const_t array, size_t x, size_t y)
{
    return (char *)array->memory + y * array->pitch + x;
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t status = rectangle_check("cudaMemcpy2DToArray", dst, x, y, width, height);
    if (status != cudaSuccess) return status;
    return cudaMemcpy2DAsync(array_at(dst, x, y), dst->pitch, src, pitch, width, height, kind,
                             stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return cudaMemcpy2DToArrayAsync(dst, x, y, src, pitch, width, height, kind, NULL);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, cudaArray_const_t src, size_t x,
                                       size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t status = rectangle_check("cudaMemcpy2DFromArray", src, x, y, width, height);
    if (status != cudaSuccess) return status;
    return cudaMemcpy2DAsync(dst, pitch, array_at(src, x, y), src->pitch, width, height, kind,
                             stream);
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, cudaArray_const_t src, size_t x,
                                  size_t y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return cudaMemcpy2DFromArrayAsync(dst, pitch, src, x, y, width, height, kind, NULL);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t x, size_t y, cudaArray_const_t src,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     enum cudaMemcpyKind kind)
{
    cudaError_t status =
        rectangle_check("cudaMemcpy2DArrayToArray", src, from_x, from_y, width, height);
    if (status != cudaSuccess) return status;
    return cudaMemcpy2DToArray(dst, x, y, array_at(src, from_x, from_y), src->pitch, width, height,
                               kind);
}

/* Copies whole rows, and a part of one more, between an array and contiguous memory. */
static cudaError_t lines_copy(const char *api, cudaArray_const_t array, size_t x, size_t y,
                              char *memory, size_t bytes, enum cudaMemcpyKind kind, int from_array,
                              cudaStream_t stream)
{
    cudaError_t status = array_check(api, array);
    if (status != cudaSuccess) return status;
    size_t row = array->extent.width * array->texel;
    while (bytes && status == cudaSuccess) {
        if (x >= row || y >= array->rows)
            return runtime_fail(api, DEVICE_INVALID_VALUE, "beyond the end of the array");
        size_t rows = x || bytes < row ? 1 : bytes / row, part = row - x;
        if (part > bytes) part = bytes;
        void *at = array_at(array, x, y);
        size_t pitch = array->pitch;
        status = from_array ? cudaMemcpy2DAsync(memory, part, at, pitch, part, rows, kind, stream)
                            : cudaMemcpy2DAsync(at, pitch, memory, part, part, rows, kind, stream);
        memory += part * rows, bytes -= part * rows;
        x = 0, y += rows;
    }
    return status;
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return lines_copy("cudaMemcpyToArray", dst, x, y, (char *)(uintptr_t)src, bytes, kind, 0,
                      stream);
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    return lines_copy("cudaMemcpyToArray", dst, x, y, (char *)(uintptr_t)src, bytes, kind, 0, NULL);
}

cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t x, size_t y,
                                     size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return lines_copy("cudaMemcpyFromArray", src, x, y, dst, bytes, kind, 1, stream);
}

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    return lines_copy("cudaMemcpyFromArray", src, x, y, dst, bytes, kind, 1, NULL);
}

/* ---- mipmaps -------------------------------------------------------------------------------- */

static uint32_t levels_most(struct cudaExtent extent, int layered)
{
    size_t largest = extent.width > extent.height ? extent.width : extent.height;
    uint32_t levels = 1;
    if (!layered && extent.depth > largest) largest = extent.depth;
    while (largest >>= 1)
        levels++;
    return levels;
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *made,
                                     const struct cudaChannelFormatDesc *format,
                                     struct cudaExtent extent, unsigned int levels,
                                     unsigned int flags)
{
    static const char api[] = "cudaMallocMipmappedArray";
    struct cudaArray first;
    if (!made) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    cudaError_t status = array_describe(api, format, extent, flags, &first);
    if (status != cudaSuccess) return status;
    int layered = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    uint32_t most = levels_most(extent, layered);
    if (levels < 1) levels = 1;
    if (levels > most) levels = most;
    cudaMipmappedArray_t mipmap = calloc(1, sizeof *mipmap + levels * sizeof first);
    if (!mipmap) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    mipmap->levels = levels;
    Texture at = {.extent = {(uint32_t)extent.width, (uint32_t)first.rows, (uint32_t)first.slices},
                  .layered = (uint32_t)layered,
                  .texel = (uint32_t)first.texel};
    Texture end = at;
    texture_level(&end, levels); /* one after the last */
    status = cudaMalloc(&mipmap->memory, end.address);
    if (status != cudaSuccess) {
        free(mipmap);
        return status;
    }
    for (uint32_t i = 0; i < levels; i++) {
        Texture level = at;
        texture_level(&level, i);
        mipmap->level[i] = first;
        mipmap->level[i].is_level = 1;
        mipmap->level[i].memory = (char *)mipmap->memory + level.address;
        mipmap->level[i].pitch = level.pitch;
        mipmap->level[i].rows = level.extent[1], mipmap->level[i].slices = level.extent[2];
        mipmap->level[i].extent =
            (struct cudaExtent){level.extent[0], extent.height ? level.extent[1] : 0,
                                extent.depth ? level.extent[2] : 0};
    }
    *made = mipmap;
    return cudaSuccess;
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap)
{
    if (!mipmap) return cudaSuccess;
    cudaError_t status = cudaFree(mipmap->memory);
    free(mipmap);
    return status;
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_const_t mipmap,
                                       unsigned int level)
{
    static const char api[] = "cudaGetMipmappedArrayLevel";
    if (!array || !mipmap || level >= mipmap->levels)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "level %u of %u", level,
                            mipmap ? mipmap->levels : 0);
    *array = (cudaArray_t)(uintptr_t)&mipmap->level[level];
    return cudaSuccess;
}
