/* The recorder: a Device that forwards calls and stores those that a replay must repeat. */
#include "common/cuda/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/call_order.h"
#include "common/cuda/recording_order.h"

typedef struct Recorder {
    Device device; /* first member: a Device * of the recorder is a Recorder * */
    Device *engine;
    Recording *recording;
} Recorder;

static int is_recorded(const DeviceCall *call)
{
    CallOrder order = call_order(call);
    return order.is_operation || order.is_on_stream || order.host != HOST_WAITS_NOT;
}

static void overflow(Recording *recording, const char *why)
{
    recording->overflow = 1;
    snprintf(recording->why, sizeof recording->why, "%s", why);
}

/* Returns -1 after overflow(). */
static int append(Recording *recording, const DeviceCall *call)
{
    if (recording->count >= RECORDING_CALLS) {
        char why[sizeof recording->why];
        snprintf(why, sizeof why, "more than %d launches, copies and waits in one call",
                 RECORDING_CALLS);
        return overflow(recording, why), -1;
    }
    if (call->data_bytes > RECORDING_BYTES - recording->data_bytes) {
        char why[sizeof recording->why];
        snprintf(why, sizeof why, "more than %llu MiB copied from the host in one call",
                 RECORDING_BYTES >> 20);
        return overflow(recording, why), -1;
    }
    if (recording->count == recording->capacity) {
        size_t capacity = recording->capacity ? recording->capacity * 2 : 64;
        DeviceCall *grown = realloc(recording->call, capacity * sizeof *grown);
        if (!grown) return overflow(recording, "out of memory while recording"), -1;
        recording->call = grown;
        recording->capacity = capacity;
    }
    void *data = NULL;
    if (call->data_bytes) {
        data = malloc(call->data_bytes);
        if (!data) return overflow(recording, "out of memory while recording"), -1;
        memcpy(data, call->data, call->data_bytes);
    }
    recording->call[recording->count] = *call;
    recording->call[recording->count++].data = data;
    recording->data_bytes += call->data_bytes;
    return 0;
}

static int reply_with(DeviceReply *reply, int32_t status, const char *message)
{
    memset(reply, 0, offsetof(DeviceReply, message));
    return device_fail(reply, status, "%s", message);
}

/* cudaFree waits for the device, so it is recorded as a synchronisation; cudaFreeAsync does not
 * wait. The address is set aside, and its use from now on is reported. */
static int free_defer(Recorder *recorder, const DeviceCall *call, DeviceReply *reply)
{
    Recording *recording = recorder->recording;
    for (size_t i = 0; i < recording->deferred_count; i++)
        if (recording->deferred_free[i] == call->dst)
            return reply_with(reply, DEVICE_INVALID_VALUE, "this address was freed before");
    size_t count = recording->deferred_count;
    if ((count & (count - 1)) == 0) { /* full at 0, 1, 2, 4, 8 ... */
        uint64_t *grown =
            realloc(recording->deferred_free, (count ? 2 * count : 1) * sizeof *grown);
        if (!grown) return reply_with(reply, DEVICE_OUT_OF_MEMORY, "out of memory while recording");
        recording->deferred_free = grown;
    }
    DeviceCall sync = {.kind = CALL_SYNC};
    int waits = call->value != FREE_ON_STREAM;
    if (waits) {
        int result = recorder->engine->execute(recorder->engine, &sync, reply);
        if (result != 0 || reply->status != DEVICE_SUCCESS) return result;
        if (!recording->overflow) append(recording, &sync);
    } else {
        memset(reply, 0, offsetof(DeviceReply, message));
        reply->message[0] = '\0';
    }
    recording->deferred_free[recording->deferred_count++] = call->dst;
    Error error = {""};
    if (recorder->engine->retire &&
        recorder->engine->retire(recorder->engine, call->dst, 1, &error) != 0)
        return reply_with(reply, DEVICE_INVALID_VALUE, error.text);
    return 0;
}

/* Stores the engine's notes about the order, which the list of calls does not show. */
static void order_keep(Recording *recording, const DeviceCall *call, const DeviceReply *reply)
{
    DeviceCall kept = *call;
    if (reply->notes & REPLY_SERIAL) recording->serial = 1;
    if (reply->notes & REPLY_WAITED) {
        DeviceCall sync = {.kind = CALL_SYNC};
        append(recording, &sync);
    }
    if (call->kind == CALL_LAUNCH && !(reply->notes & REPLY_OVERLAPS))
        kept.value &= ~(uint32_t)LAUNCH_OVERLAPS;
    if (!recording->overflow && is_recorded(call)) append(recording, &kept);
}

static int recorder_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    Recorder *recorder = (Recorder *)device;
    if (call->kind == CALL_FREE && call->dst != 0) return free_defer(recorder, call, reply);
    int result = recorder->engine->execute(recorder->engine, call, reply);
    if (result == 0 && reply->status == DEVICE_SUCCESS && !recorder->recording->overflow)
        order_keep(recorder->recording, call, reply);
    return result;
}

static void recorder_take_cost(Device *device, DeviceCost *cost)
{
    Recorder *recorder = (Recorder *)device;
    recorder->engine->take_cost(recorder->engine, cost);
}

static int recorder_poison(Device *device, uint64_t address, uint64_t bytes, uint32_t word,
                           Error *error)
{
    Recorder *recorder = (Recorder *)device;
    return recorder->engine->poison(recorder->engine, address, bytes, word, error);
}

static int recorder_replay(Device *device, Recording *recording, int repeats, DeviceCost *cost,
                           Error *error)
{
    Recorder *recorder = (Recorder *)device;
    return recorder->engine->replay(recorder->engine, recording, repeats, cost, error);
}

static void recorder_close(Device *device)
{
    free(device);
}

Device *recorder_open(Device *engine, Recording *recording)
{
    Recorder *recorder = malloc(sizeof *recorder);
    if (!recorder) return NULL;
    *recorder = (Recorder){
        .device = {.execute = recorder_execute,
                   .take_cost = engine->take_cost ? recorder_take_cost : NULL,
                   .replay = engine->replay ? recorder_replay : NULL,
                   .poison = engine->poison ? recorder_poison : NULL,
                   .close = recorder_close},
        .engine = engine,
        .recording = recording,
    };
    return &recorder->device;
}

void recording_clear(Recording *recording, Device *engine)
{
    if (recording->engine_cache && recording->engine_cache_free)
        recording->engine_cache_free(recording->engine_cache);
    for (size_t i = 0; i < recording->deferred_count; i++) {
        DeviceCall call = {.kind = CALL_FREE, .dst = recording->deferred_free[i]};
        DeviceReply reply;
        /* An address that was never allocated is rejected here; there is no caller to report it
         * to. */
        engine->execute(engine, &call, &reply);
    }
    for (size_t i = 0; i < recording->count; i++)
        free((void *)recording->call[i].data);
    free(recording->call);
    free(recording->deferred_free);
    recording_order_free(recording->order);
    memset(recording, 0, sizeof *recording);
}

/* One serial chain, if the order is lost or there is no memory for it: stricter, but correct. */
static size_t chain_before(const Recording *recording, size_t i, size_t *before)
{
    while (i-- > 0)
        if (recording_is_node(&recording->call[i])) {
            before[0] = i;
            return 1;
        }
    return 0;
}

size_t recording_edges(const Recording *recording, size_t i, size_t *before)
{
    if (i >= recording->count || !recording_is_node(&recording->call[i])) return 0;
    Recording *cache = (Recording *)recording; /* the order is no part of what the recording says */
    if (recording->serial) return chain_before(recording, i, before);
    if (cache->order && recording_order_calls(cache->order) != recording->count) {
        recording_order_free(cache->order);
        cache->order = NULL;
    }
    if (!cache->order) cache->order = recording_order_build(recording);
    return cache->order ? recording_order_before(cache->order, i, before)
                        : chain_before(recording, i, before);
}
