/* Stream capture: calls on a stream become nodes of a graph instead of being executed.
 *
 * Each captured stream has a set of current nodes: its next node depends on them and replaces them.
 * An event recorded there refers to the same nodes, and a stream that waits for it is captured too.
 * Calls that CUDA forbids during a capture are rejected and invalidate it. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"

typedef struct Capture {
    cudaGraph_t graph;
    uint32_t origin;
    enum cudaStreamCaptureMode mode;
    unsigned long long id;
    int broken;
} Capture;

/* A captured stream, or an event that was recorded on one, with its current nodes. */
typedef struct Place {
    struct Place *next;
    uint32_t handle;
    Capture *capture;
    cudaGraphNode_t *at;
    size_t count;
} Place;

static Place *streams, *events;
static unsigned long long captures_made;
static _Thread_local enum cudaStreamCaptureMode thread_mode;

/* ---- places --------------------------------------------------------------------------------- */

static Place *place_find(Place *list, uint32_t handle)
{
    while (list && list->handle != handle)
        list = list->next;
    return list;
}

/* NULL if memory is exhausted. */
static Place *place_add(Place **list, uint32_t handle, Capture *capture)
{
    Place *place = calloc(1, sizeof *place);
    if (!place) return NULL;
    *place = (Place){.next = *list, .handle = handle, .capture = capture};
    return *list = place;
}

static int place_has(const Place *place, cudaGraphNode_t node)
{
    for (size_t i = 0; i < place->count; i++)
        if (place->at[i] == node) return 1;
    return 0;
}

/* Adds these nodes to the current ones. */
static int place_join(Place *place, const cudaGraphNode_t *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (place_has(place, at[i])) continue;
        cudaGraphNode_t *grown = realloc(place->at, (place->count + 1) * sizeof(cudaGraphNode_t));
        if (!grown) return -1;
        place->at = grown;
        grown[place->count++] = at[i];
    }
    return 0;
}

static void place_drop(Place **link)
{
    Place *place = *link;
    *link = place->next;
    free(place->at);
    free(place);
}

static void places_drop(Place **link, const Capture *capture)
{
    while (*link)
        if ((*link)->capture == capture)
            place_drop(link);
        else
            link = &(*link)->next;
}

/* Marks the predecessors of the place's nodes, and the nodes. */
static void mark_before(const Capture *capture, const Place *end)
{
    for (cudaGraphNode_t node = capture->graph->first; node; node = node->next)
        node->placed = place_has(end, node);
    for (int moved = 1; moved;) {
        moved = 0;
        for (cudaGraphNode_t node = capture->graph->first; node; node = node->next)
            for (size_t i = 0; node->placed && i < node->predecessors; i++)
                if (!node->before[i]->placed) node->before[i]->placed = moved = 1;
    }
}

/* Does another captured stream wait for all that was captured on this one? */
static int place_is_joined(const Place *place)
{
    size_t joined = 0;
    for (size_t i = 0; i < place->count; i++)
        for (const Place *other = streams; other; other = other->next) {
            if (other == place || other->capture != place->capture) continue;
            mark_before(place->capture, other);
            joined += (size_t)place->at[i]->placed;
            if (place->at[i]->placed) break;
        }
    return joined == place->count;
}

/* A stream that has been joined may be destroyed: what it did is in the graph. */
static int stream_is_dropped(const DeviceCall *call)
{
    Place **link = &streams;
    while (*link && (*link)->handle != call->stream)
        link = &(*link)->next;
    if (call->kind != CALL_STREAM_DESTROY || !*link || (*link)->capture->origin == call->stream ||
        !place_is_joined(*link))
        return 0;
    place_drop(link);
    return 1;
}

/* ---- calls during a capture ----------------------------------------------------------------- */

int runtime_is_capturing(uint32_t stream)
{
    runtime_lock();
    int found = place_find(streams, stream) != NULL;
    runtime_unlock();
    return found;
}

static cudaError_t refuse(const char *api, Capture *capture, enum cudaError status, const char *why)
{
    capture->broken = 1;
    return runtime_fail(api, (DeviceStatus)status, "%s", why);
}

/* The capture that forbids a call which waits, or may wait, for the whole device. */
static Capture *capture_forbidding(const DeviceCall *call)
{
    for (Place *place = streams; place; place = place->next) {
        Capture *capture = place->capture;
        int is_strict = capture->mode != cudaStreamCaptureModeRelaxed &&
                        thread_mode != cudaStreamCaptureModeRelaxed;
        if (call->kind == CALL_SYNC) return capture;
        if (is_strict && (call->kind == CALL_ALLOC ||
                          (call->kind == CALL_FREE && call->value != FREE_ON_STREAM)))
            return capture;
    }
    return NULL;
}

static int uses_stream(const DeviceCall *call)
{
    switch (call->kind) {
    case CALL_COPY_TO_DEVICE:
    case CALL_COPY_TO_HOST:
    case CALL_COPY_ON_DEVICE:
    case CALL_FILL:
    case CALL_LAUNCH:
    case CALL_STREAM_SYNC:
    case CALL_STREAM_QUERY:
    case CALL_STREAM_WAIT:
    case CALL_EVENT_RECORD:
        return 1;
    case CALL_FREE:
        return call->value == FREE_ON_STREAM;
    default:
        return 0;
    }
}

/* The default stream waits for every blocking stream, and therefore for work that is never
 * executed. */
static Capture *capture_of_blocking(void)
{
    for (Place *place = streams; place; place = place->next)
        if (!(place->handle & DEVICE_STREAM_NON_BLOCKING)) return place->capture;
    return NULL;
}

cudaError_t runtime_capture_check(const char *api, const DeviceCall *call)
{
    if (!streams) return cudaSuccess;
    Place *event = place_find(events, call->event);
    if (event && (call->kind == CALL_EVENT_SYNC || call->kind == CALL_EVENT_QUERY))
        return refuse(api, event->capture, cudaErrorCapturedEvent,
                      "this event was recorded in a capture, and stands for a place in a graph");
    if (stream_is_dropped(call)) return cudaSuccess;
    Place *stream = place_find(streams, call->stream);
    if (stream && (uses_stream(call) || call->kind == CALL_STREAM_DESTROY))
        return refuse(api, stream->capture, cudaErrorStreamCaptureUnsupported,
                      "this cannot be done on a stream that is being captured");
    Capture *capture = capture_forbidding(call);
    if (capture)
        return refuse(api, capture, cudaErrorStreamCaptureUnsupported,
                      "this cannot be done while a stream is being captured");
    capture = call->stream == 0 && uses_stream(call) ? capture_of_blocking() : NULL;
    if (!capture) return cudaSuccess;
    return refuse(api, capture, cudaErrorStreamCaptureImplicit,
                  "the default stream waits for the stream that is being captured; capture a "
                  "stream made with cudaStreamNonBlocking, or use no default stream meanwhile");
}

cudaError_t runtime_capture(const char *api, uint32_t stream, const RuntimeWork *work)
{
    cudaError_t status;
    runtime_lock();
    Place *place = place_find(streams, stream);
    Capture *capture = place->capture;
    if (capture->broken)
        status = runtime_fail(api, (DeviceStatus)cudaErrorStreamCaptureInvalidated,
                              "the capture failed before");
    else {
        cudaGraphNode_t node =
            runtime_graph_add(api, capture->graph, work, place->at, place->count, &status);
        place->count = 0;
        if (node && place_join(place, &node, 1))
            status = refuse(api, capture, (enum cudaError)DEVICE_UNKNOWN, "out of host memory");
        if (!node) capture->broken = 1;
    }
    runtime_unlock();
    return status;
}

int runtime_capture_record(uint32_t stream, uint32_t event)
{
    runtime_lock();
    for (Place **link = &events; *link; link = &(*link)->next)
        if ((*link)->handle == event) {
            place_drop(link);
            break;
        }
    Place *from = place_find(streams, stream), *to = NULL;
    if (from) to = place_add(&events, event, from->capture);
    if (from && (!to || place_join(to, from->at, from->count))) from->capture->broken = 1;
    runtime_unlock();
    return from != NULL;
}

int runtime_capture_wait(const char *api, uint32_t stream, uint32_t event, cudaError_t *status)
{
    runtime_lock();
    Place *to = place_find(streams, stream), *from = place_find(events, event);
    *status = cudaSuccess;
    if (from && to && from->capture != to->capture)
        *status = refuse(api, to->capture, cudaErrorStreamCaptureMerge,
                         "the event belongs to another capture");
    else if (from && !stream)
        *status = refuse(api, from->capture, cudaErrorStreamCaptureImplicit,
                         "the default stream cannot be captured");
    else if (to && !from)
        *status = refuse(api, to->capture, cudaErrorStreamCaptureIsolation,
                         "the event was recorded outside of the capture");
    else if (from) {
        if (!to) to = place_add(&streams, stream, from->capture);
        if (!to || place_join(to, from->at, from->count)) from->capture->broken = 1;
    }
    runtime_unlock();
    return from || to;
}

/* ---- the calls ------------------------------------------------------------------------------ */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    static const char api[] = "cudaStreamBeginCapture";
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (!handle)
        return runtime_fail(api, (DeviceStatus)cudaErrorStreamCaptureUnsupported,
                            "the default stream cannot be captured; make one");
    if (runtime_is_capturing(handle))
        return runtime_fail(api, (DeviceStatus)cudaErrorIllegalState, "it is being captured");
    Capture *capture = calloc(1, sizeof *capture);
    cudaGraph_t graph = capture ? runtime_graph_new() : NULL;
    runtime_lock();
    Place *place = graph ? place_add(&streams, handle, capture) : NULL;
    if (place) *capture = (Capture){graph, handle, mode, ++captures_made, 0};
    runtime_unlock();
    if (place) return cudaSuccess;
    if (graph) runtime_graph_free(graph);
    free(capture);
    return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
}

/* Whether every joined stream has been joined back to the one on which the capture started. */
static int all_joined(const Capture *capture, const Place *end)
{
    mark_before(capture, end);
    for (const Place *place = streams; place; place = place->next)
        for (size_t i = 0; place->capture == capture && i < place->count; i++)
            if (!place->at[i]->placed) return 0;
    return 1;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    static const char api[] = "cudaStreamEndCapture";
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (!graph) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    *graph = NULL;
    runtime_lock();
    Place *place = place_find(streams, handle);
    Capture *capture = place ? place->capture : NULL;
    if (!capture)
        status = runtime_fail(api, (DeviceStatus)cudaErrorIllegalState, "it is not captured");
    else if (capture->origin != handle)
        status = runtime_fail(api, (DeviceStatus)cudaErrorStreamCaptureUnmatched,
                              "the capture began on another stream");
    else if (capture->broken)
        status = runtime_fail(api, (DeviceStatus)cudaErrorStreamCaptureInvalidated,
                              "something was asked for that cannot be captured");
    else if (!all_joined(capture, place))
        status = runtime_fail(api, (DeviceStatus)cudaErrorStreamCaptureUnjoined,
                              "a stream that joined the capture was not waited for at its end");
    if (capture && capture->origin == handle) {
        places_drop(&streams, capture);
        places_drop(&events, capture);
        if (status == cudaSuccess)
            *graph = capture->graph;
        else
            runtime_graph_free(capture->graph);
        free(capture);
    }
    runtime_unlock();
    return status;
}

static enum cudaStreamCaptureStatus capture_status(const Place *place)
{
    if (!place) return cudaStreamCaptureStatusNone;
    return place->capture->broken ? cudaStreamCaptureStatusInvalidated
                                  : cudaStreamCaptureStatusActive;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *captured)
{
    static const char api[] = "cudaStreamIsCapturing";
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (!captured) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    runtime_lock();
    *captured = capture_status(place_find(streams, handle));
    runtime_unlock();
    return cudaSuccess;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captured,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **at, const cudaGraphEdgeData **edges,
                                     size_t *count)
#else
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *captured,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **at, size_t *count)
#endif
{
    uint32_t handle;
    cudaError_t status = cudaStreamIsCapturing(stream, captured);
    if (status != cudaSuccess) return status;
    runtime_stream("cudaStreamGetCaptureInfo", stream, &handle);
    runtime_lock();
    const Place *place = place_find(streams, handle);
    if (place && id) *id = place->capture->id;
    if (place && graph) *graph = place->capture->graph;
    if (place && at) *at = place->at;
    if (place && count) *count = place->count;
#if CUDART_VERSION >= 13000
    if (edges) *edges = NULL;
#endif
    runtime_unlock();
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    if (!mode)
        return runtime_fail("cudaThreadExchangeStreamCaptureMode", DEVICE_INVALID_VALUE,
                            "the mode is NULL");
    enum cudaStreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return cudaSuccess;
}
