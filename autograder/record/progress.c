#include "autograder/record/progress.h"

#include <string.h>

#include "autograder/record/best_record.h"
#include "autograder/record/report.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

int progress_passed(const char *build, const char *lab)
{
    BestRecord records = best_record_read(build, lab);
    int yes = records.best && record_passed(records.best);
    best_record_free(&records);
    return yes;
}

static const char *state_of(const Record *record)
{
    if (record->status == RECORD_NO_BUILD) return "does not compile";
    if (record->status != RECORD_GRADED) return record_status_name(record->status);
    if (record_passed(record)) return "passed";
    return record_all_correct(record) ? "correct, too slow" : "not correct yet";
}

/* All digits of cycles up to a million, then three or four of them. */
static void cost_text(const char *unit, double cost, char text[40])
{
    if (strcmp(unit, "cycles") != 0 || cost < 1e6)
        report_cost(unit, cost, text);
    else
        text_set(text, 40, cost < 1e9 ? "%.1f M" : "%.0f M", cost / 1e6);
}

/* One row: the best grade, and the last one if it is different. */
static void lab_row(Table *table, const Lab *lab, const BestRecord *records)
{
    char points[72] = "-", cycles[40] = "", beside[32] = "", state[200] = "not graded yet";
    if (records->best) {
        RecordTime took = record_time(records->best);
        report_points(records->best->points, records->best->possible, points);
        if (record_all_correct(records->best)) cost_text(records->best->unit, took.student, cycles);
        if (*cycles) text_set(beside, sizeof beside, "%.2fx", took.student / took.reference);
        text_set(state, sizeof state, "%s", state_of(records->best));
    }
    if (records->last && records->last->points != records->best->points) {
        char last[72];
        text_add(state, sizeof state, "; last %s",
                 report_points(records->last->points, records->last->possible, last));
    }
    table_row(table, "  %s\t%s\t%s\t%s\t%s", lab->name, points, cycles, beside, state);
}

static void print_next(FILE *stream, const Lab *next)
{
    char line[600];
    if (!next) {
        fprintf(stream, "\n  All labs passed.\n");
        return;
    }
    text_set(line, sizeof line,
             "Next: read labs/%s/README.md, edit labs/%s/%s, then make grade LAB=%.2s.", next->name,
             next->name, next->ini.source, next->name);
    if (*next->ini.takes) text_add(line, sizeof line, " It takes %s.", next->ini.takes);
    fputc('\n', stream);
    text_wrap(stream, 2, line);
}

void progress_print(FILE *stream, const Catalog *catalog, const char *build)
{
    Table table = table_start("lrrrw");
    const Lab *next = NULL, *left_out = NULL;
    const char *part = "";
    double points = 0;
    int begun = 0;
    char sum[72], line[200];
    table_row(&table, "lab\tbest\tcycles\tof ref.\tstate");
    for (int i = 0; i < catalog->labs; i++) {
        const Lab *lab = &catalog->lab[i];
        BestRecord records = best_record_read(build, lab->name);
        if (strcmp(part, lab->ini.part)) table_row(&table, "%s", (part = lab->ini.part));
        lab_row(&table, lab, &records);
        if (records.best) points += records.best->points;
        /* A learner who starts with lab 02 does not need the earlier labs. */
        if (records.best && !begun++) left_out = next, next = NULL;
        if (!next && !(records.best && record_passed(records.best))) next = lab;
        best_record_free(&records);
    }
    table_end(&table, stream, 2);
    if (begun) {
        text_set(line, sizeof line,
                 "%s points. The best grade of each lab counts. Its cycles are the sum over the "
                 "timed cases; the column 'of ref.' divides them by the reference's cycles.",
                 report_points(points, 100.0 * catalog->labs, sum));
        fputc('\n', stream);
        text_wrap(stream, 2, line);
    }
    print_next(stream, next ? next : left_out);
}
