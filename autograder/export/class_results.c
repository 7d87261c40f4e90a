#include "autograder/export/class_results.h"

#include <string.h>

#include "autograder/class/handed.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

static int read_before(const char *since, ClassResults *results, Error *error)
{
    Error unread;
    if (!since || !file_exists(since)) return 0;
    Gradebook *book = gradebook_read(since, &unread);
    if (!book && strstr(unread.text, "is a gradebook of version")) return 0;
    if (!book) return error_set(error, "%s", unread.text);
    int status = marks_read(book, &results->before, error);
    gradebook_close(book);
    results->compared = 1;
    return status;
}

static int progress_open(const char *gradebook, ClassResults *results, Error *error)
{
    char path[4200];
    const char *slash = strrchr(gradebook, '/');
    int folder = slash ? (int)(slash - gradebook) + 1 : 0;
    text_set(path, sizeof path, "%.*sprogress.tsv", folder, gradebook);
    return progress_read(path, &results->progress, error);
}

/* Keeps one lab's column, or that of its open questions ("04 questions"). */
static int choose_lab(const char *lab, ClassResults *results, Error *error)
{
    char number[40], name[80];
    size_t word = marks_lab_length(lab);
    text_set(number, sizeof number, "%.*s", (int)word, lab);
    const Lab *chosen = catalog_find(&results->catalog, number, error);
    Marks *marks = &results->marks;
    if (!chosen) return -1;
    text_set(name, sizeof name, "%s%s", chosen->name, lab + word);
    int at = marks_lab(marks, name);
    if (at == marks->labs) return error_set(error, "the gradebook has no result of %s", name);
    text_set(marks->lab[0], sizeof marks->lab[0], "%s", name);
    marks->full[0] = marks->full[at];
    for (int i = 0; i < marks->students && at; i++) {
        MarksStudent *student = &marks->student[i];
        MarksResult first = student->result[0];
        student->mark[0] = student->mark[at];
        student->result[0] = student->result[at];
        student->result[at] = first; /* freed with the others */
    }
    marks->labs = 1;
    return 0;
}

int class_results_open(const char *gradebook, const char *since, const char *root, const char *lab,
                       ClassResults *results, Error *error)
{
    memset(results, 0, sizeof *results);
    if (!(results->book = gradebook_read(gradebook, error)) ||
        catalog_open(root, &results->catalog, error) ||
        summary_make(results->book, &results->catalog, &results->summary, error) ||
        progress_open(gradebook, results, error) ||
        marks_read(results->book, &results->marks, error) ||
        (lab && choose_lab(lab, results, error)) || read_before(since, results, error))
        return -1;
    return 0;
}

void class_results_close(ClassResults *results)
{
    gradebook_close(results->book);
    summary_clear(&results->summary);
    progress_clear(&results->progress);
    catalog_close(&results->catalog);
    marks_clear(&results->marks);
    marks_clear(&results->before);
}

void left_out_add(LeftOut *left_out, const char *name, const char *lacks)
{
    char shown[100];
    enum { SHOWN = 5 };
    name_show(name, shown, sizeof shown);
    text_set(left_out->lacks, sizeof left_out->lacks, "%s", lacks);
    if (left_out->count++ < SHOWN)
        text_add(left_out->names, sizeof left_out->names, "%s%s", *left_out->names ? ", " : "",
                 shown);
    else if (left_out->count == SHOWN + 1)
        text_add(left_out->names, sizeof left_out->names, ", ...");
}

const char *late_text(int64_t seconds, char text[40])
{
    static const struct {
        int64_t seconds;
        const char *name;
    } UNIT[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
    int unit = seconds >= 86400 ? 0 : seconds >= 3600 ? 1 : 2;
    int64_t count = (seconds + UNIT[unit].seconds - 1) / UNIT[unit].seconds;
    text_set(text, 40, "%lld %s%s", (long long)count, UNIT[unit].name, count == 1 ? "" : "s");
    return text;
}
