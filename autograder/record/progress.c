#include "autograder/record/progress.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/record/record.h"
#include "autograder/record/score.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

static int passed(const Record *record)
{
    return record->status == RECORD_GRADED && record_all_correct(record) &&
           record->points >= 0.5 * record->possible;
}

static Record *last_record(const char *build, const char *lab)
{
    char results[600];
    Error error;
    Record *record = malloc(sizeof *record);
    text_set(results, sizeof results, "%s/results", build);
    if (record && !record_read(results, lab, record, &error)) return record;
    free(record);
    return NULL;
}

static void forget(Record *record)
{
    if (record) record_clear(record);
    free(record);
}

int progress_passed(const char *build, const char *lab)
{
    Record *record = last_record(build, lab);
    int yes = record && passed(record);
    forget(record);
    return yes;
}

static const char *state_of(const Record *record)
{
    if (!record) return "not graded yet";
    if (record->status == RECORD_NO_BUILD) return "does not compile";
    if (record->status != RECORD_GRADED) return record_status_name(record->status);
    if (passed(record)) return "passed";
    return record_all_correct(record) ? "right, too slow" : "not right yet";
}

void progress_print(FILE *stream, const Catalog *catalog, const char *build)
{
    Table table = table_start("lrlw");
    const Lab *next = NULL;
    const char *part = "";
    for (int i = 0; i < catalog->labs; i++) {
        const Lab *lab = &catalog->lab[i];
        Record *record = last_record(build, lab->name);
        char points[72] = "-", left[32], right[32];
        if (record) {
            text_set(points, sizeof points, "%s/%s", score_text(record->points, left),
                     score_text(record->possible, right));
        }
        if (strcmp(part, lab->ini.part)) table_row(&table, "%s", (part = lab->ini.part));
        table_row(&table, "  %s\t%s\t%s\t%s", lab->name, points, state_of(record), lab->ini.title);
        if (!next && !(record && passed(record))) next = lab;
        forget(record);
    }
    table_end(&table, stream, 2);
    if (!next) {
        fprintf(stream, "\n  All labs passed.\n");
        return;
    }
    char line[600];
    text_set(line, sizeof line,
             "Next: read labs/%s/README.md, edit labs/%s/%s, then make grade LAB=%.2s", next->name,
             next->name, next->ini.source, next->name);
    fputc('\n', stream);
    text_wrap(stream, 2, line);
}
