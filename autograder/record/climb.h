/* climb.h - every grade of a learner's lab, a few numbers each, in the order in which they came. */
#ifndef CONVLAB_AUTOGRADER_RECORD_CLIMB_H
#define CONVLAB_AUTOGRADER_RECORD_CLIMB_H

#include "autograder/record/record.h"

typedef struct ClimbCase {
    char name[48];
    double student, baseline, reference; /* cycles or seconds */
    double roof;                         /* what the machine needs at least; 0: not known */
} ClimbCase;

typedef struct ClimbGrade {
    char at[32], digest[65], machine[200], unit[16]; /* machine: with its engine */
    double points, possible;
    ClimbCase item[LAB_CASES]; /* none: not right yet */
    int cases;
} ClimbGrade;

typedef struct Climb {
    ClimbGrade *grade; /* in their order; a source that was graded again is there once */
    int grades;
} Climb;

/* Adds a learner's new record to <build>/progress/climb/<lab>.tsv, a line for each timed case.
 * What the grader could not judge is no step.  -1 with error. */
int climb_add(const char *build, const Record *record, Error *error);

/* The grade's case of that name; NULL: it has none. */
const ClimbCase *climb_case(const ClimbGrade *grade, const char *name);

/* -1 with error: it is there and cannot be read.  climb_free frees it. */
int climb_read(const char *build, const char *lab, Climb *climb, Error *error);
void climb_free(Climb *climb);

#endif
