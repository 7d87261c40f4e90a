/* device_parts.h - state shared by device*.c: the engine, the current problem's tensors, the
 * runners. */
#ifndef CONVLAB_AUTOGRADER_SESSION_DEVICE_PARTS_H
#define CONVLAB_AUTOGRADER_SESSION_DEVICE_PARTS_H

#include "autograder/session/protocol.h"
#include "autograder/session/session.h"
#include "autograder/session/shared.h"
#include "common/cuda/recording.h"

/* ---- device_gatekeeper.c: access control of a runner's calls -------------------------------- */

typedef struct Gatekeeper Gatekeeper;

/* A Device in front of another one.  A runner can use only the handles and free only the memory
 * that were given to it.  `memory_bytes` limits its allocations.  `code`: build_code_digest of the
 * only fat binary that it may load; "": any. */
Gatekeeper *gatekeeper_open(uint64_t memory_bytes, const char *code);
/* Executes one call of the runner on `next`; always fills *reply. */
int gatekeeper_execute(Gatekeeper *gatekeeper, Device *next, const DeviceCall *call,
                       DeviceReply *reply);
/* Called after deferred frees were executed: their bytes no longer count. */
void gatekeeper_settle(Gatekeeper *gatekeeper);
/* Overwrites the runner's device memory, including memory freed during the recording, so that no
 * result outlives its inputs. */
int gatekeeper_poison(Gatekeeper *gatekeeper, Device *engine, Error *error);
/* Returns all handles and memory to the engine. */
void gatekeeper_close(Gatekeeper *gatekeeper, Device *engine);

/* ---- device_serve.c: one call of an entry point ------------------------------------------- */

typedef struct Slot {
    int socket; /* -1: no runner */
    Gatekeeper *gatekeeper;
    Recording recording;
    int recorded, ready;
    int calls; /* number of calls that the runner made for the present request */
} Slot;

/* State of the device process. */
typedef struct DeviceProcess {
    Device *engine;
    ControlRequest opening; /* the engine's options */
    DeviceProperties properties;
    CallRequest call;       /* the current problem with its device addresses */
    uint64_t instructions;  /* tensors of device labs */
    GuardedTensors tensors; /* tensors of device labs */
    SharedTensors shared;   /* the problem's floats, shared with grade */
    int given;              /* Boolean: grade has stored inputs there */
    Slot slot[SESSION_RUNNERS];
} DeviceProcess;

/* Waits until the runner's main has started.  The start does not count as the submission's time,
 * and code that runs before main receives no request. */
void serve_ready(Slot *slot, ControlReply *reply);
/* Sends the request to the runner and executes its calls until it answers.  There is no deadline:
 * grade meters both processes and ends a runner that exceeds a limit. */
void serve_device(DeviceProcess *process, Slot *slot, ControlReply *reply);
/* The same for a host lab: sends the inputs, receives the outputs and measures the time between. */
void serve_host(DeviceProcess *process, Slot *slot, ControlReply *reply);

/* Executes the frees that the recording deferred, and empties it. */
void recording_drop(DeviceProcess *process, Slot *slot);

/* The problem's inputs, or NULLs if none were given yet. */
const float *const *serve_inputs(const DeviceProcess *process);

/* ---- device_replay.c ---------------------------------------------------------------------- */

void replay_device(DeviceProcess *process, Slot *slot, uint32_t repeats, ControlReply *reply);

/* Puts a status and a printf-style message into *reply. */
void reply_set(ControlReply *reply, RunStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
