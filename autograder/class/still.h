/* still.h - reproducible result record, without times: grading again gives the same bytes. */
#ifndef CONVLAB_AUTOGRADER_CLASS_STILL_H
#define CONVLAB_AUTOGRADER_CLASS_STILL_H

#include "common/base/error.h"

/* Fields of a record that the gradebook stores in addition to its text. */
typedef struct StillRecord {
    char *text; /* JSON, malloc'd */
    char status[16];
    double points, possible;
} StillRecord;

/* Removes from the record `text`: time and duration of the grading, measured times of host code,
 * and the path of a job's own folder, "work/<one part>/".  A `problem` that is not empty becomes
 * the message.  -1 with error: it is not a record. */
int still_record(const char *text, const char *work, const char *problem, StillRecord *record,
                 Error *error);

/* The record of a lab that could not be graded, through no fault of the student. */
int still_deferred(const char *lab, const char *title, const char *why, const char *work,
                   StillRecord *record, Error *error);

#endif
