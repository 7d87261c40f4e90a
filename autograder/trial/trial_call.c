/* trial_call.c - the call, on the host or on a device. */
#include "autograder/trial/trial_call.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/table.h"
#include "autograder/text/text.h"
#include "autograder/trial/trial_limit.h"
#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"
#include "common/operations/calls/operation_call.h"

static void entry_call(const Workload *workload, void *const *pointer)
{
    operation_call(workload->operation->name, workload->problem.data, pointer,
                   runtime_given_stream());
}

/* Executes one device call and returns its value[0]; 0 if it failed. */
static uint64_t device_query(Device *device, DeviceCall call)
{
    DeviceReply reply = {0};
    return device->execute(device, &call, &reply) || reply.status ? 0 : reply.value[0];
}

/* The best of ten more calls, timed with the device's events, because a GPU's first call has no
 * useful time. */
static void time_on_device(Trial *trial, const Workload *workload, void *const *pointer)
{
    uint32_t start = (uint32_t)device_query(trial->device, (DeviceCall){.kind = CALL_EVENT_CREATE});
    uint32_t end = (uint32_t)device_query(trial->device, (DeviceCall){.kind = CALL_EVENT_CREATE});
    for (int i = 0; start && end && i < 10; i++) {
        double milliseconds;
        device_query(trial->device, (DeviceCall){.kind = CALL_EVENT_RECORD, .event = start});
        entry_call(workload, pointer);
        device_query(trial->device, (DeviceCall){.kind = CALL_EVENT_RECORD, .event = end});
        device_query(trial->device, (DeviceCall){.kind = CALL_EVENT_SYNC, .event = end});
        uint64_t bits = device_query(
            trial->device, (DeviceCall){.kind = CALL_EVENT_ELAPSED, .event = start, .event2 = end});
        memcpy(&milliseconds, &bits, sizeof milliseconds);
        if (milliseconds > 0 && (!trial->cost.seconds || milliseconds / 1e3 < trial->cost.seconds))
            trial->cost.seconds = milliseconds / 1e3;
    }
}

/* Passes the expected outputs to a debugger. */
static void expected_report(const Trial *trial, const Workload *workload, void *const *pointer)
{
    enum { PER_TOLERANCE = 10000, PER_TOLERANCE_LOW = 100 };
    const Operation *operation = workload->operation;
    size_t count = workload->outputs;
    double *expected = calloc(count, sizeof *expected), *reach = calloc(count, sizeof *reach),
           *terms = calloc(count, sizeof *terms);
    int output = 0;
    while (workload->tensor[output])
        output++;
    const TensorShape *shape = &workload->shape[output];
    /* The oracle's outputs have the default layout: n, k, p, q in an operation with several. */
    int is_plain =
        !operation->rearrange || (!strcmp(shape->axes[0], "n") && !strcmp(shape->axes[1], "k"));
    double part = trial->found->ini.precision == PRECISION_FP32 ? PER_TOLERANCE : PER_TOLERANCE_LOW;
    if (expected && reach && terms && is_plain) {
        operation->oracle(trial->problem, (const float *const *)workload->tensor, expected, reach,
                          terms);
        for (size_t i = 0; i < count; i++)
            reach[i] = reach[i] / part + 1e-6;
        sim_device_expected((uint64_t)(uintptr_t)pointer[output], expected, reach, count);
    }
    free(expected), free(reach), free(terms);
}

/* One call of the entry point on the device, and what it cost. */
static int call_on_device(Trial *trial, const Workload *workload, void *const *pointer,
                          Error *error)
{
    char message[1024] = "";
    DeviceReply reply = {0};
    DeviceCall sync = {.kind = CALL_SYNC};
    if (trial->device->take_cost) trial->device->take_cost(trial->device, &trial->cost);
    runtime_take_habits();
    if (sim_device_expected) expected_report(trial, workload, pointer);
    trial_limit_begin(workload);
    entry_call(workload, pointer);
    trial->habits = runtime_take_habits();
    trial->device->execute(trial->device, &sync, &reply);
    trial_limit_end();
    int failed = runtime_take_failure(message, sizeof message);
    if (trial->device->take_cost) trial->device->take_cost(trial->device, &trial->cost);
    if (failed || reply.status) {
        const char *why = *message ? message : reply.message;
        int number = failed ? failed : reply.status;
        char text[1400], more[300] = "";
        if (number == DEVICE_LAUNCH_TIMEOUT)
            workload_excess(trial->instructions, more, sizeof more);
        trial->stopped = number == DEVICE_LAUNCH_TIMEOUT ? CASE_LIMIT : CASE_ERROR;
        text_set(text, sizeof text, "%s: %s%s", device_status_name(number),
                 *why ? why : device_status_text(number), more);
        return error_set(error, "%s", text);
    }
    text_set(trial->finding, sizeof trial->finding, "%s", message);
    return 0;
}

/* The best of a few calls: accurate enough for development, never used for a grade. */
static int call_on_host(Trial *trial, const Workload *workload, const GuardedTensors *tensors,
                        void *const *pointer, Error *error)
{
    trial->cost = (DeviceCost){0};
    for (int i = 0; i < 5; i++) {
        if (guarded_fill(tensors, (const float *const *)workload->tensor, error)) return -1;
        trial_limit_begin(workload);
        double start = trial_cpu_seconds();
        entry_call(workload, pointer);
        double seconds = trial_cpu_seconds() - start;
        trial_limit_end();
        if (!i || seconds < trial->cost.seconds) trial->cost.seconds = seconds;
    }
    return 0;
}

int trial_call(Trial *trial, Workload *workload, Observed *observed, Error *error)
{
    GuardedTensors tensors;
    void *pointer[OPERATION_TENSORS] = {0};
    int gpu = trial->engine == ENGINE_GPU;
    uint32_t band = trial->device && !gpu ? 0 : GUARD_BAND_FLOATS;
    if (workload_place(workload, trial->device, band, &tensors, error)) return -1;
    for (int i = 0; i < workload->tensors; i++)
        pointer[i] = (void *)(uintptr_t)tensors.address[i];
    int status = trial->device ? call_on_device(trial, workload, pointer, error)
                               : call_on_host(trial, workload, &tensors, pointer, error);
    if (!status) status = workload_observe(workload, &tensors, observed, error);
    if (!status && trial->device && gpu) time_on_device(trial, workload, pointer);
    guarded_close(&tensors);
    return status;
}

/* A ProbeRun: one more call, on inputs chosen by the diagnosis. */
int trial_probe(void *context, const Problem *problem, const float *const *tensor, float *output)
{
    Trial again = *(Trial *)context;
    Workload workload;
    Observed observed;
    Error error;
    if (workload_open(again.operation, problem, &workload, &error)) return -1;
    for (int i = 0; i < workload.tensors; i++)
        if (workload.tensor[i])
            memcpy(workload.tensor[i], tensor[i], tensor_count(&workload.shape[i]) * sizeof(float));
    int status = trial_call(&again, &workload, &observed, &error);
    if (!status) memcpy(output, workload.output, workload.outputs * sizeof(float));
    workload_close(&workload);
    return status;
}

const char *trial_time_text(const DeviceCost *cost, char text[80])
{
    char cycles[40];
    if (cost->cycles)
        text_set(text, 80, "%s cycles (%.1f us)", text_thousands((double)cost->cycles, cycles),
                 cost->seconds * 1e6);
    else
        text_set(text, 80, "%.1f us", cost->seconds * 1e6);
    return text;
}
