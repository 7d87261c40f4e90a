/* run_memory.h - a problem's tensors on a Device in this process, between guard bands. */
#ifndef CONVLAB_AUTOGRADER_TENSORS_RUN_MEMORY_H
#define CONVLAB_AUTOGRADER_TENSORS_RUN_MEMORY_H

#include "autograder/tensors/workload.h"
#include "common/conv/verdict.h"
#include "common/cuda/device.h"

typedef struct RunMemory {
    Device *device;
    int tensors;
    uint64_t base[OPERATION_TENSORS]; /* of the allocation; the tensor begins a guard band later */
    size_t count[OPERATION_TENSORS];
} RunMemory;

/* Allocates and fills: inputs from the workload, outputs poisoned, guard bands filled. */
int run_memory_open(Device *device, const Workload *workload, RunMemory *memory, Error *error);
void run_memory_close(RunMemory *memory);

/* The address of tensor i, as the entry point gets it. */
uint64_t run_memory_address(const RunMemory *memory, int i);

/* Reads the output into workload->output and says what else the run left behind. */
int run_memory_observe(RunMemory *memory, Workload *workload, Observed *observed, Error *error);

#endif
