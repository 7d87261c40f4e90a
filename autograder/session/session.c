/* session.c - grade's view of the device process and the runners. */
#include "autograder/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/session/session_parts.h"
#include "common/base/intake.h"
#include "common/base/parallel.h"
#include "common/cuda/wire.h"

#define RUNNER_BYTES (2ull << 30)

/* Finds `device` next to this program; a test's program is three directories deeper. */
static int device_program_find(char *program, size_t bytes, Error *error)
{
    char self[SESSION_PATH - 32];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return error_set(error, "/proc/self/exe cannot be read: is /proc mounted?");
    self[length] = 0;
    *strrchr(self, '/') = 0;
    snprintf(program, bytes, "%s/device", self);
    if (access(program, X_OK)) snprintf(program, bytes, "%s/../../../bin/device", self);
    return 0;
}

static int options_take(Session *session, const SessionOptions *options, Error *error)
{
    const char *directory =
        options->gpus_directory ? options->gpus_directory : "common/simulator/gpus";
    session->engine = options->engine;
    snprintf(session->machine, sizeof session->machine, "%s",
             options->machine ? options->machine : "");
    snprintf(session->gpus_directory, sizeof session->gpus_directory, "%s", directory);
    session->threads = options->sim_threads;
    session->checks = options->checks;
    session->warp_sync = options->warp_sync;
    session->call_seconds = options->call_seconds > 0 ? options->call_seconds : CALL_SECONDS;
    session->memory_bytes =
        options->runner_memory_bytes ? options->runner_memory_bytes : RUNNER_BYTES;
    if (!options->device_program)
        return device_program_find(session->device_program, sizeof session->device_program, error);
    snprintf(session->device_program, sizeof session->device_program, "%s",
             options->device_program);
    return 0;
}

int session_open(const SessionOptions *options, Session **session, Error *error)
{
    Session *made = calloc(1, sizeof *made);
    *session = NULL;
    if (!made) return error_set(error, "out of memory");
    made->shared.fd = -1;
    made->control = made->descriptors = made->printed = made->running = -1;
    for (int i = 0; i < SESSION_RUNNERS; i++)
        made->runner[i].output = made->runner[i].count = -1;
    if (options_take(made, options, error) || device_ensure(made, error)) {
        session_close(made);
        return -1;
    }
    *session = made;
    return 0;
}

int session_open_parallel(const Session *session, Session **beside, Error *error)
{
    const SessionOptions options = {.engine = session->engine,
                                    .machine = session->machine,
                                    .sim_threads = session->threads,
                                    .checks = session->checks,
                                    .warp_sync = session->warp_sync,
                                    .call_seconds = session->call_seconds,
                                    .runner_memory_bytes = session->memory_bytes,
                                    .gpus_directory = session->gpus_directory,
                                    .device_program = session->device_program};
    return session_open(&options, beside, error);
}

void session_close(Session *session)
{
    if (!session) return;
    device_kill(session);
    shared_close(&session->shared);
    free(session);
}

void session_properties(const Session *session, DeviceProperties *properties)
{
    *properties = session->properties;
}

const char *session_printed(Session *session)
{
    intake_clean(session->words);
    return session->words;
}

int session_start_runner(Session *session, int slot, const Build *build, Error *error)
{
    if (slot < 0 || slot >= SESSION_RUNNERS) return error_set(error, "there is no slot %d", slot);
    Runner *runner = &session->runner[slot];
    if (build->status != BUILD_OK || access(build->program, X_OK))
        return error_set(error, "there is no program to run: %s", build->message);
    runner_kill(runner);
    runner->nothing_known = 0;
    snprintf(runner->program, sizeof runner->program, "%s", build->program);
    snprintf(runner->code, sizeof runner->code, "%s", build->code);
    return 0;
}

static int problem_take(Session *session, const Operation *operation, const Problem *problem,
                        int host, Error *error)
{
    int tensors = operation->tensors(problem, session->shape);
    session->operation = operation;
    session->call =
        (CallRequest){.problem = *problem, .host = host != 0, .tensors = (uint32_t)tensors};
    snprintf(session->call.operation, sizeof session->call.operation, "%s", operation->name);
    for (int i = 0; i < tensors; i++) {
        session->call.role[i] = session->shape[i].role;
        session->call.count[i] = tensor_count(&session->shape[i]);
    }
    session->instructions = limit_instructions(session);
    session->problem_known = 0;
    return shared_open(&session->shared, &session->call, error);
}

int session_set_problem(Session *session, const Operation *operation, const Problem *problem,
                        int host, Error *error)
{
    if (problem_take(session, operation, problem, host, error)) return -1;
    for (int i = 0; i < SESSION_RUNNERS; i++)
        runner_kill(&session->runner[i]);
    return device_ensure(session, error);
}

int session_next_problem(Session *session, const Problem *problem, Error *error)
{
    if (problem_take(session, session->operation, problem, (int)session->call.host, error))
        return -1;
    session->runners_stay = 1;
    int status = device_ensure(session, error);
    session->runners_stay = 0;
    return status;
}

/* ---- calls -------------------------------------------------------------------------------- */

static void observed_fill(const Session *session, const ControlReply *reply, const float *output,
                          Observed *observed)
{
    *observed = (Observed){.output = output};
    damage_name(&reply->damage, session->shape, session->call.tensors, observed);
}

static void device_lost(Session *session, const Error *error, RunOutcome *outcome)
{
    outcome_say(outcome, RUN_BROKEN, "%s", error->text);
    device_kill(session);
    session->device_died = 1;
}

/* Detects that the device process has died since its last answer, and starts another. */
static int all_ready(Session *session, int slot, Error *error)
{
    if (!device_ensure(session, error) && !runner_ensure(session, slot, error)) return 0;
    device_kill(session);
    if (!device_ensure(session, error) && !runner_ensure(session, slot, error)) return 0;
    device_kill(session);
    return -1;
}

/* Puts the inputs where the device process finds them; NULL: keeps the present ones. */
static void inputs_put(Session *session, ControlRequest *request, const float *const *tensor)
{
    const CallRequest *call = &session->call;
    request->has_inputs = tensor != NULL;
    for (uint32_t i = 0; tensor && i < call->tensors; i++)
        if (call->role[i] == TENSOR_INPUT)
            parallel_copy(session->shared.input[i], tensor[i], call->count[i] * sizeof(float));
}

static void request_make(Session *session, int slot, ControlRequest *request,
                         const float *const *tensor, float *output, ControlReply *reply,
                         RunOutcome *outcome)
{
    Error error = {""};
    *outcome = (RunOutcome){.status = RUN_BROKEN};
    double start = wire_now();
    session->device_died = 0;
    if (!session->operation || slot < 0 || slot >= SESSION_RUNNERS) {
        snprintf(outcome->message, sizeof outcome->message, "no problem is set, or no slot %d",
                 slot);
        return;
    }
    if (all_ready(session, slot, &error)) {
        outcome_say(outcome, RUN_BROKEN, "%s", error.text);
        return;
    }
    request->slot = (uint32_t)slot;
    double ready = wire_now();
    inputs_put(session, request, tensor);
    double sent = wire_now();
    const Runner *runner = &session->runner[slot];
    double ran = session->call.host ? meter_ran(runner->pid) : 0;
    if (device_send(session, request, &error)) {
        device_lost(session, &error, outcome);
        return;
    }
    if (limit_wait(session, slot, outcome)) return;
    if (device_receive(session, reply, &error)) {
        device_lost(session, &error, outcome);
        return;
    }
    double answered = wire_now();
    if (output && reply->status == RUN_OK)
        parallel_copy(output, session->shared.output,
                      call_floats(&session->call, TENSOR_OUTPUT) * sizeof *output);
    outcome->spent = reply->spent;
    outcome->spent.start = ready - start;
    outcome->spent.crossing = sent - ready + wire_now() - answered;
    outcome_fill(session, slot, reply, outcome);
    if (session->call.host && runner->pid > 0) outcome->cpu_seconds = meter_ran(runner->pid) - ran;
    if (reply->device_lost) device_kill(session);
}

void request_run(Session *session, int slot, ControlRequest *request, const float *const *tensor,
                 float *output, ControlReply *reply, RunOutcome *outcome)
{
    session->running = slot;
    request_make(session, slot, request, tensor, output, reply, outcome);
    device_drain(session, slot);
    /* Repeats the request in a new device process, which shows whose fault it is. */
    if (session->device_died) request_make(session, slot, request, tensor, output, reply, outcome);
    device_drain(session, slot);
    session->running = -1;
    if (session->device_died && slot == 0)
        outcome_say(outcome, RUN_CRASHED,
                    "the process that drives or simulates the GPU crashed while it executed the "
                    "calls of %s, and so did a second process",
                    session->operation->name);
    /* Starved runs count, too, because a submission may keep the machine busy: later cases get
     * less. */
    int over = outcome->status == RUN_LIMIT || outcome->status == RUN_STARVED;
    if (over && slot == 0) session->limits++;
}

static void call_studied(Session *session, int slot, DeviceStudy study, const float *const *tensor,
                         float *output, Observed *observed, RunOutcome *outcome)
{
    ControlRequest request = {.kind = CONTROL_CALL, .unseen = !output, .study = study};
    ControlReply reply = {.damage = DAMAGE_NONE};
    request_run(session, slot, &request, tensor, output, &reply, outcome);
    observed_fill(session, &reply, output, observed);
}

void session_call(Session *session, int slot, const float *const *tensor, float *output,
                  Observed *observed, RunOutcome *outcome)
{
    call_studied(session, slot, DEVICE_STUDIED, tensor, output, observed, outcome);
}

void session_search(Session *session, int slot, const float *const *tensor, float *output,
                    Observed *observed, RunOutcome *outcome)
{
    call_studied(session, slot, DEVICE_SEARCHED, tensor, output, observed, outcome);
}

void session_probe(Session *session, int slot, const float *const *tensor, float *output,
                   Observed *observed, RunOutcome *outcome)
{
    call_studied(session, slot, DEVICE_EXECUTED, tensor, output, observed, outcome);
}

void session_replay(Session *session, int slot, int repeats, const float *const *tensor,
                    float *output, Observed *observed, RunOutcome *outcome)
{
    ControlRequest request = {.kind = CONTROL_REPLAY,
                              .repeats = repeats ? (uint32_t)repeats : 1,
                              .unseen = !output,
                              .study = repeats ? DEVICE_PRICED : DEVICE_EXECUTED};
    ControlReply reply = {.damage = DAMAGE_NONE};
    request_run(session, slot, &request, tensor, output, &reply, outcome);
    /* A fault of another slot's kernel ends the device process, and every recording with it. */
    if (reply.status == RUN_NOT_RECORDED && tensor) {
        session_probe(session, slot, tensor, output, observed, outcome);
        if (outcome->status != RUN_OK) return;
        request_run(session, slot, &request, tensor, output, &reply, outcome);
    }
    observed_fill(session, &reply, output, observed);
}
