/* lenet_forward.c - LeNet-5, from an image to ten probabilities (convlab/layers.h).
 *
 * The bound.  The worst case, in which every rounding of every layer is maximal and has the same
 * sign, grows by the square root of a layer's inputs in each layer, and would accept inputs of half
 * precision.  So errors are propagated as independent ones (Higham and Mary, A new approach to
 * probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5), 2019: the error of a sum of m
 * terms is at most a small multiple of sqrt(m) u * sum|w x|, except with negligible probability).
 * Each value has a spread, in units of u:
 *
 *     a sum of m products and a bias   the root of: sum of (w * spread of x)^2, and of
 *                                      (sqrt(m + 1) * (sum|w x| + |b|))^2
 *     f(z)                             |f'(z)| * spread of z + f's own roundings (activation.h)
 *     a maximum                        the largest spread under the window
 *     an average of 4                  the root of the sum of their squares over 4, and 2 |x| / 4
 *                                      for each
 *     softmax                          dy_k = y_k (dz_k - sum of y_j dz_j): the root of the sum of
 *                                      squares and its own roundings
 *
 * magnitude is the spread of an output, terms 1: with the factor that every bound has, 4, that
 * is four times the spread.  test_layers.c measures the errors of fp32 and of rounded inputs. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"
#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "common/operations/catalog/activation.h"
#include "common/operations/catalog/network_probe.h"
#include "convlab/layers.h"

enum { TENSOR_X, TENSOR_W, TENSOR_Y, TENSORS };
enum { INPUTS = 32 * 32, CLASSES = 10, LARGEST = 6 * 28 * 28 };

static const ShapeKey KEYS[] = {
    {"N", SHAPE_NUMBER, offsetof(LenetProblem, N), 1, 1 << 20, NULL, 0},
    {"activation", SHAPE_WORD, offsetof(LenetProblem, activation), 0, 0, "relu tanh sigmoid", 0},
    {"pool", SHAPE_WORD, offsetof(LenetProblem, pool), 0, 0, "max average", 0},
    {0},
};

static LenetProblem lenet_unpack(const Problem *problem)
{
    LenetProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int lenet_parse(const char *text, Problem *problem, Error *error)
{
    LenetProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error) ||
        shape_check_count("x", (double)p.N * INPUTS, error))
        return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void lenet_print(const Problem *problem, char *text, size_t bytes)
{
    LenetProblem p = lenet_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

static double image_macs(void)
{
    return 6 * 28 * 28 * 25.0 + 16 * 10 * 10 * 150.0 + 120 * 400.0 + 84 * 120.0 + 10 * 84.0;
}

/* All kinds, with one image and with a few. */
static void lenet_draw(Random *random, int index, double max_macs, Problem *problem)
{
    LenetProblem p = {.N = random_range(random, 1, 3), .activation = index % 3, .pool = index % 2};
    while (p.N > 1 && p.N * image_macs() > max_macs)
        p.N--;
    problem_pack(&p, sizeof p, problem);
}

static int lenet_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    size_t N = (size_t)lenet_unpack(problem).N;
    shape[TENSOR_X] = (TensorShape){"x", TENSOR_INPUT, 3, {N, 32, 32}, {"n", "h", "w"}};
    shape[TENSOR_W] = (TensorShape){"w", TENSOR_INPUT, 1, {LENET_WEIGHTS}, {"i"}};
    shape[TENSOR_Y] = (TensorShape){"y", TENSOR_OUTPUT, 2, {N, CLASSES}, {"n", "k"}};
    return TENSORS;
}

static double lenet_flops(const Problem *problem)
{
    return 2 * lenet_unpack(problem).N * image_macs();
}

static double lenet_least_bytes(const Problem *problem)
{
    return 4 * (lenet_unpack(problem).N * (double)(INPUTS + CLASSES) + LENET_WEIGHTS);
}

static int lenet_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    LenetProblem p = lenet_unpack(problem);
    number[0] = (ProblemNumber){"N", p.N};
    number[1] = (ProblemNumber){"macs", p.N * image_macs()};
    return 2;
}

/* ---- the network's layers -------------------------------------------------------------------- */

typedef struct Layer {
    int weights, biases; /* offsets in w */
    int maps, inputs;    /* number of output maps; number of terms of an output */
} Layer;

enum { C1, C3, C5, F6, OUT, LAYERS };
static const Layer LAYER[LAYERS] = {{LENET_C1_W, LENET_C1_B, 6, 25},
                                    {LENET_C3_W, LENET_C3_B, 16, 150},
                                    {LENET_C5_W, LENET_C5_B, 120, 400},
                                    {LENET_F6_W, LENET_F6_B, 84, 120},
                                    {LENET_OUT_W, LENET_OUT_B, CLASSES, 84}};

/* Weights of a filter or an output, with sum 0, so that the inputs' mean does not decide whether a
 * ReLU is active. */
static void draw_weights(Random *random, double scale, int inputs, float *w)
{
    double mean = 0;
    for (int i = 0; i < inputs; i++) {
        w[i] = (float)(scale * (2 * random_unit(random) - 1));
        mean += (double)w[i] / inputs;
    }
    for (int i = 0; i < inputs; i++)
        w[i] = (float)(w[i] - mean + 0x1p-30);
}

/* Weights so large that every layer's outputs vary, without saturation: a sigmoid reduces the
 * variation to a quarter, and the mean of four to about half.  With ReLU and more than three images
 * the logits are so large that their exponentials overflow a float. */
static void lenet_generate(const Problem *problem, Random *random, float *const *tensor)
{
    static const float LOGITS = 100;
    static const double GAIN[] = {[ACTIVATE_RELU] = 2, [ACTIVATE_TANH] = 2, [ACTIVATE_SIGMOID] = 8};
    LenetProblem p = lenet_unpack(problem);
    int sure = p.activation == ACTIVATE_RELU && p.N > 3;
    Random own;
    random_child(random, "x", &own);
    for (size_t i = 0; i < (size_t)p.N * INPUTS; i++)
        tensor[TENSOR_X][i] = (float)(2 * random_unit(&own) - 1 + 0x1p-30);
    random_child(random, "w", &own);
    for (int l = 0; l < LAYERS; l++) {
        int inputs = LAYER[l].inputs;
        float *w = tensor[TENSOR_W] + LAYER[l].weights, *b = tensor[TENSOR_W] + LAYER[l].biases;
        for (int k = 0; k < LAYER[l].maps; k++) {
            draw_weights(&own, GAIN[p.activation] * sqrt(3.0 / inputs), inputs, w + k * inputs);
            b[k] = (float)(random_unit(&own) - 0.5 + 0x1p-30);
            if (l == LAYERS - 1 && sure) b[k] += LOGITS;
        }
    }
}

/* ---- an image through the network ------------------------------------------------------------ */

/* Values and their spreads, for the largest layer. */
typedef struct Signal {
    double value[LARGEST], spread[LARGEST];
} Signal;

/* The network, with or without a mistake. */
typedef struct Network {
    LenetProblem p;
    const float *w;
    int no_bias, no_function;      /* Booleans: in these layers, one bit for each */
    int turned;                    /* flipped filters, or transposed matrices, of these layers */
    int pool_first, channels_last; /* Booleans: the function after the pooling; S4 in the order h,
                                    * w, c */
    int logits, undivided, overflows, function_at_the_end; /* Booleans: mistakes after OUT */
} Network;

static double weight_of(const Network *net, int l, int k, int i)
{
    const Layer *layer = &LAYER[l];
    const float *w = net->w + layer->weights;
    if (!(net->turned >> l & 1)) return w[k * layer->inputs + i];
    if (l > C3) return w[i * layer->maps + k];
    return w[k * layer->inputs + i / 25 * 25 + 24 - i % 25];
}

static void activate(const Network *net, int l, double *value, double *spread)
{
    double z = *value;
    if (net->no_function >> l & 1) return;
    *value = activation_value(net->p.activation, z);
    /* Near a ReLU's 0 an error may change the side. */
    double slope = net->p.activation == ACTIVATE_RELU ? z > -8 * 0x1p-24 * *spread
                                                      : activation_derivative(net->p.activation, z);
    *spread = slope * *spread + activation_roundings(net->p.activation, z);
}

/* One output: input(i) is the index of its i-th input. */
static void sum_layer(const Network *net, int l, int k, const Signal *in, const int *input,
                      double *value, double *spread)
{
    const Layer *layer = &LAYER[l];
    double bias = net->no_bias >> l & 1 ? 0 : net->w[layer->biases + k];
    double sum = bias, magnitude = fabs(bias), squares = 0;
    for (int i = 0; i < layer->inputs; i++) {
        double w = weight_of(net, l, k, i), moved = w * in->spread[input[i]];
        double product = w * in->value[input[i]];
        sum += product;
        magnitude += fabs(product);
        squares += moved * moved;
    }
    *value = sum;
    *spread = sqrt(squares + (layer->inputs + 1) * magnitude * magnitude);
}

/* A convolution of 5 x 5 over maps of size x size, and its function. */
static void convolve(const Network *net, int l, const Signal *in, int size, Signal *out)
{
    const Layer *layer = &LAYER[l];
    int input[150], outputs = size - 4;
    for (int at = 0; at < outputs * outputs; at++) {
        for (int i = 0; i < layer->inputs; i++)
            input[i] = (i / 25 * size + at / outputs + i % 25 / 5) * size + at % outputs + i % 5;
        for (int k = 0; k < layer->maps; k++) {
            int y = k * outputs * outputs + at;
            sum_layer(net, l, k, in, input, &out->value[y], &out->spread[y]);
            if (!net->pool_first) activate(net, l, &out->value[y], &out->spread[y]);
        }
    }
}

/* Pools 2 x 2 of maps of size x size. */
static void pool(const Network *net, int l, const Signal *in, int size, Signal *out)
{
    int half = size / 2;
    for (int y = 0; y < LAYER[l].maps * half * half; y++) {
        int from = (y / half * 2) * size + y % half * 2;
        int at[4] = {from, from + 1, from + size, from + size + 1};
        double largest = -INFINITY, sum = 0, magnitude = 0, squares = 0, spread = 0;
        for (int i = 0; i < 4; i++) {
            largest = fmax(largest, in->value[at[i]]);
            sum += in->value[at[i]] / 4;
            magnitude += fabs(in->value[at[i]]) / 4;
            squares += in->spread[at[i]] * in->spread[at[i]] / 16;
            spread = fmax(spread, in->spread[at[i]]);
        }
        int max = net->p.pool == POOL_MAX;
        out->value[y] = max ? largest : sum;
        out->spread[y] = max ? spread : sqrt(squares + 4 * magnitude * magnitude);
        if (net->pool_first) activate(net, l, &out->value[y], &out->spread[y]);
    }
}

static void connect(const Network *net, int l, const Signal *in, Signal *out)
{
    int input[400];
    for (int i = 0; i < LAYER[l].inputs; i++)
        input[i] = l == C5 && net->channels_last ? i % 16 * 25 + i / 16 : i;
    for (int k = 0; k < LAYER[l].maps; k++) {
        sum_layer(net, l, k, in, input, &out->value[k], &out->spread[k]);
        if (l != OUT || net->function_at_the_end) activate(net, l, &out->value[k], &out->spread[k]);
    }
}

static void softmax(const Network *net, const Signal *in, double *value, double *spread)
{
    double largest = -INFINITY, powers = 0;
    softmax_carry(CLASSES, in->value, in->spread, value, spread);
    for (int k = 0; k < CLASSES; k++) {
        largest = fmax(largest, in->value[k]);
        powers += (float)exp(in->value[k]);
    }
    for (int k = 0; k < CLASSES; k++) {
        if (net->overflows) value[k] = (float)exp(in->value[k]) / powers;
        if (net->logits) value[k] = in->value[k];
        if (net->undivided) value[k] = exp(in->value[k] - largest);
    }
}

/* Ten values and their spreads. */
static void run_image(const Network *net, const float *x, Signal *one, Signal *other, double *value,
                      double *spread)
{
    for (int i = 0; i < INPUTS; i++) {
        one->value[i] = x[i];
        one->spread[i] = 0;
    }
    convolve(net, C1, one, 32, other);
    pool(net, C1, other, 28, one);
    convolve(net, C3, one, 14, other);
    pool(net, C3, other, 10, one);
    connect(net, C5, one, other);
    connect(net, F6, other, one);
    connect(net, OUT, one, other);
    softmax(net, other, value, spread);
}

typedef struct Images {
    const Network *net;
    const float *x;
    size_t stride; /* elements between images; 0: the first image for all */
    int images, shares;
    double *value, *spread;
    Signal *space; /* two per share */
} Images;

static void images_share(void *context, int share)
{
    const Images *all = context;
    Signal *space = &all->space[2 * share];
    for (int n = share; n < all->images; n += all->shares)
        run_image(all->net, all->x + n * all->stride, &space[0], &space[1],
                  &all->value[n * CLASSES], &all->spread[n * CLASSES]);
}

/* NAN for all if memory is exhausted. */
static void run_images(Images *all)
{
    all->shares = parallel_shares(all->images * image_macs(), 1e6);
    all->space = malloc(2 * (size_t)all->shares * sizeof *all->space);
    for (int i = 0; i < all->images * CLASSES && !all->space; i++)
        all->value[i] = all->spread[i] = NAN;
    if (all->space) parallel_run(all->shares, images_share, all);
    free(all->space);
}

/* ---- the oracle ------------------------------------------------------------------------------ */

static void lenet_oracle(const Problem *problem, const float *const *tensor, double *expected,
                         double *magnitude, double *terms)
{
    Network net = {.p = lenet_unpack(problem), .w = tensor[TENSOR_W]};
    Images all = {.net = &net,
                  .x = tensor[TENSOR_X],
                  .stride = INPUTS,
                  .images = net.p.N,
                  .value = expected,
                  .spread = magnitude};
    run_images(&all);
    for (int i = 0; i < net.p.N * CLASSES; i++)
        terms[i] = 1;
}

static void lenet_of_images(const Problem *problem, int images, Problem *fewer)
{
    LenetProblem p = lenet_unpack(problem);
    p.N = images;
    problem_pack(&p, sizeof p, fewer);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

enum {
    OTHER_POOL,
    POOL_FIRST,
    LOGITS,
    UNDIVIDED,
    OVERFLOWS,
    FUNCTION_AT_THE_END,
    CHANNELS_LAST,
    FIRST_IMAGE,
    ALL_RELU,
    ALL_TANH,
    ALL_SIGMOID,
    FLIPPED_C1,
    FLIPPED_C3,
    FLIPPED_BOTH,
    TRANSPOSED_C5,
    TRANSPOSED_F6,
    TRANSPOSED_OUT,
    TRANSPOSED_ALL,
    NO_BIAS_C1,
    NO_BIAS_C3,
    NO_BIAS_C5,
    NO_BIAS_F6,
    NO_BIAS_OUT,
    NO_BIAS_CONVOLVED,
    NO_BIAS_CONNECTED,
    NO_BIAS_ALL,
    LINEAR_C1,
    LINEAR_C3,
    LINEAR_C5,
    LINEAR_F6,
    LINEAR_CONVOLVED,
    LINEAR_CONNECTED,
    LINEAR_ALL,
    MISTAKES
};

#define NO_BIAS_OF(layer)                                                                          \
    {                                                                                              \
        FAULT_FORMULA, "The bias of " layer " is missing."                                         \
    }
#define LINEAR_OF(layer)                                                                           \
    {                                                                                              \
        FAULT_FORMULA, "The activation of " layer " is missing."                                   \
    }
#define TRANSPOSED_OF(layer)                                                                       \
    {                                                                                              \
        FAULT_LAYOUT,                                                                              \
            "The weights of " layer                                                                \
            " are read as w[c][k]. They are stored as w[k][c], the inputs of one output "          \
            "contiguous."                                                                          \
    }
#define FLIPPED_OF(layer)                                                                          \
    {                                                                                              \
        FAULT_FLIPPED_FILTER, "The filters of " layer                                              \
                              " are flipped: tap (r, s) is multiplied by input (h + r, w + s)."    \
    }

static const Mistake MISTAKE[MISTAKES] = {
    [OTHER_POOL] = {FAULT_FORMULA, "S2 and S4 use the average instead of the maximum, or the "
                                   "maximum instead of the average."},
    [POOL_FIRST] = {FAULT_FORMULA, "The maps are averaged before the activation. Here a layer is "
                                   "the convolution, its bias, the activation, and then the pool."},
    [LOGITS] = {FAULT_FORMULA, "These are OUT's sums: the softmax is missing."},
    [UNDIVIDED] = {FAULT_FORMULA, "The exponentials are not divided by their sum."},
    [OVERFLOWS] =
        {FAULT_OVERFLOW,
         "The exponentials of OUT's sums themselves overflow: expf(89) is infinite already. "
         "Subtract the maximum of an image's ten sums first: the quotient is the same."},
    [FUNCTION_AT_THE_END] = {FAULT_FORMULA,
                             "OUT has no activation: the softmax uses the sums of OUT."},
    [CHANNELS_LAST] = {FAULT_LAYOUT, "C5 reads S4 with the maps contiguous. Its inputs are S4 as "
                                     "it is stored: map, row, column."},
    [FIRST_IMAGE] = {FAULT_ONE_IMAGE, "Every image gets the outputs of the first."},
    [ALL_RELU] = {FAULT_FORMULA, "The activation is ReLU, regardless of the problem."},
    [ALL_TANH] = {FAULT_FORMULA, "The activation is tanh, regardless of the problem."},
    [ALL_SIGMOID] = {FAULT_FORMULA, "The activation is the sigmoid, regardless of the problem."},
    [FLIPPED_C1] = FLIPPED_OF("C1"),
    [FLIPPED_C3] = FLIPPED_OF("C3"),
    [FLIPPED_BOTH] = FLIPPED_OF("C1 and C3"),
    [TRANSPOSED_C5] = TRANSPOSED_OF("C5"),
    [TRANSPOSED_F6] = TRANSPOSED_OF("F6"),
    [TRANSPOSED_OUT] = TRANSPOSED_OF("OUT"),
    [TRANSPOSED_ALL] = TRANSPOSED_OF("C5, F6 and OUT"),
    [NO_BIAS_C1] = NO_BIAS_OF("C1"),
    [NO_BIAS_C3] = NO_BIAS_OF("C3"),
    [NO_BIAS_C5] = NO_BIAS_OF("C5"),
    [NO_BIAS_F6] = NO_BIAS_OF("F6"),
    [NO_BIAS_OUT] = NO_BIAS_OF("OUT"),
    [NO_BIAS_CONVOLVED] = NO_BIAS_OF("C1 and C3"),
    [NO_BIAS_CONNECTED] = NO_BIAS_OF("C5, F6 and OUT"),
    [NO_BIAS_ALL] = NO_BIAS_OF("every layer"),
    [LINEAR_C1] = LINEAR_OF("C1"),
    [LINEAR_C3] = LINEAR_OF("C3"),
    [LINEAR_C5] = LINEAR_OF("C5"),
    [LINEAR_F6] = LINEAR_OF("F6"),
    [LINEAR_CONVOLVED] = LINEAR_OF("C1 and C3"),
    [LINEAR_CONNECTED] = LINEAR_OF("C5 and F6"),
    [LINEAR_ALL] = LINEAR_OF("every layer"),
};

/* Bit of a layer in the masks of mistakes. */
#define BIT(layer) (1 << (layer))
static const int ABOUT[MISTAKES] = {
    [FLIPPED_C1] = BIT(C1),
    [FLIPPED_C3] = BIT(C3),
    [FLIPPED_BOTH] = BIT(C1) | BIT(C3),
    [TRANSPOSED_C5] = BIT(C5),
    [TRANSPOSED_F6] = BIT(F6),
    [TRANSPOSED_OUT] = BIT(OUT),
    [TRANSPOSED_ALL] = BIT(C5) | BIT(F6) | BIT(OUT),
    [NO_BIAS_C1] = BIT(C1),
    [NO_BIAS_C3] = BIT(C3),
    [NO_BIAS_C5] = BIT(C5),
    [NO_BIAS_F6] = BIT(F6),
    [NO_BIAS_OUT] = BIT(OUT),
    [NO_BIAS_CONVOLVED] = BIT(C1) | BIT(C3),
    [NO_BIAS_CONNECTED] = BIT(C5) | BIT(F6) | BIT(OUT),
    [NO_BIAS_ALL] = BIT(LAYERS) - 1,
    [LINEAR_C1] = BIT(C1),
    [LINEAR_C3] = BIT(C3),
    [LINEAR_C5] = BIT(C5),
    [LINEAR_F6] = BIT(F6),
    [LINEAR_CONVOLVED] = BIT(C1) | BIT(C3),
    [LINEAR_CONNECTED] = BIT(C5) | BIT(F6),
    [LINEAR_ALL] = BIT(LAYERS) - 1,
};

/* The network with a mistake.  0: the mistake does not change this problem. */
static int mistaken_network(int which, Network *net)
{
    LenetProblem *p = &net->p;
    if (which >= LINEAR_C1) return net->no_function = ABOUT[which];
    if (which >= NO_BIAS_C1) return net->no_bias = ABOUT[which];
    if (which >= FLIPPED_C1) return net->turned = ABOUT[which];
    if (which >= ALL_RELU) {
        int kind = ACTIVATE_RELU + which - ALL_RELU, changes = kind != p->activation;
        p->activation = kind;
        return changes;
    }
    switch (which) {
    case OTHER_POOL:
        p->pool = p->pool == POOL_MAX ? POOL_AVERAGE : POOL_MAX;
        return 1;
    case POOL_FIRST:
        return net->pool_first = p->pool == POOL_AVERAGE;
    case LOGITS:
        return net->logits = 1;
    case UNDIVIDED:
        return net->undivided = 1;
    case OVERFLOWS:
        return net->overflows = 1;
    case FUNCTION_AT_THE_END:
        return net->function_at_the_end = 1;
    case CHANNELS_LAST:
        return net->channels_last = 1;
    default:
        return 1;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    const float *const *tensor = judged->view.tensor;
    Network net = {.p = lenet_unpack(&judged->view.problem), .w = tensor[TENSOR_W]};
    double *spread = malloc((size_t)net.p.N * CLASSES * sizeof *spread);
    Images all = {.net = &net,
                  .x = tensor[TENSOR_X],
                  .stride = which == FIRST_IMAGE ? 0 : INPUTS,
                  .images = net.p.N,
                  .value = value,
                  .spread = spread};
    int changes = spread && mistaken_network(which, &net);
    if (changes) run_images(&all);
    free(spread);
    return changes;
}

/* Whether all errors are small, but larger than fp32's: weights of 11 bits lead to at most 60 times
 * the spread, weights of 8 bits to 440 times, and a missing term mostly to thousands. */
static int is_rounded(const Judgement *judged)
{
    for (size_t i = 0; i < judged->verdict.total; i++)
        if (!(fabs(judged->view.output[i] - judged->expected[i]) <=
              640 * 0x1p-24 * judged->magnitude[i]))
            return 0;
    return 1;
}

static const NetworkLayer PLACE[LAYERS] = {{"C1", LENET_C1_W, LENET_C1_B},
                                           {"C3", LENET_C3_W, LENET_C3_B},
                                           {"C5", LENET_C5_W, LENET_C5_B},
                                           {"F6", LENET_F6_W, LENET_F6_B},
                                           {"OUT", LENET_OUT_W, LENET_OUT_B}};

/* Rounding errors are visible in the last layer already; a small mistake before it is not. */
static void lenet_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
    if (finding->fault != FAULT_EVERYWHERE) return;
    int l = network_wrong_layer(judged, run, context, TENSOR_W, PLACE, LAYERS);
    /* Without further runs a small mistake in an early layer looks the same. */
    if (is_rounded(judged) && l < 0) {
        finding_say(finding, NETWORK_NEAR);
    } else if (is_rounded(judged) && l == OUT) {
        *finding = (Finding){.fault = FAULT_PRECISION};
        finding_say(finding, NETWORK_ROUNDED);
    } else {
        network_say_layer(l, PLACE, LAYERS, finding);
    }
}

extern const Operation lenet_forward_operation;
const Operation lenet_forward_operation = {.name = "lenet_forward",
                                           .example = "N=2 activation=tanh pool=average",
                                           .parse = lenet_parse,
                                           .print = lenet_print,
                                           .draw = lenet_draw,
                                           .tensors = lenet_tensors,
                                           .numbers = lenet_numbers,
                                           .flops = lenet_flops,
                                           .least_bytes = lenet_least_bytes,
                                           .generate = lenet_generate,
                                           .oracle = lenet_oracle,
                                           .of_images = lenet_of_images,
                                           .own_reach = 1,
                                           .explain = lenet_explain};
