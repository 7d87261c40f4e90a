#include "autograder/export/json.h"

#include <stdlib.h>

#include "autograder/export/format.h"
#include "autograder/export/plain.h"
#include "autograder/text/text.h"

json_t *json_checks(const Submission *submission, JsonOfCheck *of)
{
    json_t *list = json_array();
    for (int i = 0; i < submission->records; i++) {
        const Record *record = submission->record[i];
        Checks *checks = checks_of(record);
        for (int j = 0; checks && j < checks->count; j++)
            json_array_append_new(list, of(record, &checks->item[j]));
        free(checks);
    }
    return list;
}

json_t *json_check_name(const Record *record, const Check *check)
{
    char name[200];
    text_set(name, sizeof name, "%s: %s", record->lab, check->name);
    return plain_json_name(name);
}

double submission_share(const Submission *submission)
{
    return submission->possible > 0 ? submission->points / submission->possible : 0;
}

json_t *json_report(const Submission *submission)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return NULL;
    terminal_write(stream, submission);
    json_t *report = fclose(stream) ? NULL : plain_json(text);
    free(text);
    return report;
}

void json_write(FILE *stream, json_t *json, size_t flags)
{
    json_dumpf(json, stream, flags | JSON_REAL_PRECISION(6));
    fputc('\n', stream);
    json_decref(json);
}
