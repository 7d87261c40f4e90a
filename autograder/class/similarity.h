/* similarity.h - similar solutions of different students, found by sim_c++ of the package
 * similarity-tester, which ignores names, comments and layout. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SIMILARITY_H
#define CONVLAB_AUTOGRADER_CLASS_SIMILARITY_H

#include <stdio.h>

#include "autograder/class/handed.h"
#include "autograder/lab/catalog.h"

/* Compares the code between the TODO marks that differs from the skeleton, lab by lab.  Writes a
 * line to `report` for each pair of students of whom one has half or more in common with the other:
 * lab, per cent, both names, tab-separated, the most similar first.  `work` is as plan_make leaves
 * it.  *pairs: number of lines.  -1 with error: there is no sim_c++, or it fails. */
int similarity_report(const char *root, const char *work, const Catalog *catalog,
                      const HandedList *list, FILE *report, size_t *pairs, Error *error);

#endif
