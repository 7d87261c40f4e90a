/* @OPERATION@.c - sums of neighbours in rows (convlab/@OPERATION@.h).
 *
 * The bound.  A sum of S values has S - 1 additions, in any order: at most gamma_(S-1) * sum|x|
 * (Higham, section 3.1): magnitude sum|x|, terms S.  It applies to each output (own_reach). */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "convlab/@OPERATION@.h"

enum { TENSOR_X, TENSOR_Y, TENSORS };

static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(@STRUCT@, N), 1, 1 << 30, NULL, 0},
    {"W", SHAPE_NUMBER, offsetof(@STRUCT@, W), 1, 1 << 30, NULL, 0},
    {"S", SHAPE_NUMBER, offsetof(@STRUCT@, S), 1, 1 << 30, NULL, 0},
    {0},
};

static @STRUCT@ own_unpack(const Problem *problem)
{
    @STRUCT@ p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int own_parse(const char *text, Problem *problem, Error *error)
{
    @STRUCT@ p = {0};
    if (shape_text_parse(text, KEYS, &p, error) ||
        shape_windows("W", p.W, p.S, 0, 0, 1, &p.Q, error) ||
        shape_check_count("x", (double)p.N * p.W, error))
        return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void own_print(const Problem *problem, char *text, size_t bytes)
{
    @STRUCT@ p = own_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* Odd sizes, a window of one value, a window as wide as the row. */
static void own_draw(Random *random, int index, double max_macs, Problem *problem)
{
    @STRUCT@ p = {.N = random_range(random, 1, 9), .W = random_range(random, 5, 300)};
    p.S = index % 3 == 0 ? 1 : index % 3 == 1 ? p.W : random_range(random, 2, 5);
    p.Q = p.W - p.S + 1;
    while (p.N > 1 && (double)p.N * p.Q * p.S > max_macs)
        p.N--;
    problem_pack(&p, sizeof p, problem);
}

static int own_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    @STRUCT@ p = own_unpack(problem);
    size_t n = (size_t)p.N;
    shape[TENSOR_X] = (TensorShape){"x", TENSOR_INPUT, 2, {n, (size_t)p.W}, {"n", "w"}};
    shape[TENSOR_Y] = (TensorShape){"y", TENSOR_OUTPUT, 2, {n, (size_t)p.Q}, {"n", "q"}};
    return TENSORS;
}

/* The names of numbers in formulas of lab.ini. */
static int own_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    @STRUCT@ p = own_unpack(problem);
    const ProblemNumber all[] = {{"N", p.N}, {"W", p.W}, {"S", p.S}, {"Q", p.Q}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

static double own_flops(const Problem *problem)
{
    @STRUCT@ p = own_unpack(problem);
    return (double)p.N * p.Q * p.S;
}

static double own_least_bytes(const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    return tensors_bytes(shape, own_tensors(problem, shape));
}

static void own_generate(const Problem *problem, Random *random, float *const *tensor)
{
    @STRUCT@ p = own_unpack(problem);
    Random own;
    random_child(random, "x", &own);
    random_wide_fill(&own, tensor[TENSOR_X], (size_t)p.N * p.W);
}

/* ---- oracle -------------------------------------------------------------------------------- */

/* The sum of `taps` values; adds their magnitudes to *magnitude. */
static double row_sum(const float *x, int taps, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (int s = 0; s < taps; s++) {
        sum += x[s];
        *magnitude += fabs(x[s]);
    }
    return sum;
}

static void own_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                               double value[3])
{
    @STRUCT@ p = own_unpack(problem);
    size_t n = index / (size_t)p.Q, q = index % (size_t)p.Q;
    value[0] = row_sum(tensor[TENSOR_X] + n * p.W + q, p.S, &value[1]);
    value[2] = p.S;
}

static void own_oracle(const Problem *problem, const float *const *tensor, double *expected,
                       double *magnitude, double *terms)
{
    @STRUCT@ p = own_unpack(problem);
    for (size_t i = 0; i < (size_t)p.N * p.Q; i++) {
        double value[3];
        own_oracle_element(problem, tensor, i, value);
        expected[i] = value[0];
        magnitude[i] = value[1];
        terms[i] = value[2];
    }
}

/* ---- mistakes ------------------------------------------------------------------------------ */

enum { LAST_MISSING, FIRST_MISSING, AVERAGED, FIRST_ROW, MISTAKES };

static const Mistake MISTAKE[MISTAKES] = {
    [LAST_MISSING] = {FAULT_FORMULA, "The last value of each window is missing: s goes to S - 1."},
    [FIRST_MISSING] = {FAULT_FORMULA, "The first value of each window is missing: s starts at 0."},
    [AVERAGED] = {FAULT_FORMULA, "The sum is divided by S; this operation is a sum."},
    [FIRST_ROW] = {FAULT_FORMULA, "All rows of y are computed from the first row of x: use x[n]."},
};

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    @STRUCT@ p = own_unpack(&judged->view.problem);
    double magnitude;
    for (int n = 0; n < p.N; n++)
        for (int q = 0; q < p.Q; q++) {
            size_t row = which == FIRST_ROW ? 0 : (size_t)n * p.W;
            const float *x = judged->view.tensor[TENSOR_X] + row + q;
            int is_short = which == LAST_MISSING || which == FIRST_MISSING;
            double sum = row_sum(x + (which == FIRST_MISSING), p.S - is_short, &magnitude);
            *value++ = which == AVERAGED ? sum / p.S : sum;
        }
    return 1;
}

static void own_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
}

extern const Operation @OPERATION@_operation;
const Operation @OPERATION@_operation = {
    .name = "@OPERATION@",
    .example = "N=3 W=40 S=5",
    .parse = own_parse,
    .print = own_print,
    .draw = own_draw,
    .tensors = own_tensors,
    .numbers = own_numbers,
    .flops = own_flops,
    .least_bytes = own_least_bytes,
    .generate = own_generate,
    .oracle = own_oracle,
    .oracle_element = own_oracle_element,
    .own_reach = 1,
    .explain = own_explain,
};
