/* best_record.h - best record of a learner, stored next to the last one, so that a later error or
 * experiment loses nothing. */
#ifndef CONVLAB_AUTOGRADER_RECORD_BEST_RECORD_H
#define CONVLAB_AUTOGRADER_RECORD_BEST_RECORD_H

#include "autograder/record/record.h"

/* Passed: every case correct, and at least half of the points. */
int record_passed(const Record *record);

/* Whether `record` is a better grade than `best`: first passed or not, then the mark, then fewer
 * cycles (or seconds) if both were timed on the same machine.  Among equals the earlier is the
 * better. */
int record_is_better(const Record *record, const Record *best);

/* Total cost of a record's timed cases and of the reference, in its unit.  0: not all of them were
 * timed. */
typedef struct RecordTime {
    double student, reference;
} RecordTime;
RecordTime record_time(const Record *record);

/* Copies a learner's new record to <build>/progress/best if it is the best so far.  Called before
 * the record replaces the last one, which may be older than the best record's feature.  -1 with
 * error: it could not be written. */
int best_record_update(const char *build, const Record *record, Error *error);

/* A learner's last and best record; the same pointer if no earlier one was as good; NULL: none. */
typedef struct BestRecord {
    Record *last, *best;
} BestRecord;
BestRecord best_record_read(const char *build, const char *lab);
void best_record_free(BestRecord *records);

#endif
