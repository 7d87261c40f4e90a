/* protocol.h - frames between grade and device, and between device and runner, in addition to the
 * DeviceCalls of wire.h.
 *
 *   grade  -> device   FRAME_REQUEST: ControlRequest
 *   device -> grade    FRAME_RETURN:  ControlReply, one for each request
 *   runner -> device   FRAME_READY: main has begun; no request is sent before it
 *   device -> runner   FRAME_REQUEST: CallRequest [inputs' floats]
 *   runner -> device   FRAME_CALL ... and at last FRAME_RETURN: CallReturn [outputs' floats]
 *
 * Between grade and device the tensors' floats are in shared memory (shared.h).  Between device
 * and runner they are sent for host labs only.  grade and device are parts of one program from one
 * build, so structs are sent as their bytes in memory. */
#ifndef CONVLAB_AUTOGRADER_SESSION_PROTOCOL_H
#define CONVLAB_AUTOGRADER_SESSION_PROTOCOL_H

#include <stdint.h>

#include "autograder/session/run_status.h"
#include "autograder/tensors/guarded.h"

/* device -> runner: call the entry point once.  In host labs the inputs' floats follow, tensor by
 * tensor, and the outputs' floats follow the FRAME_RETURN, so that neither early inputs nor late
 * outputs can avoid the measured time. */
typedef struct CallRequest {
    char operation[64]; /* the operation's name */
    Problem problem;
    uint32_t host, tensors;
    uint32_t role[OPERATION_TENSORS];
    uint64_t count[OPERATION_TENSORS];   /* floats */
    uint64_t address[OPERATION_TENSORS]; /* device addresses; 0 for host labs */
} CallRequest;

/* runner -> device: the entry point has returned.  All fields except the outputs come from an
 * untrusted process: they may improve a message, never change a verdict. */
typedef struct CallReturn {
    int32_t status;  /* status of the first CUDA call that failed, 0 if none */
    uint32_t habits; /* runtime_take_habits */
    Damage damage;   /* host labs */
    char message[1024];
} CallReturn;

typedef enum ControlKind {
    CONTROL_OPEN = 1, /* engine: the reply has its properties */
    CONTROL_ATTACH,   /* a new runner in `slot`; its socket comes over the descriptor socket */
    CONTROL_PROBLEM,  /* end the runners, reset a simulated GPU, allocate `call`'s tensors; the
                       * shared memory comes over the descriptor socket */
    CONTROL_NEXT,     /* the same, but runners and GPU keep their state */
    CONTROL_DETACH,   /* wait until the runner in `slot` has started, then close its socket, which
                     * ends it */
    CONTROL_CALL,     /* upload, poison, call, read back */
    CONTROL_REPLAY    /* upload, poison, replay `repeats` times, read back */
} ControlKind;

typedef struct ControlRequest {
    uint32_t kind, slot, repeats;
    uint32_t has_inputs; /* Boolean: inputs are in the shared memory; 0: use the earlier inputs */
    uint32_t unseen;     /* Boolean: the outputs of device labs are not read, because they are not
                          * judged */
    uint32_t study;      /* CONTROL_CALL, CONTROL_REPLAY: a DeviceStudy */
    CallRequest call;    /* CONTROL_PROBLEM; the device process fills in the addresses */
    ArrayName name[OPERATION_TENSORS]; /* CONTROL_PROBLEM: the tensors' names */
    uint64_t instructions; /* CONTROL_PROBLEM: limit of warp instructions of a call's launches */
    DeviceEngine engine;   /* CONTROL_OPEN: engine options */
    char machine[64];
    char gpus_directory[768];
    int32_t threads, checks, warp_sync;
    /* CONTROL_ATTACH: digest of the only GPU code that the runner may load; "": any */
    char code[65];
} ControlRequest;

typedef struct ControlReply {
    uint32_t status;
    int32_t cuda_status;
    int32_t device_lost; /* Boolean: the engine is unusable; start another device process */
    int32_t findings;
    uint32_t habits; /* as reported by the runner */
    Damage damage;
    char message[1280];
    DeviceCost cost;
    DeviceProperties properties;
    RunSpent spent;
} ControlReply;

/* Descriptors at the start of the device and runner programs. */
enum { RUNNER_SOCKET = 3, DEVICE_CONTROL = 3, DEVICE_DESCRIPTORS = 4 };

#endif
