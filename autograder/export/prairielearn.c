/* prairielearn.c - results.json of an external grader,
 * https://docs.prairielearn.com/externalGrading/ : the score is a share, 0 to 1.  If no lab of the
 * submission could be run, it is not gradable: PrairieLearn then counts no attempt.  The file may
 * have 1 MB; twelve labs need a tenth of that. */
#include "autograder/export/format.h"
#include "autograder/export/json.h"
#include "autograder/export/plain.h"

static json_t *test_of(const Record *record, const Check *check)
{
    return json_pack("{s:o, s:s, s:f, s:f, s:s, s:o}", "name", json_check_name(record, check),
                     "description", "", "points", check->points, "max_points", check->possible,
                     "message", check_outcome_name(check->outcome), "output",
                     plain_json(check->text));
}

static json_t *reasons(const Submission *submission, int *graded)
{
    json_t *list = json_array();
    *graded = 0;
    for (int i = 0; i < submission->records; i++) {
        const Record *record = submission->record[i];
        *graded += record->status == RECORD_GRADED;
        if (record->status != RECORD_GRADED)
            json_array_append_new(list, plain_json(record->message));
    }
    return list;
}

void prairielearn_write(FILE *stream, const Submission *submission)
{
    int graded;
    json_t *why = reasons(submission, &graded);
    json_t *json = json_pack(
        "{s:b, s:f, s:s, s:o, s:o}", "gradable", graded > 0, "score", submission_share(submission),
        "message", graded ? "Graded." : "No lab of this submission could be run.", "output",
        json_report(submission), "tests", json_checks(submission, test_of));
    if (!graded) json_object_set(json, "format_errors", why);
    json_decref(why);
    json_write(stream, json, JSON_INDENT(2));
}
