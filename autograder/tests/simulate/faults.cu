/* faults.cu - ./faults end | race | surface | monitor | none: it ends well and is wrong. */
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

/* A performance monitor of the card: what it counts is the card's own business. */
__global__ void monitored(int *x)
{
    asm volatile("mov.u32 %0, %%pm0;" : "=r"(x[threadIdx.x]));
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

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "none";
    int *x;
    cudaMalloc(&x, 64 * sizeof(int));
    past_the_end<<<2, 64>>>(x, 63 + !strcmp(fault, "end"));
    if (!strcmp(fault, "race")) turn_round<<<1, 64>>>(x);
    if (!strcmp(fault, "surface")) draw();
    if (!strcmp(fault, "monitor")) monitored<<<1, 64>>>(x);
    if (strcmp(fault, "race")) cudaFree(x);
    puts("done");
    return 0;
}
