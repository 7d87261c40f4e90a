#include "autograder/class/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

static const char HEADINGS[] = "date\tlab\tstudents\tgraded\tmean %\tmedian %\tall points\n";

int progress_week(const char *date, char monday[12])
{
    struct tm day = {0};
    const char *end = strptime(date, "%Y-%m-%d", &day);
    if (!end || *end || strlen(date) != 10) return -1;
    time_t noon = timegm(&day) + 12 * 3600;
    gmtime_r(&noon, &day);
    noon -= (time_t)((day.tm_wday + 6) % 7) * 24 * 3600;
    gmtime_r(&noon, &day);
    return strftime(monday, 12, "%Y-%m-%d", &day) == 10 ? 0 : -1;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int row_parse(const char *line, ProgressRow *row)
{
    char monday[12];
    int end = -1;
    *row = (ProgressRow){.students = 0};
    sscanf(line, "%11[0-9-]\t%63[^\t]\t%d\t%d\t%lf\t%lf\t%d%n", row->date, row->lab, &row->students,
           &row->graded, &row->mean, &row->median, &row->full, &end);
    return end > 0 && !line[end] && !progress_week(row->date, monday) ? 0 : -1;
}

static int row_add(Progress *progress, const ProgressRow *row, Error *error)
{
    ProgressRow *grown = realloc(progress->row, (progress->rows + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    progress->row = grown;
    grown[progress->rows++] = *row;
    return 0;
}

int progress_read(const char *path, Progress *progress, Error *error)
{
    *progress = (Progress){0};
    if (!file_exists(path)) return 0;
    char *text = file_text(path, error), *rest = text, *line;
    int status = text ? 0 : -1;
    for (int number = 1; !status && (line = strsep(&rest, "\n")); number++) {
        ProgressRow row;
        if (number == 1 || !*line) continue;
        status = row_parse(line, &row)
                     ? error_set(error,
                                 "%.300s:%d: not a date, a lab and five numbers: remove the line, "
                                 "or the file to start again",
                                 path, number)
                     : row_add(progress, &row, error);
    }
    free(text);
    return status;
}

void progress_clear(Progress *progress)
{
    free(progress->row);
    *progress = (Progress){0};
}

/* ---- writing -------------------------------------------------------------------------------- */

static int by_date(const void *left, const void *right)
{
    const ProgressRow *a = left, *b = right;
    int order = strcmp(a->date, b->date);
    return order ? order : strcmp(a->lab, b->lab);
}

static int lab_put(Progress *progress, const char *date, const SummaryLab *lab, Error *error)
{
    ProgressRow row = {.students = (int)summary_marks(lab),
                       .graded = (int)lab->graded,
                       .full = (int)lab->full,
                       .mean = summary_mean(lab),
                       .median = summary_quartile(lab, 2)};
    text_set(row.date, sizeof row.date, "%s", date);
    text_set(row.lab, sizeof row.lab, "%s", lab->name);
    for (size_t i = 0; i < progress->rows; i++)
        if (!by_date(&progress->row[i], &row)) {
            progress->row[i] = row;
            return 0;
        }
    return row_add(progress, &row, error);
}

static int progress_write(const char *path, const Progress *progress, Error *error)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return error_set(error, "out of memory");
    fputs(HEADINGS, stream);
    for (size_t i = 0; i < progress->rows; i++) {
        const ProgressRow *row = &progress->row[i];
        fprintf(stream, "%s\t%s\t%d\t%d\t%.1f\t%.1f\t%d\n", row->date, row->lab, row->students,
                row->graded, row->mean, row->median, row->full);
    }
    int status = fclose(stream) ? error_set(error, "out of memory") : file_write(path, text, error);
    free(text);
    return status;
}

int progress_add(const char *folder, const char *date, const Summary *summary, Error *error)
{
    char path[4200];
    Progress progress;
    text_set(path, sizeof path, "%s/progress.tsv", folder);
    int status = progress_read(path, &progress, error);
    for (int i = 0; i < summary->labs && !status; i++)
        if (summary_marks(&summary->lab[i]))
            status = lab_put(&progress, date, &summary->lab[i], error);
    if (!status && progress.rows) {
        qsort(progress.row, progress.rows, sizeof *progress.row, by_date);
        status = progress_write(path, &progress, error);
    }
    progress_clear(&progress);
    return status;
}
