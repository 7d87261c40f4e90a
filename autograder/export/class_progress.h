/* class_progress.h - progress of a class over the weeks, on its HTML page. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_CLASS_PROGRESS_H
#define CONVLAB_AUTOGRADER_EXPORT_CLASS_PROGRESS_H

#include <stdio.h>

#include "autograder/class/progress.h"

/* Writes a row for each lab and a column for each of the last eight weeks that have runs.  A cell
 * has the mean and the number of students with all points after the week's last run.  Nothing if
 * there are fewer than two weeks. */
void class_progress_write(FILE *stream, const Progress *progress, const Catalog *catalog);

#endif
