/* session_parts.h - what session*.c share. */
#ifndef CONVLAB_AUTOGRADER_SESSION_SESSION_PARTS_H
#define CONVLAB_AUTOGRADER_SESSION_SESSION_PARTS_H

#include "autograder/session/protocol.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/session/session.h"
#include "autograder/session/shared.h"

enum { SESSION_PATH = 1024, CALL_SECONDS = 10 };

typedef struct Runner {
    char program[512]; /* "" : none in this slot */
    pid_t pid;         /* 0: not running */
    int output;        /* read end of what it prints, -1 */
    int counted;       /* begins under valgrind, which writes what it counted into `count` */
    int count;         /* read end, -1 */
    int nothing_known; /* what this program counts that makes no call */
    RunCount nothing;
} Runner;

struct Session {
    DeviceEngine engine;
    char machine[64], gpus_directory[768], device_program[SESSION_PATH];
    int threads, checks;
    double call_seconds;
    int limits; /* that the submission met: its calls get less, its launches from the next problem
                   on */
    uint64_t memory_bytes;
    pid_t device;    /* 0: not running */
    int device_died; /* during the last request */
    int control, descriptors;
    int printed;                 /* read end of what the device process prints */
    int running;                 /* the slot that a request is under way for, or -1 */
    char words[SESSION_PRINTED]; /* what slot 0's kernels printed, its beginning */
    DeviceProperties properties;
    Runner runner[SESSION_RUNNERS];
    const Operation *operation; /* the current problem; NULL before the first */
    CallRequest call;
    SharedTensors shared; /* the problem's floats, for both processes */
    TensorShape shape[OPERATION_TENSORS];
    uint64_t instructions; /* that a call's launches may take on the simulator */
    int problem_known;     /* to the device process */
    int runners_stay;      /* while it is told of the next one */
};

/* ---- session.c ---------------------------------------------------------------------------- */

/* One request about slot's runner: everything started that it needs, metered while it lasts, and
 * the answer as an outcome. */
void request_run(Session *session, int slot, ControlRequest *request, const float *const *tensor,
                 float *output, ControlReply *reply, RunOutcome *outcome);

/* ---- session_device.c --------------------------------------------------------------------- */

/* Makes sure that there is a device process which knows engine and problem. */
int device_ensure(Session *session, Error *error);
void device_kill(Session *session);

/* Reads what the device process printed; keeps the beginning of what slot 0's kernels did. */
void device_drain(Session *session, int slot);

/* A request, and its answer.  -1 with error when the device process is gone. */
int device_send(Session *session, const ControlRequest *request, Error *error);
int device_receive(Session *session, ControlReply *reply, Error *error);
/* Both; -1 also when the answer is a failure. */
int device_ask(Session *session, ControlRequest *request, ControlReply *reply, Error *error);

/* Hands a descriptor over, to go with the next CONTROL_ATTACH. */
int device_send_descriptor(Session *session, int fd, Error *error);

/* ---- session_runner.c --------------------------------------------------------------------- */

/* Makes sure that slot's program runs and the device process holds its socket. */
int runner_ensure(Session *session, int slot, Error *error);
void runner_kill(Runner *runner);

/* ---- session_limit.c ---------------------------------------------------------------------- */

/* Warp instructions that the launches of one call may take on the simulator. */
uint64_t limit_instructions(const Session *session);

/* Seconds of CPU time that a call of slot's host code may use. */
double limit_seconds(const Session *session, int slot);

/* Seconds for which a call may wait, where it may use `allowed` of CPU time: on a card, where a
 * kernel cannot be metered, no longer than the problem asks for. */
double limit_waiting(const Session *session, double allowed);

/* Waits until the device process has an answer, and meters slot's runner meanwhile: a runner that
 * used or waited too much is ended.  0 when there is an answer; -1 with the outcome. */
int limit_wait(Session *session, int slot, RunOutcome *outcome);

/* ---- session_count.c ---------------------------------------------------------------------- */

/* The command line that runs `program` under valgrind, which writes its counts to the second passed
 * descriptor; and its environment. */
enum { COUNT_ARGUMENTS = 16 };
void count_arguments(const char *program, const char *argv[COUNT_ARGUMENTS]);
extern const char *const count_environment[];

/* ---- session_outcome.c -------------------------------------------------------------------- */

/* Turns what the device process saw, and how the runner ended, into a status and a sentence.  Kills
 * a runner that did not answer. */
void outcome_fill(Session *session, int slot, const ControlReply *reply, RunOutcome *outcome);

/* A status and a printf-style sentence. */
void outcome_say(RunOutcome *outcome, RunStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
