/* summary.h - the marks of a class at a glance: a line for each lab, and how they are spread. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SUMMARY_H
#define CONVLAB_AUTOGRADER_CLASS_SUMMARY_H

#include <stdio.h>

#include "autograder/class/gradebook.h"
#include "autograder/lab/catalog.h"

enum { SUMMARY_LABS = 64, SUMMARY_BINS = 11 }; /* 0-9 %, 10-19 %, ..., 100 % */

typedef struct SummaryLab {
    const char *name;
    double *percent; /* of its points, of each student's best result that was graded */
    size_t graded, missing, deferred, late, full, none; /* none: no points */
    size_t bin[SUMMARY_BINS];
} SummaryLab;

typedef struct Summary {
    SummaryLab lab[SUMMARY_LABS]; /* as in the catalog */
    int labs;
} Summary;

/* Counts each student's best result of each lab.  -1 with error; summary_clear frees it. */
int summary_make(Gradebook *book, const Catalog *catalog, Summary *summary, Error *error);
void summary_clear(Summary *summary);

/* Of a lab that has results.  A quartile lies between the two nearest, linearly: what spreadsheets
 * call QUARTILE.INC. */
double summary_mean(const SummaryLab *lab);
double summary_quartile(const SummaryLab *lab, int number); /* 1 to 3; 2: the median */

/* Number, mean, quartiles and extremes of each lab that has results; who handed in nothing for it
 * is counted apart. */
void summary_print(FILE *stream, const Summary *summary);
/* The same spread as bars of text. */
void summary_bars(FILE *stream, const Summary *summary);
/* distribution.svg and .png in `folder`, by gnuplot.  -1 with error: there is none, or it fails. */
int summary_plot(const char *folder, const Summary *summary, Error *error);

#endif
