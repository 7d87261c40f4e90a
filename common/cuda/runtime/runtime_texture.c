/* Textures and surfaces, on the simulated GPU.
 *
 * An object is a description in device memory that the simulated GPU reads at each access
 * (texture.h); its handle is the address. */
#include <stdlib.h>
#include <string.h>

#include "common/base/texture.h"
#include "common/cuda/runtime/runtime_graph.h"

/* ---- objects -------------------------------------------------------------------------------- */

/* As on an H200, driver 580.159: a cube's faces are not a depth. */
static void sizes_report(cudaArray_const_t array, Texture *to)
{
    enum { FACES = 6 };
    int layered = (array->flags & cudaArrayLayered) != 0,
        cube = (array->flags & cudaArrayCubemap) != 0;
    uint32_t slices = (uint32_t)array->slices, layers = cube ? slices / FACES : slices;
    if (!array->extent.height) {
        to->told[0] = layered ? layers : 1;
        return;
    }
    to->told[0] = (uint32_t)array->extent.height;
    to->told[1] = layered || (array->extent.depth && !cube) ? layers : 0;
}

static cudaError_t array_describe(const char *api, cudaArray_const_t array, Texture *to)
{
    to->address = (uintptr_t)array->memory, to->pitch = array->pitch;
    to->slice = array->pitch * array->rows;
    to->extent[0] = (uint32_t)array->extent.width, to->extent[1] = (uint32_t)array->rows;
    to->extent[2] = (uint32_t)array->slices;
    to->layered = (array->flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    sizes_report(array, to);
    to->texel = (uint32_t)array->texel;
    to->in_pieces = 1;
    return runtime_format_check(api, &array->format, to);
}

static cudaError_t resource_describe(const char *api, const struct cudaResourceDesc *from,
                                     Texture *to)
{
    *to = (Texture){.magic = TEXTURE_MAGIC, .extent = {1, 1, 1}, .levels = 1};
    switch (from->resType) {
    case cudaResourceTypeArray: {
        cudaArray_const_t array = from->res.array.array;
        if (!array) return runtime_fail(api, DEVICE_INVALID_VALUE, "the array is NULL");
        return array_describe(api, array, to);
    }
    case cudaResourceTypeMipmappedArray: {
        cudaMipmappedArray_const_t mipmap = from->res.mipmap.mipmap;
        if (!mipmap) return runtime_fail(api, DEVICE_INVALID_VALUE, "the mipmapped array is NULL");
        to->levels = mipmap->levels;
        return array_describe(api, &mipmap->level[0], to);
    }
    case cudaResourceTypeLinear: {
        cudaError_t status = runtime_format_check(api, &from->res.linear.desc, to);
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
        to->extent[1] = to->told[0] = (uint32_t)from->res.pitch2D.height;
        return runtime_format_check(api, &from->res.pitch2D.desc, to);
    default:
        return runtime_fail(api, DEVICE_INVALID_VALUE, "a resource of kind %d", from->resType);
    }
}

/* Description of an object, for queries. */
typedef struct Made {
    struct Made *next;
    unsigned long long object;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc reading;
} Made;

static Made *all_made;

static cudaError_t object_create(const char *api, const Texture *made, Made from,
                                 unsigned long long *object)
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
    Made *kept = status == cudaSuccess ? malloc(sizeof *kept) : NULL;
    if (!kept) return status;
    from.object = *object = (uintptr_t)memory;
    runtime_lock();
    from.next = all_made;
    *kept = from;
    all_made = kept;
    runtime_unlock();
    return cudaSuccess;
}

static cudaError_t object_destroy(unsigned long long object)
{
    runtime_lock();
    for (Made **link = &all_made; *link; link = &(*link)->next)
        if ((*link)->object == object) {
            Made *gone = *link;
            *link = gone->next;
            free(gone);
            break;
        }
    runtime_unlock();
    return cudaFree((void *)(uintptr_t)object);
}

static cudaError_t object_find(const char *api, unsigned long long object, const void *result,
                               Made *found)
{
    runtime_lock();
    const Made *at = all_made;
    while (at && at->object != object)
        at = at->next;
    if (at) *found = *at;
    runtime_unlock();
    if (at && result) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "no such object, or the result is NULL");
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
    to->levels_filtered = from->mipmapFilterMode == cudaFilterModeLinear;
    to->level_bias = from->mipmapLevelBias;
    to->level_least = from->minMipmapLevelClamp, to->level_most = from->maxMipmapLevelClamp;
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
    Made from = {.resource = *resource, .reading = *reading};
    return status == cudaSuccess ? object_create(api, &texture, from, object) : status;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
                                    const struct cudaResourceDesc *resource)
{
    static const char api[] = "cudaCreateSurfaceObject";
    Texture texture;
    if (!object || !resource || resource->resType != cudaResourceTypeArray)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "a surface is of an array");
    cudaError_t status = resource_describe(api, resource, &texture);
    Made from = {.resource = *resource};
    return status == cudaSuccess ? object_create(api, &texture, from, object) : status;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    return object_destroy(object);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    return object_destroy(object);
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaTextureObject_t object)
{
    Made made;
    cudaError_t status = object_find("cudaGetTextureObjectResourceDesc", object, resource, &made);
    if (status == cudaSuccess) *resource = made.resource;
    return status;
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *reading,
                                            cudaTextureObject_t object)
{
    Made made;
    cudaError_t status = object_find("cudaGetTextureObjectTextureDesc", object, reading, &made);
    if (status == cudaSuccess) *reading = made.reading;
    return status;
}

/* No object has a view. */
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view,
                                                 cudaTextureObject_t object)
{
    static const char api[] = "cudaGetTextureObjectResourceViewDesc";
    Made made;
    cudaError_t status = object_find(api, object, view, &made);
    if (status != cudaSuccess) return status;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "the object was made without a view");
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaSurfaceObject_t object)
{
    Made made;
    cudaError_t status = object_find("cudaGetSurfaceObjectResourceDesc", object, resource, &made);
    if (status == cudaSuccess) *resource = made.resource;
    return status;
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width,
                                                 const struct cudaChannelFormatDesc *format,
                                                 int device)
{
    static const char api[] = "cudaDeviceGetTexture1DLinearMaxWidth";
    enum { MOST_BYTES = 1 << 28 };
    if (!width || !format || device != 0)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "device %d, or an argument is NULL", device);
    Texture texture;
    cudaError_t status = runtime_format_check(api, format, &texture);
    if (status == cudaSuccess) *width = MOST_BYTES / (texture.channels * texture.channel_bytes);
    return status;
}
