/* checks.h - a record as a list of checks, each passed or not: the tests of the platforms.
 *
 * Each public case is a check, its speed another; the hidden set is one, each prediction is one.
 * The points of a record's checks add up to the record's mark, and the same holds for possible
 * points.  A check has passed if it has all its points. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_CHECKS_H
#define CONVLAB_AUTOGRADER_EXPORT_CHECKS_H

#include "autograder/record/record.h"

typedef enum CheckOutcome {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_SKIPPED, /* left out of N: no evidence about the submission */
    CHECK_BROKEN   /* the grader's own error; left out of N */
} CheckOutcome;

typedef struct Check {
    char name[80]; /* "lenet-c1", "lenet-c1, speed", "hidden", "prediction blocks" */
    char text[6000];
    CheckOutcome outcome;
    double points, possible;
    double seconds; /* duration of the call, 0 if unknown */
} Check;

enum { CHECKS = 2 * LAB_CASES + 1 + LAB_PREDICTIONS };

typedef struct Checks {
    int count;
    int of[CHECK_BROKEN + 1]; /* number of checks by outcome */
    Check item[CHECKS];
} Checks;

/* malloc'd, for free(); NULL: out of memory. */
Checks *checks_of(const Record *record);
const char *check_outcome_name(CheckOutcome outcome); /* "passed", "failed", "skipped", "broken" */
/* "7.14286": six digits are enough for every mark. */
const char *points_exact(double points, char text[32]);

#endif
