/* workload.h - one problem's floats in this process: drawn, given to a run, read back. */
#ifndef CONVLAB_AUTOGRADER_TENSORS_WORKLOAD_H
#define CONVLAB_AUTOGRADER_TENSORS_WORKLOAD_H

#include "autograder/tensors/guarded.h"

/* The floats of one problem: inputs that only the grader made, and room for the output. */
typedef struct Workload {
    const Operation *operation;
    Problem problem;
    int tensors;
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS]; /* NULL for the output */
    float *output;
    size_t outputs;
} Workload;

/* -1 with error when memory is short. */
int workload_open(const Operation *operation, const Problem *problem, Workload *workload,
                  Error *error);
/* Fresh inputs from `random`. */
void workload_fill(Workload *workload, Random *random);
void workload_close(Workload *workload);

/* The same tensors in memory where a run can get at them, filled for it. */
int workload_place(const Workload *workload, Device *device, uint32_t band, GuardedTensors *tensors,
                   Error *error);
/* Warp instructions that one call may execute on the simulator, all its launches together. */
double workload_instructions(const Operation *operation, const Problem *problem, double outputs);

/* Seconds that the plainest kernel on the slowest card needs for the products at most; solutions on
 * an H200 need a hundredth of it and less. */
double workload_card_seconds(const Operation *operation, const Problem *problem);

/* What is said where a call wanted more, on a line of its own. */
void workload_excess(double allowed, char *text, size_t bytes);

/* After the run: its output into workload->output, and what else it left behind. */
int workload_observe(Workload *workload, const GuardedTensors *tensors, Observed *observed,
                     Error *error);

#endif
