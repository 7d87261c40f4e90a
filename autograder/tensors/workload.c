#include "autograder/tensors/workload.h"

#include <stdio.h>
#include <stdlib.h>

/* The simplest kernel needs about 0.7 warp instructions for each multiply-add, and up to 60 for
 * each output if its blocks are larger than the maps (lab 02, many-maps).  Tiles for 128 images
 * need 10 million if there is one image (lab 05, hidden shapes).  Every case of the solutions
 * stays below this limit by a factor of at least 16, and most by a factor of 50. */
double workload_instructions(const Operation *operation, const Problem *problem, double outputs)
{
    static const double PER_PRODUCT = 64, PER_OUTPUT = 500, AT_LEAST = 200e6;
    return AT_LEAST + PER_PRODUCT * operation->flops(problem) / 2 + PER_OUTPUT * outputs;
}

double workload_gpu_seconds(const Operation *operation, const Problem *problem)
{
    static const double PRODUCTS = 5e9;
    return operation->flops(problem) / 2 / PRODUCTS;
}

void workload_excess(double allowed, char *text, size_t bytes)
{
    snprintf(text, bytes,
             "\n"
             "All launches of this call together may execute %.0f million warp instructions; no "
             "reference solution needs half of that.",
             1e-6 * allowed);
}

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

int workload_place(const Workload *workload, Device *device, uint32_t band, GuardedTensors *tensors,
                   Error *error)
{
    uint32_t role[OPERATION_TENSORS];
    uint64_t floats[OPERATION_TENSORS];
    ArrayName name[OPERATION_TENSORS];
    for (int i = 0; i < workload->tensors; i++) {
        tensor_name(&workload->shape[i], &name[i]);
        role[i] = workload->shape[i].role;
        floats[i] = tensor_count(&workload->shape[i]);
    }
    if (guarded_open(tensors, device, (uint32_t)workload->tensors, role, floats, name, band, error))
        return -1;
    if (!guarded_fill(tensors, (const float *const *)workload->tensor, error)) return 0;
    guarded_close(tensors);
    return -1;
}

int workload_observe(Workload *workload, const GuardedTensors *tensors, Observed *observed,
                     Error *error)
{
    Damage damage;
    *observed = (Observed){.output = workload->output};
    if (guarded_check(tensors, (const float *const *)workload->tensor, workload->output, &damage,
                      error))
        return -1;
    damage_name(&damage, workload->shape, tensors->count, observed);
    return 0;
}
