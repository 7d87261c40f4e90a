/* metric.h - named numbers (metrics) of a launch.
 *
 * Predictions use them (lab.ini), and `lab run --counters` prints them.  A metric is a counter of
 * the simulator, or a function of several counters. */
#ifndef CONVLAB_AUTOGRADER_LAB_METRIC_H
#define CONVLAB_AUTOGRADER_LAB_METRIC_H

#include <stdio.h>

#include "common/operations/operation/operation.h"
#include "common/cuda/device.h"
#include "common/simulator/machine/machine.h"

/* One run of a problem.  `machine` and `cost` are read only by metrics that need them. */
typedef struct MetricRun {
    const Operation *operation;
    const Problem *problem;
    const SimtMachine *machine;
    const DeviceCost *cost;
} MetricRun;

int metric_count(void);
const char *metric_name(int metric);
int metric_find(const char *name); /* -1: unknown name */
const char *metric_names(void);    /* comma-separated, for messages */
int metric_needs_launch(int metric);

/* -1 with the reason in `error` if the run has no such number (no launch, no shared loads). */
int metric_value(int metric, const MetricRun *run, double *value, Error *error);

/* Writes every metric of the run, one per line: name, tab, value. */
void metrics_write(FILE *stream, const MetricRun *run);

#endif
