/* activate_forward.c - a bias for each channel and an activation (convlab/layers.h).
 *
 * The bound of an output contains only its own rounding errors (activation.h; own_reach):
 * magnitude is their sum in units of u, terms 1. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "common/operations/catalog/activation.h"
#include "convlab/layers.h"

enum { TENSOR_X, TENSOR_B, TENSOR_Y, TENSORS };

static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(ActivateProblem, N), 1, 1 << 30, NULL, 0},
    {"C", SHAPE_NUMBER, offsetof(ActivateProblem, C), 1, 1 << 30, NULL, 0},
    {"H", SHAPE_NUMBER, offsetof(ActivateProblem, H), 1, 1 << 30, NULL, 0},
    {"W", SHAPE_NUMBER, offsetof(ActivateProblem, W), 1, 1 << 30, NULL, 0},
    {"kind", SHAPE_WORD, offsetof(ActivateProblem, kind), 0, 0, "relu tanh sigmoid", 0},
    {0},
};

static ActivateProblem activate_unpack(const Problem *problem)
{
    ActivateProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int activate_parse(const char *text, Problem *problem, Error *error)
{
    ActivateProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error) ||
        shape_check_count("x", (double)p.N * p.C * p.H * p.W, error))
        return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void activate_print(const Problem *problem, char *text, size_t bytes)
{
    ActivateProblem p = activate_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* Each function round-robin: on maps, on single numbers (the outputs of a fully connected layer),
 * and on sizes that fill whole blocks. */
static void activate_draw(Random *random, int index, double max_macs, Problem *problem)
{
    ActivateProblem p = {.N = random_range(random, 2, 5),
                         .C = random_range(random, 2, 19),
                         .H = random_range(random, 3, 23),
                         .W = random_range(random, 3, 23),
                         .kind = index % 3};
    if (index % 4 == 1) p.H = p.W = 1;
    if (index % 4 == 3) p.C = 8, p.H = 4, p.W = 16;
    while (p.N > 1 && (double)p.N * p.C * p.H * p.W > max_macs)
        p.N--;
    problem_pack(&p, sizeof p, problem);
}

static int activate_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    ActivateProblem p = activate_unpack(problem);
    shape[TENSOR_X] = (TensorShape){"x",
                                    TENSOR_INPUT,
                                    4,
                                    {(size_t)p.N, (size_t)p.C, (size_t)p.H, (size_t)p.W},
                                    {"n", "c", "h", "w"}};
    shape[TENSOR_B] = (TensorShape){"b", TENSOR_INPUT, 1, {(size_t)p.C}, {"c"}};
    shape[TENSOR_Y] = shape[TENSOR_X];
    shape[TENSOR_Y].name = "y";
    shape[TENSOR_Y].role = TENSOR_OUTPUT;
    return TENSORS;
}

static double activate_count(const ActivateProblem *p)
{
    return (double)p->N * p->C * p->H * p->W;
}

/* One addition and one function per output. */
static double activate_flops(const Problem *problem)
{
    ActivateProblem p = activate_unpack(problem);
    return 2 * activate_count(&p);
}

static double activate_least_bytes(const Problem *problem)
{
    ActivateProblem p = activate_unpack(problem);
    return 4 * (2 * activate_count(&p) + p.C);
}

static int activate_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    ActivateProblem p = activate_unpack(problem);
    const ProblemNumber all[] = {{"N", p.N}, {"C", p.C}, {"H", p.H}, {"W", p.W}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* One element in 16 is the negative of its channel's bias, or a few floats away from it: there the
 * sum is 0 or close to it, and exact. */
static void stand_at_zero(const ActivateProblem *p, Random *random, const float *b, float *x)
{
    const size_t map = (size_t)p->H * (size_t)p->W, count = (size_t)(p->N * p->C) * map;
    for (size_t i = 0; i < count; i++) {
        if (random_range(random, 0, 15)) continue;
        x[i] = -b[i / map % (size_t)p->C];
        for (int steps = random_range(random, 0, 6) - 3; steps; steps -= steps < 0 ? -1 : 1)
            x[i] = nextafterf(x[i], steps < 0 ? -INFINITY : INFINITY);
    }
}

static void activate_generate(const Problem *problem, Random *random, float *const *tensor)
{
    TensorShape shape[OPERATION_TENSORS];
    ActivateProblem p = activate_unpack(problem);
    Random zeros;
    activate_tensors(problem, shape);
    for (int t = TENSOR_X; t <= TENSOR_B; t++) {
        Random own;
        random_child(random, shape[t].name, &own);
        random_wide_fill(&own, tensor[t], tensor_count(&shape[t]));
    }
    random_child(random, "zeros", &zeros);
    stand_at_zero(&p, &zeros, tensor[TENSOR_B], tensor[TENSOR_X]);
}

/* ---- oracle ---------------------------------------------------------------------------------- */

static void activate_oracle_element(const Problem *problem, const float *const *tensor,
                                    size_t index, double value[3])
{
    ActivateProblem p = activate_unpack(problem);
    size_t c = index / ((size_t)p.H * p.W) % p.C;
    double z = (double)tensor[TENSOR_X][index] + tensor[TENSOR_B][c];
    value[0] = activation_value(p.kind, z);
    value[1] = activation_roundings(p.kind, z);
    value[2] = 1;
}

static void activate_oracle(const Problem *problem, const float *const *tensor, double *expected,
                            double *magnitude, double *terms)
{
    ActivateProblem p = activate_unpack(problem);
    size_t count = (size_t)p.N * p.C * p.H * p.W;
    for (size_t i = 0; i < count; i++) {
        double value[3];
        activate_oracle_element(problem, tensor, i, value);
        expected[i] = value[0];
        magnitude[i] = value[1];
        terms[i] = value[2];
    }
}

/* ---- mistakes -------------------------------------------------------------------------------- */

enum {
    NO_BIAS,
    BIAS_OF_FIRST,
    BIAS_OF_LAST_AXIS,
    BIAS_OF_IMAGE,
    BIAS_AFTER,
    BIAS_SUBTRACTED,
    NO_FUNCTION,
    RELU,
    TANH,
    SIGMOID,
    SIGN_OF_EXPONENT,
    MISTAKES
};

static const Mistake MISTAKE[MISTAKES] = {
    [NO_BIAS] = {FAULT_FORMULA, "The bias is missing: f(x) instead of f(x + b[c])."},
    [BIAS_OF_FIRST] = {FAULT_ONE_CHANNEL, "Every channel gets the bias of the first, b[0]."},
    [BIAS_OF_LAST_AXIS] =
        {FAULT_ONE_CHANNEL,
         "The bias is selected by an element's position in memory modulo C, as if channels were "
         "contiguous. Here H*W elements of one channel are contiguous: c = i / (H*W) % C."},
    [BIAS_OF_IMAGE] =
        {FAULT_ONE_CHANNEL,
         "The bias is selected by the image, b[n % C], and not by the channel: c = i / (H*W) % C."},
    [BIAS_AFTER] = {FAULT_FORMULA,
                    "The bias is added after the function: f(x) + b[c] instead of f(x + b[c])."},
    [BIAS_SUBTRACTED] = {FAULT_FORMULA, "The bias is subtracted."},
    [NO_FUNCTION] = {FAULT_FORMULA, "The function is missing: this is x + b[c]."},
    [RELU] = {FAULT_FORMULA, "This is the ReLU, regardless of the problem's kind."},
    [TANH] = {FAULT_FORMULA, "This is tanh, regardless of the problem's kind."},
    [SIGMOID] = {FAULT_FORMULA, "This is the sigmoid, regardless of the problem's kind."},
    [SIGN_OF_EXPONENT] = {FAULT_FORMULA, "This is the function of -z: look at the sign of the "
                                         "exponent."},
};

static double mistaken_value(const ActivateProblem *p, int which, double x, double b)
{
    switch (which) {
    case BIAS_AFTER:
        return activation_value(p->kind, x) + b;
    case BIAS_SUBTRACTED:
        return activation_value(p->kind, x - b);
    case NO_FUNCTION:
        return x + b;
    case RELU:
        return activation_value(ACTIVATE_RELU, x + b);
    case TANH:
        return activation_value(ACTIVATE_TANH, x + b);
    case SIGMOID:
        return activation_value(ACTIVATE_SIGMOID, x + b);
    case SIGN_OF_EXPONENT:
        return activation_value(p->kind, -x - b);
    default:
        return activation_value(p->kind, x + b);
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    ActivateProblem p = activate_unpack(&judged->view.problem);
    size_t plane = (size_t)p.H * p.W, count = (size_t)p.N * p.C * plane;
    const float *x = judged->view.tensor[TENSOR_X], *b = judged->view.tensor[TENSOR_B];
    for (size_t i = 0; i < count; i++) {
        size_t c = i / plane % p.C;
        if (which == BIAS_OF_FIRST) c = 0;
        if (which == BIAS_OF_LAST_AXIS) c = i % p.C;
        if (which == BIAS_OF_IMAGE) c = i / plane / p.C % p.C;
        value[i] = mistaken_value(&p, which, x[i], which == NO_BIAS ? 0 : b[c]);
    }
    return 1;
}

static int errors_stay_below(const Judgement *judged, double limit)
{
    for (size_t i = 0; i < judged->verdict.total; i++)
        if (!(fabs(judged->view.output[i] - judged->expected[i]) <= limit)) return 0;
    return 1;
}

/* Whether the errors are small relative to 1, but not to the outputs. */
static int loses_digits(const Judgement *judged)
{
    return errors_stay_below(judged, 0x1p-20);
}

/* Whether the errors are those of the GPU's approximate tanh, or of fp16. */
static int is_approximated(const Judgement *judged)
{
    return errors_stay_below(judged, 0x1p-10);
}

/* The z that the function has this value for; NaN: several z, or none. */
static double activation_inverse(int kind, double value)
{
    switch (kind) {
    case ACTIVATE_TANH:
        return fabs(value) < 0.999 ? atanh(value) : (double)NAN;
    case ACTIVATE_SIGMOID:
        return value > 0.001 && value < 0.999 ? log(value / (1 - value)) : (double)NAN;
    default:
        return value > 0 ? value : (double)NAN;
    }
}

/* The only channel whose bias makes x the z of the observed output; C: none, or several. */
static int bias_used(const Judgement *judged, const ActivateProblem *p, size_t i)
{
    const float *x = judged->view.tensor[TENSOR_X], *b = judged->view.tensor[TENSOR_B];
    const double z = activation_inverse(p->kind, judged->view.output[i]);
    int found = p->C;
    for (int c = 0; c < p->C; c++) {
        const double due = (double)x[i] + b[c];
        if (!(fabs(z - due) <= 1e-4 * (fabs((double)x[i]) + fabs((double)b[c])) + 1e-5)) continue;
        if (found < p->C) return p->C;
        found = c;
    }
    return found;
}

/* Most wrong outputs have another channel's bias. */
static int find_bias(const Judgement *judged, const ActivateProblem *p, Finding *finding)
{
    const size_t plane = (size_t)p->H * p->W;
    size_t known = 0, unknown = 0, first = 0;
    int used = 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        if (judged->mark[i] != MARK_WRONG) continue;
        if (isnan(activation_inverse(p->kind, judged->view.output[i]))) continue;
        const int c = bias_used(judged, p, i);
        if (c == p->C || c == (int)(i / plane % p->C))
            unknown++;
        else if (!known++)
            first = i, used = c;
    }
    if (known < 4 || known < 8 * unknown) return 0;
    TensorShape shape[OPERATION_TENSORS];
    char where[96];
    activate_tensors(&judged->view.problem, shape);
    tensor_place(&shape[TENSOR_Y], first, where, sizeof where);
    finding->fault = FAULT_ONE_CHANNEL;
    finding_say(finding,
                "The wrong outputs have the bias of another channel: y at %s has b[%d]. The "
                "channel of element i is c = i / (H*W) %% C.",
                where, used);
    return 1;
}

/* Outputs by the sign of x + b[c], and the range of wrong ones as multiples of it. */
typedef struct Branches {
    size_t wrong[2], right[2]; /* [0]: positive, [1]: negative */
    double least, most;
} Branches;

static void branches_count(const Judgement *judged, const ActivateProblem *p, Branches *branches)
{
    const float *x = judged->view.tensor[TENSOR_X], *b = judged->view.tensor[TENSOR_B];
    *branches = (Branches){.least = INFINITY, .most = -INFINITY};
    for (size_t i = 0; i < judged->verdict.total; i++) {
        const double z = (double)x[i] + b[i / ((size_t)p->H * p->W) % (size_t)p->C];
        int is_right = judged->mark[i] == MARK_RIGHT;
        (is_right ? branches->right : branches->wrong)[z < 0]++;
        if (is_right) continue;
        branches->least = fmin(branches->least, judged->view.output[i] / z);
        branches->most = fmax(branches->most, judged->view.output[i] / z);
    }
}

/* ReLU: the wrong outputs are those with negative sums, or those with positive ones.  A few of them
 * may be right, because their sum is near 0. */
static int find_branch(const Judgement *judged, const ActivateProblem *p, Finding *finding)
{
    enum { ENOUGH = 8, FEW = 20 };
    Branches branches;
    if (p->kind != ACTIVATE_RELU) return 0;
    branches_count(judged, p, &branches);
    int negative = branches.wrong[1] > 0;
    size_t wrong = branches.wrong[negative];
    if (branches.wrong[!negative] || wrong < ENOUGH || branches.right[negative] * FEW > wrong)
        return 0;
    finding->fault = FAULT_FORMULA;
    finding_say(finding, "Exactly outputs with %s x + b[c] are wrong; they should be %s.",
                negative ? "a negative" : "a positive", negative ? "0" : "x + b[c]");
    if (isfinite(branches.least) && branches.most - branches.least <= 1e-3 * fabs(branches.most))
        finding_say(finding, "They are %.4g times x + b[c].", branches.most);
    return 1;
}

/* Whether the finding is a position or nothing at all. */
static int is_general(const Finding *finding)
{
    return finding->fault == FAULT_EVERYWHERE || finding->fault == FAULT_ONE_IMAGE ||
           finding->fault == FAULT_ONE_FILTER || finding->fault == FAULT_LAST_BLOCK ||
           finding->fault == FAULT_TILE_EDGE;
}

static void activate_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    ActivateProblem p = activate_unpack(&judged->view.problem);
    if (p.kind != ACTIVATE_RELU && loses_digits(judged)) {
        finding->fault = FAULT_PRECISION;
        finding_say(
            finding,
            p.kind == ACTIVATE_TANH
                ? "The errors are small compared with 1, but not compared with the outputs. If z "
                  "is small, (exp(z) - exp(-z)) / (exp(z) + exp(-z)) and similar formulas subtract "
                  "two numbers near 1, and few digits remain. tanhf keeps them."
                : "The errors are small compared with 1, but not compared with the outputs. If z "
                  "is far below 0, a sigmoid made of tanh, or 1 - something, subtracts two nearly "
                  "equal numbers. 1 / (1 + expf(-z)) does not.");
        return;
    }
    if (p.kind != ACTIVATE_RELU && is_approximated(judged)) {
        finding->fault = FAULT_PRECISION;
        finding_say(finding, "Every output is nearly correct, in ten to twenty of its 24 bits: "
                             "this is the accuracy of tanh.approx, of half-precision functions and "
                             "of similar ones. tanhf and expf have all 24.");
        return;
    }
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
    Finding values = {0};
    if (is_general(finding) && (find_branch(judged, &p, &values) || find_bias(judged, &p, &values)))
        *finding = values;
}

extern const Operation activate_forward_operation;
const Operation activate_forward_operation = {.name = "activate_forward",
                                              .example = "N=2 C=3 H=5 W=7 kind=tanh",
                                              .parse = activate_parse,
                                              .print = activate_print,
                                              .draw = activate_draw,
                                              .tensors = activate_tensors,
                                              .numbers = activate_numbers,
                                              .flops = activate_flops,
                                              .least_bytes = activate_least_bytes,
                                              .generate = activate_generate,
                                              .oracle = activate_oracle,
                                              .oracle_element = activate_oracle_element,
                                              .own_reach = 1,
                                              .explain = activate_explain};
