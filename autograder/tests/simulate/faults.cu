/* faults.cu - ./faults end, race, surface, texels, added, gaps, host, jump, none: its faults. */
#include <cstdio>
#include <cstring>

__global__ void past_the_end(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] = i;
}

__global__ void turn_round(int *x)
{
    __shared__ int turned[64];
    turned[63 - threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = turned[threadIdx.x];
}

__global__ void below(cudaSurfaceObject_t surface)
{
    surf2Dwrite(1.0f, surface, threadIdx.x * (int)sizeof(float), blockIdx.x);
}

__global__ void texels(cudaTextureObject_t texture, int *x)
{
    x[threadIdx.x] = (int)tex2D<float>(texture, (float)threadIdx.x, 0.0f);
}

/* An atomic to a surface, which CUDA C++ has no words for. */
__global__ void added(cudaSurfaceObject_t surface, int *x)
{
    asm volatile("sured.b.add.1d.u32.trap [%0, {%1}], %2;" ::"l"(surface), "r"(0), "r"(x[0]));
}

/* Four bytes after `flag` are padding; libraries copy such a struct as one word. */
struct alignas(8) Gap {
    int flag;
};

__global__ void fill(Gap *gaps)
{
    gaps[threadIdx.x].flag = 1;
}

__global__ void copy(const long long *from, long long *to)
{
    to[threadIdx.x] = from[threadIdx.x];
}

/* A gap may be copied; what fill() leaves out may not. */
static void gaps()
{
    Gap *all;
    cudaMalloc(&all, 128 * sizeof *all);
    fill<<<1, 32>>>(all);
    copy<<<1, 32>>>((long long *)all, (long long *)all + 64);
    copy<<<1, 64>>>((long long *)all, (long long *)all + 64);
    cudaFree(all);
}

/* Eight blocks for four rows. */
static void draw()
{
    cudaArray_t array;
    cudaSurfaceObject_t surface;
    cudaResourceDesc resource = {};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 32, 4, cudaArraySurfaceLoadStore);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaCreateSurfaceObject(&surface, &resource);
    below<<<8, 32>>>(surface);
}

/* An array that nothing was copied to. */
static void read(int *x)
{
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 4);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    texels<<<1, 64>>>(texture, x);
}

/* To memory that a kernel has just written, and nobody has waited for. */
static void jump()
{
    int *code;
    cudaMallocManaged(&code, 64 * sizeof *code);
    past_the_end<<<1, 64>>>(code, 63);
    ((void (*)())code)();
}

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "none";
    int *x;
    cudaMalloc(&x, 64 * sizeof(int));
    past_the_end<<<2, 64>>>(x, 63 + !strcmp(fault, "end"));
    if (!strcmp(fault, "race")) turn_round<<<1, 64>>>(x);
    if (!strcmp(fault, "surface")) draw();
    if (!strcmp(fault, "gaps")) gaps();
    if (!strcmp(fault, "texels")) read(x);
    if (!strcmp(fault, "host")) x[7] = 1;
    if (!strcmp(fault, "jump")) jump();
    if (!strcmp(fault, "added")) added<<<1, 64>>>(0, x);
    if (strcmp(fault, "race")) cudaFree(x);
    puts("done");
    return 0;
}
