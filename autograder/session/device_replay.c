/* device_replay.c - timed replays, without host code of the submission in the measured time.
 *
 * Before each repeat, outside the measured time, all state that a kernel could have left is
 * removed. Outputs and the runners' device memory, including memory freed during the call, are
 * poisoned; the variables of modules get their initial values.  So a kernel can read its inputs,
 * values that this repeat has written, or NaN.  On a GPU it can also access memory outside the
 * allocations, which cannot be cleared; the time of the first repeat shows whether it does
 * (judging/speed_paired.c). Inputs and guard bands are written before the first repeat only, so
 * that the check after the last repeat sees changes by any repeat.  The engine flushes the L2
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

/* One repeat; -1 with the error in the reply. */
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
