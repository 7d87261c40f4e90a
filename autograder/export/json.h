/* json.h - functions shared by the JSON formats. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_JSON_H
#define CONVLAB_AUTOGRADER_EXPORT_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "autograder/export/checks.h"
#include "autograder/export/submission.h"

/* An array of the results of `of` for each check of each lab; owned by the caller. */
typedef json_t *JsonOfCheck(const Record *record, const Check *check);
json_t *json_checks(const Submission *submission, JsonOfCheck *of);

/* "02-naive: lenet-c1" as a JSON string. */
json_t *json_check_name(const Record *record, const Check *check);

/* E/N, 0 to 1; 0 if N is 0. */
double submission_share(const Submission *submission);

/* The table of `make grade` as a JSON string. */
json_t *json_report(const Submission *submission);

/* Writes `json` and a newline, numbers with six digits, and frees it.  `flags`: jansson's. */
void json_write(FILE *stream, json_t *json, size_t flags);

#endif
