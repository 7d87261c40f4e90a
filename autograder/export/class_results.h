/* class_results.h - results of a class: its gradebook, its best marks, and those of the previous
 * run. */
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
    int compared; /* Boolean: `before` was read */
    Marks before;
} ClassResults;

/* `since` is the gradebook of the previous run, or NULL; a missing file counts as NULL.  `root` is
 * the course's root folder.  -1 with error; either way class_results_close frees it. */
int class_results_open(const char *gradebook, const char *since, const char *root,
                       ClassResults *results, Error *error);
void class_results_close(ClassResults *results);

#endif
