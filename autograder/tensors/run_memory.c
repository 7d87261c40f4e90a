#include "autograder/tensors/run_memory.h"

#include <stdlib.h>
#include <string.h>

enum { BAND_BYTES = GUARD_BAND_FLOATS * 4 };

static int call_device(Device *device, const DeviceCall *call, DeviceReply *reply, Error *error)
{
    memset(reply, 0, sizeof *reply);
    if (device->execute(device, call, reply)) return error_set(error, "the device is gone");
    if (!reply->status) return 0;
    return error_set(error, "%s: %s", device_status_name(reply->status),
                     *reply->message ? reply->message : device_status_text(reply->status));
}

static int upload(Device *device, uint64_t address, const void *data, uint64_t bytes, Error *error)
{
    DeviceReply reply;
    DeviceCall call = {.kind = CALL_COPY_TO_DEVICE,
                       .dst = address,
                       .bytes = bytes,
                       .data = data,
                       .data_bytes = bytes};
    return call_device(device, &call, &reply, error);
}

uint64_t run_memory_address(const RunMemory *memory, int i)
{
    return memory->base[i] + BAND_BYTES;
}

static int open_tensor(RunMemory *memory, int i, const Workload *workload, Error *error)
{
    uint32_t band[GUARD_BAND_FLOATS];
    uint64_t bytes = memory->count[i] * 4;
    DeviceReply reply;
    DeviceCall call = {.kind = CALL_ALLOC, .bytes = bytes + 2 * BAND_BYTES};
    for (int j = 0; j < GUARD_BAND_FLOATS; j++)
        band[j] = GUARD_BAND_WORD;
    if (call_device(memory->device, &call, &reply, error)) return -1;
    memory->base[i] = reply.value[0];
    uint64_t address = run_memory_address(memory, i);
    if (upload(memory->device, memory->base[i], band, BAND_BYTES, error) ||
        upload(memory->device, address + bytes, band, BAND_BYTES, error))
        return -1;
    if (workload->tensor[i])
        return upload(memory->device, address, workload->tensor[i], bytes, error);
    return memory->device->poison(memory->device, address, bytes, OUTPUT_POISON, error);
}

int run_memory_open(Device *device, const Workload *workload, RunMemory *memory, Error *error)
{
    *memory = (RunMemory){.device = device, .tensors = workload->tensors};
    for (int i = 0; i < workload->tensors; i++) {
        memory->count[i] = tensor_count(&workload->shape[i]);
        if (open_tensor(memory, i, workload, error)) {
            run_memory_close(memory);
            return -1;
        }
    }
    return 0;
}

void run_memory_close(RunMemory *memory)
{
    DeviceReply reply;
    Error error;
    for (int i = 0; i < memory->tensors; i++) {
        DeviceCall call = {.kind = CALL_FREE, .dst = memory->base[i]};
        if (memory->base[i]) call_device(memory->device, &call, &reply, &error);
    }
    memory->tensors = 0;
}

/* The first changed float of a guard band, or -1. */
static long band_broken(const uint32_t *band)
{
    for (long i = 0; i < GUARD_BAND_FLOATS; i++)
        if (band[i] != GUARD_BAND_WORD) return i;
    return -1;
}

static int observe_tensor(RunMemory *memory, int i, Workload *workload, Observed *observed,
                          Error *error)
{
    uint64_t bytes = memory->count[i] * 4;
    DeviceReply reply;
    DeviceCall call = {
        .kind = CALL_COPY_TO_HOST, .src = memory->base[i], .bytes = bytes + 2 * BAND_BYTES};
    if (call_device(memory->device, &call, &reply, error)) return -1;
    const char *data = reply.data;
    const char *name = workload->shape[i].name;
    if (reply.data_bytes < call.bytes) return error_set(error, "the device sent too few bytes");
    long before = band_broken((const uint32_t *)(const void *)data);
    long after = band_broken((const uint32_t *)(const void *)(data + BAND_BYTES + bytes));
    if (before >= 0 || after >= 0) {
        observed->band_broken = name;
        observed->band_offset = before >= 0 ? before - GUARD_BAND_FLOATS : after;
    }
    if (!workload->tensor[i]) {
        memcpy(workload->output, data + BAND_BYTES, bytes);
    } else if (memcmp(workload->tensor[i], data + BAND_BYTES, bytes)) {
        observed->input_changed = name;
    }
    return 0;
}

int run_memory_observe(RunMemory *memory, Workload *workload, Observed *observed, Error *error)
{
    *observed = (Observed){.output = workload->output};
    for (int i = 0; i < memory->tensors; i++)
        if (observe_tensor(memory, i, workload, observed, error)) return -1;
    return 0;
}
