/* conv_forward.c - forward convolution on the device, and on the host with another entry point. */
#include <string.h>

#include "common/operations/conv/conv_problem.h"
#include "common/operations/conv_diagnosis/explain.h"
#include "common/operations/conv/layout.h"
#include "common/operations/conv/maps.h"

enum { TENSOR_X, TENSOR_W, TENSOR_Y, TENSORS };

/* A tensor of `images` x `channels` x height x width in the problem's layout. */
static TensorShape tensor_shape(int layout, const char *name, TensorRole role, const int extent[4],
                                const char *const axis[4])
{
    static const int ORDER[][4] = {
        [CONV_NCHW] = {0, 1, 2, 3}, [CONV_NHWC] = {0, 2, 3, 1}, [CONV_CHWN] = {1, 2, 3, 0}};
    TensorShape shape = {.name = name, .role = role, .rank = 4};
    for (int i = 0; i < 4; i++) {
        shape.dim[i] = (size_t)extent[ORDER[layout][i]];
        shape.axes[i] = axis[ORDER[layout][i]];
    }
    return shape;
}

static int conv_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    static const char *const X[] = {"n", "c", "h", "w"}, *const W[] = {"k", "c", "r", "s"},
                             *const Y[] = {"n", "k", "p", "q"};
    ConvProblem v = conv_unpack(problem);
    shape[TENSOR_X] = tensor_shape(v.layout, "x", TENSOR_INPUT, (int[]){v.N, v.C, v.H, v.W}, X);
    shape[TENSOR_W] = tensor_shape(v.layout, "w", TENSOR_INPUT, (int[]){v.K, v.C, v.R, v.S}, W);
    int pool = v.pool ? v.pool : 1;
    shape[TENSOR_Y] =
        tensor_shape(v.layout, "y", TENSOR_OUTPUT, (int[]){v.N, v.K, v.P / pool, v.Q / pool}, Y);
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
    return tensors_bytes(shape, conv_tensors(problem, shape));
}

/* Sets `zeros` percent of `count` values to zero, with equal probability for every choice (Knuth,
 * The Art of Computer Programming, volume 2, algorithm S of section 3.4.2). */
static void scatter_zeros(float *value, size_t count, int zeros, Random *random)
{
    size_t left = (count * (size_t)zeros + 50) / 100;
    for (size_t i = 0; left; i++) {
        if ((double)(count - i) * random_unit(random) >= (double)left) continue;
        value[i] = 0;
        left--;
    }
}

/* Sets the first non-zero value to 1, because a kernel may skip zeros only. */
static void plant_one(float *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (value[i] != 0) {
            value[i] = 1;
            return;
        }
}

/* Exponents over twelve octaves in both factors: a few terms dominate each sum, different ones in
 * every output.  So a missing term is visible in some output, and so are rounded inputs, for any
 * number of terms. */
static void conv_generate(const Problem *problem, Random *random, float *const *tensor)
{
    TensorShape shape[OPERATION_TENSORS];
    ConvProblem conv = conv_unpack(problem);
    conv_tensors(problem, shape);
    for (int t = TENSOR_X; t <= TENSOR_W; t++) {
        size_t count = tensor_count(&shape[t]);
        Random own;
        random_child(random, shape[t].name, &own);
        random_wide_fill(&own, tensor[t], count);
        if (t == TENSOR_X && conv.zeros) {
            maps_rectify(tensor[t], (size_t)conv.N * conv.C, conv.H, conv.W, conv.zeros, &own);
            plant_one(tensor[t], count);
        }
        if (t == TENSOR_W && conv.w_zeros) scatter_zeros(tensor[t], count, conv.w_zeros, &own);
    }
}

extern const Operation conv_forward_operation;
const Operation conv_forward_operation = {.name = "conv_forward",
                                          .example = "N=2 C=3 H=13 W=11 K=5 R=3 S=3 pad=1 stride=1",
                                          .parse = conv_parse,
                                          .print = conv_print,
                                          .draw = conv_draw,
                                          .tensors = conv_tensors,
                                          .numbers = conv_numbers,
                                          .flops = conv_flops,
                                          .least_bytes = conv_least_bytes,
                                          .generate = conv_generate,
                                          .oracle = conv_oracle,
                                          .oracle_element = conv_oracle_element,
                                          .rearrange = layout_rearrange,
                                          .explain = conv_explain};
