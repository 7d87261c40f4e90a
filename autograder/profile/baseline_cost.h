/* baseline_cost.h - cost of the lab's baseline on the current case.  The baseline is a program of
 * its own, so it runs in a process of its own. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_BASELINE_COST_H
#define CONVLAB_AUTOGRADER_PROFILE_BASELINE_COST_H

#include "common/cuda/device.h"

/* In the child: writes the cost as raw bytes to standard output. */
int baseline_write_cost(const DeviceCost *cost);

/* Runs argv (argv[0] is the baseline's `run` program, the last is NULL) and reads its cost.  -1
 * with error: it did not start, or ended without a cost. */
int baseline_run(const char *const *argv, DeviceCost *cost, Error *error);

#endif
