/* Streams and events. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"

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

/* ---- priorities and other hints ------------------------------------------------------------- */

/* Priorities affect the time of execution, never the results; the engines ignore them.  They can be
 * read back. */
enum { GREATEST_PRIORITY = -5 };

typedef struct Priority {
    struct Priority *next;
    uint32_t stream;
    int priority;
} Priority;

static Priority *priorities;

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = 0;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    cudaError_t status = cudaStreamCreateWithFlags(stream, flags);
    Priority *kept = status == cudaSuccess ? malloc(sizeof *kept) : NULL;
    if (!kept) return status;
    if (priority > 0) priority = 0;
    if (priority < GREATEST_PRIORITY) priority = GREATEST_PRIORITY;
    runtime_lock();
    *kept = (Priority){.next = priorities, .priority = priority};
    runtime_handle(*stream, &kept->stream);
    priorities = kept;
    runtime_unlock();
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    static const char api[] = "cudaStreamGetPriority";
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (!priority) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    runtime_lock();
    const Priority *kept = priorities;
    while (kept && kept->stream != handle)
        kept = kept->next;
    *priority = kept ? kept->priority : 0;
    runtime_unlock();
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    static const char api[] = "cudaStreamGetFlags";
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (!flags) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    *flags = handle & DEVICE_STREAM_NON_BLOCKING ? cudaStreamNonBlocking : cudaStreamDefault;
    return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    static const char api[] = "cudaStreamGetId";
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (!id) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    *id = handle;
    return cudaSuccess;
}

/* A toolkit before 12.8 does not declare this one. */
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    static const char api[] = "cudaStreamGetDevice";
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status == cudaSuccess && !device)
        status = runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    if (status == cudaSuccess) *device = 0;
    return status;
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    uint32_t handle;
    cudaError_t status = runtime_stream("cudaStreamCopyAttributes", to, &handle);
    return status == cudaSuccess ? runtime_stream("cudaStreamCopyAttributes", from, &handle)
                                 : status;
}

/* Access policies, synchronisation policies and similar attributes are accepted without effect. */
#ifdef cudaStreamSetAttribute
#undef cudaStreamSetAttribute
#undef cudaStreamGetAttribute
#endif
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue *value)
{
    uint32_t handle;
    (void)attribute, (void)value;
    return runtime_stream("cudaStreamSetAttribute", stream, &handle);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue *value)
{
    uint32_t handle;
    (void)attribute;
    if (value) memset(value, 0, sizeof *value);
    return runtime_stream("cudaStreamGetAttribute", stream, &handle);
}

/* ---- work on streams ------------------------------------------------------------------------ */

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
    runtime_note_habit(HABIT_WAITS);
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
    if (runtime_capture_wait(api, call.stream, call.event, &status)) return status;
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
    if (runtime_capture_record(call.stream, call.event)) return cudaSuccess;
    return runtime_call(api, &call, NULL);
}

/* An event for waits outside of a capture would be a node of its own. */
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    static const char api[] = "cudaEventRecordWithFlags";
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (flags & cudaEventRecordExternal && runtime_is_capturing(handle))
        return runtime_capture(
            api, handle, &(RuntimeWork){.type = cudaGraphNodeTypeEventRecord, .event = event});
    return cudaEventRecord(event, stream);
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

/* ---- functions of the host ------------------------------------------------------------------ */

/* All earlier work on the stream has ended after the wait. */
cudaError_t runtime_host(const char *api, const struct cudaHostNodeParams *host,
                         cudaStream_t stream)
{
    DeviceCall call = {.kind = CALL_STREAM_SYNC};
    cudaError_t status = runtime_stream(api, stream, &call.stream);
    if (status != cudaSuccess) return status;
    if (runtime_is_capturing(call.stream))
        return runtime_capture(api, call.stream,
                               &(RuntimeWork){.type = cudaGraphNodeTypeHost, .host = *host});
    status = runtime_call(api, &call, NULL);
    if (status == cudaSuccess) host->fn(host->userData);
    return status;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    static const char api[] = "cudaLaunchHostFunc";
    if (!function) return runtime_fail(api, DEVICE_INVALID_VALUE, "the function is NULL");
    return runtime_host(api, &(struct cudaHostNodeParams){function, data}, stream);
}

/* Unlike a host function it gets the status of a failure, and cannot be captured. */
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                                  unsigned int flags)
{
    static const char api[] = "cudaStreamAddCallback";
    if (!function || flags) return runtime_fail(api, DEVICE_INVALID_VALUE, "flags %u", flags);
    cudaError_t status = stream_call(api, CALL_STREAM_SYNC, stream);
    function(stream, status, data);
    return status;
}
