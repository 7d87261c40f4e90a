/* runs.h - a GPU's counts of several runs, written by record.sh --again.  The file has one line for
 * each row of a record of counters and each column that differed between runs. */
#ifndef CONVLAB_VALIDATE_RUNS_H
#define CONVLAB_VALIDATE_RUNS_H

#include "common/simulator/validation/tsv.h"

enum { RUNS = 64 };

/* Reads the runs that belong to a record.  Returns -1 with an error if a column is missing, or a
 * line belongs to no row of the record or to another kernel.  The first count must be the record's,
 * and there must be at least one more, at most RUNS. */
int runs_read(const char *path, const Tsv *counters, Tsv *runs, Error *error);

/* Gets the counts of a column of a row of the record (0: the first row), the record's count first.
 * Returns their number, or 0 if all runs had the same count. */
int runs_find(const Tsv *runs, size_t row, const char *counter, double count[RUNS]);

#endif
