/* kept.h - what is kept of a learner's grades beside the last one: the best.  An edit that breaks
 * the code, or an experiment, takes nothing away. */
#ifndef CONVLAB_AUTOGRADER_RECORD_KEPT_H
#define CONVLAB_AUTOGRADER_RECORD_KEPT_H

#include "autograder/record/record.h"

/* Passed: every case right, and at least half of the points. */
int record_passed(const Record *record);

/* Whether `record` is a better grade than `best`: one that passed before one that did not, then the
 * mark, then fewer cycles (or seconds) where both were timed on the same machine.  Of equals the
 * earlier is the better. */
int record_is_better(const Record *record, const Record *best);

/* What the timed cases of a record took together, and the reference beside them, in its unit.  0:
 * not all of them were timed. */
typedef struct Took {
    double student, reference;
} Took;
Took record_took(const Record *record);

/* Takes a learner's new record to <build>/progress/best where it is the best so far.  Called before
 * the record takes the place of the last one, which may be from a time when no best was kept.  -1
 * with error: it could not be written. */
int kept_take(const char *build, const Record *record, Error *error);

/* A learner's last record and the best one: the same pointer where none before was as good; NULL
 * where there is none. */
typedef struct Kept {
    Record *last, *best;
} Kept;
Kept kept_read(const char *build, const char *lab);
void kept_free(Kept *kept);

#endif
