/* feedback.h - files for each student of a class, from its gradebook: nothing is graded again. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_FEEDBACK_H
#define CONVLAB_AUTOGRADER_EXPORT_FEEDBACK_H

#include "autograder/export/format.h"

/* Destination of the files. */
typedef enum FeedbackPlace {
    FEEDBACK_FOLDER, /* <out>/<student>.html */
    FEEDBACK_MOODLE, /* a zip for "Upload multiple feedback files in a zip" */
    FEEDBACK_CANVAS  /* a zip for "Upload submissions" */
} FeedbackPlace;

/* Writes one page per student: marks, explanations, hints for what was missed, comparison with the
 * class, the record.  *files is their number.  Moodle and Canvas have one assignment per lab, so
 * `results` must have one lab.  -1 with error; an archive that could not be written does not
 * exist. */
int feedback_write(FeedbackPlace place, const char *out, const ClassResults *results, int *files,
                   Error *error);

/* Writes <folder>/<student>.<extension> in a format of one submission: JUnit, Gradescope and so
 * on. */
int feedback_format_write(const Format *format, const char *folder, const ClassResults *results,
                          int *files, Error *error);

/* The page of one student. */
typedef struct FeedbackPage {
    const MarksStudent *student;
    const Submission *submission;
    const ClassResults *results;
} FeedbackPage;
void feedback_page_write(FILE *stream, const FeedbackPage *page);

#endif
