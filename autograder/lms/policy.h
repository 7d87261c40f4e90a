/* policy.h - deadlines of a class: grace, extensions, and how late a submission is. */
#ifndef CONVLAB_AUTOGRADER_LMS_POLICY_H
#define CONVLAB_AUTOGRADER_LMS_POLICY_H

#include <stdint.h>

#include "autograder/lms/roster.h"

typedef struct LmsPolicy {
    int64_t deadline; /* seconds since 1970; 0: none */
    int64_t grace;    /* seconds after the deadline that cost nothing */
    double penalty;   /* per cent of the points, per started day after the deadline */
    const char *counts;
    int attempts;
} LmsPolicy;

/* The options' texts; NULL: not given.  -1 with error, which names the option. */
int lms_policy_parse(const char *deadline, const char *grace, const char *penalty,
                     const char *counts, const char *attempts, LmsPolicy *policy, Error *error);

/* The deadline of those people of the roster that is_found marks: the latest of theirs. */
int64_t lms_deadline(const LmsPolicy *policy, const LmsRoster *roster, const char *is_found);
/* Their latest time of submission, as the roster has it; 0: none. */
int64_t lms_submitted(const LmsRoster *roster, const char *is_found);

/* Seconds after `deadline`; 0: in time, within the grace, or one of both is unknown (0). */
int64_t lms_late(const LmsPolicy *policy, int64_t deadline, int64_t submitted);

#endif
