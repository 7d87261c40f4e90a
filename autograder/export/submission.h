/* submission.h - one student's result records, read from a directory as `make grade` leaves it. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_SUBMISSION_H
#define CONVLAB_AUTOGRADER_EXPORT_SUBMISSION_H

#include "autograder/record/record.h"

typedef struct Submission {
    char name[256]; /* the directory's */
    Record **record;
    int records; /* by name of the lab */
    double points, possible;
} Submission;

/* Every <lab>.json of `directory`.  -1 with error: there is none, or one is no result record.
 * Either way submission_clear frees it. */
int submission_read(const char *directory, Submission *submission, Error *error);
void submission_clear(Submission *submission);

#endif
