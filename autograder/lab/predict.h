/* predict.h - what students said before measuring, and what the simulator's counters answer. */
#ifndef CONVLAB_AUTOGRADER_LAB_PREDICT_H
#define CONVLAB_AUTOGRADER_LAB_PREDICT_H

#include "common/conv/operation.h"
#include "common/cuda/device.h"
#include "common/simt/machine.h"

typedef enum Metric {
    METRIC_BLOCKS,
    METRIC_THREADS_PER_BLOCK,
    METRIC_WARPS,
    METRIC_WAVES,
    METRIC_RESIDENT_BLOCKS,
    METRIC_REGISTERS,
    METRIC_BLOCKS_BY_REGISTERS,
    METRIC_BLOCKS_BY_SHARED,
    METRIC_FULL_WAVE,
    METRIC_SHARED_BYTES_PER_BLOCK,
    METRIC_GLOBAL_LOAD_BYTES,
    METRIC_GLOBAL_LOAD_SECTORS,
    METRIC_SECTORS_PER_LOAD,
    METRIC_SECTORS_PER_STORE,
    METRIC_BYTES_PER_FLOP,
    METRIC_SHARED_WAVEFRONTS_PER_LOAD,
    METRIC_LOCAL_SECTORS,
    METRIC_THREAD_INSTRUCTIONS,
    METRIC_INPUT_LOAD_REDUCTION,
    METRIC_LEAST_BYTES,
    METRIC_FLOPS,
    METRICS
} Metric;

const char *metric_name(Metric metric);
int metric_find(const char *name); /* a Metric, or -1 */
const char *metric_names(void);    /* comma-separated, for messages */
int metric_needs_launch(Metric metric);

/* The true value for one run of `problem` on `machine`.  -1 with `error` when the run has none (no
 * launch, no shared loads): the message says why. */
int metric_value(Metric metric, const Operation *operation, const Problem *problem,
                 const DeviceCost *cost, const SimtMachine *machine, double *value, Error *error);

/* The part of a prediction's points that `answer` earns, 0..1: all within `tolerance` (relative),
 * none from ten times that on, a straight line between; tolerance 0 asks for the exact number. */
double predict_part(double answer, double truth, double tolerance);

enum { PREDICT_ANSWERS = 32 };

typedef struct PredictAnswer {
    char name[48];
    double value;
} PredictAnswer;

typedef struct PredictFile {
    PredictAnswer answer[PREDICT_ANSWERS];
    int answers;
} PredictFile;

/* Reads predict.ini; a file that is not there has no answers.  `name` lists the lab's predictions
 * (NULL-terminated): any other key is refused with its line. */
int predict_read(const char *path, const char *shown, const char *const *name, PredictFile *file,
                 Error *error);
/* NULL: not answered. */
const double *predict_find(const PredictFile *file, const char *name);

#endif
