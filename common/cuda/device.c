#include "common/cuda/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct StatusRow {
    int32_t status;
    const char *name, *text;
} StatusRow;

/* Statuses of this runtime and its engines, and those that NVIDIA's driver is likely to return. */
static const StatusRow status_table[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "an argument is out of range or of the wrong kind"},
    {2, "cudaErrorMemoryAllocation", "not enough device memory"},
    {3, "cudaErrorInitializationError", "the CUDA runtime is not set up yet"},
    {4, "cudaErrorCudartUnloading", "the CUDA runtime is shutting down"},
    {9, "cudaErrorInvalidConfiguration", "the grid or block size is not one this GPU can launch"},
    {12, "cudaErrorInvalidPitchValue", "the pitch is smaller than the row"},
    {13, "cudaErrorInvalidSymbol", "this is no __device__ or __constant__ variable"},
    {17, "cudaErrorInvalidDevicePointer", "this is no device address"},
    {18, "cudaErrorInvalidTexture", "this is no texture"},
    {20, "cudaErrorInvalidChannelDescriptor", "an element has no such channels"},
    {21, "cudaErrorInvalidMemcpyDirection", "the copy direction is not one of cudaMemcpyKind"},
    {26, "cudaErrorInvalidFilterSetting", "the texture's elements cannot be filtered so"},
    {27, "cudaErrorInvalidNormSetting", "the texture's elements cannot be read as fractions"},
    {35, "cudaErrorInsufficientDriver", "the NVIDIA driver is older than this CUDA toolkit needs"},
    {37, "cudaErrorInvalidSurface", "this is no surface"},
    {46, "cudaErrorDevicesUnavailable", "the device went away or is busy"},
    {52, "cudaErrorMissingConfiguration", "a kernel was called without <<<grid, block>>>"},
    {98, "cudaErrorInvalidDeviceFunction", "this is no __global__ function of this program"},
    {100, "cudaErrorNoDevice", "there is no CUDA device"},
    {101, "cudaErrorInvalidDevice", "there is no device with that number"},
    {215, "cudaErrorUnsupportedLimit", "the device has no such limit"},
    {200, "cudaErrorInvalidKernelImage", "the GPU code in this program cannot be read"},
    {201, "cudaErrorDeviceUninitialized", "there is no current device context"},
    {209, "cudaErrorNoKernelImageForDevice", "this program holds no GPU code for this device"},
    {214, "cudaErrorECCUncorrectable", "the device reported an uncorrectable memory error"},
    {217, "cudaErrorPeerAccessUnsupported", "this device reaches no other one's memory"},
    {218, "cudaErrorInvalidPtx", "the PTX in this program does not compile"},
    {222, "cudaErrorUnsupportedPtxVersion", "the PTX is newer than the driver understands"},
    {304, "cudaErrorOperatingSystem", "the operating system refused a request of the runtime"},
    {400, "cudaErrorInvalidResourceHandle", "this stream, event or module does not exist"},
    {401, "cudaErrorIllegalState", "the resource is not in a state for this call"},
    {500, "cudaErrorSymbolNotFound", "the GPU code holds no such name"},
    {600, "cudaErrorNotReady", "the work is still running"},
    {700, "cudaErrorIllegalAddress", "a kernel used an address that is not allocated"},
    {701, "cudaErrorLaunchOutOfResources", "one block needs more registers than an SM has"},
    {702, "cudaErrorLaunchTimeout", "a kernel did not end within its limit"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "the other device's memory can be reached already"},
    {705, "cudaErrorPeerAccessNotEnabled", "the other device's memory was not opened"},
    {709, "cudaErrorContextIsDestroyed", "the device context is gone"},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "the host memory is pinned already"},
    {713, "cudaErrorHostMemoryNotRegistered", "the host memory is not registered"},
    {710, "cudaErrorAssert", "an assert in a kernel failed"},
    {714, "cudaErrorHardwareStackError", "a kernel ran over its call stack"},
    {715, "cudaErrorIllegalInstruction", "a kernel came to an instruction that cannot be executed"},
    {716, "cudaErrorMisalignedAddress",
     "a kernel used an address that is not a multiple of the size"},
    {717, "cudaErrorInvalidAddressSpace", "a kernel used an address of the wrong memory space"},
    {718, "cudaErrorInvalidPc", "a kernel jumped to an address without code"},
    {719, "cudaErrorLaunchFailure", "a kernel failed"},
    {720, "cudaErrorCooperativeLaunchTooLarge",
     "a cooperative grid does not fit the device at once"},
    {721, "cudaErrorTensorMemoryLeak",
     "a kernel ended with tensor memory that it did not give back"},
    {800, "cudaErrorNotPermitted", "this operation is not allowed here"},
    {801, "cudaErrorNotSupported", "this device or engine does not support the operation"},
    {802, "cudaErrorSystemNotReady", "the system's GPU services are not running"},
    {803, "cudaErrorSystemDriverMismatch", "the NVIDIA driver's parts have different versions"},
    {900, "cudaErrorStreamCaptureUnsupported", "this cannot be done while a stream is captured"},
    {901, "cudaErrorStreamCaptureInvalidated", "an earlier failure ended the capture"},
    {902, "cudaErrorStreamCaptureMerge", "two captures would become one"},
    {903, "cudaErrorStreamCaptureUnmatched", "the capture began on another stream"},
    {904, "cudaErrorStreamCaptureUnjoined", "a stream of the capture was not waited for"},
    {905, "cudaErrorStreamCaptureIsolation", "a captured stream waits for what is outside"},
    {906, "cudaErrorStreamCaptureImplicit", "the default stream would wait for a captured one"},
    {907, "cudaErrorCapturedEvent", "the event was recorded in a capture"},
    {908, "cudaErrorStreamCaptureWrongThread", "the capture began in another thread"},
    {909, "cudaErrorTimeout", "the wait took longer than it was allowed to"},
    {910, "cudaErrorGraphExecUpdateFailure", "the graph differs too much for an update"},
    {912, "cudaErrorInvalidClusterSize", "this device has no clusters of that size"},
    {999, "cudaErrorUnknown", "an error of no known kind"},
};

static const StatusRow *status_row(int32_t status)
{
    for (size_t i = 0; i < sizeof status_table / sizeof status_table[0]; i++)
        if (status_table[i].status == status) return &status_table[i];
    return NULL;
}

static const char *const ENGINE_NAME[] = {
    [ENGINE_SIM] = "sim", [ENGINE_GPU] = "gpu", [ENGINE_AUTO] = "auto"};

const char *engine_name(DeviceEngine engine)
{
    return ENGINE_NAME[engine];
}

int engine_find(const char *name, DeviceEngine *engine)
{
    for (int i = ENGINE_SIM; i <= ENGINE_AUTO; i++) {
        if (strcmp(ENGINE_NAME[i], name)) continue;
        *engine = (DeviceEngine)i;
        return 0;
    }
    return -1;
}

const char *device_status_name(int32_t status)
{
    const StatusRow *row = status_row(status);
    return row ? row->name : "unrecognized error code";
}

const char *device_status_text(int32_t status)
{
    const StatusRow *row = status_row(status);
    return row ? row->text : "unrecognized error code";
}

int device_status_sticky(int32_t status)
{
    switch (status) {
    case 214: /* memory error: the context is lost as after a fault */
    case DEVICE_ILLEGAL_ADDRESS:
    case DEVICE_LAUNCH_TIMEOUT:
    case DEVICE_ASSERT:
    case 714:
    case DEVICE_ILLEGAL_INSTRUCTION:
    case DEVICE_MISALIGNED_ADDRESS:
    case 717:
    case 718:
    case DEVICE_LAUNCH_FAILURE:
        return 1;
    default:
        return 0;
    }
}

int device_fail(DeviceReply *reply, int32_t status, const char *format, ...)
{
    reply->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reply->message, sizeof reply->message, format, arguments);
    va_end(arguments);
    return 0;
}
