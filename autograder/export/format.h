/* format.h - export formats of marks, as a table: one file per format.
 *
 * Module: exporters of result records (docs/instructor/export.md).
 * Callers: the program export.
 * May use: class, record.
 *
 * A format reads only records, as described in docs/instructor/result-record.md.  Texts that a
 * record quotes from a submission are untrusted: plain.h is the only way in which a format may
 * write a text. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_FORMAT_H
#define CONVLAB_AUTOGRADER_EXPORT_FORMAT_H

#include <stdio.h>

#include "autograder/export/class_results.h"
#include "autograder/export/submission.h"

/* One of the two writers is NULL.  A writer ignores errors of the stream; its caller checks
 * them. */
typedef struct Format {
    const char *name;                                               /* FORMAT=name */
    const char *about;                                              /* one line: who reads it */
    void (*submission)(FILE *stream, const Submission *submission); /* one student's records */
    /* a class; -1 with error: its gradebook cannot be read */
    int (*class)(FILE *stream, const ClassResults *results, Error *error);
} Format;

/* NULL with an error that lists the formats. */
const Format *format_find(const char *name, Error *error);
/* "  junit  about\n" for each, for --help. */
void format_list(FILE *stream);

void terminal_write(FILE *stream, const Submission *submission);
void html_write(FILE *stream, const Submission *submission);
void junit_write(FILE *stream, const Submission *submission);
void tap_write(FILE *stream, const Submission *submission);
void gradescope_write(FILE *stream, const Submission *submission);
void autolab_write(FILE *stream, const Submission *submission);
void classroom_write(FILE *stream, const Submission *submission);
void prairielearn_write(FILE *stream, const Submission *submission);
void submitty_write(FILE *stream, const Submission *submission);
/* Parts of html_write: a lab's heading; its messages and a table of its checks. */
void html_lab_heading(FILE *stream, const Record *record);
void html_lab_write(FILE *stream, const Record *record);
int blackboard_write(FILE *stream, const ClassResults *results, Error *error);
int brightspace_write(FILE *stream, const ClassResults *results, Error *error);
int canvas_write(FILE *stream, const ClassResults *results, Error *error);
int moodle_write(FILE *stream, const ClassResults *results, Error *error);
int moodle_worksheet_write(FILE *stream, const ClassResults *results, Error *error);
int openedx_write(FILE *stream, const ClassResults *results, Error *error);
int table_write(FILE *stream, const ClassResults *results, Error *error);
int class_page_write(FILE *stream, const ClassResults *results, Error *error);

#endif
