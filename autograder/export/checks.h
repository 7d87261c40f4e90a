/* checks.h - a record as a list of checks, each passed or not: what platforms call tests.
 *
 * A public case is a check, its speed another, the hidden set is one, each prediction is one.  The
 * points of a record's checks add up to the record's mark, possible points as well.  A check has
 * passed when it has all its points. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_CHECKS_H
#define CONVLAB_AUTOGRADER_EXPORT_CHECKS_H

#include "autograder/record/record.h"

typedef enum CheckOutcome {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_SKIPPED, /* left out of N: it says nothing about the submission */
    CHECK_BROKEN   /* the grader's own fault; left out of N */
} CheckOutcome;

typedef struct Check {
    char name[80]; /* "lenet-c1", "lenet-c1, speed", "hidden", "prediction blocks" */
    char text[6000];
    CheckOutcome outcome;
    double points, possible;
    double seconds; /* that the call took, 0 where that is not known */
} Check;

enum { CHECKS = 2 * LAB_CASES + 1 + LAB_PREDICTIONS };

typedef struct Checks {
    int count;
    int of[CHECK_BROKEN + 1]; /* how many have each outcome */
    Check item[CHECKS];
} Checks;

/* malloc'd, for free(); NULL: out of memory. */
Checks *checks_of(const Record *record);
const char *check_outcome_name(CheckOutcome outcome); /* "passed", "failed", "skipped", "broken" */
/* "7.14286": six digits, which no mark needs more of. */
const char *points_exact(double points, char text[32]);

#endif
