/* softmax_forward.c - softmax over the outputs of each image (convlab/layers.h).
 *
 * The bound is that of a correct program, which subtracts the row's largest logit from all of them:
 * activation.h counts its roundings.  Magnitude is those in units of u, terms 1; a
 * probability's error is measured by itself (own_reach), however small it is.  The logits of a row
 * lie within 24 of each other, around a number that depends on `offset`: without the subtraction,
 * their exponentials overflow or are all 0.
 *
 * If there are up to 64 rows, every third has one logit that exceeds the others by 100: the first,
 * the last, the first of a warp's second iteration, or any.  If a program misses it and subtracts
 * another maximum, its exponential overflows.  Problems with more rows have none, because a GPU
 * divides such small numbers at half the speed, and large problems are timed. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "common/operations/catalog/activation.h"
#include "convlab/layers.h"

enum { TENSOR_X, TENSOR_Y, TENSORS, WARP = 32, SPREAD = 24, LEAD = 100, LED = 64 };

static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(SoftmaxProblem, N), 1, 1 << 30, NULL, 0},
    {"K", SHAPE_NUMBER, offsetof(SoftmaxProblem, K), 1, 1 << 30, NULL, 0},
    {"offset", SHAPE_NUMBER, offsetof(SoftmaxProblem, offset), 0, 10000, NULL, 1},
    {0},
};

static SoftmaxProblem softmax_unpack(const Problem *problem)
{
    SoftmaxProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int softmax_parse(const char *text, Problem *problem, Error *error)
{
    SoftmaxProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error) || shape_check_count("x", (double)p.N * p.K, error))
        return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void softmax_print(const Problem *problem, char *text, size_t bytes)
{
    SoftmaxProblem p = softmax_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* Rows shorter than a warp, of the same length, and longer; small logits and large ones. */
static void softmax_draw(Random *random, int index, double max_macs, Problem *problem)
{
    SoftmaxProblem p = {.N = random_range(random, 1, 37), .K = random_range(random, 2, 31)};
    if (index % 4 == 1) p.K = random_range(random, 33, 300);
    if (index % 4 == 2) p.K = 32 * random_range(random, 1, 4);
    if (index % 4 == 3) p.K = 1 + index / 4 % 2;
    if (index % 2) p.offset = random_range(random, 150, 2000);
    while (p.N > 1 && (double)p.N * p.K > max_macs)
        p.N--;
    problem_pack(&p, sizeof p, problem);
}

static int softmax_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    SoftmaxProblem p = softmax_unpack(problem);
    size_t N = (size_t)p.N, K = (size_t)p.K;
    shape[TENSOR_X] = (TensorShape){"x", TENSOR_INPUT, 2, {N, K}, {"n", "k"}};
    shape[TENSOR_Y] = (TensorShape){"y", TENSOR_OUTPUT, 2, {N, K}, {"n", "k"}};
    return TENSORS;
}

/* A comparison, a subtraction, an exponential, an addition and a division for each element. */
static double softmax_flops(const Problem *problem)
{
    SoftmaxProblem p = softmax_unpack(problem);
    return 5.0 * p.N * p.K;
}

static double softmax_least_bytes(const Problem *problem)
{
    SoftmaxProblem p = softmax_unpack(problem);
    return 8.0 * p.N * p.K;
}

static int softmax_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    SoftmaxProblem p = softmax_unpack(problem);
    const ProblemNumber all[] = {{"N", p.N}, {"K", p.K}, {"offset", p.offset}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

static void row_lead(float *row, int K, Random *random)
{
    const int again = K > WARP ? WARP : 0,
              place[] = {0, K - 1, again, random_range(random, 0, K - 1)};
    row[place[random_range(random, 0, 3)]] += LEAD + SPREAD;
}

static void softmax_generate(const Problem *problem, Random *random, float *const *tensor)
{
    SoftmaxProblem p = softmax_unpack(problem);
    Random own;
    random_child(random, "x", &own);
    for (int n = 0; n < p.N; n++) {
        float *x = tensor[TENSOR_X] + (size_t)n * p.K;
        double middle = p.offset * (1 + 0.1 * random_unit(&own)) * (n % 2 ? -1 : 1);
        for (int k = 0; k < p.K; k++)
            x[k] = (float)(middle + SPREAD * (random_unit(&own) - 0.5) + 0x1p-20);
        if (n % 3 == 2 && p.N <= LED) row_lead(x, p.K, &own);
    }
}

/* ---- the oracle ------------------------------------------------------------------------------ */

/* One row: its largest logit, the sum of the exponentials, and the sum of p_j |z_j|. */
typedef struct Row {
    double largest, sum, mean;
} Row;

static Row row_of(const float *x, int K)
{
    Row row = {.largest = -INFINITY};
    for (int k = 0; k < K; k++)
        row.largest = fmax(row.largest, x[k]);
    for (int k = 0; k < K; k++) {
        double z = x[k] - row.largest;
        row.sum += exp(z);
        row.mean += exp(z) * fabs(z);
    }
    row.mean /= row.sum;
    return row;
}

static void row_value(const Row *row, double x, int K, double value[3])
{
    double z = x - row->largest;
    value[0] = exp(z) / row->sum;
    value[1] = softmax_roundings(value[0], z, row->mean, K);
    value[2] = 1;
}

static void softmax_oracle(const Problem *problem, const float *const *tensor, double *expected,
                           double *magnitude, double *terms)
{
    SoftmaxProblem p = softmax_unpack(problem);
    for (int n = 0; n < p.N; n++) {
        const float *x = tensor[TENSOR_X] + (size_t)n * p.K;
        Row row = row_of(x, p.K);
        for (int k = 0; k < p.K; k++) {
            double value[3];
            row_value(&row, x[k], p.K, value);
            *expected++ = value[0];
            *magnitude++ = value[1];
            *terms++ = value[2];
        }
    }
}

/* ---- mistakes -------------------------------------------------------------------------------- */

enum {
    LARGEST_MISSED,
    LARGEST_FROM_ZERO,
    OVERFLOWS,
    UNDIVIDED,
    EXPONENTIAL_ALONE,
    LARGEST_OF_LANE,
    SUM_OF_LANE,
    BASE_TWO,
    LOGARITHM,
    SUM_OF_ALL,
    FIRST_ROW,
    MISTAKES
};

static const Mistake MISTAKE[MISTAKES] = {
    [LARGEST_MISSED] = {FAULT_OVERFLOW,
                        "Only rows in which one logit leads by more than 88 are wrong: the value "
                        "that your code subtracts before expf is not the row's largest logit, and "
                        "expf(89) is infinite already. Check that the search looks at every logit, "
                        "including the first and the last, and that every lane has its result."},
    [LARGEST_FROM_ZERO] = {FAULT_OVERFLOW,
                           "Only rows whose logits are all negative are wrong: the search for the "
                           "maximum starts at 0 and finds no larger value, so every exponential of "
                           "that row is 0, and 0 / 0 is NaN. Start at -INFINITY."},
    [OVERFLOWS] = {FAULT_OVERFLOW,
                   "exp of the logits themselves overflows: expf(89) is infinite already, and "
                   "inf / inf is NaN; far below 0 every exponential is 0, and 0 / 0 is NaN too. "
                   "Subtract the row's largest logit first: the quotient is the same, and the "
                   "largest exponential is exp(0) = 1."},
    [UNDIVIDED] = {FAULT_FORMULA, "The exponentials are not divided by their sum."},
    [EXPONENTIAL_ALONE] = {FAULT_FORMULA, "This is exp(x), alone or divided by a sum "
                                          "of exp(x - maximum): subtract the row's maximum in "
                                          "both, and divide by the sum."},
    [LARGEST_OF_LANE] =
        {FAULT_OVERFLOW,
         "Each lane subtracts the maximum of its own logits. It must subtract the maximum of the "
         "row, the same for all lanes: reduce it over the warp first."},
    [SUM_OF_LANE] = {FAULT_FORMULA, "Each lane divides by the sum of its own exponentials. It must "
                                    "divide by the sum of the row: reduce it over the warp."},
    [BASE_TWO] = {FAULT_FORMULA, "This is a softmax of powers of two: exp2f instead of expf."},
    [LOGARITHM] = {FAULT_FORMULA, "This is the logarithm of the softmax."},
    [SUM_OF_ALL] = {FAULT_FORMULA, "The sum goes over all images. Each row has a sum of its own."},
    [FIRST_ROW] = {FAULT_ONE_IMAGE, "Every image gets the outputs of the first: the offset lacks "
                                    "n*K."},
};

/* A row divided among 32 lanes: each lane's maximum, and its sum of exponentials relative to it. */
typedef struct Lanes {
    double largest[WARP], sum[WARP], all;
} Lanes;

static Lanes lanes_of(const float *x, int K)
{
    Lanes lanes = {.all = 0};
    for (int lane = 0; lane < WARP; lane++)
        lanes.largest[lane] = -INFINITY;
    for (int k = 0; k < K; k++)
        lanes.largest[k % WARP] = fmax(lanes.largest[k % WARP], x[k]);
    for (int k = 0; k < K; k++) {
        double power = exp(x[k] - lanes.largest[k % WARP]);
        lanes.sum[k % WARP] += power;
        lanes.all += power;
    }
    return lanes;
}

static double float_exp(double x)
{
    return (float)exp(x);
}

/* Sum of a row's exponentials in fp32, without subtraction of the maximum. */
static double naive_sum(const float *x, int K)
{
    double sum = 0;
    for (int k = 0; k < K; k++)
        sum = (float)(sum + float_exp(x[k]));
    return sum;
}

static double sum_of_powers_of_two(const float *x, int K, double largest)
{
    double sum = 0;
    for (int k = 0; k < K; k++)
        sum += exp2(x[k] - largest);
    return sum;
}

/* Whether the largest logit exceeds the others by more than an fp32 exponential can represent. */
static int has_leader(const float *x, int K, double largest)
{
    int near = 0;
    for (int k = 0; k < K; k++)
        near += largest - x[k] < 88;
    return near == 1 && K > 1;
}

/* One row with a mistake; `all` is the sum of the exponentials of all rows. */
static void mistaken_row(const float *x, int K, int which, double all, double *value)
{
    Row row = row_of(x, K);
    Lanes lanes = lanes_of(x, K);
    double naive = naive_sum(x, K), twos = sum_of_powers_of_two(x, K, row.largest);
    for (int k = 0; k < K; k++) {
        double z = x[k] - row.largest, of_lane = exp(x[k] - lanes.largest[k % WARP]);
        const double plain = float_exp(x[k]) / naive;
        const double made[MISTAKES] = {[LARGEST_MISSED] = exp(z) / row.sum,
                                       [LARGEST_FROM_ZERO] =
                                           row.largest < 0 ? plain : exp(z) / row.sum,
                                       [OVERFLOWS] = plain,
                                       [UNDIVIDED] = exp(z),
                                       [EXPONENTIAL_ALONE] = float_exp(x[k]),
                                       [LARGEST_OF_LANE] = of_lane / lanes.all,
                                       [SUM_OF_LANE] = of_lane / lanes.sum[k % WARP],
                                       [BASE_TWO] = exp2(z) / twos,
                                       [LOGARITHM] = z - log(row.sum),
                                       [SUM_OF_ALL] = exp(z) / all,
                                       [FIRST_ROW] = exp(z) / row.sum};
        value[k] = made[which];
    }
}

/* If another number than the maximum was subtracted from a row with a leading logit, that output
 * may be infinite or NaN, and the others 0 or NaN. */
static void led_row_as_seen(const float *x, const float *y, int K, double *value)
{
    int broken = 0;
    for (int k = 0; k < K; k++)
        broken |= !isfinite(y[k]);
    for (int k = 0; k < K && broken && has_leader(x, K, row_of(x, K).largest); k++)
        value[k] = y[k];
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    SoftmaxProblem p = softmax_unpack(&judged->view.problem);
    const float *x = judged->view.tensor[TENSOR_X];
    double all = 0;
    for (int n = 0; n < p.N; n++)
        all += row_of(x + (size_t)n * p.K, p.K).sum;
    for (int n = 0; n < p.N; n++) {
        size_t at = (size_t)n * p.K;
        mistaken_row(x + (which == FIRST_ROW ? 0 : at), p.K, which, all, value + at);
        if (which == LARGEST_MISSED)
            led_row_as_seen(x + at, judged->view.output + at, p.K, value + at);
    }
    return 1;
}

static void softmax_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
    /* All inputs are finite, so a NaN without a checker's finding results from a division. */
    if (finding->fault != FAULT_NAN || fault_checked(judged)) return;
    *finding = (Finding){.fault = FAULT_OVERFLOW};
    finding_say(finding,
                "%zu of %zu outputs are NaN or infinite. In a softmax that is inf / inf or 0 / 0: "
                "the value that is subtracted before expf is not the row's largest logit. Check "
                "that the search starts at -INFINITY and looks at every logit, and that the steps "
                "16, 8, 4, 2 and 1 distribute the maximum and the sum to all lanes.",
                judged->count[MARK_NAN], judged->verdict.total);
}

extern const Operation softmax_forward_operation;
const Operation softmax_forward_operation = {.name = "softmax_forward",
                                             .example = "N=3 K=10 offset=200",
                                             .parse = softmax_parse,
                                             .print = softmax_print,
                                             .draw = softmax_draw,
                                             .tensors = softmax_tensors,
                                             .numbers = softmax_numbers,
                                             .flops = softmax_flops,
                                             .least_bytes = softmax_least_bytes,
                                             .generate = softmax_generate,
                                             .oracle = softmax_oracle,
                                             .own_reach = 1,
                                             .explain = softmax_explain};
