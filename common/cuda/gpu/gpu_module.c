#include <stdlib.h>
#include <string.h>

#include "common/base/demangle.h"
#include "common/cuda/gpu/gpu_engine.h"
#include "common/simulator/ptx/fatbin.h"
#include "common/simulator/ptx/ptx.h"

typedef struct GpuModule {
    DriverModule module;
    GpuImage *image;    /* its PTX: for the names of its variables, and for a driver without queries
                         * of parameter layouts */
    uint32_t *function; /* handles of the functions looked up so far */
    size_t functions, function_capacity;
} GpuModule;

enum {
    ATTRIBUTE_MAX_THREADS,
    ATTRIBUTE_SHARED,
    ATTRIBUTE_CONST,
    ATTRIBUTE_LOCAL,
    ATTRIBUTE_REGISTERS,
    ATTRIBUTE_PTX,
    ATTRIBUTE_BINARY,
    ATTRIBUTE_DYNAMIC = 8,
    ATTRIBUTE_CARVEOUT
};

/* ---- modules ------------------------------------------------------------------------- */

void gpu_module_close(GpuDevice *device, void *object)
{
    GpuModule *module = object;
    if (module->module) device->driver->module_unload(module->module);
    gpu_image_close(module->image);
    free(module->function);
    free(module);
}

void gpu_function_close(void *object)
{
    GpuFunction *function = object;
    free(function->name);
    free(function);
}

/* The driver trusts the sizes in the image's header, so they are compared with the received
 * bytes. */
static int32_t image_take(GpuDevice *device, GpuModule *module, const DeviceCall *call,
                          DeviceReply *reply)
{
    module->image = gpu_image_open(device, call->data, call->data_bytes);
    if (!module->image)
        return gpu_refuse(reply, STATUS_NO_MEMORY, "no host memory for a module of %llu bytes",
                          (unsigned long long)call->data_bytes);
    size_t needed = fatbin_image_bytes(module->image->data);
    if (!needed || needed > call->data_bytes)
        return gpu_refuse(reply, STATUS_BAD_IMAGE,
                          needed ? "the fat binary is cut off" : "this is no fat binary");
    return STATUS_OK;
}

int32_t gpu_module_load(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    GpuModule *module = calloc(1, sizeof *module);
    if (!module) return gpu_refuse(reply, STATUS_NO_MEMORY, "no host memory for a module");
    int32_t status = image_take(device, module, call, reply);
    char log[600] = "";
    const int option[] = {DRIVER_JIT_ERROR_LOG, DRIVER_JIT_ERROR_LOG_BYTES};
    void *value[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    if (!status) {
        DriverResult result =
            device->driver->module_load(&module->module, module->image->data, 2, option, value);
        log[strcspn(log, "\n")] = 0; /* the first error is the one to fix */
        if (result)
            status = gpu_answer(device, result, reply, "loading the program onto %s%s%s",
                                device->properties.name, *log ? ": " : "", log);
    }
    Error error;
    if (!status && gpu_image_parse(module->image, &error))
        status = gpu_refuse(reply, STATUS_BAD_IMAGE, "%s", error.text);
    if (status) {
        gpu_module_close(device, module);
        return status;
    }
    uint32_t handle = gpu_handle_new(device, HANDLE_MODULE, module);
    if (!handle) {
        gpu_module_close(device, module);
        return gpu_refuse(reply, STATUS_NO_MEMORY, "too many modules");
    }
    reply->value[0] = handle;
    return gpu_answer(device, gpu_initial_read(device, handle, module->module, module->image->ptx),
                      reply, "reading what a module's variables hold");
}

int32_t gpu_module_unload(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    GpuModule *module = gpu_handle_get(device, call->module, HANDLE_MODULE);
    if (!module)
        return gpu_refuse(reply, STATUS_BAD_HANDLE, "module %u does not exist", call->module);
    for (size_t i = 0; i < module->functions; i++) {
        GpuHandle *h = &device->handle[module->function[i]];
        h->kind = HANDLE_GONE;
        gpu_function_close(h->object);
    }
    size_t kept = 0;
    for (size_t i = 0; i < device->variables; i++)
        if (device->variable[i].module != call->module)
            device->variable[kept++] = device->variable[i];
    device->variables = kept;
    gpu_initial_drop(device, call->module);
    device->handle[call->module].kind = HANDLE_GONE;
    device->unloads++;
    DriverResult result = device->driver->module_unload(module->module);
    module->module = NULL;
    gpu_module_close(device, module);
    return gpu_answer(device, result, reply, "unloading a module");
}

/* The NUL-terminated name in a call, or NULL. */
static const char *name_of(const DeviceCall *call)
{
    return call->data && memchr(call->data, 0, call->data_bytes) ? call->data : NULL;
}

static int variable_remember(GpuDevice *device, uint32_t module, DriverAddress address, size_t size)
{
    for (size_t i = 0; i < device->variables; i++)
        if (device->variable[i].address == address) return 0;
    GpuVariable *grown =
        gpu_grow(device->variable, device->variables, &device->variable_capacity, sizeof *grown);
    if (!grown) return -1;
    device->variable = grown;
    device->variable[device->variables++] = (GpuVariable){module, address, size};
    return 0;
}

int32_t gpu_module_variable(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    GpuModule *module = gpu_handle_get(device, call->module, HANDLE_MODULE);
    const char *name = name_of(call);
    if (!module || !name)
        return gpu_refuse(reply, STATUS_BAD_HANDLE, "module %u does not exist", call->module);
    DriverAddress address = 0;
    size_t size = 0;
    char plain[128];
    DriverResult result = device->driver->module_variable(&address, &size, module->module, name);
    demangle(name, plain, sizeof plain);
    if (result == DRIVER_NOT_FOUND)
        return gpu_refuse(reply, STATUS_BAD_SYMBOL, "the program has no variable %s", plain);
    if (result) return gpu_answer(device, result, reply, "looking up variable %s", plain);
    if (variable_remember(device, call->module, address, size))
        return gpu_refuse(reply, STATUS_NO_MEMORY, "no host memory left for the engine's tables");
    reply->value[0] = address;
    reply->value[1] = size;
    return STATUS_OK;
}

/* ---- functions ----------------------------------------------------------------------- */

static int layout_add(FunctionInfo *info, size_t offset, size_t bytes)
{
    if (info->param_count == FUNCTION_PARAMS || offset > UINT16_MAX || bytes > UINT16_MAX)
        return -1;
    info->param_offset[info->param_count] = (uint32_t)offset;
    info->param_bytes[info->param_count++] = (uint32_t)bytes;
    info->params_bytes = (uint32_t)(offset + bytes);
    return 0;
}

static DriverResult layout_query(GpuDevice *device, GpuFunction *function)
{
    for (size_t i = 0;; i++) {
        size_t offset = 0, bytes = 0;
        DriverResult result =
            device->driver->function_param(function->function, i, &offset, &bytes);
        if (result == DRIVER_INVALID_VALUE)
            return DRIVER_SUCCESS; /* the previous parameter was the
                                                                    * last */
        if (result) return result;
        if (layout_add(&function->info, offset, bytes)) return DRIVER_INVALID_VALUE;
    }
}

/* Parameter layout for drivers before CUDA 12.4: in declared order, each at the next multiple of
 * its alignment. */
static int layout_parse(GpuModule *module, GpuFunction *function, Error *error)
{
    for (uint32_t i = 0; i < module->image->ptx->functions; i++) {
        const PtxFunction *f = &module->image->ptx->function[i];
        if (!f->is_entry || strcmp(f->name, function->name)) continue;
        size_t at = 0;
        for (uint32_t p = 0; p < f->params; p++) {
            size_t align = f->param[p].align ? f->param[p].align : 1;
            at = (at + align - 1) / align * align;
            if (layout_add(&function->info, at, f->param[p].bytes))
                return error_set(error, "kernel %s has more than %d parameters", function->plain,
                                 FUNCTION_PARAMS);
            at += f->param[p].bytes;
        }
        return 0;
    }
    return error_set(error, "the program's PTX has no kernel %s", function->plain);
}

static DriverResult info_read(GpuDevice *device, GpuFunction *function)
{
    FunctionInfo *info = &function->info;
    const struct {
        uint32_t *value;
        int attribute;
    } table[] = {
        {&info->max_threads, ATTRIBUTE_MAX_THREADS}, {&info->shared_bytes, ATTRIBUTE_SHARED},
        {&info->const_bytes, ATTRIBUTE_CONST},       {&info->local_bytes, ATTRIBUTE_LOCAL},
        {&info->registers, ATTRIBUTE_REGISTERS},     {&info->ptx_version, ATTRIBUTE_PTX},
        {&info->binary_version, ATTRIBUTE_BINARY}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int value = 0;
        DriverResult result =
            device->driver->function_attribute(&value, table[i].attribute, function->function);
        if (result) return result;
        *table[i].value = (uint32_t)value;
    }
    return DRIVER_SUCCESS;
}

/* Queries all attributes of a function; 0, or the status with the reply's message. */
static int32_t function_open(GpuDevice *device, GpuModule *module, GpuFunction *function,
                             DeviceReply *reply)
{
    DriverResult result =
        device->driver->module_function(&function->function, module->module, function->name);
    if (result == DRIVER_NOT_FOUND)
        return gpu_refuse(reply, STATUS_BAD_FUNCTION, "the program has no kernel %s",
                          function->plain);
    if (!result) result = info_read(device, function);
    if (!result && device->driver->function_param) result = layout_query(device, function);
    if (result) return gpu_answer(device, result, reply, "looking up kernel %s", function->plain);
    Error error;
    if (!device->driver->function_param && layout_parse(module, function, &error))
        return gpu_refuse(reply, STATUS_BAD_IMAGE, "%s", error.text);
    return STATUS_OK;
}

static int32_t function_reply(GpuFunction *function, uint32_t handle, DeviceReply *reply)
{
    reply->value[0] = handle;
    reply->data = &function->info;
    reply->data_bytes = sizeof function->info;
    return STATUS_OK;
}

int32_t gpu_module_function(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    GpuModule *module = gpu_handle_get(device, call->module, HANDLE_MODULE);
    const char *name = name_of(call);
    if (!module || !name)
        return gpu_refuse(reply, STATUS_BAD_HANDLE, "module %u does not exist", call->module);
    for (size_t i = 0; i < module->functions; i++) {
        GpuFunction *known = device->handle[module->function[i]].object;
        if (!strcmp(known->name, name)) return function_reply(known, module->function[i], reply);
    }
    GpuFunction *function = calloc(1, sizeof *function);
    uint32_t *grown =
        gpu_grow(module->function, module->functions, &module->function_capacity, sizeof *grown);
    if (grown) module->function = grown;
    if (!function || !grown || !(function->name = strdup(name))) {
        free(function);
        return gpu_refuse(reply, STATUS_NO_MEMORY, "no host memory left for the engine's tables");
    }
    function->module = call->module;
    demangle(name, function->plain, sizeof function->plain);
    int32_t status = function_open(device, module, function, reply);
    uint32_t handle = status ? 0 : gpu_handle_new(device, HANDLE_FUNCTION, function);
    if (!status && !handle) status = gpu_refuse(reply, STATUS_NO_MEMORY, "too many functions");
    if (status) {
        gpu_function_close(function);
        return status;
    }
    module->function[module->functions++] = handle;
    return function_reply(function, handle, reply);
}

static GpuFunction *function_get(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    GpuFunction *function = gpu_handle_get(device, call->function, HANDLE_FUNCTION);
    if (!function)
        gpu_refuse(reply, STATUS_BAD_HANDLE, "function %u does not exist", call->function);
    return function;
}

int32_t gpu_function_attribute(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    GpuFunction *function = function_get(device, call, reply);
    if (!function) return STATUS_BAD_HANDLE;
    if ((call->value != ATTRIBUTE_DYNAMIC && call->value != ATTRIBUTE_CARVEOUT) ||
        call->bytes > INT32_MAX)
        return gpu_refuse(reply, STATUS_INVALID_VALUE,
                          "cudaFuncSetAttribute: attribute %u cannot be set to %llu", call->value,
                          (unsigned long long)call->bytes);
    DriverResult result =
        device->driver->function_set(function->function, (int)call->value, (int)call->bytes);
    return gpu_answer(device, result, reply,
                      "cudaFuncSetAttribute(%s, %s, %llu); at most %u bytes of shared memory per "
                      "block here, %u of them static already",
                      function->plain,
                      call->value == ATTRIBUTE_DYNAMIC ? "MaxDynamicSharedMemorySize"
                                                       : "PreferredSharedMemoryCarveout",
                      (unsigned long long)call->bytes, device->properties.shared_per_block_optin,
                      function->info.shared_bytes);
}

int32_t gpu_function_occupancy(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    GpuFunction *function = function_get(device, call, reply);
    if (!function) return STATUS_BAD_HANDLE;
    int blocks = 0;
    DriverResult result = device->driver->occupancy(&blocks, function->function,
                                                    (int)call->block[0], call->shared_bytes);
    reply->value[0] = (uint64_t)blocks;
    return gpu_answer(device, result, reply, "occupancy of %s with %u threads a block",
                      function->plain, call->block[0]);
}

/* ---- launches ------------------------------------------------------------------------ */

int32_t gpu_launch_check(GpuDevice *device, const GpuFunction *function, const DeviceCall *call,
                         DeviceReply *reply)
{
    const DeviceProperties *p = &device->properties;
    uint64_t threads = (uint64_t)call->block[0] * call->block[1] * call->block[2];
    if (call->data_bytes != function->info.params_bytes)
        return gpu_refuse(reply, STATUS_INVALID_VALUE,
                          "kernel %s takes %u bytes of parameters, the launch passes %llu",
                          function->plain, function->info.params_bytes,
                          (unsigned long long)call->data_bytes);
    for (int i = 0; i < 3; i++) {
        if (!call->grid[i] || !call->block[i])
            return gpu_refuse(reply, STATUS_BAD_CONFIGURATION, "kernel %s: %s dimension %c is 0",
                              function->plain, call->grid[i] ? "block" : "grid", "xyz"[i]);
        if (call->grid[i] > p->max_grid[i] || call->block[i] > p->max_block[i])
            return gpu_refuse(reply, STATUS_BAD_CONFIGURATION,
                              "kernel %s: grid (%u,%u,%u) or block (%u,%u,%u) is too large in %c",
                              function->plain, call->grid[0], call->grid[1], call->grid[2],
                              call->block[0], call->block[1], call->block[2], "xyz"[i]);
    }
    if (call->block[0] > p->max_threads_per_block || threads > p->max_threads_per_block)
        return gpu_refuse(reply, STATUS_BAD_CONFIGURATION,
                          "kernel %s: a block of %u x %u x %u = %llu threads, at most %u are "
                          "possible",
                          function->plain, call->block[0], call->block[1], call->block[2],
                          (unsigned long long)threads, p->max_threads_per_block);
    return STATUS_OK;
}

/* The reason why the driver rejected a launch, from the launch's numbers. */
static int32_t launch_refused(GpuDevice *device, const GpuFunction *function,
                              const DeviceCall *call, DriverResult result, DeviceReply *reply)
{
    uint64_t threads = (uint64_t)call->block[0] * call->block[1] * call->block[2];
    int dynamic = 0;
    device->driver->function_attribute(&dynamic, ATTRIBUTE_DYNAMIC, function->function);
    if (call->shared_bytes > (uint32_t)dynamic)
        return gpu_answer(device, result, reply,
                          "kernel %s asks for %u bytes of dynamic shared memory and may have %d "
                          "(more with cudaFuncSetAttribute; %u a block at most here, static part "
                          "included)",
                          function->plain, call->shared_bytes, dynamic,
                          device->properties.shared_per_block_optin);
    if (threads > function->info.max_threads)
        return gpu_answer(device, result, reply,
                          "kernel %s with its %u registers a thread can run %u threads a block, "
                          "the launch asks for %llu",
                          function->plain, function->info.registers, function->info.max_threads,
                          (unsigned long long)threads);
    return gpu_answer(device, result, reply, "launching kernel %s<<<(%u,%u,%u),(%u,%u,%u),%u>>>",
                      function->plain, call->grid[0], call->grid[1], call->grid[2], call->block[0],
                      call->block[1], call->block[2], call->shared_bytes);
}

unsigned gpu_launch_attributes(const DeviceCall *call, DriverAttribute *attribute)
{
    unsigned count = 0;
    memset(attribute, 0, DRIVER_ATTRIBUTES * sizeof *attribute);
    if (call->value & LAUNCH_TOGETHER) {
        attribute[count].id = DRIVER_COOPERATIVE;
        attribute[count++].value.cooperative = 1;
    }
    if (call->value >> LAUNCH_CLUSTER) {
        attribute[count].id = DRIVER_CLUSTER;
        for (unsigned k = 0; k < 3; k++)
            attribute[count].value.cluster[k] = call->value >> (LAUNCH_CLUSTER + 8 * k) & 255;
        count++;
    }
    return count;
}

int32_t gpu_launch(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverStream stream;
    GpuFunction *function = function_get(device, call, reply);
    if (!function) return STATUS_BAD_HANDLE;
    if (gpu_stream_get(device, call->stream, &stream))
        return gpu_refuse(reply, STATUS_BAD_HANDLE, "stream %u does not exist (destroyed?)",
                          call->stream);
    int32_t status = gpu_launch_check(device, function, call, reply);
    if (status) return status;
    size_t bytes = call->data_bytes;
    void *extra[] = {DRIVER_PARAMS_POINTER, (void *)(uintptr_t)call->data, DRIVER_PARAMS_SIZE,
                     &bytes, DRIVER_PARAMS_END};
    DriverAttribute attribute[DRIVER_ATTRIBUTES];
    DriverLaunch launch = {.shared_bytes = call->shared_bytes,
                           .stream = stream,
                           .attribute = attribute,
                           .attributes = gpu_launch_attributes(call, attribute)};
    memcpy(launch.grid, call->grid, sizeof launch.grid);
    memcpy(launch.block, call->block, sizeof launch.block);
    DriverResult result =
        device->driver->launch_with(&launch, function->function, NULL, bytes ? extra : NULL);
    if (result) return launch_refused(device, function, call, result, reply);
    gpu_note_launch(device, call);
    gpu_cost_add(&device->cost, &device->costliest, call);
    return STATUS_OK;
}

/* There are no counters on a GPU: the most expensive launch is the one with the most threads. */
void gpu_cost_add(DeviceCost *cost, uint32_t *costliest, const DeviceCall *call)
{
    uint64_t blocks = (uint64_t)call->grid[0] * call->grid[1] * call->grid[2];
    uint64_t per_block = (uint64_t)call->block[0] * call->block[1] * call->block[2];
    uint64_t most = (uint64_t)cost->grid[0] * cost->grid[1] * cost->grid[2] * cost->block[0] *
                    cost->block[1] * cost->block[2];
    cost->launches++;
    cost->blocks += blocks;
    cost->threads += blocks * per_block;
    if (*costliest && blocks * per_block <= most) return;
    *costliest = call->function;
    cost->shared_bytes = call->shared_bytes;
    memcpy(cost->grid, call->grid, sizeof cost->grid);
    memcpy(cost->block, call->block, sizeof cost->block);
}

/* Registers, shared memory and residency of the most expensive launch, queried once at the end. */
void gpu_cost_finish(GpuDevice *device, DeviceCost *cost, uint32_t costliest)
{
    GpuFunction *function = gpu_handle_get(device, costliest, HANDLE_FUNCTION);
    if (!function) return;
    int blocks = 0;
    device->driver->context_use(device->context);
    device->driver->occupancy(&blocks, function->function,
                              (int)(cost->block[0] * cost->block[1] * cost->block[2]),
                              cost->shared_bytes);
    cost->resident_blocks = (uint32_t)blocks;
    cost->registers = function->info.registers;
    cost->shared_bytes += function->info.shared_bytes;
}
