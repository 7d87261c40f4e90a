/* removed.cu: names that CUDA 12 and 13 removed, and the headers of samples and courses. */
#include <cstdio>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <texture_fetch_functions.h>
#include <vector>

texture<float> line;
texture<float, 2, cudaReadModeElementType> plane;
static texture<uchar4, 1, cudaReadModeNormalizedFloat> colours;

__global__ void warp(int *out)
{
    int lane = threadIdx.x;
    int sum = lane;
    for (int step = 16; step; step /= 2)
        sum += __shfl_down(sum, step);
    out[lane] = __shfl(sum, 0) + (__any(lane == 3) && !__all(lane == 3)) +
                (__ballot(lane < 4) == 15) + __shfl_xor(lane, 1) + __shfl_up(lane, 1);
}

__global__ void fetch(float *out)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch(line, i) + tex2D(plane, i % 4 + 0.5f, i / 4 + 0.5f);
    if (i == 0) out[8] = tex1Dfetch(colours, 1).y;
}

int main(int argc, char **argv)
{
    int failures = 0;
    int device = findCudaDevice(argc, (const char **)argv);
    cudaDeviceProp properties;
    checkCudaErrors(cudaGetDeviceProperties(&properties, device));
    failures += properties.clockRate < 100000 || properties.memoryClockRate < 100000 ||
                properties.kernelExecTimeoutEnabled || properties.major < 3;
    failures += gpuGetMaxGflopsDeviceId() != 0 || !checkCudaCapabilities(3, 0) ||
                _ConvertSMVer2Cores(9, 0) != 128;
    int *sums, sum[32];
    checkCudaErrors(cudaMallocManaged(&sums, sizeof sum));
    checkCudaErrors(cudaMemAdvise(sums, sizeof sum, cudaMemAdviseSetPreferredLocation, device));
    checkCudaErrors(cudaMemPrefetchAsync(sums, sizeof sum, device));
    warp<<<1, 32>>>(sums);
    getLastCudaError("the kernel warp");
    checkCudaErrors(cudaThreadSynchronize());
    checkCudaErrors(cudaMemPrefetchAsync(sums, sizeof sum, cudaCpuDeviceId, 0));
    failures += sums[5] != 496 + 2 + 4 + 4;

    float values[8] = {0, 1, 2, 3, 4, 5, 6, 7}, *memory, *out, result[9];
    uchar4 colour[2] = {{0, 0, 0, 0}, {0, 51, 0, 0}}, *pixels;
    checkCudaErrors(cudaMalloc(&memory, sizeof values));
    checkCudaErrors(cudaMalloc(&pixels, sizeof colour));
    checkCudaErrors(cudaMalloc(&out, sizeof result));
    checkCudaErrors(cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(pixels, colour, sizeof colour, cudaMemcpyHostToDevice));
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    checkCudaErrors(cudaMallocArray(&array, &format, 4, 2));
    checkCudaErrors(cudaMemcpy2DToArray(array, 0, 0, values, 16, 16, 2, cudaMemcpyHostToDevice));
    plane.addressMode[0] = plane.addressMode[1] = cudaAddressModeClamp;
    plane.filterMode = cudaFilterModePoint;
    checkCudaErrors(cudaBindTexture(NULL, line, memory, sizeof values));
    checkCudaErrors(cudaBindTexture(NULL, colours, pixels, sizeof colour));
    checkCudaErrors(cudaBindTextureToArray(plane, array, format));
    fetch<<<1, 8>>>(out);
    checkCudaErrors(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    failures += result[6] != 12 || std::fabs(result[8] - 0.2f) > 1e-6f;
    checkCudaErrors(cudaUnbindTexture(line));
    checkCudaErrors(cudaUnbindTexture(colours));
    checkCudaErrors(cudaUnbindTexture(plane));

    StopWatchInterface *timer = NULL;
    sdkCreateTimer(&timer);
    sdkStartTimer(&timer);
    sdkStopTimer(&timer);
    failures += sdkGetTimerValue(&timer) < 0;
    sdkDeleteTimer(&timer);
    char *name = NULL;
    const char **words = (const char **)argv;
    failures += getCmdLineArgumentInt(argc, words, "size") != 12 ||
                !checkCmdLineFlag(argc, words, "Fast") ||
                !getCmdLineArgumentString(argc, words, "name", &name) || strcmp(name, "x") ||
                checkCmdLineFlag(argc, words, "siz");
    failures += !sdkCompareL2fe(values, values, 8, 1e-6f);
    cudaFree(memory), cudaFree(pixels), cudaFree(out), cudaFree(sums), cudaFreeArray(array);
    printf(failures ? "%d failures\n" : "all right\n", failures);
    return failures != 0;
}
