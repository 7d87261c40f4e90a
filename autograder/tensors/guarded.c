#include "autograder/tensors/guarded.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"

enum { ALIGNMENT_BYTES = 64 }; /* alignment of host allocations: a cache line */

/* ---- memory of a device or of this process -------------------------------------------------- */

/* One call of the grader itself; a failure is a bug or the end of the device. */
static int device_do(Device *device, const DeviceCall *call, DeviceReply *reply, Error *error)
{
    *reply = (DeviceReply){0};
    if (device->execute(device, call, reply)) return error_set(error, "the device is gone");
    if (reply->status == DEVICE_SUCCESS) return 0;
    return error_set(error, "%s: %s", device_status_name(reply->status),
                     reply->message[0] ? reply->message : device_status_text(reply->status));
}

static void *host_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static int memory_allocate(Device *device, uint64_t bytes, uint64_t *address, Error *error)
{
    DeviceCall call = {.kind = CALL_ALLOC, .bytes = bytes};
    DeviceReply reply;
    if (device) {
        if (device_do(device, &call, &reply, error)) return -1;
        *address = reply.value[0];
        return 0;
    }
    bytes += ALIGNMENT_BYTES - bytes % ALIGNMENT_BYTES;
    void *block = aligned_alloc(ALIGNMENT_BYTES, bytes);
    *address = (uint64_t)(uintptr_t)block;
    return block ? 0
                 : error_set(error, "no memory for a tensor of %llu bytes",
                             (unsigned long long)bytes);
}

static void memory_release(Device *device, uint64_t address)
{
    DeviceCall call = {.kind = CALL_FREE, .dst = address};
    DeviceReply reply;
    Error error;
    if (!device)
        free(host_pointer(address));
    else if (address)
        device_do(device, &call, &reply, &error);
}

static int memory_write(Device *device, uint64_t address, const void *data, uint64_t bytes,
                        Error *error)
{
    DeviceCall call = {.kind = CALL_COPY_TO_DEVICE,
                       .dst = address,
                       .bytes = bytes,
                       .data_bytes = bytes,
                       .data = data};
    DeviceReply reply;
    if (device) return device_do(device, &call, &reply, error);
    memcpy(host_pointer(address), data, bytes);
    return 0;
}

static int memory_fill(Device *device, uint64_t address, uint64_t bytes, uint32_t word,
                       Error *error)
{
    if (device) return device->poison(device, address, bytes, word, error);
    for (uint64_t i = 0; i < bytes; i += sizeof word)
        memcpy(host_pointer(address + i), &word, sizeof word);
    return 0;
}

/* *data points to memory of the device, valid until its next call. */
static int memory_read(Device *device, uint64_t address, uint64_t bytes, const char **data,
                       Error *error)
{
    DeviceCall call = {.kind = CALL_COPY_TO_HOST, .src = address, .bytes = bytes};
    DeviceReply reply;
    *data = host_pointer(address);
    if (!device) return 0;
    if (device_do(device, &call, &reply, error)) return -1;
    if (reply.data_bytes != bytes) return error_set(error, "the device returned too few bytes");
    *data = reply.data;
    return 0;
}

/* ---- tensors ------------------------------------------------------------------------------ */

static uint64_t band_bytes(const GuardedTensors *tensors)
{
    return tensors->band * sizeof(float);
}

static uint64_t tensor_bytes(const GuardedTensors *tensors, uint32_t i)
{
    return tensors->floats[i] * sizeof(float);
}

int guarded_open(GuardedTensors *tensors, Device *device, uint32_t count, const uint32_t *role,
                 const uint64_t *floats, const ArrayName *name, uint32_t band, Error *error)
{
    *tensors = (GuardedTensors){.device = device, .band = band};
    for (uint32_t i = 0; i < count; i++) {
        tensors->role[i] = role[i];
        tensors->floats[i] = floats[i];
        uint64_t bytes = tensor_bytes(tensors, i) + 2 * band_bytes(tensors);
        if (memory_allocate(device, bytes, &tensors->base[i], error)) {
            guarded_close(tensors);
            return -1;
        }
        tensors->address[i] = tensors->base[i] + band_bytes(tensors);
        tensors->count = i + 1;
        if (name && !band && device && device->name &&
            device->name(device, tensors->base[i], &name[i], error)) {
            guarded_close(tensors);
            return -1;
        }
    }
    return 0;
}

void guarded_close(GuardedTensors *tensors)
{
    for (uint32_t i = 0; i < tensors->count; i++)
        memory_release(tensors->device, tensors->base[i]);
    *tensors = (GuardedTensors){0};
}

static int bands_fill(const GuardedTensors *tensors, uint32_t i, Error *error)
{
    uint64_t bytes = band_bytes(tensors), past = tensors->address[i] + tensor_bytes(tensors, i);
    if (!bytes) return 0;
    if (memory_fill(tensors->device, tensors->base[i], bytes, GUARD_BAND_WORD, error)) return -1;
    return memory_fill(tensors->device, past, bytes, GUARD_BAND_WORD, error);
}

int guarded_poison(const GuardedTensors *tensors, Error *error)
{
    for (uint32_t i = 0; i < tensors->count; i++)
        if (tensors->role[i] == TENSOR_OUTPUT &&
            memory_fill(tensors->device, tensors->address[i], tensor_bytes(tensors, i),
                        OUTPUT_POISON, error))
            return -1;
    return 0;
}

int guarded_fill(const GuardedTensors *tensors, const float *const *input, Error *error)
{
    for (uint32_t i = 0; i < tensors->count; i++) {
        if (bands_fill(tensors, i, error)) return -1;
        if (tensors->role[i] == TENSOR_OUTPUT) continue;
        if (!input[i]) return error_set(error, "no inputs were sent yet");
        if (memory_write(tensors->device, tensors->address[i], input[i], tensor_bytes(tensors, i),
                         error))
            return -1;
    }
    return guarded_poison(tensors, error);
}

/* The first float of a band that was changed, or -1. */
static int64_t band_changed(const char *band, uint32_t floats)
{
    const uint32_t word = GUARD_BAND_WORD;
    for (uint32_t i = 0; i < floats; i++)
        if (memcmp(band + i * sizeof word, &word, sizeof word)) return i;
    return -1;
}

/* `data` is tensor i with its bands. */
static void bands_check(const GuardedTensors *tensors, uint32_t i, const char *data, Damage *damage)
{
    int64_t before = band_changed(data, tensors->band);
    int64_t past =
        band_changed(data + band_bytes(tensors) + tensor_bytes(tensors, i), tensors->band);
    if (damage->band_tensor >= 0 || (before < 0 && past < 0)) return;
    damage->band_tensor = (int32_t)i;
    damage->band_offset = past >= 0 ? past : before - (int64_t)tensors->band;
}

/* Compares in parallel; a runner has only one thread, and on the host its instructions are
 * counted. */
static int bytes_equal(const GuardedTensors *tensors, const char *data, const float *input,
                       uint64_t bytes)
{
    return tensors->device ? parallel_equal(data, input, bytes) : !memcmp(data, input, bytes);
}

int guarded_check(const GuardedTensors *tensors, const float *const *input, float *output,
                  Damage *damage, Error *error)
{
    *damage = DAMAGE_NONE;
    for (uint32_t i = 0; i < tensors->count; i++) {
        uint64_t band = band_bytes(tensors), bytes = tensor_bytes(tensors, i);
        const char *data;
        if (memory_read(tensors->device, tensors->base[i], bytes + 2 * band, &data, error))
            return -1;
        bands_check(tensors, i, data, damage);
        if (tensors->role[i] == TENSOR_INPUT) {
            if (damage->input_changed < 0 && !bytes_equal(tensors, data + band, input[i], bytes))
                damage->input_changed = (int32_t)i;
        } else if (output) {
            parallel_copy(output, data + band, bytes);
            output += tensors->floats[i];
        }
    }
    return 0;
}

void damage_name(const Damage *damage, const TensorShape *shape, uint32_t count, Observed *observed)
{
    if (damage->band_tensor >= 0 && (uint32_t)damage->band_tensor < count) {
        observed->band_broken = shape[damage->band_tensor].name;
        observed->band_offset = (long)damage->band_offset;
    }
    if (damage->input_changed >= 0 && (uint32_t)damage->input_changed < count)
        observed->input_changed = shape[damage->input_changed].name;
}
