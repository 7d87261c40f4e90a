/* still.h - a result record without what a clock said: grading again gives the same bytes. */
#ifndef CONVLAB_AUTOGRADER_CLASS_STILL_H
#define CONVLAB_AUTOGRADER_CLASS_STILL_H

#include "common/base/error.h"

/* What the gradebook wants to know of a record besides its text. */
typedef struct StillRecord {
    char *text; /* JSON, malloc'd */
    char status[16];
    double points, possible;
} StillRecord;

/* Takes from the record `text` when and how long it was graded, measured times of host code, and
 * the way to a job's own folder, "work/<one part>/", wherever a text has it.  A `problem` that is
 * not empty becomes the message.  -1 with error: it is no record. */
int still_record(const char *text, const char *work, const char *problem, StillRecord *record,
                 Error *error);

/* The record of a lab that could not be graded, through no fault of the student. */
int still_deferred(const char *lab, const char *title, const char *why, const char *work,
                   StillRecord *record, Error *error);

#endif
