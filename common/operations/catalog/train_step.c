/* train_step.c - one step of training LeNet-5, or a smaller network of its form. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/training_step/train_explain.h"
#include "common/operations/training_step/train_oracle.h"
#include "common/operations/training_step/train_problem.h"

/* ---- sizes ------------------------------------------------------------------------------- */

enum { KEY_N, KEY_H, KEY_W, KEY_R, KEY_C1, KEY_C3, KEY_C5, KEY_F6, KEY_CLASSES, KEYS };
static const char *const key_name[KEYS] = {"N", "H", "W", "R", "c1", "c3", "c5", "f6", "classes"};

static int odd(const char *layer, const char *axis, int size, Error *error)
{
    if (size > 0 && size % 2 == 0) return 0;
    return error_set(error,
                     "%s would have %d %s: it has to be even and at least 2, for 2x2 become one; "
                     "LeNet-5 has H=32 W=32 R=5",
                     layer, size, axis);
}

/* The layer after `before`, NULL: the first. */
static TrainLayer layer_after(const TrainLayer *before, int C, int H, int W, int K, int R, int S)
{
    TrainLayer layer = {.C = C, .H = H, .W = W, .K = K, .R = R, .S = S};
    layer.P = H - R + 1;
    layer.Q = W - S + 1;
    layer.pool = 1;
    layer.weights = before ? TRAIN_BIASES(*before) + before->K : 0;
    return layer;
}

static int train_derive(const int size[], TrainProblem *train, Error *error)
{
    TrainLayer *layer = train->layer;
    int R = size[KEY_R];
    double widest = 0;
    *train = (TrainProblem){.N = size[KEY_N]};
    for (int i = 0; i < KEYS; i++) {
        if (size[i] < 1 || size[i] > 65535)
            return error_set(error, "%s is %d: it must be 1 to 65535", key_name[i], size[i]);
        widest = fmax(widest, size[i]);
    }
    layer[0] = layer_after(NULL, 1, size[KEY_H], size[KEY_W], size[KEY_C1], R, R);
    if (odd("C1", "rows", layer[0].P, error) || odd("C1", "columns", layer[0].Q, error)) return -1;
    layer[0].pool = 2;
    layer[1] =
        layer_after(&layer[0], layer[0].K, layer[0].P / 2, layer[0].Q / 2, size[KEY_C3], R, R);
    if (odd("C3", "rows", layer[1].P, error) || odd("C3", "columns", layer[1].Q, error)) return -1;
    layer[1].pool = 2;
    int P = layer[1].P / 2, Q = layer[1].Q / 2;
    double weights = (double)size[KEY_C1] * size[KEY_C3] * R * R +
                     (double)size[KEY_C3] * size[KEY_C5] * P * Q +
                     (double)size[KEY_C5] * size[KEY_F6];
    double maps = (double)size[KEY_N] * fmax((double)layer[0].H * layer[0].W,
                                             (double)layer[0].K * layer[0].P * layer[0].Q);
    if (2 * weights > 1e9 || maps > 1e9 || widest * widest * R > 1e9)
        return error_set(error, "%.0f weights and %.0f values of a layer: at most a billion",
                         weights, maps);
    layer[2] = layer_after(&layer[1], layer[1].K, P, Q, size[KEY_C5], P, Q);
    layer[3] = layer_after(&layer[2], layer[2].K, 1, 1, size[KEY_F6], 1, 1);
    layer[4] = layer_after(&layer[3], layer[3].K, 1, 1, size[KEY_CLASSES], 1, 1);
    train->parameters = TRAIN_BIASES(layer[4]) + layer[4].K;
    return 0;
}

/* ---- text -------------------------------------------------------------------------------- */

static int parse_pair(char *pair, int size[], unsigned *seen, Error *error)
{
    char *value = strchr(pair, '='), *end;
    int key = 0;
    if (!value) return error_set(error, "\"%.40s\" is not of the form key=value", pair);
    *value++ = '\0';
    while (key < KEYS && strcmp(pair, key_name[key]))
        key++;
    if (key == KEYS)
        return error_set(error, "unknown key \"%.40s\": the keys are N H W R c1 c3 c5 f6 classes",
                         pair);
    if (*seen & 1u << key) return error_set(error, "%s is given twice", pair);
    *seen |= 1u << key;
    long number = strtol(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end)
        return error_set(error, "%s: a whole number is expected instead of \"%.20s\"", pair, value);
    size[key] = number > INT_MAX ? INT_MAX : (int)number;
    return 0;
}

static int train_parse(const char *text, Problem *problem, Error *error)
{
    char copy[512], missing[64] = "", *rest = NULL;
    int size[KEYS] = {0};
    unsigned seen = 0;
    TrainProblem train;
    if (strlen(text) >= sizeof copy)
        return error_set(error, "the shape is longer than %zu characters", sizeof copy - 1);
    strcpy(copy, text);
    for (char *pair = strtok_r(copy, " \t\r\n", &rest); pair;
         pair = strtok_r(NULL, " \t\r\n", &rest))
        if (parse_pair(pair, size, &seen, error)) return -1;
    for (int key = 0; key < KEYS; key++)
        if (!(seen & 1u << key))
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s",
                     key_name[key]);
    if (*missing)
        return error_set(error,
                         "missing:%s (LeNet-5 reads N=64 H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 "
                         "classes=10)",
                         missing);
    if (train_derive(size, &train, error)) return -1;
    train_pack(&train, problem);
    return 0;
}

static void train_print(const Problem *problem, char *text, size_t bytes)
{
    TrainProblem v = train_unpack(problem);
    snprintf(text, bytes, "N=%d H=%d W=%d R=%d c1=%d c3=%d c5=%d f6=%d classes=%d", v.N,
             v.layer[TRAIN_C1].H, v.layer[TRAIN_C1].W, v.layer[TRAIN_C1].R, v.layer[TRAIN_C1].K,
             v.layer[TRAIN_C3].K, v.layer[TRAIN_C5].K, v.layer[TRAIN_F6].K, v.layer[TRAIN_OUT].K);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static int train_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    TrainProblem v = train_unpack(problem);
    size_t N = (size_t)v.N, count = (size_t)v.parameters;
    const TensorShape all[] = {
        {"x", TENSOR_INPUT, 3, {N, (size_t)v.layer[0].H, (size_t)v.layer[0].W}, {"n", "h", "w"}},
        {"label", TENSOR_INPUT, 1, {N}, {"n"}},
        {"parameter", TENSOR_INPUT, 1, {count}, {"i"}},
        {"velocity", TENSOR_INPUT, 1, {count}, {"i"}},
        {"setting", TENSOR_INPUT, 1, {TRAIN_SETTINGS}, {"i"}},
        {"y", TENSOR_OUTPUT, 1, {2 * count + 1}, {"i"}},
    };
    memcpy(shape, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* Multiply-adds of one layer in one pass: forward, gradient of its input, gradient of its
 * weights. */
static double layer_macs(const TrainLayer *layer)
{
    return (double)layer->K * layer->P * layer->Q * layer->C * layer->R * layer->S;
}

static double train_macs(const TrainProblem *train)
{
    double macs = 0;
    for (int i = 0; i < TRAIN_LAYERS; i++)
        macs += (i == TRAIN_C1 ? 2 : 3) * layer_macs(&train->layer[i]);
    return train->N * macs;
}

static int train_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    TrainProblem v = train_unpack(problem);
    const ProblemNumber all[] = {
        {"N", v.N},
        {"H", v.layer[TRAIN_C1].H},
        {"W", v.layer[TRAIN_C1].W},
        {"R", v.layer[TRAIN_C1].R},
        {"c1", v.layer[TRAIN_C1].K},
        {"c3", v.layer[TRAIN_C3].K},
        {"c5", v.layer[TRAIN_C5].K},
        {"f6", v.layer[TRAIN_F6].K},
        {"classes", v.layer[TRAIN_OUT].K},
        {"parameters", v.parameters},
        {"macs", train_macs(&v)},
    };
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

static double train_flops(const Problem *problem)
{
    TrainProblem train = train_unpack(problem);
    return 2 * train_macs(&train);
}

static double train_least_bytes(const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    return tensors_bytes(shape, train_tensors(problem, shape));
}

/* ---- inputs ------------------------------------------------------------------------------ */

/* Random sign, at least a quarter of `most`: no value is near zero. */
static float strewn(Random *random, double most)
{
    double value = most * (0.25 + 0.75 * random_unit(random));
    return (float)(random_next(random) & 1 ? value : -value);
}

/* Random weights of variance 2 over the inputs of a unit, with which neither values nor gradients
 * vanish or grow from layer to layer (He and others, Delving deep into rectifiers, 2015). */
static void layer_fill(const TrainLayer *layer, Random *random, float *parameter)
{
    double inputs = (double)layer->C * layer->R * layer->S, deviation = 0.66; /* standard deviation
                                                                               * of `strewn`(1) */
    for (int i = layer->weights; i < TRAIN_BIASES(*layer); i++)
        parameter[i] = strewn(random, sqrt(2 / inputs) / deviation);
    for (int k = 0; k < layer->K; k++)
        parameter[TRAIN_BIASES(*layer) + k] = strewn(random, 0.5);
}

static void parameters_fill(const TrainProblem *train, Random *random, float *const *tensor)
{
    Random own;
    random_child(random, "parameter", &own);
    for (int i = 0; i < TRAIN_LAYERS; i++)
        layer_fill(&train->layer[i], &own, tensor[TRAIN_PARAMETER]);
}

/* A network with a large leading logit for every image: it exceeds the others by far more than 88,
 * above which exponentials overflow a float.  Mostly it is the last class, where a search for the
 * largest logit may end too early.  All shares are then 0 or 1, so only some problems with many
 * images are so. */
static void network_sure(const TrainProblem *train, Random *random, float *parameter)
{
    enum { MANY_IMAGES = 300, LEAD = 200 };
    const TrainLayer *out = &train->layer[TRAIN_OUT];
    Random own;
    random_child(random, "sure", &own);
    int last = random_range(&own, 0, 5), any = random_range(&own, 0, out->K - 1);
    if (train->N > MANY_IMAGES) parameter[TRAIN_BIASES(*out) + (last ? out->K - 1 : any)] += LEAD;
}

/* Draws the images marked by at_kink again. */
static void images_fill(const TrainProblem *train, Random *random, float *x,
                        const unsigned char *at_kink)
{
    Random own;
    int pixels = train->layer[TRAIN_C1].H * train->layer[TRAIN_C1].W;
    random_child(random, "x", &own);
    for (int n = 0; n < train->N; n++)
        for (int i = 0; at_kink[n] && i < pixels; i++)
            x[(size_t)n * pixels + i] = strewn(&own, 2);
}

/* An image is drawn again while one of its units is close to the ReLU's 0, where fp32 and fp64 may
 * have different signs.  In LeNet-5 that is one image in five; if one remains, the bound allows
 * both signs. */
static void images_without_kinks(const TrainProblem *train, Random *random, float *const *tensor)
{
    enum { DRAWS = 12 };
    Near *exact = malloc((size_t)train->parameters * sizeof *exact);
    unsigned char *at_kink = malloc((size_t)train->N);
    if (at_kink) memset(at_kink, 1, (size_t)train->N);
    for (int i = 0; exact && i < train->parameters; i++)
        exact[i] = (Near){tensor[TRAIN_PARAMETER][i], 0};
    for (int i = 0, kinks = 1; exact && at_kink && i < DRAWS && kinks > 0; i++) {
        images_fill(train, random, tensor[TRAIN_X], at_kink);
        kinks = train_kinks(train, tensor[TRAIN_X], exact, at_kink);
    }
    free(exact);
    free(at_kink);
}

/* The update's terms have similar sizes, so that each is visible when it is missing. */
static void train_generate(const Problem *problem, Random *random, float *const *tensor)
{
    TrainProblem train = train_unpack(problem);
    Random own;
    parameters_fill(&train, random, tensor);
    images_without_kinks(&train, random, tensor);
    network_sure(&train, random, tensor[TRAIN_PARAMETER]);
    random_child(random, "label", &own);
    for (int i = 0; i < train.N; i++)
        tensor[TRAIN_LABEL][i] = (float)random_range(&own, 0, train.layer[TRAIN_OUT].K - 1);
    random_child(random, "velocity", &own);
    for (int i = 0; i < train.parameters; i++)
        tensor[TRAIN_VELOCITY][i] = strewn(&own, 0.1);
    random_child(random, "setting", &own);
    tensor[TRAIN_SETTING][TRAIN_RATE] = (float)(0.2 + 0.3 * random_unit(&own));
    tensor[TRAIN_SETTING][TRAIN_MOMENTUM] = (float)(0.5 + 0.4 * random_unit(&own));
    tensor[TRAIN_SETTING][TRAIN_DECAY] = (float)(0.1 + 0.2 * random_unit(&own));
}

static int pick(Random *random, const int *choice, int count)
{
    return choice[random_range(random, 0, count - 1)];
}
#define PICK(random, ...)                                                                          \
    pick(random, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/* Small networks of each kind: higher or wider images, one map or many, one image. */
static void train_draw(Random *random, int index, double max_macs, Problem *problem)
{
    TrainProblem train;
    int R = PICK(random, 2, 3, 5), kind = index % 4;
    /* two pooled layers need an even H - R + 1, twice: H = 2(2a + R - 1) + R - 1 */
    int rows = PICK(random, 1, 2), columns = kind == 0 ? 3 - rows : rows;
    int size[KEYS] = {random_range(random, 2, 9),        2 * (2 * rows + R - 1) + R - 1,
                      2 * (2 * columns + R - 1) + R - 1, R,
                      PICK(random, 2, 3, 5, 7),          PICK(random, 3, 6, 9, 13),
                      random_range(random, 9, 70),       random_range(random, 7, 40),
                      random_range(random, 3, 12)};
    if (kind == 1) size[KEY_C1] = 1;
    if (kind == 2) size[KEY_N] = random_range(random, 17, 40);
    if (kind == 3) size[KEY_N] = 1;
    static const int SHRINK[] = {KEY_C5, KEY_C3, KEY_F6, KEY_N, KEY_C1};
    for (int i = 0; !train_derive(size, &train, NULL) && train_macs(&train) > max_macs && i < 500;
         i++) {
        int key = SHRINK[i % (sizeof SHRINK / sizeof *SHRINK)];
        if (size[key] > 2) size[key] -= 1 + size[key] / 8;
    }
    train_pack(&train, problem);
}

/* ---- the oracle -------------------------------------------------------------------------- */

/* Number of roundings in the longest sum of output `index`; the judge multiplies their gamma by the
 * magnitude. */
static double roundings_of(const TrainProblem *train, size_t index)
{
    size_t count = (size_t)train->parameters;
    return index < 2 * count ? train_terms(train, index % count) + 2 : train->N + 2.0;
}

static void train_oracle_all(const Problem *problem, const float *const *tensor, double *expected,
                             double *magnitude, double *terms)
{
    TrainProblem train = train_unpack(problem);
    size_t outputs = 2 * (size_t)train.parameters + 1;
    Near *result = malloc(outputs * sizeof *result);
    if (result) train_expect(&train, tensor, SLIP_NONE, result);
    for (size_t i = 0; i < outputs; i++) {
        double m = roundings_of(&train, i);
        expected[i] = result ? result[i].v : NAN;
        /* The last roundings are not independent of each other: a value and its last addition. */
        double own = result ? 2 * UNIT_FP32 * fabs(result[i].v) : 0;
        double allowed = result ? TRAIN_ALLOWED * result[i].e + own : 0;
        magnitude[i] = allowed / VERDICT_SAFETY / (m * UNIT_FP32);
        terms[i] = m;
    }
    free(result);
}

extern const Operation train_step_operation;
const Operation train_step_operation = {.name = "train_step",
                                        .example =
                                            "N=6 H=14 W=18 R=3 c1=3 c3=5 c5=12 f6=9 classes=4",
                                        .parse = train_parse,
                                        .print = train_print,
                                        .draw = train_draw,
                                        .tensors = train_tensors,
                                        .numbers = train_numbers,
                                        .flops = train_flops,
                                        .least_bytes = train_least_bytes,
                                        .generate = train_generate,
                                        .oracle = train_oracle_all,
                                        .carries_error = 1,
                                        .explain = train_explain};
