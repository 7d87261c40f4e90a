/* Launches that overlap the one before them on their stream, and guards of managed memory. */
#include "common/cuda/sim/sim_state.h"

#include "common/cuda/call_order.h"

/* A kernel with fences may communicate with the host while it runs. */
static int wants_guard(const SimDevice *sim, const SimFunction *function)
{
    uint64_t begin, end;
    return sim->guards && !function->info.fences &&
           simt_managed_pages(sim->gpu, &(uint32_t){0}, &begin, &end);
}

static OrderStamp sim_stamp(const SimDevice *sim, uint32_t stream)
{
    return sim->order ? stream_order_last(sim->order, stream) : (OrderStamp){0};
}

int sim_wants_touch(SimDevice *sim, const DeviceCall *call)
{
    if (call->kind != CALL_LAUNCH) return 0;
    const SimFunction *function = sim_function(sim, call->function);
    return function && (sim->order || function->info.tells || wants_guard(sim, function));
}

/* Calls in which the host waits, or possibly waits: CUDA does not say whether it does in a copy on
 * the device or of pageable memory. */
static int host_waits(const DeviceCall *call)
{
    switch (call->kind) {
    case CALL_COPY_TO_DEVICE:
    case CALL_COPY_TO_HOST:
        return call->value != COPY_ASYNC && call->value != COPY_BY_LIBRARY;
    case CALL_FREE:
    case CALL_COPY_ON_DEVICE:
    case CALL_STREAM_SYNC:
    case CALL_STREAM_QUERY:
    case CALL_EVENT_SYNC:
    case CALL_EVENT_QUERY:
    case CALL_SYNC:
        return 1;
    default:
        return 0;
    }
}

/* Without streams every wait is one for all work. */
static int waits_for_all(const SimDevice *sim, const DeviceCall *call)
{
    return host_waits(call) && (!sim->order || call_order(call).host == HOST_WAITS_DEVICE);
}

void sim_guard_before(SimDevice *sim, const DeviceCall *call)
{
    if (host_waits(call)) *sim->printed = '\0';
    if (waits_for_all(sim, call))
        guard_lower(&sim->guard, sim->gpu);
    else if (call->kind == CALL_COPY_TO_HOST || call->kind == CALL_COPY_TO_DEVICE)
        guard_pause(&sim->guard, sim->gpu);
    else
        guard_resume(&sim->guard, sim->gpu);
}

void sim_guard_after(SimDevice *sim, const DeviceCall *call)
{
    char name[96];
    if (sim->order && host_waits(call))
        guard_settle(&sim->guard, sim->gpu, sim->order,
                     call_order(call).host == HOST_WAITS_NOT ? &call->stream : NULL);
    if (call->kind == CALL_LAUNCH && wants_guard(sim, sim_function(sim, call->function)))
        guard_raise(&sim->guard, sim->gpu, &sim->touch,
                    sim_operation_name(sim, call, name, sizeof name), sim_stamp(sim, call->stream));
    if (call->value == COPY_ASYNC &&
        (call->kind == CALL_COPY_TO_HOST || call->kind == CALL_COPY_TO_DEVICE))
        sim->guard.copied = sim_stamp(sim, call->stream);
}

/* Calls that neither do work nor wait. */
static int is_question(const DeviceCall *call)
{
    switch (call->kind) {
    case CALL_PROPERTIES:
    case CALL_MEM_INFO:
    case CALL_ALLOC:
    case CALL_MODULE_LOAD:
    case CALL_MODULE_FUNCTION:
    case CALL_MODULE_VARIABLE:
    case CALL_FUNCTION_ATTRIBUTE:
    case CALL_OCCUPANCY:
    case CALL_POINTER:
    case CALL_TENSOR_MAP:
    case CALL_LIMIT:
        return 1;
    default:
        return 0;
    }
}

static int *lets_next(SimDevice *sim, uint32_t handle)
{
    SimStream *stream = sim_stream(sim, handle);
    return stream ? &stream->lets_next : &sim->default_lets_next;
}

int sim_may_overlap(SimDevice *sim, const DeviceCall *call)
{
    return call->kind == CALL_LAUNCH && call->value & LAUNCH_OVERLAPS &&
           (!*lets_next(sim, call->stream) ||
            (sim->early.is_there && sim->early.stream == call->stream));
}

int sim_overlap_is_hidden(const SimDevice *sim, const DeviceCall *call)
{
    return sim->early.is_there && sim->early.stream == call->stream && sim->has_touch &&
           simt_touch_hides_order(&sim->touch, &sim->early.touch);
}

void sim_early_keep(SimDevice *sim, const DeviceCall *call)
{
    SimEarly *early = &sim->early;
    if (is_question(call)) return;
    if (call_order(call).is_operation) *lets_next(sim, call->stream) = sim->work.tells != 0;
    int overlapped = early->is_there && call->value & LAUNCH_OVERLAPS;
    if (overlapped && sim->work.tells & TELLS_BEFORE && sim->has_touch)
        sim->checked += simt_touch_join(&sim->touch, &early->touch);
    early->is_there = sim->work.tells && sim->has_touch && !simt_touch_is_partial(&sim->touch);
    if (!early->is_there) return;
    SimtTouch free_one = early->touch;
    early->touch = sim->touch, sim->touch = free_one;
    early->stream = call->stream;
    sim_operation_name(sim, call, early->kernel, sizeof early->kernel);
}
