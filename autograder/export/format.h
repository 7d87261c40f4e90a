/* format.h - the formats in which a mark leaves the workbook, as a table: one file a format.
 *
 * Module: exporters of result records (docs/instructor/export.md).
 * Callers: the program export.
 * May use: class, record.
 *
 * A format reads records and nothing else, so what it says is what docs/instructor/result-record.md says.
 * What a record quotes of a submission is hostile: plain.h is the only way of a text into a
 * format. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_FORMAT_H
#define CONVLAB_AUTOGRADER_EXPORT_FORMAT_H

#include <stdio.h>

#include "autograder/export/class_results.h"
#include "autograder/export/submission.h"

/* One of the two writers is NULL.  A writer leaves failures of the stream to its caller. */
typedef struct Format {
    const char *name;                                               /* FORMAT=name */
    const char *about;                                              /* one line: who reads it */
    void (*submission)(FILE *stream, const Submission *submission); /* one student's records */
    /* A class; -1 with error: its gradebook cannot be read. */
    int (*class)(FILE *stream, const ClassResults *results, Error *error);
} Format;

/* NULL with an error that lists the formats there are. */
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
int canvas_write(FILE *stream, const ClassResults *results, Error *error);
int moodle_write(FILE *stream, const ClassResults *results, Error *error);
int class_page_write(FILE *stream, const ClassResults *results, Error *error);

#endif
