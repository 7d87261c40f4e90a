/* session_outcome.c - the message about a run, from the device process' observations and the way in
 * which the runner ended. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "autograder/session/session_parts.h"
#include "autograder/tensors/workload.h"
#include "common/base/intake.h"

enum { END_SECONDS = 2, OUTPUT_BYTES = 4096, RUNNER_MEMORY = 91 };

void outcome_say(RunOutcome *outcome, RunStatus status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    outcome->status = status;
    vsnprintf(outcome->message, sizeof outcome->message, format, arguments);
    va_end(arguments);
}

/* The last whole line that the runner printed, or "". */
static void last_line(const Runner *runner, char *line, size_t bytes)
{
    char text[OUTPUT_BYTES];
    *line = 0;
    ssize_t got = runner->output >= 0 ? read(runner->output, text, sizeof text - 1) : 0;
    if (got <= 0) return;
    text[got] = 0;
    while (got > 0 && text[got - 1] == '\n')
        text[--got] = 0;
    const char *start = strrchr(text, '\n');
    snprintf(line, bytes, "%.300s", start ? start + 1 : text);
    intake_clean(line);
}

static const char *signal_text(int number)
{
    switch (number) {
    case SIGSEGV:
        return "SIGSEGV (segmentation fault) in host code: a device pointer used on the host, or "
               "an index out of range";
    case SIGBUS:
        return "SIGBUS (bus error) in host code";
    case SIGFPE:
        return "SIGFPE in host code: an integer division by zero (possibly by a quotient that was "
               "rounded down to 0)";
    case SIGABRT:
        return "SIGABRT (abort) in host code: a failed assertion, an uncaught exception or heap "
               "damage";
    case SIGILL:
        return "SIGILL (illegal instruction) in host code: possibly a function ends without a "
               "return statement";
    case SIGTRAP:
        return "SIGTRAP in host code";
    default:
        return NULL;
    }
}

static void explain_signal(const Session *session, int number, const char *line,
                           RunOutcome *outcome)
{
    const char *text = signal_text(number);
    const char *quote = *line ? "; it printed: " : "";
    if (strstr(line, "bad_alloc"))
        outcome_say(outcome, RUN_LIMIT, "requested more than %llu MiB of host memory",
                    (unsigned long long)(session->memory_bytes >> 20));
    else if (number == SIGSYS || number == SIGXFSZ)
        outcome_say(outcome, RUN_LIMIT,
                    "created a file; a submission may create none. Print to stdout instead");
    else if (number == SIGXCPU || number == SIGKILL)
        outcome_say(outcome, RUN_LIMIT, "was killed (%s) for using too much time or memory",
                    number == SIGKILL ? "SIGKILL" : "SIGXCPU");
    else if (text)
        outcome_say(outcome, RUN_CRASHED, "killed by %s%s%s", text, quote, line);
    else
        outcome_say(outcome, RUN_CRASHED, "killed by signal %d%s%s", number, quote, line);
}

static void explain_end(const Session *session, const Runner *runner, const SandboxEnd *end,
                        RunOutcome *outcome)
{
    const char *name = session->operation ? session->operation->name : "the entry point";
    char line[400];
    last_line(runner, line, sizeof line);
    const char *quote = *line ? "; it printed: " : "";
    if (end->signal)
        explain_signal(session, end->signal, line, outcome);
    else if (end->code == RUNNER_MEMORY)
        outcome_say(outcome, RUN_LIMIT, "no host memory was left for the tensors");
    else if (!sandbox_starts())
        outcome_say(outcome, RUN_BROKEN, "the sandbox does not start any more%s%s", quote, line);
    else
        outcome_say(outcome, RUN_EXITED,
                    "the program ended by exit(%d) inside %s before giving an answer%s%s",
                    end->code, name, quote, line);
}

/* The runner closed its socket: it has ended, or pretends to. */
static void explain_gone(Session *session, Runner *runner, RunOutcome *outcome)
{
    SandboxEnd end;
    if (runner->pid > 0 && sandbox_wait(runner->pid, sandbox_clock() + END_SECONDS, &end)) {
        explain_end(session, runner, &end, outcome);
        close(runner->output);
        runner->output = -1;
        runner->pid = 0;
    } else {
        outcome_say(outcome, RUN_EXITED,
                    "closed its connection to the grader and continued to run");
    }
}

static void explain_instructions(const Session *session, RunOutcome *outcome)
{
    size_t used = strlen(outcome->message);
    outcome->status = RUN_LIMIT;
    workload_excess((double)session->instructions, outcome->message + used,
                    sizeof outcome->message - used);
}

void outcome_fill(Session *session, int slot, const ControlReply *reply, RunOutcome *outcome)
{
    Runner *runner = &session->runner[slot];
    outcome->cost = reply->cost;
    outcome->habits = reply->habits;
    outcome->initcheck_findings = reply->findings;
    if (reply->findings && reply->status == RUN_OK)
        snprintf(outcome->finding, sizeof outcome->finding, "%.1000s", reply->message);
    intake_clean(outcome->finding);
    switch ((RunStatus)reply->status) {
    case RUN_OK:
        outcome->status = RUN_OK;
        return;
    case RUN_DEVICE_ERROR:
        outcome_say(outcome, RUN_DEVICE_ERROR, "%s", reply->message);
        if (reply->cuda_status == DEVICE_LAUNCH_TIMEOUT) explain_instructions(session, outcome);
        break;
    case RUN_EXITED:
    case RUN_CRASHED:
        explain_gone(session, runner, outcome);
        break;
    case RUN_PROTOCOL:
        outcome_say(outcome, RUN_PROTOCOL, "sent an invalid message to the grader (%.200s)",
                    reply->message);
        break;
    case RUN_NOT_RECORDED:
        outcome_say(outcome, RUN_DEVICE_ERROR, "cannot be repeated on fresh inputs: %.1000s",
                    reply->message);
        return; /* the runner is alive and usable */
    case RUN_LIMIT:
        outcome_say(outcome, RUN_LIMIT, "%s", reply->message);
        break;
    case RUN_STARVED: /* set by grade (session_limit.c) */
    case RUN_BROKEN:
        outcome_say(outcome, RUN_BROKEN, "%s", reply->message);
        break;
    }
    intake_clean(outcome->message);
    runner_kill(runner); /* the next call starts a new one, whatever this one's state */
}
