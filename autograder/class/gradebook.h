/* gradebook.h - the marks of a class: one SQLite file, a row for each student, lab and submission,
 * with the whole result record.
 *
 * Module: a class: its submissions, its jobs, its gradebook, its summary.
 * Callers: the program class; exporters.
 * May use: record, lab, text, base.
 *
 * A result is committed in one transaction or not at all, so that a run may be killed at any
 * moment.  While a run writes, the file is in WAL mode; gradebook_finish then writes it anew in the
 * order of its keys.  What the file holds alone decides its bytes: no clock and no order of
 * completion is in it (with one version of SQLite; docs/instructor/class.md). */
#ifndef CONVLAB_AUTOGRADER_CLASS_GRADEBOOK_H
#define CONVLAB_AUTOGRADER_CLASS_GRADEBOOK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct Gradebook Gradebook;

/* One submission of one student, graded in one lab.  No text is NULL. */
typedef struct GradebookResult {
    const char *student;      /* as the submission names it: any bytes but NUL, so clean to print */
    const char *lab;          /* "04-tiled" */
    const char *submission;   /* its path below the class's folder: "ada/2026-10-01T12-00.zip" */
    const char *submitted_at; /* UTC, "2026-10-01T12:00:00Z", or "": not known */
    int late;                 /* after the deadline */
    const char *digest;       /* of what was submitted for this lab, in hexadecimal */
    uint64_t seed;
    const char *status; /* as a record says it: "graded", "missing", ... */
    double points, possible;
    const char *record; /* the result record, JSON text (docs/instructor/result-record.md) */
} GradebookResult;

/* Opens `path` to write, creating it and the folders above it.  NULL with error: it is no
 * gradebook, is one of another version, or another run holds it. */
Gradebook *gradebook_open(const char *path, Error *error);
/* Opens a gradebook that is there to read only, also while a run writes it. */
Gradebook *gradebook_read(const char *path, Error *error);
void gradebook_close(Gradebook *book);

/* What all rows share, such as the class's seed.  A new name is stored; -1 with error where it has
 * another value already, naming both. */
int gradebook_settle(Gradebook *book, const char *name, const char *value, Error *error);
/* Copies it into value[bytes]: 1; 0 where there is none; -1 with error. */
int gradebook_setting(Gradebook *book, const char *name, char *value, size_t bytes, Error *error);

/* Commits one result in a transaction.  One that is there for the same student, lab and submission
 * is replaced where its digest is another or it was deferred; else -1: nothing is graded twice. */
int gradebook_commit(Gradebook *book, const GradebookResult *result, Error *error);
/* 1: there is a result for this digest, and it is not deferred; 0: there is none; -1 with error. */
int gradebook_has(Gradebook *book, const char *student, const char *lab, const char *submission,
                  const char *digest, Error *error);
/* The deadline may move between two runs: marks all labs of a submission late, or in time. */
int gradebook_mark_late(Gradebook *book, const char *student, const char *submission, int late,
                        Error *error);

/* Called for each result, which lasts until it returns; anything but 0 ends the walk. */
typedef int GradebookVisit(const GradebookResult *result, void *context, Error *error);

/* Every result, by student, lab and submission, compared byte by byte.  -1 with error, the
 * visitor's own included. */
int gradebook_each(Gradebook *book, GradebookVisit *visit, void *context, Error *error);
/* The best result of each student and lab, in the same order: the largest share of its points, of
 * equals one in time, then the earliest submitted.  A deferred one is best only where all are. */
int gradebook_best(Gradebook *book, GradebookVisit *visit, void *context, Error *error);

/* Writes the file anew in the order of its keys and closes the gradebook, also after an error. */
int gradebook_finish(Gradebook *book, Error *error);

#endif
