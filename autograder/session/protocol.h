/* protocol.h - frames between grade and device, and between device and runner, beside the
 * DeviceCalls of wire.h.
 *
 *   grade  -> device   FRAME_REQUEST: ControlRequest
 *   device -> grade    FRAME_RETURN:  ControlReply, one for each request
 *   runner -> device   FRAME_READY: main has begun; no request is sent before it
 *   device -> runner   FRAME_REQUEST: CallRequest [inputs' floats]
 *   runner -> device   FRAME_CALL ... and at last FRAME_RETURN: CallReturn [outputs' floats]
 *
 * Between grade and device the tensors' floats lie in memory that both have (shared.h).  Between
 * device and runner they cross for host labs only.  grade and device are one program's two halves
 * and of one build: structs cross as they lie in memory. */
#ifndef CONVLAB_AUTOGRADER_SESSION_PROTOCOL_H
#define CONVLAB_AUTOGRADER_SESSION_PROTOCOL_H

#include <stdint.h>

#include "autograder/session/run_status.h"
#include "autograder/tensors/guarded.h"

/* device -> runner: call the entry point once.  For host labs the inputs' floats follow, tensor by
 * tensor, and the FRAME_RETURN that answers carries the outputs' floats: so neither inputs early
 * nor outputs late can dodge the clock. */
typedef struct CallRequest {
    char operation[64]; /* its name */
    Problem problem;
    uint32_t host, tensors;
    uint32_t role[OPERATION_TENSORS];
    uint64_t count[OPERATION_TENSORS];   /* floats */
    uint64_t address[OPERATION_TENSORS]; /* device addresses; 0 for host labs */
} CallRequest;

/* runner -> device: the entry point has returned.  Everything in it but the outputs that follow is
 * what an untrusted process says of itself: it may make a message better, never a verdict. */
typedef struct CallReturn {
    int32_t status;  /* of the first CUDA call that failed, 0 if none */
    uint32_t habits; /* runtime_take_habits */
    Damage damage;   /* host labs */
    char message[1024];
} CallReturn;

typedef enum ControlKind {
    CONTROL_OPEN = 1, /* engine: the reply carries the properties */
    CONTROL_ATTACH,   /* a new runner in `slot`; its socket comes over the descriptor socket */
    CONTROL_PROBLEM,  /* end the runners, renew a simulated GPU, allocate `call`'s tensors; the
                         memory that is shared comes over the descriptor socket */
    CONTROL_NEXT,     /* the same, but runners, GPU and what they hold there live on */
    CONTROL_DETACH, /* wait until the runner in `slot` has begun, then close its socket: it ends */
    CONTROL_CALL,   /* upload, poison, call, read back */
    CONTROL_REPLAY  /* upload, poison, replay `repeats` times, read back */
} ControlKind;

typedef struct ControlRequest {
    uint32_t kind, slot, repeats;
    uint32_t has_inputs; /* they lie in the shared memory; 0: those of before still do */
    uint32_t unseen;     /* of device labs nobody looks at the outputs, so they are not read */
    uint32_t study;      /* CONTROL_CALL, CONTROL_REPLAY: a DeviceStudy */
    CallRequest call;    /* CONTROL_PROBLEM; addresses are the device's to fill */
    ArrayName name[OPERATION_TENSORS]; /* likewise: the tensors' */
    uint64_t instructions; /* CONTROL_PROBLEM: warp instructions that a call's launches may take */
    DeviceEngine engine;   /* CONTROL_OPEN ... */
    char machine[64];
    char gpus_directory[768];
    int32_t threads, checks;
} ControlRequest;

typedef struct ControlReply {
    uint32_t status;
    int32_t cuda_status;
    int32_t device_lost; /* after this the engine is of no more use: start another device process */
    int32_t findings;
    uint32_t habits; /* as the runner says */
    Damage damage;
    char message[1280];
    DeviceCost cost;
    DeviceProperties properties;
    RunSpent spent;
} ControlReply;

/* Descriptors at the start of the two programs. */
enum { RUNNER_SOCKET = 3, DEVICE_CONTROL = 3, DEVICE_DESCRIPTORS = 4 };

#endif
