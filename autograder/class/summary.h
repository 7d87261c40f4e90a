/* summary.h - statistics of a class's marks: a line for each lab, and the distributions. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SUMMARY_H
#define CONVLAB_AUTOGRADER_CLASS_SUMMARY_H

#include <stdio.h>

#include "autograder/class/gradebook.h"
#include "autograder/lab/catalog.h"

enum { SUMMARY_LABS = 64, SUMMARY_BINS = 11 }; /* 0-9 %, 10-19 %, ..., 100 % */

typedef struct SummaryLab {
    const char *name;
    double *percent; /* per cent of its points, of each student's best graded result, after the
                      * penalty for lateness */
    size_t graded, deferred, late, full, none; /* none: no points */
    /* No points either: a submission without this lab, one that cannot be read, no submission. */
    size_t missing, refused, absent;
    size_t bin[SUMMARY_BINS];
} SummaryLab;

typedef struct Summary {
    SummaryLab lab[SUMMARY_LABS]; /* in the catalog's order */
    int labs;
    size_t students; /* on the roster, or with a submission */
    char **refused;  /* "<lab>\t<submission>" of those that cannot be read */
    size_t refused_count;
} Summary;

/* Counts each student's best result of each lab.  -1 with error; summary_clear frees it. */
int summary_make(Gradebook *book, const Catalog *catalog, Summary *summary, Error *error);
void summary_clear(Summary *summary);

/* Number of students whose mark is known: all but those whose grade is deferred. */
size_t summary_marks(const SummaryLab *lab);
/* Mean, and quartile, of all known marks, where what is missing, refused or absent is 0.  A
 * quartile is interpolated linearly, like QUARTILE.INC of spreadsheets.  At least one mark is
 * known. */
double summary_mean(const SummaryLab *lab);
double summary_quartile(const SummaryLab *lab, int number); /* 1 to 3; 2: the median */

/* Number, mean, quartiles and extremes of each lab that has results; students without a submission
 * are counted separately. */
void summary_print(FILE *stream, const Summary *summary);
/* The entries that were not graded, a line for each.  -1 with error. */
int summary_entries(FILE *stream, Gradebook *book, Error *error);
/* The same distributions as bars of text. */
void summary_bars(FILE *stream, const Summary *summary);
/* Writes distribution.svg and .png in `folder` with gnuplot.  -1 with error: there is no gnuplot,
 * or it fails. */
int summary_plot(const char *folder, const Summary *summary, Error *error);

#endif
