/* report.h - a result record as a person reads it at a terminal. */
#ifndef CONVLAB_AUTOGRADER_RECORD_REPORT_H
#define CONVLAB_AUTOGRADER_RECORD_REPORT_H

#include <stdio.h>

#include "autograder/record/record.h"

typedef enum ReportDepth {
    REPORT_SCREEN, /* where something is wrong: a screen that ends with what to mend first */
    REPORT_TABLES, /* every case with what is said of it, every prediction */
    REPORT_VERBOSE /* the counters of each case, and what the grade's seconds went into */
} ReportDepth;

/* The compiler's lines if it did not compile; else cases, predictions, where the grade was earned,
 * and last, where something is wrong, its cause, its lines of the source and its hint. */
void report_print(FILE *stream, const Record *record, ReportDepth depth);

/* "12,345" for cycles, "1.23 ms" for seconds; "" for none. */
const char *report_cost(const char *unit, double cost, char text[40]);
/* "87.5/100". */
const char *report_points(double points, double possible, char text[72]);

/* The counters of one run as a table: instructions, bytes, sectors per request, wavefronts,
 * divergence, occupancy.  With those of `other` beside them, which is `called` so, unless it is
 * NULL. */
void report_counters(FILE *stream, int indent, const DeviceCost *cost, const DeviceCost *other,
                     const char *called);

#endif
