/* Streams and events of the simulated engine, and the order between them. */
#include "common/cuda/sim/sim_state.h"

#include <string.h>

#include "common/base/demangle.h"
#include "common/cuda/call_order.h"

enum { STREAM_NON_BLOCKING_FLAG = 1, EVENT_NO_TIMING_FLAG = 2 };

/* Operations before the program's first own stream are on the default stream and are not recorded
 * in the order.  The creation of that stream waits for them, here and in the recording. */
static int order_open(SimDevice *sim, DeviceReply *reply)
{
    if (sim->order) return 0;
    sim->order = stream_order_open();
    if (!sim->order) return -1;
    if (sim->is_unordered) {
        reply->notes |= REPLY_WAITED;
        sim->host = cycle_max(sim->host, sim->timeline.end);
    }
    return 0;
}

int sim_stream_create(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    SimStream *stream = sim_table_append(&sim->streams, sizeof *stream);
    if (!stream) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "too many streams");
    uint32_t handle = sim->streams.count;
    if (call->value & STREAM_NON_BLOCKING_FLAG) handle |= DEVICE_STREAM_NON_BLOCKING;
    if (order_open(sim, reply) != 0 || stream_order_begin(sim->order, handle) != 0)
        return device_fail(reply, DEVICE_OUT_OF_MEMORY,
                           "more than %d streams at a time, those included whose work the host has "
                           "not waited for: their order is not followed here",
                           ORDER_STREAMS - 1);
    stream->live = 1;
    reply->value[0] = handle;
    return 0;
}

int sim_stream_destroy(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    if (call->stream == 0)
        return device_fail(reply, DEVICE_INVALID_HANDLE, "the default stream stays");
    sim_stream(sim, call->stream)->live = 0;
    stream_order_end(sim->order, call->stream);
    return 0;
}

static int event_create(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    SimEvent *event = sim_table_append(&sim->events, sizeof *event);
    if (!event) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "too many events");
    event->live = 1;
    event->timed = (call->value & EVENT_NO_TIMING_FLAG) == 0;
    reply->value[0] = sim->events.count;
    return 0;
}

static int event_elapsed(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    const SimEvent *from = sim_event(sim, call->event), *to = sim_event(sim, call->event2);
    if (!from || !to || !from->recorded || !to->recorded || !from->timed || !to->timed)
        return device_fail(reply, DEVICE_INVALID_HANDLE,
                           "both events must exist, be recorded, and be made without "
                           "cudaEventDisableTiming");
    double end = sim_seconds(sim, to->cycle), begin = sim_seconds(sim, from->cycle);
    double milliseconds = (end - begin) * 1e3;
    memcpy(&reply->value[0], &milliseconds, sizeof milliseconds);
    return 0;
}

int sim_event_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    if (call->kind == CALL_EVENT_CREATE) return event_create(sim, call, reply);
    if (call->kind == CALL_EVENT_ELAPSED) return event_elapsed(sim, call, reply);
    SimEvent *event = sim_event(sim, call->event);
    if (!event) return device_fail(reply, DEVICE_INVALID_HANDLE, "no event %u", call->event);
    if (call->kind == CALL_EVENT_DESTROY) {
        event->live = 0;
        order_clock_free(&event->order);
    }
    if (call->kind == CALL_EVENT_RECORD) {
        event->recorded = 1;
        event->cycle = sim_stream_ready(sim, call->stream);
    }
    return 0;
}

const char *sim_operation_name(SimDevice *sim, const DeviceCall *call, char *text, size_t bytes)
{
    switch (call->kind) {
    case CALL_LAUNCH:
        demangle(sim_function(sim, call->function)->info.name, text, bytes);
        return text;
    case CALL_COPY_TO_DEVICE:
        return call->value == COPY_BY_LIBRARY ? "a library call" : "a copy to the device";
    case CALL_COPY_TO_HOST:
        return call->value == COPY_BY_LIBRARY ? "a library call" : "a copy to the host";
    case CALL_COPY_ON_DEVICE:
        return "a copy on the device";
    case CALL_FILL:
        return "a cudaMemset";
    default:
        return NULL;
    }
}

void sim_order_note(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    char text[96];
    CallOrder rule = call_order(call);
    if (!sim->order) {
        sim->is_unordered |= rule.is_operation;
        if (rule.host == HOST_WAITS_DEVICE) sim->is_unordered = 0;
        return;
    }
    SimEvent *event = sim_event(sim, call->event);
    const char *name = sim_operation_name(sim, call, text, sizeof text);
    const SimtTouch *touch = call->kind == CALL_LAUNCH ? &sim->touch : NULL;
    sim->checked += stream_order_call(sim->order, call, event ? &event->order : NULL, name, touch,
                                      reply->message, sizeof reply->message);
    if (stream_order_lost(sim->order)) reply->notes |= REPLY_SERIAL;
}
