#include "autograder/tensors/workload.h"

#include <stdlib.h>

int workload_open(const Operation *operation, const Problem *problem, Workload *workload,
                  Error *error)
{
    *workload = (Workload){.operation = operation, .problem = *problem};
    workload->tensors = operation->tensors(problem, workload->shape);
    for (int i = 0; i < workload->tensors; i++) {
        size_t count = tensor_count(&workload->shape[i]);
        float *floats = malloc(count * sizeof *floats);
        if (!floats) {
            workload_close(workload);
            return error_set(error, "out of memory for a tensor of %zu floats", count);
        }
        if (workload->shape[i].role == TENSOR_OUTPUT) {
            workload->output = floats;
            workload->outputs = count;
        } else {
            workload->tensor[i] = floats;
        }
    }
    return 0;
}

void workload_fill(Workload *workload, Random *random)
{
    workload->operation->generate(&workload->problem, random, workload->tensor);
}

void workload_close(Workload *workload)
{
    for (int i = 0; i < OPERATION_TENSORS; i++)
        free(workload->tensor[i]);
    free(workload->output);
    *workload = (Workload){0};
}
