/* Objects that nvcc's code registers before main: fat binaries, kernels and variables; loaded on
 * first use.
 *
 * These entry points are not in the toolkit's C headers: nvcc's generated code declares and calls
 * them.  Registration only stores data and cannot report failures, because it runs before main.
 * Nothing is unloaded at exit: the host program may have closed the device by then, and the engine
 * frees everything when it closes. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime_state.h"
#include "common/simulator/ptx/fatbin.h"

/* The structure that nvcc puts into section .nvFatBinSegment; the layout is part of the toolchain's
 * ABI. */
typedef struct FatbinWrapper {
    int32_t magic, version;
    const void *data;
    void *filename_or_fatbins;
} FatbinWrapper;

enum { FATBIN_WRAPPER_MAGIC = 0x466243B1, FATBIN_WRAPPER_LINKED = 2 };

/* Code that nvcc linked (-rdc=true) has no PTX; the wrapper names the files' own images, which do.
 * A failure keeps the linked image, whose rejection is reported when it is used. */
static const void *image_link(const FatbinWrapper *wrapper)
{
    const void *const *image = wrapper->filename_or_fatbins;
    size_t images = 0, bytes;
    Error error;
    while (image && image[images])
        images++;
    void *linked = images ? fatbin_link(wrapper->data, image, images, &bytes, &error) : NULL;
    return linked ? linked : wrapper->data;
}

static RuntimeModule *modules;
static RuntimeFunction *functions;
static RuntimeVariable *variables;

void **__cudaRegisterFatBinary(void *wrapper_address);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address, const char *name,
                              int is_extern, size_t bytes, int constant, int global);
void __cudaRegisterFunction(void **handle, const char *host, char *device_name, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name,
                       int is_extern, size_t bytes, int constant, int global);

void **__cudaRegisterFatBinary(void *wrapper_address)
{
    const FatbinWrapper *wrapper = wrapper_address;
    RuntimeModule *module = calloc(1, sizeof *module);
    if (!module) abort();
    /* A wrapper of an unknown kind keeps a NULL image and is rejected when it is used. */
    if (wrapper && wrapper->magic == FATBIN_WRAPPER_MAGIC)
        module->image =
            wrapper->version == FATBIN_WRAPPER_LINKED ? image_link(wrapper) : wrapper->data;
    runtime_lock();
    module->next = modules;
    modules = module;
    runtime_unlock();
    return (void **)module;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

static void managed_place(RuntimeVariable *variable);

/* Called before host code first uses a __managed__ variable of the module: stores its address. */
char __cudaInitModule(void **handle)
{
    runtime_lock();
    for (RuntimeVariable *variable = variables; variable; variable = variable->next)
        if (variable->managed && variable->module == (RuntimeModule *)handle)
            managed_place(variable);
    runtime_unlock();
    return 1;
}

/* `pointer` contains the variable's address for host code, and identifies the variable in calls. */
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address, const char *name,
                              int is_extern, size_t bytes, int constant, int global)
{
    __cudaRegisterVar(handle, (char *)pointer, device_address, name, is_extern, bytes, constant,
                      global);
    runtime_lock();
    variables->managed = pointer;
    runtime_unlock();
}

void __cudaRegisterFunction(void **handle, const char *host, char *device_name, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid,
                            int *warp_size)
{
    (void)device_name, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size;
    RuntimeFunction *function = calloc(1, sizeof *function);
    if (!function) abort();
    function->host = host;
    function->name = name;
    function->module = (RuntimeModule *)handle;
    runtime_lock();
    function->next = functions;
    functions = function;
    runtime_unlock();
}

void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name,
                       int is_extern, size_t bytes, int constant, int global)
{
    (void)device_address, (void)is_extern, (void)constant, (void)global;
    RuntimeVariable *variable = calloc(1, sizeof *variable);
    if (!variable) abort();
    variable->host = host;
    variable->name = name;
    variable->bytes = bytes;
    variable->module = (RuntimeModule *)handle;
    runtime_lock();
    variable->next = variables;
    variables = variable;
    runtime_unlock();
}

void runtime_images(void (*visit)(void *context, const void *image, size_t bytes), void *context)
{
    for (RuntimeModule *module = modules; module; module = module->next) {
        size_t bytes = module->image ? fatbin_image_bytes(module->image) : 0;
        if (bytes) visit(context, module->image, bytes);
    }
}

void runtime_forget_loaded(void)
{
    for (RuntimeModule *module = modules; module; module = module->next)
        module->loaded = 0;
    for (RuntimeFunction *function = functions; function; function = function->next)
        function->loaded = 0;
    for (RuntimeVariable *variable = variables; variable; variable = variable->next)
        variable->loaded = 0;
}

static cudaError_t module_load(const char *api, RuntimeModule *module)
{
    if (module->loaded) return cudaSuccess;
    size_t bytes = module->image ? fatbin_image_bytes(module->image) : 0;
    if (bytes == 0)
        return runtime_fail(api, DEVICE_INVALID_IMAGE,
                            "the object holds no GPU code that this runtime can read; "
                            "compile it with nvcc and without -rdc=true");
    DeviceCall call = {.kind = CALL_MODULE_LOAD, .data = module->image, .data_bytes = bytes};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess) return status;
    module->handle = (uint32_t)reply.value[0];
    module->loaded = 1;
    return cudaSuccess;
}

/* Packed parameters depend on these numbers, so they are checked once, here. */
static int info_is_sane(const FunctionInfo *info)
{
    if (info->param_count > FUNCTION_PARAMS || info->params_bytes > 32768) return 0;
    for (uint32_t i = 0; i < info->param_count; i++)
        if (info->param_offset[i] > info->params_bytes ||
            info->param_bytes[i] > info->params_bytes - info->param_offset[i])
            return 0;
    return 1;
}

static cudaError_t function_load(const char *api, RuntimeFunction *function)
{
    cudaError_t status = module_load(api, function->module);
    if (status != cudaSuccess) return status;
    DeviceCall call = {.kind = CALL_MODULE_FUNCTION,
                       .module = function->module->handle,
                       .data = function->name,
                       .data_bytes = strlen(function->name) + 1};
    DeviceReply reply;
    status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess) return status;
    if (reply.data_bytes != sizeof function->info)
        return runtime_fail(api, DEVICE_UNKNOWN, "the device described %s wrongly", function->name);
    memcpy(&function->info, reply.data, sizeof function->info);
    if (!info_is_sane(&function->info))
        return runtime_fail(api, DEVICE_UNKNOWN, "the device described %s wrongly", function->name);
    function->handle = (uint32_t)reply.value[0];
    function->loaded = 1;
    return cudaSuccess;
}

cudaError_t runtime_function(const char *api, const void *host, RuntimeFunction **found)
{
    runtime_lock();
    RuntimeFunction *function = functions;
    while (function && function->host != host)
        function = function->next;
    cudaError_t status = cudaSuccess;
    if (!function)
        status = runtime_fail(api, DEVICE_INVALID_FUNCTION, "%p is no __global__ function", host);
    else if (!function->loaded)
        status = function_load(api, function);
    runtime_unlock();
    *found = function;
    return status;
}

static cudaError_t variable_load(const char *api, RuntimeVariable *variable)
{
    cudaError_t status = module_load(api, variable->module);
    if (status != cudaSuccess) return status;
    DeviceCall call = {.kind = CALL_MODULE_VARIABLE,
                       .module = variable->module->handle,
                       .data = variable->name,
                       .data_bytes = strlen(variable->name) + 1};
    DeviceReply reply;
    status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess) return status;
    variable->address = reply.value[0];
    variable->bytes = reply.value[1];
    variable->loaded = 1;
    return cudaSuccess;
}

/* If the device is in another process, host code gets separate memory, and the variable is
 * reported. */
static void managed_place(RuntimeVariable *variable)
{
    static const char api[] = "a __managed__ variable";
    if (!variable->loaded) variable_load(api, variable);
    void *at = (void *)(uintptr_t)variable->address;
    if (variable->loaded && runtime_host_is_mapped(at, variable->bytes)) {
        *variable->managed = at;
        return;
    }
    runtime_fail(api, DEVICE_NOT_SUPPORTED,
                 "%s: managed memory is for the simulated GPU of make simulate and make run",
                 variable->name);
    *variable->managed = calloc(1, variable->bytes + 1);
}

cudaError_t runtime_variable(const char *api, const void *host, RuntimeVariable **found)
{
    runtime_lock();
    RuntimeVariable *variable = variables;
    while (variable && variable->host != host)
        variable = variable->next;
    cudaError_t status = cudaSuccess;
    if (!variable)
        status = runtime_fail(api, DEVICE_INVALID_SYMBOL,
                              "%p is no __device__ or __constant__ variable; pass the variable "
                              "itself, neither its name in quotes nor a copied pointer",
                              host);
    else if (!variable->loaded)
        status = variable_load(api, variable);
    runtime_unlock();
    *found = variable;
    return status;
}
