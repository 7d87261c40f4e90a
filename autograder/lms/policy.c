#include "autograder/lms/policy.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/lms/times.h"

static int penalty_parse(const char *text, double *penalty, Error *error)
{
    char *end;
    *penalty = strtod(text, &end);
    end += *end == '%';
    if (end != text && !*end && *penalty >= 0 && *penalty <= 100) return 0;
    return error_set(error,
                     "PENALTY=%.60s: per cent of the points per started day after the deadline, 0 "
                     "to 100",
                     text);
}

static int counts_parse(const char *text, LmsPolicy *policy, Error *error)
{
    static const char *const KNOWN[] = {"best", "in-time", "last"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, KNOWN[i])) {
            policy->counts = KNOWN[i];
            return 0;
        }
    return error_set(error, "COUNTS=%.60s: best, in-time or last", text);
}

int lms_policy_parse(const char *deadline, const char *grace, const char *penalty,
                     const char *counts, const char *attempts, LmsPolicy *policy, Error *error)
{
    *policy = (LmsPolicy){.counts = "best"};
    policy->deadline = deadline ? time_parse(deadline) : 0;
    if (policy->deadline < 0)
        return error_set(error,
                         "DEADLINE=%.80s is no time such as 2026-10-01T12:00 or 2026-10-01T12:00Z",
                         deadline);
    policy->grace = grace ? duration_parse(grace) : 0;
    if (policy->grace < 0)
        return error_set(error, "GRACE=%.60s is no duration such as 15m, 2h or 1d", grace);
    if (penalty && penalty_parse(penalty, &policy->penalty, error)) return -1;
    if (counts && counts_parse(counts, policy, error)) return -1;
    if (!attempts) return 0;
    char *end;
    long number = strtol(attempts, &end, 10);
    if (end == attempts || *end || number < 1 || number > 1000)
        return error_set(error, "ATTEMPTS=%.60s: a number from 1 to 1000", attempts);
    policy->attempts = (int)number;
    return 0;
}

int64_t lms_deadline(const LmsPolicy *policy, const LmsRoster *roster, const char *is_found)
{
    int64_t latest = policy->deadline;
    for (size_t i = 0; roster && i < roster->people; i++) {
        const Person *person = &roster->person[i];
        int64_t own = person->until >= 0 ? person->until
                      : policy->deadline ? policy->deadline + person->extra
                                         : 0;
        if (is_found[i] && own > latest) latest = own;
    }
    return latest;
}

int64_t lms_submitted(const LmsRoster *roster, const char *is_found)
{
    int64_t latest = 0;
    for (size_t i = 0; roster && i < roster->people; i++)
        if (is_found[i] && roster->person[i].submitted > latest)
            latest = roster->person[i].submitted;
    return latest;
}

int64_t lms_late(const LmsPolicy *policy, int64_t deadline, int64_t submitted)
{
    return deadline && submitted > deadline + policy->grace ? submitted - deadline : 0;
}
