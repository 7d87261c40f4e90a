/* known.h - known differences of counts: exceptions that a comparison allows, with reasons.
 *
 * known.tsv has the columns gpu, set, launch, counter, varies and reason. */
#ifndef CONVLAB_VALIDATE_KNOWN_H
#define CONVLAB_VALIDATE_KNOWN_H

#include "common/simulator/validation/launches.h"
#include "common/simulator/validation/tsv.h"

typedef struct Known {
    Tsv table;
} Known;

/* Returns -1 with an error if the file or a column is missing, or an entry names an unknown counter
 * or has no reason. */
int known_read(const char *root, Known *known, Error *error);
void known_close(Known *known);

/* Is the counter of this launch an exception on this GPU? */
int known_find(const Known *known, const char *gpu, const Launch *launch, int counter);

/* Prints the GPU's entries that name no launch, or whose count does not vary and no longer differs.
 * Returns their number. */
int known_report_stale(const Known *known, const char *gpu, const Launches *launches);

#endif
