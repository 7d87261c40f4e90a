/* device_replay.c - the timed runs: no host code of the submission inside the clock.
 *
 * Before each repeat, outside the clock, the outputs and all that the runners hold in device memory
 * are poisoned: a kernel that finds its own old answer there and returns early leaves NaN. */
#include <stdlib.h>

#include "autograder/session/device_parts.h"

/* Pushes the inputs and whatever else is there out of the GPU's L2: a buffer of twice its size,
 * written. */
static void cache_flush(DeviceProcess *process)
{
    uint64_t bytes = 2 * process->properties.l2_bytes;
    DeviceReply reply = {0};
    DeviceCall alloc = {.kind = CALL_ALLOC, .bytes = bytes};
    if (process->engine->execute(process->engine, &alloc, &reply) || reply.status) return;
    uint64_t address = reply.value[0];
    DeviceCall fill = {.kind = CALL_FILL, .dst = address, .value = 0, .bytes = bytes};
    DeviceCall sync = {.kind = CALL_SYNC}, release = {.kind = CALL_FREE, .dst = address};
    process->engine->execute(process->engine, &fill, &reply);
    process->engine->execute(process->engine, &sync, &reply);
    process->engine->execute(process->engine, &release, &reply);
}

static int repeat_prepare(DeviceProcess *process, Error *error)
{
    for (int i = 0; i < SESSION_RUNNERS; i++)
        if (process->slot[i].gatekeeper &&
            gatekeeper_poison(process->slot[i].gatekeeper, process->engine, error))
            return -1;
    if (guarded_fill(&process->tensors, process->inputs.tensor, error)) return -1;
    if (process->properties.l2_bytes && process->properties.engine[0] == 'g') cache_flush(process);
    return 0;
}

void replay_device(DeviceProcess *process, Slot *slot, uint32_t repeats, ControlReply *reply)
{
    Error error = {""};
    double seconds = 0;
    if (!slot->recorded || slot->recording.overflow || !process->engine->replay) {
        reply_set(reply, CONTROL_NO_RECORDING, "%s",
                  slot->recording.overflow ? slot->recording.why : "nothing is recorded yet");
        return;
    }
    for (uint32_t i = 0; i < repeats; i++) {
        if (repeat_prepare(process, &error)) {
            reply_set(reply, CONTROL_FAILED, "%s", error.text);
            return;
        }
        if (process->engine->replay(process->engine, &slot->recording, 1, &reply->cost, &error)) {
            reply_set(reply, CONTROL_CUDA_FAILED, "%s", error.text);
            reply->device_lost = 1;
            return;
        }
        seconds += reply->cost.seconds;
    }
    if (repeats) reply->cost.seconds = seconds / repeats;
}

void replay_host(DeviceProcess *process, Slot *slot, uint32_t repeats, double deadline,
                 ControlReply *reply)
{
    double seconds = 0;
    for (uint32_t i = 0; i < repeats && reply->status == CONTROL_OK; i++) {
        serve_host(process, slot, deadline, reply);
        seconds += reply->cost.seconds;
    }
    if (repeats) reply->cost.seconds = seconds / repeats;
}
