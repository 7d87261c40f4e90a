/* check.h - consistency check of a lab's handout, skeleton, solution and metadata. */
#ifndef CONVLAB_AUTOGRADER_LAB_CHECK_H
#define CONVLAB_AUTOGRADER_LAB_CHECK_H

#include "autograder/lab/catalog.h"

/* Skeleton (the pristine copy), solution and labs/'s own file must be identical outside the TODO
 * regions, and the skeleton's regions must be stubs.  README.md must have a figure, the time and
 * the prerequisites; every prediction must have a line in predict.ini; unknown files are errors.
 * Calls `say` with one line per error; returns the number of errors. */
int check_lab(const char *root, const Lab *lab, void (*say)(void *context, const char *line),
              void *context);

#endif
