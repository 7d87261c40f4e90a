/* autolab.c - the last two lines of an autograder's output for Autolab.  The last is the
 * autoresult, https://docs.autolabproject.com/lab/ : one problem per lab, with its name.  The line
 * before is the formatted feedback, https://docs.autolabproject.com/features/formatted-feedback/ :
 * one stage per lab.  The scoreboard has one column, the sum. */
#include <stdlib.h>

#include "autograder/export/format.h"
#include "autograder/export/json.h"
#include "autograder/export/plain.h"

static json_t *stage_of(const Record *record)
{
    json_t *stage = json_object();
    Checks *checks = checks_of(record);
    for (int i = 0; checks && i < checks->count; i++) {
        const Check *check = &checks->item[i];
        int passed = check->outcome == CHECK_PASSED || check->outcome == CHECK_SKIPPED;
        json_t *result = json_pack("{s:b}", "passed", passed);
        if (!passed) json_object_set_new(result, "hint", plain_json(check->text));
        json_t *name = plain_json_name(check->name);
        json_object_set_new(stage, json_string_value(name), result);
        json_decref(name);
    }
    free(checks);
    return stage;
}

void autolab_write(FILE *stream, const Submission *submission)
{
    json_t *stages = json_array(), *scores = json_object();
    json_t *feedback = json_pack("{s:s, s:o}", "_presentation", "semantic", "stages", stages);
    for (int i = 0; i < submission->records; i++) {
        const Record *record = submission->record[i];
        json_t *name = plain_json_name(record->lab);
        json_object_set_new(feedback, json_string_value(name), stage_of(record));
        json_object_set_new(scores, json_string_value(name), json_real(record->points));
        json_array_append_new(stages, name);
    }
    json_write(stream, feedback, JSON_COMPACT);
    json_write(stream,
               json_pack("{s:o, s:[f]}", "scores", scores, "scoreboard", submission->points),
               JSON_COMPACT);
}
