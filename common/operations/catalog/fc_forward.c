/* fc_forward.c - fully connected layer (convlab/layers.h): a convolution of 1 x 1 images, with the
 * convolution's oracle and bound (conv_problem.h, verdict.h). */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"
#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "convlab/layers.h"

enum { TENSOR_X, TENSOR_W, TENSOR_Y, TENSORS, WARP = 32 };

static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(FcProblem, N), 1, 1 << 30, NULL, 0},
    {"C", SHAPE_NUMBER, offsetof(FcProblem, C), 1, 1 << 30, NULL, 0},
    {"K", SHAPE_NUMBER, offsetof(FcProblem, K), 1, 1 << 30, NULL, 0},
    {0},
};

static FcProblem fc_unpack(const Problem *problem)
{
    FcProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

static Problem as_convolution(const Problem *problem)
{
    FcProblem p = fc_unpack(problem);
    ConvProblem conv = {.N = p.N,
                        .C = p.C,
                        .H = 1,
                        .W = 1,
                        .K = p.K,
                        .R = 1,
                        .S = 1,
                        .P = 1,
                        .Q = 1,
                        .stride_h = 1,
                        .stride_w = 1};
    Problem packed;
    conv_pack(&conv, &packed);
    return packed;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int fc_parse(const char *text, Problem *problem, Error *error)
{
    FcProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error) ||
        shape_check_count("x", (double)p.N * p.C, error) ||
        shape_check_count("w", (double)p.K * p.C, error) ||
        shape_check_count("y", (double)p.N * p.K, error))
        return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void fc_print(const Problem *problem, char *text, size_t bytes)
{
    FcProblem p = fc_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* One image and many; inputs and outputs in multiples of a warp, one more or less, and fewer than a
 * warp. */
static void fc_draw(Random *random, int index, double max_macs, Problem *problem)
{
    FcProblem p = {.N = index % 2 ? random_range(random, 2, 19) : 1};
    switch (index % 4) {
    case 0:
        p.C = random_range(random, 65, 400);
        p.K = random_range(random, 9, 120);
        break;
    case 1:
        p.C = 32 * random_range(random, 1, 8) + random_range(random, -1, 1);
        p.K = 8 * random_range(random, 1, 5) + random_range(random, -1, 1);
        break;
    case 2:
        p.C = random_range(random, 1, 31);
        p.K = random_range(random, 1, 9);
        break;
    default:
        p.C = 128 * random_range(random, 1, 3);
        p.K = 16 * random_range(random, 1, 4);
        break;
    }
    while (p.K > 1 && (double)p.N * p.C * p.K > max_macs)
        p.K--;
    problem_pack(&p, sizeof p, problem);
}

static int fc_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    FcProblem p = fc_unpack(problem);
    size_t N = (size_t)p.N, C = (size_t)p.C, K = (size_t)p.K;
    shape[TENSOR_X] = (TensorShape){"x", TENSOR_INPUT, 2, {N, C}, {"n", "c"}};
    shape[TENSOR_W] = (TensorShape){"w", TENSOR_INPUT, 2, {K, C}, {"k", "c"}};
    shape[TENSOR_Y] = (TensorShape){"y", TENSOR_OUTPUT, 2, {N, K}, {"n", "k"}};
    return TENSORS;
}

static double fc_flops(const Problem *problem)
{
    FcProblem p = fc_unpack(problem);
    return 2.0 * p.N * p.C * p.K;
}

static double fc_least_bytes(const Problem *problem)
{
    FcProblem p = fc_unpack(problem);
    return 4 * ((double)p.N * p.C + (double)p.K * p.C + (double)p.N * p.K);
}

static int fc_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    FcProblem p = fc_unpack(problem);
    const ProblemNumber all[] = {
        {"N", p.N}, {"C", p.C}, {"K", p.K}, {"macs", (double)p.N * p.C * p.K}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

static void fc_generate(const Problem *problem, Random *random, float *const *tensor)
{
    TensorShape shape[OPERATION_TENSORS];
    fc_tensors(problem, shape);
    for (int t = TENSOR_X; t <= TENSOR_W; t++) {
        Random own;
        random_child(random, shape[t].name, &own);
        random_wide_fill(&own, tensor[t], tensor_count(&shape[t]));
    }
}

/* ---- the oracle ------------------------------------------------------------------------------ */

static void fc_oracle(const Problem *problem, const float *const *tensor, double *expected,
                      double *magnitude, double *terms)
{
    Problem conv = as_convolution(problem);
    conv_oracle(&conv, tensor, expected, magnitude, terms);
}

static void fc_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                              double value[3])
{
    Problem conv = as_convolution(problem);
    conv_oracle_element(&conv, tensor, index, value);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

enum {
    TRANSPOSED,
    FIRST_IMAGE,
    FIRST_OUTPUT,
    LANE_ALONE,
    HALF_WARP,
    WHOLE_WARPS,
    ONE_WARP,
    LAST_INPUT,
    FIRST_INPUT,
    DOWN_ONE_OUTPUT,
    DOWN_FOUR_OUTPUTS,
    MISTAKES
};

#define DOWN_TEXT                                                                                  \
    "After __shfl_down_sync only lane 0 has the sum of all 32 lanes; the results that other "      \
    "lanes "                                                                                       \
    "keep are wrong. With __shfl_xor_sync every lane has the sum."
static const Mistake MISTAKE[MISTAKES] = {
    [TRANSPOSED] = {FAULT_LAYOUT, "w is read as w[c][k]. It is stored as w[k][c], the inputs of "
                                  "one output contiguous: w[k*C + c]."},
    [FIRST_IMAGE] = {FAULT_ONE_IMAGE, "Every image gets the outputs of the first: x's offset "
                                      "lacks n*C."},
    [FIRST_OUTPUT] = {FAULT_ONE_FILTER, "Every output is the first: w's offset lacks k*C."},
    [LANE_ALONE] = {FAULT_TAP_DROPPED,
                    "Only every 32nd input is summed, those of lane 0: the lanes' partial sums "
                    "are not added. A warp's sum takes five steps of __shfl_xor_sync or "
                    "__shfl_down_sync, by 16, 8, 4, 2 and 1."},
    [HALF_WARP] = {FAULT_TAP_DROPPED, "Only the inputs of lanes 0 to 15 are summed: the reduction "
                                      "starts with 16, half of a warp, not with 8."},
    [WHOLE_WARPS] = {FAULT_TAP_DROPPED,
                     "The inputs after the last multiple of 32 are left out: the loop over c runs "
                     "while c < C, not for C / 32 iterations."},
    [ONE_WARP] = {FAULT_TAP_DROPPED,
                  "Only the first 32 inputs are summed: each lane increases c by 32 until C."},
    [LAST_INPUT] = {FAULT_TAP_DROPPED,
                    "The last input is left out: the loop over c ends at C - 1."},
    [FIRST_INPUT] = {FAULT_TAP_DROPPED, "The first input is left out: c starts at 0."},
    [DOWN_ONE_OUTPUT] = {FAULT_ONE_IMAGE, DOWN_TEXT},
    [DOWN_FOUR_OUTPUTS] = {FAULT_ONE_IMAGE, DOWN_TEXT},
};

/* Whether the sum with this mistake includes input c. */
static int takes(int which, int C, int c)
{
    switch (which) {
    case LANE_ALONE:
        return c % WARP == 0;
    case HALF_WARP:
        return c % WARP < WARP / 2;
    case WHOLE_WARPS:
        return c < C / WARP * WARP;
    case ONE_WARP:
        return c < WARP;
    case LAST_INPUT:
        return c < C - 1;
    case FIRST_INPUT:
        return c > 0;
    default:
        return 1;
    }
}

/* count[l]: how often lane l's part is in the result of lane `me` after five steps of
 * __shfl_down_sync, which returns a lane's own value if there is no lane so far up. */
static void down_counts(int me, int count[WARP])
{
    int of[WARP][WARP] = {{0}};
    for (int lane = 0; lane < WARP; lane++)
        of[lane][lane] = 1;
    for (int step = WARP / 2; step; step /= 2)
        for (int lane = 0; lane < WARP; lane++) /* upper lanes still have the last step's value */
            for (int l = 0; l < WARP; l++)
                of[lane][l] += of[lane + step < WARP ? lane + step : lane][l];
    memcpy(count, of[me], sizeof of[me]);
}

/* The sum of output k of image n in a lane of a warp that has 8 images and 1 or 4 outputs. */
static double down_sum(const FcProblem *p, const float *x, const float *w, int n, int k,
                       int outputs)
{
    enum { IMAGES = 8 };
    int count[WARP];
    double sum = 0;
    down_counts(n % IMAGES * outputs + k % outputs, count);
    for (int c = 0; c < p->C; c++)
        sum += count[c % WARP] * (double)x[(size_t)n * p->C + c] * w[(size_t)k * p->C + c];
    return sum;
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    FcProblem p = fc_unpack(&judged->view.problem);
    const float *x = judged->view.tensor[TENSOR_X], *w = judged->view.tensor[TENSOR_W];
    for (int n = 0; n < p.N; n++)
        for (int k = 0; k < p.K; k++) {
            const float *row = x + (which == FIRST_IMAGE ? 0 : (size_t)n * p.C);
            size_t at = which == FIRST_OUTPUT ? 0 : (size_t)k;
            double sum = 0;
            if (which >= DOWN_ONE_OUTPUT) {
                *value++ = down_sum(&p, x, w, n, k, which == DOWN_ONE_OUTPUT ? 1 : 4);
                continue;
            }
            for (int c = 0; c < p.C; c++)
                if (takes(which, p.C, c))
                    sum += (double)row[c] *
                           w[which == TRANSPOSED ? (size_t)c * p.K + at : at * p.C + (size_t)c];
            *value++ = sum;
        }
    return 1;
}

static void fc_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
}

extern const Operation fc_forward_operation;
const Operation fc_forward_operation = {.name = "fc_forward",
                                        .example = "N=3 C=70 K=11",
                                        .parse = fc_parse,
                                        .print = fc_print,
                                        .draw = fc_draw,
                                        .tensors = fc_tensors,
                                        .numbers = fc_numbers,
                                        .flops = fc_flops,
                                        .least_bytes = fc_least_bytes,
                                        .generate = fc_generate,
                                        .oracle = fc_oracle,
                                        .oracle_element = fc_oracle_element,
                                        .has_products = 1,
                                        .explain = fc_explain};
