/* cuda_texture_references.h - texture references, which CUDA 12 removed, as texture objects.
 *
 * A reference becomes a __managed__ variable that holds the texture object to which it is bound.
 * Therefore a kernel that fetches from it also loads the object's handle from global memory. */
#ifndef SIMULATE_CUDA_TEXTURE_REFERENCES_H
#define SIMULATE_CUDA_TEXTURE_REFERENCES_H

#include <cstring>
#include <type_traits>

template <class T, int DIMENSIONS = cudaTextureType1D,
          cudaTextureReadMode MODE = cudaReadModeElementType>
struct simulate_texture {
    cudaTextureObject_t object; /* 0: not bound */
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
};

/* The type that a fetch returns.  With cudaReadModeNormalizedFloat it has floats as components. */
template <class T, cudaTextureReadMode MODE> struct simulate_fetched {
    typedef T type;
};
template <class T> struct simulate_fetched<T, cudaReadModeNormalizedFloat> {
    template <class U> static auto floats(int) -> decltype((void)U().w, float4());
    template <class U> static auto floats(unsigned) -> decltype((void)U().y, float2());
    template <class U>
    static auto floats(...) ->
        typename std::conditional<std::is_arithmetic<U>::value, float, float1>::type;
    typedef decltype(floats<T>(0)) type;
};

#define SIMULATE_FETCHED typename simulate_fetched<T, MODE>::type

template <class T, cudaTextureReadMode MODE>
static __device__ inline SIMULATE_FETCHED tex1Dfetch(const simulate_texture<T, 1, MODE> &from,
                                                     int at)
{
    return tex1Dfetch<SIMULATE_FETCHED>(from.object, at);
}

template <class T, cudaTextureReadMode MODE>
static __device__ inline SIMULATE_FETCHED tex1D(const simulate_texture<T, 1, MODE> &from, float x)
{
    return tex1D<SIMULATE_FETCHED>(from.object, x);
}

template <class T, cudaTextureReadMode MODE>
static __device__ inline SIMULATE_FETCHED tex2D(const simulate_texture<T, 2, MODE> &from, float x,
                                                float y)
{
    return tex2D<SIMULATE_FETCHED>(from.object, x, y);
}

template <class T, cudaTextureReadMode MODE>
static __device__ inline SIMULATE_FETCHED tex3D(const simulate_texture<T, 3, MODE> &from, float x,
                                                float y, float z)
{
    return tex3D<SIMULATE_FETCHED>(from.object, x, y, z);
}

#undef SIMULATE_FETCHED

template <class T, int D, cudaTextureReadMode MODE>
static inline cudaError_t cudaUnbindTexture(simulate_texture<T, D, MODE> &reference)
{
    cudaTextureObject_t object = reference.object;
    reference.object = 0;
    return object ? cudaDestroyTextureObject(object) : cudaSuccess;
}

template <class T, int D, cudaTextureReadMode MODE>
static inline cudaError_t simulate_bind(simulate_texture<T, D, MODE> &reference,
                                        const cudaResourceDesc &resource)
{
    cudaTextureDesc how;
    cudaError_t status = cudaUnbindTexture(reference);
    std::memset(&how, 0, sizeof how);
    std::memcpy(how.addressMode, reference.addressMode, sizeof how.addressMode);
    how.filterMode = reference.filterMode;
    how.readMode = MODE;
    how.normalizedCoords = reference.normalized;
    cudaTextureObject_t object = 0;
    if (status == cudaSuccess) status = cudaCreateTextureObject(&object, &resource, &how, nullptr);
    reference.object = object;
    return status;
}

template <class T, cudaTextureReadMode MODE>
static inline cudaError_t cudaBindTexture(size_t *offset, simulate_texture<T, 1, MODE> &reference,
                                          const void *memory, const cudaChannelFormatDesc &format,
                                          size_t bytes)
{
    cudaResourceDesc resource;
    std::memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void *>(memory);
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = bytes;
    if (offset) *offset = 0;
    return simulate_bind(reference, resource);
}

template <class T, cudaTextureReadMode MODE>
static inline cudaError_t cudaBindTexture(size_t *offset, simulate_texture<T, 1, MODE> &reference,
                                          const void *memory, size_t bytes)
{
    return cudaBindTexture(offset, reference, memory, cudaCreateChannelDesc<T>(), bytes);
}

template <class T, cudaTextureReadMode MODE>
static inline cudaError_t cudaBindTexture2D(size_t *offset, simulate_texture<T, 2, MODE> &reference,
                                            const void *memory, const cudaChannelFormatDesc &format,
                                            size_t width, size_t height, size_t pitch)
{
    cudaResourceDesc resource;
    std::memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<void *>(memory);
    resource.res.pitch2D.desc = format;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    if (offset) *offset = 0;
    return simulate_bind(reference, resource);
}

template <class T, cudaTextureReadMode MODE>
static inline cudaError_t cudaBindTexture2D(size_t *offset, simulate_texture<T, 2, MODE> &reference,
                                            const void *memory, size_t width, size_t height,
                                            size_t pitch)
{
    return cudaBindTexture2D(offset, reference, memory, cudaCreateChannelDesc<T>(), width, height,
                             pitch);
}

template <class T, int D, cudaTextureReadMode MODE>
static inline cudaError_t cudaBindTextureToArray(simulate_texture<T, D, MODE> &reference,
                                                 cudaArray_const_t array)
{
    cudaResourceDesc resource;
    std::memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return simulate_bind(reference, resource);
}

/* The array has a format of its own. */
template <class T, int D, cudaTextureReadMode MODE>
static inline cudaError_t cudaBindTextureToArray(simulate_texture<T, D, MODE> &reference,
                                                 cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &)
{
    return cudaBindTextureToArray(reference, array);
}

#define texture __managed__ simulate_texture

#endif
