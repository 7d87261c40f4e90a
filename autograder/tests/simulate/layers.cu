// layers.cu - a stack of pictures in a layered array, blurred through a texture into a surface, and
// one of bytes, filtered and halved.  Prints sums, which check.sh holds against an H200's.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            printf("%s: %s\n", #call, cudaGetErrorString(status_));                                \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

enum { W = 40, H = 24, L = 3 };
__constant__ float weight[3] = {0.25f, 0.5f, 0.25f};

__global__ void blur(cudaTextureObject_t from, cudaSurfaceObject_t to, int along_x)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        l = blockIdx.z;
    if (x >= W || y >= H) return;
    float sum = 0;
    for (int t = -1; t <= 1; t++)
        sum += weight[t + 1] * tex2DLayered<float>(from, x + (along_x ? t : 0) + 0.5f,
                                                   y + (along_x ? 0 : t) + 0.5f, l);
    surf2DLayeredwrite(sum, to, x * (int)sizeof(float), y, l);
}

__global__ void smooth(cudaTextureObject_t from, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float u = (i % 16 + 0.3f) / 16, v = (i / 16 + 0.7f) / 16;
    float4 q = tex2D<float4>(from, u, v);
    out[i] = q;
}

__global__ void half_size(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = threadIdx.x, y = threadIdx.y;
    uchar4 sum[2][2];
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            surf2Dread(&sum[a][b], from, (2 * x + b) * 4, 2 * y + a, cudaBoundaryModeClamp);
    uchar4 out = make_uchar4((sum[0][0].x + sum[0][1].x + sum[1][0].x + sum[1][1].x + 2) / 4,
                             (sum[0][0].y + sum[0][1].y + sum[1][0].y + sum[1][1].y + 2) / 4,
                             (sum[0][0].z + sum[0][1].z + sum[1][0].z + sum[1][1].z + 2) / 4, 255);
    surf2Dwrite(out, to, x * 4, y, cudaBoundaryModeZero);
}

static cudaTextureObject_t texture(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    d.filterMode = cudaFilterModePoint;
    d.readMode = cudaReadModeElementType;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static cudaSurfaceObject_t surface(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s;
    CHECK(cudaCreateSurfaceObject(&s, &r));
    return s;
}

int main()
{
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaArray_t one, two;
    CHECK(cudaMalloc3DArray(&one, &f, make_cudaExtent(W, H, L),
                            cudaArrayLayered | cudaArraySurfaceLoadStore));
    CHECK(cudaMalloc3DArray(&two, &f, make_cudaExtent(W, H, L),
                            cudaArrayLayered | cudaArraySurfaceLoadStore));
    std::vector<float> x(W * H * L), got(W * H * L);
    for (int i = 0; i < W * H * L; i++)
        x[i] = (float)((i * 7919) % 256);
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(x.data(), W * 4, W, H);
    c.dstArray = one;
    c.extent = make_cudaExtent(W, H, L);
    c.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&c));
    cudaTextureObject_t t1 = texture(one), t2 = texture(two);
    cudaSurfaceObject_t s1 = surface(one), s2 = surface(two);
    dim3 block(16, 8), grid((W + 15) / 16, (H + 7) / 8, L);
    blur<<<grid, block>>>(t1, s2, 1);
    blur<<<grid, block>>>(t2, s1, 0);
    CHECK(cudaDeviceSynchronize());
    cudaMemcpy3DParms back = {};
    back.srcArray = one;
    back.dstPtr = make_cudaPitchedPtr(got.data(), W * 4, W, H);
    back.extent = make_cudaExtent(W, H, L);
    back.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&back));
    double worst = 0, sum = 0;
    auto at = [&](int xx, int y, int l) {
        xx = xx < 0 ? 0 : xx >= W ? W - 1 : xx;
        y = y < 0 ? 0 : y >= H ? H - 1 : y;
        return x[(l * H + y) * W + xx];
    };
    const float w[3] = {0.25f, 0.5f, 0.25f};
    for (int l = 0; l < L; l++)
        for (int y = 0; y < H; y++)
            for (int xx = 0; xx < W; xx++) {
                double e = 0;
                for (int a = -1; a <= 1; a++)
                    for (int b = -1; b <= 1; b++)
                        e += w[a + 1] * w[b + 1] * at(xx + b, y + a, l);
                worst = fmax(worst, fabs(e - got[(l * H + y) * W + xx]));
                sum += got[(l * H + y) * W + xx];
            }
    printf("blur: worst %.6f, sum %.4f\n", worst, sum);
    // normalized bytes, filtered, wrapped
    cudaChannelFormatDesc f4 = cudaCreateChannelDesc<uchar4>();
    cudaArray_t c4, small;
    CHECK(cudaMallocArray(&c4, &f4, 16, 16, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&small, &f4, 8, 8, cudaArraySurfaceLoadStore));
    std::vector<uchar4> p(256);
    for (int i = 0; i < 256; i++)
        p[i] = make_uchar4(i, 255 - i, (i * 31) & 255, 255);
    CHECK(cudaMemcpy2DToArray(c4, 0, 0, p.data(), 16 * 4, 16 * 4, 16, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = c4;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeWrap;
    d.filterMode = cudaFilterModeLinear;
    d.readMode = cudaReadModeNormalizedFloat;
    d.normalizedCoords = 1;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    float4 *out;
    CHECK(cudaMalloc(&out, 256 * sizeof(float4)));
    smooth<<<2, 128>>>(t, out);
    std::vector<float4> o(256);
    CHECK(cudaMemcpy(o.data(), out, 256 * 16, cudaMemcpyDeviceToHost));
    double a = 0;
    for (auto &q : o)
        a += q.x + 2 * q.y + 3 * q.z + 4 * q.w;
    printf("filtered: %.4f\n", a);
    half_size<<<1, dim3(8, 8)>>>(surface(c4), surface(small));
    std::vector<uchar4> q(64);
    CHECK(cudaMemcpy2DFromArray(q.data(), 32, small, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
    unsigned hash = 0;
    for (auto &e : q)
        hash = hash * 31 + e.x + e.y * 3 + e.z * 7 + e.w;
    printf("half: %08x\n", hash);
    return worst < 1e-3 ? 0 : 1;
}
