#include "autograder/record/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

static const char HEADER[] =
    "graded_at\tsubmission\tmachine\tunit\tpoints\tpossible\tcase\tstudent\t"
    "baseline\treference\troof\n";
#define NOT_RIGHT "-" /* case name in the only line of a grade that is not correct */

/* Earlier releases called the folder progress/climb.  The rename fails, as it should, if there is
 * no such folder or if the new one has files. */
static void history_path(const char *build, const char *lab, char *path, size_t bytes)
{
    char earlier[600], folder[600];
    text_set(earlier, sizeof earlier, "%s/progress/climb", build);
    text_set(folder, sizeof folder, "%s/progress/history", build);
    rename(earlier, folder);
    text_set(path, bytes, "%s/progress/history/%s.tsv", build, lab);
}

/* The first columns of each line of a grade. */
static void write_grade(FILE *file, const Record *record)
{
    const char *where = *record->machine ? record->machine : record->device;
    fprintf(file, "%s\t%s\t%s%s%s\t%s\t%.4f\t%.4f\t", record->graded_at,
            *record->submission_digest ? record->submission_digest : "-", record->engine,
            *where ? " " : "", where, *record->unit ? record->unit : "-", record->points,
            record->possible);
}

int history_add(const char *build, const Record *record, Error *error)
{
    char path[700], folder[600];
    int cases = 0, right = record->status == RECORD_GRADED && record_all_correct(record);
    if (record->status != RECORD_GRADED && record->status != RECORD_NO_BUILD) return 0;
    text_set(folder, sizeof folder, "%s/progress/history", build);
    history_path(build, record->lab, path, sizeof path);
    if (directory_make(folder)) return error_set(error, "%s: %m", folder);
    int fresh = !file_exists(path);
    FILE *file = fopen(path, "ae");
    if (!file) return error_set(error, "%s: %m", path);
    if (fresh) fputs(HEADER, file);
    for (int i = 0; i < record->cases && right; i++) {
        const RecordSpeed *speed = &record->item[i].speed;
        if (speed->verdict != SPEED_SCORED || !(speed->student > 0)) continue;
        write_grade(file, record);
        fprintf(file, "%s\t%.9g\t%.9g\t%.9g\t%.9g\n", record->item[i].name, speed->student,
                speed->baseline, speed->reference, speed->roof);
        cases++;
    }
    if (!cases) {
        write_grade(file, record);
        fputs(NOT_RIGHT "\t0\t0\t0\t0\n", file);
    }
    int wrong = ferror(file);
    return fclose(file) || wrong ? error_set(error, "%s: %m", path) : 0;
}

/* Whether the numbers are plausible for a grade and can be compared. */
static int costs_are_sane(const HistoryCase *item)
{
    const double most = 1e18;
    return item->student > 0 && item->student < most && item->baseline > 0 &&
           item->baseline < most && item->reference > 0 && item->reference < most &&
           item->roof >= 0 && item->roof < most;
}

/* Parses a line of the file: -1 for any other line, such as the header, an incomplete line, or an
 * edited one. */
static int parse_line(char *line, HistoryGrade *grade, HistoryCase *item)
{
    intake_clean(line); /* it is shown on a terminal */
    *grade = (HistoryGrade){0};
    int fields = sscanf(line,
                        "%31[^\t\n]\t%64[^\t\n]\t%199[^\t\n]\t%15[^\t\n]\t%lf\t%lf\t"
                        "%47[^\t\n]\t%lf\t%lf\t%lf\t%lf",
                        grade->at, grade->digest, grade->machine, grade->unit, &grade->points,
                        &grade->possible, item->name, &item->student, &item->baseline,
                        &item->reference, &item->roof);
    return fields == 11 && (!strcmp(item->name, NOT_RIGHT) || costs_are_sane(item)) ? 0 : -1;
}

/* The grade of a line: the last grade, a repeated one, or a new one.  NULL: out of memory. */
static HistoryGrade *grade_of(GradeHistory *history, const HistoryGrade *line)
{
    HistoryGrade *last = history->grades ? &history->grade[history->grades - 1] : NULL;
    if (last && !strcmp(last->digest, line->digest) && !strcmp(last->machine, line->machine)) {
        if (strcmp(last->at, line->at)) *last = *line;
        return last;
    }
    HistoryGrade *grown = realloc(history->grade, (size_t)(history->grades + 1) * sizeof *grown);
    if (!grown) return NULL;
    history->grade = grown;
    grown[history->grades] = *line;
    return &grown[history->grades++];
}

const HistoryCase *history_case(const HistoryGrade *grade, const char *name)
{
    for (int i = 0; i < grade->cases; i++)
        if (!strcmp(grade->item[i].name, name)) return &grade->item[i];
    return NULL;
}

/* Replaces a case that is already there: a source can be graded twice in a second. */
static void take_case(HistoryGrade *grade, const HistoryCase *item)
{
    const HistoryCase *known = history_case(grade, item->name);
    int at = known ? (int)(known - grade->item) : grade->cases;
    if (at == LAB_CASES) return;
    grade->item[at] = *item;
    grade->cases += !known;
}

int history_read(const char *build, const char *lab, GradeHistory *history, Error *error)
{
    char path[700];
    *history = (GradeHistory){0};
    history_path(build, lab, path, sizeof path);
    if (!file_exists(path)) return 0;
    char *text = file_text(path, error);
    if (!text) return -1;
    int status = 0;
    char *rest = text;
    for (char *line; !status && (line = strsep(&rest, "\n"));) {
        HistoryGrade read;
        HistoryCase item;
        if (parse_line(line, &read, &item)) continue;
        HistoryGrade *grade = grade_of(history, &read);
        if (!grade) status = error_set(error, "out of memory");
        if (grade && strcmp(item.name, NOT_RIGHT)) take_case(grade, &item);
    }
    free(text);
    if (status) history_free(history);
    return status;
}

void history_free(GradeHistory *history)
{
    free(history->grade);
    *history = (GradeHistory){0};
}
