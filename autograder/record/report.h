/* report.h - text form of a record for the terminal. */
#ifndef CONVLAB_AUTOGRADER_RECORD_REPORT_H
#define CONVLAB_AUTOGRADER_RECORD_REPORT_H

#include <stdio.h>

#include "autograder/record/record.h"

typedef enum ReportDepth {
    REPORT_SCREEN, /* after an error: one screen that ends with the error to fix first */
    REPORT_TABLES, /* every case with its message, every prediction */
    REPORT_VERBOSE /* also the counters of each case, and the phases of the grading time */
} ReportDepth;

/* The compiler's output if it did not compile; else cases, predictions, the machine used for
 * grading, and after an error its cause, its source lines and its hint. */
void report_print(FILE *stream, const Record *record, ReportDepth depth);

/* "12,345" for cycles, "1.23 ms" for seconds; "" for none. */
const char *report_cost(const char *unit, double cost, char text[40]);
/* "87.5/100". */
const char *report_points(double points, double possible, char text[72]);

/* The counters of one run as a table: instructions, bytes, sectors per request, wavefronts,
 * divergence, occupancy.  A second column has those of `other`, titled `called`, unless `other` is
 * NULL. */
void report_counters(FILE *stream, int indent, const DeviceCost *cost, const DeviceCost *other,
                     const char *called);

#endif
