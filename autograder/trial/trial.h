/* trial.h - one call of a student's code on one case, in a plain process: `make run` and its
 * relatives.
 *
 * Module: the call and its limits (trial_call.h), and what the student is shown of it
 * (trial_page.h).
 * Callers: run, which is linked with the submission.
 * May use: the runtime and both engines, and what reads a lab, judges, profiles and prints. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_H

#include "autograder/lab/catalog.h"
#include "autograder/options/options.h"
#include "autograder/record/record.h"
#include "common/cuda/device.h"

typedef struct Trial {
    const char *root, *lab, *only_case, *shape, *gpu;
    DeviceEngine engine;
    const char *maps;             /* a file of feature maps, "" none: x is generated */
    const char *weights;          /* a file of numbers, "" none: w is generated */
    const char *input, *output;   /* the same for x, and where y goes; "" nowhere */
    const char *profile, *source; /* where the profile's files go, NULL: none; the student's file */
    const char *see;              /* where the page of `make see` goes; NULL: none is wanted */
    Seed line;                    /* of the source, where that page opens; 0: anywhere */
    int ptx;
    const char *baseline; /* its program, NULL: nothing stands beside the student's numbers */
    const char *against;  /* what that program is called, beside a profile; NULL: the baseline */
    int cost_only;        /* this is the baseline: print nothing but what it cost */
    const char *counters; /* the file that every metric is written into, NULL: none */
    const char *phases;   /* what a program that stands beside is to write, NULL: nothing */
    const char *other;    /* the source of that program, NULL: it is not here */
    const char *clock;    /* a file that keeps how long this takes; NULL: none, show no progress */
    const char *runs;     /* and how often each instruction was executed, NULL: none */
    char finding[1024];   /* of a check that stopped nothing, "" none */
    uint32_t habits;      /* DeviceHabit bits of the last call */
    double instructions;  /* of warps, that a call may execute on the simulator */
    CaseVerdict stopped;  /* how a call that did not return ended */
    Seed seed;
    const Lab *found;
    const LabCase *item; /* NULL: a shape of the user's own */
    const Operation *operation;
    Problem own;
    float *map; /* x out of `maps` */
    const Problem *problem;
    Device *device; /* NULL for host labs */
    DeviceCost cost;
} Trial;

#endif
