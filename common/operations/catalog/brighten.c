/* brighten.c - brightening of a picture, pixel by pixel (convlab/brighten.h).
 *
 * An output is one multiplication and one addition, each rounded once, independent of its
 * neighbours (own_reach): magnitude |gain * x| + |lift|, terms 2. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "convlab/brighten.h"

enum { TENSOR_X, TENSOR_Y, TENSORS };

/* Both are exact as floats, even if a kernel converts them from int. */
enum { MOST = 1 << 20 };

static const ShapeKey KEYS[] = {
    {"pixels", SHAPE_NUMBER, offsetof(BrightenProblem, pixels), 1, 1 << 30, NULL, 0},
    {"gain", SHAPE_NUMBER, offsetof(BrightenProblem, gain), 0, MOST, NULL, 0},
    {"lift", SHAPE_NUMBER, offsetof(BrightenProblem, lift), 0, MOST, NULL, 0},
    {0},
};

static BrightenProblem brighten_unpack(const Problem *problem)
{
    BrightenProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int brighten_parse(const char *text, Problem *problem, Error *error)
{
    BrightenProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error)) return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void brighten_print(const Problem *problem, char *text, size_t bytes)
{
    BrightenProblem p = brighten_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* Multiples of common block sizes, one pixel more, one less, and any number. */
static void brighten_draw(Random *random, int index, double max_macs, Problem *problem)
{
    int blocks = random_range(random, 1, 5) * 1024;
    BrightenProblem p = {.pixels = random_range(random, 2, 4000),
                         .gain = random_range(random, 2, 9),
                         .lift = random_range(random, 1, 9)};
    if (index % 4 < 3) p.pixels = blocks + index % 4 - 1;
    if (p.pixels > max_macs) p.pixels = max_macs < 1 ? 1 : (int)max_macs;
    problem_pack(&p, sizeof p, problem);
}

static int brighten_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    BrightenProblem p = brighten_unpack(problem);
    shape[TENSOR_X] = (TensorShape){"x", TENSOR_INPUT, 1, {(size_t)p.pixels}, {"i"}};
    shape[TENSOR_Y] = (TensorShape){"y", TENSOR_OUTPUT, 1, {(size_t)p.pixels}, {"i"}};
    return TENSORS;
}

static int brighten_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    BrightenProblem p = brighten_unpack(problem);
    const ProblemNumber all[] = {{"pixels", p.pixels}, {"gain", p.gain}, {"lift", p.lift}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

static double brighten_flops(const Problem *problem)
{
    return 2.0 * brighten_unpack(problem).pixels;
}

static double brighten_least_bytes(const Problem *problem)
{
    return 8.0 * brighten_unpack(problem).pixels;
}

static void brighten_generate(const Problem *problem, Random *random, float *const *tensor)
{
    Random own;
    random_child(random, "x", &own);
    random_wide_fill(&own, tensor[TENSOR_X], (size_t)brighten_unpack(problem).pixels);
}

/* ---- oracle -------------------------------------------------------------------------------- */

static void brighten_oracle_element(const Problem *problem, const float *const *tensor,
                                    size_t index, double value[3])
{
    BrightenProblem p = brighten_unpack(problem);
    double product = (double)p.gain * tensor[TENSOR_X][index];
    value[0] = product + p.lift;
    value[1] = fabs(product) + p.lift;
    value[2] = 2;
}

static void brighten_oracle(const Problem *problem, const float *const *tensor, double *expected,
                            double *magnitude, double *terms)
{
    size_t count = (size_t)brighten_unpack(problem).pixels;
    for (size_t i = 0; i < count; i++) {
        double value[3];
        brighten_oracle_element(problem, tensor, i, value);
        expected[i] = value[0];
        magnitude[i] = value[1];
        terms[i] = value[2];
    }
}

/* ---- mistakes ------------------------------------------------------------------------------ */

enum { NO_LIFT, NO_GAIN, COPIED, LIFT_FIRST, EXCHANGED, SUBTRACTED, CUT, MISTAKES };

static const Mistake MISTAKE[MISTAKES] = {
    [NO_LIFT] = {FAULT_FORMULA, "The lift is missing: this is gain * x[i]."},
    [NO_GAIN] = {FAULT_FORMULA, "The gain is missing: this is x[i] + lift."},
    [COPIED] = {FAULT_FORMULA, "The picture was copied: y[i] is x[i]."},
    [LIFT_FIRST] = {FAULT_FORMULA, "The lift is added before the multiplication: gain * (x[i] + "
                                   "lift) instead of gain * x[i] + lift."},
    [EXCHANGED] = {FAULT_FORMULA, "Gain and lift are exchanged: this is lift * x[i] + gain."},
    [SUBTRACTED] = {FAULT_FORMULA, "The lift is subtracted."},
    [CUT] = {FAULT_PRECISION, "x[i] is truncated to an integer first: omit the cast to int."},
};

static double mistaken_value(const BrightenProblem *p, int which, double x)
{
    switch (which) {
    case NO_LIFT:
        return p->gain * x;
    case NO_GAIN:
        return x + p->lift;
    case COPIED:
        return x;
    case LIFT_FIRST:
        return p->gain * (x + p->lift);
    case EXCHANGED:
        return p->lift * x + p->gain;
    case SUBTRACTED:
        return p->gain * x - p->lift;
    default:
        return p->gain * trunc(x) + p->lift;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    BrightenProblem p = brighten_unpack(&judged->view.problem);
    for (int i = 0; i < p.pixels; i++)
        value[i] = mistaken_value(&p, which, judged->view.tensor[TENSOR_X][i]);
    return 1;
}

static void brighten_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
}

extern const Operation brighten_operation;
const Operation brighten_operation = {.name = "brighten",
                                      .example = "pixels=1000 gain=3 lift=2",
                                      .parse = brighten_parse,
                                      .print = brighten_print,
                                      .draw = brighten_draw,
                                      .tensors = brighten_tensors,
                                      .numbers = brighten_numbers,
                                      .flops = brighten_flops,
                                      .least_bytes = brighten_least_bytes,
                                      .generate = brighten_generate,
                                      .oracle = brighten_oracle,
                                      .oracle_element = brighten_oracle_element,
                                      .own_reach = 1,
                                      .explain = brighten_explain};
