/* device_replay.c - the timed runs: no host code of the submission inside the clock.
 *
 * Before each repeat, outside the clock, the outputs and all that the runners hold in device memory
 * are poisoned: a kernel that finds its own old answer there and returns early leaves NaN.  The L2
 * is the engine's to flush (device.h). */
#include "autograder/session/device_parts.h"

static int repeat_prepare(DeviceProcess *process, Error *error)
{
    for (int i = 0; i < SESSION_RUNNERS; i++)
        if (process->slot[i].gatekeeper &&
            gatekeeper_poison(process->slot[i].gatekeeper, process->engine, error))
            return -1;
    return guarded_fill(&process->tensors, process->inputs.tensor, error);
}

void replay_device(DeviceProcess *process, Slot *slot, uint32_t repeats, ControlReply *reply)
{
    Error error = {""};
    double seconds = 0;
    if (!slot->recorded || slot->recording.overflow || !process->engine->replay) {
        reply_set(reply, RUN_NOT_RECORDED, "%s",
                  slot->recording.overflow ? slot->recording.why : "nothing is recorded yet");
        return;
    }
    for (uint32_t i = 0; i < repeats; i++) {
        if (repeat_prepare(process, &error)) {
            reply_set(reply, RUN_BROKEN, "%s", error.text);
            return;
        }
        if (process->engine->replay(process->engine, &slot->recording, 1, &reply->cost, &error)) {
            reply_set(reply, RUN_DEVICE_ERROR, "%s", error.text);
            reply->device_lost = 1;
            return;
        }
        seconds += reply->cost.seconds;
    }
    if (repeats) reply->cost.seconds = seconds / repeats;
}

void replay_host(DeviceProcess *process, Slot *slot, uint32_t repeats, ControlReply *reply)
{
    double seconds = 0;
    for (uint32_t i = 0; i < repeats && reply->status == RUN_OK; i++) {
        serve_host(process, slot, reply);
        seconds += reply->cost.seconds;
    }
    if (repeats) reply->cost.seconds = seconds / repeats;
}
