/* textures.cu - reads through the texture units, and surfaces.
 *
 * Chains of one warp measure the latency of a read, and 64 warps per SM the throughput. Images
 * combine both as programs do. */
#include <cuda_fp16.h>

#include "common/simulator/validation/sets/entries.cuh"

enum { SIDE = 1024, EDGE = 128, TAPS = 17 };

static float *source, *target; /* 4 M floats each */

/* ---- one kind of read each ------------------------------------------------------------------ */

enum Kind { WORD, POINT, LINEAR, QUAD, VOLUME, VOLUME_LINEAR, GATHER, LAYERED, LEVEL };

/* The address of a read depends on the read before it: `last` is always zero. */
template <int KIND>
static __device__ float read(cudaTextureObject_t t, float x, float y, float last)
{
    x += last;
    if (KIND == WORD) return tex1Dfetch<float>(t, (int)x);
    if (KIND == QUAD) {
        float4 q = tex2D<float4>(t, x, y);
        return q.x + q.y + q.z + q.w;
    }
    if (KIND == VOLUME || KIND == VOLUME_LINEAR) return tex3D<float>(t, x, y, 1.25f);
    if (KIND == GATHER) {
        float4 q = tex2Dgather<float4>(t, x, y, 0);
        return q.x + q.y + q.z + q.w;
    }
    if (KIND == LAYERED) return tex2DLayered<float>(t, x, y, 1);
    if (KIND == LEVEL) return tex2DLod<float>(t, x, y, 0.0f);
    return tex2D<float>(t, x, y);
}

template <int KIND>
__global__ void chain_read(cudaTextureObject_t t, float *__restrict__ to, float zero, int steps)
{
    float x = (float)(threadIdx.x % 32) + 0.25f, y = (float)(threadIdx.x / 32) + 0.25f, last = 0.0f;
    for (int i = 0; i < steps; i++)
        last = read<KIND>(t, x, y, last) * zero;
    to[blockIdx.x * blockDim.x + threadIdx.x] = last;
}

/* Reads that need nothing of one another; all of them fit the L1. */
template <int KIND>
__global__ void many_read(cudaTextureObject_t t, float *__restrict__ to, int steps)
{
    float x = (float)(threadIdx.x % 32) + 0.25f, y = (float)(threadIdx.x / 32) + 0.25f, sum = 0.0f;
#pragma unroll 4
    for (int i = 0; i < steps; i++)
        sum += KIND == WORD ? read<KIND>(t, x + 32.0f * (float)i, y, 0.0f)
                            : read<KIND>(t, x, y + (float)i, 0.0f);
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* A table of `words` in linear memory, read at random. */
__global__ void table_read(cudaTextureObject_t t, float *__restrict__ to, uint32_t words, int steps)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, u = i * 2654435761u;
    float sum = 0.0f;
    for (int k = 0; k < steps; k++, u = u * 1664525u + 1013904223u)
        sum += tex1Dfetch<float>(t, (int)(u % words));
    to[i] = sum;
}

/* ---- images ------------------------------------------------------------------------------- */

__global__ void picture_copy(cudaTextureObject_t t, float *__restrict__ to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) to[y * n + x] = tex2D<float>(t, (float)x + 0.5f, (float)y + 0.5f);
}

/* Rotated by an angle: neighbours in a warp are on a slanted line. */
__global__ void picture_turn(cudaTextureObject_t t, float *__restrict__ to, int n, float s, float c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (float)x - (float)n / 2, v = (float)y - (float)n / 2;
    to[y * n + x] = tex2D<float>(t, u * c - v * s + (float)n / 2, v * c + u * s + (float)n / 2);
}

__constant__ float tap[TAPS];

/* One half of a separable filter: along rows, or along columns. */
template <int DOWN>
__global__ void picture_filter(cudaTextureObject_t t, float *__restrict__ to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < TAPS; k++) {
        float away = (float)(k - TAPS / 2) + 0.5f;
        sum += tap[k] *
               tex2D<float>(t, (float)x + (DOWN ? 0.5f : away), (float)y + (DOWN ? away : 0.5f));
    }
    to[y * n + x] = sum;
}

/* Weights by distance and by likeness, over five times five. */
__global__ void picture_bilateral(cudaTextureObject_t t, float *__restrict__ to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float centre = tex2D<float>(t, (float)x + 0.5f, (float)y + 0.5f), sum = 0.0f, all = 0.0f;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            float one = tex2D<float>(t, (float)(x + i) + 0.5f, (float)(y + j) + 0.5f);
            float weight = __expf(-(one - centre) * (one - centre) - (float)(i * i + j * j) * 0.1f);
            sum += weight * one, all += weight;
        }
    to[y * n + x] = sum / all;
}

/* Bytes of four channels, mixed between four texels and read as fractions. */
__global__ void picture_half(cudaTextureObject_t t, float *__restrict__ to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float4 q = tex2D<float4>(t, 2.0f * (float)x + 1.0f, 2.0f * (float)y + 1.0f);
    to[y * n + x] = 0.3f * q.x + 0.6f * q.y + 0.1f * q.z;
}

/* A ray through a volume for each pixel. */
__global__ void volume_march(cudaTextureObject_t t, float *__restrict__ to, int n, int steps)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f, through = 1.0f;
    for (int i = 0; i < steps; i++) {
        float a =
            tex3D<float>(t, (float)x / n * EDGE, (float)y / n * EDGE, (float)i * EDGE / steps);
        sum += through * a, through *= 1.0f - 0.01f * a;
    }
    to[y * n + x] = sum;
}

/* ---- surfaces ------------------------------------------------------------------------------- */

__global__ void surface_fill(cudaSurfaceObject_t s, const float *__restrict__ from, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    surf2Dwrite(from[y * n + x], s, x * (int)sizeof(float), y);
}

__global__ void surface_twice(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float v = surf2Dread<float>(from, x * (int)sizeof(float), y);
    surf2Dwrite(2.0f * v, to, x * (int)sizeof(float), y);
}

/* ---- textures that they read ----------------------------------------------------------------- */

static cudaTextureObject_t texture_of(cudaResourceDesc resource, cudaTextureFilterMode filter,
                                      cudaTextureReadMode mode)
{
    cudaTextureDesc how = {};
    cudaTextureObject_t texture = 0;
    how.filterMode = filter, how.readMode = mode;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    return texture;
}

static cudaResourceDesc words_of(float *memory, size_t words)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = words * sizeof(float);
    return resource;
}

template <class T> static cudaResourceDesc array_of(int w, int h, int d, unsigned flags)
{
    cudaResourceDesc resource = {};
    cudaChannelFormatDesc form = cudaCreateChannelDesc<T>();
    cudaMemcpy3DParms copy = {};
    copy.extent = make_cudaExtent((size_t)w, (size_t)h, (size_t)(d ? d : 1));
    copy.srcPtr = make_cudaPitchedPtr(source, w * sizeof(T), (size_t)w, (size_t)h);
    copy.kind = cudaMemcpyDeviceToDevice;
    resource.resType = cudaResourceTypeArray;
    cudaMalloc3DArray(&resource.res.array.array, &form,
                      make_cudaExtent((size_t)w, (size_t)h, (size_t)d), flags);
    copy.dstArray = resource.res.array.array;
    cudaMemcpy3D(&copy);
    return resource;
}

#define F(family, name, ...) ENTER(FIT, family, name, __VA_ARGS__)
#define H(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

static cudaTextureObject_t words, point, linear, quad, bytes, volume, volume_linear, layer,
    gathered;
static cudaSurfaceObject_t from, onto;

static void textures_make()
{
    const cudaTextureReadMode as_is = cudaReadModeElementType;
    cudaResourceDesc picture = array_of<float>(SIDE, SIDE, 0, cudaArraySurfaceLoadStore);
    cudaResourceDesc other = array_of<float>(SIDE, SIDE, 0, cudaArraySurfaceLoadStore);
    cudaResourceDesc cells = array_of<float>(EDGE, EDGE, EDGE, 0);
    words = texture_of(words_of(source, 4 * MB), cudaFilterModePoint, as_is);
    point = texture_of(picture, cudaFilterModePoint, as_is);
    linear = texture_of(picture, cudaFilterModeLinear, as_is);
    quad = texture_of(array_of<float4>(SIDE / 2, SIDE / 2, 0, 0), cudaFilterModeLinear, as_is);
    bytes = texture_of(array_of<uchar4>(SIDE, SIDE, 0, 0), cudaFilterModeLinear,
                       cudaReadModeNormalizedFloat);
    volume = texture_of(cells, cudaFilterModePoint, as_is);
    volume_linear = texture_of(cells, cudaFilterModeLinear, as_is);
    layer = texture_of(array_of<float>(256, 256, 4, cudaArrayLayered), cudaFilterModeLinear, as_is);
    gathered = texture_of(array_of<float>(SIDE, SIDE, 0, cudaArrayTextureGather),
                          cudaFilterModePoint, as_is);
    cudaCreateSurfaceObject(&from, &picture);
    cudaCreateSurfaceObject(&onto, &other);
}

static void kinds()
{
    F("chain-read", "chain-word", chain_read<WORD><<<1, 32>>>(words, target, 0.0f, 256));
    F("chain-read", "chain-point", chain_read<POINT><<<1, 32>>>(point, target, 0.0f, 256));
    F("chain-read", "chain-linear", chain_read<LINEAR><<<1, 32>>>(linear, target, 0.0f, 256));
    H("chain-read", "chain-quad", chain_read<QUAD><<<1, 32>>>(quad, target, 0.0f, 256));
    H("chain-read", "chain-layer", chain_read<LAYERED><<<1, 32>>>(layer, target, 0.0f, 256));
    F("many-read", "many-word", many_read<WORD><<<SMS, 1024>>>(words, target, 32));
    F("many-read", "many-point", many_read<POINT><<<SMS, 1024>>>(point, target, 32));
    F("many-read", "many-linear", many_read<LINEAR><<<SMS, 1024>>>(linear, target, 32));
    F("many-read", "many-quad", many_read<QUAD><<<SMS, 1024>>>(quad, target, 32));
    F("many-read", "many-bytes", many_read<QUAD><<<SMS, 1024>>>(bytes, target, 32));
    F("many-read", "many-volume", many_read<VOLUME><<<SMS, 1024>>>(volume, target, 32));
    F("many-read", "many-volume-linear",
      many_read<VOLUME><<<SMS, 1024>>>(volume_linear, target, 32));
    F("many-read", "many-gather", many_read<GATHER><<<SMS, 1024>>>(gathered, target, 32));
    H("many-read", "many-layer", many_read<LAYERED><<<SMS, 1024>>>(layer, target, 32));
    H("many-read", "many-level", many_read<LEVEL><<<SMS, 1024>>>(linear, target, 32));
    F("table-read", "table-4KB", table_read<<<2 * SMS, 1024>>>(words, target, 1024, 16));
    F("table-read", "table-1MB", table_read<<<2 * SMS, 1024>>>(words, target, MB / 4, 16));
    H("table-read", "table-16MB", table_read<<<2 * SMS, 1024>>>(words, target, 4 * MB, 16));
}

static const dim3 square(16, 16), row(32, 8), squares(SIDE / 16, SIDE / 16),
    rows(SIDE / 32, SIDE / 8);

static void pictures()
{
    F("picture", "picture-copy", picture_copy<<<squares, square>>>(point, target, SIDE));
    F("picture", "picture-turn",
      picture_turn<<<squares, square>>>(linear, target, SIDE, 0.47942554f, 0.87758256f));
    F("picture", "picture-rows", picture_filter<0><<<rows, row>>>(point, target, SIDE));
    F("picture", "picture-bilateral", picture_bilateral<<<squares, square>>>(point, target, SIDE));
    F("surface", "surface-fill", surface_fill<<<squares, square>>>(onto, source, SIDE));
    H("picture", "picture-copy-rows", picture_copy<<<rows, row>>>(point, target, SIDE));
    H("picture", "picture-turn-far",
      picture_turn<<<squares, square>>>(linear, target, SIDE, 0.99749499f, 0.07073720f));
    H("picture", "picture-columns", picture_filter<1><<<rows, row>>>(point, target, SIDE));
    H("picture", "picture-half",
      picture_half<<<dim3(SIDE / 32, SIDE / 32), square>>>(bytes, target, SIDE / 2));
    H("volume", "volume-march",
      volume_march<<<dim3(16, 16), square>>>(volume_linear, target, 256, 64));
    H("surface", "surface-twice", surface_twice<<<squares, square>>>(from, onto));
}

__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    ENTER(FIT, "empty", "empty", empty_kernel<<<1, 32>>>());
    source = array_make(4 * MB), target = array_make(4 * MB);
    textures_make();
    kinds();
    pictures();
    return measure_close();
}
