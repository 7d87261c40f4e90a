/* separable_forward.c - depthwise-separable convolution (convlab/depthwise.h).
 *
 * The bound.  Each value t of the depthwise convolution has an error of at most gamma_m * sum|x*d|,
 * m the taps inside the input, and ReLU does not enlarge it.  The pointwise convolution multiplies
 * the error by |w| and adds C roundings.  So |y - expected| <= gamma_(m+C) * sum over c of |w| *
 * sum|x*d|: magnitude that double sum, terms m + C.  It applies to each output (own_reach). */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/base/parallel.h"
#include "common/operations/depthwise/grouped.h"
#include "common/operations/operation/shape_text.h"

enum { TENSOR_X, TENSOR_D, TENSOR_W, TENSOR_Y, TENSORS };

#define MOST (1 << 30)
static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(SeparableProblem, N), 1, MOST, NULL, 0},
    {"C", SHAPE_NUMBER, offsetof(SeparableProblem, C), 1, MOST, NULL, 0},
    {"H", SHAPE_NUMBER, offsetof(SeparableProblem, H), 1, MOST, NULL, 0},
    {"W", SHAPE_NUMBER, offsetof(SeparableProblem, W), 1, MOST, NULL, 0},
    {"K", SHAPE_NUMBER, offsetof(SeparableProblem, K), 1, MOST, NULL, 0},
    {"R", SHAPE_NUMBER, offsetof(SeparableProblem, R), 1, MOST, NULL, 0},
    {"S", SHAPE_NUMBER, offsetof(SeparableProblem, S), 1, MOST, NULL, 0},
    {"pad", SHAPE_PAD, offsetof(SeparableProblem, pad_top), 0, MOST, NULL, 0},
    {"stride", SHAPE_PAIR, offsetof(SeparableProblem, stride_h), 1, MOST, NULL, 0},
    {0},
};

static SeparableProblem separable_unpack(const Problem *problem)
{
    SeparableProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

static double separable_macs(const SeparableProblem *p)
{
    return (double)p->N * p->C * p->P * p->Q * ((double)p->R * p->S + p->K);
}

/* ---- problems ------------------------------------------------------------------------------ */

static int separable_derive(SeparableProblem *p, Error *error)
{
    GroupedProblem depthwise = separable_depthwise(p);
    if (grouped_derive(&depthwise, error) || shape_check_count("w", (double)p->K * p->C, error) ||
        shape_check_count("y", (double)p->N * p->K * depthwise.P * depthwise.Q, error))
        return -1;
    p->P = depthwise.P;
    p->Q = depthwise.Q;
    p->pad_top = depthwise.pad_top;
    p->pad_left = depthwise.pad_left;
    p->pad_bottom = depthwise.pad_bottom;
    p->pad_right = depthwise.pad_right;
    return 0;
}

static int separable_parse(const char *text, Problem *problem, Error *error)
{
    SeparableProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error) || separable_derive(&p, error)) return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void separable_print(const Problem *problem, char *text, size_t bytes)
{
    SeparableProblem p = separable_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* The two filter sizes and the two strides of common networks; channels and filters that are a
 * multiple of a tile and that are not; one pixel; and a window that no network has. */
static void separable_draw(Random *random, int index, double max_macs, Problem *problem)
{
    static const int TAPS[] = {3, 3, 7, 3, 5, 7}, STRIDE[] = {1, 2, 1, 1, 2, 2};
    enum { KINDS = sizeof TAPS / sizeof *TAPS };
    const int kind = index % KINDS;
    SeparableProblem p = {.N = random_range(random, 1, 2),
                          .C = random_range(random, 1, 40),
                          .H = random_range(random, 6, 17),
                          .W = kind % 2 ? random_range(random, 6, 17)
                                        : 4 * random_range(random, 2, 4),
                          .K = random_range(random, 1, 90),
                          .R = TAPS[kind],
                          .S = TAPS[kind],
                          .stride_h = STRIDE[kind],
                          .stride_w = STRIDE[kind]};
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = p.R / 2;
    if (kind == 3) p.H = p.W = random_range(random, 1, 3);
    if (kind == 4) { /* R is not S, different strides and padding on each side */
        p.S = 4;
        p.stride_w = 1;
        p.pad_top = p.pad_right = 1;
        p.pad_left = 3;
    }
    separable_derive(&p, NULL);
    while (separable_macs(&p) > max_macs && (p.K > 1 || p.C > 1)) {
        if (p.K > 1) p.K = p.K * 3 / 4;
        if (p.C > 1) p.C = p.C * 3 / 4;
    }
    problem_pack(&p, sizeof p, problem);
}

static int separable_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    SeparableProblem p = separable_unpack(problem);
    size_t N = (size_t)p.N, C = (size_t)p.C, K = (size_t)p.K;
    shape[TENSOR_X] =
        (TensorShape){"x", TENSOR_INPUT, 4, {N, C, (size_t)p.H, (size_t)p.W}, {"n", "c", "h", "w"}};
    shape[TENSOR_D] =
        (TensorShape){"d", TENSOR_INPUT, 3, {C, (size_t)p.R, (size_t)p.S}, {"c", "r", "s"}};
    shape[TENSOR_W] = (TensorShape){"w", TENSOR_INPUT, 2, {K, C}, {"k", "c"}};
    shape[TENSOR_Y] = (TensorShape){
        "y", TENSOR_OUTPUT, 4, {N, K, (size_t)p.P, (size_t)p.Q}, {"n", "k", "p", "q"}};
    return TENSORS;
}

static double separable_flops(const Problem *problem)
{
    SeparableProblem p = separable_unpack(problem);
    return 2 * separable_macs(&p);
}

static double separable_least_bytes(const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    return tensors_bytes(shape, separable_tensors(problem, shape));
}

static int separable_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    SeparableProblem p = separable_unpack(problem);
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
        {"macs", separable_macs(&p)},
    };
    _Static_assert(sizeof all / sizeof *all <= OPERATION_NUMBERS, "OPERATION_NUMBERS is too small");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        number[i] = all[i];
    return sizeof all / sizeof *all;
}

static void separable_generate(const Problem *problem, Random *random, float *const *tensor)
{
    TensorShape shape[OPERATION_TENSORS];
    separable_tensors(problem, shape);
    for (int t = TENSOR_X; t <= TENSOR_W; t++) {
        Random own;
        random_child(random, shape[t].name, &own);
        random_wide_fill(&own, tensor[t], tensor_count(&shape[t]));
    }
}

/* ---- oracle and mistakes ------------------------------------------------------------------- */

typedef enum ReluRule { RELU_BETWEEN, RELU_NOWHERE, RELU_AFTER, RELU_BOTH } ReluRule;

/* The place whose value an output has, in a kernel with 4 x 4 accumulators (filters x pixels of a
 * row) per thread, and 16 strips of four pixels per block. */
typedef enum Exchange {
    EXCHANGE_NOTHING,
    EXCHANGE_IN_TILE, /* filter k0 + f, pixel q0 + j: filter k0 + j, pixel q0 + f */
    EXCHANGE_STRIPS   /* the strip with the number of the thread's filters */
} Exchange;

/* A separable convolution with the indices of a possible mistake. */
typedef struct Separable {
    SeparableProblem p;
    GroupedWindow depthwise;
    int relu;          /* ReluRule */
    int channels;      /* the pointwise sum has channels 0 .. channels - 1 */
    int skipped;       /* the last of each `skipped` channels is left out; 0: none */
    int first_channel; /* Boolean: t of channel 0 is used for every channel */
    int first_filter;  /* Boolean: filter 0 is used for every k */
    int transposed;    /* Boolean: w is read as [c][k] */
    Exchange exchange;
} Separable;

static Separable separable_of(const Problem *problem)
{
    Separable v = {.p = separable_unpack(problem)};
    GroupedProblem depthwise = separable_depthwise(&v.p);
    v.depthwise = grouped_window(&depthwise);
    v.channels = v.p.C;
    return v;
}

/* The depthwise value of channel c: t, its magnitude, its terms. */
static void depthwise_value(const Separable *v, const float *const *tensor, int n, int c, int op,
                            int oq, double t[3])
{
    grouped_value(&v->depthwise, tensor[TENSOR_X], tensor[TENSOR_D], n, c, op, oq, t);
    if (v->relu == RELU_BETWEEN || v->relu == RELU_BOTH) t[0] = isnan(t[0]) ? NAN : fmax(t[0], 0);
}

/* Output k from the depthwise values of all channels. */
static void pointwise_value(const Separable *v, const float *w, int k, const double (*t)[3],
                            double value[3])
{
    const SeparableProblem *p = &v->p;
    value[0] = value[1] = value[2] = 0;
    for (int c = 0; c < v->channels; c++) {
        if (v->skipped && c % v->skipped == v->skipped - 1) continue;
        const double *at = t[v->first_channel ? 0 : c];
        size_t filter = v->first_filter ? 0 : (size_t)k;
        double weight = w[v->transposed ? (size_t)c * p->K + filter : filter * p->C + c];
        value[0] += weight * at[0];
        value[1] += fabs(weight) * at[1];
        value[2] = fmax(value[2], at[2] + p->C);
    }
    if (v->relu == RELU_AFTER || v->relu == RELU_BOTH) value[0] = fmax(value[0], 0);
}

/* An output; it need not exist. */
typedef struct Place {
    int n, k, op, oq;
} Place;

static Place place_exchanged(const Separable *v, Place at)
{
    enum { TILE = 4, STRIPS = 16 };
    const SeparableProblem *p = &v->p;
    const int across = (p->Q + TILE - 1) / TILE, f = at.k % TILE, j = at.oq % TILE;
    if (v->exchange == EXCHANGE_IN_TILE) return (Place){at.n, at.k - f + j, at.op, at.oq - j + f};
    if (v->exchange == EXCHANGE_NOTHING) return at;
    const int strip = (at.n * p->P + at.op) * across + at.oq / TILE;
    const int other = strip - strip % STRIPS + at.k / TILE % STRIPS;
    return (Place){other / across / p->P, at.k, other / across % p->P, other % across * TILE + j};
}

/* One output; NAN if there is no memory for the depthwise values. */
static void separable_element(const void *context, const float *const *tensor, size_t index,
                              double value[3])
{
    const Separable *v = context;
    const SeparableProblem *p = &v->p;
    const size_t map = index / ((size_t)p->P * p->Q);
    const Place own = {(int)(map / p->K), (int)(map % p->K), (int)(index / p->Q % p->P),
                       (int)(index % p->Q)};
    const Place at = place_exchanged(v, own);
    value[0] = value[1] = value[2] = 0;
    if (at.k >= p->K || at.n >= p->N) return; /* zeros in shared memory */
    double(*t)[3] = malloc((size_t)p->C * sizeof *t);
    value[0] = value[1] = value[2] = NAN;
    if (!t) return;
    for (int c = 0; c < p->C; c++)
        depthwise_value(v, tensor, at.n, c, at.op, at.oq, t[c]);
    pointwise_value(v, tensor[TENSOR_W], at.k, (const double(*)[3])t, value);
    free(t);
}

static void separable_oracle_element(const Problem *problem, const float *const *tensor,
                                     size_t index, double value[3])
{
    Separable v = separable_of(problem);
    separable_element(&v, tensor, index, value);
}

typedef struct Oracle {
    Separable v;
    const float *const *tensor;
    double *expected, *magnitude, *terms; /* magnitude and terms may be NULL */
    double (*t)[3];                       /* per share: the depthwise values of one pixel */
    int shares;
} Oracle;

/* All outputs of pixel (n, op, oq). */
static void oracle_pixel(const Oracle *o, int n, int op, int oq, double (*t)[3])
{
    const SeparableProblem *p = &o->v.p;
    for (int k = 0; k < p->K && o->v.exchange; k++) {
        const size_t at = (((size_t)n * p->K + k) * p->P + op) * p->Q + oq;
        double value[3];
        separable_element(&o->v, o->tensor, at, value);
        o->expected[at] = value[0];
    }
    if (o->v.exchange) return;
    for (int c = 0; c < p->C; c++)
        depthwise_value(&o->v, o->tensor, n, c, op, oq, t[c]);
    for (int k = 0; k < p->K; k++) {
        size_t at = (((size_t)n * p->K + k) * p->P + op) * p->Q + oq;
        double value[3];
        pointwise_value(&o->v, o->tensor[TENSOR_W], k, (const double(*)[3])t, value);
        o->expected[at] = value[0];
        if (o->magnitude) o->magnitude[at] = value[1];
        if (o->terms) o->terms[at] = value[2];
    }
}

static void oracle_share(void *context, int share)
{
    const Oracle *o = context;
    const SeparableProblem *p = &o->v.p;
    size_t rows = (size_t)p->N * p->P, last = rows * ((size_t)share + 1) / (size_t)o->shares;
    for (size_t i = rows * (size_t)share / (size_t)o->shares; i < last; i++)
        for (int oq = 0; oq < p->Q; oq++)
            oracle_pixel(o, (int)(i / p->P), (int)(i % p->P), oq, o->t + (size_t)share * p->C);
}

/* -1: out of memory. */
static int oracle_run(Oracle *o)
{
    o->shares = parallel_shares(separable_macs(&o->v.p), 1e6);
    o->t = malloc((size_t)o->shares * o->v.p.C * sizeof *o->t);
    if (!o->t) return -1;
    parallel_run(o->shares, oracle_share, o);
    free(o->t);
    return 0;
}

static void separable_oracle(const Problem *problem, const float *const *tensor, double *expected,
                             double *magnitude, double *terms)
{
    Oracle o = {.v = separable_of(problem),
                .tensor = tensor,
                .expected = expected,
                .magnitude = magnitude,
                .terms = terms};
    if (oracle_run(&o) == 0) return;
    size_t outputs = (size_t)o.v.p.N * o.v.p.K * o.v.p.P * o.v.p.Q;
    for (size_t i = 0; i < outputs; i++) { /* no memory for the depthwise values */
        double value[3];
        separable_oracle_element(problem, tensor, i, value);
        expected[i] = value[0];
        magnitude[i] = value[1];
        terms[i] = value[2];
    }
}

/* Mistakes of the pointwise part; those of the depthwise part follow (grouped.h). */
enum {
    NO_RELU,
    LATE_RELU,
    TWO_RELUS,
    W_TRANSPOSED,
    ONE_FILTER,
    ONE_DEPTHWISE_CHANNEL,
    LAST_POINTWISE_CHANNEL,
    CHUNK_OF_4,
    CHUNK_OF_8,
    CHUNK_OF_16,
    CHUNK_OF_32,
    FIRST_CHUNK,
    LAST_OF_4,
    LAST_OF_8,
    LAST_OF_16,
    LAST_OF_32,
    DEPTHWISE_IN_CHUNK,
    TILE_EXCHANGED,
    STRIP_OF_FILTERS,
    POINTWISE_MISTAKES,
    MISTAKES = POINTWISE_MISTAKES + GROUPED_MISTAKES
};

#define TAIL_TEXT                                                                                  \
    "The channels after the last complete chunk are left out of the pointwise sum: C need not be " \
    "a multiple of the channels per iteration."
#define LAST_TEXT "The last channel of each chunk is left out of the pointwise sum."
#define POINTWISE_LIST(M)                                                                          \
    M(FAULT_FORMULA, "ReLU is missing between the two convolutions: t = max(0, depthwise sum).")   \
    M(FAULT_FORMULA, "ReLU is applied to the result of the pointwise convolution; it belongs "     \
                     "between the two: t = max(0, depthwise sum).")                                \
    M(FAULT_FORMULA, "ReLU is applied twice: it belongs between the two convolutions only.")       \
    M(FAULT_LAYOUT, "The pointwise filters are read as w[c][k]; they are w[k][c], with the "       \
                    "weights of one filter adjacent.")                                             \
    M(FAULT_ONE_FILTER, "Every map is calculated with pointwise filter 0: k is not in the index "  \
                        "of w.")                                                                   \
    M(FAULT_ONE_CHANNEL, "The pointwise sum uses the depthwise value of channel 0 for every "      \
                         "channel.")                                                               \
    M(FAULT_ONE_CHANNEL, "The last channel is left out of the pointwise sum.")                     \
    M(FAULT_ONE_CHANNEL, TAIL_TEXT)                                                                \
    M(FAULT_ONE_CHANNEL, TAIL_TEXT)                                                                \
    M(FAULT_ONE_CHANNEL, TAIL_TEXT)                                                                \
    M(FAULT_ONE_CHANNEL, TAIL_TEXT)                                                                \
    M(FAULT_ONE_CHANNEL, "The pointwise sum contains the first 16 channels only: continue with "   \
                         "the next 16 until all C channels are added.")                            \
    M(FAULT_ONE_CHANNEL, LAST_TEXT)                                                                \
    M(FAULT_ONE_CHANNEL, LAST_TEXT)                                                                \
    M(FAULT_ONE_CHANNEL, LAST_TEXT)                                                                \
    M(FAULT_ONE_CHANNEL, LAST_TEXT)                                                                \
    M(FAULT_ONE_FILTER, "Each chunk of 16 channels is calculated with the depthwise filters of "   \
                        "channels 0 to 15: the index of d needs the channel, not its number in "   \
                        "the chunk.")                                                              \
    M(FAULT_LAYOUT, "Filters and pixels are exchanged in the 4 x 4 accumulators of a thread: "     \
                    "sum[f][j] is filter f times pixel j.")                                        \
    M(FAULT_LAYOUT, "A thread multiplies the strip that has the number of its filters. Filters "   \
                    "depend on threadIdx.x / 16, the strip on threadIdx.x % 16.")

#define WHOLE(fault, text) {fault, text},
#define DEPTH(fault, text) {fault, "In the depthwise part: " text},
#define PART(fault, text)  {fault, "In the wrong outputs: " text},
static const Mistake MISTAKE[2 * MISTAKES] = {POINTWISE_LIST(WHOLE) GROUPED_MISTAKE_LIST(DEPTH)
                                                  POINTWISE_LIST(PART) GROUPED_MISTAKE_LIST(PART)};

/* Changes v to the mistake.  0: the mistake does not apply to the problem. */
static int pointwise_mistake(int which, Separable *v)
{
    static const int CHUNK[] = {4, 8, 16, 32};
    switch (which) {
    case NO_RELU:
        v->relu = RELU_NOWHERE;
        return 1;
    case LATE_RELU:
        v->relu = RELU_AFTER;
        return 1;
    case TWO_RELUS:
        v->relu = RELU_BOTH;
        return 1;
    case W_TRANSPOSED:
        return v->transposed = 1;
    case ONE_FILTER:
        return v->first_filter = 1;
    case ONE_DEPTHWISE_CHANNEL:
        return v->first_channel = 1;
    case LAST_POINTWISE_CHANNEL:
        return --v->channels > 0;
    case DEPTHWISE_IN_CHUNK:
        v->depthwise.filter = FILTER_IN_CHUNK;
        return v->p.C > 16;
    case TILE_EXCHANGED:
        return v->exchange = EXCHANGE_IN_TILE;
    case STRIP_OF_FILTERS:
        return v->exchange = EXCHANGE_STRIPS;
    case FIRST_CHUNK:
        v->channels = 16;
        return v->channels < v->p.C;
    case LAST_OF_4:
    case LAST_OF_8:
    case LAST_OF_16:
    case LAST_OF_32:
        v->skipped = CHUNK[which - LAST_OF_4];
        return v->p.C >= v->skipped;
    default:
        v->channels -= v->p.C % CHUNK[which - CHUNK_OF_4];
        return v->channels > 0 && v->channels < v->p.C;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    Separable v = separable_of(&judged->view.problem);
    const int is_part = which >= MISTAKES, kind = which % MISTAKES;
    if (is_part && !judged->count[MARK_RIGHT]) return 0;
    if (kind < POINTWISE_MISTAKES ? !pointwise_mistake(kind, &v)
                                  : !grouped_mistake(kind - POINTWISE_MISTAKES, &v.depthwise))
        return 0;
    if (!grouped_mistake_fits(judged, separable_element, &v)) return 0;
    Oracle o = {.v = v, .tensor = judged->view.tensor, .expected = value};
    if (oracle_run(&o)) return 0;
    for (size_t i = 0; is_part && i < judged->verdict.total; i++)
        if (judged->mark[i] == MARK_RIGHT) value[i] = judged->expected[i];
    return 1;
}

static void separable_explain(const Judgement *judged, ProbeRun run, void *context,
                              Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, 2 * MISTAKES, mistaken_values, finding);
}

extern const Operation separable_forward_operation;
const Operation separable_forward_operation = {.name = "separable_forward",
                                               .example =
                                                   "N=2 C=6 H=13 W=11 K=8 R=3 S=3 pad=1 stride=1",
                                               .parse = separable_parse,
                                               .print = separable_print,
                                               .draw = separable_draw,
                                               .tensors = separable_tensors,
                                               .numbers = separable_numbers,
                                               .flops = separable_flops,
                                               .least_bytes = separable_least_bytes,
                                               .generate = separable_generate,
                                               .oracle = separable_oracle,
                                               .oracle_element = separable_oracle_element,
                                               .own_reach = 1,
                                               .explain = separable_explain};
