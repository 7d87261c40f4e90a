/* progress.h - progress of a class from run to run: a file of tab-separated text next to the
 * gradebook, with a row for each day and lab.
 *
 * The last run of a day counts.  The rows are not in the gradebook, because its bytes must not
 * depend on a clock. */
#ifndef CONVLAB_AUTOGRADER_CLASS_PROGRESS_H
#define CONVLAB_AUTOGRADER_CLASS_PROGRESS_H

#include "autograder/class/summary.h"

typedef struct ProgressRow {
    char date[12]; /* "2026-10-05" */
    char lab[64];
    int students, graded, full; /* number of known marks; of graded labs; of labs with all points */
    double mean, median;        /* per cent of the lab's points, as in the summary */
} ProgressRow;

typedef struct Progress {
    ProgressRow *row; /* sorted by date and lab */
    size_t rows;
} Progress;

/* Reads `path`; a file that does not exist has no rows.  -1 with error, "FILE:LINE: ...".  Either
 * way progress_clear frees it. */
int progress_read(const char *path, Progress *progress, Error *error);
void progress_clear(Progress *progress);

/* Puts the summary's labs into progress.tsv of `folder` as the rows of `date`, a day, in place of
 * earlier ones of this day and lab.  -1 with error; the file is then as it was. */
int progress_add(const char *folder, const char *date, const Summary *summary, Error *error);

/* The Monday of the day's week, "2026-10-05".  -1: not a date. */
int progress_week(const char *date, char monday[12]);

#endif
