/* quantize.c - quantisation of filters to 8-bit integers (convlab/int8.h).
 *
 * The bound.  Every operation of the definition is one IEEE operation of fp32, so the result is
 * exact: magnitude 0.
 *
 * In the default layout an output is a row of floats per filter: the bytes of its words in their
 * order, then its scale. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/operations/int8/quantize.h"
#include "common/operations/int8/int8_words.h"
#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"

enum { TENSOR_W, TENSOR_Y, TENSORS };
enum { LARGEST = 127 };

static const ShapeKey KEYS[] = {
    {"K", SHAPE_NUMBER, offsetof(QuantizeProblem, K), 1, 1 << 30, NULL, 0},
    {"R", SHAPE_NUMBER, offsetof(QuantizeProblem, R), 1, 1 << 30, NULL, 0},
    {"S", SHAPE_NUMBER, offsetof(QuantizeProblem, S), 1, 1 << 30, NULL, 0},
    {"C", SHAPE_NUMBER, offsetof(QuantizeProblem, C), 1, 1 << 30, NULL, 0},
    {"per", SHAPE_WORD, offsetof(QuantizeProblem, per), 0, 0, "channel tensor", 0},
    {0},
};

static QuantizeProblem quantize_unpack(const Problem *problem)
{
    QuantizeProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* Words of a filter. */
static size_t words_of(const QuantizeProblem *p)
{
    return (size_t)p->R * p->S * INT8_WORDS(p->C);
}

/* ---- problems ------------------------------------------------------------------------------ */

static int quantize_parse(const char *text, Problem *problem, Error *error)
{
    QuantizeProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error)) return -1;
    if (shape_check_count("y", p.K * (4.0 * p.R * p.S * INT8_WORDS((double)p.C) + 1), error))
        return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void quantize_print(const Problem *problem, char *text, size_t bytes)
{
    QuantizeProblem p = quantize_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* Channels that fill the words and that do not; filters of one value and of thousands. */
static void quantize_draw(Random *random, int index, double max_macs, Problem *problem)
{
    QuantizeProblem p = {.K = random_range(random, 1, 40),
                         .R = random_range(random, 1, 4),
                         .S = random_range(random, 1, 4),
                         .C = random_range(random, 1, index % 4 == 3 ? 150 : 18),
                         .per = index % 2 ? INT8_PER_TENSOR : INT8_PER_CHANNEL};
    if (index % 4 == 2) p.C = 4 * INT8_WORDS(p.C);
    while (p.K > 1 && (double)p.K * p.R * p.S * p.C > max_macs)
        p.K--;
    problem_pack(&p, sizeof p, problem);
}

static int quantize_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    QuantizeProblem p = quantize_unpack(problem);
    shape[TENSOR_W] = (TensorShape){"w",
                                    TENSOR_INPUT,
                                    4,
                                    {(size_t)p.K, (size_t)p.R, (size_t)p.S, (size_t)p.C},
                                    {"k", "r", "s", "c"}};
    shape[TENSOR_Y] =
        p.unpacked
            ? (TensorShape){"y", TENSOR_OUTPUT, 2, {(size_t)p.K, 4 * words_of(&p) + 1}, {"k", "i"}}
            : (TensorShape){"y", TENSOR_OUTPUT, 1, {(size_t)p.K * (words_of(&p) + 1)}, {"word"}};
    return TENSORS;
}

static int quantize_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    QuantizeProblem p = quantize_unpack(problem);
    const ProblemNumber all[] = {{"K", p.K}, {"R", p.R}, {"S", p.S}, {"C", p.C}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* A comparison and a division for each value. */
static double quantize_flops(const Problem *problem)
{
    QuantizeProblem p = quantize_unpack(problem);
    return 2.0 * p.K * p.R * p.S * p.C;
}

static double quantize_least_bytes(const Problem *problem)
{
    QuantizeProblem p = quantize_unpack(problem);
    return 4.0 * p.K * ((double)p.R * p.S * p.C + (double)words_of(&p) + 1);
}

/* Index of filter k's largest weight: the first, the last, the 129th (the second of a thread in a
 * block of 128), then any.  A search that leaves out one of them is wrong. */
static size_t largest_place(int k, size_t count, Random *random)
{
    const size_t place[] = {0, count - 1, 128 % count};
    if (k / 3 < 3) return place[k / 3];
    return (size_t)random_range(random, 0, (int)count - 1);
}

/* The filters' magnitudes differ, and the sign of a filter's largest value.  In filters 1, 4, 7 ...
 * the largest value is 127 steps of a power of two, and every third value is half-way between two
 * steps.  Filter 2 is zero. */
static void quantize_generate(const Problem *problem, Random *random, float *const *tensor)
{
    QuantizeProblem p = quantize_unpack(problem);
    const size_t count = (size_t)p.R * p.S * p.C;
    Random own;
    random_child(random, "w", &own);
    for (int k = 0; k < p.K; k++) {
        float *w = tensor[TENSOR_W] + k * count, step = ldexpf(1, k % 5 - 8);
        for (size_t i = 0; i < count; i++) {
            float value = (float)(2 * random_unit(&own) - 1);
            if (k % 3 == 1 && i % 3) value = (float)random_range(&own, -126, 125) / LARGEST;
            if (k % 3 == 1 && i % 3 == 1) value += 0.5f / LARGEST;
            w[i] = k % 3 == 1 && i % 3 ? rintf(2 * LARGEST * value) / 2 * step
                                       : 0.99f * LARGEST * step * value;
        }
        if (k % 3 == 1 || k % 3 == 0)
            w[largest_place(k, count, &own)] = (k % 2 ? -LARGEST : LARGEST) * step;
        for (size_t i = 0; i < count && k == 2; i++)
            w[i] = 0;
    }
}

static int quantize_rearrange(const Problem *problem, PlainView *view, Error *error)
{
    QuantizeProblem p = quantize_unpack(problem);
    const size_t words = words_of(&p);
    const float *packed = view->output;
    p.unpacked = 1;
    problem_pack(&p, sizeof p, &view->problem);
    if (!packed) return 0;
    float *row = malloc((size_t)p.K * (4 * words + 1) * sizeof *row);
    if (!row) return error_set(error, "no memory to unpack the words");
    view->output = view->tensor[TENSOR_Y] = view->copy[TENSOR_Y] = row;
    for (size_t k = 0; k < (size_t)p.K; k++, row += 4 * words + 1) {
        for (size_t i = 0; i < words; i++)
            word_unpack(packed[k * words + i], &row[4 * i]);
        row[4 * words] = packed[(size_t)p.K * words + k];
    }
    return 0;
}

/* ---- oracle and mistakes ------------------------------------------------------------------- */

/* The definition, with or without a mistake. */
typedef struct Quantizer {
    QuantizeProblem p;
    Rounding rounding;
    int divisor;        /* the scale is largest / divisor */
    int is_signed;      /* Boolean: the largest value counts, not the largest magnitude */
    int inverse_stored; /* Boolean: 1 / scale is stored as the scale */
    int inverted;       /* Boolean: the scale is divisor / largest */
    int first_word;     /* Boolean: every word of a tap has channels 0 to 3 */
    int whole_numbers;  /* Boolean: the largest value is that of |(int)w| */
    int first_filter;   /* Boolean: every filter has the largest value of filter 0 */
    int zero_divides;   /* Boolean: the scale of a filter of zeros is 0 */
    int reversed;       /* Boolean: the first channel is in the highest byte of a word */
    int no_scale;       /* Boolean: every scale is 1 */
    int no_bytes;       /* Boolean: every byte is 0 */
    int wrong_maximum;  /* Boolean: filters raise maximum[0] per channel, maximum[k] per tensor */
    float whole;        /* the largest value of all filters */
    float first;        /* the largest value of filter 0 */
} Quantizer;

static Quantizer quantizer_of(const QuantizeProblem *p)
{
    return (Quantizer){.p = *p, .divisor = LARGEST};
}

static float largest_of(const Quantizer *quantizer, const float *w, size_t count)
{
    float largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmaxf(largest, quantizer->is_signed ? w[i] : fabsf(w[i]));
    return quantizer->whole_numbers ? truncf(largest) : largest;
}

static float scale_of(const Quantizer *quantizer, const float *filter, int k)
{
    const QuantizeProblem *p = &quantizer->p;
    const int per_channel = p->per == INT8_PER_CHANNEL;
    const size_t count = (size_t)p->R * p->S * p->C;
    if (quantizer->no_scale) return 1;
    float largest = per_channel ? largest_of(quantizer, filter, count) : quantizer->whole;
    if (quantizer->wrong_maximum)
        largest = !per_channel ? quantizer->first : k == 0 ? quantizer->whole : 0;
    if (quantizer->first_filter) largest = quantizer->first;
    if (quantizer->inverted) return largest == 0 ? 1 : (float)quantizer->divisor / largest;
    return largest == 0 && !quantizer->zero_divides ? 1 : largest / (float)quantizer->divisor;
}

/* The row of filter k, 4 * words + 1 numbers. */
static void quantize_row(const Quantizer *quantizer, const float *filter, int k, double *row)
{
    const QuantizeProblem *p = &quantizer->p;
    const int channels = 4 * INT8_WORDS(p->C), taps = p->R * p->S;
    const float scale = scale_of(quantizer, filter, k);
    for (int tap = 0; tap < taps; tap++)
        for (int i = 0; i < channels; i++) {
            const int c = quantizer->reversed ? i / 4 * 4 + 3 - i % 4 : i;
            const int source = quantizer->first_word ? c % 4 : c;
            const float value = c < p->C && !quantizer->no_bytes ? filter[tap * p->C + source] : 0;
            const float scaled = value / scale;
            row[tap * channels + i] = c < p->C ? round_as(quantizer->rounding, scaled) : 0;
        }
    row[taps * channels] = quantizer->inverse_stored ? 1 / scale : scale;
}

static void quantize_rows(Quantizer *quantizer, const float *w, double *value)
{
    const QuantizeProblem *p = &quantizer->p;
    const size_t count = (size_t)p->R * p->S * p->C, row = 4 * words_of(p) + 1;
    quantizer->whole = largest_of(quantizer, w, p->K * count);
    quantizer->first = largest_of(quantizer, w, count);
    for (int k = 0; k < p->K; k++)
        quantize_row(quantizer, w + k * count, k, value + k * row);
}

static void quantize_oracle(const Problem *problem, const float *const *tensor, double *expected,
                            double *magnitude, double *terms)
{
    QuantizeProblem p = quantize_unpack(problem);
    Quantizer quantizer = quantizer_of(&p);
    const size_t total = p.K * (4 * words_of(&p) + 1);
    quantize_rows(&quantizer, tensor[TENSOR_W], expected);
    for (size_t i = 0; i < total; i++) {
        magnitude[i] = 0;
        terms[i] = 1;
    }
}

enum {
    NOTHING,
    NO_SCALE,
    NO_BYTES,
    TRUNCATED,
    FLOORED,
    HALF_AWAY,
    BY_128,
    BY_255,
    SIGNED_LARGEST,
    OTHER_PER,
    OTHER_MAXIMUM,
    INVERSE,
    INVERTED,
    FIRST_FILTER,
    WHOLE_NUMBERS,
    FIRST_WORD,
    ZERO_DIVIDES,
    REVERSED,
    SIGN_BITS,
    MISTAKES
};

static const Mistake MISTAKE[MISTAKES] = {
    [NOTHING] = {FAULT_FORMULA, "Every byte is 0 and every scale is 1: no value was quantised."},
    [NO_SCALE] = {FAULT_SCALE, "Every scale is 1. It is the largest magnitude divided by 127."},
    [NO_BYTES] = {FAULT_FORMULA, "The scales are right, but every byte is 0: the values were not "
                                 "divided by the scale and rounded, or not packed into words. (A "
                                 "multiplication by the scale gives values near 0.)"},
    [TRUNCATED] = {FAULT_ROUNDING, "The quotients are truncated toward zero. Round to the nearest "
                                   "integer, ties to even: __float2int_rn."},
    [FLOORED] = {FAULT_ROUNDING, "The quotients are rounded down. Round to the nearest integer, "
                                 "ties to even: __float2int_rn."},
    [HALF_AWAY] = {FAULT_ROUNDING, "Ties are rounded away from zero, as roundf does. Here they are "
                                   "rounded to the even neighbour: __float2int_rn or rintf."},
    [BY_128] = {FAULT_SCALE, "The scale is largest / 128, so the largest value becomes 128, which "
                             "a signed byte does not have. The divisor is 127."},
    [BY_255] = {FAULT_SCALE,
                "The scale is largest / 255, as for unsigned bytes. Signed bytes reach "
                "from -127 to 127: the divisor is 127."},
    [SIGNED_LARGEST] = {FAULT_SCALE, "The maximum is that of w, not of |w|. A negative value may "
                                     "have the largest magnitude: use fabsf."},
    [OTHER_PER] = {FAULT_SCALE,
                   "The maximum is taken over the wrong values. per=channel has a "
                   "maximum for each filter, per=tensor one for all filters together."},
    [OTHER_MAXIMUM] = {FAULT_SCALE,
                       "The maximum of a filter is stored in the wrong element. With per=channel "
                       "filter k raises maximum[k], with per=tensor every filter raises "
                       "maximum[0]."},
    [INVERSE] = {FAULT_SCALE, "The stored scales are inverted. scale = largest / 127 is the value "
                              "of one step, w = q * scale."},
    [INVERTED] = {FAULT_SCALE, "The scale is 127 / largest. It is largest / 127, the value of one "
                               "step, and w is divided by it."},
    [FIRST_FILTER] = {FAULT_SCALE,
                      "Every filter has the maximum of filter 0: the index of w lacks the offset "
                      "of filter k, k times the weights of a filter."},
    [WHOLE_NUMBERS] = {FAULT_SCALE, "The maximum is that of truncated values, as with abs(int) or "
                                    "a cast. The values are floats: use fabsf."},
    [FIRST_WORD] = {FAULT_ONE_CHANNEL,
                    "Every word of a tap has the values of channels 0 to 3: the index of w lacks "
                    "the first channel of the word."},
    [ZERO_DIVIDES] = {FAULT_SCALE, "A filter of zeros has the scale 0, and 0 / 0 is NaN. Its scale "
                                   "is 1."},
    [REVERSED] = {FAULT_BYTE_ORDER,
                  "The bytes of each word are in the reverse order. The first channel of a word is "
                  "its lowest byte, bits 0 to 7."},
    [SIGN_BITS] = {FAULT_SIGN,
                   "A negative value also sets the bits of the bytes above its own. Put "
                   "only its lowest eight bits into the word: value & 0xff."},
};

/* The definition with this mistake. */
static Quantizer quantizer_mistaken(const QuantizeProblem *p, int which)
{
    Quantizer quantizer = quantizer_of(p);
    switch (which) {
    case TRUNCATED:
        quantizer.rounding = ROUND_TRUNCATE;
        break;
    case FLOORED:
        quantizer.rounding = ROUND_FLOOR;
        break;
    case HALF_AWAY:
        quantizer.rounding = ROUND_AWAY;
        break;
    case BY_128:
        quantizer.divisor = 128;
        break;
    case BY_255:
        quantizer.divisor = 255;
        break;
    case SIGNED_LARGEST:
        quantizer.is_signed = 1;
        break;
    case OTHER_PER:
        quantizer.p.per = p->per == INT8_PER_CHANNEL ? INT8_PER_TENSOR : INT8_PER_CHANNEL;
        break;
    case OTHER_MAXIMUM:
        quantizer.wrong_maximum = 1;
        break;
    case INVERSE:
        quantizer.inverse_stored = 1;
        break;
    case INVERTED:
        quantizer.inverted = 1;
        break;
    case FIRST_FILTER:
        quantizer.first_filter = 1;
        break;
    case WHOLE_NUMBERS:
        quantizer.whole_numbers = 1;
        break;
    case FIRST_WORD:
        quantizer.first_word = 1;
        break;
    case ZERO_DIVIDES:
        quantizer.zero_divides = 1;
        break;
    case REVERSED:
        quantizer.reversed = 1;
        break;
    case SIGN_BITS:
        break;
    default:
        quantizer.no_scale = which != NO_BYTES;
        quantizer.no_bytes = which != NO_SCALE;
    }
    return quantizer;
}

/* The byte that a kernel stores for this number: __float2int_rn saturates to an int and returns 0
 * for NaN, and the byte has the int's lowest bits. */
static double byte_stored(double value)
{
    if (isnan(value)) return 0;
    return (int8_t)(uint8_t)(uint32_t)(int32_t)fmin(fmax(value, INT32_MIN), INT32_MAX);
}

/* The bytes of a word that consists of the bits of value[i] << 8*i, including those of its sign. */
static void signs_spread(double value[4])
{
    int sign = 0;
    for (int i = 0; i < 4; i++) {
        const int byte = (int)value[i];
        value[i] = sign ? -1 : byte;
        sign |= byte < 0;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    QuantizeProblem p = quantize_unpack(&judged->view.problem);
    Quantizer quantizer = quantizer_mistaken(&p, which);
    const size_t row = 4 * words_of(&p) + 1;
    quantize_rows(&quantizer, judged->view.tensor[TENSOR_W], value);
    for (size_t i = 0; i < (size_t)p.K * row; i++)
        if (i % row != row - 1) value[i] = byte_stored(value[i]);
    for (size_t k = 0; k < (size_t)p.K && which == SIGN_BITS; k++)
        for (size_t i = 0; i < row - 1; i += 4)
            signs_spread(&value[k * row + i]);
    return 1;
}

static void quantize_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
}

const Operation quantize_operation = {.name = "quantize",
                                      .example = "K=5 R=3 S=2 C=7 per=channel",
                                      .parse = quantize_parse,
                                      .print = quantize_print,
                                      .draw = quantize_draw,
                                      .tensors = quantize_tensors,
                                      .numbers = quantize_numbers,
                                      .flops = quantize_flops,
                                      .least_bytes = quantize_least_bytes,
                                      .generate = quantize_generate,
                                      .oracle = quantize_oracle,
                                      .own_reach = 1,
                                      .rearrange = quantize_rearrange,
                                      .explain = quantize_explain};
