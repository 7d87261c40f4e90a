/* class_results.h - all that is known of a class: its gradebook, the best marks in it, and those of
 * the run before. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_CLASS_RESULTS_H
#define CONVLAB_AUTOGRADER_EXPORT_CLASS_RESULTS_H

#include "autograder/class/summary.h"
#include "autograder/export/marks.h"
#include "autograder/lab/catalog.h"

typedef struct ClassResults {
    Catalog catalog;
    Gradebook *book;
    Summary summary;
    Marks marks;
    int compared; /* `before` was read */
    Marks before;
} ClassResults;

/* `since` is the gradebook of the run before, or NULL; one that is not there is none.  `root` is
 * the workbook's.  -1 with error; either way class_results_close frees it. */
int class_results_open(const char *gradebook, const char *since, const char *root,
                       ClassResults *results, Error *error);
void class_results_close(ClassResults *results);

#endif
