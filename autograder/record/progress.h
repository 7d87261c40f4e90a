/* progress.h - overview of a learner's progress: each lab with its best points and cycles, the last
 * grade's result, and the next lab. */
#ifndef CONVLAB_AUTOGRADER_RECORD_PROGRESS_H
#define CONVLAB_AUTOGRADER_RECORD_PROGRESS_H

#include <stdio.h>

#include "autograder/lab/catalog.h"

/* `build` is the build directory, which has the records of best_record.h. */
void progress_print(FILE *stream, const Catalog *catalog, const char *build);

/* Whether a grade of the lab has passed, this one or an earlier one. */
int progress_passed(const char *build, const char *lab);

#endif
