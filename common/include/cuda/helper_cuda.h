/* helper_cuda.h - checks of statuses and choice of the device, for programs derived from NVIDIA's
 * samples.
 *
 * The text is the workbook's own; the functions are those that such programs call. */
#ifndef SIMULATE_HELPER_CUDA_H
#define SIMULATE_HELPER_CUDA_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

/* ---- statuses -------------------------------------------------------------------------------- */

/* A status of another library is printed as a number. */
template <class Status> inline const char *_cudaGetErrorEnum(Status)
{
    return "status of a CUDA library";
}

inline const char *_cudaGetErrorEnum(cudaError_t status)
{
    return cudaGetErrorName(status);
}

/* Ends the program if the status is not 0. */
template <class Status>
inline void check(Status status, const char *call, const char *file, int line)
{
    if (!static_cast<unsigned>(status)) return;
    std::fprintf(stderr, "CUDA error at %s:%d code=%u(%s) \"%s\"\n", file, line,
                 static_cast<unsigned>(status), _cudaGetErrorEnum(status), call);
    std::exit(EXIT_FAILURE);
}

#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

inline void __getLastCudaError(const char *message, const char *file, int line)
{
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s(%d): CUDA error: %s: (%d) %s\n", file, line, message,
                 static_cast<int>(status), cudaGetErrorString(status));
    std::exit(EXIT_FAILURE);
}

inline void __printLastCudaError(const char *message, const char *file, int line)
{
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess)
        std::fprintf(stderr, "%s(%d): CUDA error: %s: (%d) %s\n", file, line, message,
                     static_cast<int>(status), cudaGetErrorString(status));
}

#define getLastCudaError(message)   __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

/* ---- the device ------------------------------------------------------------------------------ */

inline int ftoi(float value)
{
    return static_cast<int>(value >= 0 ? value + 0.5f : value - 0.5f);
}

/* FP32 lanes per SM (CUDA C++ Programming Guide, "Arithmetic Instructions"). */
inline int _ConvertSMVer2Cores(int major, int minor)
{
    switch (major) {
    case 3:
        return 192;
    case 5:
        return 128;
    case 6:
        return minor == 0 ? 64 : 128;
    case 7:
        return 64;
    case 8:
        return minor == 0 ? 64 : 128;
    default:
        return 128;
    }
}

inline const char *_ConvertSMVer2ArchName(int major, int minor)
{
    switch (major) {
    case 3:
        return "Kepler";
    case 5:
        return "Maxwell";
    case 6:
        return "Pascal";
    case 7:
        return minor == 5 ? "Turing" : "Volta";
    case 8:
        return minor == 9 ? "Ada" : "Ampere";
    case 9:
        return "Hopper";
    default:
        return "Graphics Device";
    }
}

/* The number of devices; ends the program if there is none. */
inline int simulate_device_count()
{
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (count > 0) return count;
    std::fprintf(stderr, "CUDA error: no devices supporting CUDA.\n");
    std::exit(EXIT_FAILURE);
}

inline int gpuDeviceInit(int device)
{
    int major = 0, minor = 0;
    if (device < 0) device = 0;
    if (device >= simulate_device_count()) {
        std::fprintf(stderr, "gpuDeviceInit: there is no device %d\n", device);
        return -device;
    }
    checkCudaErrors(cudaSetDevice(device));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    std::printf("gpuDeviceInit() CUDA Device [%d]: \"%s\"\n", device,
                _ConvertSMVer2ArchName(major, minor));
    return device;
}

/* The device with the most FP32 lanes times clock. */
inline int gpuGetMaxGflopsDeviceId()
{
    int best = 0;
    double most = -1;
    for (int device = 0, count = simulate_device_count(); device < count; device++) {
        int major = 0, minor = 0, sms = 0, khz = 0;
        checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
        checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
        checkCudaErrors(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
        checkCudaErrors(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device));
        double speed = static_cast<double>(sms) * _ConvertSMVer2Cores(major, minor) * khz;
        if (speed > most) most = speed, best = device;
    }
    return best;
}

/* The device of -device=N, else the fastest. */
inline int findCudaDevice(int argc, const char **argv)
{
    if (checkCmdLineFlag(argc, argv, "device")) {
        int device = gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device"));
        if (device >= 0) return device;
        std::fprintf(stderr, "exiting...\n");
        std::exit(EXIT_FAILURE);
    }
    int device = gpuGetMaxGflopsDeviceId(), major = 0, minor = 0;
    checkCudaErrors(cudaSetDevice(device));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    std::printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device,
                _ConvertSMVer2ArchName(major, minor), major, minor);
    return device;
}

/* No simulated machine is integrated. */
inline int findIntegratedGPU()
{
    for (int device = 0, count = simulate_device_count(); device < count; device++) {
        int integrated = 0;
        checkCudaErrors(cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, device));
        if (integrated) return device;
    }
    std::fprintf(stderr, "CUDA error: no integrated GPU is present.\n");
    std::exit(EXIT_FAILURE);
}

inline bool checkCudaCapabilities(int major_wanted, int minor_wanted)
{
    int device = 0, major = 0, minor = 0;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    if (major > major_wanted || (major == major_wanted && minor >= minor_wanted)) return true;
    std::printf("The program needs compute capability %d.%d; the device has %d.%d\n", major_wanted,
                minor_wanted, major, minor);
    return false;
}

#endif
