#include "autograder/class/summary.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/record/record.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

static SummaryLab *lab_find(Summary *summary, const char *name)
{
    for (int i = 0; i < summary->labs; i++)
        if (!strcmp(summary->lab[i].name, name)) return &summary->lab[i];
    return NULL; /* the course has changed since */
}

static int count(const GradebookResult *result, void *context, Error *error)
{
    SummaryLab *lab = lab_find(context, result->lab);
    if (!lab) return 0;
    if (!strcmp(result->status, record_status_name(RECORD_MISSING))) {
        lab->missing++;
        return 0;
    }
    lab->late += result->late != 0;
    if (!strcmp(result->status, record_status_name(RECORD_DEFERRED))) {
        lab->deferred++;
        return 0;
    }
    double *grown = realloc(lab->percent, (lab->graded + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    lab->percent = grown;
    double percent = result->possible > 0 ? 100 * result->points / result->possible : 0;
    lab->percent[lab->graded++] = percent;
    lab->full += percent >= 100;
    lab->none += percent <= 0;
    int bin = (int)(percent / 10);
    lab->bin[bin < 0 ? 0 : bin >= SUMMARY_BINS ? SUMMARY_BINS - 1 : bin]++;
    return 0;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int summary_make(Gradebook *book, const Catalog *catalog, Summary *summary, Error *error)
{
    *summary = (Summary){0};
    for (int i = 0; i < catalog->labs && i < SUMMARY_LABS; i++)
        summary->lab[summary->labs++].name = catalog->lab[i].name;
    if (gradebook_best(book, count, summary, error)) {
        summary_clear(summary);
        return -1;
    }
    for (int i = 0; i < summary->labs; i++) {
        SummaryLab *lab = &summary->lab[i];
        if (lab->graded) qsort(lab->percent, lab->graded, sizeof *lab->percent, by_size);
    }
    return 0;
}

void summary_clear(Summary *summary)
{
    for (int i = 0; i < summary->labs; i++)
        free(summary->lab[i].percent);
    *summary = (Summary){0};
}

double summary_mean(const SummaryLab *lab)
{
    double sum = 0;
    for (size_t i = 0; i < lab->graded; i++)
        sum += lab->percent[i];
    return sum / (double)lab->graded;
}

double summary_quartile(const SummaryLab *lab, int number)
{
    double place = (double)(lab->graded - 1) * number / 4;
    size_t below = (size_t)place, above = below + 1 < lab->graded ? below + 1 : below;
    return lab->percent[below] +
           (place - (double)below) * (lab->percent[above] - lab->percent[below]);
}

void summary_print(FILE *stream, const Summary *summary)
{
    Table table = table_start("lrrrrrrrrr");
    table_row(&table, "per cent of points\tdone\tmean\t1/4\t1/2\t3/4\tfull\tnone\tlate\tmissing");
    for (int i = 0; i < summary->labs; i++) {
        const SummaryLab *lab = &summary->lab[i];
        char spread[100] = "-\t-\t-\t-", note[40] = "";
        if (lab->graded)
            text_set(spread, sizeof spread, "%.1f\t%.1f\t%.1f\t%.1f", summary_mean(lab),
                     summary_quartile(lab, 1), summary_quartile(lab, 2), summary_quartile(lab, 3));
        if (!(lab->graded + lab->missing + lab->deferred)) continue;
        table_row(&table, "%s\t%zu\t%s\t%zu\t%zu\t%zu\t%zu", lab->name, lab->graded, spread,
                  lab->full, lab->none, lab->late, lab->missing);
        if (lab->deferred) text_set(note, sizeof note, "deferred: %zu", lab->deferred);
        table_note(&table, note);
    }
    table_end(&table, stream, 0);
}

void summary_bars(FILE *stream, const Summary *summary)
{
    enum { WIDTH = 60 };
    for (int i = 0; i < summary->labs; i++) {
        const SummaryLab *lab = &summary->lab[i];
        size_t most = 1;
        for (int bin = 0; bin < SUMMARY_BINS; bin++)
            most = lab->bin[bin] > most ? lab->bin[bin] : most;
        if (lab->graded) fprintf(stream, "\n%s, per cent of points and students\n", lab->name);
        for (int bin = 0; bin < SUMMARY_BINS && lab->graded; bin++) {
            int length = (int)((lab->bin[bin] * WIDTH + most - 1) / most);
            char range[16] = "100";
            if (bin < SUMMARY_BINS - 1)
                text_set(range, sizeof range, "%d-%d", 10 * bin, 10 * bin + 9);
            fprintf(stream, "%7s %4zu %.*s\n", range, lab->bin[bin], length,
                    "############################################################");
        }
    }
}
