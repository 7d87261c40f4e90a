/* cause.h - the one error of a grade that should be fixed first.
 *
 * One mistake shows in many cases, each time with other addresses, threads and numbers, and often
 * in two ways: a missing barrier also leads to a pattern of wrong outputs.  So equal findings are
 * merged, and causes come before their consequences. */
#ifndef CONVLAB_AUTOGRADER_RECORD_CAUSE_H
#define CONVLAB_AUTOGRADER_RECORD_CAUSE_H

#include "autograder/record/record.h"

/* Whether a case was run and has an error. */
int cause_is_one(const RecordCase *item);

/* Whether two cases have the same message about the same lines, except for numbers. */
int cause_same(const RecordCase *a, const RecordCase *b);

/* The case whose finding is to be fixed first: first errors in the order of threads (a race, a
 * barrier), then those that stop a run.  Next come reads of uninitialised memory and outputs that
 * were not written, and last patterns of wrong outputs.  Among equals the first case.  NULL:
 * nothing is wrong. */
const RecordCase *cause_first(const Record *record);

/* The hint for a case's fault, on whichever case it was unlocked; "" none. */
const char *cause_hint(const Record *record, const RecordCase *item);

#endif
