/* submission.h - result records of one student, read from a directory written by `make grade`. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_SUBMISSION_H
#define CONVLAB_AUTOGRADER_EXPORT_SUBMISSION_H

#include "autograder/record/record.h"

typedef struct Submission {
    char name[256]; /* name of the directory */
    Record **record;
    int records; /* sorted by the lab's name */
    double points, possible;
} Submission;

/* Reads every <lab>.json of `directory`.  -1 with error: there is none, or one is not a result
 * record. Either way submission_clear frees it. */
int submission_read(const char *directory, Submission *submission, Error *error);
void submission_clear(Submission *submission);

#endif
