/* gpu_first.c - initial values of the modules' variables: read when a module is loaded, written
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

static DriverResult first_read(GpuDevice *device, uint32_t module, DriverModule from,
                               const char *name)
{
    GpuFirst first = {.module = module};
    const GpuDriver *driver = device->driver;
    DriverResult result = driver->module_variable(&first.address, &first.bytes, from, name);
    if (result == DRIVER_NOT_FOUND) return DRIVER_SUCCESS; /* the compiler removed it */
    if (result || !first.bytes) return result;
    GpuFirst *grown =
        gpu_grow(device->first, device->firsts, &device->first_capacity, sizeof *grown);
    if (grown) device->first = grown;
    first.data = grown ? malloc(first.bytes) : NULL;
    if (!first.data) return DRIVER_OUT_OF_MEMORY;
    result = driver->copy_out(first.data, first.address, first.bytes, NULL);
    if (!result) result = driver->context_sync();
    if (result)
        free(first.data);
    else
        device->first[device->firsts++] = first;
    return result;
}

DriverResult gpu_first_keep(GpuDevice *device, uint32_t module, DriverModule from,
                            const PtxModule *ptx)
{
    DriverResult result = DRIVER_SUCCESS;
    for (uint32_t i = 0; i < ptx->variables && !result; i++)
        if (in_device_memory(&ptx->variable[i]))
            result = first_read(device, module, from, ptx->variable[i].name);
    return result;
}

void gpu_first_drop(GpuDevice *device, uint32_t module)
{
    size_t kept = 0;
    for (size_t i = 0; i < device->firsts; i++) {
        if (device->first[i].module == module)
            free(device->first[i].data);
        else
            device->first[kept++] = device->first[i];
    }
    device->firsts = kept;
}

int gpu_restore(Device *base, Error *error)
{
    GpuDevice *device = (GpuDevice *)base;
    DriverResult result = DRIVER_SUCCESS;
    if (device->lost)
        return error_set(error, "the CUDA context was lost before (%s)", device->lost_words);
    device->driver->context_use(device->context);
    for (size_t i = 0; i < device->firsts && !result; i++) {
        const GpuFirst *first = &device->first[i];
        result = device->driver->copy_in(first->address, first->data, first->bytes, NULL);
    }
    return result ? gpu_error(device, result, "restoring the variables of modules", error) : 0;
}
