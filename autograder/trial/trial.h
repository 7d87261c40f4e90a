/* trial.h - one call of a student's code on one case, in an unsandboxed process: `make run` and
 * similar commands.
 *
 * Module: the call and its limits (trial_call.h), and its printed results (trial_page.h).
 * Callers: run, which is linked with the submission.
 * May use: the runtime and both engines, and what reads a lab, judges, profiles and prints. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_H

#include "autograder/lab/catalog.h"
#include "autograder/options/options.h"
#include "autograder/record/record.h"
#include "common/cuda/device.h"

/* Selected launch of a profile, and what is done with it. */
typedef struct ProfileChoice {
    const char *kernel; /* a plain name; NULL: any */
    Seed launch;        /* number of its launch, from 1; 0: the longest */
    const char *trace;  /* file for the Chrome trace; NULL: only in the folder */
    const char *before; /* folder of an earlier profile to compare with; NULL: none */
} ProfileChoice;

typedef struct Trial {
    const char *root, *lab, *only_case, *shape, *gpu;
    DeviceEngine engine;
    const char *maps;             /* file of feature maps, "" none: x is generated */
    const char *weights;          /* file of numbers, "" none: w is generated */
    const char *input, *output;   /* files for x and y; "": not written */
    const char *profile, *source; /* folder of the profile's files, NULL: none; the student's
                                   * file */
    const char *see;              /* path of the page of `make see`; NULL: not wanted */
    Seed line;                    /* source line at which that page opens; 0: any */
    int ptx;
    ProfileChoice choice; /* launch of the profile */
    const char *stalls;   /* file for the stalls of a program to compare with, NULL: none */
    const char *baseline; /* the baseline's program, NULL: no comparison */
    const char *against;  /* name of that program in a profile; NULL: the baseline */
    int cost_only;        /* Boolean: this is the baseline, print only its cost */
    const char *counters; /* file for every metric, NULL: none */
    const char *phases;   /* file for the phases of a program to compare with, NULL: none */
    const char *other;    /* source of that program, NULL: not available */
    const char *clock;    /* file with the duration of earlier calls; NULL: none, show no
                           * progress */
    const char *runs;     /* finding of a check that did not stop the call, "" none */
    char finding[1024];   /* finding of a check that did not stop the call, "" none */
    uint32_t habits;      /* DeviceHabit bits of the last call */
    double instructions;  /* limit of warp instructions of a call on the simulator */
    CaseVerdict stopped;  /* reason why a call did not return */
    Seed seed;
    const Lab *found;
    const LabCase *item; /* NULL: a shape given by the user */
    const Operation *operation;
    Problem own;
    float *map; /* x from `maps` */
    const Problem *problem;
    Device *device; /* NULL for host labs */
    DeviceCost cost;
} Trial;

#endif
