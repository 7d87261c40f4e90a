#include "common/conv/operation.h"

#include <string.h>

extern const Operation conv_forward_operation, conv_forward_host_operation;

/* Every operation there is; operation_names() spells the same list. */
static const Operation *const operations[] = {&conv_forward_operation,
                                              &conv_forward_host_operation};

const Operation *operation_find(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i]->name, name) == 0) return operations[i];
    return NULL;
}

const char *operation_names(void)
{
    return "conv_forward, conv_forward_host";
}

int precision_find(const char *name, Precision *precision)
{
    static const char *const NAME[] = {"fp32", "tf32", "fp16"};
    for (int i = PRECISION_FP32; i <= PRECISION_FP16; i++) {
        if (strcmp(name, NAME[i])) continue;
        *precision = (Precision)i;
        return 0;
    }
    return -1;
}

size_t tensor_count(const TensorShape *shape)
{
    size_t count = 1;
    for (int i = 0; i < shape->rank; i++)
        count *= shape->dim[i];
    return count;
}
