/* gpu_initial.c - initial values of the modules' variables: read when a module is loaded, written
 * back before each replay, so that no state outlives a run.
 *
 * The driver returns a variable's address by its name only, and the names are in the module's
 * PTX. */
#include <stdlib.h>

#include "common/cuda/gpu/gpu_engine.h"

static int in_device_memory(const PtxVariable *v)
{
    return (v->space == PTX_GLOBAL || v->space == PTX_CONST) && !v->is_extern && v->name;
}

static DriverResult initial_read(GpuDevice *device, uint32_t module, DriverModule from,
                                 const char *name)
{
    GpuInitial first = {.module = module};
    const GpuDriver *driver = device->driver;
    DriverResult result = driver->module_variable(&first.address, &first.bytes, from, name);
    if (result == DRIVER_NOT_FOUND) return DRIVER_SUCCESS; /* the compiler removed it */
    if (result || !first.bytes) return result;
    GpuInitial *grown =
        gpu_grow(device->initial, device->initials, &device->initial_capacity, sizeof *grown);
    if (grown) device->initial = grown;
    first.data = grown ? malloc(first.bytes) : NULL;
    if (!first.data) return DRIVER_OUT_OF_MEMORY;
    result = driver->copy_out(first.data, first.address, first.bytes, NULL);
    if (!result) result = driver->context_sync();
    if (result)
        free(first.data);
    else
        device->initial[device->initials++] = first;
    return result;
}

DriverResult gpu_initial_read(GpuDevice *device, uint32_t module, DriverModule from,
                              const PtxModule *ptx)
{
    DriverResult result = DRIVER_SUCCESS;
    for (uint32_t i = 0; i < ptx->variables && !result; i++)
        if (in_device_memory(&ptx->variable[i]))
            result = initial_read(device, module, from, ptx->variable[i].name);
    return result;
}

void gpu_initial_drop(GpuDevice *device, uint32_t module)
{
    size_t kept = 0;
    for (size_t i = 0; i < device->initials; i++) {
        if (device->initial[i].module == module)
            free(device->initial[i].data);
        else
            device->initial[kept++] = device->initial[i];
    }
    device->initials = kept;
}

int gpu_restore(Device *base, Error *error)
{
    GpuDevice *device = (GpuDevice *)base;
    DriverResult result = DRIVER_SUCCESS;
    if (device->lost)
        return error_set(error, "the CUDA context was lost before (%s)", device->lost_words);
    device->driver->context_use(device->context);
    for (size_t i = 0; i < device->initials && !result; i++) {
        const GpuInitial *first = &device->initial[i];
        result = device->driver->copy_in(first->address, first->data, first->bytes, NULL);
    }
    return result ? gpu_error(device, result, "restoring the variables of modules", error) : 0;
}
