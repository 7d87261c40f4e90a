/* speed_counted.h - the speed of a host lab: instructions and cache misses, not seconds. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_SPEED_COUNTED_H
#define CONVLAB_AUTOGRADER_JUDGING_SPEED_COUNTED_H

#include "autograder/judging/speed.h"

/* As speed_measure: estimated cycles of all three programs into item->speed, and a measured time
 * beside them, which is shown and not judged.  Needs every case right, since it calls all three. */
void speed_measure_counted(SpeedSetup *setup, const Problem *problem, Random *random,
                           RecordCase *item);

/* Counts of some cases, each beside the others in a session of its own. */
typedef struct Counts Counts;

/* The workbook's own programs cost the same every time: those of these cases are counted from now
 * on, beside whatever runs, and speed_measure_counted finds what came out.  Wants baseline and
 * reference built.  NULL: they are counted when they are asked for. */
Counts *counts_begin_own(const SpeedSetup *setup, const AheadCase *timed, int cases);
/* The submission, which is right in all cases, on these inputs.  NULL: as above. */
Counts *counts_begin_submission(const SpeedSetup *setup, const AheadCase *timed, int cases);
/* Waits for all.  Into `cycles`, unless it is NULL, each count for SpeedSetup.counted; 0 where
 * there is none.  NULL counts are allowed. */
void counts_end(Counts *counts, uint64_t *cycles);

#endif
