#include "autograder/class/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/class/handed.h"
#include "autograder/record/record.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

static SummaryLab *lab_find(Summary *summary, const char *name)
{
    for (int i = 0; i < summary->labs; i++)
        if (!strcmp(summary->lab[i].name, name)) return &summary->lab[i];
    return NULL; /* the course has changed since */
}

static int is_refused(const Summary *summary, const GradebookResult *result)
{
    for (size_t i = 0; i < summary->refused_count; i++) {
        const char *lab = summary->refused[i], *tab = strchr(lab, '\t');
        int is_this_lab = tab == lab || !strncmp(lab, result->lab, (size_t)(tab - lab));
        if (is_this_lab && !strcmp(tab + 1, result->submission)) return 1;
    }
    return 0;
}

static int count(const GradebookResult *result, void *context, Error *error)
{
    SummaryLab *lab = lab_find(context, result->lab);
    if (!lab) return 0;
    if (!strcmp(result->status, record_status_name(RECORD_MISSING))) {
        *(is_refused(context, result) ? &lab->refused : &lab->missing) += 1;
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
    double percent = result->possible > 0 ? 100 * result->counted / result->possible : 0;
    lab->percent[lab->graded++] = percent;
    lab->full += percent >= 100;
    lab->none += percent <= 0;
    int bin = (int)(percent / 10);
    lab->bin[bin < 0 ? 0 : bin >= SUMMARY_BINS ? SUMMARY_BINS - 1 : bin]++;
    return 0;
}

static int count_person(const GradebookPerson *person, void *context, Error *error)
{
    Summary *summary = context;
    (void)person, (void)error;
    summary->students++;
    return 0;
}

static int keep_refused(const GradebookEntry *entry, void *context, Error *error)
{
    Summary *summary = context;
    if (!entry->is_refused) return 0;
    size_t bytes = (summary->refused_count + 1) * sizeof *summary->refused;
    char **grown = realloc(summary->refused, bytes), *text = NULL;
    if (grown) summary->refused = grown;
    if (!grown || asprintf(&text, "%s\t%s", entry->lab, entry->path) < 0)
        return error_set(error, "out of memory");
    summary->refused[summary->refused_count++] = text;
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
    if (gradebook_entries(book, keep_refused, summary, error) ||
        gradebook_people(book, count_person, summary, error) ||
        gradebook_best_marks(book, count, summary, error)) {
        summary_clear(summary);
        return -1;
    }
    for (int i = 0; i < summary->labs; i++) {
        SummaryLab *lab = &summary->lab[i];
        size_t seen = lab->graded + lab->missing + lab->refused + lab->deferred;
        if (seen) lab->absent = summary->students - seen;
        if (lab->graded) qsort(lab->percent, lab->graded, sizeof *lab->percent, by_size);
    }
    return 0;
}

void summary_clear(Summary *summary)
{
    for (int i = 0; i < summary->labs; i++)
        free(summary->lab[i].percent);
    for (size_t i = 0; i < summary->refused_count; i++)
        free(summary->refused[i]);
    free(summary->refused);
    *summary = (Summary){0};
}

static size_t zeros(const SummaryLab *lab)
{
    return lab->missing + lab->refused + lab->absent;
}

size_t summary_marks(const SummaryLab *lab)
{
    return lab->graded + zeros(lab);
}

double summary_mean(const SummaryLab *lab)
{
    double sum = 0;
    for (size_t i = 0; i < lab->graded; i++)
        sum += lab->percent[i];
    return sum / (double)summary_marks(lab);
}

/* The mark at an index of the sorted marks: no mark is below 0. */
static double mark_at(const SummaryLab *lab, size_t index)
{
    return index < zeros(lab) ? 0 : lab->percent[index - zeros(lab)];
}

double summary_quartile(const SummaryLab *lab, int number)
{
    size_t marks = summary_marks(lab);
    double place = (double)(marks - 1) * number / 4;
    size_t below = (size_t)place, above = below + 1 < marks ? below + 1 : below;
    double low = mark_at(lab, below), high = mark_at(lab, above);
    return low + (place - (double)below) * (high - low);
}

static void zeros_note(const SummaryLab *lab, char *note, size_t bytes)
{
    const struct {
        const char *what;
        size_t count;
    } PART[] = {
        {"refused", lab->refused}, {"no submission", lab->absent}, {"deferred", lab->deferred}};
    note[0] = '\0';
    for (int i = 0; i < 3; i++)
        if (PART[i].count)
            text_add(note, bytes, "%s%s: %zu", *note ? ", " : "", PART[i].what, PART[i].count);
}

void summary_print(FILE *stream, const Summary *summary)
{
    int has_zeros = 0;
    Table table = table_start("lrrrrrrrrr");
    table_row(&table, "per cent of points\tdone\tmean\t1/4\t1/2\t3/4\tfull\tnone\tlate\tmissing");
    for (int i = 0; i < summary->labs; i++) {
        const SummaryLab *lab = &summary->lab[i];
        char spread[100] = "-\t-\t-\t-", note[120];
        if (!(summary_marks(lab) + lab->deferred)) continue;
        if (summary_marks(lab))
            text_set(spread, sizeof spread, "%.1f\t%.1f\t%.1f\t%.1f", summary_mean(lab),
                     summary_quartile(lab, 1), summary_quartile(lab, 2), summary_quartile(lab, 3));
        table_row(&table, "%s\t%zu\t%s\t%zu\t%zu\t%zu\t%zu", lab->name, lab->graded, spread,
                  lab->full, lab->none, lab->late, lab->missing);
        zeros_note(lab, note, sizeof note);
        table_note(&table, note);
        has_zeros |= zeros(lab) > 0;
    }
    table_end(&table, stream, 0);
    if (has_zeros)
        fprintf(stream,
                "Mean and quartiles count labs that are missing, refused or not submitted as 0.\n");
}

typedef struct EntryList {
    FILE *stream;
    size_t count;
} EntryList;

static int entry_print(const GradebookEntry *entry, void *context, Error *error)
{
    EntryList *list = context;
    char line[900], name[300], student[200];
    (void)error;
    if (!list->count++) fprintf(list->stream, "\nNot graded:\n");
    name_show(entry->path, name, sizeof name);
    name_show(entry->student, student, sizeof student);
    text_set(line, sizeof line, "%s%s%s: %s", name, *student ? ", of " : "", student,
             entry->reason);
    char shown[900];
    name_show(line, shown, sizeof shown);
    text_wrap(list->stream, 2, shown);
    return 0;
}

int summary_entries(FILE *stream, Gradebook *book, Error *error)
{
    EntryList list = {stream, 0};
    return gradebook_entries(book, entry_print, &list, error);
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
