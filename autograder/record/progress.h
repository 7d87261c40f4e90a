/* progress.h - where the learner stands: each lab, its points from the last grade, and what is
 * next. */
#ifndef CONVLAB_AUTOGRADER_RECORD_PROGRESS_H
#define CONVLAB_AUTOGRADER_RECORD_PROGRESS_H

#include <stdio.h>

#include "autograder/lab/catalog.h"

/* `build` is the build directory; its results/ holds the records. */
void progress_print(FILE *stream, const Catalog *catalog, const char *build);

/* Passed: every case right, and at least half of the points. */
int progress_passed(const char *build, const char *lab);

#endif
