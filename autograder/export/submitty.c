/* submitty.c - validation_results.json of a custom validator,
 * https://submitty.org/instructor/autograding/validation : the score is a share, 0 to 1, with one
 * message per check.  If the grader itself failed, the file reports it to the instructor and has no
 * score. */
#include "autograder/export/format.h"
#include "autograder/export/json.h"
#include "autograder/export/plain.h"
#include "autograder/text/text.h"

static json_t *message_of(const Record *record, const Check *check)
{
    static const char *const STATUS[] = {"success", "failure", "information", "warning"};
    char text[sizeof check->text + 200], points[32], possible[32];
    text_set(text, sizeof text, "%s: %s, %s/%s points\n%s", record->lab, check->name,
             points_exact(check->points, points), points_exact(check->possible, possible),
             check->text);
    return json_pack("{s:o, s:s}", "message", plain_json(text), "status", STATUS[check->outcome]);
}

static const Record *broken(const Submission *submission)
{
    for (int i = 0; i < submission->records; i++)
        if (submission->record[i]->status == RECORD_BROKEN) return submission->record[i];
    return NULL;
}

void submitty_write(FILE *stream, const Submission *submission)
{
    const Record *record = broken(submission);
    if (record) {
        json_write(
            stream,
            json_pack("{s:s, s:o}", "status", "failure", "message", plain_json(record->message)),
            JSON_INDENT(2));
        return;
    }
    json_write(stream,
               json_pack("{s:s, s:{s:f, s:o}}", "status", "success", "data", "score",
                         submission_share(submission), "message",
                         json_checks(submission, message_of)),
               JSON_INDENT(2));
}
