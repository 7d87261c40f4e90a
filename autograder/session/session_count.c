/* session_count.c - instructions and cache misses of one call, counted by valgrind's cachegrind.
 *
 * A measured time depends on the machine and its load; instruction counts do not.  A runner is
 * started under cachegrind, makes one call and ends.  Another one makes no call and ends, once for
 * all calls, because it depends on no problem.  The difference is the cost of the call.  It
 * includes all code of the process, in every function: no code inside can switch the counting.  The
 * caches are those of a common server, not of this processor: 32 KB with 8 ways, and 1 MB with 16
 * ways, lines of 64 bytes.
 *
 * cachegrind runs in the process that it counts, so code that knows valgrind can falsify the
 * counts, or write to their descriptor.  Therefore each count must be there exactly once, which
 * detects a forged count before the real one.  The pipe must have had space for all, which detects
 * a full pipe that keeps the real count out.  The caller compares the counts with measured times
 * (judging/speed_counted.c). */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "autograder/session/session_parts.h"

/* valgrind prints one line per count at its very end. */
enum { LOG_BYTES = 8192, END_SECONDS = 60 };

uint64_t run_count_cycles(const RunCount *count)
{
    return count->instructions + 10 * count->l1_misses + 100 * count->ll_misses;
}

/* The number after the label, which must occur once: a second one was written by the program. */
static int log_number(const char *log, const char *label, uint64_t *number)
{
    const char *last = strstr(log, label);
    if (!last || strstr(last + 1, label)) return -1;
    last += strlen(label);
    *number = 0;
    for (last += strspn(last, " "); (*last >= '0' && *last <= '9') || *last == ','; last++)
        if (*last != ',') *number = *number * 10 + (uint64_t)(*last - '0');
    return 0;
}

/* valgrind 3.19 writes three spaces, 3.24 one. */
static int instructions_parse(const char *log, uint64_t *number)
{
    const char *const labels[] = {"I   refs:", "I refs:"};
    return log_number(log, labels[!strstr(log, labels[0])], number) ||
           (strstr(log, labels[0]) && strstr(log, labels[1]));
}

int count_parse(const char *log, RunCount *count)
{
    uint64_t code, data;
    if (instructions_parse(log, &count->instructions) || log_number(log, "I1  misses:", &code) ||
        log_number(log, "D1  misses:", &data) || log_number(log, "LL misses:", &count->ll_misses))
        return -1;
    count->l1_misses = code + data;
    return 0;
}

/* Reads everything after the process has ended.  -1: more than valgrind writes, or the process made
 * the pipe smaller, so that a part may be missing. */
static int log_read(int pipe, char log[LOG_BYTES])
{
    size_t used = 0;
    ssize_t got;
    while (used < LOG_BYTES && (got = read(pipe, log + used, LOG_BYTES - used)) > 0)
        used += (size_t)got;
    if (used == LOG_BYTES || fcntl(pipe, F_GETPIPE_SZ) < 2 * LOG_BYTES) return -1;
    if (memchr(log, 0, used)) return -1; /* a NUL would hide the text after it */
    log[used] = 0;
    return 0;
}

/* The runner's socket is closed: it ends, and its counts are read. */
static void runner_end(Session *session, int slot, RunOutcome *outcome, RunCount *count)
{
    Runner *runner = &session->runner[slot];
    char log[LOG_BYTES] = "";
    SandboxEnd end;
    ControlRequest request = {.kind = CONTROL_DETACH};
    ControlReply reply = {.damage = DAMAGE_NONE};
    request_run(session, slot, &request, NULL, NULL, &reply, outcome);
    if (outcome->status != RUN_OK) return;
    int ended = sandbox_wait(runner->pid, sandbox_clock() + END_SECONDS, &end);
    if (ended) runner->pid = 0;
    int is_whole = ended && log_read(runner->count, log) == 0;
    runner_kill(runner);
    if (!ended || end.code != 0 || !is_whole || count_parse(log, count))
        outcome_say(outcome, RUN_EXITED,
                    "it did not end as it should when its instructions were "
                    "counted (%s)",
                    !ended      ? "it continues to run"
                    : !is_whole ? "the program wrote to the descriptor of the counts"
                                : "no counts came out, or more than one of each");
}

/* Counts a process that makes no call. */
static void count_nothing(Session *session, int slot, RunOutcome *outcome)
{
    Runner *runner = &session->runner[slot];
    if (runner->nothing_known) return;
    runner_end(session, slot, outcome, &runner->nothing);
    runner->nothing_known = outcome->status == RUN_OK;
}

void session_count(Session *session, int slot, const float *const *tensor, float *output,
                   Observed *observed, RunOutcome *outcome, RunCount *count)
{
    Runner *runner = &session->runner[slot];
    RunCount all;
    runner_kill(runner);
    runner->counted = 1;
    *outcome = (RunOutcome){.status = RUN_OK};
    count_nothing(session, slot, outcome);
    if (outcome->status == RUN_OK) session_call(session, slot, tensor, output, observed, outcome);
    if (outcome->status == RUN_OK) {
        DeviceCost cost = outcome->cost;
        runner_end(session, slot, outcome, &all);
        outcome->cost = cost;
    }
    runner->counted = 0;
    runner_kill(runner);
    if (outcome->status != RUN_OK) return;
    *count = (RunCount){all.instructions - runner->nothing.instructions,
                        all.l1_misses - runner->nothing.l1_misses,
                        all.ll_misses - runner->nothing.ll_misses};
}
