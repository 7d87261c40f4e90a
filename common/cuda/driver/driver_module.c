/* driver_module.c - modules, libraries and functions: PTX text and fat binaries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/driver/driver_state.h"
#include "common/simulator/ptx/fatbin.h"

/* ---- modules --------------------------------------------------------------------------------- */

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    static const char api[] = "cuModuleLoadData";
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    size_t bytes = fatbin_image_bytes(image);
    if (!bytes)
        return driver_status(runtime_fail(api, DEVICE_INVALID_IMAGE,
                                          "the image is neither PTX text nor a fat binary with "
                                          "PTX; the simulated GPU cannot load a cubin"));
    DeviceCall call = {.kind = CALL_MODULE_LOAD, .data = image, .data_bytes = bytes};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess) return driver_status(status);
    CUmodule made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    made->handle = (uint32_t)reply.value[0];
    *module = made;
    return CUDA_SUCCESS;
}

/* The options of a compiler that does not run; logs are empty. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    for (unsigned i = 0; options && values && i < count; i++)
        if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
            options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            values[i] = NULL;
    return cuModuleLoadData(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return cuModuleLoadData(module, image);
}

CUresult cuModuleLoad(CUmodule *module, const char *name)
{
    FILE *file = name ? fopen(name, "rb") : NULL;
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult status = CUDA_ERROR_INVALID_IMAGE;
    char *image = NULL;
    long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (bytes > 0 && fseek(file, 0, SEEK_SET) == 0) image = calloc(1, (size_t)bytes + 1);
    if (image && fread(image, 1, (size_t)bytes, file) == (size_t)bytes)
        status = cuModuleLoadData(module, image);
    free(image);
    fclose(file);
    return status;
}

CUresult cuModuleUnload(CUmodule module)
{
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    DeviceCall call = {.kind = CALL_MODULE_UNLOAD, .module = module->handle};
    cudaError_t status = runtime_call("cuModuleUnload", &call, NULL);
    while (module->functions) {
        CUfunction function = module->functions;
        module->functions = function->next;
        free(function->name);
        free(function);
    }
    free(module);
    return driver_status(status);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    static const char api[] = "cuModuleGetFunction";
    if (!function || !module || !name) return CUDA_ERROR_INVALID_VALUE;
    for (CUfunction known = module->functions; known; known = known->next)
        if (!strcmp(known->name, name)) return *function = known, CUDA_SUCCESS;
    DeviceCall call = {.kind = CALL_MODULE_FUNCTION,
                       .value = FUNCTION_MAY_LACK,
                       .module = module->handle,
                       .data = name,
                       .data_bytes = strlen(name) + 1};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status == cudaErrorInvalidDeviceFunction) return CUDA_ERROR_NOT_FOUND;
    if (status != cudaSuccess) return driver_status(status);
    CUfunction made = calloc(1, sizeof *made);
    if (!made || reply.data_bytes != sizeof made->info) return free(made), CUDA_ERROR_UNKNOWN;
    memcpy(&made->info, reply.data, sizeof made->info);
    made->handle = (uint32_t)reply.value[0];
    made->module = module;
    made->name = strdup(name);
    made->next = module->functions;
    module->functions = made;
    *function = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    if (!module || !name) return CUDA_ERROR_INVALID_VALUE;
    DeviceCall call = {.kind = CALL_MODULE_VARIABLE,
                       .module = module->handle,
                       .data = name,
                       .data_bytes = strlen(name) + 1};
    DeviceReply reply;
    if (runtime_try(&call, &reply)) return CUDA_ERROR_NOT_FOUND;
    if (address) *address = reply.value[0];
    if (bytes) *bytes = reply.value[1];
    driver_memory_add(reply.value[0], reply.value[1]);
    return CUDA_SUCCESS;
}

/* ---- libraries: modules with other names ----------------------------------------------------- */

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options,
                           void **values, unsigned count, CUlibraryOption *library_options,
                           void **library_values, unsigned library_count)
{
    (void)library_options, (void)library_values, (void)library_count;
    return cuModuleLoadDataEx((CUmodule *)library, image, count, options, values);
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return cuModuleUnload((CUmodule)library);
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    if (!module || !library) return CUDA_ERROR_INVALID_VALUE;
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return cuModuleGetFunction((CUfunction *)kernel, (CUmodule)library, name);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                            const char *name)
{
    return cuModuleGetGlobal(address, bytes, (CUmodule)library, name);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    if (!function || !kernel) return CUDA_ERROR_INVALID_VALUE;
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

/* ---- linking: of one input ------------------------------------------------------------------- */

struct CUlinkState_st {
    char *ptx;
    size_t bytes;
};

CUresult cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    (void)count, (void)options, (void)values;
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = calloc(1, sizeof **state);
    return *state ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned count, CUjit_option *options, void **values)
{
    static const char api[] = "cuLinkAddData";
    (void)name, (void)count, (void)options, (void)values;
    if (!state || !data) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
        return driver_status(runtime_fail(api, DEVICE_NOT_SUPPORTED,
                                          "input of type %d; PTX and fat binaries are supported",
                                          (int)type));
    if (state->ptx)
        return driver_status(runtime_fail(api, DEVICE_NOT_SUPPORTED,
                                          "a second input: device code of several modules cannot "
                                          "be linked"));
    state->ptx = calloc(1, bytes + 1);
    if (!state->ptx) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(state->ptx, data, bytes);
    state->bytes = bytes;
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes)
{
    if (!state || !state->ptx || !image) return CUDA_ERROR_INVALID_VALUE;
    *image = state->ptx;
    if (bytes) *bytes = state->bytes;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    if (state) free(state->ptx);
    free(state);
    return CUDA_SUCCESS;
}

/* ---- functions ------------------------------------------------------------------------------- */

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    if (!value || !function) return CUDA_ERROR_INVALID_VALUE;
    const FunctionInfo *info = &function->info;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)info->max_threads;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)info->shared_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)info->const_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)info->local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)info->registers;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)info->ptx_version;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = (int)info->binary_version;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)function->dynamic_limit;
        break;
    default:
        *value = 0;
        break;
    }
    return CUDA_SUCCESS;
}

/* Two attributes have an effect; the others are hints. */
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
    DeviceCall call = {.kind = CALL_FUNCTION_ATTRIBUTE,
                       .function = function->handle,
                       .value = cudaFuncAttributeMaxDynamicSharedMemorySize,
                       .bytes = (uint32_t)value};
    cudaError_t status = runtime_call("cuFuncSetAttribute", &call, NULL);
    if (status == cudaSuccess) function->dynamic_limit = (uint32_t)value;
    return driver_status(status);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    (void)config;
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    if (!name || !function) return CUDA_ERROR_INVALID_VALUE;
    *name = function->name;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    if (!module || !function) return CUDA_ERROR_INVALID_VALUE;
    *module = function->module;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device)
{
    (void)device;
    return cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device)
{
    (void)device;
    return cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t at, size_t *offset, size_t *bytes)
{
    if (!function || !offset || at >= function->info.param_count) return CUDA_ERROR_INVALID_VALUE;
    *offset = function->info.param_offset[at];
    if (bytes) *bytes = function->info.param_bytes[at];
    return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t at, size_t *offset, size_t *bytes)
{
    return cuFuncGetParamInfo((CUfunction)kernel, at, offset, bytes);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared)
{
    if (!blocks || !function || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    DeviceCall call = {.kind = CALL_OCCUPANCY,
                       .function = function->handle,
                       .block = {(uint32_t)threads, 1, 1},
                       .shared_bytes = (uint32_t)shared};
    DeviceReply reply;
    cudaError_t status = runtime_call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &call, &reply);
    if (status == cudaSuccess) *blocks = (int)reply.value[0];
    return driver_status(status);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int threads, size_t shared,
                                                              unsigned flags)
{
    (void)flags;
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

/* The largest block of whole warps with the most resident threads. */
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit)
{
    int most = 0, sms = 0;
    if (!grid || !block || !function) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    int top = (int)function->info.max_threads;
    if (limit > 0 && limit < top) top = limit;
    for (int threads = top / 32 * 32; threads >= 32 && !status; threads -= 32) {
        int blocks = 0;
        status = cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, function, threads, shared_of ? shared_of(threads) : shared);
        if (blocks * threads > most)
            most = blocks * threads, *block = threads, *grid = blocks * sms;
    }
    return status;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared,
                                                   int limit, unsigned flags)
{
    (void)flags;
    return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared, limit);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The parameters come as a list of addresses, or packed in `extra`. */
static CUresult parameters_pack(const FunctionInfo *info, void **parameters, void **extra,
                                unsigned char *packed)
{
    for (uint32_t i = 0; parameters && i < info->param_count; i++)
        memcpy(packed + info->param_offset[i], parameters[i], info->param_bytes[i]);
    if (parameters || !info->param_count) return CUDA_SUCCESS;
    const void *buffer = NULL;
    size_t bytes = 0;
    for (int i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[i + 1];
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *(size_t *)extra[i + 1];
    }
    if (!buffer) return CUDA_ERROR_INVALID_VALUE;
    memcpy(packed, buffer, bytes < info->params_bytes ? bytes : info->params_bytes);
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, const unsigned size[6], unsigned shared,
                       CUstream stream, void **parameters, void **extra, uint32_t how)
{
    static const char api[] = "cuLaunchKernel";
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    const FunctionInfo *info = &function->info;
    DeviceCall call = {.kind = CALL_LAUNCH,
                       .function = function->handle,
                       .grid = {size[0], size[1], size[2]},
                       .block = {size[3], size[4], size[5]},
                       .shared_bytes = shared,
                       .value = how,
                       .data_bytes = info->params_bytes};
    cudaError_t status = runtime_stream(api, stream, &call.stream);
    if (status != cudaSuccess) return driver_status(status);
    unsigned char *packed = calloc(1, info->params_bytes + 1);
    if (!packed) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = parameters_pack(info, parameters, extra, packed);
    call.data = packed;
    if (result == CUDA_SUCCESS) result = driver_status(runtime_call(api, &call, NULL));
    free(packed);
    return result;
}

/* Only cuLaunch and cuLaunchGrid, which are rejected, would use the shape and the size.  PyCUDA
 * sets them before cuLaunchKernel. */
CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    return !function || x < 1 || y < 1 || z < 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes)
{
    (void)bytes;
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **parameters, void **extra)
{
    return launch(function, (unsigned[]){grid_x, grid_y, grid_z, block_x, block_y, block_z}, shared,
                  stream, parameters, extra, 0);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void **parameters)
{
    return launch(function, (unsigned[]){grid_x, grid_y, grid_z, block_x, block_y, block_z}, shared,
                  stream, parameters, NULL, LAUNCH_TOGETHER);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra)
{
    uint32_t how = 0;
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &config->attrs[i].value;
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && value->cooperative)
            how |= LAUNCH_TOGETHER;
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            how |= (value->clusterDim.x | value->clusterDim.y << 8 | value->clusterDim.z << 16)
                   << LAUNCH_CLUSTER;
    }
    return launch(function,
                  (unsigned[]){config->gridDimX, config->gridDimY, config->gridDimZ,
                               config->blockDimX, config->blockDimY, config->blockDimZ},
                  config->sharedMemBytes, config->hStream, parameters, extra, how);
}
