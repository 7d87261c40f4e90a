/* session_limit.c - limits of one call of a submission, and the wait in which it is metered.
 *
 * Host code is limited by its CPU time, and by the time in which it idles although it could run
 * (meter.h).  Kernels on the simulator are limited by the number of instructions.  Neither depends
 * on the machine's load.  A kernel on a GPU cannot be metered: there, the time in which the runner
 * waits for it is limited. */
#include <math.h>
#include <poll.h>

#include "autograder/session/session_parts.h"
#include "autograder/tensors/workload.h"

/* Limits by the number of limits that the submission has exceeded so far: code that is endless in
 * one case is mostly endless in all, and each case is judged.  The values are shares of a call's
 * seconds and of a launch's instructions.  On a GPU, they are also the seconds in
 * addition to the arithmetic; a first call may need part of them to load a module.  The lowest
 * limits are twice what correct code needs. */
enum { LEVELS = 3 };
static const struct {
    double seconds, instructions, card;
} LEVEL[LEVELS] = {{1, 1, 5}, {0.1, 0.25, 2}, {0.05, 0.125, 0.5}};

static const double COUNTED_MORE = 3;

/* Time that the device process may take to notice that the runner has ended.  If it waits for an
 * endless kernel on a GPU, it never notices. */
enum { NOTICE_MS = 5000, NOTICE_CARD_MS = 1000, NOTICE_CARD_AGAIN_MS = 200 };

static int level(const Session *session)
{
    return session->limits < LEVELS ? session->limits : LEVELS - 1;
}

uint64_t limit_instructions(const Session *session)
{
    const Problem *problem = &session->call.problem;
    double outputs = 0;
    for (uint32_t i = 0; i < session->call.tensors; i++)
        if (session->call.role[i] == TENSOR_OUTPUT) outputs += (double)session->call.count[i];
    double all = workload_instructions(session->operation, problem, outputs);
    int at = level(session);
    if (!at && session->call_seconds < CALL_SECONDS)
        at = 1; /* the caller set a lower limit than
                                                              * usual */
    return (uint64_t)(LEVEL[at].instructions * all);
}

/* Counted code is 20 to 50 times as slow.  The limit is still far above any time that earns
 * points. */
double limit_seconds(const Session *session, int slot)
{
    double seconds = session->call_seconds;
    if (slot == 0) seconds *= LEVEL[level(session)].seconds;
    return session->runner[slot].counted ? COUNTED_MORE * seconds : seconds;
}

double limit_waiting(const Session *session, double allowed)
{
    if (session->engine != ENGINE_GPU || session->call.host) return allowed;
    return fmin(allowed, LEVEL[level(session)].card +
                             workload_gpu_seconds(session->operation, &session->call.problem));
}

static int answer_in(const Session *session, int milliseconds)
{
    struct pollfd event = {.fd = session->control, .events = POLLIN};
    return poll(&event, 1, milliseconds) > 0;
}

static void excess_say(const Session *session, const Meter *meter, Excess excess,
                       RunOutcome *outcome)
{
    const char *name = session->operation->name;
    double wall = meter->at - meter->opened;
    switch (excess) {
    case EXCESS_CPU:
        outcome_say(outcome, RUN_LIMIT,
                    "%s used %.1f s of CPU time on the host and was stopped; %g s are allowed. "
                    "Possibly a loop in host code does not end.",
                    name, meter->cpu, meter->allowed);
        return;
    case EXCESS_WAITED:
        outcome_say(
            outcome, RUN_LIMIT,
            "%s waited %.1f s without computing anything and was stopped; %g s are allowed. %s",
            name, meter->waited, meter->allowed_waiting,
            session->engine == ENGINE_GPU && !session->call.host
                ? "Possibly a kernel does not end, or host code sleeps."
                : "Possibly it sleeps, or waits for something that never happens.");
        return;
    case EXCESS_STARVED:
    case EXCESS_NONE:
        break;
    }
    outcome_say(outcome, RUN_STARVED,
                "this machine is too busy to grade: in %.0f s %s got %.1f s of CPU time. No points "
                "are lost; grade again when the machine is less busy",
                wall, name, meter->cpu);
}

int limit_wait(Session *session, int slot, RunOutcome *outcome)
{
    const Runner *runner = &session->runner[slot];
    /* on a GPU the device process only waits for the GPU */
    pid_t helper = session->engine == ENGINE_GPU && !session->call.host ? 0 : session->device;
    Meter meter;
    Excess excess = EXCESS_NONE;
    if (answer_in(session, meter_interval())) return 0; /* most calls end immediately */
    meter_open(&meter, runner->pid, helper, limit_seconds(session, slot));
    meter.allowed_waiting = limit_waiting(session, meter.allowed);
    while (excess == EXCESS_NONE) {
        if (answer_in(session, meter_interval())) return 0;
        excess = meter_sample(&meter);
    }
    excess_say(session, &meter, excess, outcome);
    runner_kill(&session->runner[slot]);
    ControlReply reply;
    int card = session->limits ? NOTICE_CARD_AGAIN_MS : NOTICE_CARD_MS;
    int notice = (int)(NOTICE_MS * meter_patience() / METER_PATIENCE);
    if (!answer_in(session, helper ? notice : card) || device_receive(session, &reply, NULL))
        device_kill(session);
    else if (reply.status == RUN_DEVICE_ERROR) /* a failed kernel explains later errors */
        outcome_fill(session, slot, &reply, outcome);
    return -1;
}
