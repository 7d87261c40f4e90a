/* device_parts.h - what device*.c share: one engine, the current problem's tensors, the runners. */
#ifndef CONVLAB_AUTOGRADER_SESSION_DEVICE_PARTS_H
#define CONVLAB_AUTOGRADER_SESSION_DEVICE_PARTS_H

#include "autograder/session/protocol.h"
#include "autograder/session/session.h"
#include "autograder/session/shared.h"
#include "common/cuda/recording.h"

/* ---- device_gatekeeper.c: what one runner may ask of the engine --------------------------- */

typedef struct Gatekeeper Gatekeeper;

/* A Device in front of another: it lets a runner use only the handles and free only the memory that
 * were given to it, and bounds how much it may hold.  `memory_bytes` bounds its allocations. */
Gatekeeper *gatekeeper_open(uint64_t memory_bytes);
/* Executes one call of the runner on `next`; always fills *reply. */
int gatekeeper_execute(Gatekeeper *gatekeeper, Device *next, const DeviceCall *call,
                       DeviceReply *reply);
/* Deferred frees have been executed: their bytes count no more. */
void gatekeeper_settle(Gatekeeper *gatekeeper);
/* Overwrites what the runner keeps in device memory, and what it freed while it was recorded, so
 * that no answer outlives its inputs. */
int gatekeeper_poison(Gatekeeper *gatekeeper, Device *engine, Error *error);
/* Gives everything back to the engine. */
void gatekeeper_close(Gatekeeper *gatekeeper, Device *engine);

/* ---- device_serve.c: one call of an entry point ------------------------------------------- */

typedef struct Slot {
    int socket; /* -1: no runner */
    Gatekeeper *gatekeeper;
    Recording recording;
    int recorded, ready;
    int calls; /* that the runner made since it was asked last */
} Slot;

/* All that the device process has. */
typedef struct DeviceProcess {
    Device *engine;
    ControlRequest opening; /* the engine's */
    DeviceProperties properties;
    CallRequest call;       /* the current problem, addresses filled in */
    uint64_t instructions;  /* that its launches may take on the simulator; 0: no problem yet */
    GuardedTensors tensors; /* of device labs */
    SharedTensors shared;   /* the problem's floats, of grade's side */
    int given;              /* grade has put inputs there */
    Slot slot[SESSION_RUNNERS];
} DeviceProcess;

/* Waits until the runner's main has begun: starting is not the submission's time, and what runs
 * before main finds no request. */
void serve_ready(Slot *slot, ControlReply *reply);
/* Sends the request to the runner and executes its calls until it answers.  It has no deadline:
 * grade meters both processes, and ends a runner that takes too much. */
void serve_device(DeviceProcess *process, Slot *slot, ControlReply *reply);
/* The same for a host lab: inputs there, outputs back, and the time between. */
void serve_host(DeviceProcess *process, Slot *slot, ControlReply *reply);

/* The frees that the recording put off are executed, and it is empty. */
void recording_drop(DeviceProcess *process, Slot *slot);

/* The problem's inputs, or NULLs before any were given. */
const float *const *serve_inputs(const DeviceProcess *process);

/* ---- device_replay.c ---------------------------------------------------------------------- */

void replay_device(DeviceProcess *process, Slot *slot, uint32_t repeats, ControlReply *reply);

/* Puts a status and a printf-style message into *reply. */
void reply_set(ControlReply *reply, RunStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
