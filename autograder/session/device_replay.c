/* device_replay.c - the timed runs: no host code of the submission inside the clock.
 *
 * Before each repeat, outside the clock, all that a kernel could have left for itself goes: outputs
 * and what the runners hold in device memory, or held and freed in the call, are poisoned, and the
 * variables of modules hold what they held at first.  So a kernel reads inputs, what this repeat
 * wrote, or NaN.  On a card it also reaches memory beside what was allocated, which nobody can
 * clear: what it finds there shows in how long the first repeat takes (judging/speed_paired.c).
 * Inputs and guard bands are written before the first repeat only: whatever a repeat does to them
 * is still there when they are checked after the last.  The L2 is the engine's to flush
 * (device.h). */
#include "autograder/session/device_parts.h"
#include "common/cuda/wire.h"

static int repeat_prepare(DeviceProcess *process, int first, Error *error)
{
    for (int i = 0; i < SESSION_RUNNERS; i++)
        if (process->slot[i].gatekeeper &&
            gatekeeper_poison(process->slot[i].gatekeeper, process->engine, error))
            return -1;
    if (process->engine->restore && process->engine->restore(process->engine, error)) return -1;
    return first ? guarded_fill(&process->tensors, serve_inputs(process), error)
                 : guarded_poison(&process->tensors, error);
}

/* One repeat; -1 with the reply set. */
static int repeat_run(DeviceProcess *process, Slot *slot, int first, ControlReply *reply)
{
    Error error = {""};
    double start = wire_now();
    if (repeat_prepare(process, first, &error)) {
        reply_set(reply, RUN_BROKEN, "%s", error.text);
        return -1;
    }
    reply->spent.upload += wire_now() - start;
    if (!process->engine->replay(process->engine, &slot->recording, 1, &reply->cost, &error))
        return 0;
    reply_set(reply, RUN_DEVICE_ERROR, "%s", error.text);
    reply->device_lost = 1;
    return -1;
}

void replay_device(DeviceProcess *process, Slot *slot, uint32_t repeats, ControlReply *reply)
{
    double seconds = 0, first = 0;
    if (!slot->recorded || slot->recording.overflow || !process->engine->replay) {
        reply_set(reply, RUN_NOT_RECORDED, "%s",
                  slot->recording.overflow ? slot->recording.why : "nothing is recorded yet");
        return;
    }
    for (uint32_t i = 0; i < repeats; i++) {
        if (repeat_run(process, slot, i == 0, reply)) return;
        seconds += reply->cost.seconds;
        if (i == 0) first = seconds;
    }
    reply->cost.seconds = seconds / repeats;
    reply->cost.first = first;
}
