// Programs as others write them, each a function here: one compilation for all. Prints "ok NAME" or
// what is wrong.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            printf("%s: %s\n", #call, cudaGetErrorName(status_));                                  \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: not %s\n", __LINE__, #condition);                                     \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

// ---- managed memory: host and kernels use the same pointers ----

__managed__ int total = 5;

__global__ void double_all(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] *= 2.0f;
    atomicAdd(&total, 1);
}

static int managed()
{
    enum { N = 1000 };
    float *x;
    cudaPointerAttributes what;
    CHECK(cudaMallocManaged(&x, N * sizeof *x));
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    EXPECT(total == 5);
    total = 7;
    double_all<<<8, 128>>>(x, N);
    CHECK(cudaDeviceSynchronize());
    EXPECT(total == 1007 && x[999] == 1998.0f);
    x[0] = 21.0f;
    double_all<<<8, 128>>>(x, N);
    CHECK(cudaDeviceSynchronize());
    EXPECT(total == 2007 && x[0] == 42.0f);
    CHECK(cudaPointerGetAttributes(&what, x + 3));
    EXPECT(what.type == cudaMemoryTypeManaged && what.devicePointer == x + 3);
    CHECK(cudaFree(x));
    CHECK(cudaHostAlloc(&x, N * sizeof *x, cudaHostAllocMapped));
    float *there;
    CHECK(cudaHostGetDevicePointer(&there, x, 0));
    x[1] = 0.5f;
    double_all<<<1, 32>>>(there, 2);
    CHECK(cudaDeviceSynchronize());
    EXPECT(x[1] == 1.0f);
    CHECK(cudaFreeHost(x));
    return 0;
}

// ---- a grid whose blocks synchronise ----

__global__ void neighbours(int *a)
{
    cg::grid_group grid = cg::this_grid();
    unsigned i = grid.thread_rank(), n = grid.size();
    for (int round = 0; round < 3; round++) {
        int from_next = a[(i + 1) % n];
        grid.sync();
        a[i] += from_next;
        grid.sync();
    }
}

static int cooperative()
{
    enum { BLOCKS = 600, THREADS = 32, N = BLOCKS * THREADS };
    static int host[N];
    int *a, blocks = 0, sms = 0, can = 0;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(can);
    CHECK(cudaMalloc(&a, sizeof host));
    for (int i = 0; i < N; i++)
        host[i] = i % 7;
    CHECK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    void *arguments[] = {&a};
    CHECK(cudaLaunchCooperativeKernel(neighbours, dim3(BLOCKS), dim3(THREADS), arguments));
    static int got[N];
    CHECK(cudaMemcpy(got, a, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) // three sums of neighbours are weighted 1 3 3 1
        EXPECT(got[i] ==
               host[i] + 3 * host[(i + 1) % N] + 3 * host[(i + 2) % N] + host[(i + 3) % N]);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, neighbours, THREADS, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(cudaLaunchCooperativeKernel(neighbours, dim3(blocks * sms + 1), dim3(THREADS),
                                       arguments) == cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
    CHECK(cudaFree(a));
    return 0;
}

// ---- streams, functions of the host, launches by attribute, pools, pitched memory ----

__global__ void fill(int *x, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}

static void CUDART_CB add_seven(void *count)
{
    *(int *)count += 7;
}

static void CUDART_CB add_status(cudaStream_t, cudaError_t status, void *count)
{
    *(int *)count += status == cudaSuccess ? 30 : 0;
}

static int streams()
{
    enum { N = 100 };
    int *x, host[N], called = 5, least, greatest, priority;
    unsigned flags;
    cudaStream_t stream;
    cudaMemPool_t pool;
    cudaMemPoolProps properties = {};
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamGetPriority(stream, &priority));
    CHECK(cudaStreamGetFlags(stream, &flags));
    EXPECT(greatest < least && priority == greatest && flags == cudaStreamNonBlocking);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &properties));
    CHECK(cudaMallocFromPoolAsync((void **)&x, sizeof host, pool, stream));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributePriority;
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(2), configuration.blockDim = dim3(64);
    configuration.stream = stream, configuration.attrs = &attribute, configuration.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&configuration, fill, x, 3, (int)N));
    CHECK(cudaLaunchHostFunc(stream, add_seven, &called));
    CHECK(cudaStreamAddCallback(stream, add_status, &called, 0));
    CHECK(cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(x, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(host));
    EXPECT(cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    EXPECT(called == 42 && host[0] == 3 && host[N - 1] == 3);
    CHECK(cudaMemPoolDestroy(pool));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}

__global__ void add_slice(cudaPitchedPtr box, int height, int depth)
{
    for (int z = 0; z < depth; z++)
        for (int y = 0; y < height; y++)
            ((int *)((char *)box.ptr + box.pitch * (z * height + y)))[threadIdx.x] += 100 * z + y;
}

static int pitched()
{
    enum { W = 20, H = 3, D = 4 };
    int host[D][H][W];
    cudaPitchedPtr box;
    cudaMemcpy3DParms back = {};
    CHECK(cudaMalloc3D(&box, make_cudaExtent(W * sizeof(int), H, D)));
    EXPECT(box.pitch >= W * sizeof(int));
    CHECK(cudaMemset3D(box, 1, make_cudaExtent(W * sizeof(int), H, D)));
    add_slice<<<1, W>>>(box, H, D);
    back.srcPtr = box;
    back.dstPtr = make_cudaPitchedPtr(host, W * sizeof(int), W, H);
    back.extent = make_cudaExtent(W * sizeof(int), H, D);
    back.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&back));
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            EXPECT(host[z][y][0] == 0x01010101 + 100 * z + y && host[z][y][W - 1] == host[z][y][0]);
    CHECK(cudaFree(box.ptr));
    return 0;
}

// ---- functions by address, virtual functions ----

struct Shape {
    __device__ virtual float area(float x) const
    {
        return x * x;
    }
};

struct Circle : Shape {
    __device__ float area(float x) const override
    {
        return 3.0f * x * x;
    }
};

struct Ring : Circle { // calls the function that it overrides
    float hole;
    __device__ Ring(float h) : hole(h)
    {
    }
    __device__ float area(float x) const override
    {
        return Circle::area(x) - hole;
    }
};

typedef float (*Function)(float);

__device__ float doubled(float x)
{
    return 2.0f * x;
}

__device__ float squared(float x)
{
    return x * x;
}

__device__ Function chosen[2] = {doubled, squared};

__global__ void by_address(float *out, Function given)
{
    int i = threadIdx.x;
    Shape square;
    Circle circle;
    Ring ring(1.0f);
    const Shape *shapes[3] = {&square, &circle, &ring};
    out[i] = chosen[i % 2]((float)i);
    out[32 + i] = shapes[i % 3]->area((float)i);
    out[64 + i] = given((float)i);
}

static int functions()
{
    float *x, host[96];
    Function second;
    CHECK(cudaMemcpyFromSymbol(&second, chosen, sizeof second, sizeof second));
    CHECK(cudaMalloc(&x, sizeof host));
    by_address<<<1, 32>>>(x, second);
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        float square = (float)(i * i), area[] = {square, 3 * square, 3 * square - 1};
        EXPECT(host[i] == (i % 2 ? square : 2.0f * i));
        EXPECT(host[32 + i] == area[i % 3] && host[64 + i] == square);
    }
    CHECK(cudaFree(x));
    return 0;
}

// ---- textures and surfaces ----

enum { W = 16, H = 4, D = 3 };

__global__ void read_2d(cudaTextureObject_t texture, const float2 *at, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y);
}

static int texture_of(cudaArray_t array, cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                      bool normalized, cudaTextureReadMode reading, cudaTextureObject_t *made)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = filter, how.readMode = reading, how.normalizedCoords = normalized;
    how.borderColor[0] = -7.0f;
    CHECK(cudaCreateTextureObject(made, &resource, &how, NULL));
    return 0;
}

// Element (x, y) holds x + 100 y.
static int textures()
{
    static const struct {
        cudaTextureAddressMode mode;
        cudaTextureFilterMode filter;
        bool normalized;
        float x, y, expected;
    } CASES[] = {{cudaAddressModeClamp, cudaFilterModePoint, false, 3.9f, 2.0f, 203},
                 {cudaAddressModeClamp, cudaFilterModePoint, false, -5.0f, 99.0f, 300},
                 {cudaAddressModeBorder, cudaFilterModePoint, false, 16.0f, 0.5f, -7},
                 {cudaAddressModeBorder, cudaFilterModePoint, false, 15.9f, 0.5f, 15},
                 {cudaAddressModeWrap, cudaFilterModePoint, true, 1.25f, -0.25f, 304},
                 {cudaAddressModeMirror, cudaFilterModePoint, true, 1.03125f, 0.1f, 15},
                 {cudaAddressModeWrap, cudaFilterModePoint, false, 20.0f, 0.5f, 15},
                 {cudaAddressModeClamp, cudaFilterModeLinear, false, 3.5f, 1.5f, 103},
                 {cudaAddressModeClamp, cudaFilterModeLinear, false, 4.0f, 2.0f, 153.5f},
                 {cudaAddressModeClamp, cudaFilterModeLinear, false, 4.25f, 0.5f, 3.75f},
                 {cudaAddressModeClamp, cudaFilterModeLinear, false, 0.0f, 0.0f, 0},
                 {cudaAddressModeBorder, cudaFilterModeLinear, false, 0.0f, 0.5f, -3.5f},
                 {cudaAddressModeWrap, cudaFilterModeLinear, true, 0.0f, 0.125f, 7.5f}};
    const int COUNT = (int)(sizeof CASES / sizeof CASES[0]);
    float host[H][W], *out, got;
    float2 *at;
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    for (int i = 0; i < H * W; i++)
        host[i / W][i % W] = (float)(i % W + 100 * (i / W));
    CHECK(cudaMallocArray(&array, &format, W, H));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, sizeof host[0], sizeof host[0], H,
                              cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&out, sizeof *out));
    CHECK(cudaMalloc(&at, sizeof *at));
    for (int i = 0; i < COUNT; i++) {
        float2 place = make_float2(CASES[i].x, CASES[i].y);
        if (texture_of(array, CASES[i].mode, CASES[i].filter, CASES[i].normalized,
                       cudaReadModeElementType, &texture))
            return 1;
        CHECK(cudaMemcpy(at, &place, sizeof place, cudaMemcpyHostToDevice));
        read_2d<<<1, 1>>>(texture, at, out);
        CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
        if (got != CASES[i].expected) printf("case %d: %g, not %g\n", i, got, CASES[i].expected);
        EXPECT(got == CASES[i].expected);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFree(out));
    CHECK(cudaFree(at));
    CHECK(cudaFreeArray(array));
    return 0;
}

__global__ void read_others(cudaTextureObject_t box, cudaTextureObject_t layers,
                            cudaTextureObject_t colours, cudaTextureObject_t line, float *out)
{
    out[0] = tex3D<float>(box, 2.5f, 1.5f, 2.5f);
    out[1] = tex3D<float>(box, 2.5f, 1.5f, 2.0f);
    out[2] = tex2DLayered<float>(layers, 5.5f, 3.5f, 2);
    float4 colour = tex2D<float4>(colours, 1.5f, 0.5f);
    out[3] = colour.x, out[4] = colour.w;
    out[5] = (float)tex1Dfetch<short2>(line, 3).y;
    out[6] = (float)tex1Dfetch<short2>(line, 64).y; // after the end
}

static int other_textures()
{
    static float host[D][H][W];
    static unsigned char colour[H][W][4];
    short numbers[64][2];
    cudaArray_t box, layers, colours;
    cudaTextureObject_t object[4];
    cudaChannelFormatDesc single = cudaCreateChannelDesc<float>();
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
    cudaExtent extent = make_cudaExtent(W, H, D);
    float *out, got[7];
    short2 *line;
    for (int i = 0; i < D * H * W; i++)
        host[i / W / H][i / W % H][i % W] = (float)(i % W + 100 * (i / W % H) + 1000 * (i / W / H));
    colour[0][1][0] = 51, colour[0][1][3] = 255;
    for (int i = 0; i < 64; i++)
        numbers[i][0] = (short)i, numbers[i][1] = (short)-i;
    CHECK(cudaMalloc3DArray(&box, &single, extent));
    CHECK(cudaMalloc3DArray(&layers, &single, extent, cudaArrayLayered));
    CHECK(cudaMallocArray(&colours, &bytes, W, H));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, sizeof host[0][0], W, H);
    copy.extent = extent, copy.kind = cudaMemcpyHostToDevice;
    copy.dstArray = box;
    CHECK(cudaMemcpy3D(&copy));
    copy.dstArray = layers;
    CHECK(cudaMemcpy3D(&copy));
    CHECK(cudaMemcpy2DToArray(colours, 0, 0, colour, sizeof colour[0], sizeof colour[0], H,
                              cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&line, sizeof numbers));
    CHECK(cudaMemcpy(line, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    if (texture_of(box, cudaAddressModeClamp, cudaFilterModeLinear, false, cudaReadModeElementType,
                   &object[0]) ||
        texture_of(layers, cudaAddressModeClamp, cudaFilterModePoint, false,
                   cudaReadModeElementType, &object[1]) ||
        texture_of(colours, cudaAddressModeClamp, cudaFilterModeLinear, false,
                   cudaReadModeNormalizedFloat, &object[2]))
        return 1;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = line, resource.res.linear.sizeInBytes = sizeof numbers;
    resource.res.linear.desc = cudaCreateChannelDesc<short2>();
    CHECK(cudaCreateTextureObject(&object[3], &resource, &how, NULL));
    CHECK(cudaMalloc(&out, sizeof got));
    read_others<<<1, 1>>>(object[0], object[1], object[2], object[3], out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    const float expected[7] = {2102, 1602, 2305, 0.2f, 1, -3, 0};
    for (int i = 0; i < 7; i++)
        EXPECT(got[i] == expected[i]);
    for (cudaTextureObject_t one : object)
        CHECK(cudaDestroyTextureObject(one));
    CHECK(cudaFree(out));
    CHECK(cudaFree(line));
    CHECK(cudaFreeArray(box));
    CHECK(cudaFreeArray(layers));
    CHECK(cudaFreeArray(colours));
    return 0;
}

__global__ void paint(cudaSurfaceObject_t surface, int *outside)
{
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(make_short2((short)x, (short)y), surface, x * (int)sizeof(short2), y);
    surf2Dwrite(make_short2(1, 1), surface, -4, y, cudaBoundaryModeZero);
    outside[y * W + x] =
        surf2Dread<short2>(surface, W * (int)sizeof(short2), y, cudaBoundaryModeZero).x;
}

static int surfaces()
{
    short2 host[H][W];
    int *outside, none[H * W];
    cudaArray_t array;
    cudaSurfaceObject_t surface;
    cudaResourceDesc resource = {};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<short2>();
    CHECK(cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    CHECK(cudaMalloc(&outside, sizeof none));
    paint<<<H, W>>>(surface, outside);
    CHECK(cudaMemcpy2DFromArray(host, sizeof host[0], array, 0, 0, sizeof host[0], H,
                                cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(none, outside, sizeof none, cudaMemcpyDeviceToHost));
    for (int i = 0; i < H * W; i++)
        EXPECT(host[i / W][i % W].x == i % W && host[i / W][i % W].y == i / W && !none[i]);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFree(outside));
    CHECK(cudaFreeArray(array));
    return 0;
}

// ---- matrix products of doubles ----

__global__ void product(const double *a, const double *b, double *c)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 8, 8, 4, double, row_major> left;
    fragment<matrix_b, 8, 8, 4, double, col_major> right;
    fragment<accumulator, 8, 8, 4, double> sum;
    fill_fragment(sum, 0.5);
    for (int k = 0; k < 8; k += 4) {
        load_matrix_sync(left, a + k, 8);
        load_matrix_sync(right, b + k, 8);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c, sum, 8, mem_row_major);
    // The same by PTX, whose fragments are given.
    double x[2] = {0.5, 0.5};
    for (int k = 0; k < 8; k += 4) {
        int lane = threadIdx.x;
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(x[0]), "+d"(x[1])
            : "d"(a[lane / 4 * 8 + k + lane % 4]), "d"(b[lane / 4 * 8 + k + lane % 4]));
    }
    for (int i = 0; i < 2; i++)
        c[64 + threadIdx.x / 4 * 8 + threadIdx.x % 4 * 2 + i] = x[i];
}

static int doubles()
{
    double a[64], b[64], got[128], *device; // b column by column
    for (int i = 0; i < 64; i++)
        a[i] = i % 11 - 3.0, b[i] = 0.25 * (i % 7) - 1.0;
    CHECK(cudaMalloc(&device, 256 * sizeof *device));
    CHECK(cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device + 64, b, sizeof b, cudaMemcpyHostToDevice));
    product<<<1, 32>>>(device, device + 64, device + 128);
    CHECK(cudaMemcpy(got, device + 128, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        double expected = 0.5;
        for (int k = 0; k < 8; k++)
            expected += a[i / 8 * 8 + k] * b[i % 8 * 8 + k];
        EXPECT(got[i] == expected && got[64 + i] == expected);
    }
    CHECK(cudaFree(device));
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)();
    } SAMPLES[] = {{"managed", managed},
                   {"cooperative", cooperative},
                   {"streams", streams},
                   {"pitched", pitched},
                   {"functions", functions},
                   {"textures", textures},
                   {"other-textures", other_textures},
                   {"surfaces", surfaces},
                   {"doubles", doubles}};
    int failed = 0;
    for (auto &sample : SAMPLES) {
        if (argc > 1 && strcmp(argv[1], sample.name)) continue;
        int wrong = sample.run();
        printf("%s %s\n", wrong ? "not ok" : "ok", sample.name);
        failed |= wrong;
    }
    return failed;
}
