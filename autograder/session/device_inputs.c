/* device_inputs.c - the inputs of the current problem, as grade sent them. */
#include <stdlib.h>
#include <string.h>

#include "autograder/session/device_parts.h"

uint64_t call_floats(const CallRequest *call, TensorRole role)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < call->tensors; i++)
        if (call->role[i] == role) sum += call->count[i];
    return sum;
}

void inputs_clear(Inputs *inputs)
{
    free(inputs->body);
    *inputs = (Inputs){0};
}

int inputs_take(Inputs *inputs, const CallRequest *call, void *body, uint64_t offset,
                uint64_t bytes, Error *error)
{
    const float *at = (const float *)((const char *)body + offset);
    inputs_clear(inputs);
    inputs->body = body;
    if (bytes != offset + call_floats(call, TENSOR_INPUT) * sizeof(float))
        return error_set(error, "the inputs do not have the problem's size");
    for (uint32_t i = 0; i < call->tensors; i++) {
        if (call->role[i] != TENSOR_INPUT) continue;
        inputs->tensor[i] = at;
        at += call->count[i];
    }
    return 0;
}
