/* summary.h - statistics of a class's marks: a line for each lab, and the distributions. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SUMMARY_H
#define CONVLAB_AUTOGRADER_CLASS_SUMMARY_H

#include <stdio.h>

#include "autograder/class/gradebook.h"
#include "autograder/lab/catalog.h"

enum { SUMMARY_LABS = 64, SUMMARY_BINS = 11 }; /* 0-9 %, 10-19 %, ..., 100 % */

typedef struct SummaryLab {
    const char *name;
    double *percent; /* per cent of its points, of each student's best graded result */
    size_t graded, missing, deferred, late, full, none; /* none: no points */
    size_t bin[SUMMARY_BINS];
} SummaryLab;

typedef struct Summary {
    SummaryLab lab[SUMMARY_LABS]; /* in the catalog's order */
    int labs;
} Summary;

/* Counts each student's best result of each lab.  -1 with error; summary_clear frees it. */
int summary_make(Gradebook *book, const Catalog *catalog, Summary *summary, Error *error);
void summary_clear(Summary *summary);

/* Mean, and quartile, of a lab with results.  A quartile is interpolated linearly, like
 * QUARTILE.INC of spreadsheets. */
double summary_mean(const SummaryLab *lab);
double summary_quartile(const SummaryLab *lab, int number); /* 1 to 3; 2: the median */

/* Number, mean, quartiles and extremes of each lab that has results; students without a submission
 * are counted separately. */
void summary_print(FILE *stream, const Summary *summary);
/* The same distributions as bars of text. */
void summary_bars(FILE *stream, const Summary *summary);
/* Writes distribution.svg and .png in `folder` with gnuplot.  -1 with error: there is no gnuplot,
 * or it fails. */
int summary_plot(const char *folder, const Summary *summary, Error *error);

#endif
