/* refused.cu - ./refused calls, pointer, endless, child, grid: what a call or a kernel is refused
 * for, and what is heard of it although the program never asks. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fill(int *x)
{
    x[threadIdx.x] = 1;
}

__global__ void forever(int *x)
{
    for (int turns = 0; x[turns % 2] != 2; turns++)
        x[turns % 2] = 1;
}

/* A real GPU supports them. */
static void grid_of_clusters(int *x)
{
    cudaLaunchAttribute attribute[2] = {};
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    attribute[1].id = cudaLaunchAttributeClusterDimension;
    attribute[1].val.clusterDim.x = 2;
    attribute[1].val.clusterDim.y = attribute[1].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2), config.blockDim = dim3(64);
    config.attrs = attribute, config.numAttrs = 2;
    cudaLaunchKernelEx(&config, fill, x);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none";
    int *x, *own = (int *)calloc(64, sizeof *own);
    cudaMalloc(&x, 64 * sizeof *x);
    fill<<<1, 64>>>(x);
    if (!strcmp(what, "calls")) {
        cudaMemcpy(x, own, 256, cudaMemcpyDeviceToHost);
        cudaMemcpy(own, x, 256, cudaMemcpyHostToDevice);
        cudaMemcpy(own, x, 256, cudaMemcpyHostToHost);
        cudaMemcpy(x, own, (size_t)1 << 40, cudaMemcpyHostToDevice);
        cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);
    }
    if (!strcmp(what, "child") && fork() == 0) _exit(cudaMalloc(&x, 4) == cudaSuccess ? 0 : 5);
    if (!strcmp(what, "child")) wait(NULL);
    if (!strcmp(what, "pointer")) fill<<<1, 64>>>(own);
    if (!strcmp(what, "endless")) forever<<<1, 1>>>(x);
    if (!strcmp(what, "grid")) grid_of_clusters(x);
    cudaFree(x);
    free(own);
    puts("done");
    return 0;
}
