/* similarity.h - which students' solutions read alike, as sim_c++ of the package similarity-tester
 * sees it: names, comments and layout apart. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SIMILARITY_H
#define CONVLAB_AUTOGRADER_CLASS_SIMILARITY_H

#include <stdio.h>

#include "autograder/class/roster.h"
#include "autograder/lab/catalog.h"

/* Compares what stands between the TODO marks and is no longer the skeleton's, lab by lab, and
 * writes a line to `report` for each two students of whom one has half or more in common with the
 * other: lab, per cent, both names, tab-separated, the most alike first.  `work` is as plan_make
 * leaves it.  *pairs: so many lines.  -1 with error: there is no sim_c++, or it fails. */
int similarity_report(const char *root, const char *work, const Catalog *catalog,
                      const Roster *roster, FILE *report, size_t *pairs, Error *error);

#endif
