// Rarely used kinds of textures: one digest each of 128 reads.  check.sh has an H200's digests.
#include <cstdio>
#include <vector>

enum { READS = 128 };

static void must(cudaError_t status, const char *what)
{
    if (status == cudaSuccess) return;
    printf("not ok %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}
#define MUST(call) must(call, #call)

__global__ void line(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex1D<float>(t, threadIdx.x * 0.23f - 3);
}

__device__ float3 direction(int i)
{
    return make_float3((i * 37 % 64) / 32.0f - 0.97f, (i * 11 % 64) / 32.0f - 0.93f,
                       (i * 23 % 64) / 32.0f - 1.01f);
}

__global__ void cube(cudaTextureObject_t t, float *out)
{
    float3 d = direction(threadIdx.x);
    out[threadIdx.x] = texCubemap<float>(t, d.x, d.y, d.z);
}

__global__ void cubes(cudaTextureObject_t t, float *out)
{
    float3 d = direction(threadIdx.x);
    out[threadIdx.x] = texCubemapLayered<float>(t, d.x, d.y, d.z, threadIdx.x & 1);
}

__global__ void four(cudaTextureObject_t t, float4 *out)
{
    int i = threadIdx.x;
    out[i] = i & 1 ? tex2Dgather<float4>(t, i * 0.13f - 1, i * 0.09f, 0)
                   : tex2Dgather<float4>(t, i * 0.11f, i * 0.07f - 0.5f, 1);
}

__global__ void level(cudaTextureObject_t t, float *out)
{
    int i = threadIdx.x;
    out[i] = tex2DLod<float>(t, (i % 16) / 16.0f + 0.01f, (i / 16) / 8.0f, (i % 7) * 0.5f);
}

__global__ void gradient(cudaTextureObject_t t, float *out)
{
    int i = threadIdx.x;
    float part = (i % 5) / 20.0f;
    out[i] = tex2DGrad<float>(t, (i % 16) / 16.0f + 0.01f, (i / 16) / 8.0f, make_float2(part, 0),
                              make_float2(0, part));
}

static cudaTextureDesc reading(cudaTextureFilterMode filter, cudaTextureAddressMode mode, int norm)
{
    cudaTextureDesc how = {};
    for (auto &axis : how.addressMode)
        axis = mode;
    how.filterMode = filter;
    how.normalizedCoords = norm;
    how.maxMipmapLevelClamp = 4;
    return how;
}

template <class K, class T>
static void show(const char *name, K kernel, const cudaResourceDesc &from,
                 const cudaTextureDesc &how, T *out)
{
    cudaTextureObject_t texture;
    std::vector<T> host(READS);
    unsigned long long digest = 14695981039346656037ull;
    MUST(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    kernel<<<1, READS>>>(texture, out);
    MUST(cudaMemcpy(host.data(), out, READS * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < READS * sizeof(T); i++)
        digest = (digest ^ ((unsigned char *)host.data())[i]) * 1099511628211ull;
    printf("%s %016llx\n", name, digest);
    MUST(cudaDestroyTextureObject(texture));
}

static std::vector<float> source;
static const cudaChannelFormatDesc FLOATS = cudaCreateChannelDesc<float>();

static cudaResourceDesc array(size_t width, size_t height, size_t depth, unsigned flags)
{
    cudaResourceDesc from = {};
    size_t rows = height ? height : 1, slices = depth ? depth : 1;
    MUST(cudaMalloc3DArray(&from.res.array.array, &FLOATS, make_cudaExtent(width, height, depth),
                           flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(source.data(), width * 4, width, rows);
    copy.dstArray = from.res.array.array;
    copy.extent = make_cudaExtent(width, rows, slices);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    return from;
}

static cudaResourceDesc mipmap()
{
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypeMipmappedArray;
    cudaMipmappedArray_t &made = from.res.mipmap.mipmap;
    MUST(cudaMallocMipmappedArray(&made, &FLOATS, make_cudaExtent(16, 16, 0), 5));
    for (int l = 0, n = 16; n; l++, n /= 2) {
        cudaArray_t one;
        MUST(cudaGetMipmappedArrayLevel(&one, made, l));
        MUST(cudaMemcpy2DToArray(one, 0, 0, source.data() + l * 300, n * 4, n * 4, n,
                                 cudaMemcpyHostToDevice));
    }
    return from;
}

int main()
{
    const auto POINT = cudaFilterModePoint, LINEAR = cudaFilterModeLinear;
    const auto CLAMP = cudaAddressModeClamp, BORDER = cudaAddressModeBorder;
    float *out;
    MUST(cudaMalloc(&out, READS * 16));
    for (size_t i = 0; i < 16384; i++)
        source.push_back((float)((i * 2654435761u >> 12) & 1023) / 16);
    cudaResourceDesc from = array(24, 0, 0, 0);
    show("line", line, from, reading(LINEAR, BORDER, 0), out);
    MUST(cudaFreeArray(from.res.array.array));
    from = array(16, 12, 0, cudaArrayTextureGather);
    show("four", four, from, reading(POINT, CLAMP, 0), (float4 *)out);
    MUST(cudaFreeArray(from.res.array.array));
    from = array(8, 8, 6, cudaArrayCubemap);
    show("cube", cube, from, reading(POINT, CLAMP, 1), out);
    show("smooth-cube", cube, from, reading(LINEAR, CLAMP, 1), out);
    MUST(cudaFreeArray(from.res.array.array));
    from = array(8, 8, 12, cudaArrayCubemap | cudaArrayLayered);
    show("cubes", cubes, from, reading(POINT, CLAMP, 1), out);
    MUST(cudaFreeArray(from.res.array.array));
    from = mipmap();
    show("level", level, from, reading(POINT, CLAMP, 1), out);
    show("gradient", gradient, from, reading(POINT, CLAMP, 1), out);
    MUST(cudaFreeMipmappedArray(from.res.mipmap.mipmap));
    MUST(cudaFree(out));
}
