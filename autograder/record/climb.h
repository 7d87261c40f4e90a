/* climb.h - history of a learner's grades of a lab, a few numbers each, in chronological order. */
#ifndef CONVLAB_AUTOGRADER_RECORD_CLIMB_H
#define CONVLAB_AUTOGRADER_RECORD_CLIMB_H

#include "autograder/record/record.h"

typedef struct ClimbCase {
    char name[48];
    double student, baseline, reference; /* cycles or seconds */
    double roof;                         /* lower bound on the machine; 0: unknown */
} ClimbCase;

typedef struct ClimbGrade {
    char at[32], digest[65], machine[200], unit[16]; /* machine: including its engine */
    double points, possible;
    ClimbCase item[LAB_CASES]; /* empty: not correct */
    int cases;
} ClimbGrade;

typedef struct Climb {
    ClimbGrade *grade; /* in chronological order; a source that was graded again occurs once */
    int grades;
} Climb;

/* Appends a learner's new record to <build>/progress/climb/<lab>.tsv, one line per timed case.
 * Grades that could not be judged are not added.  -1 with error. */
int climb_add(const char *build, const Record *record, Error *error);

/* The grade's case of that name, or NULL. */
const ClimbCase *climb_case(const ClimbGrade *grade, const char *name);

/* -1 with error: it exists and cannot be read.  climb_free frees it. */
int climb_read(const char *build, const char *lab, Climb *climb, Error *error);
void climb_free(Climb *climb);

#endif
