/* ladder.h - progress chart of a learner's grades (history.h): from the baseline towards the
 * reference, with the machine's lower bound. */
#ifndef CONVLAB_AUTOGRADER_RECORD_LADDER_H
#define CONVLAB_AUTOGRADER_RECORD_LADDER_H

#include <stdio.h>

#include "autograder/lab/catalog.h"
#include "common/base/error.h"

/* One lab, case by case, on the machine of the last correct grade.  <directory>/<lab>.tsv gets the
 * same numbers for common/setup/ladder.gp: one block per case, preceded by its name.  -1 with
 * error: there is nothing to draw, or the file could not be written. */
int ladder_print(FILE *stream, const Lab *lab, const char *build, const char *directory,
                 Error *error);

/* All labs with a history, one line each; the same in <directory>/labs.tsv.  -1 as above. */
int ladder_print_all(FILE *stream, const Catalog *catalog, const char *build, const char *directory,
                     Error *error);

#endif
