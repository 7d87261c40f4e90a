/* run_status.h - how a run of a submission ended, for device and grade alike. */
#ifndef CONVLAB_AUTOGRADER_SESSION_RUN_STATUS_H
#define CONVLAB_AUTOGRADER_SESSION_RUN_STATUS_H

/* `device` tells a runner that closed its socket from one that answers late or talks
 * nonsense; grade, whose child the runner is, tells an exit from a crash. */
typedef enum RunStatus {
    RUN_OK,
    RUN_DEVICE_ERROR, /* a launch or CUDA call failed: message says which; also unsupported calls */
    RUN_EXITED,       /* the runner ended without an answer (exit(0), killed itself) */
    RUN_CRASHED,      /* died of a signal */
    RUN_LIMIT,        /* time, memory, processes, output */
    RUN_PROTOCOL,     /* nonsense on the wire */
    RUN_STARVED,      /* no end, because the machine was too busy: nobody's fault */
    RUN_NOT_RECORDED, /* replay before a call, or more than a recording holds */
    RUN_BROKEN        /* the grader's own fault: the device process died, memory is out */
} RunStatus;

/* Where the seconds of a run went, on the wall, for who wants to know why a grade takes long. */
typedef struct RunSpent {
    double start;    /* processes that had to be started, and the problem's tensors allocated */
    double crossing; /* tensors between grade's memory and what it shares with the device process */
    double upload;   /* inputs to the device, and poison */
    double run;      /* the entry point, or the replays */
    double download; /* outputs from the device, bands and inputs looked at */
} RunSpent;

#endif
