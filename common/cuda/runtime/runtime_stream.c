/* Streams and events. */
#include <string.h>

#include "common/cuda/runtime/runtime_state.h"

cudaError_t runtime_stream(const char *api, cudaStream_t stream, uint32_t *handle)
{
    *handle = 0;
    if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return cudaSuccess;
    if (runtime_handle(stream, handle) == 0) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_HANDLE, "%p is no stream", (void *)stream);
}

static cudaError_t stream_call(const char *api, DeviceCallKind kind, cudaStream_t stream)
{
    DeviceCall call = {.kind = kind};
    cudaError_t status = runtime_stream(api, stream, &call.stream);
    return status == cudaSuccess ? runtime_call(api, &call, NULL) : status;
}

static cudaError_t event_call(const char *api, DeviceCallKind kind, cudaEvent_t event)
{
    DeviceCall call = {.kind = kind};
    if (runtime_handle(event, &call.event) != 0)
        return runtime_fail(api, DEVICE_INVALID_HANDLE, "%p is no event", (void *)event);
    return runtime_call(api, &call, NULL);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    static const char api[] = "cudaStreamCreate";
    if (!stream || flags > cudaStreamNonBlocking)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "flags %u", flags);
    DeviceCall call = {.kind = CALL_STREAM_CREATE, .value = flags};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status == cudaSuccess) *stream = runtime_opaque((uint32_t)reply.value[0]);
    return status;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

/* Priorities change when work runs, never what it computes; no engine here knows them. */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    (void)priority;
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    static const char api[] = "cudaStreamDestroy";
    uint32_t handle;
    if (runtime_handle(stream, &handle) != 0)
        return runtime_fail(api, DEVICE_INVALID_HANDLE, "%p is no created stream", (void *)stream);
    return stream_call(api, CALL_STREAM_DESTROY, stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return stream_call("cudaStreamSynchronize", CALL_STREAM_SYNC, stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return stream_call("cudaStreamQuery", CALL_STREAM_QUERY, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    static const char api[] = "cudaStreamWaitEvent";
    (void)flags;
    DeviceCall call = {.kind = CALL_STREAM_WAIT};
    cudaError_t status = runtime_stream(api, stream, &call.stream);
    if (status != cudaSuccess) return status;
    if (runtime_handle(event, &call.event) != 0)
        return runtime_fail(api, DEVICE_INVALID_HANDLE, "%p is no event", (void *)event);
    return runtime_call(api, &call, NULL);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    static const char api[] = "cudaEventCreate";
    if (!event || (flags & ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming)) != 0)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "flags %u", flags);
    DeviceCall call = {.kind = CALL_EVENT_CREATE, .value = flags};
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status == cudaSuccess) *event = runtime_opaque((uint32_t)reply.value[0]);
    return status;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return event_call("cudaEventDestroy", CALL_EVENT_DESTROY, event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    static const char api[] = "cudaEventRecord";
    DeviceCall call = {.kind = CALL_EVENT_RECORD};
    cudaError_t status = runtime_stream(api, stream, &call.stream);
    if (status != cudaSuccess) return status;
    if (runtime_handle(event, &call.event) != 0)
        return runtime_fail(api, DEVICE_INVALID_HANDLE, "%p is no event", (void *)event);
    return runtime_call(api, &call, NULL);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return event_call("cudaEventSynchronize", CALL_EVENT_SYNC, event);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return event_call("cudaEventQuery", CALL_EVENT_QUERY, event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    static const char api[] = "cudaEventElapsedTime";
    DeviceCall call = {.kind = CALL_EVENT_ELAPSED};
    if (!milliseconds) return runtime_fail(api, DEVICE_INVALID_VALUE, "milliseconds is NULL");
    if (runtime_handle(from, &call.event) != 0 || runtime_handle(to, &call.event2) != 0)
        return runtime_fail(api, DEVICE_INVALID_HANDLE, "no event");
    DeviceReply reply;
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status != cudaSuccess) return status;
    double value;
    memcpy(&value, &reply.value[0], sizeof value);
    *milliseconds = (float)value;
    return cudaSuccess;
}
