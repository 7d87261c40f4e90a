#include "common/operations/operation/operation.h"

#include <stdio.h>
#include <string.h>

static const char *const NAME[] = {"fp32", "tf32", "fp16"};

const char *precision_name(Precision precision)
{
    return NAME[precision];
}

int precision_find(const char *name, Precision *precision)
{
    for (int i = PRECISION_FP32; i <= PRECISION_FP16; i++) {
        if (strcmp(name, NAME[i])) continue;
        *precision = (Precision)i;
        return 0;
    }
    return -1;
}

int algorithm_find(const char *name, Algorithm *algorithm)
{
    static const char *const NAME[] = {"sums", "winograd-4x4", "fft-64x64"};
    for (int i = ALGORITHM_SUMS; i <= ALGORITHM_FFT_64X64; i++) {
        if (strcmp(name, NAME[i])) continue;
        *algorithm = (Algorithm)i;
        return 0;
    }
    return -1;
}

double algorithm_saving(Algorithm algorithm)
{
    switch (algorithm) {
    case ALGORITHM_WINOGRAD_4X4:
        return 4;
    case ALGORITHM_FFT_64X64:
        return 32.0 * 32 * 33 * 33 / (4 * (64 * 64 / 2 + 2));
    default:
        return 1;
    }
}

size_t tensor_count(const TensorShape *shape)
{
    size_t count = 1;
    for (int i = 0; i < shape->rank; i++)
        count *= shape->dim[i];
    return count;
}

double tensors_bytes(const TensorShape *shape, int count)
{
    double elements = 0;
    for (int i = 0; i < count; i++)
        elements += (double)tensor_count(&shape[i]);
    return elements * sizeof(float);
}

void tensor_name(const TensorShape *shape, ArrayName *name)
{
    *name = (ArrayName){.rank = (uint32_t)shape->rank};
    snprintf(name->name, sizeof name->name, "%s", shape->name);
    for (int i = 0; i < shape->rank; i++) {
        name->dim[i] = shape->dim[i];
        name->axis[i] = shape->axes[i][0];
    }
}

void tensor_place(const TensorShape *shape, size_t index, char *where, size_t bytes)
{
    size_t at[TENSOR_RANK];
    char names[32] = "", values[64] = "";
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        at[axis] = index % shape->dim[axis];
        index /= shape->dim[axis];
    }
    for (int axis = 0; axis < shape->rank; axis++) {
        size_t used = strlen(names), filled = strlen(values);
        snprintf(names + used, sizeof names - used, "%s%s", axis ? "," : "", shape->axes[axis]);
        snprintf(values + filled, sizeof values - filled, "%s%zu", axis ? "," : "", at[axis]);
    }
    snprintf(where, bytes, "(%.31s) = (%.55s)", names, values);
}

void output_shape(const Operation *operation, const Problem *problem, TensorShape *shape)
{
    TensorShape all[OPERATION_TENSORS];
    int count = operation->tensors(problem, all);
    for (int i = 0; i < count; i++)
        if (all[i].role == TENSOR_OUTPUT) *shape = all[i];
}
