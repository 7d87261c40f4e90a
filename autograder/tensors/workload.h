/* workload.h - one problem's floats in this process: inputs are drawn, passed to a run, and outputs
 * read back. */
#ifndef CONVLAB_AUTOGRADER_TENSORS_WORKLOAD_H
#define CONVLAB_AUTOGRADER_TENSORS_WORKLOAD_H

#include "autograder/tensors/guarded.h"

/* The floats of one problem: inputs, which only the grader knows, and space for the output. */
typedef struct Workload {
    const Operation *operation;
    Problem problem;
    int tensors;
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS]; /* NULL for the output */
    float *output;
    size_t outputs;
} Workload;

/* -1 with error if memory is exhausted. */
int workload_open(const Operation *operation, const Problem *problem, Workload *workload,
                  Error *error);
/* Draws new inputs from `random`. */
void workload_fill(Workload *workload, Random *random);
void workload_close(Workload *workload);

/* Copies the tensors to memory that a run can access, with guard bands. */
int workload_place(const Workload *workload, Device *device, uint32_t band, GuardedTensors *tensors,
                   Error *error);
/* Limit of warp instructions of one call on the simulator, for all its launches together. */
double workload_instructions(const Operation *operation, const Problem *problem, double outputs);

/* Upper limit in seconds for the multiply-adds, from the simplest kernel on the slowest GPU;
 * solutions on an H200 need a hundredth of it or less. */
double workload_gpu_seconds(const Operation *operation, const Problem *problem);

/* The message about a call that exceeded the limit, on a line of its own. */
void workload_excess(double allowed, char *text, size_t bytes);

/* After the run: stores its output in workload->output, and the damage that it did. */
int workload_observe(Workload *workload, const GuardedTensors *tensors, Observed *observed,
                     Error *error);

#endif
