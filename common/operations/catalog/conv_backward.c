#include "common/operations/catalog/conv_backward.h"

#include <string.h>

/* ---- the problem as text ----------------------------------------------------------------- */

int conv_backward_parse(const char *text, Problem *problem, Error *error)
{
    if (conv_parse(text, problem, error)) return -1;
    if (conv_reversed(problem)) return error_set(error, "gradients have no reversed axes");
    ConvProblem conv = conv_unpack(problem);
    if (conv.layout != CONV_NCHW || conv.pool || conv.zeros || conv.w_zeros)
        return error_set(error,
                         "a gradient's problem has no layout, zeros or pool: its tensors are "
                         "NCHW, dense and not pooled");
    return 0;
}

/* ---- hidden problems --------------------------------------------------------------------- */

/* Windows with gaps between them: dx is zero there. */
static void draw_gaps(Random *random, ConvProblem *conv)
{
    conv->R = random_range(random, 1, 2);
    conv->S = random_range(random, 1, 2);
    conv->stride_h = conv->R + random_range(random, 1, 2);
    conv->stride_w = conv->S + random_range(random, 1, 2);
    conv->pad_top = random_range(random, 0, 1);
    conv->pad_left = random_range(random, 0, 1);
}

/* Different strides, filters with even and odd sides, different padding on each side. */
static void draw_unequal(Random *random, ConvProblem *conv)
{
    int down = random_range(random, 0, 1);
    conv->R = random_range(random, 3, 5);
    conv->S = conv->R ^ 1;
    conv->stride_h = down ? 3 : 1;
    conv->stride_w = down ? 2 : 3;
    conv->pad_top = random_range(random, 0, 2);
    conv->pad_left = (conv->pad_top + 1) % 3;
    conv->pad_bottom = (conv->pad_top + 2) % 3;
    conv->pad_right = conv->pad_top;
}

/* The last rows and columns are too few for another window: their dx is zero. */
static void draw_leftover(Random *random, ConvProblem *conv)
{
    conv->R = 3;
    conv->S = 2;
    conv->stride_h = 4;
    conv->stride_w = 3;
    conv->H = conv->R + conv->stride_h * random_range(random, 2, 4) + random_range(random, 1, 3);
    conv->W = conv->S + conv->stride_w * random_range(random, 3, 5) + random_range(random, 1, 2);
}

/* A problem without a special kind is drawn first, and reduced first. */
static void draw_own(Random *random, int kind, double max_macs, ConvProblem *conv)
{
    static void (*const own[])(Random *, ConvProblem *) = {draw_gaps, draw_unequal, draw_leftover};
    *conv = (ConvProblem){.N = random_range(random, 2, 3),
                          .C = random_range(random, 2, 7),
                          .H = random_range(random, 9, 21),
                          .W = random_range(random, 9, 21),
                          .K = random_range(random, 3, 9),
                          .stride_h = 1,
                          .stride_w = 1};
    own[(unsigned)kind % (sizeof own / sizeof *own)](random, conv);
    conv_derive(conv, NULL);
    while (conv_macs(conv) > max_macs && conv->N + conv->C + conv->K > 3) {
        int *most = conv->K >= conv->C ? &conv->K : &conv->C;
        if (*most == 1) most = &conv->N;
        --*most;
    }
}

void conv_backward_draw(Random *random, int index, double max_macs, Problem *problem)
{
    ConvProblem conv;
    if (index % 2 == 0) {
        conv_draw(random, index / 2, max_macs, problem);
        return;
    }
    draw_own(random, index / 2, max_macs, &conv);
    conv_pack(&conv, problem);
}

/* ---- tensors and cost -------------------------------------------------------------------- */

static TensorShape shape_of(const char *name, TensorRole role, const int extent[4],
                            const char *const axis[4])
{
    TensorShape shape = {.name = name, .role = role, .rank = 4};
    for (int i = 0; i < 4; i++) {
        shape.dim[i] = (size_t)extent[i];
        shape.axes[i] = axis[i];
    }
    return shape;
}

TensorShape conv_backward_shape_x(const ConvProblem *v, const char *name, TensorRole role)
{
    static const char *const axis[] = {"n", "c", "h", "w"};
    return shape_of(name, role, (int[]){v->N, v->C, v->H, v->W}, axis);
}

TensorShape conv_backward_shape_w(const ConvProblem *v, const char *name, TensorRole role)
{
    static const char *const axis[] = {"k", "c", "r", "s"};
    return shape_of(name, role, (int[]){v->K, v->C, v->R, v->S}, axis);
}

TensorShape conv_backward_shape_y(const ConvProblem *v, const char *name, TensorRole role)
{
    static const char *const axis[] = {"n", "k", "p", "q"};
    return shape_of(name, role, (int[]){v->N, v->K, v->P, v->Q}, axis);
}

double conv_backward_flops(const Problem *problem)
{
    ConvProblem conv = conv_unpack(problem);
    return 2 * conv_macs(&conv);
}

double conv_backward_least_bytes(const Operation *operation, const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    return tensors_bytes(shape, operation->tensors(problem, shape));
}

void conv_backward_generate(const Operation *operation, const Problem *problem, Random *random,
                            float *const *tensor)
{
    TensorShape shape[OPERATION_TENSORS];
    for (int i = 0, count = operation->tensors(problem, shape); i < count; i++) {
        Random own;
        if (shape[i].role != TENSOR_INPUT) continue;
        random_child(random, shape[i].name, &own);
        random_wide_fill(&own, tensor[i], tensor_count(&shape[i]));
    }
}
