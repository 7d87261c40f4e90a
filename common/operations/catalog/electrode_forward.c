/* electrode_forward.c - network that classifies recordings of nerve cuff electrodes
 * (convlab/electrode.h).  The oracle and the bound are in electrode_network.c: magnitude is
 * the spread of an output and terms is 1, so the bound is four times the spread. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"
#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "common/operations/catalog/electrode_network.h"
#include "common/operations/catalog/network_probe.h"

enum { TENSOR_X, TENSOR_W, TENSOR_Y, TENSORS };

static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(ElectrodeProblem, N), 1, 65535, NULL, 0},
    {"H", SHAPE_NUMBER, offsetof(ElectrodeProblem, H), 4, 65532, NULL, 0},
    {"W", SHAPE_NUMBER, offsetof(ElectrodeProblem, W), 4, 65532, NULL, 0},
    {"c", SHAPE_NUMBER, offsetof(ElectrodeProblem, c), 1, 4096, NULL, 0},
    {"f", SHAPE_NUMBER, offsetof(ElectrodeProblem, f), 1, 65535, NULL, 0},
    {"classes", SHAPE_NUMBER, offsetof(ElectrodeProblem, classes), 2, 32, NULL, 0},
    {"padded", SHAPE_NUMBER, offsetof(ElectrodeProblem, padded), 0, 1, NULL, 1},
    {0},
};

static ElectrodeProblem electrode_unpack(const Problem *problem)
{
    ElectrodeProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* Number of rows (and columns) of x, with or without padding. */
static size_t rows_of(const ElectrodeProblem *p)
{
    return (size_t)(p->H + (p->padded ? ELECTRODE_R1 - 1 : 0));
}

static size_t columns_of(const ElectrodeProblem *p)
{
    return (size_t)(p->W + (p->padded ? ELECTRODE_R1 - 1 : 0));
}

/* ---- problems ------------------------------------------------------------------------------ */

static int check_sizes(const ElectrodeProblem *p, Error *error)
{
    double values = (double)p->N * p->c * p->H * p->W, parameters = 0;
    if (p->H % 4 || p->W % 4)
        return error_set(error, "%s=%d: give a multiple of 4, because it is halved twice",
                         p->H % 4 ? "H" : "W", p->H % 4 ? p->H : p->W);
    for (int l = 0; l < ELECTRODE_LAYERS; l++) {
        ElectrodeLayer layer = electrode_layer(p, l);
        if ((double)p->c * (p->H / 4) * (p->W / 4) > 1e9) break; /* FULL's C would overflow */
        parameters += (double)layer.K * (electrode_taps(&layer) + 1.0);
    }
    if (shape_check_count("x", (double)p->N * (double)rows_of(p) * (double)columns_of(p), error) ||
        shape_check_count("w", parameters, error))
        return -1;
    if (values > 1e9)
        return error_set(error, "CONV1 would make %.0f values: at most a billion", values);
    return 0;
}

static int electrode_parse(const char *text, Problem *problem, Error *error)
{
    ElectrodeProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error) || check_sizes(&p, error)) return -1;
    electrode_derive(&p);
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void electrode_print(const Problem *problem, char *text, size_t bytes)
{
    ElectrodeProblem p = electrode_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* Few filters and many, wide recordings and high ones, one image and several, different numbers of
 * classes, with and without padding in x. */
static void electrode_draw(Random *random, int index, double max_macs, Problem *problem)
{
    ElectrodeProblem p = {.N = random_range(random, 1, 3),
                          .H = 4 * random_range(random, 2, 4),
                          .W = 4 * random_range(random, 2, 7),
                          .c = 4 * random_range(random, 1, 3),
                          .f = random_range(random, 9, 70),
                          .classes = random_range(random, 2, 5),
                          .padded = index % 2};
    switch (index % 4) {
    case 1:
        p.N = random_range(random, 5, 9);
        p.H = 4;
        break;
    case 2:
        p.W = 4;
        p.H = 4 * random_range(random, 5, 9);
        p.c = random_range(random, 2, 13);
        break;
    case 3:
        p.c = random_range(random, 17, 19);
        p.classes = random_range(random, 9, 32);
        break;
    }
    while (p.N > 1 && p.N * electrode_image_macs(&p) > max_macs)
        p.N--;
    while (p.c > 2 && p.N * electrode_image_macs(&p) > max_macs)
        p.c--;
    electrode_derive(&p);
    problem_pack(&p, sizeof p, problem);
}

static int electrode_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    ElectrodeProblem p = electrode_unpack(problem);
    size_t N = (size_t)p.N;
    shape[TENSOR_X] =
        (TensorShape){"x", TENSOR_INPUT, 3, {N, rows_of(&p), columns_of(&p)}, {"n", "h", "w"}};
    shape[TENSOR_W] = (TensorShape){"w", TENSOR_INPUT, 1, {(size_t)p.parameters}, {"i"}};
    shape[TENSOR_Y] = (TensorShape){"y", TENSOR_OUTPUT, 2, {N, (size_t)p.classes}, {"n", "k"}};
    return TENSORS;
}

static double electrode_flops(const Problem *problem)
{
    ElectrodeProblem p = electrode_unpack(problem);
    return 2 * p.N * electrode_image_macs(&p);
}

static double electrode_least_bytes(const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    return tensors_bytes(shape, electrode_tensors(problem, shape));
}

static int electrode_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    ElectrodeProblem p = electrode_unpack(problem);
    const ProblemNumber all[] = {{"N", p.N},
                                 {"H", p.H},
                                 {"W", p.W},
                                 {"c", p.c},
                                 {"f", p.f},
                                 {"classes", p.classes},
                                 {"parameters", p.parameters},
                                 {"macs", p.N * electrode_image_macs(&p)}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* Weights of a filter or an output, with sum 0, so that the inputs' mean does not decide whether a
 * ReLU is active.  With a scale of 1.6 neither values nor differences vanish or grow from layer to
 * layer: a ReLU and the largest of four leave slightly less than half of a variance. */
static void draw_weights(Random *random, int inputs, float *w)
{
    double mean = 0, scale = 1.6 * sqrt(3.0 / inputs);
    for (int i = 0; i < inputs; i++) {
        w[i] = (float)(scale * (2 * random_unit(random) - 1));
        mean += (double)w[i] / inputs;
    }
    for (int i = 0; i < inputs; i++)
        w[i] = (float)(w[i] - mean + 0x1p-30);
}

/* The logits of many classes are so large that their exponentials overflow: a softmax has to
 * subtract the maximum. */
static double offset_of(const ElectrodeProblem *p, int layer)
{
    enum { MANY_CLASSES = 17, OFFSET = 100 };
    return layer == ELECTRODE_LAYERS - 1 && p->classes >= MANY_CLASSES ? OFFSET : 0;
}

/* All layers' weights and biases in the order in which they lie: a FULL as the report's takes one
 * core 50 ms, and every timed window has its own. */
typedef struct WeightFill {
    const ElectrodeProblem *p;
    const Random *from; /* generator at the first value */
    float *w;
    int shares;
} WeightFill;

static void weights_share(void *context, int share)
{
    const WeightFill *fill = context;
    for (int l = 0; l < ELECTRODE_LAYERS; l++) {
        const ElectrodeLayer layer = electrode_layer(fill->p, l);
        const int inputs = electrode_taps(&layer), weights = fill->p->weights[l];
        const int first = (int)((long long)layer.K * share / fill->shares);
        const int last = (int)((long long)layer.K * (share + 1) / fill->shares);
        Random own = *fill->from;
        random_skip(&own, (uint64_t)weights + (uint64_t)first * ((uint64_t)inputs + 1));
        for (int k = first; k < last; k++) {
            draw_weights(&own, inputs, fill->w + weights + (size_t)k * (size_t)inputs);
            fill->w[fill->p->biases[l] + k] =
                (float)(random_unit(&own) - 0.5 + 0x1p-30 + offset_of(fill->p, l));
        }
    }
}

static void electrode_generate(const Problem *problem, Random *random, float *const *tensor)
{
    ElectrodeProblem p = electrode_unpack(problem);
    size_t rows = rows_of(&p), columns = columns_of(&p);
    Random own;
    random_child(random, "x", &own);
    for (size_t i = 0; i < (size_t)p.N * rows * columns; i++) {
        long h = (long)(i / columns % rows) - (p.padded ? ELECTRODE_BEFORE : 0);
        long w = (long)(i % columns) - (p.padded ? ELECTRODE_BEFORE : 0);
        int inside = h >= 0 && w >= 0 && h < p.H && w < p.W;
        tensor[TENSOR_X][i] = inside ? (float)(2 * random_unit(&own) - 1 + 0x1p-30) : 0;
    }
    random_child(random, "w", &own);
    WeightFill fill = {&p, &own, tensor[TENSOR_W], parallel_shares(p.parameters, 1 << 16)};
    parallel_run(fill.shares, weights_share, &fill);
}

static void electrode_oracle(const Problem *problem, const float *const *tensor, double *expected,
                             double *magnitude, double *terms)
{
    static const ElectrodeSlips NONE;
    ElectrodeProblem p = electrode_unpack(problem);
    electrode_run(&p, &NONE, tensor[TENSOR_X], tensor[TENSOR_W], expected, magnitude);
    for (int i = 0; i < p.N * p.classes; i++)
        terms[i] = 1;
}

static void electrode_of_images(const Problem *problem, int images, Problem *fewer)
{
    ElectrodeProblem p = electrode_unpack(problem);
    p.N = images;
    problem_pack(&p, sizeof p, fewer);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

enum {
    CONV1 = 1 << ELECTRODE_CONV1,
    CONV2 = 1 << ELECTRODE_CONV2,
    CONV3 = 1 << ELECTRODE_CONV3,
    FULL = 1 << ELECTRODE_FULL,
    OUT = 1 << ELECTRODE_OUT,
    CONVOLVED = CONV1 | CONV2 | CONV3
};

/* The larger half of the padding, (R-1)/2 of it above and to the left, on the wrong side. */
#define BEHIND(l, of)                                                                              \
    {                                                                                              \
        {.behind = (l)}, FAULT_HALO,                                                               \
            "The padding of " of " has its halves exchanged. An even filter is padded by an odd "  \
            "number of zeros: the smaller half, (R-1)/2, is above and to the left."                \
    }
#define UNPADDED(l, of)                                                                            \
    {                                                                                              \
        {.unpadded = (l)}, FAULT_HALO,                                                             \
            "The windows of " of " start at the output's own row and column. They start (R-1)/2 "  \
            "above it and to the left of it."                                                      \
    }
#define FLIPPED(l, of)                                                                             \
    {                                                                                              \
        {.flipped = (l)}, FAULT_FLIPPED_FILTER, "The filters of " of " are flipped."               \
    }
#define SWAPPED(l, of)                                                                             \
    {                                                                                              \
        {.transposed = (l)}, FAULT_TRANSPOSED_FILTER,                                              \
            "Rows and columns of the filters of " of " are exchanged: w[k][c][r][s]."              \
    }
#define TRANSPOSED_WEIGHTS(l, of)                                                                  \
    {                                                                                              \
        {.transposed = (l)}, FAULT_LAYOUT,                                                         \
            "The weights of " of                                                                   \
            " are read as w[c][k]. They are stored as w[k][c], the inputs of one "                 \
            "output contiguous."                                                                   \
    }
#define ONE_MAP(l, of)                                                                             \
    {                                                                                              \
        {.one_map = (l)}, FAULT_ONE_CHANNEL,                                                       \
            "Only the last input map counts in " of ": each map's sum replaces the previous one, " \
            "but they have to be added."                                                           \
    }
#define NO_BIAS(l, of)                                                                             \
    {                                                                                              \
        {.no_bias = (l)}, FAULT_FORMULA, "The bias of " of " is missing."                          \
    }
#define NO_RELU(l, of)                                                                             \
    {                                                                                              \
        {.no_relu = (l)}, FAULT_FORMULA, "The ReLU of " of " is missing."                          \
    }

static const struct {
    ElectrodeSlips slips;
    Fault fault;
    const char *text;
} SLIP[] = {
    {{.logits = 1}, FAULT_FORMULA, "These are OUT's sums: the softmax is missing."},
    {{.undivided = 1}, FAULT_FORMULA, "The exponentials are not divided by their sum."},
    {{.relu_at_end = 1}, FAULT_FORMULA, "OUT has no ReLU: the softmax uses the sums of OUT."},
    {{.mean = 1}, FAULT_FORMULA, "The pools average. Here each is the maximum of 2 x 2."},
    {{.maps_last = 1},
     FAULT_LAYOUT,
     "FULL reads CONV3 with the maps contiguous. Its inputs are CONV3 as it is stored: map, row, "
     "column."},
    {{.first_image = 1}, FAULT_ONE_IMAGE, "Every recording gets the outputs of the first."},
    BEHIND(CONVOLVED, "every convolution"),
    BEHIND(CONV1, "CONV1"),
    BEHIND(CONV2, "CONV2"),
    BEHIND(CONV3, "CONV3"),
    UNPADDED(CONVOLVED, "every convolution"),
    UNPADDED(CONV1, "CONV1"),
    UNPADDED(CONV2, "CONV2"),
    FLIPPED(CONVOLVED, "every convolution"),
    FLIPPED(CONV1, "CONV1"),
    FLIPPED(CONV2, "CONV2"),
    FLIPPED(CONV3, "CONV3"),
    SWAPPED(CONVOLVED, "every convolution"),
    SWAPPED(CONV1, "CONV1"),
    SWAPPED(CONV2, "CONV2"),
    SWAPPED(CONV3, "CONV3"),
    TRANSPOSED_WEIGHTS(FULL, "FULL"),
    TRANSPOSED_WEIGHTS(OUT, "OUT"),
    TRANSPOSED_WEIGHTS(FULL | OUT, "FULL and OUT"),
    ONE_MAP(CONV2 | CONV3, "CONV2 and CONV3"),
    ONE_MAP(CONV2, "CONV2"),
    ONE_MAP(CONV3, "CONV3"),
    NO_BIAS(CONVOLVED | FULL | OUT, "every layer"),
    NO_BIAS(CONVOLVED, "every convolution"),
    NO_BIAS(CONV1 | CONV2, "CONV1 and CONV2"),
    NO_BIAS(CONV1, "CONV1"),
    NO_BIAS(CONV2, "CONV2"),
    NO_BIAS(CONV3, "CONV3"),
    NO_BIAS(FULL, "FULL"),
    NO_BIAS(OUT, "OUT"),
    NO_RELU(CONVOLVED | FULL, "every layer"),
    NO_RELU(CONVOLVED, "every convolution"),
    NO_RELU(CONV1 | CONV2, "CONV1 and CONV2"),
    NO_RELU(CONV1, "CONV1"),
    NO_RELU(CONV2, "CONV2"),
    NO_RELU(CONV3, "CONV3"),
    NO_RELU(FULL, "FULL"),
};
enum { SLIPS = sizeof SLIP / sizeof *SLIP };

/* Each slip costs as much as the oracle, so none is tried on a large problem such as the
 * report's. */
static int slipped_values(const Judgement *judged, int which, double *value)
{
    ElectrodeProblem p = electrode_unpack(&judged->view.problem);
    const float *const *tensor = judged->view.tensor;
    double *spread = malloc((size_t)(p.N * p.classes) * sizeof *spread);
    int small = p.N * electrode_image_macs(&p) < 5e7;
    if (spread && small)
        electrode_run(&p, &SLIP[which].slips, tensor[TENSOR_X], tensor[TENSOR_W], value, spread);
    free(spread);
    return spread && small;
}

/* Weights of 11 bits lead to errors of at most hundreds of spreads, of 8 bits some thousands, and a
 * missing term in OUT mostly tens of thousands. */
static int is_rounded(const Judgement *judged)
{
    for (size_t i = 0; i < judged->verdict.total; i++)
        if (!(fabs(judged->view.output[i] - judged->expected[i]) <=
              12000 * 0x1p-24 * judged->magnitude[i]))
            return 0;
    return 1;
}

/* Rounding errors are visible in the last layer already; a small mistake before it is not. */
static void electrode_explain(const Judgement *judged, ProbeRun run, void *context,
                              Finding *finding)
{
    static const char *const NAME[ELECTRODE_LAYERS] = {"CONV1", "CONV2", "CONV3", "FULL", "OUT"};
    ElectrodeProblem p = electrode_unpack(&judged->view.problem);
    NetworkLayer layer[ELECTRODE_LAYERS];
    Mistake mistake[SLIPS];
    for (int i = 0; i < SLIPS; i++)
        mistake[i] = (Mistake){SLIP[i].fault, SLIP[i].text};
    for (int l = 0; l < ELECTRODE_LAYERS; l++)
        layer[l] = (NetworkLayer){NAME[l], p.weights[l], p.biases[l]};
    explain_mistakes(judged, run, context, mistake, SLIPS, slipped_values, finding);
    if (finding->fault != FAULT_EVERYWHERE) return;
    int l = network_wrong_layer(judged, run, context, TENSOR_W, layer, ELECTRODE_LAYERS);
    /* Without further runs a small mistake in an early layer looks the same. */
    if (is_rounded(judged) && l < 0) {
        finding_say(finding, NETWORK_NEAR);
    } else if (is_rounded(judged) && l == ELECTRODE_OUT) {
        *finding = (Finding){.fault = FAULT_PRECISION};
        finding_say(finding, NETWORK_ROUNDED);
    } else {
        network_say_layer(l, layer, ELECTRODE_LAYERS, finding);
    }
}

extern const Operation electrode_forward_operation;
const Operation electrode_forward_operation = {.name = "electrode_forward",
                                               .example = "N=2 H=12 W=20 c=4 f=32 classes=3",
                                               .parse = electrode_parse,
                                               .print = electrode_print,
                                               .draw = electrode_draw,
                                               .tensors = electrode_tensors,
                                               .numbers = electrode_numbers,
                                               .flops = electrode_flops,
                                               .least_bytes = electrode_least_bytes,
                                               .generate = electrode_generate,
                                               .oracle = electrode_oracle,
                                               .of_images = electrode_of_images,
                                               .own_reach = 1,
                                               .explain = electrode_explain};
