/* explain.h - how a student earned each point, from the gradebook alone: for appeals. */
#ifndef CONVLAB_AUTOGRADER_CLASS_EXPLAIN_H
#define CONVLAB_AUTOGRADER_CLASS_EXPLAIN_H

#include <stdio.h>

#include "autograder/class/gradebook.h"

/* Writes every result of the student, the one that counts for each lab first named as such, with a
 * row for each case, timed case and prediction.  Nothing is graded again.  -1 with error: there is
 * no such student, or a record cannot be read. */
int explain_student(Gradebook *book, const char *student, FILE *stream, Error *error);

#endif
