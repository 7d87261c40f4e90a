/* test_train_step.c - the training step as an Operation: its text, its gradient compared with
 * differences of its loss, its bound compared with an fp32 step, its messages about planted
 * mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/catalog/operations.h"
#include "common/operations/training_step/train_problem.h"

static const Operation *operation;

static const char LENET[] = "N=2 H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10";

static void refused(const char *text, const char *because)
{
    Problem problem;
    Error error = {""};
    if (operation->parse(text, &problem, &error) != -1) fail_msg("accepted: %s", text);
    if (!strstr(error.text, because))
        fail_msg("%s: \"%s\" lacks \"%s\"", text, error.text, because);
}

/* ---- text -------------------------------------------------------------------------------- */

static void lenet_has_the_sizes_of_figure_16_2(void **state)
{
    (void)state;
    static const int EXPECTED[TRAIN_LAYERS][5] = {{1, 32, 6, 5, 28},
                                                  {6, 14, 16, 5, 10},
                                                  {16, 5, 120, 5, 1},
                                                  {120, 1, 84, 1, 1},
                                                  {84, 1, 10, 1, 1}};
    Problem problem;
    Error error;
    assert_int_equal(operation->parse(LENET, &problem, &error), 0);
    TrainProblem train = train_unpack(&problem);
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer *layer = &train.layer[i];
        const int got[5] = {layer->C, layer->H, layer->K, layer->R, layer->P};
        assert_memory_equal(got, EXPECTED[i], sizeof got);
        assert_int_equal(layer->pool, i < TRAIN_C5 ? 2 : 1);
    }
    /* 6*(25+1), 16*(150+1), 120*(400+1), 84*(120+1), 10*(84+1): LeNet-5 with full C3 and a plain
     * last layer */
    assert_int_equal(train.parameters, 156 + 2416 + 48120 + 10164 + 850);
    /* forward 117,600 + 240,000 + 48,000 + 10,080 + 840 per image, twice more backward, without the
     * gradient of the pixels */
    assert_true(operation->flops(&problem) == 2.0 * 2 * (3 * 416520 - 117600));
}

static void text_is_read_back(void **state)
{
    (void)state;
    char text[256];
    Problem problem, again;
    Random random;
    Error error = {""};
    random_seed(&random, 5);
    for (int i = 0; i < 200; i++) {
        operation->draw(&random, i, 1e6, &problem);
        operation->print(&problem, text, sizeof text);
        if (operation->parse(text, &again, &error)) fail_msg("%s: %s", text, error.text);
        assert_memory_equal(&problem, &again, sizeof problem);
        assert_true(operation->flops(&problem) <= 2e6);
    }
}

static void bad_text_is_rejected_by_name(void **state)
{
    (void)state;
    refused("", "missing: N H W R c1 c3 c5 f6 classes");
    refused("N=2 H=31 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", "C1 would have 27 rows");
    refused("N=2 H=32 W=30 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", "C3 would have 9 columns");
    refused("N=2 H=4 W=4 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", "C1 would have 0 rows");
    refused("N=0 H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", "N is 0");
    refused("N=x H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", "N: a whole number");
    refused("N=2 N=2", "N is given twice");
    refused("K=2", "unknown key \"K\"");
    refused("N=2 H=32 W=32 R=5 c1=6 c3=65535 c5=65535 f6=84 classes=10", "at most a billion");
}

/* ---- a problem with its inputs ----------------------------------------------------------- */

typedef struct Given {
    Problem problem;
    TrainProblem train;
    size_t outputs;
    float *tensor[OPERATION_TENSORS];
} Given;

static void step_open(Given *given, const char *text, uint64_t seed)
{
    TensorShape shape[OPERATION_TENSORS];
    Error error = {""};
    Random random;
    if (operation->parse(text, &given->problem, &error)) fail_msg("%s: %s", text, error.text);
    given->train = train_unpack(&given->problem);
    int count = operation->tensors(&given->problem, shape);
    for (int i = 0; i < count; i++) {
        given->tensor[i] = malloc(tensor_count(&shape[i]) * sizeof(float));
        assert_non_null(given->tensor[i]);
    }
    given->outputs = tensor_count(&shape[TRAIN_Y]);
    random_seed(&random, seed);
    operation->generate(&given->problem, &random, given->tensor);
}

static void step_close(Given *given)
{
    for (int i = 0; i <= TRAIN_Y; i++)
        free(given->tensor[i]);
}

static Near *expect_slip(const Given *given, TrainSlip slip)
{
    Near *result = malloc(given->outputs * sizeof *result);
    assert_non_null(result);
    train_expect(&given->train, (const float *const *)given->tensor, slip, result);
    return result;
}

/* ---- the gradient ------------------------------------------------------------------------ */

/* The loss with parameter `index` moved by `by`. */
static double loss_at(const Given *given, Near *parameter, const Near *velocity, Near *result,
                      size_t index, double by)
{
    Near old = parameter[index];
    parameter[index].v += by;
    assert_int_equal(train_oracle(&given->train, given->tensor[TRAIN_X], given->tensor[TRAIN_LABEL],
                                  parameter, velocity, given->tensor[TRAIN_SETTING], SLIP_NONE,
                                  result),
                     0);
    parameter[index] = old;
    return result[given->outputs - 1].v;
}

/* Without momentum and decay the new velocity is the gradient.  Central differences over h have
 * errors of h^2 and of 2^-53/h: 1e-9 at h = 1e-5; a ReLU that changes its side within h would be
 * visible. */
static void gradient_equals_finite_differences_of_the_loss(void **state)
{
    (void)state;
    static const char *const TEXT[] = {"N=3 H=14 W=18 R=3 c1=3 c3=4 c5=9 f6=7 classes=5",
                                       "N=1 H=7 W=7 R=2 c1=2 c3=3 c5=6 f6=5 classes=3"};
    static const double H = 1e-5;
    for (size_t t = 0; t < sizeof TEXT / sizeof *TEXT; t++) {
        Given given;
        step_open(&given, TEXT[t], 11 + t);
        size_t count = (size_t)given.train.parameters;
        given.tensor[TRAIN_SETTING][TRAIN_MOMENTUM] = 0;
        given.tensor[TRAIN_SETTING][TRAIN_DECAY] = 0;
        Near *result = expect_slip(&given, SLIP_NONE), *moved = expect_slip(&given, SLIP_NONE);
        Near *parameter = calloc(2 * count, sizeof *parameter);
        for (size_t i = 0; i < count; i++)
            parameter[i].v = given.tensor[TRAIN_PARAMETER][i];
        for (size_t i = 0; i < count; i++) {
            double up = loss_at(&given, parameter, parameter + count, moved, i, H);
            double down = loss_at(&given, parameter, parameter + count, moved, i, -H);
            double difference = (up - down) / (2 * H), gradient = result[count + i].v;
            if (!(fabs(difference - gradient) <= 1e-8 + 1e-6 * fabs(gradient)))
                fail_msg("%s: parameter %zu has the gradient %.12g, the differences give %.12g",
                         TEXT[t], i, gradient, difference);
        }
        free(parameter);
        free(moved);
        free(result);
        step_close(&given);
    }
}

/* ---- the inputs --------------------------------------------------------------------------- */

static int kinks_in(const Given *given, const float *x)
{
    int count = given->train.parameters;
    Near *parameter = calloc((size_t)count, sizeof *parameter);
    unsigned char *at_kink = malloc((size_t)given->train.N);
    assert_non_null(parameter);
    assert_non_null(at_kink);
    memset(at_kink, 1, (size_t)given->train.N);
    for (int i = 0; i < count; i++)
        parameter[i].v = given->tensor[TRAIN_PARAMETER][i];
    int kinks = train_kinks(&given->train, x, parameter, at_kink);
    free(parameter);
    free(at_kink);
    return kinks;
}

/* One unit on the other side of its ReLU changes more than the rounding errors of a sum of 21,600
 * terms. */
static void no_image_is_at_a_kink_of_the_loss(void **state)
{
    (void)state;
    static const char *const TEXT[] = {"N=600 H=7 W=7 R=2 c1=3 c3=4 c5=9 f6=8 classes=3", LENET,
                                       "N=64 H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10"};
    for (size_t t = 0; t < sizeof TEXT / sizeof *TEXT; t++) {
        Given given;
        for (uint64_t seed = 1; seed <= (t ? 2 : 40); seed++) {
            step_open(&given, TEXT[t], seed);
            assert_int_equal(kinks_in(&given, given.tensor[TRAIN_X]), 0);
            /* the test can detect one: the map of a filter without bias, for a black image */
            const TrainLayer *layer = &given.train.layer[TRAIN_C1];
            memset(given.tensor[TRAIN_X], 0, (size_t)layer->H * layer->W * sizeof(float));
            given.tensor[TRAIN_PARAMETER][TRAIN_BIASES(*layer)] = 0;
            assert_true(kinks_in(&given, given.tensor[TRAIN_X]) > 0);
            step_close(&given);
        }
    }
}

/* ---- the bound: a step in fp32 ----------------------------------------------------------- */

/* Rounds to a lower precision: keeps `bits` of the significand. */
static float rounded(float value, int bits)
{
    int exponent;
    double part = frexp(value, &exponent);
    return (float)ldexp(rint(ldexp(part, bits)), exponent - bits);
}

/* One layer of a plain implementation in floats, with factors rounded to `bits`. */
typedef struct Plain {
    const TrainProblem *p;
    const float *w;
    int bits;
    float *in[TRAIN_LAYERS + 1], *z[TRAIN_LAYERS], *d[TRAIN_LAYERS], *gradient;
    float loss;
} Plain;

static float product(const Plain *plain, float a, float b)
{
    return rounded(a, plain->bits) * rounded(b, plain->bits);
}

static void plain_forward(Plain *plain, int which)
{
    const TrainLayer *l = &plain->p->layer[which];
    const float *in = plain->in[which], *w = plain->w + l->weights;
    for (int k = 0; k < l->K; k++)
        for (int p = 0; p < l->P; p++)
            for (int q = 0; q < l->Q; q++) {
                float sum = plain->w[TRAIN_BIASES(*l) + k];
                for (int c = 0; c < l->C; c++)
                    for (int r = 0; r < l->R; r++)
                        for (int s = 0; s < l->S; s++)
                            sum += product(plain, in[(c * l->H + p + r) * l->W + q + s],
                                           w[((k * l->C + c) * l->R + r) * l->S + s]);
                plain->z[which][(k * l->P + p) * l->Q + q] = sum;
            }
    int P = l->P / l->pool, Q = l->Q / l->pool;
    for (int i = 0; which < TRAIN_OUT && i < l->K * P * Q; i++) {
        float sum = 0;
        for (int j = 0; j < l->pool * l->pool; j++) {
            int p = i / Q % P * l->pool + j / l->pool, q = i % Q * l->pool + j % l->pool;
            sum += fmaxf(plain->z[which][(i / Q / P * l->P + p) * l->Q + q], 0);
        }
        plain->in[which + 1][i] = sum / (float)(l->pool * l->pool);
    }
}

static void plain_loss(Plain *plain, int label, int N)
{
    int classes = plain->p->layer[TRAIN_OUT].K;
    const float *z = plain->z[TRAIN_OUT];
    float largest = z[0], sum = 0;
    for (int k = 1; k < classes; k++)
        largest = fmaxf(largest, z[k]);
    for (int k = 0; k < classes; k++)
        sum += expf(z[k] - largest);
    plain->loss += (logf(sum) + largest - z[label]) / (float)N;
    for (int k = 0; k < classes; k++)
        plain->d[TRAIN_OUT][k] = (expf(z[k] - largest) / sum - (k == label)) / (float)N;
}

static void plain_backward(Plain *plain, int which)
{
    const TrainLayer *l = &plain->p->layer[which], *before = l - 1;
    const float *w = plain->w + l->weights, *d = plain->d[which];
    for (int i = 0; i < before->K * before->P * before->Q; i++) {
        int c = i / before->Q / before->P, pool = before->pool;
        int h = i / before->Q % before->P / pool, v = i % before->Q / pool;
        float sum = 0;
        for (int k = 0; k < l->K; k++)
            for (int r = 0; r < l->R; r++)
                for (int s = 0; s < l->S; s++) {
                    int p = h - r, q = v - s;
                    if (p < 0 || p >= l->P || q < 0 || q >= l->Q) continue;
                    sum += product(plain, d[(k * l->P + p) * l->Q + q],
                                   w[((k * l->C + c) * l->R + r) * l->S + s]);
                }
        plain->d[which - 1][i] = plain->z[which - 1][i] > 0 ? sum / (float)(pool * pool) : 0;
    }
}

static void plain_gradient(Plain *plain, int which)
{
    const TrainLayer *l = &plain->p->layer[which];
    const float *in = plain->in[which], *d = plain->d[which];
    float *g = plain->gradient + l->weights, *b = plain->gradient + TRAIN_BIASES(*l);
    for (int k = 0; k < l->K; k++)
        for (int p = 0; p < l->P; p++)
            for (int q = 0; q < l->Q; q++) {
                float here = d[(k * l->P + p) * l->Q + q];
                b[k] += here;
                for (int i = 0; i < l->C * l->R * l->S; i++) {
                    int c = i / l->S / l->R, r = i / l->S % l->R, s = i % l->S;
                    g[k * l->C * l->R * l->S + i] +=
                        product(plain, here, in[(c * l->H + p + r) * l->W + q + s]);
                }
            }
}

/* train_step on the host in floats, with factors of `bits`. */
static void plain_step(const Given *given, int bits, float *y)
{
    const TrainProblem *p = &given->train;
    size_t count = (size_t)p->parameters;
    const float *setting = given->tensor[TRAIN_SETTING];
    Plain plain = {.p = p, .w = given->tensor[TRAIN_PARAMETER], .bits = bits};
    plain.gradient = calloc(count, sizeof(float));
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer *l = &p->layer[i];
        plain.in[i] = calloc((size_t)l->C * l->H * l->W, sizeof(float));
        plain.z[i] = calloc((size_t)l->K * l->P * l->Q, sizeof(float));
        plain.d[i] = calloc((size_t)l->K * l->P * l->Q, sizeof(float));
    }
    size_t pixels = (size_t)p->layer[0].H * p->layer[0].W;
    for (int n = 0; n < p->N; n++) {
        memcpy(plain.in[0], given->tensor[TRAIN_X] + n * pixels, pixels * sizeof(float));
        for (int i = 0; i < TRAIN_LAYERS; i++)
            plain_forward(&plain, i);
        plain_loss(&plain, (int)given->tensor[TRAIN_LABEL][n], p->N);
        for (int i = TRAIN_OUT; i >= 0; i--) {
            if (i) plain_backward(&plain, i);
            plain_gradient(&plain, i);
        }
    }
    for (size_t i = 0; i < count; i++) {
        float w = plain.w[i], v = setting[TRAIN_MOMENTUM] * given->tensor[TRAIN_VELOCITY][i] +
                                  plain.gradient[i] + setting[TRAIN_DECAY] * w;
        y[count + i] = v;
        y[i] = w - setting[TRAIN_RATE] * v;
    }
    y[2 * count] = plain.loss;
    for (int i = 0; i < TRAIN_LAYERS; i++)
        free(plain.in[i]), free(plain.z[i]), free(plain.d[i]);
    free(plain.gradient);
}

static Judgement judged(const Given *given, const float *y)
{
    Judgement judgement;
    Error error;
    Observed observed = {.output = y};
    assert_int_equal(verify_output(operation, &given->problem, PRECISION_FP32,
                                   (const float *const *)given->tensor, &observed, &judgement,
                                   &error),
                     0);
    return judgement;
}

/* Networks of every kind: the fp32 error is an eighth of the bound; factors of 16 bits exceed
 * it. */
static void fp32_is_right_and_fewer_bits_are_not(void **state)
{
    (void)state;
    Random random;
    double most = 0, least = 1e9, little = 1e9;
    random_seed(&random, 3);
    for (int i = 0; i < 24; i++) {
        Problem problem;
        Given given;
        char text[256];
        operation->draw(&random, i, 4e5, &problem);
        operation->print(&problem, text, sizeof text);
        if (i == 0) strcpy(text, LENET);
        step_open(&given, text, 100 + (uint64_t)i);
        float *y = malloc(given.outputs * sizeof *y);
        plain_step(&given, 24, y);
        Judgement right = judged(&given, y);
        if (!right.verdict.correct) fail_msg("%s: %s is not right", text, right.verdict.where);
        most = fmax(most, right.verdict.worst);
        judgement_free(&right);
        plain_step(&given, 11, y);
        Judgement wrong = judged(&given, y);
        least = fmin(least, wrong.verdict.worst);
        judgement_free(&wrong);
        plain_step(&given, 16, y);
        Judgement near = judged(&given, y);
        little = fmin(little, near.verdict.worst);
        judgement_free(&near);
        free(y);
        step_close(&given);
    }
    print_message("fp32 %.2f, 16 bits %.2f, 11 bits %.1f of the bound\n", most, little, least);
    assert_true(most < 0.5);
    assert_true(little > 1);
    assert_true(least > 16);
}

/* ---- messages about mistakes ------------------------------------------------------------- */

/* Every mistake is found and gets its own message, each with another network. */
static void each_mistake_is_named(void **state)
{
    (void)state;
    static const char *const WORDS[SLIPS] = {
        [SLIP_MEAN_TWICE] = "divided by N twice",
        [SLIP_NO_MEAN] = "not divided by N",
        [SLIP_LAST_IMAGE] = "last image alone",
        [SLIP_FIRST_IMAGE] = "first image alone",
        [SLIP_FORWARD_BIAS] = "biases are not added",
        [SLIP_MAPS_BIAS] = "biases of C1 and C3 are not added",
        [SLIP_FORWARD_RELU] = "no ReLU in the forward pass",
        [SLIP_POOL_SUM] = "sum of 2 x 2",
        [SLIP_SLOPE] = "derivative is missing",
        [SLIP_MAPS_SLOPE] = "missing in the backward pass of C1 and C3",
        [SLIP_QUARTER] = "a quarter of the gradient",
        [SLIP_LABEL] = "label is not in the gradient",
        [SLIP_LOSS_SUM] = "loss is the sum",
        [SLIP_FLIPPED] = "filter is flipped",
        [SLIP_BIAS_GRADIENT] = "biases have no gradient",
        [SLIP_BIAS_STILL] = "biases are not updated",
        [SLIP_NO_DECAY] = "weight decay is missing",
        [SLIP_DECAY_SIGN] = "decay has the wrong sign",
        [SLIP_BIAS_NO_DECAY] = "biases do not decay",
        [SLIP_NO_MOMENTUM] = "momentum is missing",
        [SLIP_MOMENTUM_AFTER] = "momentum is added after the step",
        [SLIP_OLD_VELOCITY] = "old velocity",
        [SLIP_RATE_IN_VELOCITY] = "contains the rate already",
        [SLIP_UPHILL] = "step has the wrong sign",
    };
    static const char *const TEXT[] = {"N=5 H=14 W=18 R=3 c1=3 c3=5 c5=12 f6=9 classes=4", LENET};
    for (size_t t = 0; t < sizeof TEXT / sizeof *TEXT; t++)
        for (int slip = SLIP_NONE + 1; slip < SLIPS; slip++) {
            Given given;
            Finding finding;
            step_open(&given, TEXT[t], 40 + (uint64_t)slip);
            Near *result = expect_slip(&given, (TrainSlip)slip);
            float *y = malloc(given.outputs * sizeof *y);
            for (size_t i = 0; i < given.outputs; i++)
                y[i] = (float)result[i].v;
            Judgement judgement = judged(&given, y);
            if (judgement.verdict.correct) fail_msg("slip %d passes for right", slip);
            diagnose(&judgement, NULL, NULL, &finding);
            if (!strstr(finding.text, WORDS[slip]))
                fail_msg("%s, slip %d is called: %s", TEXT[t], slip, finding.text);
            judgement_free(&judgement);
            free(result);
            free(y);
            step_close(&given);
        }
}

/* Mistakes that are not in the list: the message says where the error starts. */
static void other_mistakes_are_reported_by_location(void **state)
{
    (void)state;
    static const struct {
        int layer, bias;
        const char *words;
    } PLANT[] = {
        {TRAIN_C3, 0, "In C3 the weights' velocities are wrong"},
        {TRAIN_C5, 1, "In C5 the biases' velocities are wrong"},
        {TRAIN_OUT, 0, "In the last layer the weights' velocities are wrong"},
    };
    for (size_t t = 0; t < sizeof PLANT / sizeof *PLANT; t++) {
        Given given;
        Finding finding;
        step_open(&given, operation->example, 60);
        Near *result = expect_slip(&given, SLIP_NONE);
        float *y = malloc(given.outputs * sizeof *y);
        for (size_t i = 0; i < given.outputs; i++)
            y[i] = (float)result[i].v;
        const TrainLayer *layer = &given.train.layer[PLANT[t].layer];
        size_t at = (size_t)(PLANT[t].bias ? TRAIN_BIASES(*layer) : layer->weights);
        y[given.train.parameters + at] += 1;
        Judgement judgement = judged(&given, y);
        diagnose(&judgement, NULL, NULL, &finding);
        if (!strstr(finding.text, PLANT[t].words)) fail_msg("it is called: %s", finding.text);
        assert_int_equal(finding.fault, FAULT_GRADIENT);
        judgement_free(&judgement);
        free(result);
        free(y);
        step_close(&given);
    }
}

static int setup(void **state)
{
    (void)state;
    operation = operation_find("train_step");
    return operation ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lenet_has_the_sizes_of_figure_16_2),
        cmocka_unit_test(text_is_read_back),
        cmocka_unit_test(bad_text_is_rejected_by_name),
        cmocka_unit_test(gradient_equals_finite_differences_of_the_loss),
        cmocka_unit_test(no_image_is_at_a_kink_of_the_loss),
        cmocka_unit_test(fp32_is_right_and_fewer_bits_are_not),
        cmocka_unit_test(each_mistake_is_named),
        cmocka_unit_test(other_mistakes_are_reported_by_location),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
