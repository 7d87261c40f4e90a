/* lab_programs.h - the three programs of a lab's grade, compiled side by side: the submission,
 * which is needed first, and the workbook's own two, which are needed last. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_LAB_PROGRAMS_H
#define CONVLAB_AUTOGRADER_JUDGING_LAB_PROGRAMS_H

#include <pthread.h>

#include "autograder/build/build.h"
#include "autograder/lab/catalog.h"
#include "autograder/record/record.h"
#include "autograder/session/session.h"

typedef struct LabPrograms LabPrograms;

typedef struct ProgramJob {
    LabPrograms *programs;
    int slot, threaded, done;
    pthread_t thread;
} ProgramJob;

struct LabPrograms {
    const Toolchain *toolchain;
    const Lab *lab;
    const char *folder; /* the submission's */
    BuildKind kind;     /* of its program */
    char source[1024];  /* its file */
    char beneath[256];  /* where that is in the folder: NN-name/<source>, or <source> alone */
    Build build[SESSION_RUNNERS]; /* by slot, of speed.h */
    ProgramJob job[SESSION_RUNNERS];
    double waited; /* for them */
};

/* Finds the submission's source beneath `folder`, whether it is there or not, and fills the rest.
 * What is pointed at outlives it. */
void programs_find(LabPrograms *programs, const Toolchain *toolchain, const Lab *lab,
                   const char *folder, BuildKind kind);
/* Begins to compile all three, a thread each. */
void programs_begin(LabPrograms *programs);
/* Waits until programs->build[slot] is there, or says why it cannot be. */
void programs_wait(LabPrograms *programs, int slot);
void programs_wait_all(LabPrograms *programs);
/* Whether the answer key compiles, if need be asked a second time. */
int programs_key_works(LabPrograms *programs);
/* Puts their digests into the record. */
void programs_note(const LabPrograms *programs, Record *record);
void programs_clear(LabPrograms *programs);

#endif
