/* spread.h - distribution of a lab's marks as a small bar chart in an HTML page. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_SPREAD_H
#define CONVLAB_AUTOGRADER_EXPORT_SPREAD_H

#include <stdio.h>

#include "autograder/class/summary.h"

/* One column per tenth of the points, the last one for full points.  The column of `own` per cent
 * is marked; below 0: none. */
void spread_write(FILE *stream, const SummaryLab *lab, double own);

#endif
