#include "common/cuda/call_order.h"

static uint64_t bytes_moved(const DeviceCall *call)
{
    return call->kind == CALL_COPY_TO_DEVICE ? call->data_bytes : call->bytes;
}

CallOrder call_order(const DeviceCall *call)
{
    CallOrder order = {0};
    switch (call->kind) {
    case CALL_LAUNCH:
        order.is_operation = order.is_on_stream = 1;
        break;
    case CALL_COPY_TO_DEVICE:
    case CALL_COPY_TO_HOST:
    case CALL_COPY_ON_DEVICE:
    case CALL_FILL:
        if (!bytes_moved(call)) break; /* does nothing, so it orders nothing */
        order.is_operation = order.is_on_stream = 1;
        if (call->value == COPY_BY_LIBRARY && call->kind != CALL_FILL) break;
        if (call->value == COPY_ASYNC && call->kind != CALL_FILL) break;
        /* cudaMemcpy has ended when it returns; cudaMemcpyAsync on another stream possibly not. */
        if (call->kind == CALL_COPY_TO_HOST || (call->kind == CALL_COPY_TO_DEVICE && !call->stream))
            order.host = HOST_WAITS_STREAM;
        break;
    case CALL_FREE:
        if (call->dst && call->value != FREE_ON_STREAM) order.host = HOST_WAITS_DEVICE;
        break;
    case CALL_STREAM_WAIT:
        order.is_on_stream = order.waits_event = 1;
        break;
    case CALL_EVENT_RECORD:
        order.is_on_stream = order.records_event = 1;
        break;
    case CALL_STREAM_SYNC:
    case CALL_STREAM_QUERY: /* succeeds only when all on the stream has ended: a wait */
        order.is_on_stream = 1, order.host = HOST_WAITS_STREAM;
        break;
    case CALL_EVENT_SYNC:
    case CALL_EVENT_QUERY:
        order.host = HOST_WAITS_EVENT;
        break;
    case CALL_SYNC:
        order.host = HOST_WAITS_DEVICE;
        break;
    default:
        break;
    }
    return order;
}
