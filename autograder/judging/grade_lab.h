/* grade_lab.h - grading of one lab of one submission, from source file to record.
 *
 * Module: verdict, speed and points of one lab, and the cache of cycles.
 * Callers: grade.
 * May use: session, tensors, record, conv/diagnosis, timing, cuda/gpu, simt/machine. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_GRADE_LAB_H
#define CONVLAB_AUTOGRADER_JUDGING_GRADE_LAB_H

#include "autograder/judging/measured_ceilings.h"
#include "autograder/lab/catalog.h"
#include "autograder/record/record.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/session/session.h"
#include "common/simulator/machine/machine.h"

typedef struct Grader {
    char root[512], build[512]; /* root folder of the course; build folder */
    char submission[512];       /* holds NN-name/<source>, like labs/ */
    BuildKind kind;             /* build kind of its programs: BUILD_RUNNER or BUILD_RUNNER_PTX */
    DeviceEngine engine;        /* never ENGINE_AUTO */
    char machine_name[64];      /* the simulated GPU's name */
    SimtMachine machine;
    char gpus[600];             /* folder of the machine descriptions */
    MeasuredCeilings *ceilings; /* ceilings of a GPU; NULL: not measured */
    Toolchain toolchain;
    uint64_t seed;
    double call_seconds;   /* limit for one call of the entry point: seconds of CPU time, and
                            * seconds of idle waiting */
    int sim_threads;       /* host threads of a simulated GPU; 0: one per core */
    const char *only_case; /* NULL: all cases; else one public case, or "hidden" */
    char first_case[48];   /* name of the case that runs first; "": none */
    int stop;              /* Boolean: stop at the first case that is not correct */
    int counters;          /* Boolean: collect counters of every public case, timed or not */
    int crowded;           /* Boolean: another lab is graded at the same time and uses the idle
                         * cores */
    uint64_t simulator;    /* digest of the simulator's programs and machine description */
} Grader;

/* Compiles the programs of a lab into the cache, where grade_lab finds them. */
void grade_lab_build(const Grader *grader, const Lab *lab);

/* Always fills *record; errors are in its status and message. */
void grade_lab(const Grader *grader, const Lab *lab, Record *record);

#endif
