/* metric.h - the numbers of a launch that have a name.
 *
 * Predictions ask for them (lab.ini), and `lab run --counters` writes them down.  A metric is a
 * counter of the simulator as it is, or follows from a few of them. */
#ifndef CONVLAB_AUTOGRADER_LAB_METRIC_H
#define CONVLAB_AUTOGRADER_LAB_METRIC_H

#include <stdio.h>

#include "common/operations/operation/operation.h"
#include "common/cuda/device.h"
#include "common/simulator/machine/machine.h"

/* One run of a problem.  `machine` and `cost` are only read for what needs them. */
typedef struct MetricRun {
    const Operation *operation;
    const Problem *problem;
    const SimtMachine *machine;
    const DeviceCost *cost;
} MetricRun;

int metric_count(void);
const char *metric_name(int metric);
int metric_find(const char *name); /* -1: there is none */
const char *metric_names(void);    /* comma-separated, for messages */
int metric_needs_launch(int metric);

/* -1 with `error` when the run has no such number (no launch, no shared loads): it says why. */
int metric_value(int metric, const MetricRun *run, double *value, Error *error);

/* Every metric that the run has, a line each: name, tab, value. */
void metrics_write(FILE *stream, const MetricRun *run);

#endif
