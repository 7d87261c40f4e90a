/* conv_int8.c - convolution of 8-bit integers (convlab/int8.h).
 *
 * The bound.  Sums are integers, and an output has at most two roundings to fp32 and one to an
 * integer, all of them defined.  The result is exact: magnitude 0.
 *
 * In the default layout an output is one float, in the order n, k, p, q; with output=int8 the maps
 * include the bytes of the last word from k = K on, which are 0. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/base/lanes.h"
#include "common/base/parallel.h"
#include "common/operations/int8/fragments.h"
#include "common/operations/int8/quantize.h"
#include "common/operations/int8/int8_words.h"
#include "common/operations/conv/conv_problem.h"
#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"

enum { TENSOR_X, TENSOR_W, TENSOR_BIAS, TENSOR_SCALE, TENSOR_Y, TENSORS };
enum { LOWEST = -128, LARGEST = 127, MOST_TERMS = 1 << 17, CHUNK = FRAGMENT_CHUNK };

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

static Int8Problem int8_unpack(const Problem *problem)
{
    Int8Problem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* Multiply-adds of one output. */
static double terms_of(const Int8Problem *p)
{
    return (double)p->C * p->R * p->S;
}

/* Maps of the unpacked output. */
static int maps_of(const Int8Problem *p)
{
    return p->output == INT8_TO_INT8 ? 4 * INT8_WORDS(p->K) : p->K;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int int8_derive(Int8Problem *p, Error *error)
{
    const double pixels = (double)p->N * p->H * p->W, taps = (double)p->K * p->R * p->S;
    if (p->pad_top == SHAPE_PAD_SAME) {
        shape_pad_same(p->H, p->R, p->stride_h, &p->pad_top, &p->pad_bottom);
        shape_pad_same(p->W, p->S, p->stride_w, &p->pad_left, &p->pad_right);
    }
    if (terms_of(p) > MOST_TERMS)
        return error_set(error,
                         "a sum of C*R*S=%.0f terms could exceed an int: at most %d are supported",
                         terms_of(p), MOST_TERMS);
    if (shape_windows("H", p->H, p->R, p->pad_top, p->pad_bottom, p->stride_h, &p->P, error) ||
        shape_windows("W", p->W, p->S, p->pad_left, p->pad_right, p->stride_w, &p->Q, error))
        return -1;
    if (shape_check_count("x", pixels * INT8_WORDS(p->C), error) ||
        shape_check_count("w", taps * INT8_WORDS(p->C), error))
        return -1;
    return shape_check_count("y", (double)p->N * p->P * p->Q * maps_of(p), error);
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
    const size_t rows = (size_t)p.P, columns = (size_t)p.Q, maps = (size_t)maps_of(&p);
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

static double int8_macs(const Int8Problem *p)
{
    return terms_of(p) * p->N * p->K * p->P * p->Q;
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
    const double typical = 74 * 74 * sqrt(terms_of(&p)); /* root mean square of a sum */
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
    const size_t pixels = (size_t)p.P * p.Q, maps = (size_t)maps_of(&p);
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

typedef enum Overflow {
    OVERFLOW_SATURATE,
    OVERFLOW_WRAP,
    OVERFLOW_SYMMETRIC,
    OVERFLOW_UNSIGNED /* clamped to 0 .. 255 */
} Overflow;

/* The definition, with or without a mistake. */
typedef struct Rule {
    Int8Problem p;
    const int8_t *x, *w;
    const float *bias, *scale; /* bias: the bits of ints */
    Rounding rounding;
    Overflow overflow;
    int unsigned_x, unsigned_w; /* Booleans: bytes are 0 .. 255 */
    int channels;               /* bytes of a pixel that take part */
    int is_slow;                /* Boolean: the multiplications of bytes have a mistake */
    int step, part;             /* the first `part` of each `step` channels take part */
    int rows, columns;          /* taps of a filter that take part */
    int flipped, transposed;    /* Booleans: of the filter's taps */
    int no_sum, zeros;          /* Booleans: sums, or outputs, are 0 */
    int first_image, one_scale, one_bias, no_bias, bias_late; /* Booleans */
    int bias_subtracted, short_sums;                          /* Booleans */
    int filters_apart, pixels_apart; /* output k or pixel j has the value of k ^ or j ^ this */
    int sums_apart;                  /* filter k has the sum of k ^ this, with its own bias */
    int in_order;                    /* Boolean: sums of a tile are stored in the tile's order */
    int x_mask, w_mask; /* channel c is multiplied by those of c & mask; -1: by its own */
    int first_of_four;  /* Boolean: filters 4*i .. 4*i+3 have the sum of filter 4*i */
    int one_tap_apart;  /* Boolean: filter 4*i + j starts j taps after filter 4*i */
    Fragments fragments;
} Rule;

static Rule rule_of(const Problem *problem, const float *const *tensor)
{
    Int8Problem p = int8_unpack(problem);
    return (Rule){.p = p,
                  .x = (const int8_t *)tensor[TENSOR_X],
                  .w = (const int8_t *)tensor[TENSOR_W],
                  .bias = tensor[TENSOR_BIAS],
                  .scale = tensor[TENSOR_SCALE],
                  .channels = 4 * INT8_WORDS(p.C),
                  .step = 1,
                  .part = 1,
                  .rows = p.R,
                  .columns = p.S,
                  .x_mask = -1,
                  .w_mask = -1};
}

#ifdef __clang__ /* vectorises loops at -O2 */
#define VECTORISED
#else
#define VECTORISED __attribute__((optimize("O3")))
#endif

WIDEST_VECTORS VECTORISED static int32_t bytes_dot(const int8_t *x, const int8_t *w, int count)
{
    int32_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * w[i];
    return sum;
}

static int32_t pixel_dot(const Rule *rule, const int8_t *x, const int8_t *w)
{
    int32_t sum = 0;
    if (!rule->is_slow) return bytes_dot(x, w, rule->channels);
    for (int c = 0; c < rule->channels; c++) {
        const int8_t of_x = x[c & rule->x_mask];
        const int8_t of_w = w[c & rule->w_mask];
        if (c % rule->step < rule->part)
            sum += (rule->unsigned_x ? (uint8_t)of_x : of_x) *
                   (rule->unsigned_w ? (uint8_t)of_w : of_w);
    }
    return sum;
}

/* The filter whose sum filter k has. */
static int source_of(const Rule *rule, int k)
{
    const int in_tile = k % 64;
    if (rule->first_of_four) return k / 4 * 4;
    if (!rule->in_order) return k ^ rule->sums_apart;
    return k - in_tile + in_tile / 4 % 4 * 16 + in_tile / 16 * 4 + in_tile % 4;
}

static int32_t sum_of(const Rule *rule, size_t n, int k, int op, int oq)
{
    const Int8Problem *p = &rule->p;
    if (rule->fragments) {
        const FragmentMistake mistake = {p, rule->x, rule->w, rule->fragments};
        return fragment_sum(&mistake, (n * p->P + op) * p->Q + oq, k);
    }
    const size_t pixel = 4 * (size_t)INT8_WORDS(p->C);
    const int8_t *image = rule->x + (rule->first_image ? 0 : n) * p->H * p->W * pixel;
    const size_t taps = (size_t)p->R * p->S;
    const size_t first_tap = rule->one_tap_apart ? k / 4 * 4 * taps + k % 4 : k * taps;
    const int8_t *filter = rule->w + first_tap * pixel;
    int32_t sum = 0;
    for (int r = 0; r < rule->rows; r++)
        for (int s = 0; s < rule->columns; s++) {
            const int h = op * p->stride_h + r - p->pad_top;
            const int w = oq * p->stride_w + s - p->pad_left;
            int tap = rule->transposed ? s * p->R + r : r * p->S + s;
            if (rule->flipped) tap = p->R * p->S - 1 - tap;
            if (h < 0 || h >= p->H || w < 0 || w >= p->W) continue;
            sum += pixel_dot(rule, image + ((size_t)h * p->W + w) * pixel, filter + tap * pixel);
        }
    return sum;
}

static double requantized(const Rule *rule, float scaled)
{
    const float rounded = round_as(rule->rounding, scaled);
    switch (rule->overflow) {
    case OVERFLOW_WRAP:
        return (int8_t)(uint8_t)(int32_t)fminf(fmaxf(rounded, -0x1p30f), 0x1p30f);
    case OVERFLOW_SYMMETRIC:
        return fminf(fmaxf(rounded, -LARGEST), LARGEST);
    case OVERFLOW_UNSIGNED:
        return (int8_t)(uint8_t)fminf(fmaxf(rounded, 0), UINT8_MAX);
    default:
        return fminf(fmaxf(rounded, LOWEST), LARGEST);
    }
}

/* Output (n, k, p, q). */
static double value_at(const Rule *rule, size_t n, int k, int op, int oq)
{
    const Int8Problem *p = &rule->p;
    if (k >= p->K || rule->zeros) return 0;
    const int of_scale = rule->one_scale ? 0 : k;
    const int32_t added = rule->no_bias ? 0 : word_of(rule->bias[rule->one_bias ? 0 : k]);
    const int32_t bias = rule->bias_subtracted ? -added : added;
    const int from = source_of(rule, k);
    const int32_t whole = rule->no_sum || from >= p->K ? 0 : sum_of(rule, n, from, op, oq);
    const int32_t sum = rule->short_sums ? (int16_t)(uint16_t)whole : whole;
    float scaled = (float)(rule->bias_late ? sum : sum + bias) * rule->scale[of_scale];
    if (rule->bias_late) scaled += (float)bias;
    if (p->relu) scaled = fmaxf(scaled, 0);
    return p->output == INT8_TO_INT8 ? requantized(rule, scaled) : scaled;
}

/* Output `index` of the default layout. */
static double value_of(const Rule *rule, size_t index)
{
    const Int8Problem *p = &rule->p;
    const size_t pixels = (size_t)p->P * p->Q, maps = (size_t)maps_of(p);
    int k = (int)(index / pixels % maps);
    size_t j = index / pixels / maps * pixels + index % pixels;
    Rule beyond = *rule;
    if (rule->pixels_apart && (j ^ (size_t)rule->pixels_apart) >= p->N * pixels)
        beyond.no_sum = 1, rule = &beyond; /* the sum of a pixel that does not exist */
    else
        j ^= (size_t)rule->pixels_apart;
    k ^= rule->filters_apart; /* a byte without a filter is 0 */
    return value_at(rule, j / pixels, k, (int)(j % pixels / p->Q), (int)(j % pixels % p->Q));
}

/* All outputs, in parallel. */
typedef struct Outputs {
    const Rule *rule;
    size_t count;
    int shares;
    double *value;
} Outputs;

static void outputs_share(void *context, int share)
{
    const Outputs *all = context;
    const size_t last = all->count * ((size_t)share + 1) / (size_t)all->shares;
    for (size_t i = all->count * (size_t)share / (size_t)all->shares; i < last; i++)
        all->value[i] = value_of(all->rule, i);
}

static size_t outputs_of(const Int8Problem *p)
{
    return (size_t)p->N * (size_t)maps_of(p) * (size_t)p->P * (size_t)p->Q;
}

static void outputs_fill(const Rule *rule, double *value)
{
    Outputs all = {.rule = rule, .count = outputs_of(&rule->p), .value = value};
    all.shares = parallel_shares(int8_macs(&rule->p), 1e6);
    parallel_run(all.shares, outputs_share, &all);
}

static void int8_oracle(const Problem *problem, const float *const *tensor, double *expected,
                        double *magnitude, double *terms)
{
    const Rule rule = rule_of(problem, tensor);
    const size_t count = outputs_of(&rule.p);
    outputs_fill(&rule, expected);
    for (size_t i = 0; i < count; i++) {
        magnitude[i] = 0;
        terms[i] = 1;
    }
}

static void int8_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                                double value[3])
{
    const Rule rule = rule_of(problem, tensor);
    value[0] = value_of(&rule, index);
    value[1] = 0;
    value[2] = 1;
}

/* ---- mistakes ------------------------------------------------------------------------------ */

enum {
    NO_SUM,
    ZEROS,
    TRUNCATED,
    FLOORED,
    HALF_AWAY,
    WRAPS,
    SYMMETRIC,
    UNSIGNED_RANGE,
    UNSIGNED_X,
    UNSIGNED_W,
    UNSIGNED_BOTH,
    ONE_SCALE,
    ONE_BIAS,
    NO_BIAS,
    BIAS_LATE,
    BIAS_SUBTRACTED,
    SHORT_SUMS,
    RELU_MISSING,
    RELU_ADDED,
    TAIL_MISSING,
    FIRST_BYTES,
    FIRST_WORD_X,
    FIRST_WORD_W,
    HALF_CHUNKS,
    LAST_CHUNKS,
    BYTES_REVERSED,
    BYTES_SWAPPED,
    FRAGMENT_ROWS,
    FRAGMENT_COLUMNS,
    IN_ORDER,
    CHUNK_TWICE_X,
    CHUNK_TWICE_W,
    WORDS_OF_A,
    WORDS_OF_B,
    PLAIN_INPUTS,
    PLAIN_WEIGHTS,
    ACCUMULATORS,
    CHUNKS_CROSSED,
    FIRST_WARP_32,
    FIRST_WARP_64,
    FIRST_OF_FOUR,
    ONE_TAP_APART,
    FLIPPED,
    TRANSPOSED,
    LAST_ROW,
    LAST_COLUMN,
    STRIDE_ONE,
    STRIDES_EXCHANGED,
    PADDING_IGNORED,
    PADDINGS_EXCHANGED,
    FIRST_IMAGE,
    MISTAKES
};

#define FIRST_WARP_TEXT                                                                            \
    "All warps of a block use the inputs of the first pixels: the rows of the inputs in shared "   \
    "memory start at warp_pixel for each warp."
static const Mistake MISTAKE[MISTAKES] = {
    [NO_SUM] = {FAULT_FORMULA,
                "The multiply-adds are missing: every output is that of bias[k] alone."},
    [ZEROS] = {FAULT_FORMULA, "Every output is 0: the integer, or its byte of the word, is never "
                              "set."},
    [TRUNCATED] = {FAULT_ROUNDING, "The outputs are truncated toward zero, as a cast to int does. "
                                   "Round to the nearest integer, ties to even: __float2int_rn."},
    [FLOORED] = {FAULT_ROUNDING, "The outputs are rounded down, as a right shift of the sum does. "
                                 "Round to the nearest integer, ties to even: __float2int_rn."},
    [HALF_AWAY] = {FAULT_ROUNDING, "Ties are rounded away from zero, as roundf does. Here they are "
                                   "rounded to the even neighbour: __float2int_rn or rintf."},
    [WRAPS] = {FAULT_SATURATION, "Outputs beyond -128 .. 127 wrap: only the lowest eight bits are "
                                 "stored. Clamp the integer before it becomes a byte."},
    [SYMMETRIC] = {FAULT_SATURATION, "The outputs are clamped at -127. That is the range of the "
                                     "weights; outputs are clamped to -128 .. 127."},
    [UNSIGNED_RANGE] = {FAULT_SATURATION,
                        "The outputs are clamped to 0 .. 255, the range of unsigned bytes. An "
                        "output is a signed byte: clamp to -128 .. 127."},
    [UNSIGNED_X] = {FAULT_SIGN, "The bytes of x are read as unsigned: -1 becomes 255. Use the "
                                "signed form for both operands: __dp4a with int, or .s8.s8."},
    [UNSIGNED_W] = {FAULT_SIGN, "The bytes of w are read as unsigned: -1 becomes 255. Use the "
                                "signed form for both operands: __dp4a with int, or .s8.s8."},
    [UNSIGNED_BOTH] = {FAULT_SIGN, "The bytes of x and w are read as unsigned: -1 becomes 255. Use "
                                   "the signed form: __dp4a with int, not unsigned, or .s8.s8."},
    [ONE_SCALE] = {FAULT_SCALE, "Every filter uses scale[0]. Each filter has a scale of its own: "
                                "scale[k]."},
    [ONE_BIAS] = {FAULT_FORMULA, "Every filter uses bias[0]. Each filter has its own: bias[k]."},
    [NO_BIAS] = {FAULT_FORMULA, "The bias is missing: add bias[k] to the sum, before the scale."},
    [BIAS_SUBTRACTED] = {FAULT_FORMULA,
                         "The bias is subtracted: (float)(sum + bias[k]) * scale[k]."},
    [SHORT_SUMS] =
        {FAULT_OVERFLOW,
         "The sums overflow 16 bits: two multiplications of bytes can give more than 32,767. "
         "Accumulate in an int, and convert only the stored value."},
    [BIAS_LATE] = {FAULT_FORMULA, "The bias is added after the multiplication by the scale. It has "
                                  "the scale of the sum: (float)(sum + bias[k]) * scale[k]."},
    [RELU_MISSING] = {FAULT_FORMULA, "The ReLU is missing: with relu=1 negative outputs are 0."},
    [RELU_ADDED] = {FAULT_FORMULA, "Negative outputs are 0, as with a ReLU, but relu is 0 here."},
    [TAIL_MISSING] = {FAULT_ONE_CHANNEL,
                      "The last channels are missing: a pixel has INT8_WORDS(C) words, C / 4 "
                      "rounded up. The last word has the rest of the channels, then zeros."},
    [FIRST_BYTES] = {FAULT_ONE_CHANNEL, "Only the first byte of each word takes part. __dp4a "
                                        "multiplies and adds all four."},
    [FIRST_WORD_X] = {FAULT_ONE_CHANNEL,
                      "Every word of w is multiplied by the first word of the pixel, channels 0 to "
                      "3: the index of x lacks the number of the word."},
    [FIRST_WORD_W] = {FAULT_ONE_CHANNEL,
                      "Every word of x is multiplied by the first word of the tap, channels 0 to "
                      "3: the index of w lacks the number of the word."},
    [HALF_CHUNKS] = {FAULT_ONE_CHANNEL,
                     "Only the first 16 of each 32 channels take part. An m16n8k32 needs two "
                     "chunks of 16 bytes of each row: words 2 and 3 of a, and word 1 of b."},
    [LAST_CHUNKS] = {FAULT_ONE_CHANNEL,
                     "The last channels are missing, those beyond a multiple of 32. The number of "
                     "chunks or tiles must be rounded up."},
    [BYTES_REVERSED] = {FAULT_BYTE_ORDER,
                        "The bytes of each output word are in the reverse order. Filter 4*i is the "
                        "lowest byte of word i, bits 0 to 7."},
    [BYTES_SWAPPED] = {FAULT_BYTE_ORDER,
                       "The bytes of each pair in an output word are exchanged. Filter 4*i is the "
                       "lowest byte of word i, bits 0 to 7."},
    [FRAGMENT_ROWS] = {FAULT_LAYOUT,
                       "Pixels j and j + 8 are exchanged. Accumulators 0 and 1 of a lane belong to "
                       "row lane/4 of the fragment, accumulators 2 and 3 to row lane/4 + 8."},
    [FRAGMENT_COLUMNS] = {FAULT_LAYOUT,
                          "Filters k and k + 1 are exchanged. Accumulator 0 of a lane belongs to "
                          "column 2*(lane%4) of the fragment, accumulator 1 to the next."},
    [IN_ORDER] = {FAULT_LAYOUT,
                  "The sums are stored as if the filters of a tile were in order. Row 8*g + c of a "
                  "tile holds filter filter_of(8*g + c): that is column c of fragment g."},
    [CHUNK_TWICE_X] = {FAULT_LAYOUT,
                       "The inputs of each second chunk are those of the first: words 2 and 3 of a "
                       "have the pixels of chunk i. They belong to chunk i + 1."},
    [CHUNK_TWICE_W] = {FAULT_LAYOUT,
                       "The weights of each second chunk are those of the first: word 1 of b has "
                       "the filters of chunk i. It belongs to chunk i + 1."},
    [WORDS_OF_A] = {FAULT_LAYOUT,
                    "Words 1 and 2 of a are exchanged: matrix 1 of load_matrices has rows 8 to 15 "
                    "of chunk i, matrix 2 has rows 0 to 7 of chunk i + 1."},
    [WORDS_OF_B] = {FAULT_LAYOUT,
                    "Words of b are exchanged: matrix 1 of load_matrices has chunk i + 1 of "
                    "fragment g, matrix 2 has chunk i of fragment g + 1."},
    [PLAIN_INPUTS] = {FAULT_LAYOUT,
                      "The inputs are read from shared memory without the swizzle with which they "
                      "were stored: chunk_at() has the address of a row's chunk."},
    [PLAIN_WEIGHTS] = {FAULT_LAYOUT,
                       "The weights are read from shared memory without the swizzle with which "
                       "they were stored: chunk_at() has the address of a row's chunk."},
    [ACCUMULATORS] =
        {FAULT_LAYOUT,
         "Accumulators 1 and 2 are exchanged. Accumulators 0 and 1 of a lane belong to "
         "row lane/4 of the fragment, accumulators 2 and 3 to row lane/4 + 8."},
    [CHUNKS_CROSSED] = {FAULT_LAYOUT,
                        "Each chunk of inputs is multiplied by the other chunk's weights. Words 0 "
                        "and 1 of b belong to chunks i and i + 1, as words 0, 1 and 2, 3 of a do: "
                        "those of one operand are exchanged."},
    [FIRST_WARP_32] = {FAULT_LAYOUT, FIRST_WARP_TEXT},
    [FIRST_WARP_64] = {FAULT_LAYOUT, FIRST_WARP_TEXT},
    [ONE_TAP_APART] = {FAULT_ONE_FILTER,
                       "Filters k+1, k+2 and k+3 of a thread start one tap after the filter "
                       "before. Filter k+i starts filter_words*i words after filter k, the words "
                       "of all its taps."},
    [FIRST_OF_FOUR] = {FAULT_ONE_FILTER,
                       "Filters k+1, k+2 and k+3 of a thread use the weights of filter k. Filter "
                       "k+i starts filter_words*i words after filter k."},
    [FLIPPED] = {FAULT_FLIPPED_FILTER, "The filter is flipped: tap (r, s) is multiplied by input "
                                       "(p*stride_h + r - pad_top, q*stride_w + s - pad_left)."},
    [TRANSPOSED] = {FAULT_TRANSPOSED_FILTER, "The filter is read as w[k][s][r]. It is stored as "
                                             "w[k][r][s]."},
    [LAST_ROW] = {FAULT_TAP_DROPPED, "The last row of the filter is left out: the loop over r ends "
                                     "at R - 1."},
    [LAST_COLUMN] = {FAULT_TAP_DROPPED, "The last column of the filter is left out: the loop over "
                                        "s ends at S - 1."},
    [STRIDE_ONE] = {FAULT_STRIDE, "The windows move by 1: output p starts at input row p*stride_h "
                                  "- pad_top, output q at column q*stride_w - pad_left."},
    [STRIDES_EXCHANGED] = {FAULT_STRIDE, "stride_h and stride_w are exchanged."},
    [PADDING_IGNORED] =
        {FAULT_HALO, "The windows start at the first input, as if there were no padding above and "
                     "to the left: subtract pad_top from the row and pad_left from the column."},
    [PADDINGS_EXCHANGED] = {FAULT_HALO, "pad_top and pad_left are exchanged."},
    [FIRST_IMAGE] = {FAULT_ONE_IMAGE, "Every image gets the outputs of the first: x's offset "
                                      "lacks n."},
};

static void exchange(int *one, int *other)
{
    int kept = *one;
    *one = *other;
    *other = kept;
}

/* A mistake of the requantisation, or of the numbers' meaning.  0: no effect on this problem; -1:
 * another mistake. */
static int mistaken_numbers(int which, Rule *rule)
{
    const int is_int8 = rule->p.output == INT8_TO_INT8;
    switch (which) {
    case TRUNCATED:
    case FLOORED:
    case HALF_AWAY:
        rule->rounding = (Rounding)(ROUND_TRUNCATE + which - TRUNCATED);
        return is_int8;
    case WRAPS:
    case SYMMETRIC:
    case UNSIGNED_RANGE:
        rule->overflow = (Overflow)(OVERFLOW_WRAP + which - WRAPS);
        return is_int8;
    case UNSIGNED_X:
        return rule->unsigned_x = 1;
    case UNSIGNED_W:
        return rule->unsigned_w = 1;
    case UNSIGNED_BOTH:
        return rule->unsigned_x = rule->unsigned_w = 1;
    case ONE_SCALE:
        return rule->one_scale = 1;
    case ONE_BIAS:
        return rule->one_bias = 1;
    case NO_BIAS:
        return rule->no_bias = 1;
    case BIAS_LATE:
        return rule->bias_late = 1;
    case BIAS_SUBTRACTED:
        return rule->bias_subtracted = 1;
    case SHORT_SUMS:
        return rule->short_sums = 1;
    case RELU_MISSING:
        return rule->p.relu-- == 1;
    case RELU_ADDED:
        return rule->p.relu++ == 0;
    default:
        return -1;
    }
}

/* A mistake of the order of bytes and fragments, or channels that are left out. */
static int mistaken_places(int which, Rule *rule)
{
    const Int8Problem *p = &rule->p;
    switch (which) {
    case TAIL_MISSING:
        rule->channels = p->C / 4 * 4;
        return p->C > 4 && p->C % 4 != 0;
    case FIRST_BYTES:
        rule->step = 4;
        return p->C > 1;
    case FIRST_WORD_X:
        rule->x_mask = 3;
        return p->C > 4;
    case FIRST_WORD_W:
        rule->w_mask = 3;
        return p->C > 4;
    case HALF_CHUNKS:
        rule->step = 32;
        rule->part = 16;
        return p->C > 16;
    case LAST_CHUNKS:
        rule->channels = p->C / 32 * 32;
        return p->C > 32 && p->C % 32 != 0;
    case BYTES_REVERSED:
        rule->filters_apart = 3;
        return p->output == INT8_TO_INT8;
    case BYTES_SWAPPED:
        rule->filters_apart = 1;
        return p->output == INT8_TO_INT8;
    case FRAGMENT_ROWS:
        return rule->pixels_apart = 8;
    case FRAGMENT_COLUMNS:
        return rule->sums_apart = 1;
    case FIRST_OF_FOUR:
        return rule->first_of_four = 1;
    case ONE_TAP_APART:
        return rule->one_tap_apart = p->R * p->S > 1;
    case IN_ORDER:
        return rule->in_order = 1;
    case CHUNK_TWICE_X:
        rule->x_mask = ~CHUNK;
        return p->C % (2 * CHUNK) == 0;
    case CHUNK_TWICE_W:
        rule->w_mask = ~CHUNK;
        return p->C % (2 * CHUNK) == 0;
    case WORDS_OF_A:
    case WORDS_OF_B:
    case PLAIN_INPUTS:
    case PLAIN_WEIGHTS:
    case ACCUMULATORS:
    case CHUNKS_CROSSED:
    case FIRST_WARP_32:
    case FIRST_WARP_64:
        rule->fragments = (Fragments)(WORDS_OF_A_EXCHANGED + which - WORDS_OF_A);
        return p->C % CHUNK == 0;
    default:
        return -1;
    }
}

/* A mistake of the convolution itself. */
static int mistaken_windows(int which, Rule *rule)
{
    Int8Problem *p = &rule->p;
    switch (which) {
    case FLIPPED:
        return rule->flipped = 1;
    case TRANSPOSED:
        return rule->transposed = 1;
    case LAST_ROW:
        return --rule->rows > 0;
    case LAST_COLUMN:
        return --rule->columns > 0;
    case STRIDE_ONE:
        p->stride_h = p->stride_w = 1;
        return 1;
    case STRIDES_EXCHANGED:
        exchange(&p->stride_h, &p->stride_w);
        return 1;
    case PADDING_IGNORED:
        p->pad_top = p->pad_left = 0;
        return 1;
    case PADDINGS_EXCHANGED:
        exchange(&p->pad_top, &p->pad_left);
        return 1;
    case NO_SUM:
        return rule->no_sum = 1;
    case ZEROS:
        return rule->zeros = 1;
    default:
        return rule->first_image = 1;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    Rule rule = rule_of(&judged->view.problem, judged->view.tensor);
    int changes = mistaken_numbers(which, &rule);
    if (changes < 0) changes = mistaken_places(which, &rule);
    if (changes < 0) changes = mistaken_windows(which, &rule);
    const int is_masked = rule.x_mask != -1 || rule.w_mask != -1;
    rule.is_slow = rule.unsigned_x || rule.unsigned_w || is_masked || rule.step > 1;
    if (changes) outputs_fill(&rule, value);
    return changes;
}

static void int8_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
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
