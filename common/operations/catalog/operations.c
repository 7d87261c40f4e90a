#include "common/operations/catalog/operations.h"

#include <stdio.h>
#include <string.h>

#include "common/operations/int8/quantize.h"

extern const Operation brighten_operation;
extern const Operation conv_forward_operation;
extern const Operation pool_forward_operation;
extern const Operation activate_forward_operation;
extern const Operation fc_forward_operation;
extern const Operation softmax_forward_operation;
extern const Operation lenet_forward_operation;
extern const Operation conv_backward_data_operation;
extern const Operation conv_backward_filter_operation;
extern const Operation train_step_operation;
extern const Operation electrode_forward_operation;
extern const Operation tail_waves_operation;
extern const Operation tail_widths_operation;
extern const Operation grouped_forward_operation;
extern const Operation separable_forward_operation;

static const Operation *const operations[] = {
    &brighten_operation,         &conv_forward_operation,       &pool_forward_operation,
    &activate_forward_operation, &fc_forward_operation,         &softmax_forward_operation,
    &lenet_forward_operation,    &conv_backward_data_operation, &conv_backward_filter_operation,
    &train_step_operation,       &electrode_forward_operation,  &tail_waves_operation,
    &tail_widths_operation,      &grouped_forward_operation,    &separable_forward_operation,
    &quantize_operation,         &conv_int8_operation,
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

const Operation *operation_find(const char *name)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (strcmp(operations[i]->name, name) == 0) return operations[i];
    return NULL;
}

const char *operation_names(void)
{
    static char names[64 * OPERATIONS];
    size_t used = 0;
    for (size_t i = 0; i < OPERATIONS; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 operations[i]->name);
    return names;
}
