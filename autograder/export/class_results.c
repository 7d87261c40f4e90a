#include "autograder/export/class_results.h"

#include <string.h>

#include "autograder/text/files.h"

static int read_before(const char *since, ClassResults *results, Error *error)
{
    if (!since || !file_exists(since)) return 0;
    Gradebook *book = gradebook_read(since, error);
    if (!book) return -1;
    int status = marks_read(book, &results->before, error);
    gradebook_close(book);
    results->compared = 1;
    return status;
}

int class_results_open(const char *gradebook, const char *since, const char *root,
                       ClassResults *results, Error *error)
{
    memset(results, 0, sizeof *results);
    if (!(results->book = gradebook_read(gradebook, error)) ||
        catalog_open(root, &results->catalog, error) ||
        summary_make(results->book, &results->catalog, &results->summary, error) ||
        marks_read(results->book, &results->marks, error) || read_before(since, results, error))
        return -1;
    return 0;
}

void class_results_close(ClassResults *results)
{
    gradebook_close(results->book);
    summary_clear(&results->summary);
    catalog_close(&results->catalog);
    marks_clear(&results->marks);
    marks_clear(&results->before);
}
