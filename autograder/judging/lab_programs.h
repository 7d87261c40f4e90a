/* lab_programs.h - the three programs of a lab's grade, compiled in parallel: the submission, which
 * is needed first, and the course's baseline and reference, which are needed last. */
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
    const char *folder; /* the submission's folder */
    BuildKind kind;     /* build kind of its program */
    char source[1024];  /* path of its source file */
    char beneath[256];  /* path of the source inside the folder: NN-name/<source>, or <source>
                         * alone */
    Build build[SESSION_RUNNERS]; /* by slot (speed.h) */
    ProgramJob job[SESSION_RUNNERS];
    double waited; /* seconds spent waiting for the builds */
};

/* Finds the submission's source below `folder`, whether or not it exists, and fills the other
 * fields.  The pointers must outlive *programs. */
void programs_find(LabPrograms *programs, const Toolchain *toolchain, const Lab *lab,
                   const char *folder, BuildKind kind);
/* Starts to compile all three, one thread each. */
void programs_begin(LabPrograms *programs);
/* Waits until programs->build[slot] is ready, or contains the reason why it failed. */
void programs_wait(LabPrograms *programs, int slot);
void programs_wait_all(LabPrograms *programs);
/* Whether the reference solution compiles; compiles it again if necessary. */
int programs_key_works(LabPrograms *programs);
/* Copies the builds' digests into the record. */
void programs_note(const LabPrograms *programs, Record *record);
void programs_clear(LabPrograms *programs);

#endif
