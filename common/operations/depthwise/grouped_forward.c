/* grouped_forward.c - grouped and depthwise convolution (convlab/depthwise.h).
 *
 * The bound.  An output is a sum of m products, m the taps inside the input times C/groups.  In any
 * order of the additions |y - expected| <= gamma_m * sum|x*w| (Higham, section 3.1): magnitude
 * sum|x*w|, terms m.  It applies to each output (own_reach). */
#include <math.h>
#include <stddef.h>

#include "common/base/parallel.h"
#include "common/operations/depthwise/grouped.h"
#include "common/operations/operation/shape_text.h"

enum { TENSOR_X, TENSOR_W, TENSOR_Y, TENSORS };

#define MOST (1 << 30)
static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(GroupedProblem, N), 1, MOST, NULL, 0},
    {"C", SHAPE_NUMBER, offsetof(GroupedProblem, C), 1, MOST, NULL, 0},
    {"H", SHAPE_NUMBER, offsetof(GroupedProblem, H), 1, MOST, NULL, 0},
    {"W", SHAPE_NUMBER, offsetof(GroupedProblem, W), 1, MOST, NULL, 0},
    {"K", SHAPE_NUMBER, offsetof(GroupedProblem, K), 1, MOST, NULL, 0},
    {"R", SHAPE_NUMBER, offsetof(GroupedProblem, R), 1, MOST, NULL, 0},
    {"S", SHAPE_NUMBER, offsetof(GroupedProblem, S), 1, MOST, NULL, 0},
    {"groups", SHAPE_NUMBER, offsetof(GroupedProblem, groups), 1, MOST, NULL, 0},
    {"pad", SHAPE_PAD, offsetof(GroupedProblem, pad_top), 0, MOST, NULL, 0},
    {"stride", SHAPE_PAIR, offsetof(GroupedProblem, stride_h), 1, MOST, NULL, 0},
    {"dilation", SHAPE_PAIR, offsetof(GroupedProblem, dilation_h), 1, MOST, NULL, 1},
    {0},
};

static GroupedProblem grouped_unpack(const Problem *problem)
{
    GroupedProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

static double grouped_macs(const GroupedProblem *p)
{
    return (double)p->N * p->K * p->P * p->Q * (p->C / p->groups) * p->R * p->S;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int grouped_parse(const char *text, Problem *problem, Error *error)
{
    GroupedProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error)) return -1;
    if (!p.dilation_h) p.dilation_h = p.dilation_w = 1; /* omitted */
    if (grouped_derive(&p, error)) return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void grouped_print(const Problem *problem, char *text, size_t bytes)
{
    GroupedProblem p = grouped_unpack(problem);
    if (p.dilation_h == 1 && p.dilation_w == 1) p.dilation_h = p.dilation_w = 0; /* omitted */
    shape_text_print(KEYS, &p, text, bytes);
}

static void draw_depthwise(Random *random, int taps, int stride, int exact, GroupedProblem *p)
{
    p->groups = p->K = p->C = random_range(random, 2, 9);
    p->R = p->S = taps;
    p->stride_h = p->stride_w = stride;
    if (exact) p->W = 4 * random_range(random, 2, 8);
    grouped_pad_same(p);
    if (taps > 3 || stride == 1) return;
    p->pad_top = p->pad_left = p->pad_bottom = p->pad_right = 1;
}

/* R != S, different padding on every side, different strides. */
static void draw_irregular(Random *random, GroupedProblem *p)
{
    p->groups = p->K = p->C = random_range(random, 2, 5);
    p->R = random_range(random, 2, 5);
    p->S = p->R ^ 1;
    p->stride_h = random_range(random, 1, 3);
    p->stride_w = p->stride_h % 3 + 1;
    p->pad_top = random_range(random, 0, 2);
    p->pad_left = (p->pad_top + 1) % 3;
    p->pad_bottom = (p->pad_top + 2) % 3;
    p->pad_right = p->pad_top;
}

/* Several filters per channel, or several channels per group. */
static void draw_groups(Random *random, int channels, int filters, GroupedProblem *p)
{
    p->groups = random_range(random, 2, 4);
    p->C = p->groups * channels;
    p->K = p->groups * filters;
    grouped_pad_same(p);
}

/* Maps of one row, one column or one pixel; windows with padding on all sides. */
static void draw_tiny(Random *random, GroupedProblem *p)
{
    p->groups = p->K = p->C = random_range(random, 1, 40);
    p->H = random_range(random, 1, 2);
    p->W = random_range(random, 0, 1) ? 1 : random_range(random, 2, 9);
    p->R = p->S = random_range(random, 0, 1) ? 7 : 3;
    p->pad_top = p->pad_left = p->pad_bottom = p->pad_right = p->R / 2;
}

static void draw_dilated(Random *random, GroupedProblem *p)
{
    p->groups = p->K = p->C = random_range(random, 2, 6);
    p->dilation_h = random_range(random, 1, 3);
    p->dilation_w = p->dilation_h % 3 + 1;
    grouped_pad_same(p);
}

static void grouped_draw(Random *random, int index, double max_macs, Problem *problem)
{
    enum { KINDS = 10 };
    GroupedProblem p = {.N = random_range(random, 1, 3),
                        .H = random_range(random, 7, 30),
                        .W = random_range(random, 7, 30),
                        .R = 3,
                        .S = 3,
                        .stride_h = 1,
                        .stride_w = 1,
                        .dilation_h = 1,
                        .dilation_w = 1};
    switch (index % KINDS) {
    case 0:
        draw_depthwise(random, 3, 1, 1, &p);
        break;
    case 1:
        draw_irregular(random, &p);
        break;
    case 2:
        draw_depthwise(random, 7, 1, 0, &p);
        break;
    case 3:
        draw_depthwise(random, 3, 2, 1, &p);
        break;
    case 4:
        draw_groups(random, 1, random_range(random, 2, 3), &p);
        break;
    case 5:
        draw_groups(random, random_range(random, 2, 4), random_range(random, 1, 3), &p);
        break;
    case 6:
        draw_tiny(random, &p);
        break;
    case 7:
        draw_depthwise(random, 7, 2, 1, &p);
        break;
    case 8:
        draw_dilated(random, &p);
        break;
    default:
        draw_depthwise(random, 3, random_range(random, 1, 2), 0, &p);
    }
    grouped_derive(&p, NULL);
    while (grouped_macs(&p) > max_macs && (p.N > 1 || p.H > 2 * p.R * p.dilation_h)) {
        p.N > 1 ? p.N-- : p.H--;
        grouped_derive(&p, NULL);
    }
    problem_pack(&p, sizeof p, problem);
}

static int grouped_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    GroupedProblem p = grouped_unpack(problem);
    size_t N = (size_t)p.N, C = (size_t)p.C, K = (size_t)p.K, each = (size_t)(p.C / p.groups);
    shape[TENSOR_X] =
        (TensorShape){"x", TENSOR_INPUT, 4, {N, C, (size_t)p.H, (size_t)p.W}, {"n", "c", "h", "w"}};
    shape[TENSOR_W] = (TensorShape){
        "w", TENSOR_INPUT, 4, {K, each, (size_t)p.R, (size_t)p.S}, {"k", "c", "r", "s"}};
    shape[TENSOR_Y] = (TensorShape){
        "y", TENSOR_OUTPUT, 4, {N, K, (size_t)p.P, (size_t)p.Q}, {"n", "k", "p", "q"}};
    return TENSORS;
}

static double grouped_flops(const Problem *problem)
{
    GroupedProblem p = grouped_unpack(problem);
    return 2 * grouped_macs(&p);
}

static double grouped_least_bytes(const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    return tensors_bytes(shape, grouped_tensors(problem, shape));
}

static int grouped_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    GroupedProblem p = grouped_unpack(problem);
    const ProblemNumber all[] = {
        {"N", p.N},
        {"C", p.C},
        {"H", p.H},
        {"W", p.W},
        {"K", p.K},
        {"R", p.R},
        {"S", p.S},
        {"groups", p.groups},
        {"P", p.P},
        {"Q", p.Q},
        {"pad_top", p.pad_top},
        {"pad_left", p.pad_left},
        {"pad_bottom", p.pad_bottom},
        {"pad_right", p.pad_right},
        {"stride_h", p.stride_h},
        {"stride_w", p.stride_w},
        {"dilation_h", p.dilation_h},
        {"dilation_w", p.dilation_w},
        {"macs", grouped_macs(&p)},
    };
    _Static_assert(sizeof all / sizeof *all <= OPERATION_NUMBERS, "OPERATION_NUMBERS is too small");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        number[i] = all[i];
    return sizeof all / sizeof *all;
}

static void grouped_generate(const Problem *problem, Random *random, float *const *tensor)
{
    TensorShape shape[OPERATION_TENSORS];
    grouped_tensors(problem, shape);
    for (int t = TENSOR_X; t <= TENSOR_W; t++) {
        Random own;
        random_child(random, shape[t].name, &own);
        random_wide_fill(&own, tensor[t], tensor_count(&shape[t]));
    }
}

/* ---- oracle and mistakes ------------------------------------------------------------------- */

static void window_element(const void *context, const float *const *tensor, size_t index,
                           double value[3])
{
    const GroupedWindow *window = context;
    const GroupedProblem *p = &window->p;
    size_t map = index / ((size_t)p->P * p->Q), at = index % ((size_t)p->P * p->Q);
    grouped_value(window, tensor[TENSOR_X], tensor[TENSOR_W], (int)(map / p->K), (int)(map % p->K),
                  (int)(at / p->Q), (int)(at % p->Q), value);
}

static void grouped_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                                   double value[3])
{
    GroupedProblem p = grouped_unpack(problem);
    GroupedWindow window = grouped_window(&p);
    window_element(&window, tensor, index, value);
}

typedef struct Oracle {
    GroupedWindow window;
    const float *const *tensor;
    double *expected, *magnitude, *terms;
    size_t outputs;
    int shares;
} Oracle;

static void oracle_share(void *context, int share)
{
    const Oracle *o = context;
    size_t last = o->outputs * ((size_t)share + 1) / (size_t)o->shares;
    for (size_t i = o->outputs * (size_t)share / (size_t)o->shares; i < last; i++) {
        double value[3];
        window_element(&o->window, o->tensor, i, value);
        o->expected[i] = value[0];
        o->magnitude[i] = value[1];
        o->terms[i] = value[2];
    }
}

static void grouped_oracle(const Problem *problem, const float *const *tensor, double *expected,
                           double *magnitude, double *terms)
{
    GroupedProblem p = grouped_unpack(problem);
    Oracle o = {.window = grouped_window(&p),
                .tensor = tensor,
                .expected = expected,
                .magnitude = magnitude,
                .terms = terms,
                .outputs = (size_t)p.N * p.K * p.P * p.Q,
                .shares = parallel_shares(grouped_macs(&p), 1e6)};
    parallel_run(o.shares, oracle_share, &o);
}

#define WHOLE(fault, text) {fault, text},
#define PART(fault, text)  {fault, "In the wrong outputs: " text},
static const Mistake MISTAKE[2 * GROUPED_MISTAKES] = {GROUPED_MISTAKE_LIST(WHOLE)
                                                          GROUPED_MISTAKE_LIST(PART)};

/* A mistake of all outputs, or of the wrong ones only: a kernel for some of the outputs has it. */
static int mistaken_values(const Judgement *judged, int which, double *value)
{
    GroupedProblem p = grouped_unpack(&judged->view.problem);
    GroupedWindow window = grouped_window(&p);
    const int is_part = which >= GROUPED_MISTAKES;
    if (is_part && !judged->count[MARK_RIGHT]) return 0;
    if (!grouped_mistake(which % GROUPED_MISTAKES, &window) ||
        !grouped_mistake_fits(judged, window_element, &window))
        return 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        double all[3];
        value[i] = judged->expected[i];
        if (is_part && judged->mark[i] == MARK_RIGHT) continue;
        window_element(&window, judged->view.tensor, i, all);
        value[i] = all[0];
    }
    return 1;
}

static void grouped_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, 2 * GROUPED_MISTAKES, mistaken_values, finding);
}

extern const Operation grouped_forward_operation;
const Operation grouped_forward_operation = {
    .name = "grouped_forward",
    .example = "N=2 C=6 H=13 W=11 K=6 R=3 S=3 groups=6 pad=1 stride=1",
    .parse = grouped_parse,
    .print = grouped_print,
    .draw = grouped_draw,
    .tensors = grouped_tensors,
    .numbers = grouped_numbers,
    .flops = grouped_flops,
    .least_bytes = grouped_least_bytes,
    .generate = grouped_generate,
    .oracle = grouped_oracle,
    .oracle_element = grouped_oracle_element,
    .own_reach = 1,
    .has_products = 1,
    .explain = grouped_explain};
