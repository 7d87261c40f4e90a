/* gpu_tables.c - growing arrays, and the handles that the engine's callers hold. */
#include <stdlib.h>

#include "common/cuda/gpu/gpu_engine.h"

void *gpu_grow(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity) return array;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *grown = realloc(array, wanted * element_bytes);
    if (grown) *capacity = wanted;
    return grown;
}

uint32_t gpu_handle_new(GpuDevice *device, GpuHandleKind kind, void *object)
{
    if (device->handles >= GPU_HANDLES) return 0;
    size_t capacity = device->handle_capacity;
    GpuHandle *grown = gpu_grow(device->handle, device->handles, &capacity, sizeof *grown);
    if (!grown) return 0;
    device->handle = grown;
    device->handle_capacity = (uint32_t)capacity;
    device->handle[device->handles] = (GpuHandle){kind, object};
    return device->handles++;
}

void *gpu_handle_get(const GpuDevice *device, uint32_t handle, GpuHandleKind kind)
{
    if (!handle || handle >= device->handles || device->handle[handle].kind != kind) return NULL;
    return device->handle[handle].object;
}

int gpu_stream_get(const GpuDevice *device, uint32_t handle, DriverStream *stream)
{
    *stream = NULL; /* the legacy default stream */
    if (!handle) return 0;
    *stream = gpu_handle_get(device, handle, HANDLE_STREAM);
    return *stream ? 0 : -1;
}
