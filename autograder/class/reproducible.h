/* reproducible.h - reproducible result record, without times: grading again gives the same bytes.
 * */
#ifndef CONVLAB_AUTOGRADER_CLASS_REPRODUCIBLE_H
#define CONVLAB_AUTOGRADER_CLASS_REPRODUCIBLE_H

#include "common/base/error.h"

/* Fields of a record that the gradebook stores in addition to its text. */
typedef struct ReproducibleRecord {
    char *text; /* JSON, malloc'd */
    char status[16];
    double points, possible;
} ReproducibleRecord;

/* Removes from the record `text`: time and duration of the grading, measured times of host code,
 * and the path of a job's own folder, "work/<one part>/".  A `problem` that is not empty becomes
 * the message.  -1 with error: it is not a record. */
int reproducible_record(const char *text, const char *work, const char *problem,
                        ReproducibleRecord *record, Error *error);

/* The record of a lab that could not be graded, through no fault of the student. */
int reproducible_deferred(const char *lab, const char *title, const char *why, const char *work,
                          ReproducibleRecord *record, Error *error);

#endif
