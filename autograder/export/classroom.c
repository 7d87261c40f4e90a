/* classroom.c - result of a grader of GitHub Classroom: JSON in base64, on one line. The action
 * that reports to Classroom reads it,
 * https://github.com/classroom-resources/autograding-grading-reporter (src/main.js and
 * src/notify-classroom.js: it adds up the tests' scores). */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/export/format.h"
#include "autograder/export/json.h"
#include "autograder/export/plain.h"

/* The reporter knows pass, fail and error. */
static const char *status_name(CheckOutcome outcome)
{
    static const char *const NAME[] = {"pass", "fail", "pass", "error"};
    return NAME[outcome];
}

static json_t *test_of(const Record *record, const Check *check)
{
    return json_pack("{s:o, s:s, s:f, s:o, s:s, s:s, s:i, s:f}", "name",
                     json_check_name(record, check), "status", status_name(check->outcome), "score",
                     check->points, "message", plain_json(check->text), "test_code", "", "filename",
                     "", "line_no", 0, "duration", 1000 * check->seconds);
}

/* An error takes precedence over a failure. */
static const char *worst(const json_t *tests)
{
    const char *found = "pass";
    size_t at;
    json_t *test;
    json_array_foreach(tests, at, test)
    {
        const char *status = json_string_value(json_object_get(test, "status"));
        if (!strcmp(status, "error") || !strcmp(found, "pass")) found = status;
    }
    return found;
}

void classroom_write(FILE *stream, const Submission *submission)
{
    json_t *tests = json_checks(submission, test_of);
    json_t *json = json_pack("{s:i, s:s, s:f, s:o}", "version", 1, "status", worst(tests),
                             "max_score", submission->possible, "tests", tests);
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    size_t bytes = text ? strlen(text) : 0;
    size_t room = sodium_base64_encoded_len(bytes, sodium_base64_VARIANT_ORIGINAL);
    char *line = malloc(room);
    if (text && line)
        fprintf(stream, "%s\n",
                sodium_bin2base64(line, room, (const unsigned char *)text, bytes,
                                  sodium_base64_VARIANT_ORIGINAL));
    free(line);
    free(text);
    json_decref(json);
}
