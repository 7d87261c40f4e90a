#include <stdlib.h>
#include <string.h>

#include "common/cuda/gpu/gpu_engine.h"

/* ---- refusals ------------------------------------------------------------------------ */

static int32_t stream_refuse(const DeviceCall *call, DeviceReply *reply)
{
    return gpu_refuse(reply, STATUS_BAD_HANDLE, "stream %u does not exist (destroyed?)",
                      call->stream);
}

static int32_t event_refuse(uint32_t event, DeviceReply *reply)
{
    return gpu_refuse(reply, STATUS_BAD_HANDLE, "event %u does not exist (destroyed?)", event);
}

static int32_t memory_refuse(DeviceReply *reply)
{
    return gpu_refuse(reply, STATUS_NO_MEMORY, "no host memory left for the engine's tables");
}

/* ---- memory -------------------------------------------------------------------------- */

/* 0 if [address, +bytes) is allocated device memory; else the status, with the reply's message.
 * The driver would also accept host addresses of this process, which a submission must not
 * access. */
static int32_t gpu_range_check(GpuDevice *device, DriverAddress address, uint64_t bytes,
                               DeviceReply *reply)
{
    for (size_t i = 0; i < device->variables; i++) {
        const GpuVariable *v = &device->variable[i];
        if (address >= v->address && address - v->address <= v->bytes &&
            bytes <= v->bytes - (address - v->address))
            return STATUS_OK;
    }
    int type = 0;
    DriverAddress base = 0;
    size_t size = 0;
    DriverResult result =
        device->driver->pointer_attribute(&type, DRIVER_POINTER_MEMORY_TYPE, address);
    if (!result && type == DRIVER_MEMORY_DEVICE)
        result = device->driver->memory_range(&base, &size, address);
    if (gpu_is_sticky(gpu_status(result)))
        return gpu_answer(device, result, reply, "address check");
    if (result || type != DRIVER_MEMORY_DEVICE)
        return gpu_refuse(reply, STATUS_INVALID_VALUE,
                          "0x%llx is not an address of allocated device memory",
                          (unsigned long long)address);
    if (bytes > size - (address - base))
        return gpu_refuse(reply, STATUS_INVALID_VALUE,
                          "%llu bytes at 0x%llx pass the end of the allocation of %llu bytes at "
                          "0x%llx",
                          (unsigned long long)bytes, (unsigned long long)address,
                          (unsigned long long)size, (unsigned long long)base);
    return STATUS_OK;
}

static int32_t call_properties(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    (void)call;
    reply->data = &device->properties;
    reply->data_bytes = sizeof device->properties;
    return STATUS_OK;
}

static int32_t call_mem_info(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    (void)call;
    size_t available = 0, total = 0;
    DriverResult result = device->driver->memory_info(&available, &total);
    reply->value[0] = available;
    reply->value[1] = total;
    return gpu_answer(device, result, reply, "cudaMemGetInfo");
}

static int32_t call_alloc(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverAddress *grown = gpu_grow(device->allocation, device->allocations,
                                    &device->allocation_capacity, sizeof *grown);
    if (!grown) return memory_refuse(reply);
    device->allocation = grown;
    if (call->value == ALLOC_MANAGED)
        return gpu_refuse(reply, DEVICE_NOT_SUPPORTED,
                          "managed memory is for the simulated GPU only; use cudaMalloc");
    DriverAddress address = 0;
    DriverResult result = device->driver->memory_alloc(&address, call->bytes ? call->bytes : 1);
    if (result)
        return gpu_answer(device, result, reply, "cudaMalloc of %llu bytes",
                          (unsigned long long)call->bytes);
    device->allocation[device->allocations++] = address;
    reply->value[0] = address;
    return STATUS_OK;
}

static int32_t call_free(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    if (!call->dst) return STATUS_OK;
    size_t i = device->allocations;
    while (i && device->allocation[i - 1] != call->dst)
        i--;
    if (!i)
        return gpu_refuse(reply, STATUS_INVALID_VALUE,
                          "cudaFree of 0x%llx, which cudaMalloc did not give or which is free "
                          "already",
                          (unsigned long long)call->dst);
    device->allocation[i - 1] = device->allocation[--device->allocations];
    return gpu_answer(device, device->driver->memory_free(call->dst), reply, "cudaFree of 0x%llx",
                      (unsigned long long)call->dst);
}

static int32_t call_copy_to_device(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverStream stream;
    if (gpu_stream_get(device, call->stream, &stream)) return stream_refuse(call, reply);
    if (!call->data_bytes) return STATUS_OK;
    int32_t status = gpu_range_check(device, call->dst, call->data_bytes, reply);
    if (status) return status;
    return gpu_answer(
        device, device->driver->copy_in(call->dst, call->data, call->data_bytes, stream), reply,
        "copy of %llu bytes to the device", (unsigned long long)call->data_bytes);
}

static int32_t call_copy_to_host(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverStream stream;
    if (gpu_stream_get(device, call->stream, &stream)) return stream_refuse(call, reply);
    int32_t status = call->bytes ? gpu_range_check(device, call->src, call->bytes, reply) : 0;
    if (status) return status;
    if (call->bytes > device->reply_capacity) {
        free(device->reply_data);
        device->reply_data = malloc(call->bytes);
        device->reply_capacity = device->reply_data ? call->bytes : 0;
        if (!device->reply_data) return memory_refuse(reply);
    }
    DriverResult result = DRIVER_SUCCESS;
    if (call->bytes)
        result = device->driver->copy_out(device->reply_data, call->src, call->bytes, stream);
    if (!result) result = device->driver->stream_sync(stream);
    if (result)
        return gpu_answer(device, result, reply, "copy of %llu bytes from the device",
                          (unsigned long long)call->bytes);
    gpu_note_done(device, call->stream);
    reply->data = device->reply_data;
    reply->data_bytes = call->bytes;
    return STATUS_OK;
}

static int32_t call_copy_on_device(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverStream stream;
    if (gpu_stream_get(device, call->stream, &stream)) return stream_refuse(call, reply);
    if (!call->bytes) return STATUS_OK;
    int32_t status = gpu_range_check(device, call->dst, call->bytes, reply);
    if (!status) status = gpu_range_check(device, call->src, call->bytes, reply);
    if (status) return status;
    return gpu_answer(device, device->driver->copy_on(call->dst, call->src, call->bytes, stream),
                      reply, "copy of %llu bytes on the device", (unsigned long long)call->bytes);
}

static int32_t call_fill(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverStream stream;
    if (gpu_stream_get(device, call->stream, &stream)) return stream_refuse(call, reply);
    if (!call->bytes) return STATUS_OK;
    int32_t status = gpu_range_check(device, call->dst, call->bytes, reply);
    if (status) return status;
    return gpu_answer(
        device,
        device->driver->fill_bytes(call->dst, (unsigned char)call->value, call->bytes, stream),
        reply, "cudaMemset of %llu bytes", (unsigned long long)call->bytes);
}

static int gpu_poison(Device *base, uint64_t address, uint64_t bytes, uint32_t word, Error *error)
{
    GpuDevice *device = (GpuDevice *)base;
    const GpuDriver *driver = device->driver;
    DeviceReply reply = {0};
    driver->context_use(device->context);
    if (!bytes) return 0;
    if (device->lost || gpu_range_check(device, address, bytes, &reply))
        return error_set(error, "poisoning device memory: %s",
                         device->lost ? device->lost_words : reply.message);
    DriverResult result = DRIVER_SUCCESS;
    uint64_t words = address % 4 ? 0 : bytes / 4;
    if (words) result = driver->fill_words(address, word, words, NULL);
    for (uint64_t i = 4 * words; i < bytes && !result; i++)
        result = driver->fill_bytes(address + i, (unsigned char)(word >> 8 * (i % 4)), 1, NULL);
    return result ? gpu_error(device, result, "poisoning device memory", error) : 0;
}

/* ---- streams and events -------------------------------------------------------------- */

static int32_t call_stream_create(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverStream stream = NULL;
    if (call->value > 1)
        return gpu_refuse(reply, STATUS_INVALID_VALUE, "cudaStreamCreateWithFlags: flags 0x%x",
                          call->value);
    DriverResult result = device->driver->stream_create(&stream, call->value);
    if (result) return gpu_answer(device, result, reply, "cudaStreamCreate");
    reply->value[0] = gpu_handle_new(device, HANDLE_STREAM, stream);
    if (reply->value[0]) return STATUS_OK;
    device->driver->stream_destroy(stream);
    return memory_refuse(reply);
}

/* Common function of the calls whose only argument is a stream. */
static int32_t call_stream(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverStream stream;
    if (gpu_stream_get(device, call->stream, &stream)) return stream_refuse(call, reply);
    DriverResult result;
    if (call->kind == CALL_STREAM_QUERY) {
        result = device->driver->stream_query(stream);
        return result == 600 ? 600 : gpu_answer(device, result, reply, "cudaStreamQuery");
    }
    if (call->kind == CALL_STREAM_SYNC) {
        result = device->driver->stream_sync(stream);
        if (!result) gpu_note_done(device, call->stream);
        return gpu_answer(device, result, reply, "cudaStreamSynchronize");
    }
    if (!call->stream)
        return gpu_refuse(reply, STATUS_BAD_HANDLE, "the default stream cannot be destroyed");
    device->handle[call->stream].kind = HANDLE_GONE;
    return gpu_answer(device, device->driver->stream_destroy(stream), reply, "cudaStreamDestroy");
}

static int32_t call_event_create(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverEvent event = NULL;
    if (call->value > 3) /* blocking sync, no timing */
        return gpu_refuse(reply, STATUS_INVALID_VALUE, "cudaEventCreateWithFlags: flags 0x%x",
                          call->value);
    DriverResult result = device->driver->event_create(&event, call->value);
    if (result) return gpu_answer(device, result, reply, "cudaEventCreate");
    reply->value[0] = gpu_handle_new(device, HANDLE_EVENT, event);
    if (reply->value[0]) return STATUS_OK;
    device->driver->event_destroy(event);
    return memory_refuse(reply);
}

static int32_t call_event(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverEvent event = gpu_handle_get(device, call->event, HANDLE_EVENT);
    if (!event) return event_refuse(call->event, reply);
    DriverResult result;
    if (call->kind == CALL_EVENT_QUERY) {
        result = device->driver->event_query(event);
        return result == 600 ? 600 : gpu_answer(device, result, reply, "cudaEventQuery");
    }
    if (call->kind == CALL_EVENT_SYNC)
        return gpu_answer(device, device->driver->event_sync(event), reply, "cudaEventSynchronize");
    device->handle[call->event].kind = HANDLE_GONE;
    return gpu_answer(device, device->driver->event_destroy(event), reply, "cudaEventDestroy");
}

static int32_t call_event_on_stream(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverStream stream;
    DriverEvent event = gpu_handle_get(device, call->event, HANDLE_EVENT);
    if (!event) return event_refuse(call->event, reply);
    if (gpu_stream_get(device, call->stream, &stream)) return stream_refuse(call, reply);
    if (call->kind == CALL_EVENT_RECORD)
        return gpu_answer(device, device->driver->event_record(event, stream), reply,
                          "cudaEventRecord");
    return gpu_answer(device, device->driver->stream_wait(stream, event, 0), reply,
                      "cudaStreamWaitEvent");
}

static int32_t call_event_elapsed(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    DriverEvent start = gpu_handle_get(device, call->event, HANDLE_EVENT);
    DriverEvent end = gpu_handle_get(device, call->event2, HANDLE_EVENT);
    if (!start || !end) return event_refuse(start ? call->event2 : call->event, reply);
    float milliseconds = 0;
    DriverResult result = device->driver->event_elapsed(&milliseconds, start, end);
    double value = milliseconds;
    memcpy(&reply->value[0], &value, sizeof value);
    return result == 600 ? 600 : gpu_answer(device, result, reply, "cudaEventElapsedTime");
}

/* Encodes the map with the driver, which does not check that the tensor is in allocated memory;
 * this is checked here. */
static int32_t call_tensor_map(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    static _Alignas(64) unsigned char map[TENSOR_MAP_BYTES];
    const GpuDriver *driver = device->driver;
    TensorMapRequest r;
    if (call->data_bytes != sizeof r)
        return gpu_refuse(reply, STATUS_INVALID_VALUE, "a tensor map is asked for with %zu bytes",
                          sizeof r);
    memcpy(&r, call->data, sizeof r);
    if (!driver->tensor_tiled || !driver->tensor_im2col)
        return gpu_refuse(reply, DEVICE_NOT_SUPPORTED, "this driver knows no tensor maps");
    int32_t status = gpu_range_check(device, r.address, 1, reply);
    if (status) return status;
    void *address = (void *)(uintptr_t)r.address;
    DriverResult result =
        r.kind == TENSOR_MAP_IM2COL
            ? driver->tensor_im2col(map, (int)r.type, r.rank, address, r.dims, r.strides, r.lower,
                                    r.upper, r.channels, r.pixels, r.element_strides,
                                    (int)r.interleave, (int)r.swizzle, (int)r.promotion,
                                    (int)r.fill)
            : driver->tensor_tiled(map, (int)r.type, r.rank, address, r.dims, r.strides, r.box,
                                   r.element_strides, (int)r.interleave, (int)r.swizzle,
                                   (int)r.promotion, (int)r.fill);
    reply->data = map;
    reply->data_bytes = result ? 0 : sizeof map;
    return gpu_answer(device, result, reply, "a tensor map of rank %u", r.rank);
}

static int32_t call_sync(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    (void)call;
    DriverResult result = device->driver->context_sync();
    if (!result) gpu_note_done(device, UINT32_MAX);
    return gpu_answer(device, result, reply, "cudaDeviceSynchronize");
}

static int32_t call_limit(GpuDevice *device, const DeviceCall *call, DeviceReply *reply)
{
    size_t now = 0;
    DriverResult result = device->driver->limit_set((int)call->value, call->bytes);
    if (!result) result = device->driver->limit_get(&now, (int)call->value);
    reply->value[0] = now;
    return gpu_answer(device, result, reply, "cudaDeviceSetLimit(%u, %llu)", call->value,
                      (unsigned long long)call->bytes);
}

/* ---- the device ---------------------------------------------------------------------- */

static GpuHandler *const handler[CALL_KINDS] = {
    [CALL_PROPERTIES] = call_properties,
    [CALL_MEM_INFO] = call_mem_info,
    [CALL_ALLOC] = call_alloc,
    [CALL_FREE] = call_free,
    [CALL_COPY_TO_DEVICE] = call_copy_to_device,
    [CALL_COPY_TO_HOST] = call_copy_to_host,
    [CALL_COPY_ON_DEVICE] = call_copy_on_device,
    [CALL_FILL] = call_fill,
    [CALL_MODULE_LOAD] = gpu_module_load,
    [CALL_MODULE_UNLOAD] = gpu_module_unload,
    [CALL_MODULE_FUNCTION] = gpu_module_function,
    [CALL_MODULE_VARIABLE] = gpu_module_variable,
    [CALL_FUNCTION_ATTRIBUTE] = gpu_function_attribute,
    [CALL_OCCUPANCY] = gpu_function_occupancy,
    [CALL_LAUNCH] = gpu_launch,
    [CALL_STREAM_CREATE] = call_stream_create,
    [CALL_STREAM_DESTROY] = call_stream,
    [CALL_STREAM_SYNC] = call_stream,
    [CALL_STREAM_QUERY] = call_stream,
    [CALL_STREAM_WAIT] = call_event_on_stream,
    [CALL_EVENT_CREATE] = call_event_create,
    [CALL_EVENT_DESTROY] = call_event,
    [CALL_EVENT_RECORD] = call_event_on_stream,
    [CALL_EVENT_SYNC] = call_event,
    [CALL_EVENT_QUERY] = call_event,
    [CALL_EVENT_ELAPSED] = call_event_elapsed,
    [CALL_SYNC] = call_sync,
    [CALL_TENSOR_MAP] = call_tensor_map,
    [CALL_LIMIT] = call_limit,
};

static int gpu_execute(Device *base, const DeviceCall *call, DeviceReply *reply)
{
    GpuDevice *device = (GpuDevice *)base;
    memset(reply, 0, offsetof(DeviceReply, message) + 1);
    if (device->lost && call->kind != CALL_PROPERTIES) {
        reply->status = gpu_refuse(reply, device->lost, "the CUDA context was lost before (%s)",
                                   device->lost_words);
        return 0;
    }
    device->driver->context_use(device->context); /* callers may change threads */
    if (call->kind >= CALL_KINDS || !handler[call->kind])
        reply->status =
            gpu_refuse(reply, STATUS_INVALID_VALUE, "unknown device call %u", call->kind);
    else
        reply->status = handler[call->kind](device, call, reply);
    return 0;
}

static void gpu_take_cost(Device *base, DeviceCost *cost)
{
    GpuDevice *device = (GpuDevice *)base;
    *cost = device->cost;
    gpu_cost_finish(device, cost, device->costliest);
    memset(&device->cost, 0, sizeof device->cost);
    device->costliest = 0;
}

static void gpu_close(Device *base)
{
    GpuDevice *device = (GpuDevice *)base;
    const GpuDriver *driver = device->driver;
    driver->context_use(device->context);
    driver->context_sync();
    gpu_timing_close(device);
    for (uint32_t i = device->handles; i-- > 1;) {
        GpuHandle *h = &device->handle[i];
        if (h->kind == HANDLE_STREAM)
            driver->stream_destroy(h->object);
        else if (h->kind == HANDLE_EVENT)
            driver->event_destroy(h->object);
        else if (h->kind == HANDLE_FUNCTION)
            gpu_function_close(h->object);
        else if (h->kind == HANDLE_MODULE)
            gpu_module_close(device, h->object), gpu_initial_drop(device, i);
    }
    gpu_images_free(device);
    for (size_t i = 0; i < device->allocations; i++)
        driver->memory_free(device->allocation[i]);
    driver->context_use(NULL);
    driver->context_release(device->ordinal);
    free(device->handle);
    free(device->allocation);
    free(device->variable);
    free(device->initial);
    free(device->reply_data);
    free(device);
}

/* Reads the fields of cudaDeviceProp, by the driver's attribute numbers. */
static void properties_read(GpuDevice *device)
{
    DeviceProperties *p = &device->properties;
    uint32_t l2 = 0, constant = 0;
    const struct {
        uint32_t *value;
        int attribute;
    } table[] = {
        {&p->cc_major, 75},
        {&p->cc_minor, 76},
        {&p->sms, 16},
        {&p->warp_size, 10},
        {&p->clock_khz, 13},
        {&p->memory_clock_khz, 36},
        {&p->memory_bus_bits, 37},
        {&p->max_threads_per_block, 1},
        {&p->max_block[0], 2},
        {&p->max_block[1], 3},
        {&p->max_block[2], 4},
        {&p->max_grid[0], 5},
        {&p->max_grid[1], 6},
        {&p->max_grid[2], 7},
        {&p->max_threads_per_sm, 39},
        {&p->max_blocks_per_sm, 106},
        {&p->registers_per_block, 12},
        {&p->registers_per_sm, 82},
        {&p->shared_per_block, 8},
        {&p->shared_per_block_optin, 97},
        {&p->shared_per_sm, 81},
        {&l2, 38},
        {&constant, 9},
        {&p->shared_reserved, 111},
        {&p->fp64_ratio, 87},
        {&p->persisting_l2_bytes, 108},
        {&p->access_window_bytes, 109},
        {&p->has_clusters, 120},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int value = 0;
        device->driver->device_attribute(&value, table[i].attribute, device->ordinal);
        *table[i].value = (uint32_t)value;
    }
    p->l2_bytes = l2;
    p->const_bytes = constant;
    size_t memory = 0;
    device->driver->device_memory(&memory, device->ordinal);
    p->memory_bytes = memory;
    device->driver->device_name(p->name, sizeof p->name, device->ordinal);
    int version = 0;
    device->driver->version(&version);
    p->driver_version = (uint32_t)version;
    p->engine = ENGINE_GPU;
    p->has_cooperative_launches = 0; /* this engine does not pass them on */
}

static int device_start(GpuDevice *device, int ordinal, Error *error)
{
    const GpuDriver *driver = device->driver;
    int count = 0;
    DriverResult result = driver->device_count(&count);
    if (result) return gpu_error(device, result, "counting the GPUs", error);
    if (ordinal < 0 || ordinal >= count)
        return error_set(error, "no GPU number %d: this machine has %d, counted from 0", ordinal,
                         count);
    result = driver->device_get(&device->ordinal, ordinal);
    if (!result) result = driver->context_retain(&device->context, device->ordinal);
    if (result) return gpu_error(device, result, "opening the GPU", error);
    result = driver->context_use(device->context);
    if (result) {
        driver->context_release(device->ordinal);
        return gpu_error(device, result, "opening the GPU", error);
    }
    properties_read(device);
    return 0;
}

Device *gpu_device_open_with(const GpuDriver *driver, int ordinal, Error *error)
{
    GpuDevice *device = calloc(1, sizeof *device);
    if (!device) {
        error_set(error, "out of memory");
        return NULL;
    }
    device->driver = driver;
    device->base = (Device){.execute = gpu_execute,
                            .take_cost = gpu_take_cost,
                            .replay = gpu_replay,
                            .poison = gpu_poison,
                            .restore = gpu_restore,
                            .close = gpu_close};
    gpu_handle_new(device, HANDLE_GONE, NULL); /* number 0 */
    if (!device->handles) {
        error_set(error, "out of memory");
        free(device);
        return NULL;
    }
    if (device_start(device, ordinal, error)) {
        free(device->handle);
        free(device);
        return NULL;
    }
    return &device->base;
}

Device *device_open_gpu(int ordinal, Error *error)
{
    const GpuDriver *driver = gpu_driver_load(error);
    return driver ? gpu_device_open_with(driver, ordinal, error) : NULL;
}
