/* conv_int8.c - convolution of 8-bit integers (convlab/int8.h).
 *
 * The bound.  Sums are integers, and an output has at most two roundings to fp32 and one to an
 * integer, all of them defined.  The result is exact: magnitude 0.
 *
 * In the default layout an output is one float, in the order n, k, p, q; with output=int8 the maps
 * include the bytes of the last word from k = K on, which are 0. */
#include <stddef.h>
#include <stdlib.h>

#include "common/operations/int8/fragments.h"
#include "common/operations/int8/int8_rule.h"
#include "common/operations/conv/conv_problem.h"
#include "common/operations/operation/shape_text.h"

enum { MOST_TERMS = 1 << 17 };

static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(Int8Problem, N), 1, 1 << 30, NULL, 0},
    {"C", SHAPE_NUMBER, offsetof(Int8Problem, C), 1, 1 << 30, NULL, 0},
    {"H", SHAPE_NUMBER, offsetof(Int8Problem, H), 1, 1 << 30, NULL, 0},
    {"W", SHAPE_NUMBER, offsetof(Int8Problem, W), 1, 1 << 30, NULL, 0},
    {"K", SHAPE_NUMBER, offsetof(Int8Problem, K), 1, 1 << 30, NULL, 0},
    {"R", SHAPE_NUMBER, offsetof(Int8Problem, R), 1, 1 << 30, NULL, 0},
    {"S", SHAPE_NUMBER, offsetof(Int8Problem, S), 1, 1 << 30, NULL, 0},
    {"pad", SHAPE_PAD, offsetof(Int8Problem, pad_top), 0, 1 << 30, NULL, 0},
    {"stride", SHAPE_PAIR, offsetof(Int8Problem, stride_h), 1, 1 << 30, NULL, 0},
    {"output", SHAPE_WORD, offsetof(Int8Problem, output), 0, 0, "float int8", 0},
    {"relu", SHAPE_NUMBER, offsetof(Int8Problem, relu), 0, 1, NULL, 1},
    {0},
};

/* ---- problems ------------------------------------------------------------------------------ */

static int int8_derive(Int8Problem *p, Error *error)
{
    const double pixels = (double)p->N * p->H * p->W, taps = (double)p->K * p->R * p->S;
    if (p->pad_top == SHAPE_PAD_SAME) {
        shape_pad_same(p->H, p->R, p->stride_h, &p->pad_top, &p->pad_bottom);
        shape_pad_same(p->W, p->S, p->stride_w, &p->pad_left, &p->pad_right);
    }
    if (int8_terms(p) > MOST_TERMS)
        return error_set(error,
                         "a sum of C*R*S=%.0f terms could exceed an int: at most %d are supported",
                         int8_terms(p), MOST_TERMS);
    if (shape_windows("H", p->H, p->R, p->pad_top, p->pad_bottom, p->stride_h, &p->P, error) ||
        shape_windows("W", p->W, p->S, p->pad_left, p->pad_right, p->stride_w, &p->Q, error))
        return -1;
    if (shape_check_count("x", pixels * INT8_WORDS(p->C), error) ||
        shape_check_count("w", taps * INT8_WORDS(p->C), error))
        return -1;
    return shape_check_count("y", (double)p->N * p->P * p->Q * int8_maps(p), error);
}

static int int8_parse(const char *text, Problem *problem, Error *error)
{
    Int8Problem p = {0};
    if (shape_text_parse(text, KEYS, &p, error) || int8_derive(&p, error)) return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void int8_print(const Problem *problem, char *text, size_t bytes)
{
    Int8Problem p = int8_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* The kinds of a convolution, each with a random output and with or without ReLU. */
static void int8_draw(Random *random, int index, double max_macs, Problem *problem)
{
    Problem drawn;
    conv_draw(random, index, max_macs, &drawn);
    ConvProblem conv = conv_unpack(&drawn);
    Int8Problem p = {.N = conv.N,
                     .C = conv.C,
                     .H = conv.H,
                     .W = conv.W,
                     .K = conv.K,
                     .R = conv.R,
                     .S = conv.S,
                     .pad_top = conv.pad_top,
                     .pad_left = conv.pad_left,
                     .pad_bottom = conv.pad_bottom,
                     .pad_right = conv.pad_right,
                     .stride_h = conv.stride_h,
                     .stride_w = conv.stride_w,
                     .relu = random_range(random, 0, 1),
                     .output = random_range(random, 0, 1)};
    int8_derive(&p, NULL);
    problem_pack(&p, sizeof p, problem);
}

static int int8_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    Int8Problem p = int8_unpack(problem);
    const size_t n = (size_t)p.N, k = (size_t)p.K, c = (size_t)INT8_WORDS(p.C);
    const size_t rows = (size_t)p.P, columns = (size_t)p.Q, maps = (size_t)int8_maps(&p);
    const size_t last = p.output == INT8_TO_INT8 ? (size_t)INT8_WORDS(p.K) : k;
    const char *word = p.output == INT8_TO_INT8 ? "k/4" : "k";
    shape[TENSOR_X] = (TensorShape){
        "x", TENSOR_INPUT, 4, {n, (size_t)p.H, (size_t)p.W, c}, {"n", "h", "w", "c/4"}};
    shape[TENSOR_W] = (TensorShape){
        "w", TENSOR_INPUT, 4, {k, (size_t)p.R, (size_t)p.S, c}, {"k", "r", "s", "c/4"}};
    shape[TENSOR_BIAS] = (TensorShape){"bias", TENSOR_INPUT, 1, {k}, {"k"}};
    shape[TENSOR_SCALE] = (TensorShape){"scale", TENSOR_INPUT, 1, {k}, {"k"}};
    shape[TENSOR_Y] =
        p.unpacked
            ? (TensorShape){"y", TENSOR_OUTPUT, 4, {n, maps, rows, columns}, {"n", "k", "p", "q"}}
            : (TensorShape){"y", TENSOR_OUTPUT, 4, {n, rows, columns, last}, {"n", "p", "q", word}};
    return TENSORS;
}

static int int8_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    Int8Problem p = int8_unpack(problem);
    const ProblemNumber all[] = {
        {"N", p.N},
        {"C", p.C},
        {"H", p.H},
        {"W", p.W},
        {"K", p.K},
        {"R", p.R},
        {"S", p.S},
        {"P", p.P},
        {"Q", p.Q},
        {"pad_top", p.pad_top},
        {"pad_left", p.pad_left},
        {"pad_bottom", p.pad_bottom},
        {"pad_right", p.pad_right},
        {"stride_h", p.stride_h},
        {"stride_w", p.stride_w},
        {"macs", int8_macs(&p)},
    };
    _Static_assert(sizeof all / sizeof *all <= OPERATION_NUMBERS, "OPERATION_NUMBERS is too small");
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

static double int8_flops(const Problem *problem)
{
    Int8Problem p = int8_unpack(problem);
    return 2 * int8_macs(&p);
}

static double int8_least_bytes(const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    return tensors_bytes(shape, int8_tensors(problem, shape));
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* `pixels` pixels of random bytes of at least `low`; of every `period`-th group of `group` pixels,
 * only -64 and 64. */
static void bytes_fill(Random *random, float *words, size_t pixels, int channels, int low,
                       size_t group, size_t period)
{
    int8_t *byte = (int8_t *)words;
    for (size_t i = 0; i < pixels; i++, byte += 4 * INT8_WORDS(channels))
        for (int c = 0; c < 4 * INT8_WORDS(channels); c++) {
            int value = random_range(random, low, LARGEST);
            if (i / group % period == 0) value = value < 0 ? -64 : 64;
            byte[c] = c < channels ? (int8_t)value : 0;
        }
}

/* Filters 0, 3, 6 ... have weights of -64 and 64, and a bias that is a multiple of 64.  Their scale
 * is a power of two, so that some of their outputs are half-way between two integers.  Scales
 * differ by up to a factor of 8; those of some filters lead to outputs beyond the range of int8. */
static void int8_generate(const Problem *problem, Random *random, float *const *tensor)
{
    Int8Problem p = int8_unpack(problem);
    const size_t taps = (size_t)p.R * p.S;
    const double typical = 74 * 74 * sqrt(int8_terms(&p)); /* root mean square of a sum */
    Random own;
    random_child(random, "x", &own);
    bytes_fill(&own, tensor[TENSOR_X], (size_t)p.N * p.H * p.W, p.C, LOWEST, 1, SIZE_MAX);
    random_child(random, "w", &own);
    bytes_fill(&own, tensor[TENSOR_W], p.K * taps, p.C, -LARGEST, taps, 3);
    random_child(random, "bias and scale", &own);
    for (int k = 0; k < p.K; k++) {
        const int most = (int)typical / 2 + 1;
        int32_t bias = random_range(&own, -most, most);
        double scale = exp2(4 + 3 * random_unit(&own)) / typical;
        if (k % 3 == 0) {
            bias = bias / 64 * 64;
            scale = exp2(rint(log2(scale)));
        }
        memcpy(&tensor[TENSOR_BIAS][k], &bias, sizeof bias);
        tensor[TENSOR_SCALE][k] = (float)scale;
    }
}

/* ---- the default layout -------------------------------------------------------------------- */

static int int8_rearrange(const Problem *problem, PlainView *view, Error *error)
{
    Int8Problem p = int8_unpack(problem);
    const size_t pixels = (size_t)p.P * p.Q, maps = (size_t)int8_maps(&p);
    const float *packed = view->output;
    p.unpacked = 1;
    problem_pack(&p, sizeof p, &view->problem);
    if (!packed) return 0;
    float *plain = malloc(p.N * maps * pixels * sizeof *plain);
    if (!plain) return error_set(error, "no memory to unpack the words");
    view->output = view->tensor[TENSOR_Y] = view->copy[TENSOR_Y] = plain;
    for (size_t n = 0; n < (size_t)p.N; n++, plain += maps * pixels)
        for (size_t i = 0; i < pixels; i++) {
            const float *from = packed + (n * pixels + i) * maps;
            float byte[4];
            for (size_t k = 0; k < maps; k++) {
                if (p.output == INT8_TO_INT8 && k % 4 == 0)
                    word_unpack(packed[((n * pixels + i) * maps + k) / 4], byte);
                plain[k * pixels + i] = p.output == INT8_TO_INT8 ? byte[k % 4] : from[k];
            }
        }
    return 0;
}

/* ---- oracle -------------------------------------------------------------------------------- */

static void int8_oracle(const Problem *problem, const float *const *tensor, double *expected,
                        double *magnitude, double *terms)
{
    const Rule rule = int8_rule(problem, tensor);
    const size_t count = int8_outputs(&rule.p);
    int8_rule_fill(&rule, expected);
    for (size_t i = 0; i < count; i++) {
        magnitude[i] = 0;
        terms[i] = 1;
    }
}

static void int8_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                                double value[3])
{
    const Rule rule = int8_rule(problem, tensor);
    value[0] = int8_rule_value(&rule, index);
    value[1] = 0;
    value[2] = 1;
}

const Operation conv_int8_operation = {.name = "conv_int8",
                                       .example = "N=2 C=7 H=9 W=11 K=5 R=3 S=2 pad=1 stride=2 "
                                                  "output=int8 relu=1",
                                       .parse = int8_parse,
                                       .print = int8_print,
                                       .draw = int8_draw,
                                       .tensors = int8_tensors,
                                       .numbers = int8_numbers,
                                       .flops = int8_flops,
                                       .least_bytes = int8_least_bytes,
                                       .generate = int8_generate,
                                       .oracle = int8_oracle,
                                       .oracle_element = int8_oracle_element,
                                       .own_reach = 1,
                                       .has_integers = 1,
                                       .rearrange = int8_rearrange,
                                       .explain = int8_explain};
