/* driver.cu PTX: the driver API on the simulated GPU, with kernels from a file of PTX.
 *
 * Compiled as a program of the host: nothing in it is CUDA C++. */
#include <cstdio>
#include <cstring>
#include <cuda.h>

static int failures;

static void good(const char *call, CUresult status, CUresult wanted = CUDA_SUCCESS)
{
    const char *name = "?";
    if (status == wanted) return;
    cuGetErrorName(status, &name);
    printf("wrong: %s returned %s\n", call, name);
    failures++;
}
#define GOOD(call) good(#call, call)
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) printf("wrong: %s\n", #condition), failures++;                           \
    } while (0)

int main(int argc, char **argv)
{
    enum { N = 1000 };
    const char *file = argc > 1 ? argv[1] : "", *mode = argc > 2 ? argv[2] : "";
    CUdevice device;
    CUcontext context, current;
    CUmodule module;
    CUfunction scale;
    CUdeviceptr x, base, factor;
    CUstream stream;
    CUevent before, after;
    int count, major, value;
    size_t bytes, total;
    char name[64];
    GOOD(cuInit(0));
    GOOD(cuDeviceGetCount(&count));
    GOOD(cuDeviceGet(&device, 0));
    good("a second device", cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    GOOD(cuDeviceGetName(name, sizeof name, device));
    GOOD(cuDeviceTotalMem(&total, device));
    GOOD(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    EXPECT(count == 1 && major == 9 && total > 1000000000);
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxPushCurrent(context));
    GOOD(cuCtxGetCurrent(&current));
    EXPECT(current == context);
    good("a missing file", cuModuleLoad(&module, "missing.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
    GOOD(cuModuleLoad(&module, file));
    good("a missing kernel", cuModuleGetFunction(&scale, module, "none"), CUDA_ERROR_NOT_FOUND);
    GOOD(cuModuleGetFunction(&scale, module, "scale"));
    GOOD(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
    GOOD(cuFuncSetBlockShape(scale, 256, 1, 1)); /* as PyCUDA */
    good("a block of no threads", cuFuncSetBlockShape(scale, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    GOOD(cuFuncSetSharedSize(scale, 0));
    EXPECT(value >= 256);
    GOOD(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
    float three = 3, host[N], result[N];
    EXPECT(bytes == sizeof three);
    GOOD(cuMemcpyHtoD(factor, &three, sizeof three));
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    GOOD(cuMemAlloc(&x, sizeof host));
    GOOD(cuMemGetAddressRange(&base, &bytes, x + 100));
    EXPECT(base == x && bytes == sizeof host);
    GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    GOOD(cuEventCreate(&before, 0));
    GOOD(cuEventCreate(&after, 0));
    GOOD(cuMemcpyHtoDAsync(x, host, sizeof host, stream));
    GOOD(cuEventRecord(before, stream));
    int n = strcmp(mode, "outside") ? N : N + 24;
    void *parameters[] = {&x, &n};
    GOOD(cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
    struct {
        CUdeviceptr x;
        int n;
    } packed = {x, N};
    size_t packed_bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &packed_bytes, CU_LAUNCH_PARAM_END};
    GOOD(cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, stream, NULL, extra));
    GOOD(cuEventRecord(after, stream));
    GOOD(cuMemcpyDtoHAsync(result, x, sizeof result, stream));
    GOOD(cuStreamSynchronize(stream));
    float milliseconds = 0;
    GOOD(cuEventElapsedTime(&milliseconds, before, after));
    EXPECT(milliseconds > 0.001f && milliseconds < 1);
    for (int i = 0; i < N; i++)
        EXPECT(result[i] == 9 * host[i]);
    GOOD(cuMemsetD32(x, 0x3f800000, N));
    GOOD(cuMemcpyDtoH(result, x, sizeof result));
    EXPECT(result[N - 1] == 1);
    void *entry = NULL;
    CUdriverProcAddressQueryResult found;
    GOOD(cuGetProcAddress("cuMemAlloc", &entry, 12000, 0, &found));
    const char *text = NULL;
    GOOD(cuGetErrorString(CUDA_ERROR_NOT_FOUND, &text));
    EXPECT(text && *text);
    GOOD(cuEventDestroy(before));
    GOOD(cuEventDestroy(after));
    GOOD(cuStreamDestroy(stream));
    GOOD(cuMemFree(x));
    good("a second free", cuMemFree(x), CUDA_ERROR_INVALID_VALUE);
    GOOD(cuModuleUnload(module));
    GOOD(cuCtxPopCurrent(&current));
    GOOD(cuDevicePrimaryCtxRelease(device));
    printf(failures ? "%d failures\n" : "all right\n", failures);
    return failures != 0;
}
