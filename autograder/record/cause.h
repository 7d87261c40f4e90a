/* cause.h - of all that a grade found, the one thing to mend first.
 *
 * One mistake shows in many cases, each time with other addresses, threads and numbers, and often
 * in two ways: a missing barrier also leaves a pattern of wrong outputs.  So equal findings are
 * one, and causes stand before what follows from them. */
#ifndef CONVLAB_AUTOGRADER_RECORD_CAUSE_H
#define CONVLAB_AUTOGRADER_RECORD_CAUSE_H

#include "autograder/record/record.h"

/* Whether a case was run and has something to mend. */
int cause_is_one(const RecordCase *item);

/* Whether two cases say the same of the same lines; numbers are no difference. */
int cause_same(const RecordCase *a, const RecordCase *b);

/* The case whose finding is to be mended first: what breaks the order of threads (a race, a
 * barrier), then what stops a run, then what reads or leaves memory that nobody set, last a
 * pattern among wrong outputs; of equals the first case.  NULL: nothing is wrong. */
const RecordCase *cause_first(const Record *record);

/* The hint that goes with a case's fault, on whichever case it was unlocked; "" none. */
const char *cause_hint(const Record *record, const RecordCase *item);

#endif
