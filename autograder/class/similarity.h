/* similarity.h - similar solutions of different students, found by sim_c++ of the package
 * similarity-tester, which ignores names, comments and layout. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SIMILARITY_H
#define CONVLAB_AUTOGRADER_CLASS_SIMILARITY_H

#include <stdio.h>

#include "autograder/class/handed.h"
#include "autograder/lab/catalog.h"

/* Compares the code between the TODO marks that differs from the skeleton, lab by lab.  Two
 * submissions of different students are a pair if one has half or more in common with the other;
 * chains of pairs are a group.  Writes a line to `report` for each group (lab, size, highest per
 * cent, names, tab-separated) and below it its first pairs.  `work` is as plan_make leaves it.
 * *groups: their number.  -1 with error: there is no sim_c++, or it fails. */
int similarity_report(const char *root, const char *work, const Catalog *catalog,
                      const HandedList *list, FILE *report, size_t *groups, Error *error);

#endif
