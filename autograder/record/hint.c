#include "autograder/record/hint.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/lab/todo.h"
#include "autograder/record/record.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

static void progress_path(const Lab *lab, const char *build, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/progress/%s", build, lab->name);
}

/* Number of staged hints shown so far. */
static int hint_shown(const Lab *lab, const char *build)
{
    char path[700];
    progress_path(lab, build, path, sizeof path);
    char *text = file_text(path, NULL);
    int shown = text ? atoi(text) : 0;
    free(text);
    return shown > 0 && shown <= LAB_HINTS ? shown : 0;
}

/* Prints the unlocked hints; returns their number. */
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
            const char *whole = lab_fault_hint(&lab->ini, item->fault);
            text_wrap(stream, 2, whole ? whole : item->hint);
            fputc('\n', stream);
            printed++;
        }
        record_clear(record);
    }
    free(record);
    return printed;
}

void hint_offer(const char *lab, char *text, size_t bytes)
{
    text_set(text, bytes, "make hint LAB=%.2s explains it.", lab);
}

int hint_print_todo(FILE *stream, const Lab *lab, const char *build, int number,
                    const HintSource *source, Error *error)
{
    char path[700], text[32];
    if (!lab->ini.todos)
        return error_set(error, "%s has no hints for single TODO regions; make hint LAB=%.2s",
                         lab->name, lab->name);
    if (!lab_todo_hint(&lab->ini, number, 0))
        return error_set(error, "%s has no TODO(%d); it has TODO(1) to TODO(%d)", lab->name, number,
                         lab->ini.todos);
    text_set(path, sizeof path, "%s/progress/levels/%s.%d", build, lab->name, number);
    char *shown = file_text(path, NULL);
    int level = shown ? atoi(shown) : 0;
    free(shown);
    if (level < 0 || level >= LAB_LEVELS) level = LAB_LEVELS - 1;
    text_set(text, sizeof text, "TODO(%d)", number);
    if (!todo_hint_applies(source->text, source->skeleton, text))
        fprintf(stream, "TODO(%d) is already written; make grade LAB=%.2s checks it.\n", number,
                lab->name);
    for (int i = 0; i <= level; i++) {
        fprintf(stream, "TODO(%d), hint %d of %d (%s):\n", number, i + 1, LAB_LEVELS,
                LAB_LEVEL_NAMES[i]);
        text_wrap(stream, 2, lab_todo_hint(&lab->ini, number, i));
    }
    text_set(text, sizeof text, "%d\n", level + 1);
    return file_write(path, text, error);
}

int hint_print(FILE *stream, const Lab *lab, const char *build, const HintSource *source,
               Error *error)
{
    char path[700], number[16];
    int stages = 0, next = hint_shown(lab, build) + 1;
    while (lab_stage_hint(&lab->ini, stages + 1))
        stages++;
    print_unlocked(stream, lab, build);
    while (next <= stages &&
           !todo_hint_applies(source->text, source->skeleton, lab_stage_hint(&lab->ini, next)))
        next++;
    if (lab->ini.todos)
        fprintf(stream, "make hint LAB=%.2s TODO=1 shows the hints of one region.\n", lab->name);
    if (next > stages) {
        fprintf(stream, "All %d hints of %s:\n", stages, lab->name);
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
