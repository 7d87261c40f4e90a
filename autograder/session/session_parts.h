/* session_parts.h - state shared by session*.c. */
#ifndef CONVLAB_AUTOGRADER_SESSION_SESSION_PARTS_H
#define CONVLAB_AUTOGRADER_SESSION_SESSION_PARTS_H

#include "autograder/session/protocol.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/session/session.h"
#include "autograder/session/shared.h"

enum { SESSION_PATH = 1024, CALL_SECONDS = 10 };

typedef struct Runner {
    char program[512]; /* "" : none in this slot */
    char code[65];     /* digest of the only GPU code that it may load; "": any */
    pid_t pid;         /* 0: not running */
    int output;        /* read end of its output, -1 */
    int counted;       /* Boolean: runs under valgrind, which writes its counts into `count` */
    int count;         /* read end, -1 */
    char scratch[32];  /* directory for valgrind's files without namespaces; "": none */
    int nothing_known; /* counts of this program without a call */
    RunCount nothing;
} Runner;

struct Session {
    DeviceEngine engine;
    char machine[64], gpus_directory[768], device_program[SESSION_PATH];
    int threads, checks, warp_sync;
    double call_seconds;
    int limits; /* number of limits that the submission has exceeded: lower limits apply to its
                 * calls at once, to its launches from the next problem on */
    uint64_t memory_bytes;
    pid_t device;    /* 0: not running */
    int device_died; /* during the last request */
    int control, descriptors;
    int printed;                 /* read end of the device process' output */
    int running;                 /* slot of the request in progress, or -1 */
    char words[SESSION_PRINTED]; /* the start of the text that slot 0's kernels printed */
    DeviceProperties properties;
    Runner runner[SESSION_RUNNERS];
    const Operation *operation; /* the current problem; NULL before the first */
    CallRequest call;
    SharedTensors shared; /* the problem's floats, shared by both processes */
    TensorShape shape[OPERATION_TENSORS];
    uint64_t instructions; /* limit of a call's launches on the simulator */
    int problem_known;     /* Boolean: the device process has the problem */
    int runners_stay;      /* Boolean: runners survive the next change of the problem */
};

/* ---- session.c ---------------------------------------------------------------------------- */

/* One request for slot's runner: starts the processes that it needs, meters them, and returns the
 * answer as an outcome. */
void request_run(Session *session, int slot, ControlRequest *request, const float *const *tensor,
                 float *output, ControlReply *reply, RunOutcome *outcome);

/* ---- session_device.c --------------------------------------------------------------------- */

/* Makes sure that a device process runs and has the engine and the problem. */
int device_ensure(Session *session, Error *error);
void device_kill(Session *session);

/* Reads the device process' output; keeps the start of slot 0's. */
void device_drain(Session *session, int slot);

/* A request, and its answer.  -1 with error when the device process is gone. */
int device_send(Session *session, const ControlRequest *request, Error *error);
int device_receive(Session *session, ControlReply *reply, Error *error);
/* device_send, where a failure in the answer also returns -1. */
int device_request(Session *session, ControlRequest *request, ControlReply *reply, Error *error);

/* Passes a descriptor, for the next CONTROL_ATTACH. */
int device_send_descriptor(Session *session, int fd, Error *error);

/* ---- session_runner.c --------------------------------------------------------------------- */

/* Makes sure that slot's program runs and the device process holds its socket. */
int runner_ensure(Session *session, int slot, Error *error);

/* ---- session_kill.c ----------------------------------------------------------------------- */

void runner_kill(Runner *runner);

/* ---- session_limit.c ---------------------------------------------------------------------- */

/* Limit of warp instructions of one call's launches on the simulator. */
uint64_t limit_instructions(const Session *session);

/* Limit of CPU seconds of one call of slot's host code. */
double limit_seconds(const Session *session, int slot);

/* Limit of waiting seconds of a call that may use `allowed` seconds of CPU time.  On a GPU, where a
 * kernel cannot be metered, it depends on the problem. */
double limit_waiting(const Session *session, double allowed);

/* Waits for the device process' answer and meters slot's runner, which is ended if it exceeds a
 * limit.  0 with an answer; -1 with the outcome. */
int limit_wait(Session *session, int slot, RunOutcome *outcome);

/* ---- session_count.c ---------------------------------------------------------------------- */

/* Takes the counts from what valgrind wrote.  -1: a count is missing or occurs twice. */
int count_parse(const char *log, RunCount *count);

/* ---- session_valgrind.c ------------------------------------------------------------------- */

/* The command line that runs `program` under valgrind, which writes its counts to the second passed
 * descriptor, and the environment for it. */
enum { COUNT_ARGUMENTS = 16 };
void count_arguments(const char *program, const char *argv[COUNT_ARGUMENTS]);
extern const char *const count_environment[];

/* ---- session_outcome.c -------------------------------------------------------------------- */

/* Derives a status and a message from the device process' observations and the way in which the
 * runner ended.  Kills a runner that did not answer. */
void outcome_fill(Session *session, int slot, const ControlReply *reply, RunOutcome *outcome);

/* Sets a status and a printf-style message. */
void outcome_say(RunOutcome *outcome, RunStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
