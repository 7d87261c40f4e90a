/* session_parts.h - what session*.c share. */
#ifndef CONVLAB_AUTOGRADER_SESSION_SESSION_PARTS_H
#define CONVLAB_AUTOGRADER_SESSION_SESSION_PARTS_H

#include "autograder/session/protocol.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/session/session.h"

enum { SESSION_PATH = 1024 };

typedef struct Runner {
    char program[512]; /* "" : none in this slot */
    pid_t pid;         /* 0: not running */
    int output;        /* read end of what it prints, -1 */
    int timed_host;    /* started for a host lab: pinned to one core */
} Runner;

struct Session {
    DeviceEngine engine;
    char machine[64], gpus_directory[768], device_program[SESSION_PATH];
    int threads, checks;
    double call_seconds;
    uint64_t memory_bytes;
    pid_t device; /* 0: not running */
    int control, descriptors;
    DeviceProperties properties;
    Runner runner[SESSION_RUNNERS];
    const Operation *operation; /* the current problem; NULL before the first */
    CallRequest call;
    TensorShape shape[OPERATION_TENSORS];
    int problem_known; /* to the device process */
};

/* ---- session_device.c --------------------------------------------------------------------- */

/* Makes sure that there is a device process which knows engine and problem. */
int device_ensure(Session *session, Error *error);
void device_kill(Session *session);

/* One request and its answer, with the inputs of `tensor` when it is not NULL and the outputs into
 * `output`. -1 with error when the device process did not answer in `seconds`, *late says whether
 * it still runs. */
int device_ask(Session *session, ControlRequest *request, const float *const *tensor,
               double seconds, ControlReply *reply, float *output, int *late, Error *error);

/* Hands a descriptor over, to go with the next CONTROL_ATTACH. */
int device_send_descriptor(Session *session, int fd, Error *error);

/* ---- session_runner.c --------------------------------------------------------------------- */

/* Makes sure that slot's program runs and the device process holds its socket. */
int runner_ensure(Session *session, int slot, Error *error);
void runner_kill(Runner *runner);

/* ---- session_outcome.c -------------------------------------------------------------------- */

/* Turns what the device process saw, and how the runner ended, into a status and a sentence.  Kills
 * a runner that did not answer. */
void outcome_fill(Session *session, int slot, const ControlReply *reply, RunOutcome *outcome);

#endif
