/* speed_paired.h - timing on hardware whose times vary: interleaved pairs, repeated until the
 * confidence interval is narrow. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_SPEED_PAIRED_H
#define CONVLAB_AUTOGRADER_JUDGING_SPEED_PAIRED_H

#include "autograder/judging/speed.h"

/* As speed_measure, on a GPU. */
void speed_measure_paired(SpeedSetup *setup, const Problem *problem, Random *random,
                          RecordCase *item);

#endif
