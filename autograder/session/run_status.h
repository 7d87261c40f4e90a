/* run_status.h - status of a submission's run, for device and grade. */
#ifndef CONVLAB_AUTOGRADER_SESSION_RUN_STATUS_H
#define CONVLAB_AUTOGRADER_SESSION_RUN_STATUS_H

/* `device` distinguishes a closed socket from a late or malformed answer; grade, the runner's
 * parent, distinguishes an exit from a crash. */
typedef enum RunStatus {
    RUN_OK,
    RUN_DEVICE_ERROR, /* a launch or CUDA call failed, or is not supported: message says which */
    RUN_EXITED,       /* the runner ended without an answer (exit(0), killed itself) */
    RUN_CRASHED,      /* killed by a signal */
    RUN_LIMIT,        /* time, memory, processes, output */
    RUN_PROTOCOL,     /* malformed frame */
    RUN_STARVED,      /* did not end because the machine was too busy: not the submission's fault */
    RUN_NOT_RECORDED, /* replay before a call, or more calls than a recording can hold */
    RUN_BROKEN        /* the grader's own error: the device process died, or memory is exhausted */
} RunStatus;

/* Wall-clock seconds of the phases of a run, to explain why a grade takes long. */
typedef struct RunSpent {
    double start;    /* start of processes, and allocation of the problem's tensors */
    double crossing; /* copies between grade's memory and the memory shared with the device
                      * process */
    double upload;   /* inputs to the device, and poisoning */
    double run;      /* the entry point, or the replays */
    double download; /* outputs from the device, check of guard bands and inputs */
} RunSpent;

#endif
