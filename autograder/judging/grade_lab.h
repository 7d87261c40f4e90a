/* grade_lab.h - one lab of one submission, from source file to record.
 *
 * Module: verdict, speed and points of one lab, and the cache of cycles.
 * Callers: grade.
 * May use: session, tensors, record, conv/diagnosis, timing, cuda/gpu, simt/machine. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_GRADE_LAB_H
#define CONVLAB_AUTOGRADER_JUDGING_GRADE_LAB_H

#include "autograder/judging/card_ceilings.h"
#include "autograder/lab/catalog.h"
#include "autograder/record/record.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/session/session.h"
#include "common/simulator/machine/machine.h"

typedef struct Grader {
    char root[512], build[512]; /* the workbook's root, the build directory */
    char submission[512];       /* holds NN-name/<source>, like labs/ */
    BuildKind kind;             /* of its programs: BUILD_RUNNER or BUILD_RUNNER_PTX */
    DeviceEngine engine;        /* not ENGINE_AUTO */
    char machine_name[64];      /* of the simulator */
    SimtMachine machine;
    char gpus[600];         /* where the machines are described */
    CardCeilings *ceilings; /* of a GPU; NULL: none */
    Toolchain toolchain;
    uint64_t seed;
    double call_seconds;   /* of CPU time, and of waiting, for one call of the entry point */
    const char *only_case; /* NULL: all; else one public case, or "hidden" */
    char first_case[48];   /* comes before the others; "": none does */
    int stop;              /* at the first case that is not right */
    int counters;          /* of every public case, timed or not */
    int crowded;        /* another lab is graded beside, and takes the cores that this one leaves */
    uint64_t simulator; /* digest of the programs and the machine that simulate */
} Grader;

/* Compiles the programs of a lab, so that grade_lab finds them in the cache. */
void grade_lab_build(const Grader *grader, const Lab *lab);

/* Always fills *record; what went wrong is in its status and message. */
void grade_lab(const Grader *grader, const Lab *lab, Record *record);

#endif
