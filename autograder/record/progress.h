/* progress.h - where the learner stands: each lab, its best points and cycles, what became of the
 * last grade, and what is next. */
#ifndef CONVLAB_AUTOGRADER_RECORD_PROGRESS_H
#define CONVLAB_AUTOGRADER_RECORD_PROGRESS_H

#include <stdio.h>

#include "autograder/lab/catalog.h"

/* `build` is the build directory, where kept.h's records are. */
void progress_print(FILE *stream, const Catalog *catalog, const char *build);

/* Whether a grade of the lab has passed, this one or an earlier one. */
int progress_passed(const char *build, const char *lab);

#endif
