/* nvrtc.cu: NVRTC and the driver API: a program that compiles its own kernels. */
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <nvrtc.h>
#include <string>

static int failures;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) printf("wrong: %s\n", #condition), failures++;                           \
    } while (0)

int main()
{
    const char *source =
        "#include \"deep/factor.h\"\n"
        "namespace inner { template <class T, int N> __global__ void scale(T *x)\n"
        "{ x[threadIdx.x] *= FACTOR * N; } }\n"
        "extern \"C\" __global__ void plain(float *x) { x[threadIdx.x] += EXTRA; }\n";
    const char *header = "#define FACTOR 3\n", *name = "deep/factor.h";
    const char *options[] = {"--gpu-architecture=compute_120", "-default-device", "-DEXTRA=1"};
    nvrtcProgram program, wrong;
    EXPECT(!nvrtcCreateProgram(&program, source, "own.cu", 1, &header, &name));
    EXPECT(!nvrtcAddNameExpression(program, "inner::scale<float, 2>"));
    EXPECT(!nvrtcCompileProgram(program, 3, options));
    const char *lowered = "";
    EXPECT(!nvrtcGetLoweredName(program, "inner::scale<float, 2>", &lowered));
    EXPECT(nvrtcGetLoweredName(program, "other", &lowered) ==
           NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    size_t bytes = 0;
    EXPECT(!nvrtcGetPTXSize(program, &bytes));
    std::string ptx(bytes, ' ');
    EXPECT(!nvrtcGetPTX(program, &ptx[0]));

    EXPECT(
        !nvrtcCreateProgram(&wrong, "__global__ void k() { undeclared(); }", NULL, 0, NULL, NULL));
    EXPECT(nvrtcCompileProgram(wrong, 0, NULL) == NVRTC_ERROR_COMPILATION);
    EXPECT(!nvrtcGetProgramLogSize(wrong, &bytes));
    std::string log(bytes, ' ');
    EXPECT(!nvrtcGetProgramLog(wrong, &log[0]));
    EXPECT(log.find("undeclared") != std::string::npos);
    EXPECT(!nvrtcDestroyProgram(&wrong));

    CUcontext context;
    CUmodule module;
    CUfunction scale, plain;
    CUdeviceptr x;
    float host[32], result[32];
    for (int i = 0; i < 32; i++)
        host[i] = (float)i;
    EXPECT(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context));
    EXPECT(!cuModuleLoadDataEx(&module, ptx.c_str(), 0, NULL, NULL));
    EXPECT(!cuModuleGetFunction(&scale, module, lowered));
    EXPECT(!cuModuleGetFunction(&plain, module, "plain"));
    EXPECT(!nvrtcDestroyProgram(&program));
    EXPECT(!cuMemAlloc(&x, sizeof host) && !cuMemcpyHtoD(x, host, sizeof host));
    void *parameters[] = {&x};
    EXPECT(!cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    EXPECT(!cuLaunchKernel(plain, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    EXPECT(!cuMemcpyDtoH(result, x, sizeof result) && !cuMemFree(x));
    EXPECT(result[31] == 6 * 31 + 1);
    printf(failures ? "%d failures\n" : "all right\n", failures);
    return failures != 0;
}
