/* gradescope.c - results.json of an autograder,
 * https://gradescope-autograders.readthedocs.io/en/latest/specs/ : one test per check, and the
 * table of make grade as the whole output.  The score is the sum of the tests.  The leaderboard is
 * left out, because instructors want other columns. */
#include "autograder/export/format.h"
#include "autograder/export/json.h"
#include "autograder/export/plain.h"

static json_t *test_of(const Record *record, const Check *check)
{
    int passed = check->outcome == CHECK_PASSED || check->outcome == CHECK_SKIPPED;
    return json_pack("{s:o, s:f, s:f, s:s, s:s, s:o, s:[s], s:s}", "name",
                     json_check_name(record, check), "score", check->points, "max_score",
                     check->possible, "status", passed ? "passed" : "failed", "output_format",
                     "text", "output", plain_json(check->text), "tags",
                     check_outcome_name(check->outcome), "visibility", "visible");
}

void gradescope_write(FILE *stream, const Submission *submission)
{
    double seconds = 0;
    for (int i = 0; i < submission->records; i++)
        seconds += submission->record[i]->seconds;
    json_t *json = json_pack("{s:f, s:f, s:s, s:o, s:s, s:s, s:o}", "score", submission->points,
                             "execution_time", seconds, "output_format", "text", "output",
                             json_report(submission), "visibility", "visible", "stdout_visibility",
                             "hidden", "tests", json_checks(submission, test_of));
    json_write(stream, json, JSON_INDENT(2));
}
