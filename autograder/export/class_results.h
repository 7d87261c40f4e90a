/* class_results.h - results of a class: its gradebook, its best marks, and those of the previous
 * run. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_CLASS_RESULTS_H
#define CONVLAB_AUTOGRADER_EXPORT_CLASS_RESULTS_H

#include "autograder/class/progress.h"
#include "autograder/class/summary.h"
#include "autograder/export/marks.h"
#include "autograder/lab/catalog.h"

/* People whom an import format cannot name. */
typedef struct LeftOut {
    size_t count;
    char lacks[80], names[300]; /* the first names */
} LeftOut;

typedef struct ClassResults {
    Catalog catalog;
    Gradebook *book;
    Summary summary;
    Progress progress; /* the rows of progress.tsv next to the gradebook */
    Marks marks;
    int compared; /* Boolean: `before` was read */
    Marks before;
    /* Set by the caller; NULL or 0: not given. */
    const char *items;  /* the platform's names of labs, "04=Lab 4 (1234); 05=..." */
    const char *course; /* Open edX's course ID */
    int is_anonymous;   /* Boolean: the page shows no names */
    LeftOut *left_out;
} ClassResults;

/* `since` is the gradebook of the previous run, or NULL; a missing file counts as NULL, and so does
 * one of an older version.  `root` is the course's root folder.  `lab`: only this lab, or NULL.  -1
 * with error; either way class_results_close frees it. */
int class_results_open(const char *gradebook, const char *since, const char *root, const char *lab,
                       ClassResults *results, Error *error);
void class_results_close(ClassResults *results);

void left_out_add(LeftOut *left_out, const char *name, const char *lacks);

/* "2 days", "3 h", "10 min": a duration to read, rounded up. */
const char *late_text(int64_t seconds, char text[40]);

#endif
