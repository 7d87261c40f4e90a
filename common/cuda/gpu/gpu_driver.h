/* gpu_driver.h - the part of the CUDA driver API that the gpu engine calls, bound at run time.
 *
 * Nothing here comes from the toolkit's headers and nothing is linked against the driver, so the
 * same program starts on a machine without one.  The types mirror the driver's binary interface; a
 * symbol with a version suffix is the version whose layout is declared here, even if the driver
 * also has newer ones. */
#ifndef CONVLAB_CUDA_GPU_DRIVER_H
#define CONVLAB_CUDA_GPU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef int DriverResult; /* CUresult */
typedef int DriverOrdinal;
typedef uint64_t DriverAddress;
typedef struct DriverContextObject *DriverContext;
typedef struct DriverModuleObject *DriverModule;
typedef struct DriverFunctionObject *DriverFunction;
typedef struct DriverStreamObject *DriverStream;
typedef struct DriverEventObject *DriverEvent;
typedef struct DriverGraphObject *DriverGraph;
typedef struct DriverNodeObject *DriverNode;
typedef struct DriverGraphExecObject *DriverGraphExec;

enum {
    DRIVER_SUCCESS = 0,
    DRIVER_INVALID_VALUE = 1,
    DRIVER_OUT_OF_MEMORY = 2,
    DRIVER_NOT_FOUND = 500,
    DRIVER_MEMORY_HOST = 1,
    DRIVER_MEMORY_DEVICE = 2,
    DRIVER_POINTER_MEMORY_TYPE = 2, /* attribute of cuPointerGetAttribute */
    DRIVER_JIT_ERROR_LOG = 5,
    DRIVER_JIT_ERROR_LOG_BYTES = 6,
    DRIVER_OLDEST = 12000 /* the oldest version that the labs support */
};

/* The markers of cuLaunchKernel's `extra` list: the packed parameters follow as pointer and
 * size. */
#define DRIVER_PARAMS_END     ((void *)0)
#define DRIVER_PARAMS_POINTER ((void *)1)
#define DRIVER_PARAMS_SIZE    ((void *)2)

/* CUlaunchAttribute, whose value is a union of 64 bytes, and CUlaunchConfig. */
enum { DRIVER_COOPERATIVE = 2, DRIVER_CLUSTER = 4, DRIVER_ATTRIBUTES = 2 };
typedef union DriverAttributeValue {
    char room[64];
    unsigned cluster[3];
    int cooperative;
} DriverAttributeValue;

typedef struct DriverAttribute {
    int id;
    char gap[4];
    DriverAttributeValue value;
} DriverAttribute;

typedef struct DriverLaunch {
    unsigned grid[3], block[3], shared_bytes;
    DriverStream stream;
    const DriverAttribute *attribute;
    unsigned attributes;
} DriverLaunch;

/* CUDA_KERNEL_NODE_PARAMS (first version), CUDA_MEMSET_NODE_PARAMS, CUDA_MEMCPY3D_v2. */
typedef struct DriverKernelNode {
    DriverFunction function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
} DriverKernelNode;

typedef struct DriverFillNode {
    DriverAddress address;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
} DriverFillNode;

typedef struct DriverCopyEnd {
    size_t x_bytes, y, z, level;
    int memory_type;
    const void *host;
    DriverAddress device;
    void *array, *reserved;
    size_t pitch, height;
} DriverCopyEnd;

typedef struct DriverCopyNode {
    DriverCopyEnd source, destination;
    size_t width_bytes, height, depth;
} DriverCopyNode;

/* X(field, symbol, parameters): one line per function. */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(init, "cuInit", (unsigned))                                                                  \
    X(version, "cuDriverGetVersion", (int *))                                                      \
    X(error_name, "cuGetErrorName", (DriverResult, const char **))                                 \
    X(error_text, "cuGetErrorString", (DriverResult, const char **))                               \
    X(device_count, "cuDeviceGetCount", (int *))                                                   \
    X(device_get, "cuDeviceGet", (DriverOrdinal *, int))                                           \
    X(device_name, "cuDeviceGetName", (char *, int, DriverOrdinal))                                \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t *, DriverOrdinal))                             \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, DriverOrdinal))                       \
    X(context_retain, "cuDevicePrimaryCtxRetain", (DriverContext *, DriverOrdinal))                \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (DriverOrdinal))                            \
    X(context_use, "cuCtxSetCurrent", (DriverContext))                                             \
    X(context_sync, "cuCtxSynchronize", (void))                                                    \
    X(limit_set, "cuCtxSetLimit", (int, size_t))                                                   \
    X(limit_get, "cuCtxGetLimit", (size_t *, int))                                                 \
    X(memory_info, "cuMemGetInfo_v2", (size_t *, size_t *))                                        \
    X(memory_alloc, "cuMemAlloc_v2", (DriverAddress *, size_t))                                    \
    X(memory_free, "cuMemFree_v2", (DriverAddress))                                                \
    X(memory_range, "cuMemGetAddressRange_v2", (DriverAddress *, size_t *, DriverAddress))         \
    X(pointer_attribute, "cuPointerGetAttribute", (void *, int, DriverAddress))                    \
    X(host_alloc, "cuMemAllocHost_v2", (void **, size_t))                                          \
    X(host_free, "cuMemFreeHost", (void *))                                                        \
    X(copy_in, "cuMemcpyHtoDAsync_v2", (DriverAddress, const void *, size_t, DriverStream))        \
    X(copy_out, "cuMemcpyDtoHAsync_v2", (void *, DriverAddress, size_t, DriverStream))             \
    X(copy_on, "cuMemcpyDtoDAsync_v2", (DriverAddress, DriverAddress, size_t, DriverStream))       \
    X(fill_bytes, "cuMemsetD8Async", (DriverAddress, unsigned char, size_t, DriverStream))         \
    X(fill_words, "cuMemsetD32Async", (DriverAddress, unsigned, size_t, DriverStream))             \
    X(module_load, "cuModuleLoadDataEx",                                                           \
      (DriverModule *, const void *, unsigned, const int *, void **))                              \
    X(module_unload, "cuModuleUnload", (DriverModule))                                             \
    X(module_function, "cuModuleGetFunction", (DriverFunction *, DriverModule, const char *))      \
    X(module_variable, "cuModuleGetGlobal_v2",                                                     \
      (DriverAddress *, size_t *, DriverModule, const char *))                                     \
    X(function_attribute, "cuFuncGetAttribute", (int *, int, DriverFunction))                      \
    X(function_set, "cuFuncSetAttribute", (DriverFunction, int, int))                              \
    X(launch, "cuLaunchKernel",                                                                    \
      (DriverFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
       DriverStream, void **, void **))                                                            \
    X(launch_with, "cuLaunchKernelEx", (const DriverLaunch *, DriverFunction, void **, void **))   \
    X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                    \
      (int *, DriverFunction, int, size_t))                                                        \
    X(stream_create, "cuStreamCreate", (DriverStream *, unsigned))                                 \
    X(stream_destroy, "cuStreamDestroy_v2", (DriverStream))                                        \
    X(stream_sync, "cuStreamSynchronize", (DriverStream))                                          \
    X(stream_query, "cuStreamQuery", (DriverStream))                                               \
    X(stream_wait, "cuStreamWaitEvent", (DriverStream, DriverEvent, unsigned))                     \
    X(event_create, "cuEventCreate", (DriverEvent *, unsigned))                                    \
    X(event_destroy, "cuEventDestroy_v2", (DriverEvent))                                           \
    X(event_record, "cuEventRecord", (DriverEvent, DriverStream))                                  \
    X(event_sync, "cuEventSynchronize", (DriverEvent))                                             \
    X(event_query, "cuEventQuery", (DriverEvent))                                                  \
    X(event_elapsed, "cuEventElapsedTime", (float *, DriverEvent, DriverEvent))                    \
    X(graph_create, "cuGraphCreate", (DriverGraph *, unsigned))                                    \
    X(graph_destroy, "cuGraphDestroy", (DriverGraph))                                              \
    X(graph_kernel, "cuGraphAddKernelNode",                                                        \
      (DriverNode *, DriverGraph, const DriverNode *, size_t, const DriverKernelNode *))           \
    X(graph_kernel_attribute, "cuGraphKernelNodeSetAttribute",                                     \
      (DriverNode, int, const DriverAttributeValue *))                                             \
    X(graph_copy, "cuGraphAddMemcpyNode",                                                          \
      (DriverNode *, DriverGraph, const DriverNode *, size_t, const DriverCopyNode *,              \
       DriverContext))                                                                             \
    X(graph_fill, "cuGraphAddMemsetNode",                                                          \
      (DriverNode *, DriverGraph, const DriverNode *, size_t, const DriverFillNode *,              \
       DriverContext))                                                                             \
    X(graph_empty, "cuGraphAddEmptyNode", (DriverNode *, DriverGraph, const DriverNode *, size_t)) \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",                                            \
      (DriverGraphExec *, DriverGraph, unsigned long long))                                        \
    X(graph_upload, "cuGraphUpload", (DriverGraphExec, DriverStream))                              \
    X(graph_launch, "cuGraphLaunch", (DriverGraphExec, DriverStream))                              \
    X(graph_exec_destroy, "cuGraphExecDestroy", (DriverGraphExec))

/* Functions that a driver may lack (then NULL). */
#define DRIVER_OPTIONAL(X)                                                                         \
    X(tensor_tiled, "cuTensorMapEncodeTiled",                                                      \
      (void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *,        \
       const unsigned *, int, int, int, int))                                                      \
    X(tensor_im2col, "cuTensorMapEncodeIm2col",                                                    \
      (void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const int *,             \
       const int *, unsigned, unsigned, const unsigned *, int, int, int, int))                     \
    X(function_param, "cuFuncGetParamInfo", (DriverFunction, size_t, size_t *, size_t *))

#define DRIVER_FIELD(field, symbol, parameters) DriverResult(*field) parameters;
typedef struct GpuDriver {
    DRIVER_FUNCTIONS(DRIVER_FIELD)
    DRIVER_OPTIONAL(DRIVER_FIELD)
} GpuDriver;
#undef DRIVER_FIELD

/* The driver of this machine, initialised; loaded once for the process.  NULL with error if there
 * is no driver library, it is older than CUDA 12.0, or it finds no GPU. */
const GpuDriver *gpu_driver_load(Error *error);

/* Binds `driver` to the functions of a library opened with dlopen(3); -1 names the first missing
 * one. */
int gpu_driver_bind(GpuDriver *driver, void *library, Error *error);

/* The driver's name of `result`: "CUDA_ERROR_INVALID_VALUE (invalid argument)". */
void gpu_driver_words(const GpuDriver *driver, DriverResult result, char *text, size_t bytes);

#endif
