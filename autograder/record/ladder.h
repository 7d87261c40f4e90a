/* ladder.h - the way that a learner's grades went (climb.h), drawn: from the baseline towards the
 * reference, and how far above that the machine's roof is. */
#ifndef CONVLAB_AUTOGRADER_RECORD_LADDER_H
#define CONVLAB_AUTOGRADER_RECORD_LADDER_H

#include <stdio.h>

#include "autograder/lab/catalog.h"
#include "common/base/error.h"

/* One lab case by case, on the machine of the last grade that was right.  <directory>/<lab>.tsv
 * gets the same numbers for common/setup/ladder.gp: a block a case, begun by its name.  -1 with
 * error: there is nothing to draw, or the file could not be written. */
int ladder_print(FILE *stream, const Lab *lab, const char *build, const char *directory,
                 Error *error);

/* All labs that have a climb, a line each; <directory>/labs.tsv likewise.  -1 as above. */
int ladder_print_all(FILE *stream, const Catalog *catalog, const char *build, const char *directory,
                     Error *error);

#endif
