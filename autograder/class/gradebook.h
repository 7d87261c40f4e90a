/* gradebook.h - marks of a class: one SQLite file with a row for each student, lab and submission,
 * including the whole result record.
 *
 * Module: a class: its submissions, jobs, gradebook and summary.
 * Callers: the program class; exporters.
 * May use: record, lab, text, base.
 *
 * A result is committed in one transaction or not at all, so a run may be killed at any time.
 * While a run writes, the file is in WAL mode; gradebook_finish then rewrites it in key order. The
 * bytes of the file depend only on its contents, not on a clock or the order of completion (with
 * one version of SQLite; docs/instructor/class.md). */
#ifndef CONVLAB_AUTOGRADER_CLASS_GRADEBOOK_H
#define CONVLAB_AUTOGRADER_CLASS_GRADEBOOK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct Gradebook Gradebook;

/* One submission of one student, graded in one lab.  No text is NULL. */
typedef struct GradebookResult {
    const char *student;      /* as in the submission: any bytes except NUL, so clean it before
                               * printing */
    const char *lab;          /* "04-tiled" */
    const char *submission;   /* path below the class's folder: "ada/2026-10-01T12-00.zip" */
    const char *submitted_at; /* UTC, "2026-10-01T12:00:00Z", or "": unknown */
    int late;                 /* Boolean: after the deadline */
    const char *digest;       /* digest of the files submitted for this lab, in hexadecimal */
    uint64_t seed;
    const char *status; /* as in a record: "graded", "missing", ... */
    double points, possible;
    const char *record; /* the result record, JSON text (docs/instructor/result-record.md) */
} GradebookResult;

/* Opens `path` for writing; creates it and the folders above it.  NULL with error: it is not a
 * gradebook, has another version, or is used by another run. */
Gradebook *gradebook_open(const char *path, Error *error);
/* Opens an existing gradebook for reading, also while a run writes it. */
Gradebook *gradebook_read(const char *path, Error *error);
void gradebook_close(Gradebook *book);

/* Stores a setting of the whole gradebook, such as the class's seed.  -1 with error if it already
 * has another value; the error names both. */
int gradebook_settle(Gradebook *book, const char *name, const char *value, Error *error);
/* Copies the setting into value[bytes]: 1; 0: it does not exist; -1 with error. */
int gradebook_setting(Gradebook *book, const char *name, char *value, size_t bytes, Error *error);

/* Commits one result in a transaction.  A result for the same student, lab and submission is
 * replaced if its digest is different or it was deferred; else -1, so that nothing is graded
 * twice. */
int gradebook_commit(Gradebook *book, const GradebookResult *result, Error *error);
/* 1: there is a result for this digest, and it is not deferred; 0: there is none; -1 with error. */
int gradebook_has(Gradebook *book, const char *student, const char *lab, const char *submission,
                  const char *digest, Error *error);
/* Marks all labs of a submission as late or in time, because the deadline may change between two
 * runs. */
int gradebook_mark_late(Gradebook *book, const char *student, const char *submission, int late,
                        Error *error);

/* Called for each result, which is valid until it returns; a value other than 0 ends the
 * iteration. */
typedef int GradebookVisit(const GradebookResult *result, void *context, Error *error);

/* Visits every result by student, lab and submission, compared byte by byte.  -1 with error,
 * including the visitor's own. */
int gradebook_each(Gradebook *book, GradebookVisit *visit, void *context, Error *error);
/* Visits the best result of each student and lab, in the same order: the largest share of its
 * points, among equals one in time, then the earliest submitted.  A deferred one is best only if
 * all are deferred. */
int gradebook_best(Gradebook *book, GradebookVisit *visit, void *context, Error *error);

/* Rewrites the file in key order and closes the gradebook, also after an error. */
int gradebook_finish(Gradebook *book, Error *error);

#endif
