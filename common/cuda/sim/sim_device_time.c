/* Times of the simulated engine's calls: where each takes place on the timeline of its streams.
 *
 * A launch takes its cycles, a copy or fill launch_cycles + bytes / bandwidth.  The bandwidth is
 * the machine's DRAM bandwidth (a copy on the device reads and writes: twice the bytes), or
 * HOST_GB_S for copies from or to the host.  The start is computed on a timeline (sim_timeline.h)
 * by CUDA's rules.  Work starts after earlier work on its stream and after the work for which the
 * host has waited.  The default stream and the blocking streams are ordered, and waits end after
 * their events.  The cost of several operations is the time from the first to the end of the last.
 * */
#include "common/cuda/sim/sim_state.h"

#include "common/cuda/call_order.h"

void sim_spend(SimDevice *sim, TimelineResource resource, uint32_t share, uint64_t cycles)
{
    sim->work = (SimWork){.resource = resource, .share = share, .cycles = cycles};
}

/* The end of the previous work on the stream. */
static TimelineMark *stream_mark(SimDevice *sim, uint32_t handle)
{
    SimStream *stream = sim_stream(sim, handle);
    return stream ? &stream->mark : &sim->default_mark;
}

/* Earliest start because of work on other streams. */
static uint64_t others_ready(SimDevice *sim, uint32_t handle)
{
    if (!sim_stream(sim, handle)) return cycle_max(sim->host, sim->blocking_ready);
    return handle & DEVICE_STREAM_NON_BLOCKING ? sim->host
                                               : cycle_max(sim->host, sim->default_mark.end);
}

uint64_t sim_stream_ready(SimDevice *sim, uint32_t handle)
{
    return cycle_max(others_ready(sim, handle), stream_mark(sim, handle)->end);
}

/* Sets the work for which the stream has to wait from now on. */
static void stream_busy(SimDevice *sim, uint32_t handle, TimelineMark mark)
{
    TimelineMark *last = stream_mark(sim, handle);
    last->pdl_trigger = cycle_max(last->pdl_trigger, mark.pdl_trigger),
    last->end = cycle_max(last->end, mark.end);
    if (sim_stream(sim, handle) && !(handle & DEVICE_STREAM_NON_BLOCKING))
        sim->blocking_ready = cycle_max(sim->blocking_ready, mark.end);
}

TimelineMark sim_work_place(SimDevice *sim, Timeline *timeline, uint64_t ready, TimelineMark before)
{
    const SimWork *work = &sim->work;
    if (work->overlaps && work->cycles)
        return timeline_overlap(timeline, &work->launch, ready, before);
    uint64_t end = timeline_place(timeline, work->resource, work->share,
                                  cycle_max(ready, before.end), work->cycles);
    uint64_t after = work->is_launch ? work->cycles - work->launch.pdl_trigger : 0;
    return (TimelineMark){.pdl_trigger = end - after, .end = end};
}

void sim_call_time(SimDevice *sim, const DeviceCall *call)
{
    const SimEvent *event = sim_event(sim, call->event);
    CallOrder rule = call_order(call);
    uint64_t ready = sim_stream_ready(sim, call->stream), end = ready;
    if (sim->work.cycles) {
        TimelineMark mark = sim_work_place(sim, &sim->timeline, others_ready(sim, call->stream),
                                           *stream_mark(sim, call->stream));
        stream_busy(sim, call->stream, mark);
        if (sim->work.is_launch) sim_launches_add(sim, call, mark);
        end = mark.end;
    }
    if (rule.waits_event && event && event->recorded)
        stream_busy(sim, call->stream, (TimelineMark){event->cycle, event->cycle});
    switch (rule.host) {
    case HOST_WAITS_NOT:
        break;
    case HOST_WAITS_STREAM:
        sim->host = cycle_max(sim->host, end);
        break;
    case HOST_WAITS_EVENT:
        if (event && event->recorded) sim->host = cycle_max(sim->host, event->cycle);
        break;
    case HOST_WAITS_DEVICE:
        sim->host = cycle_max(sim->host, sim->timeline.end);
        break;
    }
}

void sim_spend_bytes(SimDevice *sim, TimelineResource resource, double bytes, double gb_s)
{
    double cycles =
        sim->machine.launch_cycles + bytes / (gb_s * 1e9) * sim->machine.clock_mhz * 1e6;
    sim_spend(sim, resource, TIMELINE_WHOLE, (uint64_t)(cycles + 0.5));
}

double sim_seconds(const SimDevice *sim, uint64_t cycles)
{
    return (double)cycles / (sim->machine.clock_mhz * 1e6);
}
