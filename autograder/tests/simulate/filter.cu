// filter.cu - what a linear filter makes of texels at every weight, as sums over all bits of the
// results, which check.sh holds against an H200's.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { LINE = 4097, PLANE = 257, CUBE = 26, STEP = 10, CORNERS = 8 };

__global__ void line_read(cudaTextureObject_t texture, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < LINE) to[i] = tex1D<float>(texture, 0.5f + (float)i / 4096.0f);
}

__global__ void plane_read(cudaTextureObject_t texture, float *to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < PLANE)
        to[y * PLANE + x] =
            tex2D<float>(texture, 0.5f + (float)x / 256.0f, 0.5f + (float)y / 256.0f);
}

__global__ void cube_read(cudaTextureObject_t texture, float *to)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    to[(z * CUBE + y) * CUBE + x] =
        tex3D<float>(texture, 0.5f + (float)(x * STEP) / 256.0f, 0.5f + (float)(y * STEP) / 256.0f,
                     0.5f + (float)(z * STEP) / 256.0f);
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureReadMode mode)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = mode;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    return texture;
}

static void sum_print(const char *name, const float *from, int count)
{
    std::vector<uint32_t> bits(count);
    uint64_t sum = 0;
    cudaMemcpy(bits.data(), from, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (uint32_t b : bits)
        sum = sum * 1000003 + b;
    printf("%s %016llx\n", name, (unsigned long long)sum);
}

template <typename T>
static void line(const char *name, T left, T right, cudaChannelFormatDesc form,
                 cudaTextureReadMode mode)
{
    const T texels[] = {left, right};
    cudaArray_t array;
    float *to;
    cudaMallocArray(&array, &form, 2, 0);
    cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels, sizeof texels, 1,
                        cudaMemcpyHostToDevice);
    cudaMalloc(&to, LINE * sizeof *to);
    cudaTextureObject_t texture = texture_of(array, mode);
    line_read<<<(LINE + 127) / 128, 128>>>(texture, to);
    sum_print(name, to, LINE);
    cudaDestroyTextureObject(texture), cudaFreeArray(array), cudaFree(to);
}

static void plane()
{
    const unsigned char texels[] = {10, 200, 77, 255};
    cudaChannelFormatDesc form = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;
    float *to;
    cudaMallocArray(&array, &form, 2, 2);
    cudaMemcpy2DToArray(array, 0, 0, texels, 2, 2, 2, cudaMemcpyHostToDevice);
    cudaMalloc(&to, PLANE * PLANE * sizeof *to);
    cudaTextureObject_t texture = texture_of(array, cudaReadModeNormalizedFloat);
    plane_read<<<dim3(3, PLANE), 128>>>(texture, to);
    sum_print("plane", to, PLANE * PLANE);
    cudaDestroyTextureObject(texture), cudaFreeArray(array), cudaFree(to);
}

/* Each texel of a cube alone: its weights. */
static void cube()
{
    const size_t all = CUBE * CUBE * CUBE;
    cudaChannelFormatDesc form = cudaCreateChannelDesc<unsigned char>();
    float *to;
    cudaMalloc(&to, CORNERS * all * sizeof *to);
    for (int corner = 0; corner < CORNERS; corner++) {
        unsigned char texels[CORNERS] = {0};
        cudaArray_t array;
        cudaMemcpy3DParms copy = {};
        texels[corner] = 255;
        copy.extent = make_cudaExtent(2, 2, 2);
        cudaMalloc3DArray(&array, &form, copy.extent);
        copy.srcPtr = make_cudaPitchedPtr(texels, 2, 2, 2);
        copy.dstArray = array, copy.kind = cudaMemcpyHostToDevice;
        cudaMemcpy3D(&copy);
        cudaTextureObject_t texture = texture_of(array, cudaReadModeNormalizedFloat);
        cube_read<<<dim3(CUBE, CUBE), CUBE>>>(texture, to + corner * all);
        cudaDeviceSynchronize();
        cudaDestroyTextureObject(texture), cudaFreeArray(array);
    }
    sum_print("cube", to, (int)(CORNERS * all));
    cudaFree(to);
}

int main()
{
    line<unsigned char>("bytes", 10, 200, cudaCreateChannelDesc<unsigned char>(),
                        cudaReadModeNormalizedFloat);
    line<unsigned short>("words", 1000, 54321, cudaCreateChannelDesc<unsigned short>(),
                         cudaReadModeNormalizedFloat);
    line<float>("floats", 3.14159265f, 2.71828182f, cudaCreateChannelDesc<float>(),
                cudaReadModeElementType);
    line<float>("apart", 1, 1e6f, cudaCreateChannelDesc<float>(), cudaReadModeElementType);
    line<__half>("halves", __float2half(3.14159265f), __float2half(2.71828182f),
                 cudaCreateChannelDescHalf(), cudaReadModeElementType);
    plane();
    cube();
    return 0;
}
