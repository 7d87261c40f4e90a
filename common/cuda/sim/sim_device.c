/* The simulated engine: DeviceCalls executed on the simulated GPU, one after another, in the order
 * in which they arrive.
 *
 * Streams and events are therefore always satisfied; they exist so that wrong handles are detected
 * and times can be computed (sim_device_time.c). */
#include "common/cuda/sim/sim_state.h"

#include <stdlib.h>
#include <string.h>

/* Whether the launch's reply can be sent before its cycles are known. */
static int may_settle_later(SimDevice *sim, const DeviceCall *call)
{
    return call->kind == CALL_LAUNCH && !(call->value & LAUNCH_OVERLAPS) &&
           !sim_wants_touch(sim, call);
}

static int sim_execute(Device *device, const DeviceCall *asked, DeviceReply *reply)
{
    SimDevice *sim = (SimDevice *)device;
    DeviceCall one = *asked;
    const DeviceCall *call = &one;
    memset(reply, 0, offsetof(DeviceReply, message));
    reply->message[0] = '\0';
    if (sim_lost_report(sim, reply) != 0) return 0;
    if (!sim_stream_is_live(sim, call->stream))
        return device_fail(reply, DEVICE_INVALID_HANDLE, "no stream %u", call->stream);
    if (call->kind != CALL_LAUNCH && sim_settle(sim, reply) != 0) return 0;
    simt_findings_clear(sim->gpu);
    sim_guard_before(sim, call);
    sim->work = (SimWork){0};
    int overlaps = sim_may_overlap(sim, call);
    if (call->kind == CALL_LAUNCH && !overlaps) one.value &= ~(uint32_t)LAUNCH_OVERLAPS;
    sim->settles_later = may_settle_later(sim, call);
    sim->has_touch = sim_wants_touch(sim, call);
    if (sim->has_touch && simt_touch_renew(sim->gpu, &sim->touch) != 0)
        return device_fail(reply, DEVICE_OUT_OF_MEMORY, "out of host memory for a launch");
    int alone = call->kind != CALL_LAUNCH;
    if (alone) guard_enter(&sim->guard);
    int status = sim_call_execute(sim, call, reply);
    if (alone) guard_leave(&sim->guard);
    if (status == 0 && reply->status == DEVICE_SUCCESS) {
        if (!sim->unsettled.waits) sim_call_time(sim, call);
        sim_order_note(sim, call, reply);
        sim_guard_after(sim, call);
        overlaps = overlaps && !sim_overlap_is_hidden(sim, call);
        sim_early_keep(sim, call);
        if (overlaps) reply->notes |= REPLY_OVERLAPS;
    }
    /* Later waits fail before they get here. */
    if (device_status_sticky(reply->status)) guard_lower(&sim->guard, sim->gpu);
    sim->has_touch = 0;
    return status;
}

/* The next cost starts after the end of this one. */
static void sim_take_cost(Device *device, DeviceCost *cost)
{
    SimDevice *sim = (SimDevice *)device;
    sim_settle(sim, NULL);
    sim_cost_take(sim, sim->timeline.end - sim->taken, cost);
    sim->taken = sim->host = sim->timeline.end;
}

uint64_t sim_device_last_launch(Device *device, uint32_t *resident_blocks, DeviceReply *reply)
{
    SimDevice *sim = (SimDevice *)device;
    sim_settle(sim, reply);
    *resident_blocks = sim->last_resident;
    return sim->last_cycles;
}

static int sim_retire(Device *device, uint64_t address, int retired, Error *error)
{
    return simt_retire(((SimDevice *)device)->gpu, address, retired, error);
}

static int sim_poison(Device *device, uint64_t address, uint64_t bytes, uint32_t word, Error *error)
{
    return simt_poison(((SimDevice *)device)->gpu, address, bytes, word, error);
}

static int sim_name(Device *device, uint64_t address, const ArrayName *array, Error *error)
{
    return simt_name(((SimDevice *)device)->gpu, address, array, error);
}

static int sim_restore(Device *device, Error *error)
{
    (void)error;
    simt_modules_restore(((SimDevice *)device)->gpu);
    simt_heap_restore(((SimDevice *)device)->gpu);
    return 0;
}

static void sim_study(Device *device, DeviceStudy study)
{
    static const SimtStudy OF[] = {[DEVICE_EXECUTED] = SIMT_EXECUTED,
                                   [DEVICE_PRICED] = SIMT_PRICED,
                                   [DEVICE_SEARCHED] = SIMT_SEARCHED,
                                   [DEVICE_STUDIED] = SIMT_STUDIED};
    simt_study(((SimDevice *)device)->gpu, OF[study]);
}

static void sim_close(Device *device)
{
    SimDevice *sim = (SimDevice *)device;
    for (uint32_t i = 1; i <= sim->modules.count; i++)
        if (sim_module(sim, i)) simt_module_unload(sim->gpu, sim_module(sim, i));
    stream_order_close(sim->order);
    for (uint32_t i = 0; i < sim->events.count; i++)
        order_clock_free(&((SimEvent *)sim->events.item)[i].order);
    simt_touch_close(&sim->touch);
    simt_touch_close(&sim->early.touch);
    guard_close(&sim->guard);
    simt_close(sim->gpu);
    sim_launches_close(&sim->launches);
    free(sim->modules.item);
    free(sim->functions.item);
    free(sim->streams.item);
    free(sim->events.item);
    free(sim->data);
    free(sim);
}

const DeviceLaunch *sim_device_launches(Device *device, uint32_t *count)
{
    SimDevice *sim = (SimDevice *)device;
    sim_settle(sim, NULL);
    *count = sim->launches.count;
    return sim->launches.launch;
}

const char *sim_device_sass(Device *device, uint32_t function)
{
    SimDevice *sim = (SimDevice *)device;
    const SimFunction *found = sim_function(sim, function);
    return found ? simt_kernel_sass(sim->gpu, found->kernel) : NULL;
}

uint64_t sim_device_repeats(Device *device, uint32_t function)
{
    const SimFunction *found = sim_function((SimDevice *)device, function);
    return found ? simt_repeats(found->kernel) : 0;
}

const SimtProfile *sim_device_profile(Device *device)
{
    sim_settle((SimDevice *)device, NULL);
    return simt_profile(((SimDevice *)device)->gpu);
}

void sim_device_write_runs(Device *device, FILE *stream)
{
    sim_settle((SimDevice *)device, NULL);
    simt_write_runs(((SimDevice *)device)->gpu, stream);
}

uint64_t sim_device_leaks(const Device *device, char *text, size_t bytes)
{
    return simt_leaks(((const SimDevice *)device)->gpu, text, bytes);
}

int sim_device_describe(const Device *device, uint64_t address, char *text, size_t bytes)
{
    return simt_describe(((const SimDevice *)device)->gpu, address, text, bytes);
}

void (*sim_device_debugger)(struct SimtGpu *gpu);
void (*sim_device_expected)(uint64_t address, const double *expected, const double *tolerance,
                            size_t count);

Device *device_open_sim(const SimDeviceOptions *options, Error *error)
{
    SimDevice *sim = calloc(1, sizeof *sim);
    if (!sim) {
        error_set(error, "out of host memory");
        return NULL;
    }
    SimtOptions simt = {.threads = options->threads,
                        .initcheck = options->checks,
                        .racecheck = options->checks,
                        .profile = options->profile,
                        .machine_code = options->machine_code,
                        .repeats = options->repeats,
                        .profile_kernel = options->profile_kernel,
                        .profile_launch = options->profile_launch,
                        .untrusted = options->untrusted,
                        .gaps = options->gaps,
                        .warns = options->warns,
                        .warp_sync = options->checks && options->warp_sync,
                        .interrupted = options->interrupted,
                        .count = 1};
    sim->untrusted = options->untrusted;
    sim->instruction_limit = options->instruction_limit;
    sim->warns = options->warns;
    sim->launches.is_kept = options->launches;
    if (machine_load(options->gpus_directory, options->machine, &sim->machine, error) == 0)
        sim->gpu = simt_open(&sim->machine, &simt, error);
    if (!sim->gpu) {
        free(sim);
        return NULL;
    }
    if (sim_device_debugger) sim_device_debugger(sim->gpu);
    sim->device = (Device){.execute = sim_execute,
                           .take_cost = sim_take_cost,
                           .replay = sim_replay,
                           .poison = sim_poison,
                           .name = sim_name,
                           .retire = sim_retire,
                           .restore = sim_restore,
                           .study = sim_study,
                           .close = sim_close};
    return &sim->device;
}
