/* own_program.h - the course's baseline and reference of a lab, which submissions are timed
 * against.  They are built from their sources, or, in a student's copy, which has no such sources,
 * from sealed objects. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_OWN_PROGRAM_H
#define CONVLAB_AUTOGRADER_JUDGING_OWN_PROGRAM_H

#include "autograder/build/build.h"
#include "autograder/lab/catalog.h"

typedef enum OwnProgram { OWN_BASELINE, OWN_REFERENCE } OwnProgram;

/* As build_submission.  If the program is missing, the result is BUILD_BROKEN with the reason. */
void own_program_build(const Toolchain *toolchain, const Lab *lab, OwnProgram which, BuildKind kind,
                       Build *build);

/* Path of its source, in the full course.  -1 with error. */
int own_program_source(const char *root, const Lab *lab, OwnProgram which, char *path, size_t bytes,
                       Error *error);

#endif
