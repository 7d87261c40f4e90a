/* pool_forward.c - max and average pooling (convlab/layers.h).
 *
 * The bound.  A maximum is one of its inputs, so it is exact: magnitude 0.  An average of m inputs
 * has m - 1 additions and a division, m roundings, or m + 1 where the sum is multiplied by a
 * rounded 1/m.  So |y - expected| <= gamma_(m+1) * sum|x| / m (Higham, section 3.1): magnitude
 * sum|x| / m, terms m + 1.  It applies to each output (own_reach). */
#include <math.h>
#include <stddef.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "convlab/layers.h"

enum { TENSOR_X, TENSOR_Y, TENSORS };

static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(PoolProblem, N), 1, 1 << 30, NULL, 0},
    {"C", SHAPE_NUMBER, offsetof(PoolProblem, C), 1, 1 << 30, NULL, 0},
    {"H", SHAPE_NUMBER, offsetof(PoolProblem, H), 1, 1 << 30, NULL, 0},
    {"W", SHAPE_NUMBER, offsetof(PoolProblem, W), 1, 1 << 30, NULL, 0},
    {"R", SHAPE_NUMBER, offsetof(PoolProblem, R), 1, 1 << 30, NULL, 0},
    {"S", SHAPE_NUMBER, offsetof(PoolProblem, S), 1, 1 << 30, NULL, 0},
    {"pad", SHAPE_PAD, offsetof(PoolProblem, pad_top), 0, 1 << 30, NULL, 0},
    {"stride", SHAPE_PAIR, offsetof(PoolProblem, stride_h), 1, 1 << 30, NULL, 0},
    {"kind", SHAPE_WORD, offsetof(PoolProblem, kind), 0, 0, "max average average-padded", 0},
    {0},
};

static PoolProblem pool_unpack(const Problem *problem)
{
    PoolProblem pool;
    problem_unpack(problem, &pool, sizeof pool);
    return pool;
}

/* ---- problems ------------------------------------------------------------------------------ */

static void pad_same(PoolProblem *pool)
{
    shape_pad_same(pool->H, pool->R, pool->stride_h, &pool->pad_top, &pool->pad_bottom);
    shape_pad_same(pool->W, pool->S, pool->stride_w, &pool->pad_left, &pool->pad_right);
}

static int pool_derive(PoolProblem *pool, Error *error)
{
    if (pool->pad_top == SHAPE_PAD_SAME) pad_same(pool);
    if (pool->pad_top >= pool->R || pool->pad_bottom >= pool->R || pool->pad_left >= pool->S ||
        pool->pad_right >= pool->S)
        return error_set(error, "a window of %d x %d could lie on padding alone: pad less", pool->R,
                         pool->S);
    if (shape_windows("H", pool->H, pool->R, pool->pad_top, pool->pad_bottom, pool->stride_h,
                      &pool->P, error) ||
        shape_windows("W", pool->W, pool->S, pool->pad_left, pool->pad_right, pool->stride_w,
                      &pool->Q, error))
        return -1;
    if (shape_check_count("x", (double)pool->N * pool->C * pool->H * pool->W, error)) return -1;
    return shape_check_count("y", (double)pool->N * pool->C * pool->P * pool->Q, error);
}

static int pool_parse(const char *text, Problem *problem, Error *error)
{
    PoolProblem pool = {0};
    if (shape_text_parse(text, KEYS, &pool, error) || pool_derive(&pool, error)) return -1;
    problem_pack(&pool, sizeof pool, problem);
    return 0;
}

static void pool_print(const Problem *problem, char *text, size_t bytes)
{
    PoolProblem pool = pool_unpack(problem);
    shape_text_print(KEYS, &pool, text, bytes);
}

/* Windows that tile, overlap, or leave inputs out; with equal sides and not; at the edge and not;
 * outputs that fill whole blocks and that do not. */
static void pool_draw(Random *random, int index, double max_macs, Problem *problem)
{
    static const int WINDOW[][4] = {{2, 2, 2, 2}, {3, 3, 2, 2}, {3, 2, 1, 2}, {2, 3, 3, 1},
                                    {1, 1, 2, 2}, {3, 3, 1, 1}, {5, 4, 3, 4}, {2, 5, 2, 3}};
    const int *window = WINDOW[index % 8];
    PoolProblem pool = {.N = random_range(random, 1, 3),
                        .C = random_range(random, 1, 7),
                        .H = random_range(random, 5, 40),
                        .W = random_range(random, 5, 40),
                        .R = window[0],
                        .S = window[1],
                        .stride_h = window[2],
                        .stride_w = window[3],
                        .kind = (index + index / 8) % 3};
    if (index % 2) {
        pad_same(&pool);
    } else {
        pool.pad_top = random_range(random, 0, pool.R - 1);
        pool.pad_left = random_range(random, 0, pool.S - 1);
        pool.pad_bottom = random_range(random, 0, pool.R - 1);
        pool.pad_right = random_range(random, 0, pool.S - 1);
    }
    pool_derive(&pool, NULL);
    while (pool.C > 1 && (double)pool.N * pool.C * pool.P * pool.Q * pool.R * pool.S > max_macs)
        pool.C--;
    problem_pack(&pool, sizeof pool, problem);
}

static int pool_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    PoolProblem p = pool_unpack(problem);
    shape[TENSOR_X] = (TensorShape){"x",
                                    TENSOR_INPUT,
                                    4,
                                    {(size_t)p.N, (size_t)p.C, (size_t)p.H, (size_t)p.W},
                                    {"n", "c", "h", "w"}};
    shape[TENSOR_Y] = (TensorShape){"y",
                                    TENSOR_OUTPUT,
                                    4,
                                    {(size_t)p.N, (size_t)p.C, (size_t)p.P, (size_t)p.Q},
                                    {"n", "c", "p", "q"}};
    return TENSORS;
}

/* One for each input under each window: a comparison or an addition. */
static double pool_flops(const Problem *problem)
{
    PoolProblem p = pool_unpack(problem);
    return (double)p.N * p.C * p.P * p.Q * p.R * p.S;
}

static double pool_least_bytes(const Problem *problem)
{
    PoolProblem p = pool_unpack(problem);
    return 4.0 * p.N * p.C * ((double)p.H * p.W + (double)p.P * p.Q);
}

static int pool_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    PoolProblem p = pool_unpack(problem);
    const ProblemNumber all[] = {
        {"N", p.N},
        {"C", p.C},
        {"H", p.H},
        {"W", p.W},
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
    };
    _Static_assert(sizeof all / sizeof *all <= OPERATION_NUMBERS, "OPERATION_NUMBERS is too small");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        number[i] = all[i];
    return sizeof all / sizeof *all;
}

/* Maximum pooling: the last map is below any constant with which a search might start. */
static const float LOWEST = -1e30f;

static void pool_generate(const Problem *problem, Random *random, float *const *tensor)
{
    TensorShape shape[OPERATION_TENSORS];
    Random own;
    pool_tensors(problem, shape);
    random_child(random, "x", &own);
    size_t count = tensor_count(&shape[TENSOR_X]);
    random_wide_fill(&own, tensor[TENSOR_X], count);
    PoolProblem p = pool_unpack(problem);
    for (size_t i = count - (size_t)p.H * p.W; i < count && p.kind == POOL_MAX; i++)
        tensor[TENSOR_X][i] = LOWEST * fabsf(tensor[TENSOR_X][i]);
}

/* ---- oracle and mistakes
 * ----------------------------------------------------------------------- */

/* A window, with or without a mistake. */
typedef struct Window {
    PoolProblem p;
    int first_row, first_column; /* earlier taps are skipped */
    int rows, columns;           /* and taps from these on */
    int from_zero;               /* Boolean: the maximum starts at 0 */
    int zeros;                   /* Boolean: padding takes part in the maximum, as 0 */
    int undivided, twice;        /* Booleans: the sum is not divided, or divided twice */
} Window;

static Window window_of(const PoolProblem *p)
{
    return (Window){.p = *p, .rows = p->R, .columns = p->S};
}

typedef struct Seen {
    double sum, magnitude, largest;
    int inside, outside;
} Seen;

static Seen window_scan(const Window *window, const float *map, int op, int oq)
{
    const PoolProblem *p = &window->p;
    Seen seen = {.largest = window->from_zero ? 0 : -INFINITY};
    for (int r = window->first_row; r < window->rows; r++)
        for (int s = window->first_column; s < window->columns; s++) {
            int h = op * p->stride_h + r - p->pad_top, w = oq * p->stride_w + s - p->pad_left;
            if (h < 0 || h >= p->H || w < 0 || w >= p->W) {
                seen.outside++;
                continue;
            }
            double x = map[(size_t)h * p->W + w];
            seen.sum += x;
            seen.magnitude += fabs(x);
            seen.largest = fmax(seen.largest, x);
            seen.inside++;
        }
    if (window->zeros && seen.outside) seen.largest = fmax(seen.largest, 0);
    return seen;
}

static double window_value(const Window *window, const Seen *seen)
{
    const PoolProblem *p = &window->p;
    double divisor = p->kind == POOL_AVERAGE ? seen->inside : (double)p->R * p->S;
    if (p->kind == POOL_MAX) return seen->largest;
    if (window->undivided) return seen->sum;
    return seen->sum / divisor / (window->twice ? divisor : 1);
}

static void pool_oracle_element(const Problem *problem, const float *const *tensor, size_t index,
                                double value[3])
{
    PoolProblem p = pool_unpack(problem);
    Window window = window_of(&p);
    size_t outputs = (size_t)p.P * p.Q, at = index % outputs;
    const float *map = tensor[TENSOR_X] + index / outputs * p.H * p.W;
    Seen seen = window_scan(&window, map, (int)(at / p.Q), (int)(at % p.Q));
    double divisor = p.kind == POOL_AVERAGE ? seen.inside : (double)p.R * p.S;
    value[0] = window_value(&window, &seen);
    value[1] = p.kind == POOL_MAX ? 0 : seen.magnitude / divisor;
    value[2] = seen.inside + 1;
}

static void pool_oracle(const Problem *problem, const float *const *tensor, double *expected,
                        double *magnitude, double *terms)
{
    PoolProblem p = pool_unpack(problem);
    size_t outputs = (size_t)p.N * p.C * p.P * p.Q;
    for (size_t i = 0; i < outputs; i++) {
        double value[3];
        pool_oracle_element(problem, tensor, i, value);
        expected[i] = value[0];
        magnitude[i] = value[1];
        terms[i] = value[2];
    }
}

enum {
    PADDED_DIVISOR,
    INSIDE_DIVISOR,
    FROM_ZERO,
    ZEROS_COUNT,
    MEAN_FOR_MAX,
    MAX_FOR_MEAN,
    UNDIVIDED,
    TWICE,
    STRIDE_ONE,
    STRIDE_WINDOW,
    STRIDES_EXCHANGED,
    WINDOW_TRANSPOSED,
    LAST_ROW,
    LAST_COLUMN,
    FIRST_ROW,
    FIRST_COLUMN,
    PADDING_IGNORED,
    PADDINGS_EXCHANGED,
    ROW_DOWN,
    ROW_UP,
    COLUMN_RIGHT,
    COLUMN_LEFT,
    FIRST_IMAGE,
    FIRST_MAP,
    MISTAKES
};

static const Mistake MISTAKE[MISTAKES] = {
    [PADDED_DIVISOR] = {FAULT_PADDING_EDGE,
                        "The average divides by R*S also if the window extends over the edge. "
                        "kind=average divides by the number of inputs inside: count them."},
    [INSIDE_DIVISOR] = {FAULT_PADDING_EDGE,
                        "The average divides by the number of inputs inside. kind=average-padded "
                        "divides by R*S everywhere, as if the padding were zeros."},
    [FROM_ZERO] = {FAULT_FORMULA, "The maximum starts at 0, so windows whose inputs are all "
                                  "negative give 0: start at -INFINITY, or at the first input."},
    [ZEROS_COUNT] = {FAULT_PADDING_EDGE,
                     "Padding takes part in the maximum as a 0, so windows on the edge whose "
                     "inputs are all negative give 0. Skip values outside of the input."},
    [MEAN_FOR_MAX] = {FAULT_FORMULA,
                      "This is the average of the window; kind=max requires its maximum."},
    [MAX_FOR_MEAN] =
        {FAULT_FORMULA,
         "This is the maximum of the window; the problem's kind requires its average."},
    [UNDIVIDED] = {FAULT_FORMULA, "This is the window's sum: it is not divided."},
    [TWICE] = {FAULT_FORMULA, "The sum is divided twice."},
    [STRIDE_ONE] = {FAULT_STRIDE, "The windows move by 1: output p starts at input row p*stride_h "
                                  "- pad_top, output q at column q*stride_w - pad_left."},
    [STRIDE_WINDOW] = {FAULT_STRIDE,
                       "The windows move by their own size, R vertically and S horizontally. They "
                       "should move by stride_h and stride_w, which may differ."},
    [STRIDES_EXCHANGED] = {FAULT_STRIDE, "stride_h and stride_w are exchanged."},
    [WINDOW_TRANSPOSED] = {FAULT_TRANSPOSED_FILTER,
                           "The window's height R and its width S are exchanged."},
    [LAST_ROW] = {FAULT_TAP_DROPPED,
                  "The last row of the window is left out: the loop over r ends at R - 1."},
    [LAST_COLUMN] = {FAULT_TAP_DROPPED,
                     "The last column of the window is left out: the loop over s ends at S - 1."},
    [FIRST_ROW] = {FAULT_TAP_DROPPED, "The first row of the window is left out: r starts at 0."},
    [FIRST_COLUMN] = {FAULT_TAP_DROPPED,
                      "The first column of the window is left out: s starts at 0."},
    [PADDING_IGNORED] =
        {FAULT_HALO, "The windows start at the first input, as if there were no padding above and "
                     "to the left: subtract pad_top from the row and pad_left from the column."},
    [PADDINGS_EXCHANGED] = {FAULT_HALO, "pad_top and pad_left are exchanged."},
    [ROW_DOWN] = {FAULT_HALO, "The window is one row too low."},
    [ROW_UP] = {FAULT_HALO, "The window is one row too high."},
    [COLUMN_RIGHT] = {FAULT_HALO, "The window is one column too far to the right."},
    [COLUMN_LEFT] = {FAULT_HALO, "The window is one column too far to the left."},
    [FIRST_IMAGE] = {FAULT_ONE_IMAGE, "Every image gets the outputs of the first: x's offset "
                                      "lacks n."},
    [FIRST_MAP] = {FAULT_ONE_CHANNEL, "Every map gets the outputs of the image's first: x's "
                                      "offset lacks c."},
};

/* The window with this mistake.  0: the mistake does not change this problem. */
static int mistaken_window(int which, Window *window)
{
    PoolProblem *p = &window->p;
    switch (which) {
    case PADDED_DIVISOR:
        if (p->kind != POOL_AVERAGE) return 0;
        p->kind = POOL_AVERAGE_PADDED;
        return 1;
    case INSIDE_DIVISOR:
        if (p->kind != POOL_AVERAGE_PADDED) return 0;
        p->kind = POOL_AVERAGE;
        return 1;
    case FROM_ZERO:
        return window->from_zero = p->kind == POOL_MAX;
    case ZEROS_COUNT:
        return window->zeros = p->kind == POOL_MAX;
    case MEAN_FOR_MAX:
        if (p->kind != POOL_MAX) return 0;
        p->kind = POOL_AVERAGE;
        return 1;
    case MAX_FOR_MEAN:
        if (p->kind == POOL_MAX) return 0;
        p->kind = POOL_MAX;
        return 1;
    case UNDIVIDED:
        return window->undivided = p->kind != POOL_MAX;
    case TWICE:
        return window->twice = p->kind != POOL_MAX;
    case STRIDE_ONE:
        p->stride_h = p->stride_w = 1;
        return 1;
    case STRIDE_WINDOW:
        p->stride_h = p->R;
        p->stride_w = p->S;
        return 1;
    case STRIDES_EXCHANGED:
        mistake_exchange(&p->stride_h, &p->stride_w);
        return 1;
    case WINDOW_TRANSPOSED:
        mistake_exchange(&p->R, &p->S);
        *window = window_of(p);
        return 1;
    case LAST_ROW:
        return --window->rows > 0;
    case LAST_COLUMN:
        return --window->columns > 0;
    case FIRST_ROW:
        return ++window->first_row < p->R;
    case FIRST_COLUMN:
        return ++window->first_column < p->S;
    case PADDING_IGNORED:
        p->pad_top = p->pad_left = 0;
        return 1;
    case PADDINGS_EXCHANGED:
        mistake_exchange(&p->pad_top, &p->pad_left);
        return 1;
    case ROW_DOWN:
        p->pad_top--;
        return 1;
    case ROW_UP:
        p->pad_top++;
        return 1;
    case COLUMN_RIGHT:
        p->pad_left--;
        return 1;
    case COLUMN_LEFT:
        p->pad_left++;
        return 1;
    default:
        return 1;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    PoolProblem p = pool_unpack(&judged->view.problem);
    Window window = window_of(&p);
    const float *x = judged->view.tensor[TENSOR_X];
    if (!mistaken_window(which, &window)) return 0;
    for (int n = 0; n < p.N; n++)
        for (int c = 0; c < p.C; c++) {
            int from_n = which == FIRST_IMAGE ? 0 : n, from_c = which == FIRST_MAP ? 0 : c;
            const float *map = x + ((size_t)from_n * p.C + from_c) * p.H * p.W;
            for (int at = 0; at < p.P * p.Q; at++) {
                Seen seen = window_scan(&window, map, at / p.Q, at % p.Q);
                *value++ = window_value(&window, &seen);
            }
        }
    return 1;
}

static void pool_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
}

extern const Operation pool_forward_operation;
const Operation pool_forward_operation = {.name = "pool_forward",
                                          .example = "N=2 C=3 H=13 W=11 R=3 S=3 pad=1 stride=2 "
                                                     "kind=average",
                                          .parse = pool_parse,
                                          .print = pool_print,
                                          .draw = pool_draw,
                                          .tensors = pool_tensors,
                                          .numbers = pool_numbers,
                                          .flops = pool_flops,
                                          .least_bytes = pool_least_bytes,
                                          .generate = pool_generate,
                                          .oracle = pool_oracle,
                                          .oracle_element = pool_oracle_element,
                                          .own_reach = 1,
                                          .explain = pool_explain};
