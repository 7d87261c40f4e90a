/* device_tensors.c - the problem's tensors on the device, and what became of them.
 *
 * On the GPU each tensor lies between guard bands inside one allocation.  On the simulator it is an
 * allocation of exactly its size: there every access is checked, and a step outside is reported
 * with the kernel's line, which says more than a changed guard band. */
#include <stdlib.h>
#include <string.h>

#include "autograder/session/device_parts.h"

/* One call of the grader's own; a failure is ours or the end of the device. */
static int engine_do(Device *engine, const DeviceCall *call, DeviceReply *reply, Error *error)
{
    if (engine->execute(engine, call, reply)) return error_set(error, "the device is gone");
    if (reply->status == DEVICE_SUCCESS) return 0;
    return error_set(error, "%s: %s", device_status_name(reply->status),
                     reply->message[0] ? reply->message : device_status_text(reply->status));
}

static int engine_upload(Device *engine, uint64_t address, const void *data, uint64_t bytes,
                         Error *error)
{
    DeviceReply reply = {0};
    DeviceCall call = {.kind = CALL_COPY_TO_DEVICE,
                       .dst = address,
                       .bytes = bytes,
                       .data_bytes = bytes,
                       .data = data};
    return engine_do(engine, &call, &reply, error);
}

/* The reply's data belongs to the engine until its next call. */
static int engine_download(Device *engine, uint64_t address, uint64_t bytes, const void **data,
                           Error *error)
{
    DeviceReply reply = {0};
    DeviceCall call = {.kind = CALL_COPY_TO_HOST, .src = address, .bytes = bytes};
    if (engine_do(engine, &call, &reply, error)) return -1;
    if (reply.data_bytes != bytes) return error_set(error, "the device returned too few bytes");
    *data = reply.data;
    return 0;
}

int tensors_allocate(Tensors *tensors, Device *engine, const CallRequest *call, uint32_t band,
                     Error *error)
{
    memset(tensors, 0, sizeof *tensors);
    tensors->band = band;
    for (uint32_t i = 0; i < call->tensors; i++) {
        DeviceReply reply = {0};
        DeviceCall alloc = {.kind = CALL_ALLOC,
                            .bytes = (call->count[i] + 2ull * band) * sizeof(float)};
        tensors->role[i] = call->role[i];
        tensors->floats[i] = call->count[i];
        if (!call->host) {
            if (engine_do(engine, &alloc, &reply, error)) return -1;
            tensors->base[i] = reply.value[0];
            tensors->address[i] = reply.value[0] + band * sizeof(float);
        }
        tensors->count = i + 1;
    }
    return 0;
}

void tensors_free(Tensors *tensors, Device *engine)
{
    for (uint32_t i = 0; i < tensors->count; i++) {
        DeviceReply reply = {0};
        DeviceCall call = {.kind = CALL_FREE, .dst = tensors->base[i]};
        if (tensors->base[i]) engine->execute(engine, &call, &reply);
    }
    free(tensors->body);
    memset(tensors, 0, sizeof *tensors);
}

uint64_t tensors_floats(const Tensors *tensors, TensorRole role)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tensors->count; i++)
        if (tensors->role[i] == role) sum += tensors->floats[i];
    return sum;
}

int tensors_take(Tensors *tensors, void *body, uint64_t offset, uint64_t bytes, Error *error)
{
    const float *at = (const float *)((const char *)body + offset);
    free(tensors->body);
    tensors->body = body;
    memset(tensors->pristine, 0, sizeof tensors->pristine);
    if (bytes != offset + tensors_floats(tensors, TENSOR_INPUT) * sizeof(float))
        return error_set(error, "the inputs do not have the problem's size");
    for (uint32_t i = 0; i < tensors->count; i++) {
        if (tensors->role[i] != TENSOR_INPUT) continue;
        tensors->pristine[i] = at;
        at += tensors->floats[i];
    }
    return 0;
}

static int bands_fill(const Tensors *tensors, uint32_t i, Device *engine, Error *error)
{
    uint64_t band = tensors->band * sizeof(float),
             end = tensors->address[i] + tensors->floats[i] * sizeof(float);
    if (!band) return 0;
    if (engine->poison(engine, tensors->base[i], band, GUARD_BAND_WORD, error)) return -1;
    return engine->poison(engine, end, band, GUARD_BAND_WORD, error);
}

int tensors_prepare(Tensors *tensors, Device *engine, int upload, Error *error)
{
    for (uint32_t i = 0; i < tensors->count; i++) {
        uint64_t bytes = tensors->floats[i] * sizeof(float), address = tensors->address[i];
        if (tensors->role[i] == TENSOR_INPUT) {
            if (!tensors->pristine[i]) return error_set(error, "no inputs were sent yet");
            if (upload && engine_upload(engine, address, tensors->pristine[i], bytes, error))
                return -1;
        } else if (engine->poison(engine, address, bytes, OUTPUT_POISON, error)) {
            return -1;
        }
        if (bands_fill(tensors, i, engine, error)) return -1;
    }
    return 0;
}

/* Where the first float of a guard band that was changed lies, counted from the band's start;
 * -1: whole. */
static int band_check(Device *engine, uint64_t address, uint32_t band, int64_t *changed,
                      Error *error)
{
    const void *data;
    uint32_t word = GUARD_BAND_WORD;
    if (engine_download(engine, address, band * sizeof(float), &data, error)) return -1;
    *changed = -1;
    for (uint32_t i = 0; i < band && *changed < 0; i++)
        if (memcmp((const char *)data + i * sizeof word, &word, sizeof word)) *changed = i;
    return 0;
}

static int bands_check(const Tensors *tensors, uint32_t i, Device *engine, ControlReply *reply,
                       Error *error)
{
    uint64_t end = tensors->address[i] + tensors->floats[i] * sizeof(float);
    int64_t before, past;
    if (!tensors->band || reply->band_tensor >= 0) return 0;
    if (band_check(engine, tensors->base[i], tensors->band, &before, error)) return -1;
    if (band_check(engine, end, tensors->band, &past, error)) return -1;
    if (before < 0 && past < 0) return 0;
    reply->band_tensor = (int32_t)i;
    reply->band_offset = past >= 0 ? past : before - (int64_t)tensors->band;
    return 0;
}

int tensors_check(const Tensors *tensors, Device *engine, float *output, ControlReply *reply,
                  Error *error)
{
    for (uint32_t i = 0; i < tensors->count; i++) {
        uint64_t bytes = tensors->floats[i] * sizeof(float);
        const void *data;
        if (bands_check(tensors, i, engine, reply, error)) return -1;
        if (engine_download(engine, tensors->address[i], bytes, &data, error)) return -1;
        if (tensors->role[i] == TENSOR_OUTPUT) {
            memcpy(output, data, bytes);
            output += tensors->floats[i];
        } else if (reply->input_changed < 0 && memcmp(data, tensors->pristine[i], bytes)) {
            reply->input_changed = (int32_t)i;
        }
    }
    return 0;
}
