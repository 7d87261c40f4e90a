#include "autograder/record/hint.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/record/record.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

static void progress_path(const Lab *lab, const char *build, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/progress/%s", build, lab->name);
}

/* How many staged hints were shown. */
static int hint_shown(const Lab *lab, const char *build)
{
    char path[700];
    progress_path(lab, build, path, sizeof path);
    char *text = file_text(path, NULL);
    int shown = text ? atoi(text) : 0;
    free(text);
    return shown > 0 && shown <= LAB_HINTS ? shown : 0;
}

/* How many were printed. */
static int print_unlocked(FILE *stream, const Lab *lab, const char *build)
{
    char results[600];
    Record *record = malloc(sizeof *record);
    int printed = 0;
    text_set(results, sizeof results, "%s/results", build);
    if (record && !record_read(results, lab->name, record, NULL)) {
        for (int i = 0; i < record->cases; i++) {
            const RecordCase *item = &record->item[i];
            if (!*item->hint) continue;
            if (*item->fault)
                fprintf(stream, "The last grade found %s in case %s:\n", item->fault, item->name);
            else
                fprintf(stream, "The last grade found case %s slower than it could be:\n",
                        item->name);
            text_wrap(stream, 2, item->hint);
            fputc('\n', stream);
            printed++;
        }
        record_clear(record);
    }
    free(record);
    return printed;
}

int hint_print(FILE *stream, const Lab *lab, const char *build, Error *error)
{
    char path[700], number[16];
    int stages = 0, next = hint_shown(lab, build) + 1;
    while (lab_stage_hint(&lab->ini, stages + 1))
        stages++;
    print_unlocked(stream, lab, build);
    if (next > stages) {
        fprintf(stream, "All %d hints of %s, again:\n", stages, lab->name);
        for (int i = 1; i <= stages; i++) {
            fprintf(stream, "%d.\n", i);
            text_wrap(stream, 2, lab_stage_hint(&lab->ini, i));
        }
        return 0;
    }
    fprintf(stream, "Hint %d of %d for %s:\n", next, stages, lab->name);
    text_wrap(stream, 2, lab_stage_hint(&lab->ini, next));
    progress_path(lab, build, path, sizeof path);
    text_set(number, sizeof number, "%d\n", next);
    return file_write(path, number, error);
}
