/* speed_counted.h - the speed of a host lab: instructions and cache misses, not seconds. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_SPEED_COUNTED_H
#define CONVLAB_AUTOGRADER_JUDGING_SPEED_COUNTED_H

#include "autograder/judging/speed.h"

/* As speed_measure: estimated cycles of all three programs into item->speed, and a measured time
 * beside them, which is shown and not judged.  Needs every case right, since it calls all three. */
void speed_measure_counted(SpeedSetup *setup, const Problem *problem, Random *random,
                           RecordCase *item);

/* The workbook's own programs cost the same every time: those of these cases are counted from now
 * on, beside whatever runs, and speed_measure_counted finds what came out.  Wants baseline and
 * reference built.  NULL: they are counted when they are asked for. */
typedef struct OwnCounts OwnCounts;
OwnCounts *own_counts_begin(const SpeedSetup *setup, const AheadCase *timed, int count);
/* Waits for all; NULL is allowed. */
void own_counts_end(OwnCounts *counts);

#endif
