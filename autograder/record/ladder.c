#include "autograder/record/ladder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autograder/record/history.h"
#include "autograder/record/report.h"
#include "autograder/text/files.h"
#include "autograder/text/screen.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

enum { INDENT = 2, RUNGS = 8, BAR = 30 };

static FILE *drawing_open(const char *directory, const char *name, Error *error)
{
    char path[1000];
    text_set(path, sizeof path, "%s/%s.tsv", directory, name);
    FILE *file = directory_make(directory) ? NULL : fopen(path, "we");
    if (!file) error_set(error, "%s: %m", path);
    return file;
}

/* The last correct grade: its machine, cases and lower bounds are drawn. */
static const HistoryGrade *last_right(const GradeHistory *history)
{
    for (int i = history->grades - 1; i >= 0; i--)
        if (history->grade[i].cases) return &history->grade[i];
    return NULL;
}

/* The history of one case. */
typedef struct Way {
    const GradeHistory *history;
    const HistoryGrade *now;
    const HistoryCase *item;
} Way;

/* Cost at grade i; 0: that grade was not correct, or was timed on another machine. */
static double took(const Way *way, int i)
{
    const HistoryGrade *grade = &way->history->grade[i];
    const HistoryCase *item = history_case(grade, way->item->name);
    return item && !strcmp(grade->machine, way->now->machine) ? item->student : 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void bar_row(Table *table, const Way *way, const char *label, double cost, double longest)
{
    char text[40], bar[BAR + 1] = "";
    int length = (int)lround(BAR * fmin(cost / longest, 1));
    memset(bar, '#', (size_t)(length > 0 ? length : 1));
    table_row(table, "%s\t%s\t%.2fx\t%s", label, report_cost(way->now->unit, cost, text),
              way->item->baseline / cost, bar);
}

/* Label of a grade, "7  Nov 22 14:03", in the reader's time zone. */
static void rung_label(const HistoryGrade *grade, int number, char *label, size_t bytes)
{
    struct tm utc = {0}, local;
    char when[32] = "";
    if (strptime(grade->at, "%Y-%m-%dT%H:%M:%SZ", &utc)) {
        time_t at = timegm(&utc);
        strftime(when, sizeof when, "%b %e %H:%M", localtime_r(&at, &local));
    }
    text_set(label, bytes, "%3d  %s", number, when);
}

/* Finds the steps: grades that are faster than all earlier ones, and the last grade. */
static int rungs_find(const Way *way, int *rung)
{
    double best = INFINITY;
    int rungs = 0, last = -1;
    for (int i = 0; i < way->history->grades; i++) {
        double cost = took(way, i);
        if (cost <= 0) continue;
        last = i;
        if (cost < best) rung[rungs++] = i;
        if (cost < best) best = cost;
    }
    if (rungs && rung[rungs - 1] != last) rung[rungs++] = last;
    return rungs;
}

static void print_case(Table *table, const Way *way, const int *rung, int rungs)
{
    int from = rungs > RUNGS ? rungs - RUNGS : 0;
    double longest = fmax(way->item->baseline, way->item->reference);
    char label[48];
    for (int i = from; i < rungs; i++)
        longest = fmax(longest, took(way, rung[i]));
    bar_row(table, way, "     baseline", way->item->baseline, longest);
    for (int i = from; i < rungs; i++) {
        rung_label(&way->history->grade[rung[i]], rung[i] + 1, label, sizeof label);
        bar_row(table, way, label, took(way, rung[i]), longest);
    }
    bar_row(table, way, "     reference", way->item->reference, longest);
    if (way->item->roof > 0) bar_row(table, way, "     roof", way->item->roof, longest);
}

static void print_head(FILE *stream, const Lab *lab, const GradeHistory *history,
                       const HistoryGrade *now)
{
    char line[400];
    int wrong = 0;
    for (int i = 0; i < history->grades; i++)
        wrong += !history->grade[i].cases;
    text_set(line, sizeof line, "%s on %s: %d grade%s", lab->name, now->machine, history->grades,
             history->grades == 1 ? "" : "s");
    if (wrong) text_add(line, sizeof line, ", %d of them not correct", wrong);
    text_add(line, sizeof line,
             ". Only grades that were faster than all before, and the last grade, are shown.");
    text_wrap(stream, INDENT, line);
    fputc('\n', stream);
}

/* ---- data for gnuplot ------------------------------------------------------------------------ */

/* The first line describes the figure for ladder.gp: lab, unit, cases. */
static void write_head(FILE *file, const Lab *lab, const HistoryGrade *now)
{
    fprintf(file, "# %s on %s\t%s\t", lab->name, now->machine, now->unit);
    for (int i = 0; i < now->cases; i++)
        fprintf(file, "%s%s", i ? " " : "", now->item[i].name);
    fputc('\n', file);
}

/* Columns: grade, cost, lowest cost so far, the baseline if the grade was not correct, baseline,
 * reference, lower bound; missing values are NAN, a missing lower bound is 0. */
static void write_case(FILE *file, const Way *way)
{
    double best = NAN;
    const HistoryCase *item = way->item;
    fprintf(file, "\"%s\"\n", item->name);
    for (int i = 0; i < way->history->grades; i++) {
        double cost = took(way, i);
        if (cost > 0) best = fmin(cost, best);
        fprintf(file, "%d\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\n", i + 1, cost > 0 ? cost : NAN,
                best, way->history->grade[i].cases ? NAN : item->baseline, item->baseline,
                item->reference, item->roof);
    }
    fputs("\n\n", file);
}

static int nothing_right(const Lab *lab, const GradeHistory *history, Error *error)
{
    if (!history->grades)
        return error_set(error, "there is no grade of %s yet: run make grade LAB=%.2s", lab->name,
                         lab->name);
    return error_set(error, "%s has no correct grade yet, of %d so far: make hint LAB=%.2s helps",
                     lab->name, history->grades, lab->name);
}

static void draw(FILE *stream, FILE *file, const GradeHistory *history, const HistoryGrade *now,
                 int *rung)
{
    Table table = table_start("lrrl");
    table_row(&table, "\t%s\tfaster\t", !strcmp(now->unit, "cycles") ? "cycles" : "time");
    for (int i = 0; i < now->cases; i++) {
        Way way = {history, now, &now->item[i]};
        table_row(&table, "%s", now->item[i].name);
        print_case(&table, &way, rung, rungs_find(&way, rung));
        write_case(file, &way);
    }
    table_end(&table, stream, INDENT);
}

int ladder_print(FILE *stream, const Lab *lab, const char *build, const char *directory,
                 Error *error)
{
    GradeHistory history;
    if (history_read(build, lab->name, &history, error)) return -1;
    const HistoryGrade *now = last_right(&history);
    int status = now ? 0 : nothing_right(lab, &history, error);
    FILE *file = status ? NULL : drawing_open(directory, lab->name, error);
    int *rung = file ? calloc((size_t)history.grades, sizeof *rung) : NULL;
    if (file && !rung) error_set(error, "out of memory");
    if (!rung) status = -1;
    if (!status) {
        print_head(stream, lab, &history, now);
        write_head(file, lab, now);
        draw(stream, file, &history, now, rung);
    }
    if (file && fclose(file) && !status) status = error_set(error, "%s: %m", directory);
    free(rung);
    history_free(&history);
    return status;
}

/* ---- all labs -------------------------------------------------------------------------------- */

/* A lab's best grade: sums of its timed cases. */
typedef struct Height {
    double baseline, student, reference, roof;
} Height;

static Height height_of(const HistoryGrade *grade)
{
    Height sum = {0};
    int roofs = 0;
    for (int i = 0; i < grade->cases; i++) {
        sum.baseline += grade->item[i].baseline;
        sum.student += grade->item[i].student;
        sum.reference += grade->item[i].reference;
        sum.roof += grade->item[i].roof;
        roofs += grade->item[i].roof > 0;
    }
    if (roofs < grade->cases) sum.roof = 0;
    return sum;
}

/* The fastest grade on the machine of the last correct one. */
static int height_find(const GradeHistory *history, Height *height)
{
    const HistoryGrade *now = last_right(history);
    if (!now) return -1;
    *height = height_of(now);
    for (int i = 0; i < history->grades; i++) {
        const HistoryGrade *grade = &history->grade[i];
        if (grade->cases != now->cases || strcmp(grade->machine, now->machine)) continue;
        Height other = height_of(grade);
        if (other.student < height->student) *height = other;
    }
    return 0;
}

/* Progress from the baseline to the reference, on the logarithmic scale of the points. */
static void height_row(Table *table, FILE *file, const Lab *lab, const Height *height)
{
    double s = height->baseline / height->student, goal = height->baseline / height->reference;
    double way = goal > 1 ? fmin(fmax(log(s) / log(goal), 0), 1) : 1;
    char roof[32] = "", bar[BAR + 1];
    int length = (int)lround(BAR * way);
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)length);
    bar[BAR] = 0;
    if (height->roof > 0) text_set(roof, sizeof roof, "%.1fx", height->baseline / height->roof);
    table_row(table, "%s\t%.2fx\t%.2fx\t%s\t%s", lab->name, s, goal, roof, bar);
    fprintf(file, "%s\t%.9g\t%.9g\t%.9g\n", lab->name, s, goal,
            height->roof > 0 ? height->baseline / height->roof : NAN);
}

int ladder_print_all(FILE *stream, const Catalog *catalog, const char *build, const char *directory,
                     Error *error)
{
    int labs = 0, status = 0;
    FILE *file = drawing_open(directory, "labs", error);
    if (!file) return -1;
    Table table = table_start("lrrrl");
    for (int i = 0; i < catalog->labs && !status; i++) {
        GradeHistory history;
        Height height;
        status = history_read(build, catalog->lab[i].name, &history, error);
        if (status) continue;
        if (!height_find(&history, &height)) {
            if (!labs++)
                table_row(&table, "lab\tyours\treference\troof\tprogress towards the reference");
            height_row(&table, file, &catalog->lab[i], &height);
        }
        history_free(&history);
    }
    table_end(&table, stream, INDENT);
    if (fclose(file) && !status) status = error_set(error, "%s: %m", directory);
    if (!status && !labs)
        status = error_set(error, "no lab has a correct grade yet: start with make grade LAB=%.2s",
                           catalog->lab[0].name);
    return status;
}
