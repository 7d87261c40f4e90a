/* runs.h - what a card counted from run to run, as record.sh --again writes it: a line for each row
 * of a record of counters and each column that was not the same in each run. */
#ifndef CONVLAB_VALIDATE_RUNS_H
#define CONVLAB_VALIDATE_RUNS_H

#include "common/simulator/validation/tsv.h"

enum { RUNS = 64 };

/* Reads the runs that belong to a record.  -1 with error: a column is missing, a line belongs to no
 * row of the record or to another kernel, its first count is not the record's, or it has none
 * besides, or more than RUNS. */
int runs_read(const char *path, const Tsv *counters, Tsv *runs, Error *error);

/* What was counted in a column of a row of the record (0: the first), the record's first; returns
 * how many, 0 where that was always the same. */
int runs_find(const Tsv *runs, size_t row, const char *counter, double count[RUNS]);

#endif
