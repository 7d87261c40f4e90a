/* Replays of recordings on the simulated engine, each on a timeline of its own. */
#include "common/cuda/sim/sim_state.h"

#include <stdlib.h>
#include <string.h>

#include "common/cuda/recording.h"

/* A launch that launches of other streams may overlap, in a grade.  Its cycles are those without
 * neighbours, which would delay its instructions.  Therefore the time for which it needs its share
 * of the machine is exclusive, and only the rest of its time, in which it waits for results,
 * overlaps.  Otherwise many small slices would take less time than one launch of their blocks. */
static TimelineMark work_place_apart(SimDevice *sim, Timeline *timeline, TimelineMark before)
{
    const SimWork *work = &sim->work;
    if (!work->is_launch) return sim_work_place(sim, timeline, 0, before);
    uint64_t busy =
        (uint64_t)(((__uint128_t)work->cycles * work->share + TIMELINE_WHOLE - 1) / TIMELINE_WHOLE);
    uint64_t end = timeline_place(timeline, TIMELINE_SMS, TIMELINE_WHOLE, before.end, busy) +
                   (work->cycles - busy);
    timeline->end = cycle_max(timeline->end, end);
    return (TimelineMark){.pdl_trigger = end, .end = end};
}

/* Whether each operation waits for the one before it. */
static int is_chain(const Recording *recording, size_t *before)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < recording->count; i++) {
        if (!recording_is_node(&recording->call[i])) continue;
        size_t edges = recording_edges(recording, i, before), k = 0;
        while (k < edges && before[k] != last)
            k++;
        if (last != SIZE_MAX && k == edges) return 0;
        last = i;
    }
    return 1;
}

/* Executes the recording's nodes in order; they take place on a timeline of their own, each after
 * those that the recording says it waits for.  It may overlap only a single one, on its stream. */
static void nodes_replay(SimDevice *sim, const Recording *recording, TimelineMark *mark,
                         size_t *before, Timeline *timeline, DeviceReply *reply)
{
    int apart = sim->untrusted && !is_chain(recording, before);
    for (size_t i = 0; i < recording->count && reply->status == DEVICE_SUCCESS; i++) {
        TimelineMark last = {0};
        if (!recording_is_node(&recording->call[i])) continue;
        memset(reply, 0, sizeof *reply);
        sim->work = (SimWork){0};
        sim_call_execute(sim, &recording->call[i], reply);
        size_t edges = recording_edges(recording, i, before);
        for (size_t k = 0; k < edges; k++)
            last.end = cycle_max(last.end, mark[before[k]].end);
        int is_next = edges == 1 && recording->call[before[0]].stream == recording->call[i].stream;
        last.pdl_trigger = is_next && !recording->serial ? mark[before[0]].pdl_trigger : last.end;
        mark[i] =
            apart ? work_place_apart(sim, timeline, last) : sim_work_place(sim, timeline, 0, last);
    }
}

/* Memory that the recorded call freed is accessible during a replay, as it was during the call. */
static void freed_retire(SimDevice *sim, const Recording *recording, int retired)
{
    Error error;
    for (size_t i = 0; i < recording->deferred_count; i++)
        simt_retire(sim->gpu, recording->deferred_free[i], retired, &error);
}

/* One pass is enough: the next would cost the same, and results that accumulate stay correct. */
int sim_replay(Device *device, Recording *recording, int repeats, DeviceCost *cost, Error *error)
{
    SimDevice *sim = (SimDevice *)device;
    (void)repeats;
    if (recording->overflow) return error_set(error, "%s", recording->why);
    sim_settle(sim, NULL);
    DeviceReply reply = {.status = DEVICE_SUCCESS};
    if (sim_lost_report(sim, &reply) != 0)
        return error_set(error, "before the replay: %s", reply.message);
    sim->settles_later = 0;
    Timeline *timeline = calloc(1, sizeof *timeline);
    TimelineMark *mark = calloc(recording->count + 1, sizeof *mark);
    size_t *before = calloc(recording->count + 1, sizeof *before);
    DeviceCost live = sim->cost;
    uint64_t live_costliest = sim->costliest, live_moved = sim->moved, live_looked = sim->checked;
    reply.status = DEVICE_OUT_OF_MEMORY;
    memset(&sim->cost, 0, sizeof sim->cost);
    sim->costliest = sim->moved = sim->checked = 0;
    if (timeline && mark && before) {
        reply.status = DEVICE_SUCCESS;
        freed_retire(sim, recording, 0);
        nodes_replay(sim, recording, mark, before, timeline, &reply);
        freed_retire(sim, recording, 1);
    }
    sim_cost_take(sim, timeline ? timeline->end : 0, cost);
    sim->cost = live;
    sim->costliest = live_costliest;
    sim->moved = live_moved;
    sim->checked = live_looked;
    free(timeline), free(mark), free(before);
    if (reply.status == DEVICE_SUCCESS) return 0;
    return error_set(error, "replay: %s: %s", device_status_name(reply.status),
                     reply.message[0] ? reply.message : device_status_text(reply.status));
}
