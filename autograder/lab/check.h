/* check.h - the proof that handout, skeleton, solution and metadata of a lab agree. */
#ifndef CONVLAB_AUTOGRADER_LAB_CHECK_H
#define CONVLAB_AUTOGRADER_LAB_CHECK_H

#include "autograder/lab/catalog.h"

/* Skeleton (the pristine copy) and solution are identical outside the TODO regions, its regions
 * hold stubs, labs/'s own file is identical there too, whatever a student put into the regions;
 * README.md has a figure and says how long the lab takes and what comes before, every prediction
 * has its line in predict.ini, no file is there that should not be.  Calls `say` with one line for
 * each thing that is wrong; returns how many. */
int check_lab(const char *root, const Lab *lab, void (*say)(void *context, const char *line),
              void *context);

#endif
