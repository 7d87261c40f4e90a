/* report.h - a result record as a person reads it at a terminal. */
#ifndef CONVLAB_AUTOGRADER_RECORD_REPORT_H
#define CONVLAB_AUTOGRADER_RECORD_REPORT_H

#include <stdio.h>

#include "autograder/record/record.h"

/* The compiler's lines if it did not compile; else the table, diagnoses, predictions, where the
 * grade was earned. */
void report_print(FILE *stream, const Record *record, int verbose);

/* The counters of one run as a table: instructions, bytes, sectors per request, wavefronts,
 * divergence, occupancy.  With those of the baseline beside them, unless it is NULL. */
void report_counters(FILE *stream, int indent, const DeviceCost *cost, const DeviceCost *baseline);

#endif
