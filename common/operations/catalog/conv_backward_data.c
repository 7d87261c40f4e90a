/* conv_backward_data.c - the gradient of a convolution with respect to its input: dx from dy and w.
 */
#include <math.h>
#include <stdlib.h>

#include "common/operations/catalog/conv_backward.h"
#include "common/operations/conv_diagnosis/conv_backward_explain.h"

enum { TENSOR_DY, TENSOR_W, TENSOR_DX, TENSORS };

static int data_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    ConvProblem v = conv_unpack(problem);
    shape[TENSOR_DY] = conv_backward_shape_y(&v, "dy", TENSOR_INPUT);
    shape[TENSOR_W] = conv_backward_shape_w(&v, "w", TENSOR_INPUT);
    shape[TENSOR_DX] = conv_backward_shape_x(&v, "dx", TENSOR_OUTPUT);
    return TENSORS;
}

/* ---- one element by the definition ------------------------------------------------------- */

/* The output whose window starts at input `from` - `tap`; -1: there is none. */
static int output_under(int from, int tap, int stride, int outputs)
{
    int at = from - tap;
    return at >= 0 && at % stride == 0 && at / stride < outputs ? at / stride : -1;
}

static void data_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                                double value[3])
{
    ConvProblem v = conv_unpack(problem);
    int w = (int)(index % (size_t)v.W), h = (int)(index / (size_t)v.W % (size_t)v.H);
    size_t plane = index / ((size_t)v.H * v.W);
    int c = (int)(plane % (size_t)v.C), n = (int)(plane / (size_t)v.C);
    value[0] = value[1] = value[2] = 0;
    for (int k = 0; k < v.K; k++)
        for (int r = 0; r < v.R; r++)
            for (int s = 0; s < v.S; s++) {
                int p = output_under(h + v.pad_top, r, v.stride_h, v.P);
                int q = output_under(w + v.pad_left, s, v.stride_w, v.Q);
                if (p < 0 || q < 0) continue;
                size_t at_dy = (((size_t)n * v.K + k) * v.P + p) * v.Q + q;
                size_t at_w = (((size_t)k * v.C + c) * v.R + r) * v.S + s;
                double product = (double)tensor[TENSOR_DY][at_dy] * tensor[TENSOR_W][at_w];
                value[0] += product;
                value[1] += fabs(product);
                value[2]++;
            }
}

/* ---- all elements ------------------------------------------------------------------------ */

/* With a stride the inputs are divided into phases: rows first, first+stride, ... use the taps tap,
 * tap+stride, ... and no others.  One phase of one axis is a convolution of dy with those taps
 * flipped, at stride 1 and with `pad` zeros before it (a negative pad skips inputs). */
typedef struct Phase {
    int first, inputs, tap, taps, pad;
} Phase;

static Phase phase_of(int first, int size, int filter, int stride, int pad)
{
    Phase phase = {.first = first, .inputs = (size - first + stride - 1) / stride};
    phase.tap = (first + pad) % stride;
    phase.taps = phase.tap < filter ? (filter - phase.tap + stride - 1) / stride : 0;
    phase.pad = phase.taps - 1 - (first + pad - phase.tap) / stride;
    return phase;
}

/* Writes the phase's taps, flipped, with c before k: `turned`[c][k][r][s]. */
static void flip_filter(const ConvProblem *v, const Phase *down, const Phase *across,
                        const float *w, float *turned)
{
    for (int c = 0; c < v->C; c++)
        for (int k = 0; k < v->K; k++)
            for (int r = down->taps - 1; r >= 0; r--)
                for (int s = across->taps - 1; s >= 0; s--)
                    *turned++ =
                        w[(((size_t)k * v->C + c) * v->R + down->tap + r * v->stride_h) * v->S +
                          across->tap + s * v->stride_w];
}

/* Stores a phase's values in dx. */
static void phase_place(const ConvProblem *v, const Phase *down, const Phase *across,
                        const double *value, double *all)
{
    for (size_t plane = 0; plane < (size_t)v->N * v->C; plane++)
        for (int i = 0; i < down->inputs; i++) {
            double *row = all + (plane * v->H + down->first + (size_t)i * v->stride_h) * v->W;
            for (int j = 0; j < across->inputs; j++)
                row[across->first + (size_t)j * v->stride_w] = value ? *value++ : 0;
        }
}

typedef struct Room {
    float *turned;
    double *value[3];
} Room;

static void phase_oracle(const ConvProblem *v, const Phase *down, const Phase *across,
                         const float *const *tensor, const Room *room, double *const all[3])
{
    int whole = v->stride_h == 1 && v->stride_w == 1;
    ConvProblem there = {.N = v->N,
                         .C = v->K,
                         .H = v->P,
                         .W = v->Q,
                         .K = v->C,
                         .R = down->taps,
                         .S = across->taps,
                         .P = down->inputs,
                         .Q = across->inputs,
                         .pad_top = down->pad,
                         .pad_left = across->pad,
                         .stride_h = 1,
                         .stride_w = 1};
    const float *const input[] = {tensor[TENSOR_DY], room->turned};
    double *const *value = whole ? all : room->value;
    int touched = there.R > 0 && there.S > 0;
    Problem problem;
    conv_pack(&there, &problem);
    flip_filter(v, down, across, tensor[TENSOR_W], room->turned);
    if (touched) conv_oracle(&problem, input, value[0], value[1], value[2]);
    for (int i = 0; i < 3 && !(whole && touched); i++)
        phase_place(v, down, across, touched ? value[i] : NULL, all[i]);
}

static void data_oracle(const Problem *problem, const float *const *tensor, double *expected,
                        double *magnitude, double *terms)
{
    ConvProblem v = conv_unpack(problem);
    double *const all[] = {expected, magnitude, terms};
    size_t inputs = (size_t)v.N * v.C * v.H * v.W;
    int phases = v.stride_h * v.stride_w;
    Room room = {.turned = malloc(sizeof(float) * v.K * v.C * v.R * v.S)};
    double *space = phases > 1 ? malloc(3 * inputs * sizeof *space) : NULL;
    for (int i = 0; i < 3; i++)
        room.value[i] = space ? space + (size_t)i * inputs : NULL;
    if (room.turned && (phases == 1 || space)) {
        for (int y = 0; y < v.stride_h && y < v.H; y++)
            for (int x = 0; x < v.stride_w && x < v.W; x++) {
                Phase down = phase_of(y, v.H, v.R, v.stride_h, v.pad_top);
                Phase across = phase_of(x, v.W, v.S, v.stride_w, v.pad_left);
                phase_oracle(&v, &down, &across, tensor, &room, all);
            }
    } else { /* no memory for the fast method */
        for (size_t i = 0; i < inputs; i++) {
            double value[3];
            data_oracle_element(problem, tensor, i, value);
            for (int j = 0; j < 3; j++)
                all[j][i] = value[j];
        }
    }
    free(space);
    free(room.turned);
}

/* ---- the operation ----------------------------------------------------------------------- */

extern const Operation conv_backward_data_operation;

static double data_least_bytes(const Problem *problem)
{
    return conv_backward_least_bytes(&conv_backward_data_operation, problem);
}

static void data_generate(const Problem *problem, Random *random, float *const *tensor)
{
    conv_backward_generate(&conv_backward_data_operation, problem, random, tensor);
}

static void data_explain(const struct Judgement *judged, ProbeRun run, void *context,
                         struct Finding *finding)
{
    conv_backward_explain(0, judged, run, context, finding);
}

const Operation conv_backward_data_operation = {.name = "conv_backward_data",
                                                .example =
                                                    "N=2 C=3 H=13 W=11 K=5 R=3 S=3 pad=1 stride=1",
                                                .parse = conv_backward_parse,
                                                .print = conv_print,
                                                .draw = conv_backward_draw,
                                                .tensors = data_tensors,
                                                .numbers = conv_numbers,
                                                .flops = conv_backward_flops,
                                                .least_bytes = data_least_bytes,
                                                .generate = data_generate,
                                                .oracle = data_oracle,
                                                .oracle_element = data_oracle_element,
                                                .has_products = 1,
                                                .explain = data_explain};
