/* tap.c - TAP 14, https://testanything.org/tap-version-14-specification.html: one test point per
 * check, and a YAML block if there is a message.  A JSON string is also a YAML string. */
#include <stdlib.h>

#include "autograder/export/checks.h"
#include "autograder/export/format.h"
#include "autograder/export/plain.h"

static void write_yaml(FILE *stream, const Check *check)
{
    char points[32];
    json_t *text = plain_json(check->text);
    char *quoted = text ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
    fprintf(stream, "  ---\n  message: %s\n", quoted ? quoted : "\"\"");
    fprintf(stream, "  points: %s\n", points_exact(check->points, points));
    fprintf(stream, "  possible: %s\n  ...\n", points_exact(check->possible, points));
    free(quoted);
    json_decref(text);
}

static void write_point(FILE *stream, int number, const Record *record, const Check *check)
{
    int ok = check->outcome == CHECK_PASSED || check->outcome == CHECK_SKIPPED;
    fprintf(stream, "%s %d - ", ok ? "ok" : "not ok", number);
    plain_tap(stream, record->lab);
    fputs(": ", stream);
    plain_tap(stream, check->name);
    if (check->outcome == CHECK_SKIPPED) fputs(" # SKIP left out of the mark", stream);
    fputc('\n', stream);
    write_yaml(stream, check);
}

void tap_write(FILE *stream, const Submission *submission)
{
    int number = 0;
    fputs("TAP version 14\n", stream);
    for (int i = 0; i < submission->records; i++) {
        Checks *checks = checks_of(submission->record[i]);
        for (int j = 0; checks && j < checks->count; j++)
            write_point(stream, ++number, submission->record[i], &checks->item[j]);
        free(checks);
    }
    fprintf(stream, "1..%d\n", number);
}
