/* own_program.h - the workbook's own programs of a lab, which a submission is timed beside: from
 * their sources, or in a student's copy, which has none, from sealed objects. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_OWN_PROGRAM_H
#define CONVLAB_AUTOGRADER_JUDGING_OWN_PROGRAM_H

#include "autograder/build/build.h"
#include "autograder/lab/catalog.h"

typedef enum OwnProgram { OWN_BASELINE, OWN_REFERENCE } OwnProgram;

/* As build_submission; what cannot be found is BUILD_BROKEN with the reason. */
void own_program_build(const Toolchain *toolchain, const Lab *lab, OwnProgram which, BuildKind kind,
                       Build *build);

/* Its source, in the full workbook.  -1 with error. */
int own_program_source(const char *root, const Lab *lab, OwnProgram which, char *path, size_t bytes,
                       Error *error);

#endif
