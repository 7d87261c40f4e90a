/* speed_counted.h - speed of host labs, measured in instructions and cache misses, not in
 * seconds. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_SPEED_COUNTED_H
#define CONVLAB_AUTOGRADER_JUDGING_SPEED_COUNTED_H

#include "autograder/judging/speed.h"

/* As speed_measure: estimated cycles of all three programs into item->speed, and a measured time,
 * which is shown and not judged.  Requires that every case is correct, because it calls all
 * three. */
void speed_measure_counted(SpeedSetup *setup, const Problem *problem, Random *random,
                           RecordCase *item);

/* Counts of several cases, each in a session of its own, in parallel. */
typedef struct Counts Counts;

/* Starts to count the course's own programs on these cases, in parallel to other work; their cost
 * is the same every time.  speed_measure_counted finds the results.  Requires that baseline and
 * reference are built.  NULL: they are counted later, when needed. */
Counts *counts_begin_own(const SpeedSetup *setup, const PrecomputeCase *timed, int cases);
/* Starts to count the submission, which is correct in all cases, on these inputs.  NULL: as
 * above. */
Counts *counts_begin_submission(const SpeedSetup *setup, const PrecomputeCase *timed, int cases);
/* Waits for all counts and stores them in `cycles`, unless it is NULL; 0: no count.  `counts` may
 * be NULL. */
void counts_end(Counts *counts, uint64_t *cycles);

#endif
