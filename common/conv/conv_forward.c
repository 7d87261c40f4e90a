/* conv_forward.c - forward convolution on the device, and the same on the host under another entry
 * point. */
#include "common/conv/conv_problem.h"

enum { TENSOR_X, TENSOR_W, TENSOR_Y, TENSORS };

static int conv_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    ConvProblem c = conv_unpack(problem);
    shape[TENSOR_X] = (TensorShape){.name = "x",
                                    .role = TENSOR_INPUT,
                                    .rank = 4,
                                    .dim = {c.N, c.C, c.H, c.W},
                                    .axes = {"n", "c", "h", "w"}};
    shape[TENSOR_W] = (TensorShape){.name = "w",
                                    .role = TENSOR_INPUT,
                                    .rank = 4,
                                    .dim = {c.K, c.C, c.R, c.S},
                                    .axes = {"k", "c", "r", "s"}};
    shape[TENSOR_Y] = (TensorShape){.name = "y",
                                    .role = TENSOR_OUTPUT,
                                    .rank = 4,
                                    .dim = {c.N, c.K, c.P, c.Q},
                                    .axes = {"n", "k", "p", "q"}};
    return TENSORS;
}

static double conv_flops(const Problem *problem)
{
    ConvProblem conv = conv_unpack(problem);
    return 2 * conv_macs(&conv);
}

static double conv_least_bytes(const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    double floats = 0;
    for (int i = 0, count = conv_tensors(problem, shape); i < count; i++)
        floats += (double)tensor_count(&shape[i]);
    return floats * sizeof(float);
}

/* Exponents over twelve octaves in both factors: a few products dominate each sum, other ones in
 * every output.  So a lost product stands out somewhere, and so do rounded inputs, however many
 * products there are. */
static void conv_generate(const Problem *problem, Random *random, float *const *tensor)
{
    TensorShape shape[OPERATION_TENSORS];
    conv_tensors(problem, shape);
    for (int t = TENSOR_X; t <= TENSOR_W; t++)
        for (size_t i = 0, count = tensor_count(&shape[t]); i < count; i++)
            tensor[t][i] = random_wide(random);
}

#define CONV_FORWARD(entry)                                                                        \
    {                                                                                              \
        .name = entry, .parse = conv_parse, .print = conv_print, .draw = conv_draw,                \
        .tensors = conv_tensors, .flops = conv_flops, .least_bytes = conv_least_bytes,             \
        .generate = conv_generate, .oracle = conv_oracle                                           \
    }

extern const Operation conv_forward_operation, conv_forward_host_operation;
const Operation conv_forward_operation = CONV_FORWARD("conv_forward");
const Operation conv_forward_host_operation = CONV_FORWARD("conv_forward_host");
